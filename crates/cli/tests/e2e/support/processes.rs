//! Queries `/proc`, and sends signals by PID.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    sync::atomic::{AtomicU16, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// Live processes with an environment entry of this beginning. (A zombie has none.)
pub fn carrying(entry: &str) -> Vec<u32> {
    let carries = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|found| found.starts_with(entry.as_bytes()))
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(carries).collect()
}

/// Sends a signal to one process; a process that has gone is no error.
pub fn send(pid: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal);
}

/// Polls until `yes` is true or the time is over.
pub fn within(time: Duration, mut yes: impl FnMut() -> bool) -> bool {
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

/// A free port, below those that tare and the kernel hand out.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = (std::process::id() % 1000) as u16;
    let ports = || 9000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 1000;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    std::iter::repeat_with(ports).take(1000).find(is_free).expect("a free port")
}

/// The errors that `check` finds in `items`, a number of which are checked in parallel.
pub fn wrong_of<T: Sync>(
    items: &[T],
    at_once: usize,
    check: impl Fn(&T) -> Option<String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = || items.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(mine).filter_map(&check).collect::<Vec<String>>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}
