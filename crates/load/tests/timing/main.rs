//! Tests that measure time. `dev/tests.toml` puts them into the group of tests that run one at a time.
mod accuracy;
mod aligned;
#[path = "../kit/mod.rs"]
mod kit;
