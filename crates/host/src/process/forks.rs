//! A test server that does its work in short-lived processes.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::port::free_port;

/// CPU time of each request, in whichever process.
const BURN_NS: u64 = 2_000_000;

/// A server that is killed when the test ends.
pub(super) struct Forks {
    process: Child,
    port: u16,
    _program: tempfile::TempDir,
}

impl Forks {
    pub(super) fn start(mode: &str) -> Forks {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("forks");
        compile(&program);
        let port = free_port();
        let mut command = Command::new(&program);
        let process = command.arg(mode).env("PORT", port.to_string()).stdin(Stdio::null()).spawn().unwrap();
        let forks = Forks { process, port, _program: folder };
        soon(|| TcpStream::connect(("127.0.0.1", forks.port)).is_ok());
        forks
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Sends this number of requests, one after the other; returns the least CPU time that they take.
    pub(super) fn ask(&self, times: u64) -> u64 {
        for _ in 0..times {
            let mut client = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let mut answer = [0; 15];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200 OK");
        }
        // The last process may still run when its answer has arrived.
        thread::sleep(Duration::from_millis(50));
        times * BURN_NS
    }
}

impl Drop for Forks {
    fn drop(&mut self) {
        let _it_may_have_ended = self.process.kill();
        let _ = self.process.wait();
    }
}

fn compile(program: &Path) {
    let source = program.with_extension("c");
    std::fs::write(&source, include_str!("forks.c")).unwrap();
    let compiled = Command::new("cc").arg("-O1").arg("-o").arg(program).arg(&source).arg("-pthread").output();
    let compiled = compiled.unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

pub(super) fn soon(what: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !what() {
        assert!(Instant::now() < end, "not within 10 s");
        thread::sleep(Duration::from_millis(1));
    }
}
