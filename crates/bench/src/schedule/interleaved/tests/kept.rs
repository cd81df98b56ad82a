//! Processes with a long warm-up, which last for several blocks.

use super::*;

/// Three rows: one is never steady, and warms up for 40 s; two are steady soon.
fn slow_plan() -> Plan {
    let plan = fixture::at_points(plan(3, 1), |point| point.warm_up_ns = 3_000_000_000);
    in_blocks(plan, |blocks| {
        (blocks.warm_up_ns_max, blocks.max, blocks.budget_ns) = (Some(40_000_000_000), 13, u64::MAX);
    })
}

/// The blocks in which each row was started, and stopped.
fn lives(records: &[Record]) -> BTreeMap<usize, (Vec<usize>, Vec<usize>)> {
    let mut lives: BTreeMap<usize, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for record in records {
        match record {
            Record::Started(started) => lives.entry(started.row).or_default().0.push(started.block),
            Record::Stopped(stopped) => lives.entry(stopped.row).or_default().1.push(stopped.block),
            _ => {}
        }
    }
    lives
}

#[test]
fn a_process_that_was_dear_to_warm_up_lasts_for_several_blocks() {
    let plan = in_blocks(slow_plan(), |blocks| blocks.max = 25);
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    run(&plan, &mut fake, &mut journal).unwrap();
    let lives = lives(&journal.records);
    assert_eq!(lives[&0], (vec![0, 4, 8, 12, 16, 20, 24], vec![3, 7, 11, 15, 19, 23, 24]));
    assert_eq!(lives[&2].0, (0..25).collect::<Vec<_>>());
    assert_eq!(fake.woken, [0; 18]);
    assert_eq!(slices_of(&journal.records).into_values().collect::<Vec<_>>(), [25 * 4; 3]);
    assert!(fake.is_alone());
}

#[test]
fn a_start_that_is_dear_is_not_repeated_for_the_first_block() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    let plan =
        in_blocks(fixture::at_points(plan(3, 1), |point| point.warm_up_ns = 1_000_000_000), |blocks| {
            (blocks.warm_up_ns_max, blocks.budget_ns) = (Some(2_000_000_000), u64::MAX);
            (blocks.min, blocks.max, blocks.per_start_max) = (1, 3, 1);
        });
    // Rows: never steady, after 1 s, after 2 s. All warm up for 2 s, and start in 0.6 s.
    assert_eq!(run(&plan, &mut fake, &mut journal).unwrap(), Ending::BlocksMax);
    fake.from_pilots.sort_unstable();
    assert_eq!(fake.from_pilots, [0, 1, 2]);
    assert_eq!(fake.warm_ups.len(), 9);
    let started = |record: &&Record| matches!(record, Record::Started(started) if started.block == 0);
    assert_eq!(journal.records.iter().filter(started).count(), 3);
    assert!(fake.is_alone());

    // A cheap process is started again, and its stop counts as part of its start.
    let cheap = in_blocks(plan.clone(), |blocks| blocks.warm_up_ns_max = Some(1_200_000_000));
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    run(&cheap, &mut fake, &mut journal).unwrap();
    assert!(fake.from_pilots.is_empty());
    let Record::Pilot(pilot) = &journal.records[0] else { panic!("{:?}", journal.records[0]) };
    assert_eq!(pilot.start_ns, 700_000_000);

    // Compared versions keep the process too: each then completes the same warm-up.
    let versions = Plan { until: fixture::compared().plan.until, ..plan };
    let mut fake = Fake::new();
    run(&versions, &mut fake, &mut Memory::default()).unwrap();
    fake.from_pilots.sort_unstable();
    assert_eq!(fake.from_pilots, [0, 1, 2]);
    assert!(fake.warm_ups.iter().all(|(_, ns)| *ns == 2_000_000_000));
    assert!(fake.is_alone());
}

#[test]
fn a_pilot_that_is_cut_short_says_nothing_of_its_service() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.interrupts_pilot = true;
    assert_eq!(run(&slow_plan(), &mut fake, &mut journal).unwrap(), Ending::Interrupted);
    let pilots = |records: &[Record]| records.iter().filter(|r| matches!(r, Record::Pilot(_))).count();
    assert_eq!(pilots(&journal.records), 0);
    let (mut fake, mut rest) = (Fake::new(), Memory::default());
    resume(&slow_plan(), &mut fake, &mut rest, &journal.records).unwrap();
    assert_eq!(pilots(&rest.records), 3);
    assert!(fake.is_alone());
}

#[test]
fn a_process_that_lasts_ends_with_its_part_of_the_run() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.interrupt_after_slices = 3 * 4 + 2;
    run(&slow_plan(), &mut fake, &mut journal).unwrap();
    assert!(fake.is_alone());
    assert_eq!(lives(&journal.records)[&0], (vec![0], vec![1]));
    // The resumed part starts its own process, which lasts until the next one is due.
    let mut rest = Memory::default();
    resume(&slow_plan(), &mut Fake::new(), &mut rest, &journal.records).unwrap();
    assert_eq!(lives(&rest.records)[&0], (vec![2, 4, 6, 8, 10, 12], vec![3, 5, 7, 9, 11, 12]));
    for full_after in 4..60 {
        let (mut fake, mut journal) =
            (Fake::new(), Memory { full_after: Some(full_after), ..Memory::default() });
        run(&slow_plan(), &mut fake, &mut journal).unwrap_err();
        assert!(fake.is_alone(), "{full_after}");
    }
}

#[test]
fn a_process_that_lasts_has_as_many_blocks_of_its_own_whatever_the_groups() {
    let plan = fixture::at_points(plan(8, 1), |point| point.warm_up_ns = 3_000_000_000);
    let mut plan = in_blocks(plan, |blocks| {
        (blocks.group_max, blocks.max, blocks.budget_ns) = (4, 12, u64::MAX);
        blocks.warm_up_ns_max = Some(40_000_000_000);
    });
    // The slow row has a block in each of 12 cycles; as the reference it has all 36.
    for (reference, blocks) in [(2, 12), (0, 36)] {
        plan.reference = Some(plan.rows[reference].label.clone());
        let mut journal = Memory::default();
        run(&plan, &mut Fake::new(), &mut journal).unwrap();
        let own = journal.records.iter().filter_map(|record| match record {
            Record::Block(block) if block.order.contains(&0) => Some(block.block),
            _ => None,
        });
        let own: Vec<usize> = own.collect();
        let each_second = |from: usize| own.iter().copied().skip(from).step_by(2).collect::<Vec<_>>();
        assert_eq!(own.len(), blocks);
        assert_eq!(lives(&journal.records)[&0], (each_second(0), each_second(1)));
    }
}
