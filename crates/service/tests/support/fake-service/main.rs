//! A test service: it satisfies all contracts with the standard library's sockets, or misbehaves in the way
//! named by `FAKE` (`fake-service --help` lists them).
//!
//! Other settings come from PORT, THREADS, DELAY_MS and DATA_ITEMS, as for every service. It has a thread for
//! each connection; THREADS limits the concurrent delays. As `fake-service watchdog` and `service-init` it
//! stands in for Tare; with `--bare` it answers `GET /` by the contract `bare` instead of `hello`.
#![warn(unreachable_pub)]

mod connection;
mod http;
mod modes;
mod routes;
mod sessions;
mod table;

use connection::Server;
use modes::Mode;
use routes::Routes;
use signal_hook::consts::SIGTERM;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use table::Items;

/// The argument that selects the contract `bare`.
const BARE: &str = "--bare";
/// The hidden argument of the process left by leaks-child.
const LEFT_IN_GROUP: &str = "left-in-group";
/// The hidden argument of the process left by leaks-session.
const LEFT_IN_SESSION: &str = "left-in-session";
/// Longest life of a process that a test has forgotten.
const LIFE: Duration = Duration::from_secs(600);
/// More open connections than verification can have for an instant.
const LOADED: u64 = 8;
const SLOW_START: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("--version") => println!("{}", env!("CARGO_PKG_VERSION")),
        Some("--help") => print!("{}", Mode::help()),
        Some(tare_host::process::watchdog::SUBCOMMAND) => {
            tare_host::process::watchdog::main(std::io::stdin(), std::io::stdout());
        }
        Some(tare_host::process::init::SUBCOMMAND) => {
            let command: Vec<_> = std::env::args_os().skip(2).collect();
            return tare_host::process::init::main(&command).into();
        }
        Some(LEFT_IN_GROUP) => linger(false),
        Some(LEFT_IN_SESSION) => linger(true),
        None => return begin(false),
        Some(BARE) => return begin(true),
        Some(other) => {
            eprintln!("unknown argument {other:?}: try --help");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn begin(bare: bool) -> ExitCode {
    match settings() {
        Ok(settings) => run(settings, bare),
        Err(line) => {
            eprintln!("{line}");
            ExitCode::from(2)
        }
    }
}

struct Settings {
    mode: Mode,
    port: u16,
    threads: u32,
    delay_ms: u32,
    items: Items,
}

fn settings() -> Result<Settings, String> {
    let number = |name: &str, default: Option<u32>, low: u32, high: u32| {
        let text = match (std::env::var(name), default) {
            (Ok(text), _) => text,
            (Err(_), Some(default)) => return Ok(default),
            (Err(_), None) => {
                return Err(format!("{name} is not set: it must be an integer from {low} to {high}"));
            }
        };
        let value = text.parse().ok().filter(|value| (low..=high).contains(value));
        value.ok_or_else(|| format!("{name} is {text:?}, but must be an integer from {low} to {high}"))
    };
    Ok(Settings {
        mode: std::env::var("FAKE").map_or(Ok(Mode::Correct), |name| Mode::parse(&name))?,
        port: number("PORT", None, 1, 65_535)? as u16,
        threads: number("THREADS", Some(1), 1, 1024)?,
        delay_ms: number("DELAY_MS", Some(0), 0, 60_000)?,
        items: Items::given()?,
    })
}

fn run(settings: Settings, bare: bool) -> ExitCode {
    let Settings { mode, port, threads, delay_ms, items } = settings;
    let server = Arc::new(Server::new(mode, Routes::new(mode, bare, threads, delay_ms, items), threads));
    let prepared = match mode {
        Mode::IgnoresSigterm => ignore_sigterm(),
        _ => end_on_sigterm(Arc::clone(&server)),
    };
    if let Err(error) = prepared {
        eprintln!("cannot handle SIGTERM: {error}");
        return ExitCode::FAILURE;
    }
    match mode {
        Mode::NeverReady => std::thread::sleep(LIFE),
        Mode::ExitsEarly => {
            eprintln!("the fake database is not reachable");
            return ExitCode::FAILURE;
        }
        Mode::SlowStart | Mode::StartsLateAndSteps => std::thread::sleep(SLOW_START),
        Mode::LeavesCpus => leave_cpus(),
        // Any user may lower a priority.
        Mode::LowersPriority => {
            rustix::process::setpriority_process(None, 7).expect("it is less than before")
        }
        Mode::RaisesPriority => {
            rustix::process::setpriority_process(None, -19).expect("only root may have more")
        }
        Mode::LeaksChild => leave(LEFT_IN_GROUP),
        Mode::LeaksSession => leave(LEFT_IN_SESSION),
        _ => {}
    }
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("cannot listen on 127.0.0.1:{port}: {error}");
            return ExitCode::FAILURE;
        }
    };
    for stream in listener.incoming().flatten() {
        let server = Arc::clone(&server);
        // An error of a connection ends only that connection.
        std::thread::spawn(move || server.serve(stream));
    }
    ExitCode::SUCCESS
}

fn end_on_sigterm(server: Arc<Server>) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            let loaded = server.open.load(Ordering::SeqCst) > LOADED;
            match server.mode {
                Mode::DiesLoaded if loaded => std::process::exit(1),
                Mode::FailsAtSigterm => std::process::exit(1),
                Mode::EndsWith143 => std::process::exit(143),
                Mode::HangsLoaded if loaded => std::thread::sleep(LIFE),
                _ => std::process::exit(0),
            }
        }
    });
    Ok(())
}

/// The kernel ignores CPUs that do not exist.
fn leave_cpus() {
    let mut all = rustix::thread::CpuSet::new();
    (0..rustix::thread::CpuSet::MAX_CPU).for_each(|cpu| all.set(cpu));
    rustix::thread::sched_setaffinity(None, &all).expect("this machine has CPUs");
}

fn ignore_sigterm() -> std::io::Result<()> {
    signal_hook::flag::register(SIGTERM, Arc::new(AtomicBool::new(false))).map(|_| ())
}

/// Starts the process to leave behind, and returns when it is ready.
fn leave(how: &str) {
    let Ok(own) = std::env::current_exe() else { return };
    let child = Command::new(own).arg(how).stdout(Stdio::piped()).spawn();
    if let Some(mut settled) = child.ok().and_then(|child| child.stdout) {
        let _ = std::io::Read::read(&mut settled, &mut [0]);
    }
}

/// The process left behind: it survives SIGTERM and holds no resources.
fn linger(in_session: bool) {
    let _ = ignore_sigterm();
    if in_session {
        let _ = rustix::process::setsid();
    }
    println!("settled");
    std::thread::sleep(LIFE);
}
