use tare_service::catalogue::{Catalogue, RawSocket, select};

use super::*;
use crate::{experiment::Experiment, fixture::published};

/// The CPUs of a machine with one thread for each core.
fn machine(cpus: usize) -> MachineCpus {
    let cpus: Vec<usize> = (0..cpus).collect();
    MachineCpus { cores: cpus.clone(), cpus }
}

/// The experiment of this repository over two of its services.
fn planned(machine: &MachineCpus, change: impl FnOnce(&mut Cores)) -> (Plan, Vec<CoresRow>) {
    let mut experiment = Experiment::load(&published::root().join("experiments/cores.toml")).unwrap();
    let mut cores = experiment.cores.clone().unwrap();
    change(&mut cores);
    experiment.reference = label("raw-socket", 1);
    let contracts = published::contracts();
    let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
    let raw_socket =
        RawSocket { program: "tare".into(), contracts: [("hello".to_owned(), "hello".to_owned())].into() };
    let catalogue = Catalogue::load(&published::root(), &names, raw_socket).unwrap();
    let rows = select(&catalogue, ["raw-socket", "hyper", "raw-socket@2"]).unwrap();
    let rows = cores.rows(rows, Some("raw-socket@2"));
    let plain: Vec<Row> = rows.iter().map(|row| row.row.clone()).collect();
    let pinning = Pinning::choose(&machine.cpus, 1, 1);
    let plan = Plan::interleaved(&experiment, &plain, 7, pinning);
    (cores.enter(plan, &rows, machine).with_twin("raw-socket@2+1t"), rows)
}

fn labels(plan: &Plan) -> Vec<&str> {
    plan.members().map(|row| plan.rows[row].label.as_str()).collect()
}

#[test]
fn on_64_cpus_every_row_has_cpus_of_its_own_and_so_has_its_generator() {
    let (plan, _) = planned(&machine(64), |_| ());
    assert_eq!(plan.members().count(), 13, "{:?}", labels(&plan));
    assert_eq!(plan.threads_planned(), [1, 2, 4, 8, 16, 32]);
    for row in plan.members() {
        let (threads, pinning) = (plan.rows[row].threads.unwrap(), plan.pinning_of(row));
        assert_eq!(plan.service_settings(row, 0).threads, threads);
        assert_eq!(pinning.server, (0..threads).collect::<Vec<_>>());
        assert_eq!(pinning.generator, (64 - threads..64).collect::<Vec<_>>());
        assert!(pinning.apart());
        let tare_load::Connections { total, threads: generator } = plan.connections_of(row, 0);
        assert_eq!((total, generator), (512, threads));
    }
    assert_eq!((plan.cpus().len(), plan.pinning.server.len()), (64, 32));
    assert_eq!(plan.reference(), "raw-socket+1t");
    assert_eq!(plan.twin_of_reference(), Some("raw-socket@2+1t"));
    assert_eq!(plan.check(), Ok(()));
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn what_has_too_few_cpus_is_left_out_by_name_with_the_reason() {
    let (plan, _) = planned(&machine(2), |_| ());
    assert_eq!(labels(&plan), ["raw-socket+1t", "hyper+1t", "raw-socket@2+1t"]);
    let out = plan.rows.iter().find(|row| row.label == "hyper+4t").unwrap();
    let excluded = out.excluded.as_ref().unwrap();
    assert_eq!(excluded.why, Exclusion::NotOnThisMachine);
    let says = "4 threads of the service and 4 of the generator need 8 CPUs; here there are 2 CPUs";
    assert_eq!((excluded.reason.as_str(), &out.pinning), (says, &None));
    assert_eq!(plan.cpus(), [0, 1]);
    assert!(labels(&planned(&machine(1), |_| ()).0).is_empty(), "a CPU for both would be shared");
}

#[test]
fn the_generator_may_have_what_the_service_leaves() {
    let left = |cores: &mut Cores| cores.generator = GeneratorThreads::Left;
    let (plan, _) = planned(&machine(24), left);
    let generators: Vec<usize> =
        plan.members().take(5).map(|row| plan.pinning_of(row).generator.len()).collect();
    assert_eq!(generators, [23, 22, 20, 16, 8]);
    assert!(plan.members().all(|row| plan.pinning_of(row).apart()));
    let largest = plan.rows.iter().find(|row| row.label == "raw-socket+32t").unwrap();
    assert!(largest.excluded.as_ref().unwrap().reason.ends_with("here there are 24 CPUs"));
}

/// Four cores with two threads each: CPUs 0 to 3 are on different cores.
#[test]
fn of_a_core_with_two_threads_one_is_used() {
    let two = |cores: usize| MachineCpus { cpus: (0..2 * cores).collect(), cores: (0..cores).collect() };
    let (plan, _) = planned(&two(4), |_| ());
    assert_eq!(plan.cpus(), [0, 1, 2, 3]);
    let out = plan.rows.iter().find(|row| row.label == "hyper+4t").unwrap();
    let reason = &out.excluded.as_ref().unwrap().reason;
    assert!(
        reason.ends_with("need 8 CPUs; here there are 4 cores, of which one CPU each is used"),
        "{reason}"
    );
    // A machine with a single core has no other choice.
    assert_eq!(planned(&two(1), |_| ()).0.cpus(), [0, 1]);
}

#[test]
fn a_row_is_selected_by_its_name_without_the_number() {
    let (plan, rows) = planned(&machine(8), |_| ());
    assert_eq!(rows.len(), plan.rows.len());
    let words: Vec<&str> = (0..rows.len()).map(|row| plan.word(row)).collect();
    assert_eq!(
        (words[0], words[5], words[6], words[12]),
        ("raw-socket", "raw-socket", "hyper", "raw-socket@2")
    );
    assert_eq!(plan.rows[8].title.as_deref(), Some("4 threads"));
}

#[test]
fn a_service_is_in_one_block_with_all_its_numbers_of_threads() {
    let (plan, _) = planned(&machine(64), |_| ());
    let names = |block: usize| {
        let group = plan.group(block);
        group.iter().map(|row| plan.rows[*row].label.clone()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(plan.groups(), 1, "two services of six rows and the twin");
    let mut three = plan.clone();
    let more: Vec<super::super::PlannedRow> = plan.rows[6..12]
        .iter()
        .map(|row| super::super::PlannedRow {
            label: row.label.replace("hyper", "axum"),
            service: "axum".to_owned(),
            ..row.clone()
        })
        .collect();
    three.rows.extend(more);
    three.points.iter_mut().for_each(|point| point.rows = (0..19).collect());
    assert_eq!(three.groups(), 3, "each with the six rows of the reference: axum, hyper, and the twin");
    for block in 0..9 {
        let labels: Vec<&str> =
            three.group(block).iter().map(|row| three.rows[*row].label.as_str()).collect();
        for service in ["hyper", "axum"] {
            let rows = labels.iter().filter(|label| label.starts_with(service)).count();
            assert!(rows == 0 || rows == 6, "{labels:?}");
        }
        assert_eq!(labels.iter().filter(|label| label.starts_with("raw-socket+")).count(), 6);
    }
    assert_eq!(names(0).len(), 13);
}
