//! The loads of a run, with one table each. A table treats the run as if it had only that load, and adds the
//! change of each service relative to the first load.

use std::{borrow::Cow, collections::BTreeMap};

use tare_bench::{
    experiment::LoadSetting,
    folder::StoredRun,
    metric::Metric,
    plan::{Plan, PlannedRow},
};

use crate::{
    checks::{Check, of_table},
    estimate::UnitEstimate,
    interleaved::{
        self, Report, RowReport, RowState,
        blocks::{self, Blocks},
        relation::relate,
    },
};

/// The results under one load.
#[derive(Debug, Clone)]
pub struct AtLoad {
    /// Its place in the plan.
    pub place: usize,
    pub load: LoadSetting,
    pub report: Report,
    pub to_first: BTreeMap<String, ToFirst>,
}

/// A service under one load divided by itself under the first, paired by block.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ToFirst {
    pub throughput: Option<UnitEstimate>,
    pub cpu: Option<UnitEstimate>,
}

/// A run reduced to one load.
struct Run<'a> {
    plan: &'a Plan,
    blocks: Vec<Blocks<'a>>,
    report: Report,
}

/// All loads of a run, in the order of the plan.
pub fn compute(stored: &StoredRun) -> Vec<AtLoad> {
    let loads = stored.header.plan.loads();
    let runs: Vec<Cow<StoredRun>> = (0..loads.len()).map(|load| stored.at_load(load)).collect();
    let runs: Vec<Run> = runs.iter().map(|run| Run::of(run)).collect();
    let to_first: Vec<_> = runs.iter().map(|run| run.to_first(&runs[0])).collect();
    let found = loads.into_iter().zip(runs).zip(to_first).enumerate();
    found
        .map(|(place, ((load, run), to_first))| AtLoad { place, load, report: run.report, to_first })
        .collect()
}

impl Run<'_> {
    fn of(stored: &StoredRun) -> Run<'_> {
        Run {
            plan: &stored.header.plan,
            blocks: blocks::of_rows(stored),
            report: interleaved::compute(stored),
        }
    }

    /// The ratios of each service that was measured under both loads.
    fn to_first(&self, first: &Run) -> BTreeMap<String, ToFirst> {
        let of_row = |(place, row): (usize, &PlannedRow)| {
            let rows = [self.measured(&row.label)?, first.measured(&row.label)?];
            Some((row.label.clone(), ratios(self.plan, rows, [&self.blocks[place], &first.blocks[place]])))
        };
        self.plan.rows.iter().enumerate().filter_map(of_row).collect()
    }

    fn measured(&self, label: &str) -> Option<&RowReport> {
        self.report.rows.iter().find(|row| row.label == label && row.state == RowState::Measured)
    }
}

/// A metric has a ratio only if it is valid under both loads.
fn ratios(plan: &Plan, rows: [&RowReport; 2], [here, first]: [&Blocks; 2]) -> ToFirst {
    let looks = plan.until.planned();
    let ratio = |metric, figure: fn(&RowReport) -> Option<UnitEstimate>| {
        let are_valid = rows.iter().all(|row| figure(row).is_some());
        are_valid.then(|| relate(here, first, metric, looks.as_ref())).flatten()
    };
    ToFirst {
        throughput: ratio(Metric::Throughput, |row| row.requests_per_second),
        cpu: ratio(Metric::Cpu, |row| row.cpu_ns_per_request),
    }
}

/// Checks that each row has figures under every load. With a single load, names omit it.
pub fn checks(loads: &[AtLoad]) -> Vec<Check> {
    let named = |at: &AtLoad| {
        let name = |check: Check| match loads.len() {
            1 => check,
            _ => Check { name: format!("{} at {}", check.name, at.load.label()), ..check },
        };
        of_table(&at.report).into_iter().map(name).collect::<Vec<_>>()
    };
    loads.iter().flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::{
        fixture,
        folder::Header,
        record::{Failed, Record},
        sample::Sample,
    };
    use tare_host::environment::Environment;

    /// Blocks of `a` and `b` under 16 and 64 connections, at these multiples of the usual rate: both under
    /// the first load, then both under the second.
    fn kept(blocks: usize, levels: [f64; 4]) -> StoredRun {
        let plan = fixture::under_loads(fixture::plan(&["a", "b"]), &[16, 64]);
        let header = Header::new("0.1.0", String::new(), plan, Environment::default());
        let records =
            (0..blocks).flat_map(|block| fixture::block(block, &levels).into_iter().filter_map(at_load));
        StoredRun { header, records: records.collect(), damage: Vec::new(), in_progress: false }
    }

    /// Rows from the third on represent the first two under the second load.
    fn at_load(record: Record) -> Option<Record> {
        match record {
            Record::Sample(sample) => {
                let (point, row) = (sample.row / 2, sample.row % 2);
                Some(Record::Sample(Box::new(Sample { point, row, ..*sample })))
            }
            Record::Block(mut block) => {
                block.order.truncate(2);
                Some(Record::Block(block))
            }
            Record::Started(started) => (started.row < 2).then_some(Record::Started(started)),
            Record::Stopped(stopped) => (stopped.row < 2).then_some(Record::Stopped(stopped)),
            other => Some(other),
        }
    }

    fn throughput(stored: &StoredRun, load: usize, label: &str) -> Option<UnitEstimate> {
        compute(stored)[load].to_first.get(label)?.throughput
    }

    #[test]
    fn a_service_is_related_to_itself_under_the_first_load_in_the_same_block() {
        let stored = kept(12, [1.0, 0.8, 1.2, 0.4]);
        for (label, truth) in [("a", 1.2), ("b", 0.5)] {
            let found = compute(&stored)[1].to_first[label];
            let ratio = found.throughput.unwrap();
            let (low, high) = ratio.interval().unwrap();
            assert!(low <= truth && truth <= high, "{label}: {ratio:?}");
            // Disturbances of a block are up to 5% either way, those of a service under one load up to 0.5%.
            assert!(high / low < 1.01 && ratio.n == 12, "what disturbs a block cancels: {ratio:?}");
            let cpu = found.cpu.unwrap();
            assert!(
                (cpu.value * ratio.value - 1.0).abs() < 1e-9,
                "the same CPU time for other answers: {cpu:?}"
            );
        }
        assert_eq!(throughput(&stored, 0, "b").and_then(|ratio| ratio.interval()), Some((1.0, 1.0)));
    }

    #[test]
    fn only_blocks_with_both_loads_are_pairs() {
        let mut stored = kept(12, [1.0, 0.8, 1.2, 0.4]);
        let is_missing = |record: &Record| match record {
            Record::Sample(sample) => (sample.block, sample.row, sample.point) == (3, 1, 1),
            _ => false,
        };
        stored.records.retain(|record| !is_missing(record));
        let n = |label| throughput(&stored, 1, label).map(|ratio| ratio.n);
        assert_eq!(
            [n("a"), n("b")],
            [Some(11), Some(11)],
            "the round of the other service is not whole either"
        );
        assert_eq!(compute(&stored)[0].report.blocks, 12);
    }

    #[test]
    fn what_is_not_valid_under_a_load_has_no_ratio() {
        let mut stored = kept(12, [1.0, 0.8, 1.2, 0.4]);
        for record in &mut stored.records {
            if let Record::Sample(sample) = record
                && (sample.row, sample.point) == (1, 1)
            {
                (sample.host.server_cpu_ns, sample.host.generator_cpu_ns) = (50_000_000, 99_000_000);
            }
        }
        let found = compute(&stored)[1].to_first["b"];
        assert_eq!((found.throughput, found.cpu.is_some()), (None, true), "the generator was the limit");
        let failed = Failed { block: 11, row: 0, reason: "was killed".to_owned() };
        stored.records.push(Record::Failed(failed));
        assert!(!compute(&stored)[1].to_first.contains_key("a"));
    }
}
