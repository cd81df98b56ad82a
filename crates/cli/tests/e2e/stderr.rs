//! A stderr that cannot be written to: no command changes its result, and a run is measured to its end.

use crate::support::{Ended, Workspace, experiment, start_under};

/// Shell commands that start `tare` with an unusable stderr.
const USELESS: [[&str; 3]; 3] = [
    ["bash", "-c", "exec \"$0\" \"$@\" 2> /dev/full"],
    // A pager or a log reader that has ended.
    ["bash", "-c", "exec 2> >(exec true); sleep 0.2; exec \"$0\" \"$@\""],
    ["bash", "-c", "exec \"$0\" \"$@\" 2>&-"],
];

fn ended(workspace: &Workspace, useless: &[&str], words: &[&str]) -> Ended {
    start_under(useless, workspace.root(), words).end()
}

#[test]
fn a_run_is_measured_to_its_end_and_its_report_written() {
    for useless in &USELESS {
        let workspace = Workspace::new(&[("honest", "correct")]);
        workspace.write("experiments/tiny.toml", &experiment(&["raw-socket", "honest"], 2));
        let ran = ended(&workspace, useless, &["run", "experiments/tiny.toml"]).expect_measured();
        assert!(ran.stdout.contains("\nBlocks   2\n"), "{ran}");
        for file in ["report.md", "report.json", "report.html"] {
            assert!(workspace.run().join(file).is_file(), "{file}");
        }
    }
}

#[test]
fn each_command_ends_with_the_status_that_it_has_anyway() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    for (words, code) in [
        (&["show", "no-such-run"][..], 1),
        (&["no-such-command"], 1),
        (&["build", "honest"], 0),
        (&["verify", "honest", "--contract", "hello"], 0),
        (&["load", "http://127.0.0.1:1/", "-d", "1s"], 1),
        (&["raw-socket", "--version"], 0),
        (&["man", "--out", "man"], 0),
    ] {
        for useless in &USELESS {
            ended(&workspace, useless, words).expect(code);
        }
    }
}

#[test]
fn a_stdout_that_takes_nothing_is_an_error_and_no_panic() {
    let workspace = Workspace::new(&[]);
    let full = ["bash", "-c", "exec \"$0\" \"$@\" > /dev/full"];
    let told = ended(&workspace, &full, &["raw-socket", "--version"]).expect(1);
    assert!(told.stderr.contains("cannot write to stdout"), "{told}");
}
