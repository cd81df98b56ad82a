//! SIGKILL of tare while it works with a database: while the database is created, filled, and under load.
//! Nothing is left, and the next run succeeds. Also a machine without a database.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tare_service::backing::PostgresPrograms;

use crate::support::{Running, USUAL, Workspace, cheating, journal, manifest, send, start_under, within};

/// How long processes that tare started may outlive it.
const GONE: Duration = Duration::from_secs(10);

fn workspace() -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.service("none", &cheating("none", &["crud", "updates", "upload"]));
    workspace
}

fn has_postgres() -> bool {
    let found = PostgresPrograms::find();
    if let Err(error) = &found {
        tare_host::fixture::skip("a database that is killed", &error.to_string());
    }
    found.is_ok()
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    pid: u32,
    command: String,
}

/// The path prefixes of the databases of this tare.
fn prefixes(tare: u32) -> [String; 2] {
    let temporary = std::env::temp_dir();
    [format!("/dev/shm/tare-{tare}-"), format!("{}/tare-{tare}-", temporary.display())]
}

/// Processes that work in a folder of this tare, or have one in their environment (PostgreSQL overwrites its
/// own).
fn processes(tare: u32) -> Vec<Process> {
    let prefixes = prefixes(tare);
    let process = |pid: u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default().display().to_string();
        let is_of_it = prefixes.iter().any(|prefix| folder.starts_with(prefix) || command.contains(prefix));
        is_of_it.then_some(Process { pid, command })
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(process).collect()
}

fn folders(tare: u32) -> Vec<PathBuf> {
    let name = format!("tare-{tare}-");
    let parents = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    let entries = parents.into_iter().flat_map(fs::read_dir).flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&name))
        .map(|entry| entry.path())
        .collect()
}

/// Shared memory segments that one of these processes created.
fn segments(makers: &BTreeSet<u32>) -> Vec<String> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let is_of_them = |line: &&str| {
        let maker = line.split_ascii_whitespace().nth(4).and_then(|pid| pid.parse().ok());
        maker.is_some_and(|pid| makers.contains(&pid))
    };
    table.lines().skip(1).filter(is_of_them).map(str::to_owned).collect()
}

/// Waits until the command of a database process contains this word, kills tare a while later, and checks
/// that nothing is left.
fn kill_when(mut tare: Running, word: &str, later: Duration) {
    let pid = tare.pid();
    let mut seen = BTreeSet::new();
    let deadline = Instant::now() + USUAL;
    loop {
        let found = processes(pid);
        seen.extend(found.iter().map(|process| process.pid));
        if found.iter().any(|process| process.command.contains(word)) {
            break;
        }
        assert!(!tare.has_ended() && Instant::now() < deadline, "no process with {word:?}: {found:?}");
    }
    let until = Instant::now() + later;
    while Instant::now() < until {
        seen.extend(processes(pid).iter().map(|process| process.pid));
    }
    kill(tare, &mut seen, word);
}

fn kill(tare: Running, seen: &mut BTreeSet<u32>, when: &str) {
    let pid = tare.pid();
    seen.extend(processes(pid).iter().map(|process| process.pid));
    assert!(!folders(pid).is_empty(), "{when}: there is a database");
    send(pid, Signal::KILL);
    assert_eq!(tare.end().code(), None, "{when}");
    let is_left = || !processes(pid).is_empty() || !folders(pid).is_empty();
    let is_gone = within(GONE, || !is_left());
    assert!(is_gone, "{when}: left are {:?} and {:?}", processes(pid), folders(pid));
    assert_eq!(segments(seen), [""; 0], "{when}");
    // A process that is still running would create it again.
    std::thread::sleep(Duration::from_millis(300));
    assert!(!is_left(), "{when}: came back: {:?} and {:?}", processes(pid), folders(pid));
}

#[test]
fn kill_9_leaves_nothing_of_a_database_that_is_made_or_filled() {
    if !has_postgres() {
        return;
    }
    let workspace = workspace();
    let verify = || workspace.start(&["verify", "none", "--contract", "crud"]);
    for later in [0, 10, 60, 200, 500].map(Duration::from_millis) {
        kill_when(verify(), "initdb", later);
    }
    kill_when(verify(), "-D ", Duration::ZERO);
    kill_when(verify(), " COPY", Duration::ZERO);
    kill_when(verify(), " COPY", Duration::from_millis(50));
    workspace.tare(&["verify", "none", "--contract", "crud"]).expect(0);
}

#[test]
fn kill_9_under_load_leaves_nothing_of_a_database() {
    if !has_postgres() {
        return;
    }
    let workspace = workspace();
    workspace
        .service("other", &cheating("other", &["updates"]).replace("CHEAT = \"other\"", "CHEAT = \"none\""));
    let endless = crate::support::experiment(&["none", "other"], 1000)
        .replace("\"0s\"", "\"1h\"")
        .replace("\"hello\"", "\"updates\"")
        .replace("\"raw-socket\"", "\"none\"");
    workspace.write("experiments/endless.toml", &endless);
    let mut tare = workspace.start(&["run", "experiments/endless.toml", "--out", "out"]);
    let run = workspace.root().join("out");
    let is_sample = |record: &serde_json::Value| record["kind"] == "sample";
    assert!(within(USUAL, || journal(&run).iter().any(is_sample) || tare.has_ended()));
    let mut seen = BTreeSet::new();
    kill(tare, &mut seen, "under load");
    assert!(seen.len() > 4, "two databases: {seen:?}");
    workspace.tare(&["verify", "none", "--contract", "updates"]).expect(0);
}

/// Hides PostgreSQL in a mount namespace of the command's own.
const WITHOUT_POSTGRES: &str =
    "if test -d /usr/lib/postgresql; then mount -t tmpfs none /usr/lib/postgresql; fi && exec \"$0\" \"$@\"";

#[test]
fn a_machine_without_a_database_says_what_brings_it_and_goes_on() {
    let root = ["unshare", "--mount", "sh", "-c", WITHOUT_POSTGRES];
    let other = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", WITHOUT_POSTGRES];
    let is_root = rustix::process::geteuid().is_root();
    let wrapper = if is_root { &root[..] } else { &other[..] };
    let tried = std::process::Command::new(wrapper[0])
        .args(&wrapper[1..])
        .args(["sh", "-c", "! command -v initdb"])
        .status();
    if !tried.is_ok_and(|status| status.success()) {
        tare_host::fixture::skip_always("a machine without PostgreSQL", "it cannot be hidden here");
        return;
    }
    let workspace = workspace();
    workspace.service("honest", &manifest("honest", "correct"));
    let ended = start_under(wrapper, workspace.root(), &["verify", "none", "honest"]).end();
    let text = workspace.redact(&ended.stdout);
    let heads = text.lines().filter(|line| !line.starts_with(' ') && !line.is_empty());
    let heads: Vec<String> = heads
        .map(|line| line.split("; seed ").next().unwrap_or(line))
        .map(|line| line.split_once(" pass ").map_or(line.to_owned(), |(before, _)| format!("{before} pass")))
        .collect();
    insta::assert_snapshot!(heads.join("\n"));
    // The contract of this experiment needs no database.
    workspace.write("experiments/tiny.toml", &crate::support::experiment(&["honest"], 1));
    start_under(wrapper, workspace.root(), &["run", "experiments/tiny.toml"]).end().expect_measured();
    let of_database = crate::support::experiment(&["none"], 1)
        .replace("\"hello\"", "\"updates\"")
        .replace("\"raw-socket\"", "\"none\"");
    workspace.write("experiments/database.toml", &of_database);
    let ended = start_under(wrapper, workspace.root(), &["run", "experiments/database.toml"]).end();
    assert!(
        ended.code() != Some(0) && ended.stderr.contains("`apt-get install postgresql` brings it"),
        "{ended}"
    );
}
