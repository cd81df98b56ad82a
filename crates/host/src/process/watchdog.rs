//! The watchdog: a small process beside Tare that kills every service when Tare dies, however it dies.
//!
//! It reads a pipe. Tare announces each group before making it, and withdraws the group once it is gone. When
//! the pipe closes, Tare has died: the watchdog kills the remaining groups, frozen or not, and removes their
//! cgroups. It outlives Tare: it has its own session and ignores a terminal's signals.
//!
//! `PR_SET_PDEATHSIG` does not suffice: it fires when the *thread* that forked ends, does not reach
//! grandchildren, and does not end a process frozen by a v1 freezer. Nor can it be used in addition, as the
//! first property would kill healthy services.
//!
//! A watchdog that was killed, such as by the OOM killer, is replaced, and all groups are announced to the
//! new one. Tare checks for it when it announces or withdraws a group and when it thaws a service.
//!
//! There is no gap: between fork and exec a new service holds a copy of the writing end, which closes at
//! exec. So the pipe cannot end before a starting service has entered its groups.
//!
//! It knows nothing of services beyond their groups.

use super::group::Trace;
use super::naming;
use super::scratch_folder;
use super::syscall;
use crate::threads;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// The hidden subcommand under which a program runs [`main`].
pub const SUBCOMMAND: &str = "watchdog";

/// The line that the watchdog prints once it listens.
const READY: &[u8] = b"ready\n";
/// Time limit until it listens.
const READY_WITHIN_SECONDS: i64 = 10;
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Error)]
pub enum WatchdogError {
    #[error("cannot start the watchdog {program:?}: {source}")]
    Start { program: PathBuf, source: io::Error },
    #[error("{program:?} did not answer as a watchdog: pass the path of the running executable")]
    Silent { program: PathBuf },
    #[error(
        "the watchdog ends as often as it is started ({source}), so nothing would stop the services if this process died"
    )]
    Gone { source: io::Error },
}

/// The connection to a running watchdog. It ends when its last clone is dropped.
#[derive(Debug, Clone)]
pub struct Watchdog(Arc<Mutex<Listener>>);

/// One end of the pipe, and everything to announce to a replacement.
#[derive(Debug)]
struct Listener {
    program: PathBuf,
    child: Child,
    /// Groups that were announced and not withdrawn.
    groups: Vec<Trace>,
    scratches: Vec<PathBuf>,
}

impl Watchdog {
    /// Starts `program watchdog` and waits until it listens.
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as a watchdog.
    pub(crate) fn start(program: &Path) -> Result<Self, WatchdogError> {
        let (program, child) = (program.to_owned(), spawn(program)?);
        Ok(Self(Arc::new(Mutex::new(Listener { program, child, groups: Vec::new(), scratches: Vec::new() }))))
    }

    pub fn pid(&self) -> u32 {
        self.listener().child.id()
    }

    /// Announces a group, before it exists.
    pub(super) fn add(&self, trace: &Trace) -> Result<(), WatchdogError> {
        let mut listener = self.listener();
        listener.groups.push(trace.clone());
        listener.tell(&announcement(trace)).inspect_err(|_| drop(listener.groups.pop()))
    }

    /// Announces the process group of a group.
    pub(super) fn lead(&self, name: &str, pgid: u32) -> Result<(), WatchdogError> {
        let mut listener = self.listener();
        listener
            .groups
            .iter_mut()
            .filter(|group| group.name == name)
            .for_each(|group| group.pgid = Some(pgid));
        listener.tell(&leader(name, pgid))
    }

    /// Withdraws a group that no longer exists.
    pub(super) fn delete(&self, name: &str) {
        let mut listener = self.listener();
        listener.groups.retain(|group| group.name != name);
        // If no watchdog can be started, the next start of a service reports it.
        let _ = listener.tell(format!("del\t{name}").as_bytes());
    }

    /// Announces, before it exists, a folder to be removed with its maker.
    pub(super) fn add_scratch(&self, path: &Path) -> Result<(), WatchdogError> {
        let mut listener = self.listener();
        listener.scratches.push(path.to_owned());
        listener.tell(&with_path(b"scratch", path)).inspect_err(|_| drop(listener.scratches.pop()))
    }

    /// Withdraws a folder that no longer exists.
    pub(super) fn delete_scratch(&self, path: &Path) {
        let mut listener = self.listener();
        listener.scratches.retain(|scratch| scratch != path);
        // If no watchdog can be started, the next start of a service reports it.
        let _ = listener.tell(&with_path(b"gone", path));
    }

    /// Makes sure that a watchdog runs.
    pub(super) fn ensure(&self) {
        let mut listener = self.listener();
        if listener.is_gone() {
            // The next start of a service reports it.
            let _ = listener.replace();
        }
    }

    fn listener(&self) -> MutexGuard<'_, Listener> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// Sends a line to the watchdog, or starts another one, to which everything is announced.
    fn tell(&mut self, line: &[u8]) -> Result<(), WatchdogError> {
        self.send(line).or_else(|_| self.replace())
    }

    fn send(&mut self, line: &[u8]) -> io::Result<()> {
        match self.child.stdin.as_mut() {
            Some(pipe) => pipe.write_all(&[line, b"\n"].concat()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Whether no process reads from the pipe any more.
    fn is_gone(&self) -> bool {
        let Some(pipe) = self.child.stdin.as_ref() else { return true };
        let mut polled = [PollFd::new(pipe, PollFlags::empty())];
        matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(1..))
    }

    fn replace(&mut self) -> Result<(), WatchdogError> {
        let child = spawn(&self.program)?;
        let mut gone = std::mem::replace(&mut self.child, child);
        // Perhaps only its pipe is closed, so it must be killed.
        let _ = gone.kill();
        let _ = gone.wait();
        for group in self.groups.clone() {
            let led = group.pgid.map(|pgid| leader(&group.name, pgid));
            let lines = [Some(announcement(&group)), led];
            lines
                .into_iter()
                .flatten()
                .try_for_each(|line| self.send(&line))
                .map_err(|source| WatchdogError::Gone { source })?;
        }
        for path in self.scratches.clone() {
            self.send(&with_path(b"scratch", &path)).map_err(|source| WatchdogError::Gone { source })?;
        }
        Ok(())
    }
}

/// Starts a process and waits until it reports that it listens.
fn spawn(program: &Path) -> Result<Child, WatchdogError> {
    let failed = |source| WatchdogError::Start { program: program.into(), source };
    let mut command = Command::new(program);
    // It runs in `/` to keep no mount busy, and without stderr to keep no reader of this stderr waiting.
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
        return Ok(child);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(WatchdogError::Silent { program: program.into() })
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) > 1 {
            return;
        }
        let mut listener = self.listener();
        drop(listener.child.stdin.take());
        let _ = listener.child.wait();
    }
}

fn announcement(trace: &Trace) -> Vec<u8> {
    let mut line = format!("add\t{}", trace.name).into_bytes();
    for folder in &trace.folders {
        line.push(b'\t');
        line.extend(folder.as_os_str().as_bytes());
    }
    line
}

fn with_path(order: &[u8], path: &Path) -> Vec<u8> {
    [order, b"\t", path.as_os_str().as_bytes()].concat()
}

fn leader(name: &str, pgid: u32) -> Vec<u8> {
    format!("pgid\t{name}\t{pgid}").into_bytes()
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

/// Runs the watchdog: reads announcements until the pipe closes, then kills the remaining groups.
pub fn main(input: impl Read, mut output: impl Write) {
    if output.write_all(READY).and_then(|()| output.flush()).is_err() {
        return;
    }
    let mut groups: Vec<Trace> = Vec::new();
    let mut scratches: Vec<PathBuf> = Vec::new();
    for line in BufReader::new(input).split(b'\n') {
        // A pipe that cannot be read counts as closed.
        let Ok(line) = line else { break };
        keep_scratches(&line, &mut scratches);
        obey(&line, &mut groups);
    }
    // In parallel, so that a group that dies slowly does not delay the others.
    threads::for_each(&groups, |group| drop(group.destroy(PATIENCE)));
    // No process uses them any more.
    scratches.iter().for_each(|path| scratch_folder::remove(path));
}

fn keep_scratches(line: &[u8], scratches: &mut Vec<PathBuf>) {
    let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { return };
    let path = PathBuf::from(OsStr::from_bytes(&line[tab + 1..]));
    match &line[..tab] {
        b"scratch" if scratch_folder::is_scratch(&path) => scratches.push(path),
        b"gone" => scratches.retain(|known| *known != path),
        _ => {}
    }
}

fn obey(line: &[u8], groups: &mut Vec<Trace>) {
    let mut words = line.split(|&byte| byte == b'\t');
    let (Some(order), Some(name)) = (words.next(), words.next()) else { return };
    let name = String::from_utf8_lossy(name).into_owned();
    // Only groups with a name of Tare's are ever killed.
    if naming::maker(&name).is_none() {
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn orders_are_obeyed_and_other_lines_ignored() {
        let mut groups = Vec::new();
        let lines = [
            "add\ttare-5-1-3\t/x y/tare-5-1-3\t/etc",
            "pgid\ttare-5-1-3\t77",
            "add\tuser.slice\t/x",
            "",
            "add",
            "what\ttare-5-1-3",
        ];
        for line in lines {
            obey(line.as_bytes(), &mut groups);
        }
        let folders = vec![PathBuf::from("/x y/tare-5-1-3")];
        assert_eq!(groups, [Trace { name: "tare-5-1-3".into(), folders, pgid: Some(77) }]);
        obey(b"del\ttare-5-1-3", &mut groups);
        assert_eq!(groups, []);
    }

    #[test]
    fn a_program_that_is_not_a_watchdog_is_refused() {
        assert!(matches!(Watchdog::start(Path::new("/bin/true")), Err(WatchdogError::Silent { .. })));
        assert!(matches!(Watchdog::start(Path::new("/no/such")), Err(WatchdogError::Start { .. })));
    }

    #[test]
    fn what_was_announced_is_killed_when_the_pipe_closes() {
        use std::os::unix::process::CommandExt;
        let sleep = |seconds: &str| Command::new("sleep").arg(seconds).process_group(0).spawn().unwrap();
        let (mut announced, mut withdrawn) = (sleep("60"), sleep("60"));
        let lines = format!(
            "add\ttare-5-1-3\npgid\ttare-5-1-3\t{}\nadd\ttare-5-2-3\npgid\ttare-5-2-3\t{}\ndel\ttare-5-2-3\n",
            announced.id(),
            withdrawn.id()
        );
        let mut output = Vec::new();
        main(lines.as_bytes(), &mut output);
        assert_eq!(output, READY);
        assert!(!announced.wait().unwrap().success());
        assert_eq!(withdrawn.try_wait().unwrap(), None, "it still runs");
        withdrawn.kill().unwrap();
        withdrawn.wait().unwrap();
    }

    #[test]
    fn a_folder_that_was_announced_is_removed_when_the_pipe_closes_and_no_other() {
        let [kept, gone, other] = std::array::from_fn(|_| std::env::temp_dir().join(naming::new_name()));
        let foreign = tempfile::tempdir().unwrap();
        [&kept, &gone, &other].iter().for_each(|path| std::fs::create_dir(path).unwrap());
        let (first, second, third) = (kept.display(), gone.display(), foreign.path().display());
        let lines = format!("scratch\t{first}\nscratch\t{second}\ngone\t{first}\nscratch\t{third}\n");
        main(lines.as_bytes(), &mut Vec::new());
        assert!(kept.exists() && !gone.exists() && other.exists() && foreign.path().exists());
        [kept, other].iter().for_each(|path| scratch_folder::remove(path));
    }

    proptest! {
        #[test]
        fn an_announcement_is_understood(
            pid in 2_u32.., number in any::<u64>(), namespace in any::<u64>(), parents in proptest::collection::vec("/[ -~é]{0,20}", 0..4),
        ) {
            let name = format!("tare-{pid}-{number}-{namespace}");
            let folders = parents.iter().map(|parent| Path::new(parent).join(&name)).collect();
            let trace = Trace { name, folders, pgid: None };
            let mut groups = Vec::new();
            obey(&announcement(&trace), &mut groups);
            prop_assert_eq!(groups, [trace]);
        }

        #[test]
        fn no_line_makes_a_group_with_the_name_of_another_program(
            line in proptest::collection::vec(any::<u8>(), 0..60), order in "(add|pgid|del)\t[a-z0-9.-]{0,12}(\t/[a-z./-]{0,20}){0,2}",
        ) {
            let mut groups = Vec::new();
            obey(&line, &mut groups);
            obey(order.as_bytes(), &mut groups);
            for group in groups {
                prop_assert!(naming::maker(&group.name).is_some());
                prop_assert!(group.folders.iter().all(|folder| folder.ends_with(&group.name)));
            }
        }
    }
}
