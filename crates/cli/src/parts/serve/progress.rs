//! The progress of a run from the lines of its journal: what the terminal shows, without access to that
//! process. Pure; the remaining time is an estimate of the plan.

use std::{collections::BTreeSet, time::Duration};

use serde::Serialize;
use tare_bench::{
    plan::Plan,
    record::{Block, Record},
    sample::Sample,
    schedule::Slot,
};

use crate::progress::duration;

/// The progress above a report that is not complete.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct PageProgress {
    /// The text that changes with every slice.
    pub now: String,
    /// The text that changes with every block, which screen readers read out.
    pub stage: String,
    pub left: String,
    /// The estimated share of the time that has passed.
    pub share: f64,
}

#[derive(Debug)]
pub(super) struct JournalProgress {
    plan: Plan,
    now: String,
    blocks: usize,
    /// The time when the first block began.
    pilots_ns: u64,
    /// The time when the last block began.
    block_began_ns: u64,
    /// In a sequential experiment, the time that its plan expects for the finished samples.
    elapsed_ns: u64,
    /// The finished samples of a sequential experiment: a repeated one counts once.
    done: BTreeSet<Slot>,
}

impl JournalProgress {
    pub(super) fn of(plan: Plan) -> JournalProgress {
        let now = if plan.is_sequential() { "the first sample" } else { "warming up" }.to_owned();
        let done = BTreeSet::new();
        JournalProgress { plan, now, blocks: 0, pilots_ns: 0, block_began_ns: 0, elapsed_ns: 0, done }
    }

    /// Reads a line of the journal; returns whether the report has more to show. The report itself warns of
    /// unreadable lines.
    pub(super) fn on_line(&mut self, line: &[u8]) -> bool {
        serde_json::from_slice(line).is_ok_and(|record: Record| self.on_record(&record))
    }

    fn on_record(&mut self, record: &Record) -> bool {
        match record {
            _ if self.plan.is_sequential() => {
                self.on_sequential(record);
                true
            }
            Record::Pilot(pilot) => {
                self.now = format!("warm-up of {} is known", self.label(pilot.row));
                let loaded_ns = pilot.window_ns.saturating_mul(pilot.answered.len() as u64);
                self.elapsed_ns = self.elapsed_ns.saturating_add(loaded_ns).saturating_add(pilot.start_ns);
                true
            }
            Record::Block(Block { block, order, elapsed_ns, .. }) => {
                self.pilots_ns = if *block == 0 { *elapsed_ns } else { self.pilots_ns };
                (self.blocks, self.block_began_ns, self.elapsed_ns) =
                    (block.saturating_add(1), *elapsed_ns, *elapsed_ns);
                self.now = format!("starting {} services", order.len());
                *block > 0
            }
            Record::Started(started) => {
                self.elapsed_ns = self.elapsed_ns.saturating_add(started.start_up_ns.unwrap_or(0));
                self.now = format!("{} is ready", self.label(started.row));
                false
            }
            Record::Sample(slice) => {
                self.elapsed_ns = self.elapsed_ns.saturating_add(slice.load.elapsed_ns);
                self.now = self.round(slice);
                false
            }
            Record::Discarded(slice) => {
                self.now = format!("a slice of {} was discarded", self.label(slice.row));
                false
            }
            Record::Stopped(stopped) => {
                self.now = format!("{} stopped", self.label(stopped.row));
                false
            }
            Record::Failed(failed) => {
                self.now = format!("{} failed", self.label(failed.row));
                true
            }
            Record::Ended(ended) => {
                self.now = ended.reason.text().to_owned();
                true
            }
        }
    }

    fn on_sequential(&mut self, record: &Record) {
        let Record::Sample(sample) = record else { return };
        let slot = Slot::of(sample);
        let is_new = self.done.insert(slot);
        if let Some(point) = self.plan.points.get(slot.point) {
            self.elapsed_ns += if is_new { point.expected_ns() } else { 0 };
            self.now = format!("last measured: {}, {}", self.label(slot.row), point.describe());
        }
    }

    /// The label, or an empty text if a damaged journal names an unknown row.
    fn label(&self, row: usize) -> &str {
        self.plan.rows.get(row).map_or("a service", |row| &row.label)
    }

    fn round(&self, slice: &Sample) -> String {
        let (closed, label) = (self.plan.slices_per_block(), self.label(slice.row));
        match slice.load.offered_per_second {
            None if self.plan.blocks().spread.is_some() => format!("round {}: {label}", slice.round + 1),
            None => format!("round {} of {closed}: {label}", slice.round + 1),
            Some(per_second) => format!("{label} at {per_second:.0} requests/s"),
        }
    }

    pub(super) fn now(&self) -> PageProgress {
        let stage = match self.blocks {
            _ if self.plan.is_sequential() => {
                format!("{} of {} samples", self.done.len(), self.plan.samples())
            }
            0 => "Before the first block".to_owned(),
            blocks => format!("Block {blocks}"),
        };
        let left_ns = self.left_ns();
        PageProgress {
            now: self.now.clone(),
            stage,
            left: words(left_ns),
            share: share(self.elapsed_ns, left_ns),
        }
    }

    fn left_ns(&self) -> u64 {
        if self.blocks == 0 {
            return self.plan.expected_ns().saturating_sub(self.elapsed_ns);
        }
        let over = self.blocks.saturating_sub(1) as u64;
        let block_ns = match (self.block_began_ns.saturating_sub(self.pilots_ns)).checked_div(over) {
            Some(block_ns) => block_ns,
            None => self.plan.block_ns_expected(),
        };
        // The remaining time of the block in progress.
        let of_block_ns = block_ns.saturating_sub(self.elapsed_ns - self.block_began_ns);
        self.plan.left_ns(self.blocks, self.elapsed_ns + of_block_ns, block_ns) + of_block_ns
    }
}

/// An estimate above a minute is rounded to minutes.
fn words(left_ns: u64) -> String {
    let left = match left_ns / 1_000_000_000 {
        seconds if seconds >= 60 => format!("{} min", (seconds + 30) / 60),
        seconds => duration(Duration::from_secs(seconds)),
    };
    format!("about {left} left")
}

fn share(over_ns: u64, left_ns: u64) -> f64 {
    match over_ns.saturating_add(left_ns) {
        0 => 1.0,
        all_ns => over_ns as f64 / all_ns as f64,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tare_bench::{fixture, plan::Order};

    use super::*;

    fn plan() -> Plan {
        let plan = fixture::at_points(fixture::plan(&["a", "b"]), |point| point.rounds = 2);
        fixture::in_blocks(plan, |blocks| {
            (blocks.min, blocks.max, blocks.budget_ns) = (6, 100, 60_000_000_000);
        })
    }

    fn is_news(progress: &mut JournalProgress, record: &Value) -> bool {
        progress.on_line(record.to_string().as_bytes())
    }

    #[test]
    fn a_block_is_told_when_it_begins_and_a_slice_as_it_comes() {
        let mut progress = JournalProgress::of(plan());
        assert_eq!(progress.now().stage, "Before the first block");
        let block = |block: usize, elapsed_ns: u64| json!({"block": {"block": block, "order": [0, 1], "elapsed_ns": elapsed_ns}});
        assert!(!is_news(&mut progress, &block(0, 0)), "there is nothing new to show");
        assert!(is_news(&mut progress, &block(1, 5_000_000_000)));
        assert!(is_news(&mut progress, &block(2, 10_000_000_000)));
        let load = json!({"elapsed_ns": 1_000_000_000});
        let slice = json!({"sample": {"block": 2, "round": 1, "row": 1, "load": load}});
        assert!(!is_news(&mut progress, &slice));
        let expected = PageProgress {
            now: "round 2 of 2: b".to_owned(),
            stage: "Block 3".to_owned(),
            left: "about 49 s left".to_owned(),
            share: 11.0 / 60.0,
        };
        assert_eq!(progress.now(), expected);
    }

    #[test]
    fn samples_one_by_one_count_once_each() {
        let mut progress = JournalProgress::of(Plan { order: Order::Sequential, ..plan() });
        let before = progress.now();
        assert_eq!((before.now.as_str(), before.stage.as_str()), ("the first sample", "0 of 4 samples"));
        let sample = json!({"sample": {"round": 0, "row": 1}});
        for _ in 0..2 {
            assert!(is_news(&mut progress, &sample));
            let now = progress.now();
            assert!(now.now.starts_with("last measured: b, "), "{}", now.now);
            assert_eq!((now.stage.as_str(), now.share), ("1 of 4 samples", 0.25));
        }
    }

    #[test]
    fn what_is_no_record_says_nothing() {
        let mut progress = JournalProgress::of(plan());
        let before = progress.now();
        for line in ["", "{", "{\"slize\":{}}", "null"] {
            assert!(!progress.on_line(line.as_bytes()), "{line}");
        }
        assert_eq!(progress.now(), before);
    }
}
