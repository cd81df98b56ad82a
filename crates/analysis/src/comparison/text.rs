//! The words of a comparison.

use super::{Comparison, Contender, Figure};
use crate::{
    figures::{change, interval, parts},
    findings::classes,
    verdict::Question,
};

impl Comparison {
    /// The verdict as the head of a text: `PASS`.
    pub fn head(&self) -> String {
        self.verdict.word(Question::Gate).to_uppercase()
    }
}

impl Contender {
    /// `none of 875032 requests`, `585 of 875032 requests: mismatch 585`.
    pub fn errors(&self) -> String {
        match self.failed.values().sum::<u64>() {
            0 => format!("none of {} requests", self.sent),
            errors => format!("{errors} of {} requests: {}", self.sent, classes(&self.failed)),
        }
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
