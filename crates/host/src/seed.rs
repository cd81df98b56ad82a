//! Where the randomness of a run comes from.

/// A seed that no service can know beforehand. It is printed and stored, so that a run can be repeated.
pub fn draw() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Below 2^53, so that every reader of JSON keeps it whole.
    RandomState::new().build_hasher().finish() >> 11
}
