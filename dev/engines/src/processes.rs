//! The daemons of a cluster: started so that they can be found, and ended completely.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// The environment variable of all daemons of a cluster and their children: its folder.
pub(crate) const MARK: &str = "TARE_ENGINE";
/// Each process writes its PID and then becomes the daemon, so that no unlisted daemon ever runs.
const START: &str = "echo $$ > \"$1.new\" && mv \"$1.new\" \"$1\" && shift && exec \"$@\"";
const GONE_WITHIN: Duration = Duration::from_secs(10);

fn numbers(folder: &Path) -> PathBuf {
    folder.join("run")
}

/// Starts a daemon that stays in the foreground; its output goes to `log/NAME.out`.
pub(crate) fn start(folder: &Path, name: &str, program: &str, words: &[String]) -> Result<()> {
    start_with(folder, name, program, words, Stdio::null())
}

/// The same with a standard input.
pub(crate) fn start_with(
    folder: &Path,
    name: &str,
    program: &str,
    words: &[String],
    stdin: Stdio,
) -> Result<()> {
    fs::create_dir_all(numbers(folder))?;
    let number = numbers(folder).join(name);
    let _of_an_earlier_one = fs::remove_file(&number);
    let log =
        || File::options().create(true).append(true).open(folder.join("log").join(format!("{name}.out")));
    let mut child = Command::new("/bin/sh")
        .args(["-c", START, "sh"])
        .arg(&number)
        .arg(program)
        .args(words)
        .env(MARK, folder)
        // Daemons of a cluster only contact each other.
        .env("NO_PROXY", "*")
        .current_dir(folder)
        .process_group(0)
        .stdin(stdin)
        .stdout(log()?)
        .stderr(log()?)
        .spawn()
        .with_context(|| program.to_owned())?;
    // The starting process reaps it, as long as it lives itself.
    thread::spawn(move || child.wait());
    let began = Instant::now();
    while pid(folder, name).is_none() {
        if began.elapsed() > GONE_WITHIN {
            bail!("{name} did not start");
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// The PID of a daemon, if it is alive.
pub(crate) fn pid(folder: &Path, name: &str) -> Option<u32> {
    let number = fs::read_to_string(numbers(folder).join(name)).ok()?.trim().parse::<u32>().ok()?;
    (carries(number, folder) && is_alive(number)).then_some(number)
}

/// The started daemons, by name.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(numbers(folder)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.ends_with(".new"));
    names.sort();
    names
}

/// Sends a signal to a daemon.
pub(crate) fn signal(folder: &Path, name: &str, signal: Signal) -> Result<()> {
    let pid = pid(folder, name).with_context(|| format!("{name} does not run"))?;
    send(pid, signal);
    Ok(())
}

pub(crate) fn send(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _it_has_gone = kill_process(pid, signal);
    }
}

/// The first live child of a process.
pub(crate) fn child_of(parent: u32) -> Option<u32> {
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        rest.split(' ').nth(1).and_then(|ppid| ppid.parse().ok()) == Some(parent)
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|pid| is_child(pid) && is_alive(*pid)).min()
}

/// Ends everything of the cluster in this folder: daemons, their children, and the processes of its jobs.
pub(crate) fn end_all(folder: &Path) -> Result<()> {
    let began = Instant::now();
    loop {
        let all = all(folder);
        if all.is_empty() {
            return Ok(());
        }
        if began.elapsed() > GONE_WITHIN {
            bail!("processes {all:?} of {} do not end", folder.display());
        }
        all.iter().for_each(|pid| send(*pid, Signal::KILL));
        thread::sleep(Duration::from_millis(20));
    }
}

/// All live processes of a cluster.
pub(crate) fn all(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let own = std::process::id();
    let is_one = |pid: &u32| carries(*pid, folder) || is_of_job(*pid, folder) || is_step(*pid, folder);
    numbers.filter(|pid| *pid != own && is_one(pid) && is_alive(*pid)).collect()
}

fn carries(pid: u32, folder: &Path) -> bool {
    has(&environment(pid), &format!("{MARK}={}", folder.display()))
}

/// Whether the process belongs to a job; a shell with SLURM_CONF set does not.
fn is_of_job(pid: u32, folder: &Path) -> bool {
    let environment = environment(pid);
    let is_in_job = environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(b"SLURM_JOB_ID="));
    is_in_job && has(&environment, &format!("SLURM_CONF={}", folder.join("slurm.conf").display()))
}

/// Whether the process starts those of a job. It overwrites its environment with its title, and stays in the
/// folder of its daemon.
fn is_step(pid: u32, folder: &Path) -> bool {
    let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let is_slurm = link("exe").file_name().is_some_and(|name| name.to_string_lossy().starts_with("slurm"));
    is_slurm && link("cwd").to_string_lossy().trim_end_matches(" (deleted)") == folder.to_string_lossy()
}

fn environment(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

fn has(environment: &[u8], entry: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
}

/// Whether the process is alive; a zombie is not.
fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_zombie = stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']));
    let exists = Pid::from_raw(pid.cast_signed()).is_some_and(|pid| test_kill_process(pid).is_ok());
    exists && !is_zombie
}
