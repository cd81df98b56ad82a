//! Combines several runs of each machine.

use super::{MachineResult, check, order};
use crate::error::EstimateError;

/// One finding per machine, in order: the mean of its runs. The variance of a run is that of its blocks plus
/// a variance between runs of one machine. The latter is estimated over all machines with several runs;
/// without any, it is unknown and each finding equals its run.
///
/// Degrees of freedom after F. E. Satterthwaite, "An approximate distribution of estimates of variance
/// components", Biometrics Bulletin 2 (1946), rounded down. The order of runs and machines does not matter,
/// to the last bit.
///
/// # Errors
/// A machine without a run, and the errors of [`super::pool`] for a finding.
pub fn of_machines(machines: &[Vec<MachineResult>]) -> Result<Vec<MachineResult>, EstimateError> {
    for runs in machines {
        check(runs)?;
    }
    let between = Between::of(machines);
    Ok(machines.iter().map(|runs| combined(runs, &between)).collect())
}

/// Variation between runs of one machine.
#[derive(Default)]
struct Between {
    /// In addition to the variation that their blocks explain.
    variance: f64,
    /// Including that variation.
    mean_square: f64,
    freedom: usize,
}

impl Between {
    fn of(machines: &[Vec<MachineResult>]) -> Between {
        let several = || machines.iter().filter(|runs| runs.len() > 1);
        let freedom: usize = several().map(|runs| runs.len() - 1).sum();
        if freedom == 0 {
            return Between::default();
        }
        let squares = several().flat_map(|runs| {
            let mean = sum(runs.iter().map(|run| run.estimate)) / runs.len() as f64;
            runs.iter().map(move |run| (run.estimate - mean).powi(2))
        });
        let mean_square = sum(squares) / freedom as f64;
        // Expected squares: each machine's mean squared error times its degrees of freedom.
        let explained = several().map(|runs| {
            let own = sum(runs.iter().map(|run| run.error * run.error)) / runs.len() as f64;
            own * (runs.len() - 1) as f64
        });
        let variance = (mean_square - sum(explained) / freedom as f64).max(0.0);
        Between { variance, mean_square, freedom }
    }
}

fn combined(runs: &[MachineResult], between: &Between) -> MachineResult {
    let count = runs.len() as f64;
    let order = order(runs);
    let sorted = || order.iter().map(|place| &runs[*place]);
    let variance = |run: &MachineResult| (run.error * run.error + between.variance) / (count * count);
    let all = sum(sorted().map(variance));
    // Each squared part of the variance is divided by its degrees of freedom.
    let of_blocks = sorted().map(|run| {
        let own = (run.error / count).powi(2);
        run.freedom.map_or(0.0, |freedom| own * own / freedom.max(1) as f64)
    });
    let of_runs = match between.variance > 0.0 {
        true => (between.mean_square / count).powi(2) / between.freedom as f64,
        false => 0.0,
    };
    let unsure = sum(of_blocks) + of_runs;
    let freedom = (all * all / unsure).floor();
    MachineResult {
        estimate: sum(sorted().map(|run| run.estimate)) / count,
        error: all.sqrt(),
        // Without estimated parts the error is known exactly.
        freedom: (unsure > 0.0).then_some((freedom as usize).max(1)),
    }
}

/// Sums in sorted order, so that the input order does not matter.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(estimate: f64, error: f64, freedom: usize) -> MachineResult {
        MachineResult { estimate, error, freedom: Some(freedom) }
    }

    #[test]
    fn a_single_run_of_each_machine_is_its_finding() {
        let machines = [vec![run(0.3, 0.1, 7)], vec![run(0.4, 0.2, 5)]];
        let found = of_machines(&machines).unwrap();
        for (found, runs) in found.iter().zip(&machines) {
            assert!((found.error - runs[0].error).abs() < 1e-15);
            assert_eq!((found.estimate, found.freedom), (runs[0].estimate, runs[0].freedom));
        }
    }

    /// By hand: the squares are 2 x 0.05^2 on both machines, 0.01 over 2 degrees of freedom; blocks explain
    /// 0.0001.
    #[test]
    fn what_runs_differ_by_counts_on_every_machine() {
        let machines = [
            vec![run(0.3, 0.01, 7), run(0.4, 0.01, 7)],
            vec![run(0.5, 0.01, 7), run(0.6, 0.01, 7)],
            vec![run(0.7, 0.01, 7)],
        ];
        let found = of_machines(&machines).unwrap();
        assert!((found[0].estimate - 0.35).abs() < 1e-15);
        // (0.0001 + 0.0049) / 2, and 0.005 for the machine with one run.
        assert!((found[0].error - 0.0025_f64.sqrt()).abs() < 1e-12, "{found:?}");
        assert!((found[2].error - 0.005_f64.sqrt()).abs() < 1e-12, "{found:?}");
        // 0.0025^2 / (2 (0.000025)^2 / 7 + (0.005 / 2)^2 / 2) is 1.99..
        assert_eq!([found[0].freedom, found[2].freedom], [Some(1), Some(1)]);
    }

    #[test]
    fn runs_that_agree_have_the_degrees_of_freedom_of_their_blocks() {
        let machines = [vec![run(0.3, 0.1, 7), run(0.3, 0.1, 7), run(0.3, 0.1, 7)]];
        let found = of_machines(&machines).unwrap();
        assert!((found[0].error - 0.1 / 3.0_f64.sqrt()).abs() < 1e-15);
        // 21, or one less if the last bit is lost.
        assert!(matches!(found[0].freedom, Some(20 | 21)), "{found:?}");
    }

    #[test]
    fn the_order_of_runs_does_not_matter() {
        let runs = [run(0.31, 0.013, 7), run(0.37, 0.017, 5), run(0.33, 0.011, 9)];
        let of = |order: [usize; 3]| of_machines(&[order.map(|place| runs[place]).to_vec()]).unwrap()[0];
        let first = of([0, 1, 2]);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert_eq!(of(order), first);
        }
        assert_eq!(of_machines(&[vec![]]), Err(EstimateError::Empty));
    }
}
