//! Expected resolution of a planned run, from the spread of slices and starts, by Student's t on blocks.
//! Variances are moderated if there are enough rows.

use tare_bench::plan::{Plan, Spread, Until};
use tare_stats::expected::Planned;

/// With fewer blocks there is no interval, or a very wide one.
pub const BLOCKS_FEW: usize = 5;
/// From this number of blocks on intervals are informative.
pub const BLOCKS_ENOUGH: usize = 12;

const CONFIDENCE: f64 = 0.95;
/// Probability of detecting a difference.
const FOUND: f64 = 0.8;

/// Shares of CPU time per request. Two rows differ like a row and the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedShares {
    /// Half width of the interval of a row's cost, relative to the reference.
    pub half_width: f64,
    /// The difference of two rows that 8 of 10 runs detect, if only this pair is tested.
    pub found_alone: f64,
    /// The same if all pairs share the error probability.
    pub found_among_all: f64,
    pub pairs: usize,
    /// Stored blocks that the spread was estimated from; 0 for the default.
    pub of_blocks: usize,
}

impl ExpectedShares {
    /// Absent without a reference, or if two blocks do not fit.
    pub fn of(plan: &Plan) -> Option<ExpectedShares> {
        plan.reference.as_ref()?;
        let (spread, planned) = spread_of(plan);
        let rows = plan.rows.iter().filter(|row| !plan.is_twin(&row.label)).count();
        let (blocks, pairs) = (plan.blocks_expected(), rows * rows.saturating_sub(1) / 2);
        let found = |alpha: f64| Some(planned.smallest_found(blocks, alpha, FOUND)?.exp_m1());
        Some(ExpectedShares {
            half_width: planned.half_width(blocks, CONFIDENCE)?.exp_m1(),
            found_alone: found(1.0 - CONFIDENCE)?,
            found_among_all: found((1.0 - CONFIDENCE) / pairs.max(1) as f64)?,
            pairs,
            of_blocks: spread.blocks,
        })
    }
}

/// Blocks for the requested precision within the budget; absent if none is requested.
pub fn blocks_needed(plan: &Plan) -> Option<Option<usize>> {
    let Until::Precision(asked) = plan.until else { return None };
    let needed =
        spread_of(plan).1.values_needed(asked.half_width.ln_1p(), CONFIDENCE, plan.blocks_expected());
    Some(needed.map(|blocks| blocks.max(plan.blocks().min)))
}

/// The spread, and a block's plan: every row except the reference is a contrast.
fn spread_of(plan: &Plan) -> (Spread, Planned) {
    let spread = plan.blocks().spread.unwrap_or(Spread::DEFAULT);
    let sd = spread.of_block(plan.slices_per_block());
    (spread, Planned { sd, contrasts: plan.rows.len().saturating_sub(1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::{
        fixture::{self, in_blocks},
        plan::until::Precision,
    };

    fn plan(budget_s: u64) -> Plan {
        let plan = fixture::plan(&["a", "b", "c", "d"]);
        let plan = in_blocks(plan, |blocks| (blocks.min, blocks.budget_ns) = (6, budget_s * 1_000_000_000));
        plan.with_spread(Spread { slice: 0.1, start: 0.02, blocks: 9 })
    }

    #[test]
    fn more_time_shows_more() {
        let [short, long] = [60, 200].map(|budget_s| ExpectedShares::of(&plan(budget_s)).unwrap());
        assert!(long.half_width < 0.7 * short.half_width, "{long:?} {short:?}");
        assert!(short.half_width < short.found_alone && short.found_alone < short.found_among_all);
        assert_eq!((short.pairs, short.of_blocks), (6, 9));
        assert_eq!(ExpectedShares::of(&Plan { reference: None, ..plan(60) }), None);
    }

    #[test]
    fn a_precision_takes_blocks() {
        let needed = |half_width| {
            let until = Until::Precision(Precision { half_width });
            blocks_needed(&Plan { until, ..plan(200) })
        };
        assert_eq!((blocks_needed(&plan(200)), needed(0.5)), (None, Some(Some(6))));
        assert!(needed(0.015).unwrap() > Some(6) && needed(0.000_1) == Some(None));
    }
}
