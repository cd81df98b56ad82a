//! The JIT compiler threads of a service. On one CPU they compete with requests, which run slow code until it
//! is compiled. Spring Boot warmed up in 20 s, and in 7 s when its compilers had another CPU.

use std::fs;

use rustix::{
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use super::procfs;

/// Beginnings of their names: 15 bytes. HotSpot, Graal in HotSpot, .NET; Node.js names none.
const NAMES: [&str; 4] = ["C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT", ".NET Tiered Com"];

/// Moves compiler threads whose affinity is exactly `from` to `to`. Other threads stay: a service may have
/// placed one itself, and a runtime may derive its number of threads from their CPUs.
pub(super) fn place(pids: Vec<u32>, from: &[usize], to: &[usize]) {
    let (from, to) = (super::launch::cpu_set(from), super::launch::cpu_set(to));
    let Some((from, to)) = from.zip(to) else { return };
    let threads = pids
        .into_iter()
        .flat_map(|pid| procfs::threads(pid).into_iter().filter(move |thread| is_compiler(pid, *thread)));
    for thread in threads.filter_map(|thread| Pid::from_raw(thread.cast_signed())) {
        if sched_getaffinity(Some(thread)).is_ok_and(|now: CpuSet| now == from) {
            // The thread may have ended. A thread that stays compiles more slowly; `placement` reports it.
            let _as_it_is = sched_setaffinity(Some(thread), &to);
        }
    }
}

fn is_compiler(pid: u32, thread: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm"));
    name.is_ok_and(|name| NAMES.contains(&name.trim_end()))
}

#[cfg(test)]
mod tests {
    use std::{
        sync::mpsc,
        thread::{Builder, JoinHandle},
    };

    use super::*;
    use crate::cpus;

    /// Threads with these names; each ends when its sender is dropped.
    fn threads(names: &[&str]) -> Vec<(Pid, mpsc::Sender<()>, JoinHandle<()>)> {
        let start = |name: &&str| {
            let (end, ended) = mpsc::channel::<()>();
            let (tell, told) = mpsc::channel();
            let body = move || {
                tell.send(rustix::thread::gettid()).unwrap();
                let _its_sender_is_dropped = ended.recv();
            };
            let handle = Builder::new().name((*name).to_owned()).spawn(body).unwrap();
            (told.recv().unwrap(), end, handle)
        };
        names.iter().map(start).collect()
    }

    #[test]
    #[expect(clippy::disallowed_macros, reason = "a test that is left out says so")]
    fn compilers_are_moved_and_moved_back_and_no_other_thread() {
        let all = cpus::available();
        let [first, .., last] = all[..] else {
            println!("SKIPPED: one CPU has no other to move to");
            return;
        };
        let threads = threads(&["C2 CompilerThread0", "C1 CompilerThread0", "http-nio-8080"]);
        let set = |cpus: &[usize]| super::super::launch::cpu_set(cpus).unwrap();
        let now = |which: usize| sched_getaffinity(Some(threads[which].0)).unwrap();
        threads.iter().for_each(|(thread, ..)| sched_setaffinity(Some(*thread), &set(&[first])).unwrap());
        // The service itself placed this thread.
        sched_setaffinity(Some(threads[1].0), &set(&[last])).unwrap();
        let me = std::process::id();
        place(vec![me], &[first], &[first, last]);
        assert_eq!([0, 1, 2].map(now), [set(&[first, last]), set(&[last]), set(&[first])]);
        place(vec![me], &[first, last], &[first]);
        assert_eq!([0, 1, 2].map(now), [set(&[first]), set(&[last]), set(&[first])]);
        for (_, end, handle) in threads {
            drop(end);
            handle.join().unwrap();
        }
    }
}
