//! The number of blocks per process. A service that warms up quickly is started afresh for each block. One
//! that takes half a minute would use up the run, so its frozen process is kept for a few blocks. Starts are
//! then independent, not blocks (see `tare_stats::two_level`).

use crate::{
    plan::{BlockCosts, Division, Plan, START_NS, Spread},
    record::Pilot,
    sample::RequestCost,
};

/// The budget must have room for this number of starts: with fewer, their variance is poorly estimated. For
/// equal variance the interval of three (Student's t) is 2.4 times as wide as that of six.
const STARTS_MIN: usize = 6;
/// Processes warm up at different speeds, and the last percents take longest. With only the pilot's own time,
/// the first slices of three in eight services cost 7 to 16% more than their last.
const WARM_UP_TIMES: f64 = 2.0;
/// For services that compiled beyond their share of time: longer warm-ups would leave too few starts.
const WARM_UP_TIMES_LATE: f64 = 1.5;

/// A start that takes this long is not repeated for the first block, which uses the pilot's process. Cheaper
/// ones are repeated, so that fewer processes wait.
const DEAR_NS: u64 = 2_000_000_000;

/// Cost of a service's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartCost {
    /// Load until the service is steady.
    pub warm_up_ns: u64,
    /// Time until it is ready, and until it has stopped.
    pub start_ns: u64,
    /// Time that the first block saves by using the pilot's process; 0 if that was released.
    pub saved_ns: u64,
}

impl StartCost {
    /// The estimate for a service without a pilot.
    pub(super) fn guess(plan: &Plan) -> StartCost {
        StartCost { warm_up_ns: plan.warm_up_ns(), start_ns: START_NS, saved_ns: 0 }
    }

    /// The cost after this pilot. The warm-up is a multiple of the time until it was steady, or the longest.
    pub(super) fn of(plan: &Plan, pilot: &Pilot) -> StartCost {
        let loaded_ns = pilot.answered.len() as u64 * pilot.window_ns;
        let (longest, times) = match pilot.went_on {
            true => (loaded_ns, WARM_UP_TIMES_LATE),
            false => (plan.blocks().warm_up_ns_max.unwrap_or(plan.warm_up_ns()), WARM_UP_TIMES),
        };
        let warm_up_ns = pilot.steady_after_ns.map_or(longest, |ns| (ns as f64 * times) as u64);
        let warm_up_ns = warm_up_ns.clamp(plan.warm_up_ns(), longest.max(plan.warm_up_ns()));
        let is_kept = pilot.start_ns + warm_up_ns >= DEAR_NS;
        // The kept process warms up for the rest, and at least briefly, like every process that has waited.
        let loaded_ns = loaded_ns.min(warm_up_ns - plan.warm_up_ns());
        let saved_ns = if is_kept { pilot.start_ns + loaded_ns } else { 0 };
        StartCost { warm_up_ns, start_ns: pilot.start_ns, saved_ns }
    }

    /// Whether the first block uses the process of the pilot.
    pub(super) fn keeps_pilot(self) -> bool {
        self.saved_ns > 0
    }

    /// Mean cost per block beside the slices, if a process lasts for `blocks` blocks.
    pub(super) fn ns_per_block(self, plan: &Plan, blocks: usize) -> u64 {
        let blocks = blocks as u64;
        (self.start_ns + self.warm_up_ns + (blocks - 1) * plan.warm_up_ns()) / blocks
    }
}

/// Variation of cost between neighbouring windows, over all pilots: absolute differences of logarithms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Noise(Vec<f64>);

impl Noise {
    /// A slice is half as long as a window, but most noise does not depend on length.
    const OF_A_SLICE: f64 = 1.2;
    /// Median of a normal distribution's absolute deviation, in standard deviations.
    const MIDDLE: f64 = 0.674_5;
    /// Prior spread between two versions of Go and Node.js services in a round, on a quiet machine, and its
    /// weight in windows. Slices spread more than windows, because a service is frozen between them.
    const SLICE: f64 = 0.065;
    const SLICE_WINDOWS: usize = 10;
    /// Spread between starts of one program in addition to its slices: 0 to 1% for Go and Node.js.
    const START: f64 = 0.015;

    pub(super) fn add(&mut self, pilot: &Pilot) {
        let counted = pilot.server_cpu_ns.iter().zip(&pilot.answered);
        let costs =
            counted.filter_map(|(cpu_ns, answered)| RequestCost::of(*cpu_ns, *answered).per_request());
        let costs: Vec<f64> = costs.map(f64::ln).collect();
        self.0.extend(costs.windows(2).map(|pair| (pair[1] - pair[0]).abs()));
    }

    /// Spread of the ratio of two slices in a round, which differ like neighbouring windows. Absent without
    /// windows. Uses the median, because a service that warms up has large differences at first.
    pub(super) fn spread(&self) -> Option<Spread> {
        let mut differences = self.0.clone();
        differences.sort_by(f64::total_cmp);
        let middle = differences.get(differences.len() / 2)?;
        let (seen, usual) = (Self::OF_A_SLICE * middle / Self::MIDDLE, Self::SLICE);
        let (windows, of_usual) = (differences.len() as f64, Self::SLICE_WINDOWS as f64);
        let variance = (windows * seen.powi(2) + of_usual * usual.powi(2)) / (windows + of_usual);
        Some(Spread { slice: variance.sqrt(), start: Self::START, blocks: 0 })
    }
}

/// Number of blocks per process: sqrt(cost of a start / cost of a block), as a power of two. This is optimal
/// if starts vary as much as blocks (Kalibera and Jones 2013).
///
/// One block if looks decide when the run ends, because they assume independent blocks.
pub(super) fn blocks_per_start(plan: &Plan, division: Division, start: StartCost) -> usize {
    if plan.until.has_looks() {
        return 1;
    }
    let costs = BlockCosts { rows: 1, starts_ns: plan.warm_up_ns(), left_ns: 0 };
    let block_ns = plan.block_ns(&costs, division.slices);
    let best = ((start.start_ns + start.warm_up_ns) as f64 / block_ns.max(1) as f64).sqrt();
    let power = 2_usize.pow(best.max(1.0).log2().round() as u32);
    let most = division.blocks / STARTS_MIN;
    let allowed =
        std::iter::successors(Some(1), |blocks| Some(blocks * 2)).take_while(|blocks| *blocks <= most);
    power.min(plan.blocks().per_start_max).min(allowed.last().unwrap_or(1))
}

/// Divides a run for these start costs and this remaining time. A first pass assumes fresh processes per
/// block, which gives the number of blocks that a process may last. A second pass uses processes that last.
/// Starts of one program's versions differ little, and their slices differ like the pilots' windows, by
/// `seen`.
pub(super) fn division(
    plan: &Plan,
    seen: Option<Spread>,
    start: impl Fn(usize) -> StartCost,
    left_ns: u64,
) -> Division {
    let chooses = plan.compares_versions() && plan.blocks().spread.is_some();
    let of_versions = seen.filter(|_| chooses).map(|seen| plan.clone().spreading_as(seen));
    let plan = of_versions.as_ref().unwrap_or(plan);
    let group = plan.group(0);
    let left_ns = left_ns + plan.members().map(|row| start(row).saved_ns).sum::<u64>();
    let of = |per_start: &dyn Fn(StartCost) -> usize| {
        let starts = plan.members().map(|row| start(row).ns_per_block(plan, per_start(start(row))));
        // With several groups the reference is in each, and the mean represents the others.
        let members = plan.members().count().max(1) as u64;
        let starts_ns = starts.sum::<u64>() * group.len() as u64 / members;
        plan.division(&BlockCosts { rows: group.len(), starts_ns, left_ns })
    };
    let fresh = of(&|_| 1);
    match plan.blocks().spread {
        Some(_) => of(&|start| blocks_per_start(plan, fresh, start)),
        None => fresh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn start(seconds: f64) -> StartCost {
        StartCost { warm_up_ns: (seconds * 1e9) as u64, start_ns: START_NS, saved_ns: 0 }
    }

    fn plan() -> Plan {
        let plan = fixture::at_points(fixture::plan(&["a", "b"]), |point| {
            (point.rounds, point.warm_up_ns) = (8, 500_000_000);
        });
        fixture::in_blocks(plan, |blocks| blocks.warm_up_ns_max = Some(60_000_000_000))
    }

    #[test]
    fn dear_starts_last_for_several_blocks() {
        let division = plan().division_expected();
        let of = |seconds| blocks_per_start(&plan(), division, start(seconds));
        assert_eq!([0.5, 1.0, 3.0, 8.0, 30.0, 600.0].map(of), [1, 1, 2, 2, 4, 4]);
    }

    #[test]
    fn a_service_is_warmed_up_for_longer_than_its_pilot_took() {
        let warm_up_s = |steady_s: Option<u64>, went_on| {
            let steady_after_ns = steady_s.map(|seconds| seconds * 1_000_000_000);
            let pilot = Pilot { steady_after_ns, went_on, window_ns: 1_000_000_000, ..Pilot::default() };
            let pilot = Pilot { answered: vec![1; 16], ..pilot };
            let plan = fixture::in_blocks(plan(), |blocks| blocks.warm_up_ns_max = Some(9_000_000_000));
            StartCost::of(&plan, &pilot).warm_up_ns as f64 / 1e9
        };
        assert_eq!([Some(3), Some(7), None].map(|steady| warm_up_s(steady, false)), [6.0, 9.0, 9.0]);
        assert_eq!([Some(8), Some(14), None].map(|steady| warm_up_s(steady, true)), [12.0, 16.0, 16.0]);
    }

    #[test]
    fn slices_spread_as_neighbouring_windows_of_the_pilots_do() {
        let pilot = |costs: &[u64]| Pilot {
            answered: vec![1_000; costs.len()],
            server_cpu_ns: costs.to_vec(),
            ..Pilot::default()
        };
        let spread = |pilots: &[Pilot]| {
            let mut noise = Noise::default();
            pilots.iter().for_each(|pilot| noise.add(pilot));
            noise.spread()
        };
        assert_eq!(spread(&[pilot(&[100])]), None, "no two windows");
        // Alternating by a tenth is 1.2 / 0.6745 x ln 1.1 = 0.17; otherwise the prior counts more.
        let up_and_down = pilot(&[100, 110, 100, 110, 100, 110, 100, 110, 100, 110, 100]);
        let found = spread(&[up_and_down]).unwrap().slice;
        assert!(
            (found - (0.5_f64 * (0.1696_f64.powi(2) + Noise::SLICE.powi(2))).sqrt()).abs() < 0.001,
            "{found}"
        );
        let still = spread(&[pilot(&[100; 16]), pilot(&[100; 16])]).unwrap().slice;
        assert!((still - Noise::SLICE / 2.0).abs() < 0.001, "{still}");
        // It warms up, and is steady afterwards.
        let falls = spread(&[pilot(&[900, 500, 300, 100, 100, 100, 100, 100, 100])]).unwrap().slice;
        assert!(falls < Noise::SLICE, "{falls}");
    }

    #[test]
    fn a_start_is_shared_by_its_blocks() {
        assert_eq!(start(0.5).ns_per_block(&plan(), 1), 500_000_000 + START_NS);
        assert_eq!(start(30.0).ns_per_block(&plan(), 4), (30_000_000_000 + START_NS + 3 * 500_000_000) / 4);
    }

    #[test]
    fn there_are_starts_enough_to_tell_how_they_differ() {
        let of = |most| {
            let plan = fixture::in_blocks(plan(), |blocks| (blocks.min, blocks.max) = (1, most));
            blocks_per_start(&plan, plan.division_expected(), start(30.0))
        };
        assert_eq!([40, 24, 23, 12, 11, 1].map(of), [4, 4, 2, 2, 1, 1]);
    }

    #[test]
    fn looks_are_planned_in_fresh_blocks() {
        let plan = Plan { until: fixture::compared().plan.until, ..plan() };
        assert_eq!(blocks_per_start(&plan, plan.division_expected(), start(30.0)), 1);
    }
}
