//! A figure with its interval: of a level, a ratio or a makespan.

use tare_stats::{DEFAULT_CONFIDENCE, RatioEstimate};

/// A figure from values of independent units: blocks, starts, rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitEstimate {
    pub value: f64,
    /// Lower end of the 95% interval; absent with too few units.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Actual coverage of the interval, if known.
    pub confidence_attained: Option<f64>,
    /// Number of units; for a ratio, those with both values.
    pub n: usize,
}

impl UnitEstimate {
    /// An exact value without interval, such as the ratio of the reference to itself.
    pub fn known(value: f64) -> UnitEstimate {
        UnitEstimate { value, low: None, high: None, confidence_attained: None, n: 0 }
    }

    /// An estimate on the scale of its figure.
    pub(crate) fn plain(of: &tare_stats::Estimate) -> UnitEstimate {
        UnitEstimate {
            value: of.point,
            low: of.interval.map(|interval| interval.low),
            high: of.interval.map(|interval| interval.high),
            confidence_attained: of.interval.map(|interval| interval.attained),
            n: of.n,
        }
    }

    /// Converts an estimate from the logarithmic scale.
    pub fn exp(of: &tare_stats::Estimate) -> UnitEstimate {
        let UnitEstimate { value, low, high, .. } = UnitEstimate::plain(of);
        let [low, high] = [low, high].map(|end| end.map(f64::exp));
        UnitEstimate { value: value.exp(), low, high, ..UnitEstimate::plain(of) }
    }

    /// From positive values, one per round or start; absent without any.
    pub(crate) fn of(values: &[f64]) -> Option<UnitEstimate> {
        of_logarithms(values).map(|found| UnitEstimate::exp(&found))
    }

    /// The ratio of two series over common rounds.
    pub(crate) fn of_ratio(subject: &[(usize, f64)], base: &[(usize, f64)]) -> Option<UnitEstimate> {
        let paired = subject.iter().filter_map(|(round, value)| {
            let (_, other) = base.iter().find(|(other, _)| other == round)?;
            Some(value / other)
        });
        UnitEstimate::of(&paired.collect::<Vec<f64>>())
    }

    pub(crate) fn exact(self) -> UnitEstimate {
        UnitEstimate { low: Some(self.value), high: Some(self.value), ..self }
    }

    /// The range used to check a claim: the interval, or the factor of a single round.
    pub fn reach(&self, single_round_factor: f64) -> (f64, f64) {
        self.interval().unwrap_or((self.value / single_round_factor, self.value * single_round_factor))
    }

    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Whether the interval of a ratio excludes 1.
    pub(crate) fn is_apart(&self) -> bool {
        self.interval().is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }

    /// Divides by an exact number.
    pub fn over(self, known: f64) -> UnitEstimate {
        let over = |end: Option<f64>| end.map(|end| end / known);
        UnitEstimate { value: self.value / known, low: over(self.low), high: over(self.high), ..self }
    }
}

impl From<&RatioEstimate> for UnitEstimate {
    fn from(found: &RatioEstimate) -> UnitEstimate {
        let RatioEstimate { ratio: value, low, high, confidence_attained, n, .. } = *found;
        UnitEstimate { value, low, high, confidence_attained, n }
    }
}

/// On the logarithmic scale.
pub(crate) fn of_logarithms(values: &[f64]) -> Option<tare_stats::Estimate> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    tare_stats::interval(&logs, DEFAULT_CONFIDENCE).ok()
}

/// The index of the median; of two middle values the lower one.
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
        let ratio = UnitEstimate::of_ratio(&subject, &base).unwrap();
        let (low, high) = ratio.interval().unwrap();
        assert!((ratio.value - 2.0).abs() < 0.01 && low > 1.9 && high < 2.1, "{ratio:?}");
        let one = UnitEstimate::of_ratio(&subject[..1], &base).unwrap();
        assert_eq!((one.value, one.interval(), one.reach(1.25)), (2.0, None, (1.6, 2.5)));
        assert_eq!(UnitEstimate::of_ratio(&subject[..1], &base[1..]), None, "no round has both");
        let six = UnitEstimate::of(&[1.0, 1.1, 0.9, 1.05, 0.95, 1.0]).unwrap();
        assert_eq!(six.interval().map(|(low, high)| (low < 1.0, high > 1.0)), Some((true, true)));
    }

    #[test]
    fn the_middle_of_two_is_the_lower() {
        assert_eq!([middle(&[3.0, 1.0, 2.0]), middle(&[2.0, 1.0]), middle(&[])], [Some(2), Some(1), None]);
    }
}
