//! The part of a load that one of several generators has.

/// The place of one generator among those that share a load. It gets the arrivals whose number modulo `of` is
/// `index`, so that all generators together send what one would send. A generator does not know the others:
/// the caller gives each of them the same seed and schedule, and its own index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// The index of this generator, from 0.
    pub index: usize,
    /// The number of generators.
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

    /// The number among all generators of this generator's item `own`: the items of the generators alternate.
    pub(crate) fn number(self, own: usize) -> usize {
        self.index + self.of * own
    }

    /// This generator's share of `total`: an even split, with the remainder for the first generators.
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
