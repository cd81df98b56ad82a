//! The words of a comparison.

use super::{Comparison, Contender, Figure};
use crate::{
    figures::{change, interval, parts, up_to},
    findings::classes,
    verdict::{Question, Verdict},
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
    /// `throughput: -1.1% (-5.0 .. +2.2%), bound -3.0%: worse by up to 5.0% is not excluded.`
    pub fn text(&self) -> Option<String> {
        let ratio = self.ratio?;
        let ends = ratio.interval().map_or(String::new(), |(low, high)| {
            format!(" ({})", interval(parts::change(low), parts::change(high)))
        });
        let bound = if self.decides { format!(", bound {}", change(self.bound)) } else { String::new() };
        let undecided = matches!(self.verdict, Some(Verdict::Worse | Verdict::Inconclusive));
        let most = self.regression_most.filter(|_| undecided);
        let most = most.map_or(String::new(), |most| format!(": worse by {} is not excluded", up_to(most)));
        Some(format!("{}: {}{ends}{bound}{most}.", self.name, change(ratio.value)))
    }
}
