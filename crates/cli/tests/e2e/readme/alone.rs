//! The command alone, in a folder with nothing of Tare: its catalogue is in it.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use super::catalogue::is_built;
use crate::support::{Ended, git, start_under};

/// Runs without `TARE_TRUST`, which the other tests set: nothing of the catalogue needs permission.
fn tare(folder: &Path, words: &[&str]) -> Ended {
    start_under(&["env", "-u", "TARE_TRUST"], folder, words).end()
}

#[test]
fn a_service_of_the_catalogue_is_built_and_verified_from_an_empty_folder() {
    if !is_built("the catalogue in the command", &["node-http"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let verified = tare(folder.path(), &["verify", "node-http", "--contract", "hello"]).expect(0);
    assert!(verified.stdout.contains("node-http"), "{verified}");
    let planned = tare(folder.path(), &["run", "restinio-2017", "--dry-run"]).expect(0);
    assert!(planned.stdout.contains("restinio"), "{planned}");
    let named = tare(folder.path(), &["doctor", "node-http", "--dry-run"]).expect(0);
    assert_eq!(named.stdout, "node --version\nnpm --version\n");
}

#[test]
fn a_repository_finds_what_it_lacks_by_name_and_all_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    // A service and a contract with names of the catalogue: the repository's own come first.
    let file =
        "format = \"1.0\"\ncontracts = [\"rest.toml\"]\n[service.express]\ncommand = \"node server.js\"\n";
    fs::write(root.join("tare.toml"), file).unwrap();
    fs::write(root.join("server.js"), "").unwrap();
    let contract = "format = \"1.1\"\nname = \"rest\"\ntitle = \"mine\"\n[[request]]\nname = \"mine\"\nmethod = \"GET\"\npath = \"/\"\n\
                    [request.response]\nstatus = 200\n";
    fs::write(root.join("rest.toml"), contract).unwrap();
    git(root, &["init", "-q"]);
    let list = |words: &[&str]| {
        let listed = tare(root, &[&["list", "--json"], words].concat()).expect(0).json();
        let names =
            listed.as_array().unwrap().iter().map(|line| line["service"].as_str().unwrap().to_owned());
        names.collect::<Vec<String>>()
    };
    assert_eq!(list(&[]), ["raw-socket", "express"]);
    assert_eq!(list(&["gin", "cpp-httplib:close"])[0], "gin");
    assert_eq!(list(&["group:haskell"]), ["warp"]);
    let express = tare(root, &["list", "express", "--json"]).expect(0).json();
    assert_eq!(express[0]["contracts"][0], "rest");
    let unknown = tare(root, &["list", "ginn"]).expect(1);
    assert!(unknown.stderr.contains("did you mean \"gin\"?"), "{unknown}");
    let planned = tare(root, &["run", "quick", "--dry-run"]).expect(0);
    assert!(planned.stdout.contains("gorilla-mux"), "{planned}");
}

#[test]
fn the_catalogue_is_written_out_to_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    tare(folder.path(), &["catalogue", "mine"]).expect(0);
    let mine = folder.path().join("mine");
    fs::write(mine.join("experiments/own.toml"), "x").unwrap();
    let listed = tare(&mine, &["list"]).expect(0);
    assert!(listed.stdout.contains("gorilla-mux"), "{listed}");
    let asked = tare(&mine, &["verify", "node-http", "--contract", "hello"]).expect(1);
    assert!(asked.stderr.contains("tare trust"), "what can be changed is asked for: {asked}");
    let again = tare(folder.path(), &["catalogue", "mine"]).expect(1);
    assert!(again.stderr.contains("mine: is not empty"), "{again}");
}

/// What every Debian has, and the script needs.
const OF_ANY_DEBIAN: [&str; 11] =
    ["awk", "bash", "cat", "dirname", "env", "paste", "sed", "sort", "tail", "tr", "uname"];

#[test]
fn the_script_that_installs_runs_from_the_catalogue_on_a_bare_machine() {
    let folder = tempfile::tempdir().unwrap();
    tare(folder.path(), &["catalogue", "mine"]).expect(0);
    let programs = folder.path().join("bin");
    fs::create_dir(&programs).unwrap();
    for name in OF_ANY_DEBIAN {
        let found = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
        symlink(found.iter().find(|path| path.exists()).unwrap(), programs.join(name)).unwrap();
    }
    let mut script = Command::new("bash");
    script
        .arg(folder.path().join("mine/scripts/setup.sh"))
        .args(["services", "asio", "axum", "gin", "--check"]);
    let home = folder.path().join("home");
    let ended = script.env_clear().env("PATH", &programs).env("HOME", home).output().unwrap();
    let (told, stderr) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!((ended.status.code(), &*stderr), (Some(1), ""), "{told}");
    for missing in ["missing: c++ --version; provided by: g++", "missing: Go 1."] {
        assert!(told.contains(missing), "{told}");
    }
}
