//! Words of the command line that no library reads.

use tare_bench::run::until::Metric;
use tare_host::spelling::suggestion;

/// `3%` or `0.03`.
pub fn delta(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().ok().map(|number| number / unit);
    share
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "a regression is a share between 0 and 1, such as 3% or 0.03".to_owned())
}

/// `cpu`, `throughput`, `p99`, `rss`.
pub fn metric(text: &str) -> Result<Metric, String> {
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
        assert_eq!([delta("3%"), delta("0.03"), delta("2.5 %")], [Ok(0.03), Ok(0.03), Ok(0.025)]);
        for wrong in ["3", "0", "100%", "-1%", "three", "NaN", ""] {
            assert!(delta(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_metric_has_a_short_name() {
        assert_eq!(metric("cpu"), Ok(Metric::Cpu));
        assert_eq!(metric("p90").unwrap_err(), "unknown metric; did you mean \"p99\"?");
    }
}
