//! Services with networks of their own.

use std::fs;

use tare_host::link::rights;

use crate::support::{PROGRAM, Workspace, alone, experiment, fact, state};

/// Notes in which network it is and what it sees of the run, and serves as it should.
fn spying(name: &str) -> String {
    let spy =
        format!("readlink /proc/self/ns/net >> networks; ls out | wc -l >> seen; exec {}", PROGRAM.display());
    let command = format!("command = [\"sh\", \"-c\", {spy:?}]\ncontracts = [\"hello\"]\n");
    format!("[service.{name}]\n{command}env = {{ FAKE = \"correct\" }}\n")
}

#[test]
fn each_service_has_a_network_of_its_own_and_is_measured_in_it() {
    if let Err(error) = rights::obtain() {
        tare_host::fixture::skip_always("networks of their own", &error.to_string());
        return;
    }
    let _alone = alone();
    let workspace = Workspace::new(&[]);
    let project = format!("format = \"1.0\"\n{}{}", spying("one"), spying("other"));
    workspace.write("tare.toml", &project);
    workspace.write("tiny.toml", &experiment(&["raw-socket", "one", "other"], 2));
    let words = ["run", "tiny.toml", "--out", "out", "--isolate"];
    workspace.tare(&words).expect_measured();
    let report = workspace.tare(&["show", "out", "--json"]).json();
    assert_eq!(fact(&report, "Network"), "each service has one of its own");
    for row in ["raw-socket", "one", "other"] {
        assert_eq!(state(&report, row), "measured", "{report}");
    }
    let networks = fs::read_to_string(workspace.root().join("networks")).unwrap();
    let all: Vec<&str> = networks.lines().collect();
    let own = fs::read_link("/proc/self/ns/net").unwrap().display().to_string();
    // Of two services, each proved once and started in two blocks. The two of a block are there at once; the number of a network that
    // is gone is given again.
    let elsewhere: Vec<&str> = all.iter().copied().filter(|network| *network != own).collect();
    assert_eq!((all.len(), elsewhere.len()), (6, 4), "{networks}");
    assert!(elsewhere.chunks(2).all(|block| block[0] != block[1]), "{networks}");

    // While they are proved the folder has their output; within the run they see nothing of it.
    let seen = fs::read_to_string(workspace.root().join("seen")).unwrap();
    assert_eq!(seen.lines().filter(|files| *files == "0").count(), 4, "{seen}");

    let planned = workspace.tare(&["run", "tiny.toml", "--isolate", "--dry-run"]).expect(0);
    assert!(planned.stdout.contains("network     one of its own for each service"), "{planned}");
}
