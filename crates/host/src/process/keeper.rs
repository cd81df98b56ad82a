//! The keeper: a small process beside tare that kills every service when tare dies, however it dies.
//!
//! It holds the reading end of a pipe. Tare tells it each group before it exists; when the pipe closes without that
//! group having been taken back, tare has died, and the keeper kills what is left, frozen or not, and removes the
//! cgroups. It lives in a session of its own and ignores what a terminal sends, so that it outlives tare.
//!
//! Why not `PR_SET_PDEATHSIG`: it fires when the *thread* that forked ends, it does not reach grandchildren, and a
//! process that is frozen by a v1 freezer does not die of it. It is not even used in addition, for its first property
//! would kill healthy services.
//!
//! Why there is no gap: between fork and exec a service itself holds a copy of the writing end, which closes at exec.
//! So the keeper never sees the end of the pipe before a service that was being started is in its groups.
//!
//! It knows nothing of services beyond their groups.

use super::cgroup;
use super::group::Trace;
use super::syscall;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// The hidden subcommand under which a program runs [`main`].
pub const SUBCOMMAND: &str = "keeper";

/// What the keeper says when it listens.
const READY: &[u8] = b"ready\n";
/// How long it may take to say so.
const READY_WITHIN_SECONDS: i64 = 10;
/// How long the keeper tries to kill one group.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no keeper.
#[derive(Debug, Error)]
pub enum KeeperError {
    /// Its program could not be started.
    #[error("cannot start the keeper {program:?}: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Its program started but is no keeper.
    #[error("{program:?} did not answer as a keeper: is it the program that runs?")]
    Silent {
        /// The program.
        program: PathBuf,
    },
    /// It was there and has died.
    #[error(
        "the keeper has gone ({source}): nothing would stop the services if this process died; start again"
    )]
    Gone {
        /// What the pipe said.
        source: io::Error,
    },
}

/// The near end of a running keeper. It may be cloned; the keeper ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Keeper(Arc<Mutex<Child>>);

impl Keeper {
    /// Starts `program keeper` and waits until it listens.
    pub fn start(program: &Path) -> Result<Self, KeeperError> {
        let failed = |source| KeeperError::Start { program: program.into(), source };
        let mut command = Command::new(program);
        // Its own folder, so that no mount is held; no stderr, so that whoever reads ours is not kept waiting.
        command.arg(SUBCOMMAND).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let detach = || {
            syscall::ignore_requests_to_end();
            rustix::process::setsid()?;
            Ok(())
        };
        // SAFETY: between fork and exec only setsid(2) and signal(2) are called: nothing that allocates or locks.
        unsafe { command.pre_exec(detach) };
        let mut child = command.spawn().map_err(failed)?;
        if answers_ready(&mut child) {
            return Ok(Self(Arc::new(Mutex::new(child))));
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(KeeperError::Silent { program: program.into() })
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child().id()
    }

    /// Makes a group known, before it exists.
    pub(super) fn add(&self, trace: &Trace) -> Result<(), KeeperError> {
        let mut line = format!("add\t{}", trace.name).into_bytes();
        for folder in &trace.folders {
            line.push(b'\t');
            line.extend(folder.as_os_str().as_bytes());
        }
        self.tell(line)
    }

    /// Makes the process group of a known group known.
    pub(super) fn lead(&self, name: &str, pgid: u32) -> Result<(), KeeperError> {
        self.tell(format!("pgid\t{name}\t{pgid}").into_bytes())
    }

    /// Takes a group back, of which nothing is left.
    pub(super) fn delete(&self, name: &str) {
        // A keeper that has gone needs no telling; the next start of a service will notice it.
        let _ = self.tell(format!("del\t{name}").into_bytes());
    }

    fn tell(&self, mut line: Vec<u8>) -> Result<(), KeeperError> {
        line.push(b'\n');
        let mut child = self.child();
        let told = match child.stdin.as_mut() {
            Some(pipe) => pipe.write_all(&line),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        told.map_err(|source| KeeperError::Gone { source })
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Child> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) > 1 {
            return;
        }
        let mut child = self.child();
        drop(child.stdin.take());
        let _ = child.wait();
    }
}

fn answers_ready(child: &mut Child) -> bool {
    let Some(mut stdout) = child.stdout.take() else { return false };
    let mut said = Vec::new();
    let timeout = Timespec { tv_sec: READY_WITHIN_SECONDS, tv_nsec: 0 };
    while said.len() < READY.len() {
        let readable = poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&timeout));
        let mut byte = [0];
        if !matches!(readable, Ok(1..)) || !matches!(stdout.read(&mut byte), Ok(1)) {
            return false;
        }
        said.push(byte[0]);
    }
    said == READY
}

/// The keeper itself: reads what tare tells it until tare is gone, then kills what was not taken back.
pub fn main(input: impl Read, mut output: impl Write) {
    if output.write_all(READY).and_then(|()| output.flush()).is_err() {
        return;
    }
    let mut groups: Vec<Trace> = Vec::new();
    for line in BufReader::new(input).split(b'\n') {
        // An unreadable pipe is a closed one.
        let Ok(line) = line else { break };
        obey(&line, &mut groups);
    }
    // All at once: one that is slow to die must not keep the others alive.
    std::thread::scope(|scope| {
        for group in &groups {
            scope.spawn(|| group.destroy(PATIENCE));
        }
    });
}

fn obey(line: &[u8], groups: &mut Vec<Trace>) {
    let mut words = line.split(|&byte| byte == b'\t');
    let (Some(order), Some(name)) = (words.next(), words.next()) else { return };
    let name = String::from_utf8_lossy(name).into_owned();
    // What is killed without being asked again must look like ours.
    if cgroup::maker(&name).is_none() {
        return;
    }
    match order {
        b"add" => {
            let ours = |path: &PathBuf| path.file_name() == Some(OsStr::new(&name));
            let folders = words.map(|word| PathBuf::from(OsStr::from_bytes(word))).filter(ours).collect();
            groups.push(Trace { name, folders, pgid: None });
        }
        b"pgid" => {
            let pgid = words.next().and_then(|word| str::from_utf8(word).ok()?.parse().ok());
            groups.iter_mut().filter(|group| group.name == name).for_each(|group| group.pgid = pgid);
        }
        b"del" => groups.retain(|group| group.name != name),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_obeyed_and_nonsense_is_not() {
        let mut groups = Vec::new();
        let lines = [
            "add\ttare-5-1\t/x y/tare-5-1\t/etc",
            "pgid\ttare-5-1\t77",
            "add\tuser.slice\t/x",
            "",
            "add",
            "what\ttare-5-1",
        ];
        for line in lines {
            obey(line.as_bytes(), &mut groups);
        }
        let folders = vec![PathBuf::from("/x y/tare-5-1")];
        assert_eq!(groups, [Trace { name: "tare-5-1".into(), folders, pgid: Some(77) }]);
        obey(b"del\ttare-5-1", &mut groups);
        assert_eq!(groups, []);
    }

    #[test]
    fn a_program_that_is_no_keeper_is_refused() {
        assert!(matches!(Keeper::start(Path::new("/bin/true")), Err(KeeperError::Silent { .. })));
        assert!(matches!(Keeper::start(Path::new("/no/such")), Err(KeeperError::Start { .. })));
    }
}
