//! An experiment over several cores, on 64 simulated CPUs.

use tare_host::cpus::Pinning;

use super::*;
use crate::{
    experiment::{Cores, GeneratorThreads},
    plan::MachineCpus,
};

/// A reference and a service with 1 to 32 threads each, on this number of CPUs.
fn plan_on(cpus: usize) -> Plan {
    let threads = vec![1, 2, 4, 8, 16, 32];
    let cores = Cores { generator: GeneratorThreads::Each(threads.clone()), threads };
    let labels: Vec<String> = ["raw-socket", "hyper"]
        .iter()
        .flat_map(|word| cores.threads.iter().map(|number| crate::plan::cores_label(word, *number)))
        .collect();
    let mut plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
    plan.rows.iter_mut().for_each(|row| row.service = row.label.split('+').next().unwrap().to_owned());
    let plan = fixture::at_points(plan, |point| point.rounds = 4);
    let plan = in_blocks(plan, |blocks| {
        (blocks.min, blocks.max, blocks.budget_ns) = (6, 9, 3_600_000_000_000);
        blocks.warm_up_ns_max = Some(3_000_000_000);
    });
    let cpus: Vec<usize> = (0..cpus).collect();
    let numbers = cores.threads.iter().cycle().copied().take(12);
    cores.enter_each(plan, numbers, &MachineCpus { cores: cpus.clone(), cpus })
}

/// The rows of each round, in order.
fn rounds(records: &[Record]) -> BTreeMap<(usize, usize), Vec<usize>> {
    let mut rounds: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for sample in records.iter().filter_map(Record::sample) {
        rounds.entry((sample.block, sample.round)).or_default().push(sample.row);
    }
    rounds
}

#[test]
fn all_numbers_of_threads_are_interleaved_in_every_round_of_every_block() {
    let plan = plan_on(64);
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    assert_eq!(run(&plan, &mut fake, &mut journal).unwrap(), Ending::BlocksMax);
    let rounds = rounds(&journal.records);
    assert_eq!(rounds.len(), 9 * 4);
    for rows in rounds.values() {
        assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), (0..12).collect());
        assert_eq!(rows.len(), 12);
    }
    assert_eq!(rounds.values().collect::<BTreeSet<_>>().len(), rounds.len(), "each in an order of its own");
    // No number of threads comes earlier on average: the mean place of 12 is 5.5, with a deviation of 0.6.
    for row in 0..12 {
        let places = rounds.values().map(|rows| rows.iter().position(|other| *other == row).unwrap() as f64);
        let mean = places.sum::<f64>() / rounds.len() as f64;
        assert!((3.0..8.0).contains(&mean), "row {row} stands at {mean}");
    }
    let pilots = journal.records.iter().filter(|record| matches!(record, Record::Pilot(_))).count();
    assert_eq!(pilots, 12, "how long it warms up depends on the number of threads");
    assert!(fake.is_alone());
}

#[test]
fn no_row_shares_a_cpu_with_its_generator() {
    let plan = plan_on(64);
    for row in plan.members() {
        let Pinning { server, generator } = plan.pinning_of(row);
        assert_eq!((server.len(), generator.len()), (plan.rows[row].threads.unwrap(), server.len()));
        assert!(plan.pinning_of(row).apart());
    }
}

#[test]
fn a_run_that_is_resumed_goes_on_in_the_same_order() {
    let plan = plan_on(64);
    let mut whole = Memory::default();
    run(&plan, &mut Fake::new(), &mut whole).unwrap();
    let mut cut = Memory::default();
    let mut fake = Fake { interrupt_after_slices: 4 * 48, ..Fake::new() };
    assert_eq!(run(&plan, &mut fake, &mut cut).unwrap(), Ending::Interrupted);
    let past = cut.records.clone();
    assert_eq!(resume(&plan, &mut Fake::new(), &mut cut, &past).unwrap(), Ending::BlocksMax);
    assert_eq!(rounds(&cut.records), rounds(&whole.records));
}

#[test]
fn on_two_cpus_one_thread_is_measured_and_the_rest_is_left_out() {
    let plan = plan_on(2);
    let mut journal = Memory::default();
    run(&plan, &mut Fake::new(), &mut journal).unwrap();
    let measured: BTreeSet<usize> =
        journal.records.iter().filter_map(Record::sample).map(|it| it.row).collect();
    assert_eq!(measured.into_iter().collect::<Vec<_>>(), [0, 6]);
    let out = plan.rows.iter().filter(|row| row.excluded.is_some()).count();
    assert_eq!(out, 10);
}
