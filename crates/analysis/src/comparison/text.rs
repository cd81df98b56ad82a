//! The words of a comparison.

use super::{Comparison, Figure};
use crate::{report::figures::times, verdict::Question};

impl Comparison {
    /// The verdict as the head of a text: `PASS`.
    pub fn head(&self) -> String {
        self.verdict.word(Question::Gate).to_uppercase()
    }
}

impl Figure {
    /// `throughput: 0.90x (0.89x to 0.91x), bound 0.97x.`
    pub fn text(&self) -> Option<String> {
        let ends = self.low.zip(self.high);
        let ends = ends.map_or(String::new(), |(low, high)| format!(" ({} to {})", times(low), times(high)));
        let bound = if self.decides { format!(", bound {}", times(self.bound)) } else { String::new() };
        Some(format!("{}: {}{ends}{bound}.", self.name, times(self.ratio?)))
    }
}

/// A ratio as a change: `+3.1%`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    // No "-0.0%".
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    format!("{percent:+.1}%")
}
