//! Where measurements run: a repository for each, and what of this machine is needed for a fault.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    io::Read,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use strum::IntoEnumIterator;
use tempfile::TempDir;

use crate::{
    measurement::{Kind, Measurement, OUT, Stored},
    shim,
};

/// An entry of the environment by which all that a measurement starts is found again.
const MARK: &str = "TARE_CHAOS";
/// Room for a run of a few seconds, and little more.
const SMALL_DISK: &str = "size=2m";
const UNDISTURBED_MAX: Duration = Duration::from_secs(120);
/// For a shell with mounts of its own.
const READ_ONLY_CGROUPS: &str = r#"for at in $(findmnt -rno TARGET -t cgroup,cgroup2); do mount -o remount,bind,ro "$at"; done; exec "$@""#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Usual,
    /// The runs lie on a file system of their own.
    SmallDisk,
    WithoutCgroups,
    /// Calls to the C library pass through ours.
    Shimmed,
}

pub(crate) struct Ground {
    tare: PathBuf,
    shim: Result<shim::Shim, String>,
    /// Whether mounts of one's own can be made.
    mounts: Result<(), String>,
    /// How long each measurement lasts on this machine if nothing disturbs it.
    usual: BTreeMap<Kind, Duration>,
}

/// A measurement, the rest of one, or another command in its place.
pub(crate) struct Started {
    child: Child,
    root: PathBuf,
    mark: String,
    output: RefCell<Option<Output>>,
    errors: RefCell<String>,
    status: Option<ExitStatus>,
}

struct Output {
    errors: JoinHandle<String>,
    stop: std::sync::mpsc::Sender<()>,
}

/// A repository with its place; it is taken down when this is dropped.
pub(crate) struct Site {
    folder: TempDir,
    pub place: Place,
    /// Holds the mounts.
    holder: Option<Child>,
}

impl Ground {
    pub(crate) fn prepare(tare: &Path) -> anyhow::Result<Ground> {
        let try_mount = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
        let mounts = match try_mount {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let shim = shim::Shim::build().map_err(|error| format!("{error:#}"));
        let mut ground = Ground { tare: tare.to_owned(), shim, mounts, usual: BTreeMap::new() };
        for kind in Kind::iter() {
            let lasts = ground.undisturbed(kind)?;
            ground.usual.insert(kind, lasts);
        }
        Ok(ground)
    }

    /// # Errors
    /// It does not end well, and so no disturbed one can be judged.
    fn undisturbed(&self, kind: Kind) -> anyhow::Result<Duration> {
        let measurement = Measurement { kind, misbehaviour: None };
        let site = self.site(&measurement, Place::Usual)?;
        let began = Instant::now();
        let mut started = self.start(&site, &measurement.words())?;
        let in_time = started.end_within(UNDISTURBED_MAX);
        let code = started.status().and_then(|status| status.code());
        ensure!(
            in_time && code.is_some_and(|code| (0..=6).contains(&code)),
            "{kind:?}: {}",
            started.stderr()
        );
        ensure!(
            site.stored().is_complete() && code != Some(1),
            "{kind:?} is not complete: {}",
            started.stderr()
        );
        Ok(began.elapsed())
    }

    pub(crate) fn usual(&self, kind: Kind) -> Duration {
        self.usual.get(&kind).copied().unwrap_or(UNDISTURBED_MAX)
    }

    /// What cannot be tried here, and why.
    pub(crate) fn missing(&self) -> Vec<String> {
        let of = |result: &Result<(), String>, what: &str| {
            result.as_ref().err().map(|error| format!("{what}: {error}"))
        };
        let shim = self.shim.as_ref().map(|_| ()).map_err(Clone::clone);
        let missing = [
            of(&self.mounts, "a full disk and cgroups that are refused need a mount"),
            of(&shim, "writes that fail and a clock that jumps need a C compiler"),
        ];
        missing.into_iter().flatten().collect()
    }

    pub(crate) fn has(&self, place: Place) -> bool {
        match place {
            Place::Usual => true,
            Place::SmallDisk | Place::WithoutCgroups => self.mounts.is_ok(),
            Place::Shimmed => self.shim.is_ok(),
        }
    }

    pub(crate) fn site(&self, measurement: &Measurement, place: Place) -> anyhow::Result<Site> {
        let folder = tempfile::tempdir()?;
        measurement.write(folder.path(), &self.tare)?;
        fs::create_dir(folder.path().join("runs"))?;
        let holder = match place {
            Place::SmallDisk => Some(hold(&format!(
                "mount -t tmpfs -o {SMALL_DISK} none '{}'",
                folder.path().join("runs").display()
            ))?),
            _ => None,
        };
        Ok(Site { folder, place, holder })
    }

    /// Starts `tare WORDS` in a site.
    pub(crate) fn start(&self, site: &Site, words: &[&str]) -> anyhow::Result<Started> {
        let root = site.root();
        let mark = format!("{}-{}", std::process::id(), root.display());
        let mut command = self.command(site);
        if let (Place::Shimmed, Ok(shim)) = (site.place, &self.shim) {
            command.env("LD_PRELOAD", shim.path()).env("CHAOS_ROOT", root);
        }
        command.args(words);
        Started::spawn(command, root, mark, "chaos")
    }

    /// Another Tare beside a measurement, which does not wait for its turn.
    pub(crate) fn start_second(&self, beside: &Started, out: &str) -> anyhow::Result<Started> {
        let mut command = Command::new(&self.tare);
        command.args(["run", "chaos.toml", "--get", "/", "--out", out, "--seed", "2"]);
        Started::spawn(command, &beside.root, beside.mark.clone(), "second")
    }

    /// The program, by way of what makes the place.
    fn command(&self, site: &Site) -> Command {
        let mut command = match (&site.holder, site.place) {
            (Some(holder), _) => {
                let mut command = Command::new("nsenter");
                command.arg(format!("--mount=/proc/{}/ns/mnt", holder.id()));
                command
            }
            (None, Place::WithoutCgroups) => {
                let mut command = Command::new("unshare");
                command.args(["-m", "sh", "-c", READ_ONLY_CGROUPS, "sh"]);
                command
            }
            (None, _) => return Command::new(&self.tare),
        };
        command.arg(&self.tare);
        command
    }

    /// The file system of a measurement's runs, as it is seen from here.
    pub(crate) fn disk_of(&self, measurement: &Started) -> PathBuf {
        let runs = measurement.root.join("runs");
        let holder = processes(|pid| has_entry(pid, &hold_mark(&runs)));
        holder.first().map_or(runs.clone(), |pid| {
            Path::new("/proc")
                .join(pid.to_string())
                .join("root")
                .join(runs.strip_prefix("/").unwrap_or(&runs))
        })
    }
}

fn hold_mark(runs: &Path) -> String {
    format!("TARE_CHAOS_HOLDS={}", runs.display())
}

/// A process with mounts of its own, which lives until it is killed.
fn hold(mount: &str) -> anyhow::Result<Child> {
    let runs = mount.rsplit('\'').nth(1).unwrap_or_default();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{mount} && echo ready && exec sleep 600")]);
    let (name, value) = ("TARE_CHAOS_HOLDS", runs);
    let mut holder = command.env(name, value).stdout(Stdio::piped()).spawn()?;
    let mut ready = [0; 6];
    holder.stdout.take().context("it has a pipe")?.read_exact(&mut ready).context("nothing was mounted")?;
    Ok(holder)
}

impl Site {
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Where the run lies, as it is seen from here.
    pub(crate) fn stored(&self) -> Stored {
        let out = self.root().join(OUT);
        Stored(match &self.holder {
            Some(holder) => Path::new("/proc")
                .join(holder.id().to_string())
                .join("root")
                .join(out.strip_prefix("/").unwrap_or(&out)),
            None => out,
        })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(holder) = &mut self.holder {
            let _it_may_have_ended = holder.kill();
            let _ = holder.wait();
        }
    }
}

impl Output {
    /// Reads all of it on a thread, until it is to go away.
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
    /// In the repository `root`, with no variable that a user would not have.
    fn spawn(mut command: Command, root: &Path, mark: String, realm: &str) -> anyhow::Result<Started> {
        for steering in ["TARE_ROOT", "PORT", "THREADS", "DELAY_MS"] {
            command.env_remove(steering);
        }
        command.current_dir(root).env(MARK, &mark);
        command.env("TARE_HOME", root.join("home")).env("TARE_TRUST", "1");
        command.env("TARE_CPU_REALM", format!("-{realm}-{}", std::process::id()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("tare does not start")?;
        let output = RefCell::new(child.stderr.take().map(Output::read));
        Ok(Started { child, root: root.to_owned(), mark, output, errors: RefCell::default(), status: None })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn stored(&self) -> Stored {
        Stored(self.root.join(OUT))
    }

    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// What it printed on standard error, once it has ended.
    pub(crate) fn stderr(&self) -> String {
        if let Some(output) = self.output.borrow_mut().take() {
            self.errors.borrow_mut().push_str(&output.errors.join().unwrap_or_default());
        }
        self.errors.borrow().clone()
    }

    /// From its next line on it writes into a pipe that has no reader.
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

    /// Whether it ended in time. One that did not is killed.
    pub(crate) fn end_within(&mut self, time: Duration) -> bool {
        let in_time = within(time, || self.has_ended());
        if !in_time {
            let _it_may_have_ended = self.child.kill();
            self.status = self.child.wait().ok();
        }
        in_time
    }

    /// All that lives of what it started, itself included.
    pub(crate) fn alive(&self) -> Vec<u32> {
        processes(|pid| has_entry(pid, &format!("{MARK}={}", self.mark)))
    }

    pub(crate) fn watchdog(&self) -> Option<u32> {
        let is_one = |pid: &u32| command_line(*pid).ends_with(b"\0watchdog\0");
        self.alive().into_iter().find(is_one)
    }

    pub(crate) fn services(&self) -> Vec<u32> {
        let is_one = |pid: &u32| command_line(*pid).windows(12).any(|words| words == b"\0raw-socket\0");
        self.alive().into_iter().filter(is_one).collect()
    }

    /// The signal that ended it.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }
}

fn command_line(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

fn has_entry(pid: u32, entry: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
}

fn processes(wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| wanted(*pid)).collect()
}

/// Asks until the answer is yes or the time is over.
pub(crate) fn within(time: Duration, mut yes: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + time;
    loop {
        if yes() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The cgroups that a Tare of this id has made.
pub(crate) fn groups_of(pid: u32) -> Vec<PathBuf> {
    fn look(folder: &Path, wanted: &str, depth: usize, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(wanted) {
                found.push(path);
            } else if depth > 0 {
                look(&path, wanted, depth - 1, found);
            }
        }
    }
    let mut found = Vec::new();
    look(Path::new("/sys/fs/cgroup"), &format!("tare-{pid}-"), 3, &mut found);
    found
}
