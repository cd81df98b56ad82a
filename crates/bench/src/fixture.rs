//! Runs made of arithmetic: what a measurement would have written.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    folder::Header,
    metric::Metric,
    plan::{
        Blocks, Counted, LoadSpec, Order, Plan, PlannedRow, Point, Publication, Rate, Until,
        until::{ALPHA, Gate, looks},
    },
    record::{Block, Latency, Record, Started, Stopped},
    sample::{HostUsage, LoadResult, Sample},
};
use tare_host::{cpus::Pinning, environment::Environment};
use tare_service::{catalogue::Style, settings::ServiceSettings};

/// A row that was built.
pub fn row(label: &str) -> PlannedRow {
    PlannedRow {
        label: label.to_owned(),
        service: label.to_owned(),
        title: None,
        language: "rust".to_owned(),
        framework: "none".to_owned(),
        licence: "MIT".to_owned(),
        style: Style::Framework,
        settings: Vec::new(),
        version: Some("1.2.3".to_owned()),
        content: Some("c0ffee".to_owned()),
        excluded: None,
        published: None,
        as_published: false,
        known_failure: None,
        threads: None,
        counted: Counted::default(),
    }
}

/// A closed loop in slices of 100 ms, one in a block, over so many rows.
pub fn closed_loop(connections: usize, rows: usize) -> Point {
    Point {
        part: format!("{connections} connections"),
        contract: "hello".to_owned(),
        requests: Vec::new(),
        rounds: 1,
        load: LoadSpec::Closed { connections, threads: 1, duration_ns: 100_000_000, think_ns: None },
        published: None,
        warm_up_ns: 0,
        service_settings: ServiceSettings { threads: 1, delay_ms: 0 },
        link: None,
        rows: (0..rows).collect(),
    }
}

/// A plan over rows of these labels; the first is the reference.
pub fn plan(labels: &[&str]) -> Plan {
    of_rows(labels.iter().map(|label| row(label)).collect())
}

/// A plan over these rows; the first is the reference.
pub fn of_rows(rows: Vec<PlannedRow>) -> Plan {
    Plan {
        experiment: "compare".to_owned(),
        title: "a against b".to_owned(),
        question: "Is b worse?".to_owned(),
        reference: Some(rows[0].label.clone()),
        seed: 42,
        pinning: Pinning { server: vec![0], generator: vec![1] },
        order: Order::Interleaved(Blocks {
            min: 12,
            max: 40,
            budget_ns: 180_000_000_000,
            warm_up_ns_max: None,
            group_max: 12,
            per_start_max: 4,
        }),
        until: Until::Budget,
        points: vec![closed_loop(64, rows.len())],
        rows,
        publication: Publication::default(),
    }
}

/// The plan with a closed loop for each of these numbers of connections.
pub fn under_loads(plan: Plan, connections: &[usize]) -> Plan {
    let [first, ..] = &plan.points[..] else { unreachable!("a plan has a load") };
    let point = |connections: &usize| Point {
        part: format!("{connections} connections"),
        load: match first.load {
            LoadSpec::Closed { threads, duration_ns, think_ns, .. } => {
                LoadSpec::Closed { connections: *connections, threads, duration_ns, think_ns }
            }
            other => other,
        },
        ..first.clone()
    };
    Plan { points: connections.iter().map(point).collect(), ..plan }
}

/// The plan with open loops after the first closed one.
pub fn with_rates(mut plan: Plan, rates: &[Rate], slices_per_block: usize) -> Plan {
    let open = |rate: &Rate| Point {
        part: rate.label(),
        rounds: slices_per_block,
        load: LoadSpec::Open { rate: *rate, connections: 64, threads: 1, duration_ns: 100_000_000 },
        ..plan.points[0].clone()
    };
    let open: Vec<Point> = rates.iter().map(open).collect();
    plan.points.splice(1..1, open);
    plan
}

impl Plan {
    /// Those of an interleaved experiment, to change them.
    pub fn blocks_mut(&mut self) -> &mut Blocks {
        match &mut self.order {
            Order::Interleaved(blocks) => blocks,
            Order::Sequential => unreachable!("a sequential experiment has no blocks to change"),
        }
    }
}

/// The plan with other blocks.
pub fn in_blocks(mut plan: Plan, change: impl FnOnce(&mut Blocks)) -> Plan {
    change(plan.blocks_mut());
    plan
}

/// The plan with other points, each changed in the same way.
pub fn at_points(mut plan: Plan, change: impl Fn(&mut Point)) -> Plan {
    plan.points.iter_mut().for_each(change);
    plan
}

/// A run that compares `a` with `b`, within 3%, by CPU and throughput.
pub fn compared() -> Header {
    let metrics = vec![Metric::Throughput, Metric::Cpu];
    let gate = Gate { candidate: "b".to_owned(), delta: 0.03, metrics, looks: looks(40), alpha: ALPHA };
    let environment = Environment {
        kernel: "Linux 6".to_owned(),
        cpu: "a CPU".to_owned(),
        cpus: 2,
        system: "Debian".to_owned(),
        ..Environment::default()
    };
    Header::new(
        "0.1.0",
        "2026-01-02T03:04:05Z".to_owned(),
        Plan { until: Until::Gate(gate), ..plan(&["a", "b"]) },
        environment,
    )
}

/// One block of the first rows of a plan, each with how many times the usual rate it has; CPU goes the other way. All of a block share a
/// disturbance of some percent, and each has a little of its own (up to 0.5%).
pub fn block(block: usize, levels: &[f64]) -> Vec<Record> {
    let order = (0..levels.len()).collect();
    let mut records = vec![Record::Block(Block { block, order, elapsed_ns: block as u64 * 4_000_000_000 })];
    for (row, level) in levels.iter().enumerate() {
        let wobble = |of: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(block as u64);
            random.set_stream(of as u64);
            random.random::<f64>() - 0.5
        };
        let answered = (10_000.0 * level * (1.0 + 0.1 * wobble(0)) * (1.0 + 0.01 * wobble(row + 1))) as u64;
        records.push(Record::Started(Started { block, row, start_up_ns: 3_000_000 }));
        let load = LoadResult {
            window_ns: 100_000_000,
            elapsed_ns: 100_000_000,
            sent: answered,
            answered,
            answered_in_window: answered,
            ..LoadResult::default()
        };
        let host =
            HostUsage { server_cpu_ns: 99_000_000, generator_cpu_ns: 60_000_000, ..HostUsage::default() };
        records.push(Record::Sample(Box::new(Sample { block, row, load, host, ..Sample::default() })));
        let p99_ns = (600_000.0 / level * (1.0 + 0.2 * wobble(row + 3))) as u64;
        records.push(Record::Stopped(Stopped {
            block,
            row,
            rss_bytes_peak: Some((4e6 + 1e5 * wobble(row + 7)) as u64),
            context_switches: Some(100),
            latency: vec![Some(Latency { p50_ns: p99_ns / 2, p99_ns, ..Latency::default() })],
            unclean_stop: None,
        }));
    }
    records
}
