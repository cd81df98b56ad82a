//! Supervision of services that misbehave on purpose: each mode of `fake-service` and its expected outcome,
//! with this machine's isolation and without any. In all cases no process may be left.

mod bench;
mod killed;
mod sandboxed;

use bench::*;
use std::fs;
use std::time::Instant;
use tare_host::process::{
    Cgroups, Exit, Isolation, Launch, NotReadyReason, RunningService, StartFailure, Stopped, Unready,
    port_in_use,
};

#[test]
fn each_mode_has_its_outcome() {
    type Expected = fn(&Stopped) -> bool;
    let clean: Expected = |stopped| matches!(stopped, Stopped::Clean { status: Exit::Status(0), .. });
    let late: Expected = |stopped| matches!(stopped, Stopped::StoppedLate { .. });
    let leaked: Expected = |stopped| match stopped {
        Stopped::Leaked { status: Exit::Status(0), processes } => {
            processes.len() == 1 && !is_alive(processes[0].pid)
        }
        _ => false,
    };
    let table = [
        ("correct", GRACE, clean),
        ("slow-start", GRACE, clean),
        ("closes-after-response", GRACE, clean),
        ("resets-after-response", GRACE, clean),
        ("ignores-sigterm", SHORT, late),
        ("leaks-child", GRACE, leaked),
        ("leaks-session", GRACE, leaked),
    ];
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        for (mode, grace, expected) in table {
            let (service, port) = bench.start_ready(mode);
            let pid = service.pid().unwrap();
            let stopped = service.stop(grace);
            assert!(expected(&stopped), "{mode}: {stopped}");
            assert!(!is_alive(pid) && port_in_use(port).is_none(), "{mode}");
        }
    }
}

#[test]
fn what_ends_early_is_noticed_at_once_with_its_last_words() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (service, port) = bench.start("exits-early");
        let began = Instant::now();
        let unready = service.wait_ready(READY_WITHIN, || get(port, "/").is_some()).unwrap_err();
        let stderr_tail = "the fake database is not reachable".to_string();
        assert_eq!(
            unready,
            Unready::ExitedEarly { status: Exit::Status(1), left: vec![], stderr_tail: stderr_tail.clone() }
        );
        assert!(began.elapsed() < READY_WITHIN / 2);
        let expected = Stopped::ExitedBefore { status: Exit::Status(1), stderr_tail, leaked: vec![] };
        assert_eq!(service.stop(GRACE), expected);
    }
}

#[test]
fn what_never_answers_is_not_ready() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (service, port) = bench.start("never-ready");
        let unready = service.wait_ready(SHORT, || get(port, "/").is_some()).unwrap_err();
        let hindrance = Some(NotReadyReason::Nowhere { stderr: String::new() });
        assert_eq!(unready, Unready::NotReady { after: SHORT, hindrance, stderr_tail: String::new() });
        assert!(service.stop(GRACE).is_clean());
    }
}

#[test]
fn a_right_answer_from_elsewhere_does_not_make_a_dead_service_ready() {
    let bench = Bench::new(Isolation::detect());
    let (service, _) = bench.start("exits-early");
    assert!(within(READY_WITHIN, || service.has_exited().is_some()));
    assert!(matches!(service.wait_ready(GRACE, || true), Err(Unready::ExitedEarly { .. })));
}

#[test]
fn a_service_that_dies_under_load_has_ended_before() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (service, port) = bench.start_ready("crashes-under-load");
        while get(port, "/").is_some() {}
        assert!(within(GRACE, || service.has_exited().is_some()));
        let stopped = service.stop(GRACE);
        assert!(matches!(stopped, Stopped::ExitedBefore { status: Exit::Status(3), .. }), "{stopped}");
    }
}

#[test]
fn a_service_killed_from_outside_is_seen_dead_even_frozen() {
    for isolation in isolations() {
        // A process frozen by a v1 freezer dies only after it is thawed.
        let frozen_dies = !matches!(isolation.freezer, Cgroups::V1(_));
        let bench = Bench::new(isolation);
        let (service, _) = bench.start_ready("correct");
        if frozen_dies {
            service.freeze().unwrap();
        }
        kill_9(service.pid().unwrap());
        assert!(within(GRACE, || service.has_exited() == Some(Exit::Signal(9))));
        let stopped = service.stop(GRACE);
        assert!(matches!(stopped, Stopped::ExitedBefore { status: Exit::Signal(9), .. }), "{stopped}");
    }
}

#[test]
fn a_frozen_service_stands_still_and_answers_after_the_thaw() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (service, port) = bench.start_ready("correct");
        // A long request, during which it is frozen.
        let mut busy = ask(port, "/benchmark?count=1000000").unwrap();
        let idle_ns = cpu_ns(&service);
        assert!(within(GRACE, || cpu_ns(&service) > idle_ns + 5_000_000));
        service.freeze().unwrap();
        let frozen_ns = cpu_ns(&service);
        let mut other = ask(port, "/").expect("the kernel still accepts for it");
        assert_eq!(answer(&mut other, SHORT), None);
        assert_eq!(cpu_ns(&service), frozen_ns, "{}", bench.supervisor.isolation());
        service.thaw().unwrap();
        assert!(answer(&mut other, GRACE).unwrap().ends_with("Hello world!"));
        assert!(answer(&mut busy, GRACE).unwrap().contains("Index 9"));
        assert!(cpu_ns(&service) > frozen_ns);
        service.freeze().unwrap();
        let stopped = service.stop(GRACE);
        assert!(stopped.is_clean(), "stopped while frozen: {stopped}");
    }
}

#[test]
fn freezing_reaches_what_has_left_the_process_group() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (service, _) = bench.start_ready("leaks-session");
        assert_eq!(service.pids().len(), 2);
        service.freeze().unwrap();
        service.thaw().unwrap();
        drop(service);
    }
}

fn cpu_ns(service: &RunningService) -> u64 {
    service.cpu_ns().unwrap().unwrap()
}

#[test]
fn figures_are_those_of_the_service() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (service, port) = bench.start_ready("correct");
        let (before_ns, rss, switches) =
            (cpu_ns(&service), service.rss_bytes_peak(), service.context_switches());
        assert!(get(port, "/benchmark?count=1000000").is_some());
        // A million strings take tens of megabytes and tens of milliseconds.
        assert!(cpu_ns(&service) > before_ns + 5_000_000);
        assert!(service.rss_bytes_peak() > rss + 20_000_000);
        assert!(service.context_switches() > Some(0) && switches > Some(0));
        assert!(service.threads() >= 2);
        assert_eq!(service.pids(), [service.pid().unwrap()]);
    }
}

#[test]
fn dropping_a_service_leaves_nothing() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (service, port) = bench.start_ready("leaks-session");
        service.freeze().unwrap();
        let pids = service.pids();
        drop(service);
        assert!(pids.iter().all(|&pid| !is_alive(pid)) && port_in_use(port).is_none());
    }
}

#[test]
fn the_program_gets_its_cpus_its_environment_and_clean_signals() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let last = std::thread::available_parallelism().unwrap().get() - 1;
        let status = bench.output_of(&["cat", "/proc/self/status"], vec![last]);
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_string();
        assert_eq!(field("Cpus_allowed_list:"), last.to_string());
        // The C library reserves 32 and 33, so they keep the parent's disposition.
        let ignored = u64::from_str_radix(&field("SigIgn:"), 16).unwrap() & !(0b11 << 31);
        assert_eq!(ignored, 0);
        assert_eq!(field("SigBlk:"), "0000000000000000");
        assert!(bench.output_of(&["env"], vec![]).lines().any(|line| line == "FAKE=correct"));
    }
}

#[test]
fn no_thread_leaves_a_cpuset_and_its_bounds_can_be_moved() {
    let isolation = Isolation::detect();
    let cpus = std::thread::available_parallelism().unwrap().get();
    if cpus < 2 {
        return tare_host::fixture::skip_always("cpusets", "there is one CPU");
    }
    if let Cgroups::None(reason) = &isolation.pinning {
        return tare_host::fixture::skip_always("cpusets", reason);
    }
    let bench = Bench::new(isolation);
    let allowed = |pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list.unwrap().trim().to_owned()
    };
    let (mut launch, _) = bench.launch("correct");
    launch.cpus = vec![1];
    // It requests other CPUs, gets only its own, and continues.
    launch.command =
        ["sh", "-c", "taskset -pc 0-1 $$; taskset -pc 0 $$; exec sleep 60"].map(Into::into).into();
    let service = RunningService::start(&launch, &bench.supervisor).unwrap();
    let pid = service.pid().unwrap();
    let is_asleep = || fs::read_to_string(format!("/proc/{pid}/comm")).unwrap().trim() == "sleep";
    assert!(within(READY_WITHIN, is_asleep));
    assert_eq!(allowed(pid), "1");
    service.place_compilers(&[1], &[0, 1]);
    service.place_compilers(&[0, 1], &[1]);
    assert_eq!(allowed(pid), "1");
    drop(service);
}

#[test]
fn what_cannot_be_started_says_why() {
    let bench = Bench::new(Isolation::detect());
    let folder = bench.folder.path().display().to_string();
    fs::write(bench.folder.path().join("not-executable"), "").unwrap();
    type Change<'a> = &'a dyn Fn(&mut Launch);
    let table: [(Change, String); 7] = [
        (&|launch| launch.command.clear(), "its command is empty".into()),
        (
            &|launch| launch.command = vec!["./no-such".into()],
            format!("program \"./no-such\" was not found in {folder:?}"),
        ),
        (
            &|launch| launch.command = vec!["no-such-at-all".into()],
            "program \"no-such-at-all\" was not found on PATH".into(),
        ),
        (&|launch| launch.command = vec!["./not-executable".into()], "is not executable".into()),
        (&|launch| launch.cpus = vec![0, 1000], "cannot be pinned to CPU 1000".into()),
        (&|launch| launch.dir = "/no/such".into(), "its folder \"/no/such\" does not exist".into()),
        (&|launch| launch.stderr = "/no/such/stderr".into(), "cannot make \"/no/such/stderr\"".into()),
    ];
    for (change, expected) in table {
        let (mut launch, _) = bench.launch("correct");
        change(&mut launch);
        let error = RunningService::start(&launch, &bench.supervisor).unwrap_err().to_string();
        assert!(error.contains(&expected), "{error:?} does not say {expected:?}");
    }
}

#[test]
fn a_script_without_its_interpreter_is_explained_and_leaves_no_group() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(Isolation::detect());
    let script = bench.folder.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let (mut launch, _) = bench.launch("correct");
    launch.command = vec!["./script".into()];
    let error = RunningService::start(&launch, &bench.supervisor).unwrap_err();
    assert!(matches!(error.why, StartFailure::Execute { .. }), "{error}");
    assert!(error.to_string().contains("interpreter"));
}

#[test]
fn a_port_in_use_is_refused_with_its_owner() {
    let bench = Bench::new(Isolation::detect());
    let (service, port) = bench.start_ready("correct");
    let (mut launch, _) = bench.launch("correct");
    launch.port = Some(port);
    let error = RunningService::start(&launch, &bench.supervisor).unwrap_err().to_string();
    assert!(
        error.contains(&format!("port {port} is in use by process {}", service.pid().unwrap())),
        "{error}"
    );
}

#[test]
fn a_watchdog_that_was_killed_is_replaced_before_a_service_runs_on() {
    for isolation in isolations() {
        let bench = Bench::new(isolation);
        let (before, _) = bench.start_ready("correct");
        before.freeze().unwrap();
        let first = bench.supervisor.watchdog().pid();
        kill_9(first);
        assert!(within(GRACE, || {
            before.thaw().unwrap();
            bench.supervisor.watchdog().pid() != first
        }));
        let (after, _) = bench.start_ready("correct");
        for service in [before, after] {
            assert!(service.has_exited().is_none());
            assert!(service.stop(GRACE).is_clean());
        }
    }
}
