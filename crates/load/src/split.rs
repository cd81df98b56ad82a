//! Which part of a load a generator has, if several generators share it.

/// The place of one generator among those that share a load. Its arrivals are those whose number leaves `index` when it is divided
/// by `of`, so that all generators together send what one would send. A generator cannot know the others: whoever starts them gives
/// each the same seed and schedule, and an index of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Which one, counted from 0.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl Split {
    /// The only generator of its load.
    pub const WHOLE: Split = Split { index: 0, of: 1 };

    /// Whether there is no other generator.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// The number among all generators of what is number `own` here: numbers of the generators alternate.
    pub(crate) fn number(self, own: usize) -> usize {
        self.index + self.of * own
    }

    /// How much of `total` is this generator's: as evenly as it goes, the remainder to the first ones.
    #[must_use]
    pub fn share(self, total: usize) -> usize {
        total / self.of + usize::from(self.index < total % self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_differ_by_one_at_most_and_add_up() {
        for (total, of) in [(64, 1), (64, 2), (7, 3), (2, 5), (0, 4)] {
            let shares: Vec<usize> = (0..of).map(|index| Split { index, of }.share(total)).collect();
            assert_eq!(shares.iter().sum::<usize>(), total);
            assert!(shares.is_sorted_by(|a, b| a >= b) && shares[0] - shares[of - 1] <= 1, "{shares:?}");
        }
    }

    #[test]
    fn numbers_of_all_generators_are_each_there_once() {
        let mut numbers: Vec<usize> =
            (0..3).flat_map(|index| (0..4).map(move |own| Split { index, of: 3 }.number(own))).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        assert_eq!(Split::WHOLE.number(5), 5);
    }
}
