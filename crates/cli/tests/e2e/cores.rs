//! An experiment over several cores: what this machine has CPUs for is measured, the rest is named. The order on 64 CPUs is shown
//! without time, in tare-bench.

use std::fs;

use serde_json::Value;
use tare_host::cpus;

use crate::support::{Workspace, alone, experiment, journal, row, rows, state};

/// One thread, and more than any machine has CPUs for.
const THREADS: [usize; 2] = [1, 1024];

fn workspace(blocks: usize) -> Workspace {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let one = experiment(&["raw-socket", "honest"], blocks);
    let (load, service) = one.split_once("[service]").unwrap();
    let service = service.replacen("= 1\n", "= [1, 1024]\n", 1);
    workspace.write("experiments/cores.toml", &format!("{load}[service]{service}"));
    workspace
}

#[test]
fn a_dry_run_names_what_does_not_fit_and_the_cpus_of_what_does() {
    let workspace = workspace(2);
    let planned = workspace.tare(&["run", "experiments/cores.toml", "--dry-run"]).expect(0);
    let here = cpus::one_of_each_core(&cpus::available()).len();
    assert!(planned.stdout.contains(
        "\nleft out    honest+1024t: 1024 threads of the service and 1 of the generator need 1025"
    ));
    assert!(planned.stdout.contains("settings    THREADS=1, 1024 DELAY_MS=0"), "{planned}");
    let fits = planned.stdout.contains("\nCPUs        THREADS=1: services [");
    assert_eq!(fits, cpus::available().len() > 1, "{here} cores: {planned}");
}

#[test]
fn what_fits_is_measured_and_a_resumed_run_ends_as_planned() {
    if cpus::available().len() < 2 {
        println!("skipped: a service and its generator need two CPUs");
        return;
    }
    let _alone = alone();
    let workspace = workspace(2);
    let ran = workspace.tare(&["run", "experiments/cores.toml"]).expect_measured();
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("measured with 1 thread only: nothing is known of how they scale"), "{ran}");
    let run = workspace.run();
    let report = workspace.tare(&["show", "--json"]).expect_measured().json();
    assert_eq!(state(&report, "honest+1t"), "measured");
    assert_eq!(state(&report, "honest+1024t"), "left out");
    let curve = rows(&report, "cores");
    assert_eq!(curve.len(), 2 * THREADS.len());
    let first = curve.iter().find(|row| row["service"] == "honest" && row["threads"] == 1).unwrap();
    assert_eq!((&first["generator_threads"], &first["blocks"]), (&Value::from(1), &Value::from(2)));
    assert!(row(&report, "honest+1t")["cpu_ratio"].as_f64().is_some_and(|ratio| ratio > 0.0));
    let shown = workspace.tare(&["show", "--recompute"]).expect_measured();
    assert_eq!(shown.stdout, ran.stdout);

    // The journal up to the second block: what a run leaves that was killed there.
    let path = run.join("journal.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    let whole = journal(&run).len();
    let second = text.match_indices("{\"block\":{").nth(1).unwrap().0;
    fs::write(&path, &text[..second]).unwrap();
    workspace.tare(&["run", "--resume", run.to_str().unwrap()]).expect_measured();
    assert_eq!(journal(&run).len(), whole, "as many records as without the cut");
    let again = workspace.tare(&["show", "--json"]).expect_measured().json();
    assert_eq!(rows(&again, "cores").len(), 2 * THREADS.len());
}
