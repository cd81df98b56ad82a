//! Splits a long history into several runs. Versions are compared within blocks, and a block has room for
//! few. To connect the runs, each begins with the last version of the one before.

/// The most versions of one run, as in `tare history`.
pub const SET_MAX: usize = 12;

/// Sets of about equal size, each with at least two revisions; empty if there is nothing to compare.
pub fn revision_sets(revisions: &[String]) -> Vec<Vec<String>> {
    let Some(steps) = revisions.len().checked_sub(1).filter(|steps| *steps > 0) else { return Vec::new() };
    let sets = steps.div_ceil(SET_MAX - 1);
    let border = |set: usize| set * steps / sets;
    (0..sets).map(|set| revisions[border(set)..=border(set + 1)].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(number: usize) -> Vec<String> {
        (0..number).map(|number| number.to_string()).collect()
    }

    #[test]
    fn a_short_history_is_one_set_and_a_single_version_none() {
        assert_eq!(revision_sets(&names(12)), [names(12)]);
        assert_eq!(revision_sets(&names(2)), [names(2)]);
        assert!(revision_sets(&names(1)).is_empty() && revision_sets(&[]).is_empty());
        let sizes: Vec<usize> = revision_sets(&names(40)).iter().map(Vec::len).collect();
        assert_eq!(sizes, [10, 11, 11, 11]);
    }

    proptest! {
        #[test]
        fn every_step_between_two_versions_is_in_exactly_one_set(number in 2_usize..300) {
            let all = names(number);
            let sets = revision_sets(&all);
            prop_assert!(sets.iter().all(|set| (2..=SET_MAX).contains(&set.len())));
            let steps: Vec<&[String]> = sets.iter().flat_map(|set| set.windows(2)).collect();
            prop_assert_eq!(steps, all.windows(2).collect::<Vec<_>>());
        }
    }
}
