//! How the extra slices are divided: starts, slices and their lengths, by what the run found out about its services.

use std::time::Duration;

use tare_bench::{
    plan::{LoadSpec, Plan, Point},
    record::Record,
    schedule::start_times_ns,
};

/// The time that the sampled slices and their starts should take.
const TARGET_NS: u64 = 20_000_000_000;
/// What is taken unasked must be over within about this time.
const UNASKED_NS_MAX: u64 = 30_000_000_000;
/// Starts of each service. With fewer the intervals are too wide to name anything, and more are no use.
const BLOCKS: std::ops::RangeInclusive<u64> = 7..=12;
/// The least time of sampled slices of one service in a block.
const SAMPLED_NS_MIN: u64 = 400_000_000;
/// Warm-up of a process: shares of functions need less of it than the cost that decided.
const WARM_UP_NS_MAX: u64 = 1_500_000_000;
/// The same if it was asked for.
const WARM_UP_NS_MAX_ASKED: u64 = 3_000_000_000;
/// The least, and what is taken if no pilot found out.
pub(crate) const WARM_UP_NS_MIN: u64 = 300_000_000;
const TIMES_MAX: u64 = 2;
const TIMES_MAX_ASKED: u64 = 4;
/// Length of a slice.
pub(crate) const SLICE_NS: u64 = 200_000_000;
/// What a slice takes beside its load: freezing, reading, and naming its samples.
const SLICE_MORE_NS: u64 = 30_000_000;
/// Every second block has one more slice of each row that is not sampled.
pub(crate) const PLAIN_EVERY: usize = 2;

/// A plan for slices that are sampled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Timing {
    /// The rows to be sampled: the first is the baseline.
    pub rows: Vec<usize>,
    pub blocks: usize,
    /// Sampled slices of each row in a block. In some blocks one more is not sampled.
    pub slices: usize,
    /// How many times as many slices services may get that wait most of the time.
    pub times_max: u64,
    pub warm_up_ns: u64,
    pub expected: Duration,
}

impl Timing {
    /// For these rows, which take so long to start, and to be warm. `is_asked`: the user asked for it, and so for the time that it
    /// takes, which is about `budget` if one is given.
    pub(crate) fn of(
        rows: &[usize],
        times: &[StartTimes],
        is_asked: bool,
        budget: Option<Duration>,
    ) -> Timing {
        let target_ns = budget.map_or(TARGET_NS, |budget| budget.as_nanos() as u64);
        let warm_up_ns_max = warm_up_ns_max(is_asked, budget);
        let longest = times.iter().map(|times| times.warm_up_ns).max().unwrap_or(0);
        let warm_up_ns = longest.clamp(WARM_UP_NS_MIN, warm_up_ns_max);
        let count = rows.len().max(1) as u64;
        let starts_ns: u64 = times.iter().map(|times| times.start_ns + warm_up_ns).sum();
        let plain_ns = count * (SLICE_NS + SLICE_MORE_NS) / PLAIN_EVERY as u64;
        let fixed_ns = starts_ns + plain_ns;
        let least_ns = fixed_ns + count * SAMPLED_NS_MIN;
        let blocks = (target_ns / least_ns).clamp(*BLOCKS.start(), *BLOCKS.end());
        let sampled_ns = (target_ns / blocks).saturating_sub(fixed_ns) / count;
        let slices = (sampled_ns.max(SAMPLED_NS_MIN) / (SLICE_NS + SLICE_MORE_NS)).clamp(2, 8);
        let expected_ns = blocks * (fixed_ns + count * slices * (SLICE_NS + SLICE_MORE_NS));
        Timing {
            rows: rows.to_vec(),
            blocks: blocks as usize,
            slices: slices as usize,
            times_max: match (budget, is_asked) {
                (Some(_), _) => 1,
                (None, true) => TIMES_MAX_ASKED,
                (None, false) => TIMES_MAX,
            },
            warm_up_ns,
            expected: Duration::from_nanos(expected_ns),
        }
    }

    /// Whether it may be taken although nothing asked for it.
    pub(crate) fn is_short(&self) -> bool {
        self.expected <= Duration::from_nanos(UNASKED_NS_MAX)
    }
}

/// How long a service takes to start and to stop, and then to be warm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StartTimes {
    pub start_ns: u64,
    pub warm_up_ns: u64,
}

impl StartTimes {
    /// By the pilots of a run; without them, what is usual.
    pub(crate) fn by_pilots(plan: &Plan, rows: &[usize], records: &[Record]) -> Vec<StartTimes> {
        let pilot = |row: usize| {
            records.iter().find_map(|record| match record {
                Record::Pilot(pilot) if pilot.row == row => Some(pilot),
                _ => None,
            })
        };
        let times = |row: &usize| {
            let (start_ns, warm_up_ns) = start_times_ns(plan, pilot(*row));
            StartTimes { start_ns, warm_up_ns }
        };
        rows.iter().map(times).collect()
    }
}

/// The longest warm-up of a process. A budget leaves half of itself for it.
pub(crate) fn warm_up_ns_max(is_asked: bool, budget: Option<Duration>) -> u64 {
    let starts = 2 * BLOCKS.start();
    match (budget, is_asked) {
        (Some(budget), _) => {
            (budget.as_nanos() as u64 / 2 / starts).clamp(WARM_UP_NS_MIN, WARM_UP_NS_MAX_ASKED)
        }
        (None, true) => WARM_UP_NS_MAX_ASKED,
        (None, false) => WARM_UP_NS_MAX,
    }
}

/// The first load of a plan, in slices that are long enough to be sampled.
pub(crate) fn with_slices(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let is_closed = |point: &Point| matches!(point.load, LoadSpec::Closed { .. });
    let first = plan.points.iter().position(is_closed).unwrap_or(0);
    plan.points = vec![plan.points.swap_remove(first)];
    if let LoadSpec::Closed { duration_ns, .. } | LoadSpec::Open { duration_ns, .. } =
        &mut plan.points[0].load
    {
        *duration_ns = SLICE_NS;
    }
    plan
}

#[cfg(test)]
mod tests {
    use tare_bench::{fixture, record::Pilot};

    use super::*;

    /// A pilot of a service that takes this long to start, and to be warm.
    fn pilot(row: usize, start_ns: u64, steady_after_ns: u64) -> Pilot {
        let steady_after_ns = Some(steady_after_ns);
        let (window_ns, answered) = (100_000_000, vec![1000; 12]);
        Pilot { row, start_ns, steady_after_ns, window_ns, answered, ..Pilot::default() }
    }

    fn timing(start_ns: u64, steady_after_ns: u64, is_asked: bool) -> Timing {
        let plan = fixture::compared().plan;
        let records = [0, 1].map(|row| Record::Pilot(pilot(row, start_ns, steady_after_ns)));
        Timing::of(&[0, 1], &StartTimes::by_pilots(&plan, &[0, 1], &records), is_asked, None)
    }

    #[test]
    fn a_quick_service_has_many_starts_and_a_slow_one_fewer() {
        let quick = timing(60_000_000, 100_000_000, false);
        assert!(quick.is_short() && quick.blocks >= 10, "{quick:?}");
        let slow = timing(400_000_000, 1_000_000_000, false);
        assert!(slow.blocks < 10 && slow.blocks >= 7, "{slow:?}");
        let slowest = timing(6_000_000_000, 9_000_000_000, false);
        assert!(!slowest.is_short() && slowest.blocks == 7, "{slowest:?}");
    }

    #[test]
    fn what_is_sampled_has_one_load_in_longer_slices() {
        let (plan, timing) = (with_slices(&fixture::compared().plan), timing(60_000_000, 100_000_000, true));
        assert_eq!((plan.points.len(), plan.points[0].load.duration_ns()), (1, SLICE_NS));
        assert!(timing.slices >= 2 && timing.times_max == TIMES_MAX_ASKED);
    }
}
