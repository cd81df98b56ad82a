//! Services that crash, cannot be built, or lack their toolchain: their rows report it, and others are
//! measured.

use std::{path::Path, time::Duration};

use insta::assert_snapshot;
use rustix::process::Signal;

use crate::support::{
    Running, USUAL, Workspace, experiment, fact, journal, manifest, row, send, state, within,
};

/// Kills the service of a row whenever it is found alive, from its first slice on, until the run reports it.
fn kill_service(tare: &mut Running, run: &Path, label: &str) {
    let has =
        |kind: &str| journal(run).iter().any(|record| record["kind"] == kind && record["label"] == label);
    assert!(within(USUAL, || has("sample") || tare.has_ended()));
    let noticed = within(USUAL, || {
        let services = tare.carrying(&format!("ROW={label}"));
        services.into_iter().for_each(|pid| send(pid, Signal::KILL));
        has("failed") || tare.has_ended()
    });
    assert!(noticed, "no record says that {label} was killed");
}

#[test]
fn services_that_die_under_load_cost_only_their_own_rows() {
    let workspace =
        Workspace::new(&[("honest", "correct"), ("crashing", "crashes-under-load"), ("victim", "correct")]);
    let tiny = experiment(&["raw-socket", "honest", "crashing", "victim"], 6);
    // The slices are so long that it is rarely killed between them.
    workspace.write("experiments/tiny.toml", &tiny.replace("30ms", "100ms"));
    let mut tare = workspace.start(&["run", "experiments/tiny.toml", "--out", "out"]);
    kill_service(&mut tare, &workspace.root().join("out"), "victim");
    let ran = tare.end().expect(2);

    // It crashes in the block of its 1500th request, which is a later block if the machine is busy.
    let crashing = ran.line_with("crashing", ": block ");
    assert!(crashing.contains("block ") && crashing.contains(": exit status 3 "), "{crashing}");
    let victim = ran.line_with("victim", ": block ");
    assert!(victim.contains("block ") && victim.contains(": killed by signal 9 (SIGKILL"), "{victim}");
    let report = workspace.tare(&["show", "out", "--json"]).expect(2).json();
    assert!(fact(&report, "Took").ends_with(": all blocks were measured"), "{report}");
    for label in ["raw-socket", "honest"] {
        let blocks = row(&report, label)["blocks"].as_u64();
        assert_eq!((state(&report, label).as_str(), blocks), ("measured", Some(6)));
    }
}

#[test]
fn a_missing_toolchain_leaves_a_row_out_and_is_no_failure() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let lacking = manifest("lacking", "correct")
        + "[[requires]]\ncommand = [\"no-such-tool\", \"--version\"]\ndebian = [\"some-package\"]\nhint = \"or build it\"\n";
    workspace.service("lacking", &lacking);
    workspace.write("experiments/tiny.toml", &experiment(&["honest", "lacking"], 1));
    let ran = workspace.tare(&["run", "experiments/tiny.toml"]).expect_measured();
    assert_snapshot!(ran.line("lacking"), @r#"lacking  left out: not on this machine: "no-such-tool --version" cannot run: there is no such program; `apt-get install some-package` (or build it)"#);
    assert!(ran.line("honest").contains("µs"));
    assert!(ran.line("raw-socket").contains("µs"));

    // Nothing was verified: that is no success, although nothing failed.
    let verified = workspace.tare(&["verify", "lacking", "--contract", "hello"]).expect(1);
    assert!(verified.stdout.contains("missing not on this machine: \"no-such-tool --version\""));
    let built = workspace.tare(&["build", "--json"]).expect(0).json();
    let results: Vec<(&str, &str)> = built
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["service"].as_str().unwrap(), line["result"].as_str().unwrap()))
        .collect();
    assert_eq!(results, [("raw-socket", "current"), ("honest", "current"), ("lacking", "missing")]);
}

#[test]
fn a_failed_build_step_leaves_a_row_out_and_is_told_by_the_exit_status() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let step = "[[build]]\ncommand = [\"sh\", \"-c\", \"echo working; echo no such header >&2; exit 3\"]\n";
    workspace.service("unbuilt", &(manifest("unbuilt", "correct") + step));
    workspace.write("experiments/tiny.toml", &experiment(&["honest", "unbuilt"], 1));
    let ran = workspace.tare(&["run", "experiments/tiny.toml"]).expect(1);
    assert_snapshot!(workspace.redact(ran.line("unbuilt")), @r#"unbuilt  not built: build step "sh -c echo working; echo no such header >&2; exit 3" failed (exit status 3): no such header; all of it: ROOT/.tare/builds/unbuilt.log"#);
    assert!(ran.line("honest").contains("µs"));
    let verified = workspace.tare(&["verify", "unbuilt"]).expect(1);
    assert!(verified.stdout.contains("not built build step \"sh -c"));
    workspace.tare(&["build", "unbuilt"]).expect(1);
}

#[test]
fn a_row_that_is_against_its_contract_is_left_out_and_told_by_the_exit_status() {
    let workspace =
        Workspace::new(&[("honest", "correct"), ("frozen", "frozen-date"), ("hanging", "never-ready")]);
    let impatient = manifest("hanging", "never-ready").replace("\"10s\"", "\"300ms\"");
    workspace.service("hanging", &impatient);
    workspace.write("experiments/tiny.toml", &experiment(&["honest", "frozen", "hanging"], 1));
    let ran = workspace.tare(&["run", "experiments/tiny.toml"]).expect(2);
    assert!(ran.line("honest").contains("µs"));
    assert!(
        ran.line("frozen")
            .contains("  failed: in verification: hello: date of \"hello\": the Date stands still")
    );
    assert!(ran.line("hanging").contains("  failed: gave no correct answer within 300ms"));
}

#[test]
fn a_service_that_does_not_stop_is_waited_for_no_longer_than_its_grace() {
    let workspace = Workspace::new(&[("deaf", "ignores-sigterm")]);
    let mut tare = workspace.start(&["verify", "deaf", "--contract", "hello"]);
    assert!(within(Duration::from_secs(30), || tare.has_ended()));
    tare.end().expect(2);
}
