//! The seed of a run, from which all its random choices follow.

/// A seed that no service can predict. It is printed and stored, so that a run can be repeated.
pub fn draw() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Below 2^53, a JSON reader that stores numbers as floats keeps it exactly.
    RandomState::new().build_hasher().finish() >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_survives_a_reader_with_floats_and_is_not_drawn_twice() {
        let seeds: std::collections::BTreeSet<u64> = (0..100).map(|_| draw()).collect();
        assert!(seeds.iter().all(|seed| *seed as f64 as u64 == *seed));
        assert_eq!(seeds.len(), 100);
    }
}
