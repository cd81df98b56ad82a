use super::{
    super::{
        forks::Forks,
        unknown::{CpuUnknown, Unwaited},
    },
    *,
};

fn meter(server: &Forks) -> (Meter, [u32; 1]) {
    (Meter::of(&[server.pid()], &[server.pid()]), [server.pid()])
}

/// Whether this kernel has the counters and this user may use them.
fn has_counters() -> bool {
    let has = syscall::task_clock(std::process::id(), Heirs::All).is_ok();
    if !has {
        crate::message!("skipped: the kernel allows no counters");
    }
    has
}

#[test]
fn processes_that_nobody_sees_and_nobody_waits_for_are_noticed() {
    if !has_counters() {
        return;
    }
    for mode in ["ignored", "orphan", "daemon"] {
        let server = Forks::start(mode);
        let (mut meter, roots) = meter(&server);
        server.ask(20);
        let before = meter.read(&roots);
        server.ask(20);
        let why = meter.read(&roots).since(&before).unwrap_err();
        assert_eq!(why, CpuUnknown::Unwaited(Unwaited::Unseen), "{mode}");
        assert!(meter.followed.is_none(), "{mode}: they say no more");
    }
}

#[test]
fn a_server_that_loses_nothing_has_all_its_time_and_pays_for_no_counters() {
    for mode in ["alone", "waited", "gateway", "adopted", "late", "recycled"] {
        let server = Forks::start(mode);
        let (mut meter, roots) = meter(&server);
        let before = meter.read(&roots);
        let work_ns = server.ask(100);
        let took_ns = meter.read(&roots).since(&before).unwrap_or_else(|why| panic!("{mode}: {why:?}"));
        let share = took_ns as f64 / work_ns as f64;
        // Starting a program for each request adds about 1 ms; work counted twice would double the share.
        assert!((0.9..2.0).contains(&share), "{mode}: {took_ns} ns for {work_ns} ns");
        // What the hypervisor stole meanwhile may hide an error: then more work tells.
        for _ in 0..10 {
            if mode != "alone" || meter.followed.is_none() {
                break;
            }
            server.ask(100);
            meter.read(&roots);
        }
        assert!(meter.followed.is_none() || mode != "alone", "the processes say as much");
    }
}
