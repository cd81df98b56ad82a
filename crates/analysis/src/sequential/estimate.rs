//! A figure from the rounds of a cell, with its interval.

use tare_stats::{DEFAULT_CONFIDENCE, two_level};

use crate::estimate::Estimate;

/// A single round has no interval. Checks take it for known within this factor; tables show it without.
pub(crate) const SINGLE_FACTOR: f64 = 1.25;

impl Estimate {
    /// From values above 0, one a round; absent if there is none.
    pub(crate) fn of(values: &[f64]) -> Option<Estimate> {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        two_level::interval_of_values(&logs, DEFAULT_CONFIDENCE).ok().map(|found| Estimate::exp(&found))
    }

    /// Of the ratio of two series of the same rounds.
    pub(crate) fn of_ratio(subject: &[(usize, f64)], base: &[(usize, f64)]) -> Option<Estimate> {
        let paired = subject.iter().filter_map(|(round, value)| {
            let (_, other) = base.iter().find(|(other, _)| other == round)?;
            Some(value / other)
        });
        Estimate::of(&paired.collect::<Vec<f64>>())
    }

    /// The same, known exactly.
    pub(crate) fn exact(self) -> Estimate {
        Estimate { low: Some(self.value), high: Some(self.value), ..self }
    }

    /// `3.21 (2.98 to 3.40)`.
    pub(crate) fn text(&self) -> String {
        let digits = |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") };
        match self.interval() {
            Some((low, high)) if low == high => digits(self.value),
            Some((low, high)) => format!("{} ({} to {})", digits(self.value), digits(low), digits(high)),
            None => format!("{} (one round)", digits(self.value)),
        }
    }

    /// What the value is taken to lie within when a claim is checked.
    pub(crate) fn reach(&self) -> (f64, f64) {
        self.interval().unwrap_or((self.value / SINGLE_FACTOR, self.value * SINGLE_FACTOR))
    }
}

/// The place of the value in the middle; of two the lower.
pub(crate) fn middle(values: &[f64]) -> Option<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_paired_and_few_of_them_have_wide_intervals() {
        let series = |values: &[f64]| values.iter().copied().enumerate().collect::<Vec<_>>();
        let base = series(&[100.0, 50.0, 200.0]);
        let subject = series(&[200.0, 102.0, 396.0]);
        let ratio = Estimate::of_ratio(&subject, &base).unwrap();
        let (low, high) = ratio.interval().unwrap();
        assert!((ratio.value - 2.0).abs() < 0.01 && low > 1.9 && high < 2.1, "{ratio:?}");
        let one = Estimate::of_ratio(&subject[..1], &base).unwrap();
        assert_eq!((one.value, one.interval(), one.reach()), (2.0, None, (1.6, 2.5)));
        assert_eq!(Estimate::of_ratio(&subject[..1], &base[1..]), None, "no round has both");
        let six = Estimate::of(&[1.0, 1.1, 0.9, 1.05, 0.95, 1.0]).unwrap();
        assert_eq!(six.interval().map(|(low, high)| (low < 1.0, high > 1.0)), Some((true, true)));
    }

    #[test]
    fn the_middle_of_two_is_the_lower() {
        assert_eq!([middle(&[3.0, 1.0, 2.0]), middle(&[2.0, 1.0]), middle(&[])], [Some(2), Some(1), None]);
    }
}
