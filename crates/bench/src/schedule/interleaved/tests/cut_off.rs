use super::*;

#[test]
fn what_the_instrument_cannot_do_is_held_against_no_service_and_can_be_resumed() {
    let mut plan = plan(3, 1);
    plan.blocks_mut().max = 8;
    for full_from in [1, 12, 13, 30] {
        let mut fake = Fake { full_from: Some(full_from), ..Fake::new() };
        let mut journal = Memory::default();
        let error = run(&plan, &mut fake, &mut journal).unwrap_err();
        assert_eq!(error.to_string(), "no space");
        assert!(fake.is_alone(), "nothing is left running");
        let said = |record: &Record| matches!(record, Record::Failed(_) | Record::Ended(_));
        assert!(!journal.records.iter().any(said), "{:?}", journal.records);
        let measured = journal.records.iter().filter_map(Record::sample).count();
        assert_eq!(measured, full_from.next_multiple_of(12), "the block in which it happened is measured");
        let past = journal.records.clone();
        let ending = resume(&plan, &mut Fake::new(), &mut journal, &past).unwrap();
        assert_eq!(ending, Ending::BlocksMax, "the rest is measured once there is room");
        let blocks = rounds_of(&journal.records);
        assert_eq!(blocks.into_keys().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    }
}

/// A stop recorded for another block would replace that block's latencies.
#[test]
fn the_processes_of_a_block_that_is_cut_off_are_stopped_as_of_that_block() {
    let mut plan = plan(3, 1);
    plan.blocks_mut().max = 8;
    // A block has 1 + 3 + 12 + 3 records; this is the third slice of the second one.
    let mut journal = Memory { full_after: Some(19 + 6), ..Memory::default() };
    let mut fake = Fake::new();
    run(&plan, &mut fake, &mut journal).unwrap_err();
    let blocks: Vec<usize> = fake.stopped.iter().map(|(_, block)| *block).collect();
    assert_eq!(blocks, [0, 0, 0, 1, 1, 1]);
}
