//! Which direction is better. Only methods with a verdict or an order use it; estimates do not.

/// Whether more of a figure is better (throughput) or less (CPU time, latency, memory).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Better {
    /// A log ratio turned so that more is better.
    pub(crate) fn oriented(self, log_ratio: f64) -> f64 {
        match self {
            Better::Higher => log_ratio,
            Better::Lower => -log_ratio,
        }
    }
}
