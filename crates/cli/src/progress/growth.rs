//! Explains why a run takes longer than estimated: users distrust an estimate that grows without a reason.

use std::{collections::BTreeMap, time::Duration};
use tare_base::units::several;

use tare_bench::{
    plan::{Plan, Until},
    record::{Block, Record},
    schedule::{StopRule, searches::Searches},
};

use super::duration;

/// A smaller growth of the estimate is not reported.
const SHARE: f64 = 0.15;
const LEAST: Duration = Duration::from_secs(10);

/// The last reported estimate, and the observations since then that extend a run.
#[derive(Debug)]
pub(super) struct Growth<'a> {
    plan: &'a Plan,
    /// The announced duration of this part of the run.
    said: Option<Duration>,
    searches: Option<Searches<'a>>,
    /// For each row whose warm-up was longer than expected, how long it took to become steady.
    slow_to_warm_up: BTreeMap<usize, Option<u64>>,
    discarded_slices: usize,
    first_block_ns: u64,
    /// The number of finished blocks, and their duration.
    done: (u64, u64),
}

impl<'a> Growth<'a> {
    /// `said` is the announced duration; `None` for a resumed run, which has none.
    pub(super) fn new(plan: &'a Plan, said: Option<Duration>) -> Growth<'a> {
        let searches = if let Until::Search(slo) = &plan.until { Some(Searches::new(slo)) } else { None };
        Growth {
            plan,
            said,
            searches,
            slow_to_warm_up: BTreeMap::new(),
            discarded_slices: 0,
            first_block_ns: 0,
            done: (0, 0),
        }
    }

    /// Handles a stored record. Returns a sentence if the estimate has grown.
    pub(super) fn on_record(&mut self, record: &Record, elapsed: Duration, left: Duration) -> Option<String> {
        self.see(record);
        // The estimate needs the duration of a start and of a block, which are known after these records.
        if !matches!(record, Record::Block(_) | Record::Sample(_)) {
            return None;
        }
        let all = elapsed + left;
        let said = *self.said.get_or_insert(all);
        let more = all.checked_sub(said).filter(|more| *more >= LEAST.max(said.mul_f64(SHARE)))?;
        self.said = Some(all);
        Some(format!(
            "about {} left, {} more than was estimated: {}",
            duration(left),
            duration(more),
            self.reasons().join("; ")
        ))
    }

    fn see(&mut self, record: &Record) {
        if let Some(searches) = &mut self.searches {
            searches.on_record(record);
        }
        match record {
            Record::Pilot(pilot)
                if pilot.steady_after_ns.is_none_or(|ns| ns > self.warm_up_ns_expected()) =>
            {
                self.slow_to_warm_up.insert(pilot.row, pilot.steady_after_ns);
            }
            Record::Discarded(_) => self.discarded_slices += 1,
            Record::Block(Block { block: 0, elapsed_ns, .. }) => self.first_block_ns = *elapsed_ns,
            Record::Block(Block { block, elapsed_ns, .. }) => {
                self.done = (*block as u64, elapsed_ns.saturating_sub(self.first_block_ns));
            }
            _ => {}
        }
    }

    /// Compiled services need half a second at most, and a pilot doubles what it finds.
    fn warm_up_ns_expected(&self) -> u64 {
        self.plan.warm_up_ns().max(500_000_000)
    }

    /// The reasons, the most important first; never empty.
    fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self.discarded_windows().into_iter().collect();
        if self.discarded_slices > 0 {
            reasons.push(format!("{} discarded", several(self.discarded_slices, "slice")));
        }
        let warm_up = |(row, steady): (&usize, &Option<u64>)| {
            let label = &self.plan.rows[*row].label;
            match steady {
                Some(ns) => format!("{label} takes {:.1} s to warm up", *ns as f64 / 1e9),
                None => {
                    format!("{label} is warmed up for long, as it was not steady in the time that it had")
                }
            }
        };
        reasons.extend(self.slow_to_warm_up.iter().map(warm_up));
        let (blocks, took_ns) = self.done;
        let expected_ns = self.plan.block_ns_expected();
        if reasons.is_empty() && blocks > 0 && took_ns / blocks > expected_ns {
            let [took, expected] = [took_ns / blocks, expected_ns].map(Duration::from_nanos);
            reasons.push(format!("a block takes {} and not {}", duration(took), duration(expected)));
        }
        if reasons.is_empty() {
            reasons.push("services take longer to start, or to answer, than was expected".to_owned());
        }
        reasons
    }

    fn discarded_windows(&self) -> Option<String> {
        let searches = self.searches.as_ref()?;
        let starts = (0..self.plan.rows.len()).flat_map(|row| searches.of(row));
        let counts = starts.filter_map(|start| start.search.as_ref());
        let (counted, discarded) = counts.fold((0, 0), |(counted, discarded), search| {
            (counted + search.counted(), discarded + search.discarded())
        });
        (discarded > 0).then(|| {
            format!(
                "{discarded} of {} windows were discarded, since the generator itself was late, and are repeated",
                counted + discarded
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use tare_bench::{
        fixture,
        record::Pilot,
        sample::{LoadResult, Sample},
        slo::{Slo, SloPlan},
    };

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn window(schedule_lag_ms: u64, per_second: f64) -> Record {
        let load = LoadResult {
            offered_per_second: Some(per_second),
            schedule_lag_ns_p99: Some(schedule_lag_ms * 1_000_000),
            sent: 100,
            answered: 100,
            within: vec![100],
            ..LoadResult::default()
        };
        Record::Sample(Box::new(Sample { load, ..Sample::default() }))
    }

    #[test]
    fn windows_that_are_repeated_are_the_reason() {
        let slo = Slo::parse(["p99=10ms"]).unwrap();
        let slo = SloPlan { slo, windows: 14, windows_expected: None, lag_ns_max: 1_000_000, at_least: None };
        let plan = Plan { until: Until::Search(slo), ..fixture::plan(&["a"]) };
        let mut growth = Growth::new(&plan, Some(seconds(97)));
        assert_eq!(
            growth.on_record(&window(0, 100.0), seconds(10), seconds(90)),
            None,
            "it has hardly grown"
        );
        let said = growth.on_record(&window(5, 100.0), seconds(20), seconds(160)).unwrap();
        assert_eq!(
            said,
            "about 2 min 40 s left, 1 min 23 s more than was estimated: 1 of 2 windows were discarded, since the generator itself \
             was late, and are repeated"
        );
        assert_eq!(growth.on_record(&window(5, 100.0), seconds(21), seconds(160)), None, "once is enough");
    }

    #[test]
    fn what_warms_up_slowly_and_long_blocks_are_reasons() {
        let plan = fixture::plan(&["a", "b"]);
        let mut growth = Growth::new(&plan, Some(seconds(60)));
        let block = |block, seconds: u64| {
            Record::Block(Block {
                block,
                order: Vec::new(),
                elapsed_ns: seconds * 1_000_000_000,
                ..Block::default()
            })
        };
        assert_eq!(growth.on_record(&block(0, 5), seconds(5), seconds(55)), None);
        let said = growth.on_record(&block(1, 25), seconds(25), seconds(100)).unwrap();
        assert!(said.contains("more than was estimated: a block takes 20 s and not "), "{said}");
        let pilot = Pilot { row: 1, steady_after_ns: Some(3_000_000_000), ..Pilot::default() };
        assert_eq!(growth.on_record(&Record::Pilot(pilot), seconds(26), seconds(300)), None);
        let said = growth.on_record(&block(2, 45), seconds(45), seconds(300)).unwrap();
        assert!(said.ends_with(": b takes 3.0 s to warm up"), "{said}");
    }

    #[test]
    fn a_run_that_is_resumed_begins_with_its_own_estimate() {
        let plan = fixture::plan(&["a"]);
        let mut growth = Growth::new(&plan, None);
        assert_eq!(growth.on_record(&window(0, 1.0), seconds(1), seconds(500)), None);
        let said = growth.on_record(&window(0, 1.0), seconds(2), seconds(900)).unwrap();
        assert!(said.ends_with("services take longer to start, or to answer, than was expected"), "{said}");
    }
}
