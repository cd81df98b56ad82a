//! Services in a sandbox: what they see, and that they are supervised like all others.

use std::fs;

use tare_host::process::{Exit, Isolation, Launch, RunningService, Sandbox, Stopped, port_in_use};

use super::bench::*;

/// A bench whose services have PID namespaces. If the kernel refuses them, absent with a message.
fn bench(isolation: Isolation) -> Option<Bench> {
    let bench = Bench::new(isolation);
    if let Err(why) = bench.supervisor.own_pids() {
        tare_host::fixture::skip_always("process namespaces", why);
        return None;
    }
    Some(bench)
}

fn alone() -> Sandbox {
    Sandbox { own_pids: true, ..Sandbox::default() }
}

fn start_ready(bench: &Bench, mode: &str) -> (RunningService, u16) {
    let (launch, port) = bench.launch(mode);
    let service = RunningService::start(&Launch { sandbox: alone(), ..launch }, &bench.supervisor).unwrap();
    service.wait_ready(READY_WITHIN, || get(port, "/").is_some()).unwrap();
    (service, port)
}

/// Runs a shell to its end.
fn shell(bench: &Bench, script: &str, sandbox: Sandbox) -> (Stopped, String) {
    let (launch, _) = bench.launch("correct");
    let command = ["sh", "-c", script].map(ToOwned::to_owned).to_vec();
    let launch = Launch { command, sandbox, ..launch };
    let service = RunningService::start(&launch, &bench.supervisor).unwrap();
    assert!(within(READY_WITHIN, || service.has_exited().is_some()));
    (service.stop(GRACE), fs::read_to_string(launch.stdout).unwrap())
}

#[test]
fn each_mode_has_its_outcome_below_an_init_too() {
    type Expected = fn(&Stopped) -> bool;
    let clean: Expected = |stopped| matches!(stopped, Stopped::Clean { status: Exit::Status(0), .. });
    let late: Expected = |stopped| matches!(stopped, Stopped::StoppedLate { .. });
    let table = [
        ("correct", GRACE, clean),
        ("ignores-sigterm", SHORT, late),
        // When an init ends, the kernel kills the rest of its PID namespace.
        ("leaks-child", GRACE, clean),
        ("leaks-session", GRACE, clean),
    ];
    for bench in isolations().into_iter().filter_map(bench) {
        for (mode, grace, expected) in table {
            let (service, port) = start_ready(&bench, mode);
            let pids = service.pids();
            service.freeze().unwrap();
            service.thaw().unwrap();
            let stopped = service.stop(grace);
            assert!(expected(&stopped), "{mode}: {stopped}");
            assert!(!pids.iter().any(|&pid| is_alive(pid)) && port_in_use(port).is_none(), "{mode}");
        }
    }
}

#[test]
fn how_a_program_ended_is_known_through_its_init() {
    let Some(bench) = bench(Isolation::detect()) else { return };
    for (script, expected) in [
        ("exit 0", Exit::Status(0)),
        ("exit 3", Exit::Status(3)),
        ("kill -SEGV $$", Exit::Signal(11)),
        ("kill -KILL $$", Exit::Signal(9)),
        // An orphan ends first.
        ("(sleep 0.05 &); sleep 0.2; exit 4", Exit::Status(4)),
    ] {
        let (stopped, _) = shell(&bench, script, alone());
        assert!(
            matches!(&stopped, Stopped::ExitedBefore { status, .. } if *status == expected),
            "{script}: {stopped}"
        );
    }
}

#[test]
fn the_figures_are_those_of_the_service_and_not_of_its_init() {
    for bench in isolations().into_iter().filter_map(bench) {
        let (service, port) = start_ready(&bench, "correct");
        let init = service.pid().unwrap();
        let pids = service.pids();
        assert!(pids.len() == 1 && !pids.contains(&init), "{pids:?} below {init}");
        let rss = service.rss_bytes_peak();
        let of_init = fs::read_to_string(format!("/proc/{init}/status")).unwrap();
        assert!(of_init.contains("\nVmHWM:") && rss > 0);
        assert!(get(port, "/benchmark?count=1000000").is_some());
        assert!(service.rss_bytes_peak() > rss + 20_000_000);
        assert_eq!(service.cpu_unknown(), None, "its port is its own");
        kill_9(pids[0]);
        assert!(within(GRACE, || service.has_exited() == Some(Exit::Signal(9))));
    }
}

#[test]
fn a_service_sees_its_own_processes_only_and_can_signal_no_other() {
    let Some(bench) = bench(Isolation::detect()) else { return };
    let own = std::process::id();
    let script = format!(
        "ls /proc | grep -c '^[0-9]'; readlink /proc/self/ns/pid; kill -0 {own} || echo no; [ -e /proc/{own} ] || echo no"
    );
    let (_, said) = shell(&bench, &script, alone());
    let lines: Vec<&str> = said.lines().collect();
    let processes: usize = lines[0].parse().unwrap();
    assert!(processes <= 5, "init, the shell, ls and grep: {said}");
    assert_ne!(lines[1], fs::read_link("/proc/self/ns/pid").unwrap().to_str().unwrap());
    assert_eq!(lines[2..], ["no", "no"], "{said}");
}

#[test]
fn folders_and_files_are_hidden_but_for_what_is_shown() {
    let Some(bench) = bench(Isolation::detect()) else { return };
    let run = tempfile::tempdir().unwrap();
    fs::create_dir(run.path().join("tables")).unwrap();
    for (name, text) in [("journal", "secret"), ("tables/rows", "rows"), ("contract.toml", "answers")] {
        fs::write(run.path().join(name), text).unwrap();
    }
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("contract.toml"), "answers").unwrap();
    let sandbox = Sandbox {
        hidden: vec![run.path().into(), other.path().join("contract.toml"), "/is/not/there".into()],
        shown: vec![run.path().join("tables"), run.path().join("none")],
        own_pids: false,
    };
    let script = format!(
        "ls {run}; cat {run}/tables/rows; echo; cat {other}/contract.toml; touch {run}/x 2>/dev/null || echo no",
        run = run.path().display(),
        other = other.path().display()
    );
    let (_, said) = shell(&bench, &script, sandbox);
    assert_eq!(said, "tables\nrows\nno\n");
    assert_eq!(
        fs::read_to_string(other.path().join("contract.toml")).unwrap(),
        "answers",
        "outside it is as before"
    );
}
