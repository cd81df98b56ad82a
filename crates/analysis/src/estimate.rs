//! A figure with its interval: of a level, of a ratio, of a makespan, wherever one is shown or compared.

use tare_stats::RatioEstimate;

/// A figure from values of independent units: blocks, starts, rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Lower end of the 95% interval; absent with too few units.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// What the interval really covers, if that is known.
    pub confidence_attained: Option<f64>,
    /// Units; for a ratio those in which both were measured.
    pub n: usize,
}

impl Estimate {
    /// Known, and without an interval: what a reference is of itself.
    pub fn known(value: f64) -> Estimate {
        Estimate { value, low: None, high: None, confidence_attained: None, n: 0 }
    }

    /// From an estimate on the scale of logarithms.
    pub fn exp(of: &tare_stats::Estimate) -> Estimate {
        Estimate {
            value: of.point.exp(),
            low: of.interval.map(|interval| interval.low.exp()),
            high: of.interval.map(|interval| interval.high.exp()),
            confidence_attained: of.interval.map(|interval| interval.attained),
            n: of.n,
        }
    }

    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Divided by a number that is known.
    pub fn over(self, known: f64) -> Estimate {
        let over = |end: Option<f64>| end.map(|end| end / known);
        Estimate { value: self.value / known, low: over(self.low), high: over(self.high), ..self }
    }
}

impl From<&RatioEstimate> for Estimate {
    fn from(found: &RatioEstimate) -> Estimate {
        let RatioEstimate { ratio: value, low, high, confidence_attained, n, .. } = *found;
        Estimate { value, low, high, confidence_attained, n }
    }
}
