//! One test as a process: started, bounded in time, its output kept in a file.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use super::{Test, build};

/// A longer test hangs. The longest one builds and verifies all services.
const TIME_MAX: Duration = Duration::from_secs(45 * 60);
const POLL: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed { passed: usize, ignored: usize },
    Failed,
    TimedOut,
}

#[derive(Debug)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) wall: Duration,
    /// User and system time of the test and of all its descendants that were reaped.
    pub(super) cpu: Duration,
    pub(super) printed: String,
}

/// Folder for the output of running tests, and for the list of durations.
pub(super) fn folder(root: &Path) -> PathBuf {
    root.join("target/tests")
}

pub(super) fn run(root: &Path, test: &Test, wrapper: &[String], began: Instant) -> Result<Ended> {
    // A repeated test may run beside itself.
    let (place, name) = (folder(root), test.name.replace(['/', ':'], "-"));
    let output = tempfile::Builder::new().prefix(&format!("{name}-")).suffix(".out").tempfile_in(&place);
    let output = output.with_context(|| place.display().to_string())?;
    // Removed with the leftovers of the test. The name is short, because socket paths are limited.
    let temporary = tempfile::Builder::new().prefix("tare-").tempdir()?;
    let mut child = start(root, test, wrapper, temporary.path(), output.reopen()?)?;
    let is_late = loop {
        if has_ended(&child)? {
            break false;
        }
        if began.elapsed() > TIME_MAX {
            break true;
        }
        std::thread::sleep(POLL);
    };
    let cpu = cpu(child.id());
    if is_late {
        kill_with_descendants(child.id());
    }
    let status = child.wait()?;
    let printed = String::from_utf8_lossy(&fs::read(output.path())?).into_owned();
    let outcome = match results(&printed) {
        _ if is_late => Outcome::TimedOut,
        Some((passed, ignored)) if status.success() && passed + ignored == test.tests => {
            Outcome::Passed { passed, ignored }
        }
        _ => Outcome::Failed,
    };
    Ok(Ended { outcome, wall: began.elapsed(), cpu, printed })
}

/// The numbers of passed and ignored tests, from libtest's summary.
fn results(printed: &str) -> Option<(usize, usize)> {
    let line = printed.lines().find_map(|line| line.strip_prefix("test result: ok. "))?;
    let number = |what: &str| {
        let part = line.split("; ").find_map(|part| part.strip_suffix(what))?;
        part.trim().parse().ok()
    };
    Some((number("passed")?, number("ignored")?))
}

fn start(root: &Path, test: &Test, wrapper: &[String], temporary: &Path, file: File) -> Result<Child> {
    let binary = test.binary.path.as_os_str();
    let mut words = wrapper.iter().map(AsRef::as_ref).chain([binary]);
    let mut command = Command::new(words.next().unwrap_or(binary));
    command.args(words);
    // Without a name all tests of the program run.
    if let Some(name) = test.name.strip_prefix(&format!("{}::", test.binary.id)) {
        command.args(["--exact", name]);
    }
    command.current_dir(&test.binary.folder);
    // Variables that Cargo sets for a test, and one that saves insta from calling Cargo in every process.
    command.env("CARGO", build::cargo()).env("CARGO_MANIFEST_DIR", &test.binary.folder);
    command.env("INSTA_WORKSPACE_ROOT", root);
    command.env("TMPDIR", temporary);
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    command.spawn().with_context(|| test.name.clone())
}

/// Whether it has ended. It is not reaped yet, so that its CPU time can be read.
fn has_ended(child: &Child) -> Result<bool> {
    let state = stat(child.id()).and_then(|fields| fields.first().cloned());
    Ok(state.context("a test was waited for by something else")? == "Z")
}

/// The fields of /proc/PID/stat after the name of the program, which may contain anything.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// utime, stime, cutime and cstime of proc_pid_stat(5), in ticks of 10 ms.
fn cpu(pid: u32) -> Duration {
    let ticks = stat(pid).map_or(0, |fields| {
        fields.iter().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum()
    });
    Duration::from_millis(10 * ticks)
}

fn kill_with_descendants(pid: u32) {
    let mut killed = vec![pid];
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let parent = |pid: &u32| stat(*pid).and_then(|fields| fields.get(1)?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = pids.iter().filter_map(|pid| Some((*pid, parent(pid)?))).collect();
    let mut next = 0;
    while let Some(of) = killed.get(next).copied() {
        killed.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        next += 1;
    }
    let pids = killed.iter().map(u32::to_string);
    // A process that has ended meanwhile is no error.
    let _ = Command::new("kill").arg("-KILL").args(pids).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_libtest() {
        let printed = "running 3 tests\n...\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out; \
                       finished in 0.01s\n";
        assert_eq!(results(printed), Some((2, 1)));
        assert_eq!(results("test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured"), None);
        assert_eq!(results("killed"), None);
    }
}
