//! The compared programs, and the command line with which each makes the same load.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::Command;
use std::{env, io};

use tare_load::{DriverKind, Protocol, Waiting};

use crate::kit::closed::word_of;
use crate::kit::load::skip;

/// A load generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Tare with a driver; it compares every byte of every response. It sleeps like other tools, or polls.
    Tare(DriverKind, Waiting),
    /// The bare io_uring loop.
    Bare,
    /// <https://github.com/wg/wrk>.
    Wrk(OsString),
    H2load(OsString),
    /// <https://crates.io/crates/shb>.
    Shb(OsString),
}

#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub target: SocketAddr,
    pub protocol: Protocol,
    pub connections: usize,
    /// Concurrent requests on each connection.
    pub streams: usize,
    pub body_bytes: usize,
    pub seconds: u64,
    /// For h2load, which often hangs at the end of a timed run: about what the other tools reach in that
    /// time.
    pub requests: u64,
}

/// The tools on this machine that speak `protocol`; missing ones are printed. The first is the reference:
/// wrk, or h2load where wrk does not speak the protocol.
pub fn find(protocol: Protocol, has_uring: bool, with_polling: bool) -> Result<Vec<Tool>, String> {
    let h2load = program("h2load", "nghttp2-client").map(Tool::H2load);
    let (base, other) = match protocol.is_http2() {
        true => (h2load, None),
        false => (program("wrk", "wrk").map(Tool::Wrk), Some(h2load)),
    };
    let base = base.map_err(|reason| format!("{reason}; everything is related to it"))?;
    let mut tools = vec![base];
    let is_plain = protocol == Protocol::Http1;
    tools.extend(has_uring.then_some(Tool::Tare(DriverKind::IoUring, Waiting::Sleep)));
    if is_plain && has_uring {
        tools.push(Tool::Bare);
    } else if is_plain {
        skip("bare", "it takes io_uring");
    }
    tools.push(Tool::Tare(DriverKind::Epoll, Waiting::Sleep));
    if with_polling {
        tools.extend(has_uring.then_some(Tool::Tare(DriverKind::IoUring, Waiting::Poll)));
        tools.push(Tool::Tare(DriverKind::Epoll, Waiting::Poll));
    }
    match env::var_os("SHB").or_else(|| in_path("shb")) {
        _ if !is_plain => {}
        Some(shb) => tools.push(Tool::Shb(shb)),
        None => skip("shb", "neither in PATH nor named by SHB (cargo install shb)"),
    }
    match other {
        Some(Ok(h2load)) => tools.push(h2load),
        Some(Err(reason)) => skip("h2load", &reason),
        None => {}
    }
    Ok(tools)
}

/// The path of a program, or an error that names its package.
pub fn program(name: &str, package: &str) -> Result<OsString, String> {
    in_path(name).ok_or_else(|| format!("{name} is not in PATH: apt-get install {package}"))
}

/// Also looks in `/usr/sbin`, where servers often are, and which only root has in its PATH.
fn in_path(name: &str) -> Option<OsString> {
    let folders = env::var_os("PATH")?;
    let folders = env::split_paths(&folders).chain(["/usr/sbin".into()]);
    let path = folders.map(|folder| folder.join(name)).find(|path| path.is_file())?;
    Some(path.into_os_string())
}

impl Tool {
    pub fn name(&self) -> &'static str {
        match self {
            Tool::Tare(DriverKind::IoUring, Waiting::Poll) => "io_uring, polling",
            Tool::Tare(DriverKind::Epoll, Waiting::Poll) => "epoll, polling",
            Tool::Tare(DriverKind::IoUring, _) => "tare io_uring",
            Tool::Tare(DriverKind::Epoll, _) => "tare epoll",
            Tool::Bare => "bare io_uring",
            Tool::Wrk(_) => "wrk",
            Tool::H2load(_) => "h2load",
            Tool::Shb(_) => "shb",
        }
    }

    /// Whether the tool's load ends after a time instead of a number of requests.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Tool::H2load(_))
    }

    /// One thread and kept connections, each with as many requests in flight as the load has streams.
    pub fn command(&self, cell: &Cell) -> io::Result<Command> {
        let Cell { target, protocol, connections, streams, body_bytes, seconds, requests } = cell;
        let url = format!("{}://{target}/", if protocol.is_tls() { "https" } else { "http" });
        let own = |words| io::Result::Ok((env::current_exe()?.into_os_string(), words));
        let (program, words) = match self {
            Tool::Tare(driver, waiting) => {
                let (driver, protocol) = (driver.name(), word_of(*protocol));
                let waiting = if *waiting == Waiting::Poll { "poll" } else { "sleep" };
                let load =
                    format!("{connections} {seconds} {driver} {body_bytes} 1 {protocol} {streams} {waiting}");
                own(format!("tare {target} {load}"))?
            }
            Tool::Bare => own(format!("bare {target} {connections} {seconds} {body_bytes}"))?,
            Tool::Wrk(path) => (path.clone(), format!("-t1 -c{connections} -d{seconds}s {url}")),
            Tool::H2load(path) => {
                let version = if protocol.is_http2() { format!("-m{streams}") } else { "--h1".to_owned() };
                (path.clone(), format!("{version} -t1 -c{connections} -n{requests} {url}"))
            }
            Tool::Shb(path) => (path.clone(), format!("-t 1 -c {connections} -z {seconds}s --json {url}")),
        };
        let mut command = Command::new(program);
        command.args(words.split(' '));
        Ok(command)
    }
}
