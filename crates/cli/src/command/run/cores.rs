//! An experiment over several cores: a row for each service and number of threads, on CPUs of its own.

use anyhow::ensure;
use tare_bench::{
    experiment::{Cores, Experiment},
    plan::{CoresRow, MachineCpus, Plan, cores_label},
};
use tare_host::cpus;
use tare_service::catalogue::Row;

/// The plan, and its rows, which replace `rows`. `twin` is the label of the reference's second row.
pub(super) fn plan(
    experiment: &mut Experiment,
    cores: &Cores,
    rows: &mut Vec<Row>,
    twin: Option<&str>,
    seed: u64,
) -> anyhow::Result<Plan> {
    ensure!(
        rows.iter().all(|row| row.service.running.is_none()),
        "a server that runs already keeps its threads and CPUs: an experiment over several cores starts its services itself"
    );
    let least = cores.threads.first().copied().unwrap_or(1);
    experiment.reference = cores_label(&experiment.reference, least);
    let each: Vec<CoresRow> = cores.rows(std::mem::take(rows), twin);
    rows.extend(each.iter().map(|each| each.row.clone()));
    let cpus = cpus::available();
    let machine = MachineCpus { cores: cpus::one_of_each_core(&cpus), cpus };
    let plan = Plan::interleaved(experiment, rows, seed, super::pinning(experiment, rows));
    let plan = cores.enter(plan, &each, &machine);
    Ok(match twin {
        Some(twin) => plan.with_twin(&cores_label(twin, least)),
        None => plan,
    })
}
