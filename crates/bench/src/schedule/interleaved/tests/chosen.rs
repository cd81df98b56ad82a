//! The division of a comparison after its pilots.

use super::*;
use crate::metric::Metric;

/// The looks too, because the cost of a start is unknown before.
#[test]
fn a_comparison_has_as_many_blocks_as_fit_after_its_pilots_and_keeps_them_when_it_is_resumed() {
    let compared = |start_ns| {
        let plan = in_blocks(plan(2, 5), |blocks| {
            (blocks.min, blocks.max) = (4, 40);
            (blocks.warm_up_ns_max, blocks.spread) =
                (Some(3_000_000_000), Some(crate::plan::Spread::DEFAULT));
        });
        let plan = plan.until_compared(0.03, vec![Metric::Cpu]);
        let plan = plan.bounded_with_looks(std::time::Duration::from_secs(60));
        let (mut fake, mut journal) = (Fake { start_ns, ..Fake::new() }, Memory::default());
        run(&plan, &mut fake, &mut journal).unwrap();
        (plan, journal.records)
    };
    let chosen = |records: &[Record]| {
        let of = |record: &Record| match record {
            Record::Block(block) => block.chosen,
            _ => None,
        };
        let all: Vec<_> = records.iter().filter_map(of).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        all[0]
    };
    let [(plan, quick), (_, slow)] = [50_000_000, 2_000_000_000].map(compared);
    let [many, few] = [&quick, &slow].map(|records| chosen(records));
    assert!(many.blocks_max > few.blocks_max && few.blocks_max >= 4, "{many:?} {few:?}");
    assert_eq!(rounds_of(&quick).len(), many.blocks_max, "the time is filled");
    let mut learned = plan.clone();
    quick.iter().for_each(|record| learned.learn(record));
    let Until::Gate(gate) = &learned.until else { panic!("{:?}", learned.until) };
    assert_eq!((learned.blocks().max, gate.looks.last()), (many.blocks_max, Some(&many.blocks_max)));

    let cut = quick.iter().position(|record| matches!(record, Record::Block(Block { block: 1, .. })));
    let (mut fake, mut rest) = (Fake { start_ns: 1_000_000_000, ..Fake::new() }, Memory::default());
    resume(&plan, &mut fake, &mut rest, &quick[..=cut.unwrap()]).unwrap();
    assert_eq!(chosen(&rest.records), many, "whatever starts take now");
}
