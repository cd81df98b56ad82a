//! The seed of a run, from which all its random choices follow.

/// A seed that no service can predict. It is printed and stored, so that a run can be repeated.
pub fn draw() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Below 2^53: a JSON reader that stores numbers as floats keeps it exactly.
    RandomState::new().build_hasher().finish() >> 11
}
