//! How far a run is, from the lines of its journal: what a terminal shows to who started it, without that process. Pure; the
//! time that is left is the plan's guess.

use std::{collections::BTreeSet, time::Duration};

use serde::Serialize;
use tare_bench::{
    plan::{Order, Plan},
    record::{Block, Record},
    sample::Sample,
    schedule::Slot,
};

use crate::progress::duration;

/// What a page shows above a report that is still forming.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct PageProgress {
    /// The part that changes with every slice.
    pub now: String,
    /// The part that changes with every block: what a screen reader says.
    pub stage: String,
    /// The time that is left.
    pub left: String,
    /// The part of the time that is over, as a guess.
    pub share: f64,
}

/// A run in progress.
#[derive(Debug)]
pub(super) enum JournalProgress {
    /// In blocks.
    Interleaved(Box<Blocks>),
    /// In fresh processes.
    Sequential(Box<Samples>),
}

/// Slices in blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    plan: Plan,
    /// Blocks that have begun.
    blocks: usize,
    /// When the first one began.
    pilots_ns: u64,
    /// At the last block's begin.
    block_began_ns: u64,
    elapsed_ns: u64,
    now: String,
}

/// Samples in rounds.
#[derive(Debug)]
pub(super) struct Samples {
    plan: Plan,
    done: BTreeSet<Slot>,
    last: Option<Slot>,
}

impl JournalProgress {
    /// Of a run with this plan.
    pub(super) fn of(plan: Plan) -> JournalProgress {
        match plan.order {
            Order::Interleaved(_) => JournalProgress::Interleaved(Box::new(Blocks::new(plan))),
            Order::Sequential => {
                JournalProgress::Sequential(Box::new(Samples { plan, done: BTreeSet::new(), last: None }))
            }
        }
    }

    /// Takes a line of the journal; true where the report has more to show than before. One that cannot be read is the
    /// report's to complain of.
    pub(super) fn on_line(&mut self, line: &[u8]) -> bool {
        serde_json::from_slice(line).is_ok_and(|record: Record| match self {
            JournalProgress::Interleaved(run) => run.on_record(&record),
            JournalProgress::Sequential(run) => run.on_record(&record),
        })
    }

    /// How far it is.
    pub(super) fn now(&self) -> PageProgress {
        match self {
            JournalProgress::Interleaved(run) => run.now(),
            JournalProgress::Sequential(run) => run.now(),
        }
    }
}

impl Blocks {
    fn new(plan: Plan) -> Blocks {
        let now = "warming up".to_owned();
        Blocks { plan, blocks: 0, pilots_ns: 0, block_began_ns: 0, elapsed_ns: 0, now }
    }

    fn on_record(&mut self, record: &Record) -> bool {
        match record {
            Record::Pilot(pilot) => {
                self.now = format!("warm-up of {} is known", self.label(pilot.row));
                let loaded_ns = pilot.window_ns.saturating_mul(pilot.answered.len() as u64);
                self.elapsed_ns = self.elapsed_ns.saturating_add(loaded_ns).saturating_add(pilot.start_ns);
                true
            }
            Record::Block(Block { block, order, elapsed_ns }) => {
                self.pilots_ns = if *block == 0 { *elapsed_ns } else { self.pilots_ns };
                (self.blocks, self.block_began_ns, self.elapsed_ns) =
                    (block.saturating_add(1), *elapsed_ns, *elapsed_ns);
                self.now = format!("starting {} services", order.len());
                *block > 0
            }
            Record::Started(started) => {
                self.elapsed_ns = self.elapsed_ns.saturating_add(started.start_up_ns);
                self.now = format!("{} is ready", self.label(started.row));
                false
            }
            Record::Sample(slice) => {
                self.elapsed_ns = self.elapsed_ns.saturating_add(slice.load.elapsed_ns);
                self.now = self.round(slice);
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

    /// The journal may be damaged, and name what is not there.
    fn label(&self, row: usize) -> &str {
        self.plan.rows.get(row).map_or("a service", |row| &row.label)
    }

    fn round(&self, slice: &Sample) -> String {
        let (closed, label) = (self.plan.slices_per_block(), self.label(slice.row));
        match slice.load.offered_per_second {
            None => format!("round {} of {closed}: {label}", slice.round + 1),
            Some(per_second) => format!("{label} at {per_second:.0} requests/s"),
        }
    }

    fn now(&self) -> PageProgress {
        let over = self.blocks.saturating_sub(1) as u64;
        let block_ns = match (self.block_began_ns.saturating_sub(self.pilots_ns)).checked_div(over) {
            Some(block_ns) => block_ns,
            None => self.plan.block_ns_expected(),
        };
        let left_ns = match self.blocks {
            0 => self.plan.expected_ns().saturating_sub(self.elapsed_ns),
            blocks => {
                // Of the block in progress, what is not over yet.
                let of_block_ns = block_ns.saturating_sub(self.elapsed_ns - self.block_began_ns);
                self.plan.left_ns(blocks, self.elapsed_ns + of_block_ns, block_ns) + of_block_ns
            }
        };
        let stage = match self.blocks {
            0 => "Before the first block".to_owned(),
            blocks => format!("Block {blocks}"),
        };
        let (now, share) = (self.now.clone(), share(self.elapsed_ns, left_ns));
        PageProgress { now, stage, left: words(left_ns), share }
    }
}

impl Samples {
    fn on_record(&mut self, record: &Record) -> bool {
        if let Record::Sample(sample) = record {
            self.done.insert(Slot::of(sample));
            self.last = Some(Slot::of(sample));
        }
        true
    }

    fn now(&self) -> PageProgress {
        let expected_ns =
            |cell: &Slot| self.plan.points.get(cell.point).map_or(0, |point| point.expected_ns());
        let done_ns: u64 = self.done.iter().map(expected_ns).sum();
        let left_ns = self.plan.expected_ns().saturating_sub(done_ns);
        let now = self.last.and_then(|cell| {
            let (point, row) = (self.plan.points.get(cell.point)?, self.plan.rows.get(cell.row)?);
            Some(format!("last measured: {}, {}", row.label, point.describe()))
        });
        let (done, all) = (self.done.len(), self.plan.samples());
        PageProgress {
            now: now.unwrap_or_else(|| "the first sample".to_owned()),
            stage: format!("{done} of {all} samples"),
            left: words(left_ns),
            share: share(done_ns, left_ns),
        }
    }
}

/// Above a minute, a guess has no seconds.
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
    use tare_bench::fixture;

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
    fn what_is_no_record_says_nothing() {
        let mut progress = JournalProgress::of(plan());
        let before = progress.now();
        for line in ["", "{", "{\"slize\":{}}", "null"] {
            assert!(!progress.on_line(line.as_bytes()), "{line}");
        }
        assert_eq!(progress.now(), before);
    }
}
