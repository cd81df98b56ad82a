//! Few starts with several slices each: variance between and within starts, and intervals over starts.
//!
//! Memory layout, JIT compilation and the like are random per process. So a thousand slices of one start are
//! one observation (T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013).
//!
//! In a comparison of two services, either may keep its process for several blocks. [`by_start`] finds the
//! parts of such a run that share no process, which are its independent units.

use crate::error::{EstimateError, check_sample};

/// The components of a figure's variance, in squared units of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variance {
    /// Between starts, beyond the variation of their slices; 0 if that explains all of it.
    pub start: f64,
    /// Between the slices of one start.
    pub slice: f64,
}

/// Splits the variance of `starts[start][slice]` (such as log ratios; numbers of slices may differ) in two.
/// `slice` is pooled; `start` is the variance of the starts' means minus `slice` divided by the harmonic mean
/// of their sizes.
///
/// # Errors
/// Fewer than two starts, no start with two slices, a start without slices, or a value that is not finite.
pub fn variance<V: AsRef<[f64]>>(starts: &[V]) -> Result<Variance, EstimateError> {
    let (between, slice, share) = parts(starts)?;
    let slice = slice.ok_or(EstimateError::TooFewSeries { found: 1, needed: 2 })?;
    Ok(Variance { start: (between - slice * share).max(0.0), slice })
}

/// Variance of the starts' means, pooled variance of slices (if any), and the mean of 1 / slices.
fn parts<V: AsRef<[f64]>>(starts: &[V]) -> Result<(f64, Option<f64>, f64), EstimateError> {
    if starts.len() < 2 {
        return Err(EstimateError::TooFewSeries { found: starts.len(), needed: 2 });
    }
    let sums = Sums::of(starts)?;
    let slice = (sums.freedom > 0).then(|| sums.within / sums.freedom as f64);
    Ok((sums.between / (starts.len() - 1) as f64, slice, sums.share))
}

/// The sums of an analysis of variance.
pub(crate) struct Sums {
    /// The mean of the starts' means.
    pub mean: f64,
    /// Squared distances of the starts' means from it.
    pub between: f64,
    /// Squared distances of slices from the mean of their start.
    pub within: f64,
    /// Degrees of freedom of `within`: slices beyond the first of each start.
    pub freedom: usize,
    /// The mean of 1 / slices.
    pub share: f64,
}

impl Sums {
    /// # Errors
    /// No starts, a start without slices, a value that is not finite.
    pub(crate) fn of<V: AsRef<[f64]>>(starts: &[V]) -> Result<Sums, EstimateError> {
        if starts.is_empty() {
            return Err(EstimateError::Empty);
        }
        for start in starts {
            check_sample(start.as_ref())?;
        }
        let squares = |values: &[f64]| values.iter().map(|value| (value - mean(values)).powi(2)).sum::<f64>();
        let means: Vec<f64> = starts.iter().map(|start| mean(start.as_ref())).collect();
        let shares = starts.iter().map(|start| 1.0 / start.as_ref().len() as f64);
        Ok(Sums {
            mean: mean(&means),
            between: squares(&means),
            within: starts.iter().map(|start| squares(start.as_ref())).sum(),
            freedom: starts.iter().map(|start| start.as_ref().len() - 1).sum(),
            share: shares.sum::<f64>() / starts.len() as f64,
        })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Groups block values (differences of two series, or block numbers) into independent starts. `one` and
/// `other` identify the process behind each block. A new group begins only where both change their process,
/// so that no process is in two groups. With fresh processes in every block each block is a group.
///
/// # Errors
/// Process numbers that do not match the differences.
pub fn by_start<T: Copy>(diffs: &[T], one: &[usize], other: &[usize]) -> Result<Vec<Vec<T>>, EstimateError> {
    for (index, processes) in [one, other].into_iter().enumerate() {
        let (found, expected) = (processes.len(), diffs.len());
        if found != expected {
            return Err(EstimateError::BlocksDiffer { index, found, expected });
        }
    }
    let mut starts: Vec<Vec<T>> = Vec::new();
    for (block, diff) in diffs.iter().enumerate() {
        let is_new = |processes: &[usize]| block == 0 || processes[block] != processes[block - 1];
        match starts.last_mut() {
            Some(last) if !(is_new(one) && is_new(other)) => last.push(*diff),
            _ => starts.push(vec![*diff]),
        }
    }
    Ok(starts)
}

/// Whether some start has several values, which are then not independent.
#[must_use]
pub fn are_shared<V: AsRef<[f64]>>(starts: &[V]) -> bool {
    starts.iter().any(|start| start.as_ref().len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contrast, Warning, contrast::interval_of_starts as interval};

    fn p_of<V: AsRef<[f64]>>(starts: &[V]) -> Result<f64, EstimateError> {
        Ok(Contrast::of(starts)?.p_value())
    }

    /// numpy 2.4.6 and scipy 1.17.1:
    /// ```python
    /// x = np.array([[1.0, 1.2, 1.1, 0.9], [1.5, 1.4, 1.7, 1.6], [1.1, 1.3, 1.2, 1.0]])
    /// m = x.mean(1); within = x.var(1, ddof=1).mean(); between = m.var(ddof=1) - within / 4
    /// stats.t.interval(.95, 2, m.mean(), m.std(ddof=1) / 3**.5)
    /// ```
    #[test]
    fn agrees_with_numpy_and_scipy() {
        let starts = [[1.0, 1.2, 1.1, 0.9], [1.5, 1.4, 1.7, 1.6], [1.1, 1.3, 1.2, 1.0]];
        let found = variance(&starts).unwrap();
        assert!((found.slice - 0.016666666666666666).abs() < 1e-12, "{found:?}");
        assert!((found.start - 0.06583333333333327).abs() < 1e-12, "{found:?}");
        let estimate = interval(&starts, 0.95).unwrap();
        let ends = estimate.interval.unwrap();
        assert!((estimate.point - 1.25).abs() < 1e-12);
        assert!(
            (ends.low - 0.5927589392271576).abs() < 1e-8 && (ends.high - 1.9072410607728423).abs() < 1e-8,
            "{ends:?}"
        );
    }

    #[test]
    fn more_slices_do_not_narrow_what_starts_leave_open() {
        let few = interval(&[vec![1.0; 2], vec![2.0; 2], vec![3.0; 2]], 0.95).unwrap().interval;
        let many = interval(&[vec![1.0; 500], vec![2.0; 500], vec![3.0; 500]], 0.95).unwrap().interval;
        assert_eq!(few, many);
    }

    #[test]
    fn starts_that_agree_by_chance_are_no_certainty() {
        let found = interval(&[[0.0, 2.0], [2.0, 0.0]], 0.95).unwrap().interval.unwrap();
        // Pooled variance 2, by 2 slices, by 2 starts: t(1) times sqrt(1/2).
        assert!((found.high - 1.0 - 12.706204736174694 * 0.5_f64.sqrt()).abs() < 1e-6, "{found:?}");
    }

    /// scipy 1.17.1: `stats.ttest_1samp([1.05, 1.55, 1.15], 0).pvalue`.
    #[test]
    fn the_p_value_agrees_with_scipy() {
        let starts = [[1.0, 1.2, 1.1, 0.9], [1.5, 1.4, 1.7, 1.6], [1.1, 1.3, 1.2, 1.0]];
        let p = p_of(&starts).unwrap();
        assert!((p - 0.014606940285446537).abs() < 1e-9, "{p}");
        // The interval at a confidence of 1 - p ends at 0.
        assert!(interval(&starts, 1.0 - p).unwrap().interval.unwrap().low.abs() < 1e-9);
        assert_eq!(p_of(&[[1.0, 2.0]]), Ok(1.0), "a single start");
        assert_eq!(p_of(&[[0.0, 0.0], [0.0, 0.0]]), Ok(1.0));
        assert_eq!(p_of::<[f64; 1]>(&[]), Err(EstimateError::Empty));
    }

    #[test]
    fn a_part_shares_no_process_with_another() {
        let diffs = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let parts = |one: [usize; 6], other: [usize; 6]| {
            let starts = by_start(&diffs, &one, &other).unwrap();
            assert_eq!(starts.concat(), diffs);
            starts.iter().map(Vec::len).collect::<Vec<_>>()
        };
        let fresh = [0, 1, 2, 3, 4, 5];
        assert_eq!(parts(fresh, fresh), [1; 6]);
        assert!(!are_shared(&by_start(&diffs, &fresh, &fresh).unwrap()));
        assert_eq!(parts([0, 0, 2, 2, 4, 4], fresh), [2; 3]);
        assert_eq!(parts(fresh, [0, 0, 2, 2, 4, 4]), [2; 3]);
        assert_eq!(parts([0, 0, 2, 2, 4, 4], [0, 0, 0, 0, 4, 4]), [4, 2]);
        assert_eq!(
            parts([0, 0, 2, 2, 4, 4], [0, 1, 1, 1, 1, 1]),
            [6],
            "each has one in common with the next"
        );
        let differ = EstimateError::BlocksDiffer { index: 1, found: 5, expected: 6 };
        assert_eq!(by_start(&diffs, &fresh, &fresh[1..]), Err(differ));
    }

    #[test]
    fn too_few_starts() {
        let single = interval(&[[1.0, 3.0]], 0.95).unwrap();
        assert_eq!((single.point, single.interval), (2.0, None));
        assert_eq!(single.warnings, [Warning::TooFewBlocks { n: 1, needed: 2 }]);
        assert_eq!(interval::<[f64; 1]>(&[], 0.95), Err(EstimateError::Empty));
        assert_eq!(interval(&[vec![1.0], vec![]], 0.95), Err(EstimateError::Empty));
        assert_eq!(variance(&[[1.0]]), Err(EstimateError::TooFewSeries { found: 1, needed: 2 }));
        assert!(interval(&[[1.0], [2.0]], 0.95).unwrap().interval.is_some(), "one slice a start is enough");
    }
}
