//! Parsers of option values that several commands share.

use std::time::Duration;

use anyhow::{Context, ensure};
use tare_base::spelling::suggestion;
use tare_base::units;
use tare_bench::plan::until::Metric;

/// Parses a duration above zero: `500ms`, `2s`, `1m30s`, `10`.
pub(crate) fn duration(text: &str) -> anyhow::Result<Duration> {
    let duration = units::parse_duration(text)?;
    ensure!(!duration.is_zero(), "a duration of 0 is too short: give more");
    Ok(duration)
}

/// Parses `0.1%` or `0.001` as a part of 1.
pub(super) fn share(text: &str) -> anyhow::Result<f64> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().ok().map(|number| number / scale);
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.with_context(|| format!("\"{text}\" is not a share: give one from 0% to 100%, such as 0.1%"))
}

/// Parses `3%` or `0.03`.
pub(super) fn delta(text: &str) -> anyhow::Result<f64> {
    let share = share(text).ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.context("a regression is a share between 0 and 1, such as 3% or 0.03")
}

/// Parses `cpu`, `throughput`, `p99`, `rss`.
pub(super) fn metric(text: &str) -> Result<Metric, String> {
    const NAMES: [(&str, Metric); 4] = [
        ("throughput", Metric::Throughput),
        ("cpu", Metric::Cpu),
        ("p99", Metric::P99),
        ("rss", Metric::Rss),
    ];
    let found = NAMES.iter().find(|(name, _)| *name == text);
    found
        .map(|(_, metric)| *metric)
        .ok_or_else(|| format!("unknown metric{}", suggestion(text, NAMES.iter().map(|(name, _)| *name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_is_a_share() {
        assert_eq!(["3%", "0.03", "2.5 %"].map(|text| delta(text).unwrap()), [0.03, 0.03, 0.025]);
        for wrong in ["3", "0", "100%", "-1%", "three", "NaN", ""] {
            assert!(delta(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_share_is_a_part_of_1() {
        assert_eq!(["0.1%", "0.25", "0"].map(|text| share(text).unwrap()), [0.001, 0.25, 0.0]);
        for wrong in ["-1%", "NaN", "2"] {
            let expected = format!("\"{wrong}\" is not a share: give one from 0% to 100%, such as 0.1%");
            assert_eq!(share(wrong).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_metric_has_a_short_name() {
        assert_eq!(metric("cpu"), Ok(Metric::Cpu));
        assert_eq!(metric("p90").unwrap_err(), "unknown metric; did you mean \"p99\"?");
    }
}
