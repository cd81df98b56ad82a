//! A run of Tare in the form of published figures, which are audited by the same rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::{AuditRow, Counts, Published, PublishedLatency, PublishedLoad, Source};
use tare_analysis::loads;
use tare_bench::{
    folder::StoredRun,
    plan::LoadSpec,
    sample::{Sample, SampleOutcome},
};

/// Sums over the samples of a row at a point.
#[derive(Default)]
struct Sums {
    answered: f64,
    elapsed_ns: f64,
    /// The sum of the times in flight of all requests.
    in_flight_ns: f64,
    latency_ns: f64,
    count: f64,
    ns_min: f64,
    ns_max: f64,
    /// The CPU time including that of the backing service on its CPUs.
    server_cpu_ns: f64,
    /// The time in which the CPU time was counted.
    counted_ns: f64,
}

/// The rows of a run at each of its loads. A row whose throughput the report withholds was not published.
pub fn of_run(run: &StoredRun) -> Published {
    let plan = &run.header.plan;
    let withheld = withheld(run);
    let mut sums: BTreeMap<(usize, usize), Sums> = BTreeMap::new();
    let samples = run.records.iter().filter_map(|record| record.sample());
    let is_published = |sample: &&Sample| !withheld.contains(plan.rows[sample.row].label.as_str());
    for sample in samples.filter(|sample| sample.outcome == SampleOutcome::Measured).filter(is_published) {
        sums.entry((sample.point, sample.row)).or_default().add(sample);
    }
    let row = |((point, row), sums): (&(usize, usize), &Sums)| {
        let point = &plan.points[*point];
        AuditRow {
            name: plan.rows[*row].label.clone(),
            test: point.describe(),
            load: load(&point.load, sums),
            cpus_used: (sums.server_cpu_ns > 0.0).then(|| sums.server_cpu_ns / sums.counted_ns),
            cpus: (!plan.is_sequential()).then_some(plan.pinning.server.len() as f64),
            ..sums.row()
        }
    };
    Published { source: Source::Tare, rows: sums.iter().map(row).collect(), unread: run.damage.len() }
}

fn withheld(run: &StoredRun) -> BTreeSet<String> {
    if run.header.plan.is_sequential() {
        return BTreeSet::new();
    }
    let rows = loads::compute(run).into_iter().flat_map(|load| load.report.rows);
    rows.filter(|row| row.requests_per_second.is_none()).map(|row| row.label).collect()
}

fn load(load: &LoadSpec, sums: &Sums) -> PublishedLoad {
    match load {
        LoadSpec::Closed { connections, think_ns, .. } => PublishedLoad {
            slots: Some(*connections as f64),
            under_way: (sums.elapsed_ns > 0.0).then(|| sums.in_flight_ns / sums.elapsed_ns),
            thinks: think_ns.is_some(),
            ..PublishedLoad::default()
        },
        LoadSpec::Open { .. } => PublishedLoad { paced: true, ..PublishedLoad::default() },
        LoadSpec::Sessions { .. } | LoadSpec::Batch { .. } => PublishedLoad::default(),
    }
}

impl Sums {
    fn add(&mut self, sample: &Sample) {
        let latency = &sample.load.latency;
        self.answered += sample.load.answered as f64;
        self.elapsed_ns += sample.load.elapsed_ns as f64;
        self.in_flight_ns += sample.load.in_flight_ns as f64;
        self.latency_ns += latency.ns_mean * latency.count as f64;
        let is_first = self.count == 0.0;
        self.ns_min = if is_first { latency.ns_min as f64 } else { self.ns_min.min(latency.ns_min as f64) };
        self.count += latency.count as f64;
        let ns_max = latency.quantiles_ns.last().map_or(0.0, |(_, ns)| *ns as f64);
        self.ns_max = self.ns_max.max(ns_max);
        let server_cpu_ns = sample.host.server_cpu_ns + sample.host.sharing_cpu_ns().unwrap_or(0);
        self.server_cpu_ns += server_cpu_ns as f64;
        // From thaw to freeze, longer than the load: a garbage collector may run after the last answer.
        let counted_ns =
            sample.host.accounting.map_or(sample.load.elapsed_ns, |accounting| accounting.wall_ns);
        self.counted_ns += counted_ns as f64;
    }

    fn row(&self) -> AuditRow {
        let elapsed_s = (self.elapsed_ns > 0.0).then_some(self.elapsed_ns / 1e9);
        AuditRow {
            per_second: elapsed_s.map(|elapsed_s| self.answered / elapsed_s),
            counts: Some(Counts { succeeded: self.answered, ..Counts::default() }),
            elapsed_s,
            latency: PublishedLatency {
                ns_min: (self.count > 0.0).then_some(self.ns_min),
                ns_mean: (self.count > 0.0).then(|| self.latency_ns / self.count),
                ns_max: (self.count > 0.0).then_some(self.ns_max),
                ..PublishedLatency::default()
            },
            // The report has an interval for each of these figures.
            has_interval: true,
            ..AuditRow::default()
        }
    }
}
