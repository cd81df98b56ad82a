use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use rustix::process::Signal;

use super::{
    super::{
        fallback,
        forks::{Forks, soon},
    },
    *,
};

/// The requests work for 200 ms. Two ticks are 10% of it, and starting a program adds about 1 ms a request.
/// Work that is counted twice would double the share.
fn assert_all(took_ns: u64, work_ns: u64, mode: &str) {
    let share = took_ns as f64 / work_ns as f64;
    assert!((0.9..2.0).contains(&share), "{mode}: {took_ns} ns for {work_ns} ns");
}

#[test]
fn what_children_took_that_were_waited_for_is_counted_wherever_they_ended() {
    for mode in ["alone", "waited", "gateway", "late", "adopted", "recycled"] {
        let server = Forks::start(mode);
        let (roots, mut tally) = ([server.pid()], Tally::default());
        server.ask(3);
        let before = tally.read(&roots);
        let work_ns = server.ask(100);
        assert_all(tally.read(&roots).since(&before).unwrap(), work_ns, mode);
    }
}

#[test]
fn a_worker_that_nobody_waited_for_is_missed() {
    let server = Forks::start("recycled-ignored");
    let (roots, mut tally) = ([server.pid()], Tally::default());
    server.ask(1);
    let before = tally.read(&roots);
    assert_eq!(before.unwaited, 0);
    server.ask(20);
    let now = tally.read(&roots);
    let why = now.since(&before).unwrap_err();
    let CpuUnknown::Unwaited(Unwaited::Seen(ended)) = &why else { panic!("{why:?}") };
    assert!(ended.command == "forks" && ended.pid != server.pid(), "{ended}");
    assert!(now.ns >= before.ns, "what was seen of it is not taken back");
    assert_eq!(now.since(&now), Ok(0), "what ended before counts for nothing later");
}

/// Each entry: process, parent, its own page faults, and those of its children.
fn seen(processes: &[(u32, u32, u64, u64)]) -> Processes {
    let of = |&(pid, parent, faults, children_faults): &(u32, u32, u64, u64)| {
        let process = Identity { pid, started_ticks: 1 };
        let (own_ns, children_ns) = (1, 0);
        let faults = faults + children_faults;
        (
            process,
            SeenProcess { command: String::new(), parent, own_ns, children_ns, faults, children_faults },
        )
    };
    processes.iter().map(of).collect()
}

fn missing(before: &[(u32, u32, u64, u64)], now: &[(u32, u32, u64, u64)]) -> Vec<u32> {
    unwaited(&seen(before), &seen(now)).into_iter().map(|process| process.pid).collect()
}

#[test]
fn a_wait_is_seen_by_the_faults_of_whoever_waited() {
    let before = [(1, 0, 50, 0), (2, 1, 20, 7), (3, 2, 9, 0), (4, 1, 30, 0)];
    assert_eq!(missing(&before, &before), [] as [u32; 0]);
    let ended = |root, middle| [(1, 0, 50, root), (2, 1, 20, middle), (4, 1, 30, 0)];
    assert_eq!(missing(&before, &ended(0, 16)), [] as [u32; 0], "by its parent");
    assert_eq!(missing(&before, &ended(9, 7)), [] as [u32; 0], "by the one above it, which adopts");
    assert_eq!(missing(&before, &ended(0, 7)), [3], "by none");
    assert_eq!(missing(&before, &ended(0, 15)), [3], "another was");
    // It was reaped with all its descendants, and with children that were never seen.
    assert_eq!(missing(&before, &[(1, 0, 50, 36 + 500), (4, 1, 30, 0)]), [] as [u32; 0]);
    assert_eq!(missing(&before, &[(1, 0, 50, 35), (4, 1, 30, 0)]).len(), 1);
    assert_eq!(
        missing(&before, &[(2, 1, 20, 7), (3, 2, 9, 0), (4, 1, 30, 0)]),
        [1],
        "the first has no parent"
    );
}

#[test]
fn another_process_with_the_number_of_one_that_ended_is_another() {
    let mut now = seen(&[(1, 0, 50, 0)]);
    let before = seen(&[(1, 0, 50, 0), (2, 1, 20, 0)]);
    let (_, other) = seen(&[(2, 1, 70, 0)]).pop_first().unwrap();
    now.insert(Identity { pid: 2, started_ticks: 2 }, other);
    assert_eq!(unwaited(&before, &now), [Identity { pid: 2, started_ticks: 1 }]);
}

#[test]
fn a_process_that_loses_its_parent_is_still_one_of_them() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 60 & echo $!; read x"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let sleeper: u32 = line.trim().parse().unwrap();
    let mut tally = Tally::default();
    tally.read(&[child.id()]);
    let has = |tally: &Tally| tally.seen.keys().any(|process| process.pid == sleeper);
    assert!(has(&tally));
    drop(child.stdin.take());
    child.wait().unwrap();
    tally.read(&[]);
    assert!(has(&tally), "it was seen");
    fallback::signal_process(sleeper, Signal::KILL);
    soon(|| !procfs::is_alive(sleeper));
}
