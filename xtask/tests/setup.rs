//! The packages that `scripts/setup.sh` would install on a machine with only the script's own commands.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// Commands of every Debian.
const BASE: [&str; 11] =
    ["awk", "bash", "cat", "dirname", "env", "paste", "sed", "sort", "tail", "tr", "uname"];

/// The features that miss something, as the script lists them with `--check`.
fn needed_by(words: &[&str]) -> BTreeSet<String> {
    let machine = tempfile::tempdir().unwrap();
    let [bin, checkout] = ["bin", "checkout"].map(|name| machine.path().join(name));
    fs::create_dir(&bin).unwrap();
    fs::create_dir(&checkout).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let programs = |name| std::env::split_paths(&path).map(move |folder: PathBuf| folder.join(name));
    for name in BASE {
        symlink(programs(name).find(|program| program.is_file()).unwrap(), bin.join(name)).unwrap();
    }
    // Without `.tare` and `web`, where this checkout may have installed files.
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    for name in ["Cargo.toml", "experiments", "scripts", "services"] {
        symlink(root.join(name), checkout.join(name)).unwrap();
    }
    let mut script = Command::new(bin.join("bash"));
    script.arg(checkout.join("scripts/setup.sh")).args(words).arg("--check");
    let ran = script.env_clear().env("PATH", &bin).env("HOME", machine.path()).output().unwrap();
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    let listed = String::from_utf8(ran.stdout).unwrap();
    let names = listed.lines().flat_map(|line| line.rsplit_once("needed by: ").unwrap().1.split(", "));
    names.map(str::to_owned).collect()
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn a_run_wants_what_its_services_need_and_nothing_else() {
    let run = needed_by(&["bench"]);
    let [rust, go] = [["axum", "hyper"], ["gorilla-mux", "net-http"]].map(names);
    let others = names(["aiohttp", "asio", "beast", "express", "flask", "node-http", "restinio"]);
    let tools = names(["go", "tare"]);
    assert_eq!(run, [rust, go, others, tools].into_iter().flatten().collect());
    assert!(run.is_subset(&needed_by(&[])), "{run:?}");
    assert_eq!(needed_by(&["services", "gin", "warp"]), names(["gin", "go", "warp"]));
}

#[test]
fn the_quick_tests_want_a_few_services_and_no_browser() {
    let mut quick = needed_by(&["test"]);
    // Some of their requirements are also searched outside of PATH, and may be present here.
    quick.retain(|who| !["database", "lint"].contains(&who.as_str()));
    let services = ["gorilla-mux", "net-http", "node-http", "raw-echo"];
    let wanted = [&["cluster", "go", "manual", "script", "tare"][..], &services].concat();
    assert_eq!(quick, wanted.into_iter().map(str::to_owned).collect());
}
