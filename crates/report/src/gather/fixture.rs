//! Run folders for tests: a run with every feature, the same byte for byte each time.

use std::{collections::BTreeMap, fs, path::Path};

use tare_base::latency::Histogram;
use tare_bench::{
    experiment::Rate,
    fixture::{self, database::Database},
    folder::{Header, StoredRun, histogram_path},
    plan::{Excluded, Exclusion, Plan, PlannedRow},
    record::{Block, EndedRun, Ending, Failed, Latency, Pilot, Record, Started, StoppedService},
    sample::{Distribution, HostUsage, LoadResult, Sample},
};
use tare_host::{
    cpus::{CpuAccounting, CpuTimes},
    environment::Environment,
};
use tare_service::catalogue::Style;

/// Label, language, and throughput as a share of the reference's.
pub const ROWS: [(&str, &str, f64); 4] =
    [("raw-socket", "rust", 1.0), ("asio", "cpp", 1.002), ("axum", "rust", 0.7), ("<flask>", "python", 0.05)];

const MS: u64 = 1_000_000;

fn row(label: &str, language: &str) -> PlannedRow {
    PlannedRow {
        language: language.to_owned(),
        framework: label.to_owned(),
        style: if label == "raw-socket" { Style::RawSocket } else { Style::Framework },
        content: None,
        ..fixture::row(label)
    }
}

fn plan() -> Plan {
    let mut absent = row("absent", "haskell");
    let reason = "not on this machine: \"ghc --version\" cannot run; `apt-get install ghc`".to_owned();
    absent.excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
    let rows = ROWS.iter().map(|(label, language, _)| row(label, language));
    let plan = fixture::of_rows(rows.chain([row("dying", "go"), absent]).collect());
    let plan = fixture::at_points(plan, |point| (point.rounds, point.warm_up_ns) = (4, 500 * MS));
    let plan = fixture::in_blocks(plan, |blocks| {
        (blocks.min, blocks.max, blocks.budget_ns) = (6, 10, 60_000 * MS);
        blocks.warm_up_ns_max = Some(5_000 * MS);
    });
    let plan = Plan {
        experiment: "quick".to_owned(),
        title: "Quick".to_owned(),
        question: "What does it cost?".to_owned(),
        ..plan
    };
    fixture::with_rates(plan, &[Rate::PerSecond(1000.0), Rate::OfCapacity(0.5)], 1)
}

/// A run of this many blocks: a reference, its twin, two other services, one that crashed, one that is
/// missing; pilots, open loops, and a disturbed round.
pub fn kept(blocks: usize) -> StoredRun {
    let environment = Environment {
        kernel: "Linux 6.1".to_owned(),
        cpu: "a <fast> CPU".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        system: "Debian 12".to_owned(),
        isolation: vec!["cgroup v2".to_owned()],
        sysctls: [("net.core.somaxconn".to_owned(), "4096".to_owned())].into(),
        ..Environment::default()
    };
    let header = Header::new("0.1.0", "2026-01-02T03:04:05Z".to_owned(), plan(), environment);
    let mut records: Vec<Record> =
        ROWS.iter().enumerate().map(|(row, (label, _, share))| pilot(row, label, *share)).collect();
    for block in 0..blocks {
        records.extend(block_of(block));
    }
    let elapsed_ns = blocks as u64 * 10_000 * MS;
    records.push(Record::Ended(EndedRun { reason: Ending::BlocksMax, elapsed_ns }));
    StoredRun { header, records, damage: Vec::new(), in_progress: false }
}

/// The same with services that query a database: 1.5 µs of its time per answer.
pub fn kept_with_database(blocks: usize) -> StoredRun {
    let mut stored = kept(blocks);
    stored.header.plan = fixture::at_points(stored.header.plan, |point| point.contract = "db".to_owned());
    for record in &mut stored.records {
        if let Record::Sample(sample) = record {
            let kernel_share = 0.2 + 0.1 * sample.row as f64;
            Database { cpu_ns_per_answer: 1_500.0, kernel_share, rss_bytes: 60 << 20 }.serve(sample);
        }
        if let Record::Stopped(stopped) = record {
            stopped.backing = Some("PostgreSQL 15.14 with shared_buffers=128MB, fsync=off".to_owned());
        }
    }
    stored
}

fn pilot(row: usize, label: &str, share: f64) -> Record {
    // More than are needed to decide whether a service is steady.
    let windows = 20;
    let answered = (0..windows).map(|place| (share * 2_000.0 * f64::from(place + 5) / 25.0) as u64);
    Record::Pilot(Pilot {
        row,
        window_ns: 100 * MS,
        answered: answered.collect(),
        server_cpu_ns: vec![98 * MS; windows as usize],
        start_ns: 50 * MS,
        steady_after_ns: (label != "<flask>").then_some(600 * MS),
        ..Pilot::default()
    })
}

/// A deviation of up to 1%, different for each block and row.
fn wobble(block: usize, place: usize) -> f64 {
    let wobble = (block * 37 + place * 53 + block * block * (place + 3)) % 61;
    1.0 + 0.02 * (wobble as f64 / 61.0 - 0.5)
}

fn block_of(block: usize) -> Vec<Record> {
    let order = (0..=DYING).collect();
    let mut records = vec![Record::Block(Block {
        block,
        order,
        elapsed_ns: block as u64 * 10_000 * MS,
        ..Block::default()
    })];
    if block == 0 {
        let reason = "was killed by signal 9 in a slice".to_owned();
        records.push(Record::Failed(Failed { block, row: DYING, reason }));
    }
    for (row, (_, _, share)) in ROWS.iter().enumerate() {
        let answered = (20_000.0 * share * wobble(block, row)) as u64;
        let start_up_ns = Some((3 + row as u64 * 40 + block as u64) * MS);
        records.push(Record::Started(Started { block, row, start_up_ns }));
        records.extend((0..4).map(|round| closed(block, round, row, answered)).map(sample));
        records.extend([0, 1].map(|point| sample(open(block, point, row, answered))));
        records.push(Record::Stopped(stopped(block, row, *share)));
    }
    records
}

/// The index of the row after [`ROWS`].
const DYING: usize = ROWS.len();

fn sample(sample: Sample) -> Record {
    Record::Sample(Box::new(sample))
}

fn closed(block: usize, round: usize, row: usize, answered: u64) -> Sample {
    let disturbed = (block, round, ROWS[row].0) == (1, 2, "axum");
    let times = |tasks_ms: u64| CpuTimes {
        tasks_ns: tasks_ms * MS,
        idle_ns: (100 - tasks_ms) * MS,
        ..CpuTimes::default()
    };
    let load = LoadResult {
        window_ns: 100 * MS,
        elapsed_ns: 100 * MS,
        sent: answered,
        answered,
        answered_in_window: answered,
        in_flight_ns: 6_390 * MS,
        service_time_ns_mean: 6_400 * MS / answered,
        latency: Distribution {
            count: answered,
            quantiles_ns: vec![(0.5, 310_000), (0.99, 1_240_000), (1.0, 3_000_000)],
            ..Distribution::default()
        },
        ..LoadResult::default()
    };
    let host = HostUsage {
        server_cpu_ns: 98 * MS,
        generator_cpu_ns: 60 * MS,
        foreign_cpu_ns: Some(if disturbed { 90 * MS as i64 } else { MS as i64 }),
        accounting: Some(CpuAccounting {
            wall_ns: 100 * MS,
            server: times(98),
            generator: times(60),
            pressure_ns: None,
            ran: None,
        }),
        ..HostUsage::default()
    };
    Sample { block, round, row, load, host, ..Sample::default() }
}

fn open(block: usize, point: usize, row: usize, capacity: u64) -> Sample {
    let offered = if point == 0 { 1000.0 } else { capacity as f64 * 5.0 };
    let answered = offered as u64 / 10;
    let closed = closed(block, 0, row, capacity);
    let load = LoadResult {
        offered_per_second: Some(offered),
        schedule_lag_ns_p99: Some(20_000),
        sent: answered,
        answered,
        answered_in_window: answered,
        ..closed.load
    };
    let host = HostUsage { server_cpu_ns: 10 * MS, ..closed.host };
    Sample { point: point + 1, load, host, ..closed }
}

fn stopped(block: usize, row: usize, share: f64) -> StoppedService {
    let latency = |ns: u64| Latency {
        p50_ns: ns,
        p90_ns: ns * 2,
        p99_ns: ns * 4,
        p999_ns: ns * 8,
        max_ns: ns * 9,
        at_least: false,
    };
    let base = (100_000.0 / share) as u64 + block as u64 * 100;
    StoppedService {
        block,
        row,
        rss_bytes_peak: Some(((4 << 20) as f64 / share) as u64 + block as u64 * 4096),
        context_switches: Some(10),
        latency: [3, 1, 2].map(|times| Some(latency(base * times))).to_vec(),
        unclean_stop: None,
        backing: None,
        placement: None,
        wrong_aside: None,
        handshakes: None,
        failed_in_warm_up: tare_bench::sample::Failures::default(),
    }
}

/// Writes a run as a run folder, including its histograms.
pub fn write(stored: &StoredRun, run: &Path) {
    fs::write(run.join("run.json"), serde_json::to_vec_pretty(&stored.header).unwrap()).unwrap();
    let lines: Vec<String> =
        stored.records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    fs::write(run.join("journal.ndjson"), lines.concat()).unwrap();
    let points: Vec<String> = stored.header.plan.rates().map(|(_, rate)| rate.label()).collect();
    let mut made: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for record in &stored.records {
        let Record::Stopped(stopped) = record else { continue };
        let names = [None].into_iter().chain(points.iter().map(|point| Some(point.as_str())));
        let timed = names.zip(&stopped.latency).filter_map(|(name, latency)| Some((name, latency.as_ref()?)));
        for (point, latency) in timed {
            let bytes = made.entry(latency.p50_ns).or_insert_with(|| histogram(latency.p50_ns));
            let path = histogram_path(run, &stored.header.plan.rows[stopped.row].label, stopped.block, point);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

/// 1,000 latencies around a median; one in a hundred is four times as long.
fn histogram(median_ns: u64) -> Vec<u8> {
    let mut histogram = Histogram::default();
    for place in 0..1_000 {
        let factor = if place % 100 == 0 { 4.0 } else { 0.5 + place as f64 / 1_000.0 };
        histogram.record((median_ns as f64 * factor) as u64);
    }
    histogram.serialize()
}
