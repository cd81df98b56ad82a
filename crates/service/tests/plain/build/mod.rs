//! Builds with real steps, by several checkouts with one cache.

mod bench;
mod cache;
mod sources;
mod steps;
