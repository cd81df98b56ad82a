//! No command named in the files of a repository runs before its user has allowed it.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use crate::support::{Ended, Workspace, experiment, git, home, manifest, start_under};

/// A repository whose commands all leave a file behind.
fn repository() -> Workspace {
    let workspace = Workspace::new(&[]);
    let traps =
        "[[requires]]\ncommand = [\"touch\", \"asked\"]\n[[build]]\ncommand = [\"touch\", \"built\"]\n";
    workspace.service("honest", &(manifest("honest", "correct") + traps));
    workspace
}

/// Runs without `TARE_TRUST`, which the other tests set.
fn tare(workspace: &Workspace, words: &[&str]) -> Ended {
    start_under(&["env", "-u", "TARE_TRUST"], workspace.root(), words).end()
}

fn has_run(workspace: &Workspace) -> bool {
    let folder = workspace.root().join("services/fake/honest");
    folder.join("asked").exists() || workspace.root().join("pwned").exists()
}

#[test]
fn commands_of_files_run_once_they_are_allowed_and_not_before() {
    let workspace = repository();
    workspace.write("experiments/tiny.toml", &experiment(&["raw-socket", "honest"], 1));
    let root = workspace.root().canonicalize().unwrap();
    for words in [
        &["verify", "honest"][..],
        &["build"],
        &["doctor"],
        &["run", "experiments/tiny.toml", "--out", "out"],
        &["compare", "honest", "raw-socket"],
        &["slo", "honest", "--slo", "p99=10ms"],
        &["list", "--footprint"],
        &["list", "--footprint", "--measure"],
    ] {
        let ended = tare(&workspace, words).expect(1);
        let wanted = format!("`tare trust {}` allows them", root.display());
        assert!(ended.stderr.contains(&wanted), "{ended}");
        assert!(!has_run(&workspace), "{ended}");
    }
    for words in [&["list"][..], &["doctor", "--dry-run"], &["run", "experiments/tiny.toml", "--dry-run"]] {
        tare(&workspace, words).expect(0);
    }
    let shown = tare(&workspace, &["trust", "--show"]).expect(0).stdout.clone();
    assert!(shown.contains("touch asked\n") && shown.contains("touch built\n"), "{shown}");
    assert!(!has_run(&workspace));

    // Built-in services, and commands that the user types.
    tare(&workspace, &["verify", "raw-socket"]).expect(0);
    let typed = format!("{} raw-socket --port {{port}}", env!("CARGO_BIN_EXE_tare"));
    tare(&workspace, &["verify", &typed, "--get", "/"]).expect(0);

    tare(&workspace, &["trust"]).expect(0);
    tare(&workspace, &["verify", "honest", "--contract", "hello"]).expect(0);
    assert!(has_run(&workspace));
    let listed = tare(&workspace, &["trust", "--list"]).expect(0).stdout.clone();
    assert_eq!(listed.trim(), root.display().to_string());
    tare(&workspace, &["trust", "--remove"]).expect(0);
    tare(&workspace, &["verify", "honest"]).expect(1);
    tare(&workspace, &["verify", "honest", "--contract", "hello", "--trust"]).expect(0);
}

#[test]
fn a_command_that_a_file_names_is_not_typed() {
    let workspace = repository();
    let services = "services = [\"sh -c 'touch pwned; sleep 1'\"]";
    workspace.write(
        "experiments/tiny.toml",
        &experiment(&["honest"], 1).replace("services = [\"honest\"]", services),
    );
    tare(&workspace, &["run", "experiments/tiny.toml", "--out", "out"]).expect(1);
    assert!(!has_run(&workspace));
    let project = fs::read_to_string(workspace.root().join("tare.toml")).unwrap();
    let gate = "[gate.shop]\nservice = \"sh -c 'touch pwned; sleep 1'\"\nbase = \"HEAD\"\n";
    workspace.write("tare.toml", &(project + gate));
    git(workspace.root(), &["init", "--quiet", "-b", "main"]);
    git(workspace.root(), &["add", "."]);
    git(workspace.root(), &["commit", "--quiet", "-m", "all"]);
    let ended = tare(&workspace, &["compare", "--gate", "shop", "--get", "/"]).expect(1);
    assert!(ended.stderr.contains("allows them") && !has_run(&workspace), "{ended}");
}

#[test]
fn a_terminal_is_asked() {
    let workspace = repository();
    for (answer, status) in [("n\n", "1"), ("y\n", "0"), ("", "0")] {
        let tare = format!("{} verify honest --contract hello; echo status $?", env!("CARGO_BIN_EXE_tare"));
        let mut script = Command::new("script");
        script.args(["--quiet", "--command", &tare, "/dev/null"]).current_dir(workspace.root());
        script.env("TARE_HOME", home(workspace.root())).env("SHELL", "/bin/sh");
        script.env_remove("TARE_TRUST").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = script.spawn().expect("`script` is in the package bsdutils");
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("status {status}")), "{answer:?}: {said}");
        assert_eq!(said.contains("[y/N]"), !answer.is_empty(), "{said}");
        assert_eq!(has_run(&workspace), status == "0");
    }
}
