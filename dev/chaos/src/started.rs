//! A started command, with all processes that it started.

use std::{
    cell::RefCell,
    fs::{self, File},
    io::Read,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context;

use crate::processes::{command_line, has_entry, mounts, processes, within};

/// An environment variable that identifies all processes of a measurement.
const MARK: &str = "TARE_CHAOS";

/// The file with the output of the latest command in a repository.
const STDOUT: &str = "stdout";

/// A measurement, its resumption, or another command.
pub(crate) struct Started {
    child: Child,
    root: PathBuf,
    mark: String,
    output: RefCell<Option<Output>>,
    errors: RefCell<String>,
    status: Option<ExitStatus>,
    mounts_before: String,
}

struct Output {
    errors: JoinHandle<String>,
    stop: std::sync::mpsc::Sender<()>,
}

impl Drop for Started {
    /// The watchdog ends its other processes.
    fn drop(&mut self) {
        if !self.has_ended() {
            let _it_may_have_ended = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Output {
    /// Reads everything on a thread, until the reader has to go away.
    fn read(mut from: ChildStderr) -> Output {
        let (stop, is_stopped) = std::sync::mpsc::channel();
        let errors = std::thread::spawn(move || {
            let (mut text, mut piece) = (Vec::new(), [0; 4096]);
            while let Ok(length) = from.read(&mut piece) {
                if length == 0 || is_stopped.try_recv().is_ok() {
                    break;
                }
                text.extend_from_slice(&piece[..length]);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Output { errors, stop }
    }
}

impl Started {
    /// Starts a command in the repository `root`, with a user's environment.
    pub(crate) fn spawn(
        mut command: Command,
        root: &Path,
        mark: &str,
        realm: &str,
    ) -> anyhow::Result<Started> {
        for steering in ["TARE_ROOT", "PORT", "THREADS", "DELAY_MS"] {
            command.env_remove(steering);
        }
        command.current_dir(root).env(MARK, mark);
        command.env("TARE_HOME", root.join("home")).env("TARE_TRUST", "1");
        command.env("TARE_CPU_REALM", format!("-{realm}-{}", std::process::id()));
        let stdout = File::create(root.join(STDOUT)).context("its output")?;
        command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        let mut child = command.spawn().context("tare does not start")?;
        let output = RefCell::new(child.stderr.take().map(Output::read));
        Ok(Started {
            child,
            root: root.to_owned(),
            mark: mark.to_owned(),
            output,
            errors: RefCell::default(),
            status: None,
            mounts_before: mounts(),
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Its stderr, once it has ended.
    pub(crate) fn stderr(&self) -> String {
        if let Some(output) = self.output.borrow_mut().take() {
            self.errors.borrow_mut().push_str(&output.errors.join().unwrap_or_default());
        }
        self.errors.borrow().clone()
    }

    /// Its stdout, if it is the latest command in its repository.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.root.join(STDOUT)).unwrap_or_default()).into_owned()
    }

    /// From its next line on, its output goes to a pipe without a reader.
    pub(crate) fn close_output(&self) {
        if let Some(output) = self.output.borrow().as_ref() {
            let _it_may_have_ended = output.stop.send(());
        }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status.is_some()
    }

    /// Whether it ended in time. Otherwise it is killed.
    pub(crate) fn end_within(&mut self, time: Duration) -> bool {
        let in_time = within(time, || self.has_ended());
        if !in_time {
            let _it_may_have_ended = self.child.kill();
            self.status = self.child.wait().ok();
        }
        in_time
    }

    /// Its live processes, including itself.
    pub(crate) fn alive(&self) -> Vec<u32> {
        processes(|pid| has_entry(pid, &format!("{MARK}={}", self.mark)))
    }

    pub(crate) fn has_left_a_mount(&self) -> bool {
        mounts() != self.mounts_before
    }

    pub(crate) fn watchdog(&self) -> Option<u32> {
        let is_one = |pid: &u32| command_line(*pid).ends_with(b"\0watchdog\0");
        self.alive().into_iter().find(is_one)
    }

    pub(crate) fn services(&self) -> Vec<u32> {
        let is_one = |pid: &u32| {
            command_line(*pid)
                .windows(12)
                .any(|words| words == b"\0raw-socket\0" || words.starts_with(b"\0hostile\0"))
        };
        self.alive().into_iter().filter(is_one).collect()
    }

    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }
}
