//! Synthetic runs of published experiments.

use tare_bench::{
    fixture::published::plan,
    folder::{Header, StoredRun},
    plan::{Excluded, Exclusion, LoadSpec, Plan, SequentialOptions},
    record::{EndedRun, Ending, Record},
    sample::{CpuByMode, Distribution, HostUsage, LoadResult, PROBABILITIES, Sample, Second},
    schedule::{Slot, order},
};
use tare_host::environment::Environment;

/// Times from 1 to `longest` ms.
fn spread(mean_ms: f64, longest_ms: f64) -> Distribution {
    let at = |probability: f64| ((mean_ms + (longest_ms - mean_ms) * probability.powi(40)) * 1e6) as u64;
    Distribution {
        count: 1_000,
        ns_min: (mean_ms * 5e5) as u64,
        ns_mean: mean_ms * 1e6,
        ns_stdev: mean_ms * 2e5,
        share_within_stdev: 0.9,
        quantiles_ns: PROBABILITIES.map(|probability| (probability, at(probability))).to_vec(),
        at_least: false,
    }
}

/// Row 0 is the fastest, and each later one takes 50% longer; rounds differ by a percent.
pub fn measured(plan: &Plan, cell: Slot) -> Sample {
    let slowness = 1.5f64.powi(cell.row as i32) * (1.0 + 0.01 * cell.round as f64);
    let point = &plan.points[cell.point];
    let (window_ns, answered) = match point.load {
        LoadSpec::Closed { duration_ns, think_ns: Some((least, most)), connections, .. } => {
            let think_ns = (least + most) as f64 / 2.0 + slowness * 1e6;
            (duration_ns, connections as f64 * duration_ns as f64 / think_ns)
        }
        LoadSpec::Closed { duration_ns, .. } => {
            (duration_ns, duration_ns as f64 / 1e9 * 100_000.0 / slowness)
        }
        LoadSpec::Open { duration_ns, rate, .. } => {
            (duration_ns, duration_ns as f64 / 1e9 * rate.per_second(0.0))
        }
        LoadSpec::Sessions { connections, calls } => {
            let requests = (connections * calls) as f64;
            ((requests * slowness * 20e3) as u64, requests)
        }
        LoadSpec::Batch { messages, producers } => {
            let each_ns = point.request_ns_ideal() as f64 + slowness * 1e6;
            ((messages as f64 * each_ns) as u64, (producers as u64 * messages) as f64)
        }
    };
    let answered = answered as u64;
    let load = LoadResult {
        offered_per_second: point.load.rate().map(|rate| rate.per_second(0.0)),
        window_ns,
        elapsed_ns: window_ns,
        sent: answered,
        answered,
        answered_in_window: answered,
        connects: match point.load {
            LoadSpec::Sessions { connections, .. } => connections,
            LoadSpec::Batch { .. } => answered,
            _ => 40,
        },
        bytes_received: answered * 88,
        latency: spread(slowness, slowness * 20.0),
        connection_time: Some(spread(slowness * 3.0, slowness * 5.0)),
        seconds: vec![Second { ns: 1_000_000_000, answered: answered / 6, latency_ns_max: 20_000_000 }; 6],
        ..LoadResult::default()
    };
    let host = HostUsage {
        server_cpu_ns: (answered as f64 * slowness * 8e3) as u64,
        server_cpu_by_mode: Some(CpuByMode { user_ns: 2_000_000_000, system_ns: 3_000_000_000 }),
        generator_cpu_ns: answered * 4_000,
        ..HostUsage::default()
    };
    Sample { round: cell.round, point: cell.point, row: cell.row, load, host, ..Sample::default() }
}

/// A run of all rows, some of which are missing on this machine.
pub fn kept(name: &str, scale: f64, sample: impl Fn(&Plan, Slot) -> Sample) -> StoredRun {
    let mut plan = plan(name, &SequentialOptions { scale: Some(scale), ..SequentialOptions::default() });
    for row in &mut plan.rows {
        row.version = Some("1.2".to_owned());
        if ["kitura", "crow", "restbed", "simple-web-server"].contains(&row.label.as_str()) {
            let reason = "not on this machine: no compiler".to_owned();
            row.excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
        }
    }
    let record = |cell| Record::Sample(Box::new(sample(&plan, cell)));
    let mut records: Vec<Record> = order(&plan).into_iter().map(record).collect();
    records.push(Record::Ended(EndedRun { reason: Ending::Complete, elapsed_ns: 60_000_000_000 }));
    let environment = Environment {
        kernel: "Linux 6".to_owned(),
        cpu: "a <fast> CPU".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        system: "Debian".to_owned(),
        ..Environment::default()
    };
    let header = Header::new("0.1.0", "2026-01-02T03:04:05Z".to_owned(), plan, environment);
    StoredRun { header, records, damage: Vec::new(), in_progress: false }
}
