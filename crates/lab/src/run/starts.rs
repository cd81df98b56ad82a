//! How many blocks a process lasts. A service that is warm at once is started afresh for each; one that takes half a minute
//! to warm up would spend a campaign on that, so its process is kept, frozen, for a few blocks. A start is then what is
//! independent, and not a block (see `tare_stats::two_level`).

use super::{plan::Plan, until::Until};

/// Most blocks of one process. Powers of two, so that processes of two such services end together.
pub const BLOCKS_PER_START_MAX: usize = 4;
/// So many starts there must be in the budget: of fewer nobody knows how much they differ.
const STARTS_MIN: usize = 4;
/// What starting, proving and stopping a service take beside its warm-up.
pub const START_NS: u64 = 600_000_000;

/// For how many blocks a process is kept that takes `warm_up_ns` until it is steady: sqrt(cost of a start / cost of a
/// block), which is best where starts vary as much as blocks (`two_level::slices_per_start`), as a power of two.
///
/// One block where looks decide when the campaign ends: they are planned in blocks that are independent.
pub fn blocks_per_start(plan: &Plan, warm_up_ns: u64) -> usize {
    if plan.until != Until::Budget {
        return 1;
    }
    let (start_ns, block_ns) = (START_NS + warm_up_ns, plan.measured_ns() + plan.warm_up_ns);
    let best = (start_ns as f64 / block_ns.max(1) as f64).sqrt();
    let power = 2_usize.pow(best.max(1.0).log2().round() as u32);
    let most = plan.blocks_expected() / STARTS_MIN;
    let allowed =
        std::iter::successors(Some(1), |blocks| Some(blocks * 2)).take_while(|blocks| *blocks <= most);
    power.min(plan.blocks_per_start_max).min(allowed.last().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture;

    fn plan() -> Plan {
        let slices = Plan { slices_per_block: 8, warm_up_ns: 500_000_000, ..fixture::plan(&["a", "b"]) };
        Plan { warm_up_ns_max: Some(60_000_000_000), ..slices }
    }

    #[test]
    fn dear_starts_last_for_several_blocks() {
        let of = |seconds: f64| blocks_per_start(&plan(), (seconds * 1e9) as u64);
        assert_eq!([0.5, 1.0, 3.0, 8.0, 30.0, 600.0].map(of), [1, 1, 2, 2, 4, 4]);
    }

    #[test]
    fn there_are_starts_enough_to_tell_how_they_differ() {
        let of = |blocks_max| blocks_per_start(&Plan { blocks_min: 1, blocks_max, ..plan() }, 30_000_000_000);
        assert_eq!([40, 16, 15, 8, 7, 1].map(of), [4, 4, 2, 2, 1, 1]);
    }

    #[test]
    fn looks_are_planned_in_fresh_blocks() {
        let plan = Plan { until: fixture::compared().plan.until, ..plan() };
        assert_eq!(blocks_per_start(&plan, 30_000_000_000), 1);
    }
}
