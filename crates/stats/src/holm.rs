//! Multiple tests. Uses only p-values, with any dependence between them.

/// Holm's adjusted p-values, in the given order. Rejecting those of at most alpha keeps the probability of
/// any false rejection at or below alpha, for any dependence.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
/// (1979).
#[must_use]
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut greatest = 0.0_f64;
    for (step, &index) in order.iter().enumerate() {
        greatest = greatest.max(p_values[index] * (p_values.len() - step) as f64).min(1.0);
        adjusted[index] = greatest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statsmodels: `multipletests(p, method='holm')[1]`.
    #[test]
    fn agrees_with_statsmodels() {
        let found = adjust(&[0.01, 0.04, 0.03, 0.005, 0.8]);
        let expected = [0.04, 0.09, 0.09, 0.025, 0.8];
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12),
            "{found:?}"
        );
        assert_eq!(adjust(&[]), Vec::<f64>::new());
        assert_eq!(adjust(&[0.7, 0.9]), [1.0, 1.0]);
    }
}
