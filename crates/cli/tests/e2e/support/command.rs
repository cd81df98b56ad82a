//! One run of `tare`, with a time limit and a check that it leaves no process.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use rustix::process::Signal;
use tempfile::TempDir;

use super::{carrying, real_root, send, within};

/// The longest time for any command, even on a busy machine.
pub const USUAL: Duration = Duration::from_secs(120);
/// How long processes that tare started may outlive it.
const GONE: Duration = Duration::from_secs(5);

/// The variable for the group of measurements that wait for each other.
const REALM: &str = "TARE_CPU_REALM";

/// A variable that every process of one command inherits, also the watchdog and leftovers of services.
const MARK: &str = "TARE_TEST_COMMAND";

/// A running `tare`. Dropping it kills it, and its watchdog kills the rest.
pub struct Running {
    child: Child,
    words: String,
    mark: String,
    output: TempDir,
    ended: bool,
}

/// A `tare` that has ended. Its output becomes part of the output of a failing test.
pub struct Ended {
    words: String,
    status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A folder of this name, and one beside it for builds and revisions.
pub fn checkout(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(name);
    for folder in [&root, &folder.path().join("home")] {
        fs::create_dir(folder).unwrap();
    }
    (folder, root)
}

/// The folder for builds and revisions: beside `folder` if there is one, because revisions must not be
/// checked out into their own repository.
pub fn home(folder: &Path) -> PathBuf {
    let beside = folder.with_file_name("home");
    if beside.is_dir() { beside } else { folder.join(".tare/home") }
}

/// Starts `tare WORDS` in a folder, with a user's environment. Checkouts made for a test have a cache of
/// their own, and the real one uses that of the user.
pub fn start(folder: &Path, words: &[&str]) -> Running {
    start_under(&[], folder, words)
}

/// The same, started by a wrapper such as `env` or `unshare`.
pub fn start_under(wrapper: &[&str], folder: &Path, words: &[&str]) -> Running {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let value = format!("{}-{number}.", std::process::id());
    let output = tempfile::tempdir().unwrap();
    let file = |name: &str| Stdio::from(fs::File::create(output.path().join(name)).unwrap());
    let mut programs = wrapper.iter().copied().chain([env!("CARGO_BIN_EXE_tare")]);
    let mut command = Command::new(programs.next().expect("tare itself"));
    command.args(programs);
    for steering in ["TARE_ROOT", "PORT", "THREADS", "DELAY_MS", "FAKE"] {
        command.env_remove(steering);
    }
    if folder != real_root() {
        command.env("TARE_HOME", home(folder));
    }
    // A test that wants a reason asks for it: it takes half a minute.
    command.env("TARE_NO_WHY", "1");
    // Measurements of others, and of other tests, are not waited for, unless a test sets its own group.
    if std::env::var_os(REALM).is_none() {
        command.env(REALM, &value);
    }
    // A test of trust removes it again.
    command.args(words).current_dir(folder).env(MARK, &value).env("TARE_TRUST", "1");
    command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
    let child = command.spawn().unwrap();
    Running { child, words: words.join(" "), mark: format!("{MARK}={value}"), output, ended: false }
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Live processes of this command with this entry in their environment.
    pub fn carrying(&self, entry: &str) -> Vec<u32> {
        let mine = carrying(&self.mark);
        carrying(entry).into_iter().filter(|pid| mine.contains(pid)).collect()
    }

    /// The watchdog process, which outlives it.
    pub fn watchdog(&self) -> Option<u32> {
        let is_one = |pid: &u32| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.ends_with(b"\0watchdog\0"))
        };
        carrying(&self.mark).into_iter().find(is_one)
    }

    pub fn end(self) -> Ended {
        self.end_within(USUAL)
    }

    /// Waits for the end of the command and of everything that it started.
    pub fn end_within(mut self, time: Duration) -> Ended {
        assert!(within(time, || self.has_ended()), "did not end within {time:?}");
        self.ended = true;
        let ended = Ended {
            words: self.words.clone(),
            status: self.child.wait().unwrap(),
            stdout: self.printed("stdout"),
            stderr: self.printed("stderr"),
        };
        let nothing_left = within(GONE, || carrying(&self.mark).is_empty());
        assert!(nothing_left, "left running: {:?}", carrying(&self.mark));
        ended
    }

    /// The output so far: `stdout` or `stderr`.
    pub fn printed(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.output.path().join(name)).unwrap()).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        eprintln!("$ tare {}\n{}{}", self.words, self.printed("stdout"), self.printed("stderr"));
        // There may be no watchdog to do it.
        if !within(GONE, || carrying(&self.mark).is_empty()) {
            carrying(&self.mark).into_iter().for_each(|pid| send(pid, Signal::KILL));
        }
    }
}

impl Ended {
    /// The exit status; `None` if a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Fails unless the command ended with this status.
    #[track_caller]
    pub fn expect(self, code: i32) -> Ended {
        assert_eq!(self.code(), Some(code), "the exit status: {self}");
        self
    }

    /// Fails unless it measured. Other programs on this machine may make the throughput invalid.
    #[track_caller]
    pub fn expect_measured(self) -> Ended {
        assert!(matches!(self.code(), Some(0 | 4)), "the exit status: {self}");
        self
    }

    /// Fails unless it read an incomplete run: that is inconclusive, or worse if the throughput is invalid.
    #[track_caller]
    pub fn expect_unfinished(self) -> Ended {
        assert!(matches!(self.code(), Some(4 | 5)), "the exit status: {self}");
        self
    }

    /// Its output with `--json`, parsed.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The first line of stdout with this beginning, such as a service's row of the table.
    #[track_caller]
    pub fn line(&self, start: &str) -> &str {
        // The answer above a table may begin with the name of a row too: `CPU/request: +2.5% ...`.
        let is_row = |line: &&str| line.strip_prefix(start).is_some_and(|rest| !rest.starts_with(':'));
        let found = self.stdout.lines().find(is_row);
        found.unwrap_or_else(|| panic!("no line begins with {start:?}: {self}"))
    }

    /// The first line of stderr with this beginning.
    #[track_caller]
    #[allow(dead_code, reason = "only the end-to-end tests use it")]
    pub fn line_of_stderr(&self, start: &str) -> &str {
        let found = self.stderr.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no line begins with {start:?}: {self}"))
    }

    /// The first line of stdout with this beginning and this part.
    #[track_caller]
    pub fn line_with(&self, start: &str, part: &str) -> &str {
        let mut lines = self.stdout.lines();
        let found = lines.find(|line| line.starts_with(start) && line.contains(part));
        found.unwrap_or_else(|| panic!("no line begins with {start:?} and has {part:?}: {self}"))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$ tare {}\n{}{}{}", self.words, self.stdout, self.stderr, self.status)
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{self}");
        }
    }
}
