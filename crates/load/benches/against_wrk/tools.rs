//! The programs that are compared: the command line by which each makes the same load, and how its count of requests is
//! read.

use std::error::Error;
use std::ffi::OsString;
use std::io::Read;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tare_load::DriverKind;

use super::kit::load::skip;

/// How long a tool may take beyond the time of its load.
const END_WITHIN: Duration = Duration::from_secs(20);

/// A load generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Tare with a driver, every byte of every response compared.
    Tare(DriverKind),
    /// The floor.
    Bare,
    /// <https://github.com/wg/wrk>.
    Wrk(OsString),
    /// h2load of nghttp2, with HTTP/1.1.
    H2load(OsString),
    /// <https://crates.io/crates/shb>.
    Shb(OsString),
}

/// One load.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub target: SocketAddr,
    pub connections: usize,
    pub body_bytes: usize,
    pub seconds: u64,
    /// For h2load, which often hangs at the end of a time: about as many as the others get in it.
    pub requests: u64,
}

/// What one run of a tool cost.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub requests: u64,
    pub cpu_us: f64,
    pub elapsed_s: f64,
}

impl Reading {
    pub fn cpu_us_per_request(&self) -> f64 {
        self.cpu_us / self.requests as f64
    }
}

/// The tools of this machine, wrk among them; those that are missing are named.
pub fn find(has_uring: bool) -> Result<Vec<Tool>, String> {
    let wrk = in_path("wrk").ok_or("wrk is not in PATH, and everything is related to it: apt install wrk")?;
    let mut tools = vec![Tool::Wrk(wrk)];
    if has_uring {
        tools.extend([Tool::Tare(DriverKind::IoUring), Tool::Bare]);
    } else {
        skip("bare", "it takes io_uring");
    }
    tools.push(Tool::Tare(DriverKind::Epoll));
    match env::var_os("SHB").or_else(|| in_path("shb")) {
        Some(shb) => tools.push(Tool::Shb(shb)),
        None => skip("shb", "neither in PATH nor named by SHB (cargo install shb)"),
    }
    match in_path("h2load") {
        Some(h2load) => tools.push(Tool::H2load(h2load)),
        None => skip("h2load", "not in PATH (apt install nghttp2-client)"),
    }
    Ok(tools)
}

fn in_path(name: &str) -> Option<OsString> {
    let folders = env::var_os("PATH")?;
    let path = env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())?;
    Some(path.into_os_string())
}

impl Tool {
    pub fn name(&self) -> &'static str {
        match self {
            Tool::Tare(DriverKind::IoUring) => "tare io_uring",
            Tool::Tare(DriverKind::Epoll) => "tare epoll",
            Tool::Bare => "bare io_uring",
            Tool::Wrk(_) => "wrk",
            Tool::H2load(_) => "h2load",
            Tool::Shb(_) => "shb",
        }
    }

    /// One thread, one request in flight on each connection, kept connections.
    fn command(&self, cell: &Cell) -> io::Result<Command> {
        let Cell { target, connections, body_bytes, seconds, requests } = cell;
        let url = format!("http://{target}/");
        let (program, words) = match self {
            Tool::Tare(driver) => {
                let words = format!("tare {target} {connections} {seconds} {} {body_bytes}", driver.name());
                (env::current_exe()?.into_os_string(), words)
            }
            Tool::Bare => (
                env::current_exe()?.into_os_string(),
                format!("bare {target} {connections} {seconds} {body_bytes}"),
            ),
            Tool::Wrk(path) => (path.clone(), format!("-t1 -c{connections} -d{seconds}s {url}")),
            Tool::H2load(path) => (path.clone(), format!("--h1 -t1 -c{connections} -n{requests} {url}")),
            Tool::Shb(path) => (path.clone(), format!("-t 1 -c {connections} -z {seconds}s --json {url}")),
        };
        let mut command = Command::new(program);
        command.args(words.split(' '));
        Ok(command)
    }

    /// Runs it once, on the CPUs of the calling thread.
    pub fn run(&self, cell: &Cell) -> Result<Reading, Box<dyn Error>> {
        let start = Instant::now();
        let (output, is_good, cpu_us) = self.run_once(cell)?;
        let elapsed_s = match self {
            Tool::H2load(_) => start.elapsed().as_secs_f64(),
            _ => cell.seconds as f64,
        };
        match self.requests(&output).filter(|requests| is_good && *requests > 0) {
            Some(requests) => Ok(Reading { requests, cpu_us, elapsed_s }),
            None => {
                let name = self.name();
                Err(format!("{name} had requests that failed, did not end or said nothing known:\n{output}")
                    .into())
            }
        }
    }

    /// Its output, whether it ended well, and its CPU time in microseconds. It is killed if it does not end.
    fn run_once(&self, cell: &Cell) -> Result<(String, bool, f64), Box<dyn Error>> {
        let mut child = self.command(cell)?.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let limit = Duration::from_secs(cell.seconds) + END_WITHIN;
        let (through, is_through) = channel::<()>();
        let watchdog = std::thread::spawn(move || {
            if is_through.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _gone = pidfd_send_signal(handle, Signal::KILL);
            }
        });
        let mut output = String::new();
        child.stdout.take().ok_or("a child without output")?.read_to_string(&mut output)?;
        let (is_good, cpu_us) = wait(child.id())?;
        drop(through);
        watchdog.join().map_err(|_| "the watchdog panicked")?;
        Ok((output, is_good, cpu_us))
    }

    /// How many requests were answered, if none failed.
    fn requests(&self, output: &str) -> Option<u64> {
        match self {
            Tool::Tare(_) => (after(output, "failed ")? == 0).then(|| after(output, "requests "))?,
            Tool::Bare => after(output, "requests "),
            Tool::Wrk(_) => {
                let failed = output.contains("Socket errors") || output.contains("Non-2xx");
                (!failed).then(|| before(output, " requests in "))?
            }
            Tool::H2load(_) => {
                let failed = before(output, " failed,")? + before(output, " errored,")?;
                (failed == 0).then(|| before(output, " succeeded,"))?
            }
            Tool::Shb(_) => {
                let report: serde_json::Value = serde_json::from_str(output).ok()?;
                let count = |name: &str| report["requests"][name].as_u64();
                (count("errors")? + count("connectErrors")? == 0).then(|| count("ok"))?
            }
        }
    }
}

/// The number after a word at the start of a line.
fn after(output: &str, word: &str) -> Option<u64> {
    output.lines().find_map(|line| line.strip_prefix(word))?.trim().parse().ok()
}

/// The number before a word.
fn before(output: &str, word: &str) -> Option<u64> {
    let (text, _) = output.split_once(word)?;
    text.rsplit([' ', '\n']).next()?.parse().ok()
}

/// Waits for a child: whether it ended well, and its CPU time, user and kernel, of all its threads.
#[allow(unsafe_code)]
fn wait(pid: u32) -> io::Result<(bool, f64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both places are ours and large enough.
    if unsafe { libc::wait4(pid as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all bits zero is a value of it, and wait4 has filled it.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    Ok((status == 0, us(usage.ru_utime) + us(usage.ru_stime)))
}

/// The model of the CPU, for the heading.
pub fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown CPU");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{}, Linux {}", model.trim_start_matches(['\t', ' ', ':']), kernel.trim())
}
