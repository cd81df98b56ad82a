//! Changes of the cost per request during the life of a process, such as a step when a runtime compiles hot
//! code after 20 s. Only a process that lasts for several blocks lives that long; within a block of eight
//! slices the halves are compared (`interleaved::starts`).

use std::fmt;

use serde::Serialize;
use tare_stats::change_points;

use crate::figures::percent;

/// Error probability for a row with random differences only.
const ALPHA: f64 = 0.01;
/// Fewest slices in which a step is distinguishable from chance.
const SLICES_MIN: usize = 16;
/// Smallest reported step. Blocks differ by less without a cause.
const SHARE_MIN: f64 = 0.1;

/// Smallest share of processes with a step: a runtime takes it in most, a machine in few.
const PROCESSES_SHARE_MIN: f64 = 1.0 / 3.0;

/// The largest step of a row's processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CostStep {
    /// The change as a share of the cost before.
    pub share: f64,
    /// Slices of that process before the step, and all of its slices.
    pub after: usize,
    pub slices: usize,
    pub processes: usize,
    pub of: usize,
}

/// Finds steps in the log cost of a row relative to the reference in the same rounds, per process.
pub(crate) fn step(courses: &[Vec<f64>]) -> Option<CostStep> {
    let courses: Vec<&Vec<f64>> = courses.iter().filter(|course| course.len() >= SLICES_MIN).collect();
    let found: Vec<CostStep> =
        courses.iter().filter_map(|course| of_process(course, ALPHA / courses.len() as f64)).collect();
    if (found.len() as f64) < PROCESSES_SHARE_MIN * courses.len() as f64 {
        return None;
    }
    let largest = found.iter().max_by(|one, other| one.share.abs().total_cmp(&other.share.abs()))?;
    Some(CostStep { processes: found.len(), of: courses.len(), ..*largest })
}

fn of_process(course: &[f64], alpha: f64) -> Option<CostStep> {
    let changes = change_points::changes(course, alpha).ok()?;
    let steps = changes.iter().map(|change| (change.shift.exp_m1(), change.at));
    let (share, after) = steps.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs()))?;
    (share.abs() >= SHARE_MIN).then_some(CostStep { share, after, slices: course.len(), processes: 1, of: 1 })
}

impl fmt::Display for CostStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.share > 0.0 { "rose" } else { "fell" };
        write!(
            f,
            "level change: its CPU per request related to the reference's {way} by {} after {} of the {} slices of a process, \
             in {} of {} starts: the row's figures are of neither level",
            percent(self.share.abs()),
            self.after,
            self.slices,
            self.processes,
            self.of
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Noise with a standard deviation of 4%, as of a slice on a busy machine.
    fn course(levels: &[(usize, f64)], seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let all = levels.iter().flat_map(|(slices, level)| vec![*level; *slices]);
        let mut noise = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        all.map(|level| level.ln() + 0.04 * noise()).collect()
    }

    #[test]
    fn a_jit_that_halves_the_cost_is_found_with_its_place() {
        for seed in 0..50 {
            let found = of_process(&course(&[(20, 2.0), (12, 1.0)], seed), ALPHA).unwrap();
            assert!(found.after.abs_diff(20) <= 1 && (found.share + 0.5).abs() < 0.05, "{found:?}");
        }
        let step = CostStep { share: -0.5, after: 20, slices: 32, processes: 1, of: 2 };
        assert_eq!(
            step.to_string(),
            "level change: its CPU per request related to the reference's fell by 50.0% after 20 of the 32 slices of a process, \
             in 1 of 2 starts: the row's figures are of neither level"
        );
    }

    #[test]
    fn what_few_processes_have_is_no_step_of_the_row() {
        let stepped = |of: usize| {
            let levels: [&[(usize, f64)]; 2] = [&[(20, 2.0), (12, 1.0)], &[(32, 1.0)]];
            let courses = (0..9).map(|process| course(levels[usize::from(process >= of)], process as u64));
            step(&courses.collect::<Vec<_>>()).map(|step| (step.processes, step.of))
        };
        assert_eq!([0, 2, 3, 9].map(stepped), [None, None, Some((3, 9)), Some((9, 9))]);
    }

    /// At 1% five of 500 would be wrong, but noise of 4% over 32 slices never shifts by a tenth.
    #[test]
    fn a_steady_cost_and_a_small_step_are_none() {
        let found = |levels: &[(usize, f64)]| {
            (0..500).filter(|seed| of_process(&course(levels, *seed), ALPHA).is_some()).count()
        };
        assert_eq!(found(&[(32, 1.0)]), 0);
        assert!(found(&[(16, 1.0), (16, 1.06)]) <= 5, "a step of 6% is not worth a finding");
    }
}
