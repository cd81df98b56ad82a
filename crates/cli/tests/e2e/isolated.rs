//! Services with their own networks and processes, which see nothing of the run.

use std::fs;

use tare_host::link::rights;

use crate::support::{PROGRAM, Workspace, experiment, fact, state};

/// A service that records its network and what it sees of the run, and answers correctly.
fn spying(name: &str) -> String {
    let others = "ls -d /proc/[0-9]* | grep -vcx \"/proc/1\\|/proc/$$\"";
    let spy = format!(
        "readlink /proc/self/ns/net >> networks; echo $(ls out | wc -l) $(cat requests/* 2>/dev/null | wc -l) >> seen; \
         {others} >> processes; exec {}",
        PROGRAM.display()
    );
    let command = format!("command = [\"sh\", \"-c\", {spy:?}]\ncontracts = [\"hello\"]\n");
    format!("[service.{name}]\n{command}env = {{ FAKE = \"correct\" }}\n")
}

#[test]
fn each_service_has_a_network_of_its_own_and_is_measured_in_it() {
    if let Err(error) = rights::obtain() {
        tare_host::fixture::skip_always("networks of their own", &error.to_string());
        return;
    }
    let workspace = Workspace::new(&[]);
    let project =
        format!("format = \"1.0\"\ncontracts = [\"requests\"]\n{}{}", spying("one"), spying("other"));
    workspace.write("requests/hello.toml", include_str!("../../../../contracts/hello.toml"));
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
    // Two services, each verified once and started in two blocks. The two of a block exist at the same time;
    // the number of a removed network is reused.
    let elsewhere: Vec<&str> = all.iter().copied().filter(|network| *network != own).collect();
    assert_eq!((all.len(), elsewhere.len()), (6, 4), "{networks}");
    assert!(elsewhere.chunks(2).all(|block| block[0] != block[1]), "{networks}");

    // During verification they see the machine; within the run neither their output nor the requests.
    let seen = fs::read_to_string(workspace.root().join("seen")).unwrap();
    assert_eq!(seen.lines().filter(|sizes| *sizes == "0 0").count(), 4, "{seen}");
    if report.to_string().contains("processes: a service sees its own only") {
        let others = fs::read_to_string(workspace.root().join("processes")).unwrap();
        // The counting shell, ls and grep.
        let few = others.lines().filter(|count| count.parse::<u32>().is_ok_and(|count| count <= 3)).count();
        assert_eq!(few, 4, "{others}");
    } else {
        assert!(report.to_string().contains("processes: a service sees all of the machine"), "{report}");
    }

    let planned = workspace.tare(&["run", "tiny.toml", "--isolate", "--dry-run"]).expect(0);
    assert!(planned.stdout.contains("network     one of its own for each service"), "{planned}");
}
