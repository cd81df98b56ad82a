//! Runs of one experiment on simulated machines: deterministic arithmetic with noise.

use std::{fs, io, path::Path};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_bench::{
    fixture,
    folder::{Header, StoredRun},
    plan::{Plan, PlannedRow},
    record::{Block, EndedRun, Ending, Latency, Record, Started, StoppedService},
    sample::{HostUsage, Sample},
};
use tare_host::environment::Environment;
use tare_service::catalogue::Style;

use super::RunBundle;
use tare_analysis::history::run::NamedRun;

/// Label of the reference's twin.
pub const TWIN: &str = "raw-socket@2";

/// A run on a machine.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// Name of the machine; it and the seed determine the noise.
    pub machine: &'static str,
    pub architecture: &'static str,
    pub seed: u64,
    pub blocks: usize,
    /// Label, and throughput divided by the reference's. The reference and its twin are added.
    pub rows: Vec<(&'static str, f64)>,
    /// Throughput of the twin divided by the reference's.
    pub twin: f64,
}

impl Simulated {
    /// Two services on a machine: one equal to the reference, and one at `axum` times its rate.
    pub fn new(machine: &'static str, architecture: &'static str, seed: u64, axum: f64) -> Simulated {
        Simulated {
            machine,
            architecture,
            seed,
            blocks: 12,
            rows: vec![("asio", 0.99), ("axum", axum)],
            twin: 1.0,
        }
    }

    fn all(&self) -> Vec<(&'static str, f64)> {
        let reference = [("raw-socket", 1.0), (TWIN, self.twin)];
        reference.into_iter().chain(self.rows.iter().copied()).collect()
    }

    pub fn plan(&self) -> Plan {
        let row = |(label, _): &(&str, f64)| PlannedRow {
            service: if *label == TWIN { "raw-socket" } else { label }.to_owned(),
            style: if label.starts_with("raw-socket") { Style::RawSocket } else { Style::Framework },
            content: Some(format!("{label} by the compiler of {}", self.machine)),
            ..fixture::row(label)
        };
        Plan {
            experiment: "quick".to_owned(),
            title: "Quick".to_owned(),
            question: "What does it cost?".to_owned(),
            twin: Some(TWIN.to_owned()),
            seed: self.seed,
            ..fixture::of_rows(self.all().iter().map(row).collect())
        }
    }

    fn environment(&self) -> Environment {
        Environment {
            kernel: "Linux 6.12.3".to_owned(),
            cpu: format!("a CPU of {}", self.architecture),
            cpus: 4,
            memory_bytes: 16 << 30,
            system: "Debian 13".to_owned(),
            load_average: format!("0.{}", self.seed % 10),
            irq_time_apart: Some(false),
            architecture: Some(self.architecture.to_owned()),
            machine: Some(format!("id of {}", self.machine)),
            ..Environment::default()
        }
    }

    /// The run that a measurement would have stored.
    pub fn stored(&self) -> StoredRun {
        let began = format!(
            "2026-01-02T03:{:02}:00.{:09}Z",
            self.seed % 60,
            self.noise(0, 0).random_range(0..1_000_000_000_u32)
        );
        let header = Header::new("0.1.0", began, self.plan(), self.environment());
        let mut records: Vec<Record> = (0..self.blocks).flat_map(|block| self.block(block)).collect();
        let elapsed_ns = self.blocks as u64 * 4_000_000_000;
        records.push(Record::Ended(EndedRun { reason: Ending::BudgetSpent, elapsed_ns }));
        StoredRun { header, records, damage: Vec::new(), in_progress: false }
    }

    /// A separate random generator per block and row.
    fn noise(&self, block: usize, row: usize) -> ChaCha8Rng {
        let machine =
            self.machine.bytes().fold(self.seed, |sum, byte| sum.wrapping_mul(131) + u64::from(byte));
        let mut random = ChaCha8Rng::seed_from_u64(machine);
        random.set_stream((block * 1_000 + row) as u64);
        random
    }

    fn block(&self, block: usize) -> Vec<Record> {
        let rows = self.all();
        let elapsed_ns = block as u64 * 4_000_000_000;
        let mut records = vec![Record::Block(Block {
            block,
            order: (0..rows.len()).collect(),
            elapsed_ns,
            ..Block::default()
        })];
        // A disturbance affects the whole block.
        let speed = 20_000.0 * (1.0 + 0.1 * self.noise(block, 999).random::<f64>());
        for (row, (_, level)) in rows.iter().enumerate() {
            let mut random = self.noise(block, row + 1);
            let mut wobble = |share: f64| 1.0 + share * (random.random::<f64>() - 0.5);
            let sample = fixture::slice((speed * level * wobble(0.02)) as u64);
            let server_cpu_ns = (98_500_000.0 * wobble(0.01)) as u64;
            let host = HostUsage { server_cpu_ns, ..sample.host };
            let p99_ns = (600_000.0 / level * wobble(0.2)) as u64;
            records.push(Record::Started(Started { block, row, start_up_ns: Some(3_000_000) }));
            records.push(Record::Sample(Box::new(Sample { block, row, host, ..sample })));
            records.push(Record::Stopped(StoppedService {
                block,
                row,
                rss_bytes_peak: Some(4 << 20),
                context_switches: Some(100),
                latency: vec![Some(Latency { p50_ns: p99_ns / 2, p99_ns, ..Latency::default() })],
                ..StoppedService::default()
            }));
        }
        records
    }

    /// A bundle with this run alone.
    pub fn bundle(&self) -> RunBundle {
        bundle(&format!("{}/{}", self.machine, self.seed), self.stored())
    }
}

/// A bundle of a run in memory, with this place.
pub fn bundle(place: &str, stored: StoredRun) -> RunBundle {
    RunBundle::of(NamedRun::of(place.to_owned(), stored))
}

/// Writes a run as a run folder.
///
/// # Errors
/// If the file system refuses.
pub fn write(stored: &StoredRun, run: &Path) -> io::Result<()> {
    fs::create_dir_all(run)?;
    fs::write(run.join("run.json"), serde_json::to_vec_pretty(&stored.header)?)?;
    let lines: Result<Vec<String>, _> =
        stored.records.iter().map(|record| Ok(serde_json::to_string(record)? + "\n")).collect();
    fs::write(run.join("journal.ndjson"), lines.map_err(|error: serde_json::Error| error)?.concat())
}

/// Five machines of two architectures, one run each; axum costs more on arm.
pub fn five() -> Vec<Simulated> {
    vec![
        Simulated::new("a", "x86_64", 1, 0.66),
        Simulated::new("b", "x86_64", 2, 0.67),
        Simulated::new("c", "x86_64", 3, 0.65),
        Simulated::new("d", "aarch64", 4, 0.60),
        Simulated::new("e", "aarch64", 6, 0.61),
    ]
}
