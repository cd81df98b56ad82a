//! The stopping rule for a comparison of two rows.

use crate::{comparison, verdict::Verdict};
use tare_bench::{
    folder::{Header, StoredRun},
    plan::until::Until,
    record::Record,
    schedule::StopRule,
};

/// Ends a run at the first planned look that passes or fails the candidate, or at the first wrong answer. A
/// WORSE candidate is measured further. It uses [`comparison::compute`], like the report.
#[derive(Debug)]
pub(super) struct GateRule {
    kept: StoredRun,
    blocks: usize,
    has_wrong_answers: bool,
}

impl GateRule {
    /// For a run with this head.
    pub(crate) fn new(header: &Header) -> GateRule {
        GateRule { kept: StoredRun::beginning(header), blocks: 0, has_wrong_answers: false }
    }

    fn rows(&self) -> std::ops::Range<usize> {
        0..self.kept.header.plan.rows.len()
    }

    /// Whether this is the time for a look. An excluded or wrong row ends the comparison at once.
    fn is_look(&self) -> bool {
        let Until::Gate(gate) = &self.kept.header.plan.until else { return false };
        if self.has_wrong_answers {
            return true;
        }
        let is_out = |record: &Record| matches!(record, Record::Failed(_));
        gate.looks.contains(&self.blocks) || self.kept.records.iter().any(is_out)
    }
}

impl StopRule for GateRule {
    fn on_record(&mut self, record: &Record) {
        self.blocks += usize::from(matches!(record, Record::Block(_)));
        self.has_wrong_answers |=
            self.rows().any(|row| record.answers_of(row).is_some_and(|load| load.wrong_answers() > 0));
        self.kept.push(record.clone());
    }

    fn is_decided(&mut self) -> bool {
        let found = self.is_look().then(|| comparison::compute(&self.kept)).flatten();
        found.is_some_and(|found| match found.verdict {
            Verdict::Invalid => self.has_wrong_answers,
            Verdict::Inconclusive | Verdict::Worse | Verdict::Unfinished => false,
            Verdict::Pass
            | Verdict::Fail
            | Verdict::ServiceFailed
            | Verdict::NotBuilt
            | Verdict::LeftOut(_) => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::{fixture, record::Failed, sample::LoadResult};

    /// Blocks until the decision.
    fn blocks_needed(ratio: f64) -> Option<usize> {
        let header = fixture::compared();
        let mut stop_rule = GateRule::new(&header);
        (1..=40).find(|blocks| {
            fixture::block(blocks - 1, &[1.0, ratio]).iter().for_each(|record| stop_rule.on_record(record));
            stop_rule.is_decided()
        })
    }

    #[test]
    fn it_ends_at_a_look_and_not_between() {
        assert_eq!(blocks_needed(1.0), Some(12), "the same");
        assert_eq!(blocks_needed(0.5), Some(12), "half");
        assert_eq!(blocks_needed(1.5), Some(12), "better");
        assert_eq!(blocks_needed(0.97), None, "worse, by about delta: neither is proved");
    }

    #[test]
    fn a_wrong_answer_ends_it_and_a_reset_does_not() {
        use tare_bench::sample::Failure;
        let is_over = |failure: Failure, point: usize| {
            let mut header = fixture::compared();
            header.plan = fixture::under_loads(header.plan, &[16, 64]);
            let mut stop_rule = GateRule::new(&header);
            for mut record in fixture::block(0, &[1.0, 1.0]) {
                if let Record::Sample(sample) = &mut record {
                    sample.point = point;
                    sample.load.failed = [(failure, 1)].into_iter().collect();
                }
                stop_rule.on_record(&record);
            }
            stop_rule.is_decided()
        };
        assert!(is_over(Failure::Mismatch, 0));
        assert!(is_over(Failure::Mismatch, 1), "under a load that does not decide");
        assert!(!is_over(Failure::Reset, 0));
    }

    #[test]
    fn a_wrong_answer_beside_the_slices_ends_it_too() {
        let mut stop_rule = GateRule::new(&fixture::compared());
        let failed = [(tare_bench::sample::Failure::Mismatch, 1)].into_iter().collect();
        let aside = LoadResult { sent: 1_000, failed, ..LoadResult::default() };
        for mut record in fixture::block(0, &[1.0, 1.0]) {
            if let Record::Stopped(stopped) = &mut record {
                stopped.wrong_aside = Some(Box::new(aside.clone()));
            }
            stop_rule.on_record(&record);
        }
        assert!(stop_rule.is_decided());
        let found = comparison::compute(&stop_rule.kept).unwrap();
        assert_eq!(found.verdict, Verdict::Invalid);
        assert!(found.reason.contains(": wrong answers: 1 of "), "{}", found.reason);
    }

    #[test]
    fn a_row_that_fails_ends_it_at_once() {
        let mut stop_rule = GateRule::new(&fixture::compared());
        fixture::block(0, &[1.0, 1.0]).iter().for_each(|record| stop_rule.on_record(record));
        assert!(!stop_rule.is_decided());
        stop_rule.on_record(&Record::Failed(Failed { block: 1, row: 0, reason: "was killed".to_owned() }));
        assert!(stop_rule.is_decided());
    }
}
