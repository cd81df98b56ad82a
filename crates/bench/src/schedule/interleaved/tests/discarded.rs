use super::*;

#[test]
fn a_slice_without_figures_is_stored_in_its_place_and_its_row_goes_on() {
    let mut plan = plan(3, 1);
    (plan.blocks_mut().min, plan.blocks_mut().max) = (2, 2);
    let spoils = [2, 3, 17].into();
    let (mut fake, mut journal) = (Fake { spoils, ..Fake::new() }, Memory::default());
    assert_eq!(run(&plan, &mut fake, &mut journal).unwrap(), Ending::BlocksMax);
    let discarded: Vec<&DiscardedSlice> = journal.records.iter().filter_map(Record::discarded).collect();
    assert_eq!(discarded.len(), 3);
    assert!(
        discarded.iter().all(|slice| slice.is_closed && slice.is_lost && slice.reasons == ["b:2 is lost"])
    );
    let measured = journal.records.iter().filter_map(Record::sample).count();
    assert_eq!(measured + 3, 2 * plan.samples(), "each slice was begun once");
    let places: BTreeSet<_> =
        journal.records.iter().filter_map(Record::place).map(|place| format!("{place:?}")).collect();
    assert_eq!(places.len(), journal.records.len() - 1, "and has a place of its own, all but the end");
    assert!(!journal.records.iter().any(|record| matches!(record, Record::Failed(_))), "no row is out");
    let past = journal.records.clone();
    assert_eq!(ResumeState::of(&plan, &past).blocks, 2, "a run with them can be resumed");
}

/// Its rate is a share of the unknown capacity.
#[test]
fn an_open_loop_at_a_capacity_that_is_not_known_is_left_out() {
    let mut plan = fixture::with_rates(plan(2, 1), &[Rate::OfCapacity(0.5)], 1);
    (plan.blocks_mut().min, plan.blocks_mut().max) = (2, 2);
    let closed = 2 * plan.slices_per_block();
    // In the first block no closed loop has figures.
    let (mut fake, mut journal) = (Fake { spoils: (1..=closed).collect(), ..Fake::new() }, Memory::default());
    run(&plan, &mut fake, &mut journal).unwrap();
    let open = journal.records.iter().filter_map(Record::sample).filter(|sample| sample.is_open());
    assert_eq!(open.map(|sample| sample.block).collect::<BTreeSet<_>>(), BTreeSet::from([1]));
}
