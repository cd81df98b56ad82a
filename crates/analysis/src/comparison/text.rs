//! The words of a comparison.

use super::{Comparison, Figure};
use crate::{
    figures::{change, interval, parts},
    verdict::Question,
};

impl Comparison {
    /// The verdict as the head of a text: `PASS`.
    pub fn head(&self) -> String {
        self.verdict.word(Question::Gate).to_uppercase()
    }
}

impl Figure {
    /// `throughput: -10.1% (-11.0 .. -9.2%), bound -3.0%.`
    pub fn text(&self) -> Option<String> {
        let ratio = self.ratio?;
        let ends = ratio.interval().map_or(String::new(), |(low, high)| {
            format!(" ({})", interval(parts::change(low), parts::change(high)))
        });
        let bound = if self.decides { format!(", bound {}", change(self.bound)) } else { String::new() };
        Some(format!("{}: {}{}{bound}.", self.name, change(ratio.value), ends))
    }
}
