//! Division of a run into blocks and slices, from the costs and spreads of a slice and a start.

use serde::{Deserialize, Serialize};
use tare_stats::{DEFAULT_CONFIDENCE, expected::Planned};

use super::{Plan, Until};
use crate::{metric::Metric, record::ChosenBlocks, slo::SloPlan};

/// Overhead of a slice beside its load: draining, freezing, thawing, reading counters. 3.9 ms in a run of
/// `quick`.
const SLICE_MORE_NS: u64 = 4_000_000;
/// The same with agents: new connections, clock readings, and the wait for the common start.
const SLICE_OF_AGENTS_MORE_NS: u64 = 500_000_000;
/// Allowed slices per block. With fewer, starts dominate; with more, a block outlasts short disturbances.
const SLICES: std::ops::RangeInclusive<usize> = 8..=100;
/// The same with agents, whose slices are forty times as long.
const SLICES_OF_AGENTS: std::ops::RangeInclusive<usize> = 2..=100;
/// Share of the time that blocks are planned to fill, because their duration is an estimate.
const FILLED: f64 = 0.97;
/// A comparison uses the fewest slices whose interval is at most 3% wider than the best. More, shorter blocks
/// lose less time when a block takes longer than expected.
const NEARLY: f64 = 1.03;
/// Lower bound of a start's spread; with less, a single start would be optimal.
const START_MIN: f64 = 0.01;

/// Standard deviations of ln(row / reference) in a block: of a slice, and of a start beyond its slices.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub slice: f64,
    pub start: f64,
    /// Stored blocks that it was estimated from; 0 for the default.
    pub blocks: usize,
}

impl Spread {
    /// From a run of `quick`: twelve services on a machine with two virtual CPUs and other tenants.
    pub const DEFAULT: Spread = Spread { slice: 0.22, start: 0.03, blocks: 0 };

    /// Standard deviation of a block with this number of slices.
    pub fn of_block(self, slices: usize) -> f64 {
        (self.start.powi(2) + self.slice.powi(2) / slices.max(1) as f64).sqrt()
    }
}

/// The costs that determine how a run is divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockCosts {
    /// Rows per block.
    pub rows: usize,
    /// Duration of all starts of a block.
    pub starts_ns: u64,
    /// Time left for blocks.
    pub left_ns: u64,
}

/// Slices of each row in a block, and the planned number of blocks of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Division {
    pub slices: usize,
    pub blocks: usize,
}

impl Plan {
    /// Overhead of a slice beside its load.
    fn slice_more_ns(&self) -> u64 {
        if self.agents.is_some() { SLICE_OF_AGENTS_MORE_NS } else { SLICE_MORE_NS }
    }

    /// Allowed slices per block, if the number is chosen.
    fn slices_allowed(&self) -> std::ops::RangeInclusive<usize> {
        if self.agents.is_some() { SLICES_OF_AGENTS } else { SLICES }
    }

    /// Duration of one slice of one row under every closed load, including overhead.
    pub(crate) fn slices_ns(&self) -> u64 {
        let of = |point: usize| self.points[point].load.duration_ns() + self.slice_more_ns();
        self.closed_loops().map(of).fold(0, u64::saturating_add)
    }

    /// Duration of all open loops of one row in a block.
    fn open_ns(&self) -> u64 {
        let of = |(point, _): (usize, _)| {
            let point: &super::Point = &self.points[point];
            // A search reserves rounds for windows that may be discarded.
            let rounds = self.slo().map_or(point.rounds, SloPlan::windows_expected);
            (point.load.duration_ns() + self.slice_more_ns()) * rounds as u64
        };
        self.rates().map(of).sum()
    }

    /// Duration of a block with this number of slices.
    pub(crate) fn block_ns(&self, costs: &BlockCosts, slices: usize) -> u64 {
        costs.starts_ns + costs.rows as u64 * (slices as u64 * self.slices_ns() + self.open_ns())
    }

    /// Divides blocks for these costs. A plan may fix the slices. Otherwise their number minimises the
    /// variance for the time: sqrt(cost of a start / cost of a slice) x spread of a slice / spread of a start
    /// (Kalibera and Jones 2013). Blocks are shorter if the fewest would not fit, and spare time goes into
    /// slices.
    ///
    /// A short comparison has few blocks, so it takes the slices that minimise the expected interval.
    pub(crate) fn division(&self, costs: &BlockCosts) -> Division {
        let (least, most) = (self.blocks().min, self.blocks().max);
        let fit = |slices| match self.fitting(costs, slices) {
            blocks if self.chooses_looks() => self.blocks_looked_at(blocks),
            blocks => blocks.clamp(least, most),
        };
        let Some(spread) = self.blocks().spread else {
            let slices = self.slices_per_block();
            return Division { slices, blocks: fit(slices) };
        };
        let start_ns = costs.starts_ns as f64 / costs.rows.max(1) as f64;
        let best =
            (start_ns / self.slices_ns().max(1) as f64).sqrt() * spread.slice / spread.start.max(START_MIN);
        let allowed = self.slices_allowed();
        let best = (best.round() as usize).clamp(*allowed.start(), *allowed.end());
        if self.compares_versions() {
            let slices = self.narrowest(costs, spread, best);
            return Division { slices, blocks: fit(slices) };
        }
        let blocks = fit(best);
        // A run that may stop early does not benefit from longer blocks.
        let filling = if blocks < most { self.filling(costs, blocks) } else { best };
        let slices = if self.until == Until::Budget { filling } else { filling.min(best) };
        Division { slices, blocks }
    }

    /// The division of a comparison, and its expected interval.
    pub(crate) fn chosen(&self, division: Division, spread: Option<Spread>) -> ChosenBlocks {
        let Division { slices, blocks } = division;
        let confidence = 1.0 - self.until.alpha_of(Metric::Cpu).unwrap_or(1.0 - DEFAULT_CONFIDENCE);
        let half_width = |spread: Spread| {
            let block = Planned { sd: spread.of_block(slices), contrasts: 1 };
            Some(block.half_width(blocks, confidence)?.exp_m1())
        };
        let half_width_expected = spread.or(self.blocks().spread).and_then(half_width);
        ChosenBlocks { blocks_max: blocks, slices, half_width_expected }
    }

    /// Number of blocks with this number of slices that fit into the time.
    fn fitting(&self, costs: &BlockCosts, slices: usize) -> usize {
        let cycle_ns = self.block_ns(costs, slices).saturating_mul(self.groups() as u64).max(1);
        (costs.left_ns as f64 * FILLED / cycle_ns as f64) as usize
    }

    /// The fewest slices, up to `most`, whose expected interval is within [`NEARLY`] of the narrowest.
    fn narrowest(&self, costs: &BlockCosts, spread: Spread, most: usize) -> usize {
        let half_width = |slices: usize| {
            let blocks = self.fitting(costs, slices).min(self.blocks().max);
            let block = Planned { sd: spread.of_block(slices), contrasts: 1 };
            block.half_width(blocks, DEFAULT_CONFIDENCE).unwrap_or(f64::INFINITY)
        };
        let slices = *self.slices_allowed().start()..=most;
        let least = slices.clone().map(half_width).fold(f64::INFINITY, f64::min);
        slices.clone().find(|slices| half_width(*slices) <= least * NEARLY).unwrap_or(*slices.start())
    }

    /// Slices per block with which this number of blocks fills the time.
    fn filling(&self, costs: &BlockCosts, blocks: usize) -> usize {
        let block_ns = (costs.left_ns as f64 * FILLED) as u64 / (blocks * self.groups()).max(1) as u64;
        let slices_ns = block_ns.saturating_sub(self.block_ns(costs, 0));
        let all_ns = costs.rows as u64 * self.slices_ns();
        let allowed = self.slices_allowed();
        ((slices_ns / all_ns.max(1)) as usize).clamp(*allowed.start(), *allowed.end())
    }

    /// The division expected before the pilots.
    pub(crate) fn division_expected(&self) -> Division {
        self.division(&self.costs_expected())
    }

    /// The plan with a known spread of slices and starts, and the number of slices that follows.
    #[must_use]
    pub fn with_spread(self, spread: Spread) -> Plan {
        let mut this = self.spreading_as(spread);
        let slices = this.division_expected().slices;
        let closed: Vec<usize> = this.closed_loops().collect();
        closed.into_iter().for_each(|point| this.points[point].rounds = slices);
        this
    }

    /// The plan with a known spread, but with its number of slices unchanged.
    pub(crate) fn spreading_as(mut self, spread: Spread) -> Plan {
        if let super::Order::Interleaved(blocks) = &mut self.order {
            blocks.spread = Some(spread);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, in_blocks};

    const SECOND_NS: u64 = 1_000_000_000;

    /// Twelve rows with slices of 50 ms, whose number is chosen.
    fn plan() -> Plan {
        let labels: Vec<String> = (0..12).map(|row| row.to_string()).collect();
        let plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
        let plan = fixture::at_points(plan, |point| {
            if let crate::plan::LoadSpec::Closed { duration_ns, .. } = &mut point.load {
                *duration_ns = 50_000_000;
            }
        });
        in_blocks(plan, |blocks| (blocks.min, blocks.spread) = (6, Some(Spread::DEFAULT)))
    }

    fn costs(start_s: f64, left_s: u64) -> BlockCosts {
        let starts_ns = (12.0 * start_s * 1e9) as u64;
        BlockCosts { rows: 12, starts_ns, left_ns: left_s * SECOND_NS }
    }

    fn division(start_s: f64, left_s: u64) -> (usize, usize) {
        let Division { slices, blocks } = plan().division(&costs(start_s, left_s));
        (slices, blocks)
    }

    #[test]
    fn slices_are_as_many_as_starts_are_dear() {
        // sqrt(0.8 s / 54 ms) x 22% / 3% = 28, and sqrt(0.2 / 0.054) x 22 / 3 = 14; forty blocks fit.
        assert_eq!([division(0.8, 5_000), division(0.2, 5_000)], [(28, 40), (14, 40)]);
    }

    #[test]
    fn the_time_is_filled_and_the_fewest_blocks_always_fit_as_far_as_they_can() {
        // A block of 28 slices takes 9.6 + 18.1 s. 250 s have room for eight, of 31 slices then.
        assert_eq!(division(0.8, 250), (31, 8));
        // Six of them take 166 s, so in 140 s they are shorter.
        assert_eq!(division(0.8, 140), (20, 6));
        assert_eq!(division(0.8, 20), (8, 6), "and no shorter than this");
        for left_s in 100..900 {
            let costs = costs(0.8, left_s);
            let Division { slices, blocks } = plan().division(&costs);
            let share = (plan().block_ns(&costs, slices) * blocks as u64) as f64 / costs.left_ns as f64;
            assert!((0.9..=FILLED).contains(&share), "{left_s} s: {slices} x {blocks}, {share}");
        }
    }

    /// Arguments: duration of a start, and available time, in seconds.
    #[test]
    fn a_comparison_has_blocks_enough_to_know_how_they_differ() {
        let plan = plan();
        let plan = Plan { until: fixture::compared().plan.until, ..plan };
        let of = |start_s: f64, left_s| {
            let costs =
                BlockCosts { rows: 2, starts_ns: (2.0 * start_s * 1e9) as u64, left_ns: left_s * SECOND_NS };
            let Division { slices, blocks } = plan.division(&costs);
            (slices, blocks)
        };
        assert_eq!(
            [of(2.2, 80), of(0.3, 80), of(10.0, 80), of(2.2, 600)],
            [(24, 11), (12, 40), (49, 6), (43, 40)]
        );
        assert_eq!(of(50.0, 80), (8, 6), "no two blocks fit");
    }

    #[test]
    fn what_an_experiment_fixes_stays() {
        let plan = fixture::at_points(plan(), |point| point.rounds = 5);
        let plan = in_blocks(plan, |blocks| blocks.spread = None);
        let all = [140, 250, 5_000].map(|left_s| plan.division(&costs(0.8, left_s)).slices);
        assert_eq!(all, [5; 3]);
    }

    #[test]
    fn the_number_chosen_is_that_of_the_least_variance_for_the_time() {
        let spread = Spread::DEFAULT;
        let costs = costs(0.8, 5_000);
        let best = plan().division(&costs).slices;
        let price = |slices: usize| spread.of_block(slices).powi(2) * plan().block_ns(&costs, slices) as f64;
        let least = (8..=100).min_by(|a, b| price(*a).total_cmp(&price(*b))).unwrap();
        assert!(least.abs_diff(best) <= 1, "{least} and {best}");
    }

    /// Start-ups and warm-ups from pilots of a run of `quick`, and pilots of 3.5 s.
    #[test]
    fn quick_spends_more_than_half_of_five_minutes_in_slices() {
        let warm_ups_s = [0.25, 0.5, 0.25, 1.5, 0.5, 0.5, 1.0, 2.0, 0.5, 0.25, 0.5, 1.5, 0.25];
        let starts_s = [0.05, 0.03, 0.05, 0.04, 0.08, 0.08, 0.2, 0.37, 0.35, 0.71, 0.03, 0.04, 0.05];
        let starts_ns = (warm_ups_s.iter().chain(&starts_s).sum::<f64>() * 1e9) as u64;
        let left_ns = (300 - 42) * SECOND_NS;
        let costs = BlockCosts { rows: 13, starts_ns, left_ns };
        let Division { slices, blocks } = plan().division(&costs);
        let measured_s = (13 * slices * blocks) as f64 * 0.05;
        assert!(blocks >= 6);
        assert!(measured_s / 300.0 > 0.5, "{slices} slices, {measured_s} s");
    }
}
