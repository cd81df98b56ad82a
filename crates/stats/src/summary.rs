//! Summaries of one sample: its centre and spread.
//!
//! For a comparison use [`crate::ratio`], which pairs values: a disturbance of a block affects both services
//! in it. Every function refuses empty samples and values that are not finite. Results have the unit of the
//! sample.

use crate::error::{EstimateError, check_sample};

/// The middle value, or the mean of the two middle ones.
///
/// # Errors
/// An empty sample, a value that is not finite.
pub fn median(values: &[f64]) -> Result<f64, EstimateError> {
    quantile(values, 0.5)
}

/// The quantile of `probability` (0 to 1) by linear interpolation at 1 + (n - 1) p: type 7 of R. J. Hyndman and Y. Fan,
/// "Sample quantiles in statistical packages", The American Statistician 50 (1996), the default of R and NumPy.
///
/// # Errors
/// An empty sample, a value that is not finite, a probability outside 0 to 1.
pub fn quantile(values: &[f64], probability: f64) -> Result<f64, EstimateError> {
    check_sample(values)?;
    if !(0.0..=1.0).contains(&probability) {
        return Err(EstimateError::Probability { value: probability });
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = (sorted.len() - 1) as f64 * probability;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    let part = at - at.floor();
    // Two products: the difference in `below + (above - below) * part` may overflow.
    Ok(below * (1.0 - part) + above * part)
}

/// The median absolute deviation from the median, without the factor 1.4826 for normal data.
///
/// Source: F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974).
///
/// # Errors
/// An empty sample, a value that is not finite.
pub fn mad(values: &[f64]) -> Result<f64, EstimateError> {
    let centre = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&distances)
}

/// The Hodges-Lehmann estimate: the median of the means of all pairs, each value with itself too.
/// NaN for empty values or a NaN among them. Time and memory grow with n(n+1)/2: for blocks, not requests.
///
/// Source: J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests", Annals of Mathematical
/// Statistics 34 (1963).
#[must_use]
pub fn hodges_lehmann(values: &[f64]) -> f64 {
    let with = |(place, one): (usize, &f64)| {
        values[place..].iter().map(|other| f64::midpoint(*one, *other)).collect()
    };
    let means: Vec<f64> = values.iter().enumerate().flat_map::<Vec<f64>, _>(with).collect();
    median(&means).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_samples() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Ok(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Ok(2.5));
        assert_eq!(median(&[7.0]), Ok(7.0));
    }

    #[test]
    fn quantiles_reach_both_ends() {
        let values = [5.0, 1.0, 3.0];
        assert_eq!(quantile(&values, 0.0), Ok(1.0));
        assert_eq!(quantile(&values, 1.0), Ok(5.0));
        assert_eq!(quantile(&values, 1.5), Err(EstimateError::Probability { value: 1.5 }));
        assert!(quantile(&values, f64::NAN).is_err());
    }

    #[test]
    fn what_cannot_be_summed_up_is_an_error() {
        assert_eq!(median(&[]), Err(EstimateError::Empty));
        assert!(matches!(mad(&[1.0, f64::NAN]), Err(EstimateError::NotFinite { index: 1, .. })));
    }
}
