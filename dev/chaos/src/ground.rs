//! The places for measurements: a repository for each, and the kernel features that faults need.

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use strum::IntoEnumIterator;
use tempfile::TempDir;

use crate::{
    measurement::{Kind, Measurement, OUT, Stored},
    shim,
    started::Started,
};

/// Room for little more than a run of a few seconds.
const SMALL_DISK: &str = "size=2m";
const UNDISTURBED_MAX: Duration = Duration::from_secs(120);
/// A script for a shell with mounts of its own.
const READ_ONLY_CGROUPS: &str = r#"for at in $(findmnt -rno TARGET -t cgroup,cgroup2); do mount -o remount,bind,ro "$at"; done; exec "$@""#;

/// A script for a shell in a user namespace.
const NO_NAMESPACES: &str =
    r#"for of in net pid mnt; do echo 0 > /proc/sys/user/max_${of}_namespaces; done; exec "$@""#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Usual,
    /// The runs are on a file system of their own.
    SmallDisk,
    WithoutCgroups,
    WithoutNamespaces,
    /// Calls to the C library pass through our library.
    Shimmed,
}

pub(crate) struct Ground {
    tare: PathBuf,
    shim: Result<shim::Shim, String>,
    /// Whether private mounts are possible.
    mounts: Result<(), String>,
    /// Whether user namespaces are possible.
    users: Result<(), String>,
    /// The duration of each kind of measurement on this machine without a fault.
    usual: BTreeMap<Kind, Duration>,
}

/// A repository with its place, which is removed when this is dropped.
pub(crate) struct Site {
    folder: TempDir,
    pub place: Place,
    /// The process that holds the mounts.
    holder: Option<Child>,
}

impl Ground {
    pub(crate) fn prepare(tare: &Path) -> anyhow::Result<Ground> {
        let mounts = try_unshare(&["-m", "mount", "-t", "tmpfs", "none", "/mnt"]);
        let users = try_unshare(&["-U", "--map-root-user", "true"]);
        let shim = shim::Shim::build().map_err(|error| format!("{error:#}"));
        let mut ground = Ground { tare: tare.to_owned(), shim, mounts, users, usual: BTreeMap::new() };
        for kind in Kind::iter() {
            let lasts = ground.undisturbed(kind)?;
            ground.usual.insert(kind, lasts);
        }
        Ok(ground)
    }

    /// # Errors
    /// It does not succeed, so no faulty one can be evaluated.
    fn undisturbed(&self, kind: Kind) -> anyhow::Result<Duration> {
        let measurement = Measurement { kind, misbehaviour: None, isolates: false };
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

    /// The faults that cannot be tried here, with the reasons.
    pub(crate) fn missing(&self) -> Vec<String> {
        let of = |result: &Result<(), String>, what: &str| {
            result.as_ref().err().map(|error| format!("{what}: {error}"))
        };
        let shim = self.shim.as_ref().map(|_| ()).map_err(Clone::clone);
        let missing = [
            of(&self.mounts, "a full disk and cgroups that are refused need a mount"),
            of(&self.users, "namespaces that are refused need one of users"),
            of(&shim, "writes that fail and a clock that jumps need a C compiler"),
        ];
        missing.into_iter().flatten().collect()
    }

    pub(crate) fn has(&self, place: Place) -> bool {
        match place {
            Place::Usual => true,
            Place::SmallDisk | Place::WithoutCgroups => self.mounts.is_ok(),
            Place::WithoutNamespaces => self.users.is_ok(),
            Place::Shimmed => self.shim.is_ok(),
        }
    }

    pub(crate) fn site(&self, measurement: &Measurement, place: Place) -> anyhow::Result<Site> {
        let folder = tempfile::tempdir()?;
        measurement.write(folder.path(), &self.tare)?;
        fs::create_dir(folder.path().join("runs"))?;
        let has_disk = place == Place::SmallDisk;
        let holder = has_disk.then(|| hold_a_disk(&folder.path().join("runs"))).transpose()?;
        Ok(Site { folder, place, holder })
    }

    pub(crate) fn start(&self, site: &Site, words: &[&str]) -> anyhow::Result<Started> {
        let root = site.root();
        let mark = &format!("{}-{}", std::process::id(), root.display());
        let mut command = self.command(site);
        if let (Place::Shimmed, Ok(shim)) = (site.place, &self.shim) {
            command.env("LD_PRELOAD", shim.path()).env("CHAOS_ROOT", root);
        }
        command.args(words);
        Started::spawn(command, root, mark, "chaos")
    }

    /// Starts another Tare beside a measurement, which does not wait for its turn.
    pub(crate) fn start_second(&self, beside: &Started, out: &str) -> anyhow::Result<Started> {
        let mut command = Command::new(&self.tare);
        command.args(["run", "chaos.toml", "--get", "/", "--out", out, "--seed", "2"]);
        Started::spawn(command, beside.root(), beside.mark(), "second")
    }

    /// The program, started through the wrapper of its place.
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
            (None, Place::WithoutNamespaces) => {
                let mut command = Command::new("unshare");
                command.args(["-U", "--map-root-user", "sh", "-c", NO_NAMESPACES, "sh"]);
                command
            }
            (None, _) => return Command::new(&self.tare),
        };
        command.arg(&self.tare);
        command
    }
}

fn try_unshare(words: &[&str]) -> Result<(), String> {
    match Command::new("unshare").args(words).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Starts a process with its own mounts, which lives until it is killed: a small file system covers `runs`.
fn hold_a_disk(runs: &Path) -> anyhow::Result<Child> {
    let script = format!("mount -t tmpfs -o {SMALL_DISK} none \"$1\" && echo ready && exec sleep 600");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, "sh"]).arg(runs).stdout(Stdio::piped());
    let mut holder = command.spawn()?;
    let mut ready = [0; 6];
    holder.stdout.take().context("it has a pipe")?.read_exact(&mut ready).context("nothing was mounted")?;
    Ok(holder)
}

impl Site {
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of its runs, as seen from this process.
    pub(crate) fn runs(&self) -> PathBuf {
        self.seen(&self.root().join("runs"))
    }

    pub(crate) fn stored(&self) -> Stored {
        Stored(self.seen(&self.root().join(OUT)))
    }

    fn seen(&self, path: &Path) -> PathBuf {
        match &self.holder {
            None => path.to_owned(),
            Some(holder) => {
                let root = PathBuf::from(format!("/proc/{}/root", holder.id()));
                root.join(path.strip_prefix("/").unwrap_or(path))
            }
        }
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
