//! Builds with real steps, in several checkouts with one cache.

mod bench;
mod cache;
mod sources;
mod steps;
