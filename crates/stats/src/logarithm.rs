//! Values of a ratio scale on an additive one. Knows nothing of what is made of them.

use crate::error::{EstimateError, Series};

/// Natural logarithms; a value that has none is an error that names its place.
pub(crate) fn logarithms(values: &[f64], series: Series) -> Result<Vec<f64>, EstimateError> {
    let logarithm = |(index, &value): (usize, &f64)| {
        if value.is_finite() && value > 0.0 {
            Ok(value.ln())
        } else {
            Err(EstimateError::NotPositive { series, index, value })
        }
    };
    values.iter().enumerate().map(logarithm).collect()
}
