//! Kills Tare with SIGKILL, idle and at random instants, with and without its watchdog: nothing may be left.
//! A second copy of this test program stands in for Tare.

use super::bench::*;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tare_host::process::{Cgroups, Isolation, RunningService, sweep};

/// Serialises tests that kill a stand-in, as they check the whole machine afterwards.
static WHOLE_MACHINE: Mutex<()> = Mutex::new(());

/// The variable that makes this test program stand in for Tare; its value is the working folder.
const STAND_IN: &str = "TARE_TEST_STAND_IN";
/// The variable for the isolation.
const ISOLATION: &str = "TARE_TEST_ISOLATION";
/// Values of that variable, in the order of [`isolations`].
const KINDS: [&str; 3] = ["detected", "none", "older"];
/// The variable for the behaviour: `hold` some services, `replace` (the same after its watchdog was killed),
/// or `churn` (start and stop for ever).
const ROLE: &str = "TARE_TEST_ROLE";

/// Not a test: the tests below start and kill it.
#[test]
#[ignore = "is started by other tests"]
fn stand_in_for_tare() {
    let Some(folder) = std::env::var_os(STAND_IN).map(PathBuf::from) else { return };
    let wanted = std::env::var(ISOLATION).unwrap();
    let bench = Bench::new(isolations().remove(KINDS.iter().position(|kind| *kind == wanted).unwrap()));
    if std::env::var(ROLE).unwrap() == "churn" {
        fs::write(folder.join("ready"), "").unwrap();
        loop {
            drop(bench.start("leaks-session"));
        }
    }
    // Started by a thread that ends, which must not kill the service.
    let services = std::thread::scope(|scope| {
        let start =
            || ["correct", "leaks-child", "leaks-session", "ignores-sigterm"].map(|m| bench.start_ready(m).0);
        scope.spawn(start).join().unwrap()
    });
    services[..3].iter().for_each(|service| service.freeze().unwrap());
    let pids: Vec<String> =
        services.iter().flat_map(RunningService::pids).map(|pid| pid.to_string()).collect();
    if std::env::var(ROLE).unwrap() == "replace" {
        kill_9(bench.supervisor.watchdog().pid());
        let killed = bench.supervisor.watchdog().pid();
        let replaced = || {
            services[3].thaw().unwrap();
            bench.supervisor.watchdog().pid() != killed
        };
        assert!(within(GRACE, replaced));
    }
    let watchdog = bench.supervisor.watchdog().pid();
    fs::write(folder.join("written"), format!("{watchdog} {}", pids.join(" "))).unwrap();
    fs::rename(folder.join("written"), folder.join("ready")).unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

/// A running stand-in, and the process ids that it wrote when it was ready.
fn stand_in(role: &str, isolation: &str) -> (Child, Vec<u32>) {
    let folder = tempfile::tempdir().unwrap();
    // Ignores signals and inherits a setting that its services must not inherit.
    let shell = "trap '' TERM INT HUP; exec \"$0\" \"$@\"";
    let child = Command::new("sh")
        .args(["-c", shell])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "process::killed::stand_in_for_tare"])
        .env(STAND_IN, folder.path())
        .env(ISOLATION, isolation)
        .env(ROLE, role)
        .env("THREADS", "nonsense")
        .env("DELAY_MS", "nonsense")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let ready = folder.path().join("ready");
    assert!(within(READY_WITHIN, || ready.exists()), "the stand-in does not get ready");
    let text = fs::read_to_string(ready).unwrap();
    (child, text.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect())
}

#[test]
fn kill_9_of_tare_leaves_no_service_frozen_or_not() {
    let _alone = WHOLE_MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = &KINDS[..isolations().len()];
    for (isolation, role) in kinds.iter().flat_map(|kind| [(*kind, "hold"), (*kind, "replace")]) {
        let (mut tare, pids) = stand_in(role, isolation);
        // The watchdog, four services, and two processes leaked by them.
        assert_eq!(pids.len(), 7, "{isolation}");
        assert!(pids.iter().all(|&pid| is_alive(pid)));
        let maker = tare.id();
        assert_eq!(cgroups(maker).is_empty(), isolation == "none" || no_cgroups(&Isolation::detect()));
        tare.kill().unwrap();
        tare.wait().unwrap();
        assert!(within(GRACE, || pids.iter().all(|&pid| !is_alive(pid))), "{isolation}: {pids:?}");
        assert_eq!(marked(maker), [0; 0], "{isolation}");
        assert!(cgroups(maker).is_empty(), "{isolation}");
    }
}

#[test]
fn kill_9_of_tare_at_any_instant_of_a_start_leaves_nothing() {
    let _alone = WHOLE_MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    for round in 0..24_u64 {
        let isolation = KINDS[round as usize % isolations().len()];
        let (mut tare, _) = stand_in("churn", isolation);
        let maker = tare.id();
        std::thread::sleep(Duration::from_micros(round * 2700));
        tare.kill().unwrap();
        tare.wait().unwrap();
        let gone = || marked(maker).is_empty() && cgroups(maker).is_empty();
        assert!(within(GRACE, gone), "{isolation}, round {round}: {:?} {:?}", marked(maker), cgroups(maker));
    }
}

#[test]
fn a_sweep_clears_what_tare_and_its_watchdog_have_left() {
    let _alone = WHOLE_MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    for &isolation in &KINDS[..isolations().len()] {
        let (mut tare, pids) = stand_in("hold", isolation);
        let (watchdog, services) = (pids[0], &pids[1..]);
        kill_9(watchdog);
        tare.kill().unwrap();
        // A Tare that is dead but not reaped counts as dead.
        assert!(within(GRACE, || !is_alive(tare.id()) && !is_alive(watchdog)));
        // Stopped processes may be dead already: the kernel sends SIGHUP to a stopped group without a parent.
        let left: Vec<u32> = services.iter().copied().filter(|&pid| is_alive(pid)).collect();
        let by_signal = isolation == "none" || matches!(Isolation::detect().freezer, Cgroups::None(_));
        assert!(!left.is_empty() && (by_signal || left.len() == services.len()), "{isolation}: {left:?}");
        let place = KINDS.iter().position(|kind| *kind == isolation).unwrap();
        let swept = sweep(&isolations()[place]);
        let is_swept = left.iter().any(|pid| swept.pids.contains(pid));
        assert!(is_swept, "{isolation}: of {services:?} {left:?} were left, {swept:?}");
        assert!(services.iter().all(|&pid| !is_alive(pid)), "{isolation}: {swept:?}");
        assert!(cgroups(tare.id()).is_empty());
        tare.wait().unwrap();
    }
}

#[test]
fn a_sweep_thaws_what_a_tare_with_another_freezer_has_left() {
    let _alone = WHOLE_MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(older) = KINDS.get(2).filter(|_| isolations().len() == KINDS.len()) else {
        println!("skipped: a sweep by another freezer: this machine has one freezer");
        return;
    };
    let (mut tare, pids) = stand_in("hold", older);
    kill_9(pids[0]);
    tare.kill().unwrap();
    tare.wait().unwrap();
    sweep(&Isolation::detect());
    assert!(within(GRACE, || pids.iter().all(|&pid| !is_alive(pid))), "{pids:?}");
    assert!(cgroups(tare.id()).is_empty());
}
