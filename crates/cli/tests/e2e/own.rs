//! Services of a user: commands in an unknown folder, and a repository with one file.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use crate::support::{Ended, PROGRAM, Workspace, checkout, git, home, start};

/// The command of a fake service in this mode.
fn command(mode: &str) -> String {
    format!("FAKE={mode} {}", PROGRAM.display())
}

fn tare(folder: &Path, words: &[&str]) -> Ended {
    start(folder, words).end()
}

#[test]
fn a_command_is_related_to_the_raw_socket_and_a_run_of_it_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let service = command("correct");
    let words = ["run", "--service", &service, "--get", "/", "--budget", "8s", "--out", "out"];
    let ended = tare(folder.path(), &words);
    assert!(matches!(ended.code(), Some(0 | 4)), "{ended}");
    assert!(ended.stdout.contains("raw-socket") && ended.stdout.contains("fake-service"), "{ended}");
    let again = tare(folder.path(), &["run", "--resume", "out"]).expect(1);
    assert!(again.stderr.contains("nothing is left to do: the budget was spent"), "{again}");
}

#[test]
fn a_command_is_verified_by_what_it_answered_before() {
    let folder = tempfile::tempdir().unwrap();
    let (honest, wrong) = (command("correct"), command("wrong-body"));
    let post = ["--post", "/", "--data", "{\"a\":1}"];
    tare(folder.path(), &["verify", &honest, "--get", "/"]).expect(0);
    let ended = tare(folder.path(), &["verify", &honest, &wrong, "--get", "/"]).expect(2);
    assert!(ended.stdout.contains("Hello world!"), "{ended}");
    let refused =
        tare(folder.path(), &[&["verify", &honest, "--get", "/none"][..], &post].concat()).expect(1);
    assert!(refused.stderr.contains("GET /none is answered with status 404"), "{refused}");
}

#[test]
fn a_budget_bounds_the_measuring() {
    let folder = tempfile::tempdir().unwrap();
    let honest = command("correct");
    let budget = ["--budget", "3s", "--fail-on", "regression", "--delta", "90%"];
    let words = [&["compare", &honest, &honest, "--get", "/", "--json"][..], &budget].concat();
    let began = Instant::now();
    let ended = tare(folder.path(), &words);
    // Building, verifying and stopping are not included, and a loaded machine makes them slow: most blocks
    // would take a minute.
    assert!(began.elapsed() < Duration::from_secs(30), "{ended}");
    // INCONCLUSIVE and WORSE are no regression of delta.
    assert!(matches!(ended.code(), Some(0 | 4)), "{ended}");
}

#[test]
fn a_repository_has_one_file_and_folders_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    // A monorepo with folders of these names for other purposes.
    for (path, text) in [
        ("services/shop/main.go", "package main"),
        ("contracts/customer.toml", "party = \"first\""),
        ("tare.toml", &format!("format = \"1.0\"\n[service.shop]\ncommand = \"{}\"\n", command("correct"))),
        ("deep/er/file", ""),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let ended = tare(&folder.path().join("deep/er"), &["verify", "shop", "--get", "/"]).expect(0);
    assert!(ended.stdout.contains("1 passed"), "{ended}");
    let unknown = tare(folder.path(), &["verify", "shpo"]).expect(1);
    assert!(unknown.stderr.contains("unknown service \"shpo\"; did you mean \"shop\"?"), "{unknown}");
    let dry = tare(folder.path(), &["compare", "shop", "shop", "--get", "/", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("shop@2"), "{dry}");
}

#[test]
fn a_variable_that_is_set_to_nothing_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut tare = Command::new(env!("CARGO_BIN_EXE_tare"));
    tare.args(["list", "raw-socket"]).current_dir(folder.path());
    for variable in ["TARE_ROOT", "TARE_HOME", "TARE_CATALOGUE"] {
        tare.env(variable, "");
    }
    let output = tare.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_service_in_the_root_is_itself_and_not_the_raw_socket() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = crate::support::manifest("mine", "wrong-body");
    fs::write(folder.path().join("service.toml"), manifest).unwrap();
    fs::write(folder.path().join("tare.toml"), "format = \"1.0\"\n").unwrap();
    for word in ["./", "."] {
        let ended = tare(folder.path(), &["verify", word, "--contract", "hello"]).expect(2);
        assert!(!ended.stdout.contains("raw-socket"), "{ended}");
    }
}

/// An experiment of a repository has a name, and its paths are relative to its file. It can use services of
/// another catalogue.
#[test]
fn experiments_have_names_and_other_catalogues_take_part() {
    let folder = tempfile::tempdir().unwrap();
    let other = Workspace::new(&[("honest", "correct")]);
    let experiment = crate::support::experiment(&["../mine", "honest"], 4);
    for (name, text) in [
        ("tare.toml", "format = \"1.0\"\nexperiments = [\"bench\"]\n"),
        ("bench/ours.toml", &experiment),
        ("mine/service.toml", &crate::support::manifest("mine", "correct")),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(folder.path().join("below")).unwrap();
    let below = folder.path().join("below");
    let catalogue = other.root().to_str().unwrap().to_owned();
    let ended = tare(&below, &["run", "ours", "--catalogue", &catalogue, "--dry-run"]).expect(0);
    assert!(ended.stdout.contains("../mine, honest"), "{ended}");
    let ended = tare(&below, &["run", "ours", "--dry-run"]).expect(1);
    assert!(ended.stderr.contains("unknown service \"honest\""), "{ended}");
    let ended = tare(&below, &["run", "outs"]).expect(1);
    assert!(ended.stderr.contains("unknown experiment \"outs\"; did you mean \"ours\"?"), "{ended}");
}

/// A repository with a service that is slower on the branch `topic`.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let (folder, root) = checkout("checkout");
    git(&root, &["init", "--quiet", "--initial-branch=main"]);
    for (mode, branch) in [("correct", "main"), ("burns-cpu", "topic")] {
        let text = format!("#!/bin/sh\nFAKE={mode} exec {}\n", PROGRAM.display());
        fs::write(root.join("serve.sh"), text).unwrap();
        git(&root, &["checkout", "--quiet", "-B", branch]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "-m", mode]);
    }
    (folder, root)
}

fn gate(folder: &Path, variables: &[(&str, &str)]) -> Output {
    let script = crate::support::real_root().join("scripts/gate.sh");
    let mut command = Command::new("sh");
    command.arg(script).current_dir(folder).env("TARE", env!("CARGO_BIN_EXE_tare")).env("TARE_NO_WHY", "1");
    command.env("TARE_HOME", home(folder)).env("GATE_SERVICE", "sh serve.sh").env("GATE_GET", "/");
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn a_gate_has_its_place_in_the_file_of_the_repository() {
    let (_folder, repository) = repository();
    let write = |gate: &str| {
        let service = "format = \"1.0\"\n[service.shop]\ncommand = \"sh serve.sh\"\n";
        fs::write(repository.join("tare.toml"), format!("{service}{gate}")).unwrap();
    };
    let compare = |words: &[&str]| tare(&repository, &[&["compare"], words].concat());
    write(
        "[gate.shop]\nservice = \"shop\"\nbase = \"main\"\nget = [\"/\"]\nbudget = \"20s\"\nmetrics = [\"cpu\"]\n",
    );
    let ended = compare(&["--gate", "shop", "--again", "--dry-run"]).expect(0);
    let planned = &ended.stdout;
    assert!(planned.contains("shop@HEAD@again") && planned.contains("within 3%"), "{planned}");
    let ended = compare(&["--gate", "shop", "--delta", "7%", "--dry-run"]).expect(0);
    let planned = &ended.stdout;
    assert!(planned.contains("within 7%") && !planned.contains("@again"), "{planned}");
    let ended = compare(&["--gate", "shpo"]).expect(1);
    let unknown = &ended.stderr;
    assert!(unknown.contains("unknown gate \"shpo\"; did you mean \"shop\"?"), "{unknown}");
    write("[gate.shop]\nservice = \"shop\"\nmetrics = [\"cpuu\"]\n");
    let ended = compare(&["--gate", "shop"]).expect(1);
    let wrong = &ended.stderr;
    assert!(wrong.contains("tare.toml:6: unknown metric; did you mean \"cpu\"?"), "{wrong}");
}

#[test]
fn the_gate_names_what_a_shallow_clone_lacks() {
    let (_folder, repository) = repository();
    let ended = gate(&repository, &[("GATE_BASE", "origin/main")]);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("there is no revision \"origin/main\"") && stderr.contains("fetch-depth: 0"),
        "{stderr}"
    );
    let ended = gate(&repository, &[("GATE_FAIL_ON", "anything")]);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && stderr.contains("regression, worse, inconclusive"), "{stderr}");
}
