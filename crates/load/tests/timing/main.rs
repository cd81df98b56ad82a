//! What measures time. `dev/tests.toml` has these tests in the group of those that run one at a time.
mod accuracy;
mod aligned;
#[path = "../kit/mod.rs"]
mod kit;
