//! Helpers for tests of supervision: services made from `fake-service`, and checks for live processes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_host::process::{Cgroups, Exit, Isolation, Launch, RunningService, Stopped, Supervisor, free_port};

pub const FAKE: &str = env!("CARGO_BIN_EXE_fake-service");
pub const READY_WITHIN: Duration = Duration::from_secs(20);
pub const GRACE: Duration = Duration::from_secs(10);
/// Time limit for tests of something that never happens.
pub const SHORT: Duration = Duration::from_millis(400);

/// The detected isolation, none, and older means if both exist.
pub fn isolations() -> Vec<Isolation> {
    let detected = Isolation::detect();
    let older = match (&detected.freezer, Path::new("/sys/fs/cgroup/freezer")) {
        (Cgroups::V2(v2), v1) if v1.join("cgroup.procs").exists() => Some(Isolation {
            freezer: Cgroups::V1(v1.into()),
            accounting: Cgroups::V2(v2.clone()),
            killing: Cgroups::None("a test".into()),
            pinning: Cgroups::None("a test".into()),
        }),
        _ => None,
    };
    [Some(detected), Some(Isolation::none("a test")), older].into_iter().flatten().collect()
}

/// A supervisor and a folder for the output of one test's services.
pub struct Bench {
    pub supervisor: Supervisor,
    pub folder: tempfile::TempDir,
}

impl Bench {
    pub fn new(isolation: Isolation) -> Self {
        let supervisor = Supervisor::start(Path::new(FAKE), isolation).unwrap();
        Self { supervisor, folder: tempfile::tempdir().unwrap() }
    }

    pub fn launch(&self, mode: &str) -> (Launch, u16) {
        let port = free_port();
        let env = [("PORT", port.to_string()), ("FAKE", mode.to_string())];
        let launch = Launch {
            name: mode.into(),
            command: vec![FAKE.into()],
            dir: self.folder.path().into(),
            env: env.map(|(key, value)| (key.into(), value)).into(),
            port: Some(port),
            stdout: self.folder.path().join(format!("stdout-{port}")),
            stderr: self.folder.path().join(format!("stderr-{port}")),
            ..Launch::default()
        };
        (launch, port)
    }

    pub fn start(&self, mode: &str) -> (RunningService, u16) {
        let (launch, port) = self.launch(mode);
        (RunningService::start(&launch, &self.supervisor).unwrap(), port)
    }

    pub fn start_ready(&self, mode: &str) -> (RunningService, u16) {
        let (service, port) = self.start(mode);
        service.wait_ready(READY_WITHIN, || get(port, "/").is_some()).unwrap();
        (service, port)
    }

    /// Runs a system program to its end and returns its output.
    pub fn output_of(&self, command: &[&str], cpus: Vec<usize>) -> String {
        let (mut launch, _) = self.launch("correct");
        launch.command = command.iter().map(ToString::to_string).collect();
        launch.cpus = cpus;
        let service = RunningService::start(&launch, &self.supervisor).unwrap();
        assert!(within(READY_WITHIN, || service.has_exited().is_some()));
        assert!(matches!(service.stop(GRACE), Stopped::ExitedBefore { status: Exit::Status(0), .. }));
        fs::read_to_string(launch.stdout).unwrap()
    }
}

/// The answer to a GET, if its status is 200.
pub fn get(port: u16, path: &str) -> Option<String> {
    answer(&mut ask(port, path)?, Duration::from_secs(5)).filter(|answer| answer.starts_with("HTTP/1.1 200"))
}

pub fn ask(port: u16, path: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
    Some(stream)
}

pub fn answer(stream: &mut TcpStream, timeout: Duration) -> Option<String> {
    stream.set_read_timeout(Some(timeout)).ok()?;
    let mut answer = Vec::new();
    // Bytes before a reset or a timeout count as an answer too.
    let _ = stream.read_to_end(&mut answer);
    (!answer.is_empty()).then(|| String::from_utf8_lossy(&answer).into_owned())
}

pub fn within(timeout: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + timeout;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(") ") else { return false };
    // A process whose main thread alone has ended has the state of a dead one, and other threads.
    let has_other_threads = rest.split(' ').nth(17).is_some_and(|threads| threads != "1" && threads != "0");
    !rest.starts_with(['Z', 'X']) || has_other_threads
}

pub fn kill_9(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Live processes marked as members of groups made by `maker`.
pub fn marked(maker: u32) -> Vec<u32> {
    let mark = format!("TARE_GROUP=tare-{maker}-");
    let has_mark = |&pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry.starts_with(mark.as_bytes())) && is_alive(pid)
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has_mark).collect()
}

/// Cgroups below all mounts whose names contain `maker`.
pub fn cgroups(maker: u32) -> Vec<PathBuf> {
    fn walk(folder: &Path, prefix: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(prefix) {
                    found.push(entry.path());
                }
                walk(&entry.path(), prefix, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new("/sys/fs/cgroup"), &format!("tare-{maker}-"), &mut found);
    found
}

/// Whether this machine offers no cgroups, so that there are none to check.
pub fn no_cgroups(isolation: &Isolation) -> bool {
    matches!((&isolation.freezer, &isolation.accounting), (Cgroups::None(_), Cgroups::None(_)))
}
