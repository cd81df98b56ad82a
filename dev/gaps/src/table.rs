//! The costs of the regimes, and their ratios.

use std::collections::BTreeMap;

use tare_stats::{DEFAULT_CONFIDENCE, RatioEstimate, interval, log_ratios, summary};

use crate::regime::Regime;

pub(crate) const HEAD: &str =
    "| service | continuous, µs | idle gaps | frozen gaps | frozen against idle |\n|---|--:|--:|--:|--:|";

/// CPU time per request in ns, by regime, with one value per round.
#[derive(Debug, Default)]
pub(crate) struct Costs(BTreeMap<Regime, Vec<f64>>);

impl Costs {
    pub(crate) fn add(&mut self, regime: Regime, cost_ns: f64) {
        self.0.entry(regime).or_default().push(cost_ns);
    }

    /// `| go | 12.3 (11.9 .. 12.8) | 1.01x (0.99 .. 1.03) | .. |`: the median and range of the first, ratios of the others to it.
    pub(crate) fn line(&self, label: &str) -> String {
        let of = |regime: Regime| self.0.get(&regime).map_or(&[][..], Vec::as_slice);
        let continuous = of(Regime::Continuous);
        let us = |ns: f64| ns / 1000.0;
        let least = continuous.iter().copied().fold(f64::INFINITY, f64::min);
        let most = continuous.iter().copied().fold(0.0, f64::max);
        let median = summary::median(continuous).unwrap_or(f64::NAN);
        let ratio = |of: &[f64], base: &[f64]| {
            let logs = log_ratios(of, base).ok();
            let found =
                logs.and_then(|logs| interval(&logs, DEFAULT_CONFIDENCE).ok()).map(RatioEstimate::from);
            match found {
                Some(RatioEstimate { ratio, low: Some(low), high: Some(high), .. }) => {
                    format!("{ratio:.3}x ({low:.3} .. {high:.3})")
                }
                Some(found) => format!("{:.3}x", found.ratio),
                None => "-".to_owned(),
            }
        };
        format!(
            "| {label} | {:.2} ({:.2} .. {:.2}) | {} | {} | {} |",
            us(median),
            us(least),
            us(most),
            ratio(of(Regime::Idle), continuous),
            ratio(of(Regime::Frozen), continuous),
            ratio(of(Regime::Frozen), of(Regime::Idle))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_one_round() {
        let mut costs = Costs::default();
        for (round, level) in [1.0, 2.0, 1.5].into_iter().enumerate() {
            costs.add(Regime::Continuous, 10_000.0 * level);
            costs.add(Regime::Idle, 9_000.0 * level);
            costs.add(Regime::Frozen, (9_900.0 + round as f64) * level);
        }
        let line = costs.line("go");
        assert!(
            line.starts_with("| go | 15.00 (10.00 .. 20.00) | 0.900x (0.900 .. 0.900) | 0.990x ("),
            "{line}"
        );
        assert!(line.ends_with("| 1.100x (1.100 .. 1.100) |"), "{line}");
        assert_eq!(Costs::default().line("none"), "| none | NaN (inf .. 0.00) | - | - | - |");
    }
}
