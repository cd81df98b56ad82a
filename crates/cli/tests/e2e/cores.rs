//! An experiment over several cores: rows that need more CPUs than this machine has are reported. The tests
//! of tare-bench check the order on 64 CPUs without timing.

use tare_host::cpus;

use crate::support::{Workspace, experiment};

#[test]
fn a_dry_run_names_what_does_not_fit_and_the_cpus_of_what_does() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let one = experiment(&["raw-socket", "honest"], 2);
    let (load, service) = one.split_once("[service]").unwrap();
    // One thread, and more threads than any machine has CPUs.
    let service = service.replacen("= 1\n", "= [1, 1024]\n", 1);
    workspace.write("experiments/cores.toml", &format!("{load}[service]{service}"));
    let planned = workspace.tare(&["run", "experiments/cores.toml", "--dry-run"]).expect(0);
    let here = cpus::one_of_each_core(&cpus::available()).len();
    assert!(planned.stdout.contains(
        "\nleft out    honest+1024t: 1024 threads of the service and 1 of the generator need 1025"
    ));
    assert!(planned.stdout.contains("settings    THREADS=1, 1024 DELAY_MS=0"), "{planned}");
    let fits = planned.stdout.contains("\nCPUs        THREADS=1: services [");
    assert_eq!(fits, cpus::available().len() > 1, "{here} cores: {planned}");
}
