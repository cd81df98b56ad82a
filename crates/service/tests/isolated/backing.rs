//! The database of a service: created, filled, counted, frozen and removed.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use tare_contract::Contract;
use tare_host::process::{Isolation, Supervisor};
use tare_service::backing::{Backing, BackingCounts, BackingGround, PostgresPrograms};

/// Expected time until seeded on an idle machine. It is printed, not asserted: tests run in parallel.
const QUIET: Duration = Duration::from_secs(10);
const SEED: u64 = 19;

/// Serialises tests that look at this process's folders.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Bench {
    supervisor: Supervisor,
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Bench {
    /// Absent without PostgreSQL.
    fn new(isolation: Isolation) -> Option<Bench> {
        if let Err(error) = PostgresPrograms::find() {
            tare_host::fixture::skip("a database of a service's own", &error.to_string());
            return None;
        }
        let supervisor = Supervisor::start(Path::new(env!("CARGO_BIN_EXE_fake-service")), isolation).unwrap();
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Bench { supervisor, folder: tempfile::tempdir().unwrap(), _alone })
    }

    fn start(&self, contract: &Contract) -> Backing {
        let folder = self.folder.path();
        let ground = BackingGround {
            supervisor: &self.supervisor,
            folder,
            stem: "a-test",
            cpus: &[],
            connections: 4,
            seed: SEED,
        };
        Backing::start(contract, &ground).unwrap()
    }

    fn contract(&self, name: &str) -> Contract {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../contracts/{name}.toml"));
        let contract = Contract::parse(&std::fs::read_to_string(&path).unwrap(), &path).unwrap();
        contract.with_tables(SEED, self.folder.path()).unwrap()
    }
}

fn client(backing: &Backing) -> Client {
    let variables = backing.variables();
    let url = &variables.iter().find(|(name, _)| name == "DATABASE_URL").unwrap().1;
    Client::connect(url, NoTls).unwrap()
}

fn counts(reads: u64, rows_read: u64, rows_written: u64) -> BackingCounts {
    let [reads, rows_read, rows_written] = [reads, rows_read, rows_written].map(Some);
    BackingCounts { reads, rows_read, rows_written, upstream_requests: None }
}

/// Database folders of this process.
fn folders() -> Vec<PathBuf> {
    let own = format!("tare-{}-", std::process::id());
    let entries = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&own))
        .map(|entry| entry.path())
        .collect()
}

#[test]
fn a_database_is_made_filled_and_counted_and_gone() {
    let Some(bench) = Bench::new(Isolation::detect()) else { return };
    let contract = bench.contract("crud");
    let began = Instant::now();
    let mut backing = bench.start(&contract);
    let took = began.elapsed();
    eprintln!(
        "PostgreSQL with 100,000 items is ready after {took:.1?}; {QUIET:?} is the bound on a quiet machine"
    );

    let table = contract.tables().next().unwrap();
    let mut client = client(&backing);
    let stored: i64 = client.query_one("SELECT count(*) FROM items", &[]).unwrap().get(0);
    assert_eq!(stored as u64, table.count());
    assert_eq!(backing.take_counts().unwrap(), counts(1, 1, 0), "what filled it is not counted");
    client.query("SELECT name FROM items WHERE id < 8", &[]).unwrap();
    client.execute("UPDATE items SET price = 1 WHERE id < 4", &[]).unwrap();
    client.query("WITH new AS (INSERT INTO items (name, category, price, quantity) VALUES ('', '', 1, 1) RETURNING id) SELECT id FROM new", &[]).unwrap();
    client.batch_execute("BEGIN; SELECT 1; COMMIT").unwrap();
    assert_eq!(backing.take_counts().unwrap(), counts(1, 7, 4));
    assert_eq!(backing.take_counts().unwrap(), counts(0, 0, 0));
    let new: i32 = client.query_one("SELECT max(id) FROM items", &[]).unwrap().get(0);
    assert_eq!(new, 100_001, "a row that is created comes after those of the contract");

    let prices = backing.column("items", "id", "price").unwrap();
    assert!(prices.len() as u64 == table.count() + 1 && prices["3"] == 1);
    assert!(backing.describe().unwrap().starts_with("PostgreSQL "));
    assert!(backing.rss_bytes().unwrap() > 10 << 20);
    assert!(backing.death().is_none());
    assert!(!folders().is_empty());
    drop(client);
    drop(backing);
    assert!(folders().is_empty(), "{:?}", folders());
}

#[test]
fn a_frozen_database_stands_still_with_its_connections() {
    let Some(bench) = Bench::new(Isolation::detect()) else { return };
    let contract = bench.contract("db");
    let backing = bench.start(&contract);
    let mut client = client(&backing);
    backing.freeze().unwrap();
    let (answered, when) = std::sync::mpsc::channel();
    let asks = std::thread::spawn(move || {
        client.query_one("SELECT 1", &[]).unwrap();
        answered.send(()).unwrap();
    });
    let used = backing.cpu_ns();
    assert!(when.recv_timeout(Duration::from_millis(300)).is_err(), "it answered while it was frozen");
    assert_eq!(backing.cpu_ns(), used);
    backing.thaw().unwrap();
    when.recv_timeout(Duration::from_secs(20)).unwrap();
    asks.join().unwrap();
}

#[test]
fn a_database_that_is_killed_is_dead_with_its_reason() {
    let Some(bench) = Bench::new(Isolation::none("a test")) else { return };
    let contract = bench.contract("fortunes");
    let mut backing = bench.start(&contract);
    let mut client = client(&backing);
    let pid: String = client
        .query_one("SELECT pg_read_file('postmaster.pid')", &[])
        .map_or_else(|_| String::new(), |row| row.get(0));
    assert_eq!(pid, "", "a service is no superuser");
    let log = std::fs::read_dir(bench.folder.path()).unwrap().flatten().count();
    assert!(log > 0, "what it prints is kept");
    let folder = folders().into_iter().next().unwrap();
    let pid = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
    let pid: i32 = pid.lines().next().unwrap().parse().unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while backing.death().is_none() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(backing.death().unwrap().starts_with("the database: "), "{:?}", backing.death());
    assert!(backing.take_counts().is_err());
}
