//! Processes: a server in its own process, so that it can be stopped, killed, pinned and excluded from memory
//! figures; and the limits and usage of this process.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use tare_load::Protocol;

use super::fixed::{Fixed, body};
use super::http2::serve_http2;
use super::tls::{serve_tls, server_config};

/// A server in its own process. It dies with this value, and with the thread that started it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub target: SocketAddr,
}

/// The main function of a [`Server`]: it serves a body of `body_bytes` bytes and prints its address. Plain
/// HTTP/1.1 is fast.
pub fn serve_in_process(body_bytes: usize, protocol: Protocol) -> io::Result<()> {
    let body = body(body_bytes);
    if protocol == Protocol::Http1 {
        return serve_until_parent_ends(&Fixed { body, ..Fixed::hello() });
    }
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {body_bytes}\r\n\r\n");
    let target = match protocol.is_http2() {
        true => serve_http2(protocol, &[], move |mut peer| peer.always(&body)),
        false => {
            serve_tls(server_config(&[]), move |mut peer| peer.always([head.as_bytes(), &body].concat()))
        }
    };
    println!("{target}");
    io::stdout().flush()?;
    loop {
        std::thread::park();
    }
}

/// The same for any server.
pub fn serve_until_parent_ends(server: &Fixed) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?);
    io::stdout().flush()?;
    server.serve_on(&listener)
}

impl Server {
    /// The example `server` beside the test that asks for it.
    pub fn example(body_bytes: usize) -> Server {
        Server::example_by(body_bytes, Protocol::Http1)
    }

    /// The same by this protocol.
    pub fn example_by(body_bytes: usize, protocol: Protocol) -> Server {
        let test = std::env::current_exe().unwrap();
        let path = test.parent().and_then(Path::parent).unwrap().join("examples/server");
        assert!(path.exists(), "{} is not built: cargo build -p tare-load --examples", path.display());
        let mut command = Command::new(path);
        command.args([&body_bytes.to_string(), protocol.name()]);
        Server::start(command).unwrap()
    }

    /// Starts a command that ends in [`serve_in_process`].
    pub fn start(mut command: Command) -> io::Result<Server> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        match line.trim().parse() {
            Ok(target) => Ok(Server { child, target }),
            Err(_) => {
                child.kill()?;
                child.wait()?;
                Err(io::Error::other(format!("the server says {line:?} instead of its address")))
            }
        }
    }

    /// CPU time of its one thread. The process must be stopped, or the most recent time may be missing.
    pub fn cpu_ns(&self) -> u64 {
        let schedstat = std::fs::read_to_string(format!("/proc/{}/schedstat", self.child.id())).unwrap();
        schedstat.split(' ').next().unwrap().parse().unwrap()
    }

    /// Sends SIGSTOP, SIGCONT or SIGKILL.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Raises the number of files that this process and its children may open, or returns why not.
pub fn raise_descriptors(count: u64) -> Result<(), String> {
    let allowed = descriptors(count);
    let advice = || format!("{allowed} open files are allowed, not {count}: raise `ulimit -Hn`, or be root");
    if allowed >= count { Ok(()) } else { Err(advice()) }
}

/// The number of files that this process and its children may open, after an attempt to raise it.
pub fn descriptors(wanted: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < wanted) {
        let most = maximum.unwrap_or(u64::MAX);
        let beyond = Rlimit { current: Some(wanted), maximum: maximum.map(|_| most.max(wanted)) };
        let within = Rlimit { current: Some(wanted.min(most)), maximum };
        // Exceeding the hard limit takes root, and not every root may do so.
        let _refused = setrlimit(Resource::Nofile, beyond).or_else(|_| setrlimit(Resource::Nofile, within));
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Resident memory of this process.
pub fn rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

/// The CPUs that this process may use.
pub fn cpus() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// Pins this thread, and every process it starts from now on, to these CPUs.
pub fn pin(cpus: &[usize]) {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    sched_setaffinity(None, &set).unwrap();
}
