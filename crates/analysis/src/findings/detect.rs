//! Which findings counts and shares give rise to. The thresholds are those of [`tare_bench::validity`], fixed before there was
//! a figure to like or dislike.

use std::collections::BTreeMap;

use tare_bench::{
    run::record::Slice,
    validity::{
        BUSY_SHARE, FAILURE_SHARE_MAX, ROW_TAKEN_SHARE_MAX, SCHEDULE_LAG_NS_P99_MAX, SERVER_BOUND_SHARE,
        Shares, THROTTLED_SHARE_MAX, little,
    },
};
use tare_stats::summary;

use super::RowIssue;

/// Why the throughput of a row is not that of its service.
pub fn throughput(shares: &Shares) -> Option<RowIssue> {
    let Shares { server, generator, foreign, pressure, throttled, .. } = *shares;
    if let Some(share) = throttled.filter(|share| *share > THROTTLED_SHARE_MAX) {
        return Some(RowIssue::Throttled { share });
    }
    if let Some(share) = foreign.filter(|share| *share > ROW_TAKEN_SHARE_MAX && server < SERVER_BOUND_SHARE) {
        return Some(RowIssue::Interference { share, server_share: server, pressure_share: pressure });
    }
    (server < BUSY_SHARE && generator > BUSY_SHARE)
        .then_some(RowIssue::GeneratorBound { generator_share: generator, server_share: server })
}

/// That a throughput that stands is no capacity. A service that waits on purpose (`DELAY_MS`) is not asked.
pub fn not_server_bound(shares: &Shares, delay_ms: u64) -> Option<RowIssue> {
    (delay_ms == 0 && shares.server < SERVER_BOUND_SHARE)
        .then_some(RowIssue::NotServerBound { server_share: shares.server })
}

/// Too many wrong and missing answers for any figure.
pub fn failing(sent: u64, by_class: &BTreeMap<String, u64>, first: Option<&String>) -> Option<RowIssue> {
    let failed: u64 = by_class.values().sum();
    (failed as f64 > sent as f64 * FAILURE_SHARE_MAX).then(|| RowIssue::Failing {
        failed,
        sent,
        by_class: by_class.clone(),
        first: first.cloned(),
    })
}

/// Counts that contradict each other over all slices of a row.
pub fn inconsistent<'a>(slices: impl IntoIterator<Item = &'a Slice>) -> Option<RowIssue> {
    little(slices).map(|(counted, by_law)| RowIssue::Inconsistent { counted, by_law })
}

/// Latency that is the generator's own, from the 99th percentile of schedule lag of each of its slices.
pub fn late(load: &str, lags_ns_p99: &[f64]) -> Option<RowIssue> {
    let lag_ns =
        summary::median(lags_ns_p99).ok().filter(|lag_ns| *lag_ns > SCHEDULE_LAG_NS_P99_MAX as f64)?;
    Some(RowIssue::LateGenerator { load: load.to_owned(), lag_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(server: f64, generator: f64) -> Shares {
        Shares { server, generator, ..Shares::default() }
    }

    /// The code of what is found.
    fn found(shares: &Shares) -> Option<&'static str> {
        throughput(shares).map(|issue| issue.code())
    }

    #[test]
    fn a_threshold_itself_is_not_beyond_it() {
        assert_eq!(found(&shares(1.0, 0.5)), None);
        assert_eq!(found(&shares(BUSY_SHARE, 1.0)), None);
        assert_eq!(found(&shares(0.5, BUSY_SHARE)), None);
        assert_eq!(found(&shares(0.5, 0.95)), Some("generator-bound"));
        let taken = |foreign| Shares { foreign: Some(foreign), ..shares(0.7, 0.5) };
        assert_eq!([found(&taken(0.10)), found(&taken(0.11))], [None, Some("interference")]);
        let throttled = |throttled| Shares { throttled: Some(throttled), ..shares(1.0, 0.5) };
        assert_eq!([found(&throttled(0.01)), found(&throttled(0.011))], [None, Some("throttled")]);
    }

    #[test]
    fn the_cause_that_is_known_best_is_named() {
        let all = Shares { foreign: Some(0.5), throttled: Some(0.5), ..shares(0.1, 0.99) };
        assert_eq!(found(&all), Some("throttled"));
        assert_eq!(found(&Shares { throttled: None, ..all }), Some("interference"));
        assert_eq!(found(&Shares { throttled: None, foreign: None, ..all }), Some("generator-bound"));
        // Whoever is at its own limit lost nothing by others.
        assert_eq!(found(&Shares { throttled: None, ..Shares { server: 0.99, ..all } }), None);
    }

    #[test]
    fn a_service_that_waits_on_purpose_is_not_asked_for_its_capacity() {
        assert!(not_server_bound(&shares(0.5, 0.5), 0).is_some());
        assert_eq!(not_server_bound(&shares(0.5, 0.5), 1), None);
        assert_eq!(not_server_bound(&shares(SERVER_BOUND_SHARE, 0.5), 0), None);
    }

    #[test]
    fn one_failure_in_a_thousand_is_allowed() {
        let failed = |count| BTreeMap::from([("mismatch".to_owned(), count)]);
        assert_eq!(failing(1_000, &failed(1), None), None);
        let issue = failing(1_000, &failed(2), Some(&"GET /".to_owned())).unwrap();
        assert_eq!(issue.to_string(), "failing: 2 of 1000 requests: mismatch 2; the first: GET /");
        assert_eq!(failing(0, &BTreeMap::new(), None), None);
    }

    #[test]
    fn half_of_the_slices_must_be_late() {
        let ms = 1e6;
        assert_eq!(late("80%", &[0.1 * ms, 0.2 * ms, 50.0 * ms]), None);
        assert_eq!(
            late("80%", &[0.1 * ms, 1.5 * ms, 50.0 * ms]).map(|issue| issue.code()),
            Some("late-generator")
        );
        assert_eq!(late("80%", &[]), None);
    }
}
