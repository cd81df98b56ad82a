//! A private PostgreSQL cluster: created in a folder in memory and seeded with the contract's rows.
//! `pg_stat_statements` counts its statements.
//!
//! It does not protect data: no fsync, no waiting for the log. A run measures a service, not a disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::postgres::{Client, Config, NoTls};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_host::process::{self, Ended, Exit, Launch, Probed, ProgramLimits, Scratch};

use super::programs::{self, PostgresPrograms};
use super::{BackingCounts, BackingError, BackingGround};
use tare_contract::{Contract, PostgresTables};

/// Time limit from creation to seeded.
pub const READY_WITHIN: Duration = Duration::from_secs(60);
/// Memory for a cluster with its tables, its log and the writes of loads.
const ROOM_BYTES: u64 = 1 << 30;
/// The services' role, and also the name of their database.
const ROLE: &str = "tare";
/// Connections beyond those of the service: Tare's own, and some for a service that reconnects.
const CONNECTIONS_SPARE: u32 = 20;
const PASSWORD_LENGTH: usize = 16;
/// Counts the service's statements on its tables: read-only ones and others.
const COUNTS: &str = "SELECT s.query ~* '^\\s*(with|select|table|values)\\M' AND s.query !~* '\\m(insert|update|delete|merge)\\M', \
                      sum(s.calls)::bigint, sum(s.rows)::bigint FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid \
                      WHERE r.rolname = 'tare' AND s.query ~* $1 GROUP BY 1";

/// A running cluster. Dropping it kills it and removes its folder.
#[derive(Debug)]
pub struct Postgres {
    process: process::RunningService,
    client: ControlClient,
    port: u16,
    password: String,
    connections: u32,
    version: String,
    /// A pattern for statements that name one of the tables.
    of_tables: String,
    before: BackingCounts,
    /// Dropped after the process, which works in this folder.
    _scratch: Scratch,
}

/// Tare's own connection, as superuser. A client cannot be shared between threads, hence the mutex.
struct ControlClient(Mutex<Client>);

impl ControlClient {
    fn new(client: Client) -> ControlClient {
        ControlClient(Mutex::new(client))
    }

    fn get(&mut self) -> &mut Client {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for ControlClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ControlClient")
    }
}

/// Settings that differ from PostgreSQL's defaults.
fn settings(connections: u32, socket: &Path, port: u16) -> Vec<String> {
    let socket = socket.display();
    [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={socket}"),
        format!("max_connections={}", connections + CONNECTIONS_SPARE),
        "shared_preload_libraries=pg_stat_statements".to_owned(),
        "pg_stat_statements.track_utility=off".to_owned(),
        "shared_buffers=128MB".to_owned(),
        "fsync=off".to_owned(),
        "synchronous_commit=off".to_owned(),
        "full_page_writes=off".to_owned(),
        "wal_level=minimal".to_owned(),
        "max_wal_senders=0".to_owned(),
        "max_wal_size=512MB".to_owned(),
        "checkpoint_timeout=1d".to_owned(),
        "autovacuum=off".to_owned(),
        "jit=off".to_owned(),
        // Everything stays in its folder and its IPC namespace.
        "dynamic_shared_memory_type=mmap".to_owned(),
        "log_min_messages=error".to_owned(),
    ]
    .to_vec()
}

fn failed(what: &'static str) -> impl Fn(String) -> BackingError {
    move |reason| BackingError::Postgres { what, reason }
}

impl Postgres {
    /// Creates a cluster, starts it and fills it.
    pub(super) fn start(
        tables: &PostgresTables,
        contract: &Contract,
        ground: &BackingGround<'_>,
    ) -> Result<Postgres, BackingError> {
        let programs = PostgresPrograms::find()?;
        let scratch = Scratch::make(ground.supervisor.watchdog(), ROOM_BYTES)?;
        let output = ground.folder.join(format!("{}.postgres.stderr", ground.stem));
        make_cluster(&programs, &scratch, &output, ground)?;
        let port = process::free_port();
        let process = start_server(&programs, &scratch, &output, port, ground)?;
        let client = connect(&process, scratch.path(), port)?;
        let password = password(ground.seed);
        let version = PostgresPrograms::version(&programs);
        let names: Vec<&str> = tables.columns.keys().map(String::as_str).collect();
        let mut postgres = Postgres {
            process,
            client: ControlClient::new(client),
            port,
            password,
            connections: ground.connections,
            version,
            of_tables: format!("\\m({})\\M", names.join("|")),
            before: BackingCounts::default(),
            _scratch: scratch,
        };
        postgres.fill(tables, contract, &output)?;
        postgres.before = postgres.counts()?;
        Ok(postgres)
    }

    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let Postgres { password, port, connections, .. } = self;
        let url = format!("postgres://{ROLE}:{password}@127.0.0.1:{port}/{ROLE}?sslmode=disable");
        let connections = connections.to_string();
        [("DATABASE_URL", url), ("DATABASE_MAX_CONN", connections)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    pub(super) fn process(&self) -> &process::RunningService {
        &self.process
    }

    pub(super) fn describe(&self) -> String {
        let settings = settings(self.connections, Path::new("..."), self.port);
        let of_measuring =
            settings.iter().filter(|setting| !setting.starts_with("port=") && !setting.contains("socket"));
        let settings: Vec<&str> = of_measuring.map(String::as_str).collect();
        format!("{} with {}", self.version, settings.join(", "))
    }

    /// Creates the role, the database and its rows.
    fn fill(&mut self, tables: &PostgresTables, contract: &Contract, log: &Path) -> Result<(), BackingError> {
        let wrong = |error: ::postgres::Error| failed("filling it")(words(&error, log));
        let role = format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{}'", self.password);
        let admin = self.client.get();
        admin.batch_execute(&role).map_err(wrong)?;
        admin.batch_execute(&format!("CREATE DATABASE {ROLE} OWNER {ROLE}")).map_err(wrong)?;
        let mut client = control(self._scratch.path(), self.port, ROLE).connect(NoTls).map_err(wrong)?;
        client
            .batch_execute(&format!("CREATE EXTENSION pg_stat_statements; SET ROLE {ROLE}"))
            .map_err(wrong)?;
        for (name, columns) in &tables.columns {
            client.batch_execute(&format!("CREATE TABLE {name} ({columns})")).map_err(wrong)?;
            copy(&mut client, contract, name).map_err(|error| failed("filling it")(error.to_string()))?;
        }
        for statement in &tables.after {
            client.batch_execute(statement).map_err(wrong)?;
        }
        client.batch_execute("RESET ROLE; ANALYZE; CHECKPOINT").map_err(wrong)?;
        self.client = ControlClient::new(client);
        Ok(())
    }

    /// Statements that the service executed since the last call.
    pub(super) fn take_counts(&mut self) -> Result<BackingCounts, BackingError> {
        let now = self.counts()?;
        let before = std::mem::replace(&mut self.before, now);
        let since = |of: fn(&BackingCounts) -> Option<u64>| {
            of(&now).zip(of(&before)).map(|(now, before)| now.saturating_sub(before))
        };
        Ok(BackingCounts {
            reads: since(|counts| counts.reads),
            rows_read: since(|counts| counts.rows_read),
            rows_written: since(|counts| counts.rows_written),
            upstream_requests: None,
        })
    }

    fn counts(&mut self) -> Result<BackingCounts, BackingError> {
        let of_tables = self.of_tables.clone();
        let rows = self.client.get().query(COUNTS, &[&of_tables]);
        let rows = rows.map_err(|error| failed("counting statements")(error.to_string()))?;
        let (mut reads, mut rows_read, mut rows_written) = (0, 0, 0);
        for row in rows {
            let (is_read, calls, rows): (bool, i64, i64) = (row.get(0), row.get(1), row.get(2));
            let [calls, rows] = [calls, rows].map(|count| u64::try_from(count).unwrap_or(0));
            match is_read {
                true => (reads, rows_read) = (calls, rows),
                false => rows_written = rows,
            }
        }
        let [reads, rows_read, rows_written] = [reads, rows_read, rows_written].map(Some);
        Ok(BackingCounts { reads, rows_read, rows_written, upstream_requests: None })
    }

    pub(super) fn column(
        &mut self,
        table: &str,
        key: &str,
        column: &str,
    ) -> Result<BTreeMap<String, u64>, BackingError> {
        let rows =
            self.client.get().query(&format!("SELECT {key}::text, {column}::bigint FROM {table}"), &[]);
        let rows = rows.map_err(|error| failed("reading back")(error.to_string()))?;
        let cell =
            |row: ::postgres::Row| (row.get(0), u64::try_from(row.get::<_, i64>(1)).unwrap_or(u64::MAX));
        Ok(rows.into_iter().map(cell).collect())
    }
}

impl PostgresPrograms {
    /// The version printed by `postgres --version`.
    fn version(&self) -> String {
        let printed = std::process::Command::new(self.path("postgres")).arg("--version").output();
        let printed = printed.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        printed.unwrap_or_default().replace("postgres (PostgreSQL)", "PostgreSQL")
    }
}

/// A password of letters and digits, which need no escape in a URL.
fn password(seed: u64) -> String {
    const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyz23456789";
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(3);
    (0..PASSWORD_LENGTH).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect()
}

fn data(scratch: &Path) -> PathBuf {
    scratch.join("data")
}

/// Creates the cluster's system tables in the server's folder. The program is supervised: if it outlived
/// Tare, it would recreate the removed folder.
fn make_cluster(
    programs: &PostgresPrograms,
    scratch: &Scratch,
    log: &Path,
    ground: &BackingGround<'_>,
) -> Result<(), BackingError> {
    let wrong = |error: io::Error| failed("making it")(error.to_string());
    programs::give(scratch.path()).map_err(wrong)?;
    let data = data(scratch.path()).display().to_string();
    let words = [
        "--auth-local=trust",
        "--auth-host=scram-sha-256",
        "--username=postgres",
        "--no-sync",
        "--encoding=UTF8",
    ];
    let words =
        words.into_iter().chain(["--locale=C", "--wal-segsize=1", "--no-instructions"]).map(str::to_owned);
    let command = [programs.path("initdb"), format!("--pgdata={data}")].into_iter().chain(words).collect();
    let launch = Launch {
        name: "initdb".to_owned(),
        command: programs::unprivileged(command),
        dir: scratch.path().to_owned(),
        cpus: ground.cpus.to_vec(),
        stdout: PathBuf::from("/dev/null"),
        stderr: log.to_owned(),
        ..Launch::default()
    };
    let limits =
        ProgramLimits { time: READY_WITHIN, output_bytes: u64::MAX, interrupt: &AtomicBool::new(false) };
    match process::run_to_end(&launch, ground.supervisor, limits)?.ended {
        Ended::Itself(Exit::Status(0)) => Ok(()),
        Ended::Itself(exit) => {
            Err(failed("making it")(format!("initdb ended with {exit}: {}", process::tail(log, 3))))
        }
        _ => Err(failed("making it")(format!("initdb did not end within {READY_WITHIN:?}"))),
    }
}

fn start_server(
    programs: &PostgresPrograms,
    scratch: &Scratch,
    log: &Path,
    port: u16,
    ground: &BackingGround<'_>,
) -> Result<process::RunningService, BackingError> {
    let data = data(scratch.path()).display().to_string();
    let settings = settings(ground.connections, scratch.path(), port);
    let settings = settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]);
    let command = [programs.path("postgres"), "-D".to_owned(), data].into_iter().chain(settings).collect();
    let launch = Launch {
        name: "postgres".to_owned(),
        command: programs::unprivileged(command),
        dir: scratch.path().to_owned(),
        cpus: ground.cpus.to_vec(),
        port: Some(port),
        stdout: log.to_owned(),
        stderr: log.to_owned(),
        append: true,
        ..Launch::default()
    };
    Ok(process::RunningService::start(&launch, ground.supervisor)?)
}

/// Configures a superuser connection over the socket in its folder, which no other user may enter.
fn control(socket: &Path, port: u16, database: &str) -> Config {
    let mut config = Config::new();
    config
        .host_path(socket)
        .port(port)
        .user("postgres")
        .dbname(database)
        .connect_timeout(Duration::from_secs(5));
    config
}

fn connect(process: &process::RunningService, scratch: &Path, port: u16) -> Result<Client, BackingError> {
    let mut client = None;
    process.wait_ready(READY_WITHIN, || match control(scratch, port, "postgres").connect(NoTls) {
        Ok(connected) => {
            client = Some(connected);
            Probed::Ready
        }
        Err(error) => Probed::Unfit(format!("takes no client ({error})")),
    })?;
    client.ok_or_else(|| failed("connecting to it")("it went away".to_owned()))
}

/// Copies the rows of a table: from the run's CSV file if there is one, else generated now.
fn copy(client: &mut Client, contract: &Contract, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let table = contract.table(name).ok_or("a table is missing")?;
    let columns: Vec<String> = table.columns().iter().map(|column| format!("{column:?}")).collect();
    let sql = format!("COPY {name} ({}) FROM STDIN WITH (FORMAT csv, HEADER)", columns.join(", "));
    let mut writer = client.copy_in(sql.as_str())?;
    match table.file() {
        Some(file) => drop(io::copy(&mut File::open(file)?, &mut writer)?),
        None => table.write_csv(&mut writer)?,
    }
    writer.finish()?;
    Ok(())
}

/// The server's message, which the client's error does not include.
fn words(error: &::postgres::Error, log: &Path) -> String {
    match error.as_db_error() {
        Some(error) => error.to_string(),
        None => match process::tail(log, 2) {
            tail if tail.is_empty() => error.to_string(),
            tail => format!("{error}; it printed: {}", tail.replace('\n', " / ")),
        },
    }
}
