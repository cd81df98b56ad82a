//! Interprets the figures of one tool compared with ours: their ratio, and whether it is agreement, a
//! difference with a known and visible reason, or a disagreement.

use tare_bench::metric::Metric;
use tare_stats::{DEFAULT_CONFIDENCE, RatioEstimate, log_ratios, summary};

use super::{
    Shape,
    finding::{Finding, METRICS, Verdict, value},
    known::{self, Case},
    rounds::{Counted, Series},
};

/// An interval that extends further from 1 than this factor is no agreement.
const FAR: f64 = 1.25;

/// Every metric that the tool reports, over the counted rounds.
pub(crate) fn evaluate(shape: &Shape, counted: &Counted) -> Vec<Finding> {
    let mut findings = evaluate_all(shape, &counted.series);
    let differing = findings.iter_mut().filter(|finding| finding.verdict == Verdict::Disagree);
    differing.filter(|_| counted.noisy).for_each(|finding| finding.verdict = Verdict::Unclear);
    findings
}

/// Empty if no pair is complete.
fn evaluate_all(shape: &Shape, series: &Series) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for metric in METRICS {
        let both =
            |pair: &super::rounds::Pair| Some((value(metric, &pair.theirs)?, value(metric, &pair.ours)?));
        let Some(values) = series.pairs.iter().map(both).collect::<Option<Vec<_>>>() else { continue };
        let (theirs, ours): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
        if let (Ok(theirs_median), Ok(ours_median)) = (summary::median(&theirs), summary::median(&ours)) {
            let estimate = estimate(&theirs, &ours);
            let case = Case {
                shape,
                series,
                metric,
                theirs: theirs_median,
                ours: ours_median,
                estimate: estimate.as_ref(),
            };
            findings.push(finding(&case, &findings));
        }
    }
    findings
}

fn finding(case: &Case, earlier: &[Finding]) -> Finding {
    let holds_one = case.estimate.and_then(|estimate| estimate.holds(1.0));
    let explanation = if holds_one == Some(true) { None } else { known::explain(case, earlier) };
    let verdict = match (holds_one, &explanation) {
        (Some(true), _) if is_narrow(case.estimate) => Verdict::Agree,
        (Some(true), _) => Verdict::Unclear,
        (_, Some(_)) => Verdict::Explained,
        (Some(false), None) => Verdict::Disagree,
        (None, None) => Verdict::Unclear,
    };
    let estimate = case.estimate;
    Finding {
        metric: case.metric,
        decides: case.metric == Metric::Throughput,
        theirs: case.theirs,
        ours: case.ours,
        ratio: estimate.map(|estimate| estimate.ratio),
        low: estimate.and_then(|estimate| estimate.low),
        high: estimate.and_then(|estimate| estimate.high),
        verdict,
        explanation,
        warnings: estimate.iter().flat_map(|estimate| &estimate.warnings).map(ToString::to_string).collect(),
    }
}

fn is_narrow(estimate: Option<&RatioEstimate>) -> bool {
    let ends = estimate.and_then(|estimate| estimate.low.zip(estimate.high));
    ends.is_some_and(|(low, high)| low >= 1.0 / FAR && high <= FAR)
}

/// The paired ratio. `None` if a value has no logarithm, such as a median that a tool rounds to 0 ms.
fn estimate(theirs: &[f64], ours: &[f64]) -> Option<RatioEstimate> {
    let logs = log_ratios(theirs, ours).ok()?;
    Some(tare_stats::interval(&logs, DEFAULT_CONFIDENCE).ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tool,
        reading::Latency,
        rounds::{Pair, Sample},
    };

    const CLOSED: Shape = Shape::Closed { connections: 64, streams: 1, threads: 1, seconds: 2 };
    const USERS: Shape = Shape::Users { users: 40, wait_ms_min: 50, wait_ms_max: 150, seconds: 10 };

    /// A saturated service with this throughput, and a client that is busy for the share `client`.
    fn sample(per_second: f64, client: f64, mean_ns: f64) -> Sample {
        let latency = Latency { mean_ns: Some(mean_ns), max_ns: Some(mean_ns * 20.0), ..Latency::default() };
        Sample {
            answered: (2.0 * per_second) as u64,
            served: (2.0 * per_second) as u64,
            per_second,
            latency,
            client_cpu_ns: (client * 2e9) as u64,
            client_threads: 1,
            server_cpu_ns: 1_950_000_000,
            server_cpus: 1,
            segments: Some((4.0 * per_second) as u64),
            ..Sample::default()
        }
    }

    /// Rounds with variations of a few thousandths, each with its own pair.
    fn series(tool: Tool, rounds: usize, theirs: &Sample, ours: &Sample) -> Series {
        let vary = |sample: &Sample, round: usize, by: f64| Sample {
            per_second: sample.per_second * (1.0 + by * ((round % 3) as f64 - 1.0)),
            ..sample.clone()
        };
        let pair = |round| Pair { theirs: vary(theirs, round, 0.001), ours: vary(ours, round, -0.001) };
        Series { tool, pairs: (0..rounds).map(pair).collect(), fault: None }
    }

    #[track_caller]
    fn check(shape: &Shape, series: &Series, metric: Metric, verdict: Verdict, id: Option<&str>) {
        let findings = evaluate(shape, &series.counted());
        let finding = findings.iter().find(|finding| finding.metric == metric).unwrap();
        let found = finding.explanation.as_ref().map(|explanation| explanation.id);
        assert_eq!((finding.verdict, found), (verdict, id), "{finding:?}");
    }

    #[test]
    fn what_is_alike_agrees_with_few_rounds_too() {
        let same = sample(50_000.0, 0.6, 1.28e6);
        for rounds in [3, 5, 8] {
            let series = series(Tool::Wrk, rounds, &same, &same);
            check(&CLOSED, &series, Metric::Throughput, Verdict::Agree, None);
        }
        check(&CLOSED, &series(Tool::Wrk, 1, &same, &same), Metric::Throughput, Verdict::Unclear, None);
    }

    #[test]
    fn to_hold_one_by_being_wide_is_no_agreement() {
        let (slow, fast) = (sample(20_000.0, 0.5, 3.2e6), sample(60_000.0, 0.5, 1.1e6));
        let pair = |round: usize| match round % 2 {
            0 => Pair { theirs: slow.clone(), ours: fast.clone() },
            _ => Pair { theirs: fast.clone(), ours: slow.clone() },
        };
        let series = Series { tool: Tool::Wrk, pairs: (0..8).map(pair).collect(), fault: None };
        check(&CLOSED, &series, Metric::Throughput, Verdict::Unclear, None);
    }

    #[test]
    fn a_difference_without_a_reason_is_a_disagreement() {
        // Neither client is at its limit, and the service is idle half of the time.
        let idle = |sample: Sample| Sample { server_cpu_ns: 1_000_000_000, ..sample };
        let (theirs, ours) = (idle(sample(45_000.0, 0.5, 1.42e6)), idle(sample(50_000.0, 0.5, 1.28e6)));
        let series = series(Tool::Wrk, 8, &theirs, &ours);
        check(&CLOSED, &series, Metric::Throughput, Verdict::Disagree, None);
        check(&CLOSED, &series, Metric::Mean, Verdict::Explained, Some("little"));
    }

    #[test]
    fn a_noisy_machine_finds_no_disagreement() {
        let noisy = |per_second| Sample {
            server_cpu_ns: 1_000_000_000,
            foreign_share: Some(0.3),
            ..sample(per_second, 0.5, 1.4e6)
        };
        let series = series(Tool::Wrk, 8, &noisy(45_000.0), &noisy(50_000.0));
        check(&CLOSED, &series, Metric::Throughput, Verdict::Unclear, None);
    }

    #[test]
    fn ceilings_explain_in_their_own_direction_only() {
        let idle = |sample: Sample| Sample { server_cpu_ns: 1_000_000_000, ..sample };
        let (slower, faster) =
            (|client| idle(sample(45_000.0, client, 1.4e6)), |client| idle(sample(50_000.0, client, 1.3e6)));
        let verdict = |theirs: &Sample, ours: &Sample, verdict, id| {
            check(&CLOSED, &series(Tool::H2load, 8, theirs, ours), Metric::Throughput, verdict, id);
        };
        verdict(&slower(0.97), &faster(0.7), Verdict::Explained, Some("own-ceiling"));
        verdict(&faster(0.7), &slower(0.97), Verdict::Explained, Some("our-ceiling"));
        verdict(&slower(0.7), &faster(0.97), Verdict::Disagree, None);
    }

    #[test]
    fn a_saturated_service_explains_only_what_was_counted_alike() {
        let (theirs, ours) = (sample(45_000.0, 0.6, 1.42e6), sample(50_000.0, 0.6, 1.28e6));
        check(
            &CLOSED,
            &series(Tool::Wrk, 8, &theirs, &ours),
            Metric::Throughput,
            Verdict::Explained,
            Some("dearer-for-the-service"),
        );
        // The kernel sent equal numbers of segments for both, so one of them missed a tenth of its answers.
        let theirs = Sample { segments: ours.segments, ..theirs };
        check(&CLOSED, &series(Tool::Wrk, 8, &theirs, &ours), Metric::Throughput, Verdict::Disagree, None);
    }

    #[test]
    fn latencies_that_no_request_can_have_had_are_seen() {
        // 64 connections at 50,000/s: 1.28 ms by Little's law.
        let (theirs, ours) = (sample(50_000.0, 0.6, 2.5e6), sample(50_000.0, 0.6, 1.28e6));
        let id = Some("corrected-histogram");
        check(&CLOSED, &series(Tool::Wrk, 8, &theirs, &ours), Metric::Mean, Verdict::Explained, id);
        check(&CLOSED, &series(Tool::H2load, 8, &theirs, &ours), Metric::Mean, Verdict::Disagree, None);
    }

    #[test]
    fn latencies_without_the_wait_for_a_turn_are_seen() {
        let (theirs, ours) = (sample(45_000.0, 0.98, 1.1e6), sample(50_000.0, 0.6, 1.28e6));
        let id = Some("untimed-turn");
        check(&CLOSED, &series(Tool::Wrk, 8, &theirs, &ours), Metric::Mean, Verdict::Explained, id);
        let theirs = sample(45_000.0, 0.6, 1.1e6);
        check(&CLOSED, &series(Tool::Wrk, 8, &theirs, &ours), Metric::Mean, Verdict::Disagree, None);
    }

    #[test]
    fn a_client_that_polls_gains_a_wake_up_and_no_more() {
        let shape = Shape::Sessions { connections: 100, calls: 200 };
        let one = |rate: f64, client| sample(rate, client, 1e9 / rate);
        let (polls, sleeps) = (one(25_000.0, 0.99), one(20_000.0, 0.4));
        let id = Some("polls");
        check(&shape, &series(Tool::Httperf, 8, &polls, &sleeps), Metric::Throughput, Verdict::Explained, id);
        let slow = Sample { server_cpu_ns: 100_000_000, ..one(4_000.0, 0.4) };
        check(&shape, &series(Tool::Httperf, 8, &polls, &slow), Metric::Throughput, Verdict::Disagree, None);
        let lacking = Sample { descriptors_lacking: 7, ..one(15_000.0, 0.99) };
        let id = Some("descriptors");
        check(
            &shape,
            &series(Tool::Httperf, 8, &lacking, &sleeps),
            Metric::Throughput,
            Verdict::Explained,
            id,
        );
    }

    #[test]
    fn the_loop_of_locust_predicts_its_throughput() {
        // 40 users / (100 ms + 2 ms) and / (100 ms + 0.2 ms); a request occupies locust for 1 ms.
        let theirs = Sample { server_cpu_ns: 10_000_000, ..sample(392.2, 0.39, 2e6) };
        let ours = Sample { server_cpu_ns: 10_000_000, ..sample(399.2, 0.02, 0.2e6) };
        let all = series(Tool::Locust, 8, &theirs, &ours);
        check(&USERS, &all, Metric::Throughput, Verdict::Explained, Some("own-loop"));
        check(&USERS, &all, Metric::Mean, Verdict::Explained, Some("own-loop"));
        let lost = Sample { per_second: 300.0, ..theirs };
        check(&USERS, &series(Tool::Locust, 8, &lost, &ours), Metric::Throughput, Verdict::Disagree, None);
    }

    #[test]
    fn a_median_that_is_rounded_to_nothing_is_within_its_step() {
        let p50 = |ns, step| Latency { p50_ns: Some(ns), percentile_step_ns: step, ..Latency::default() };
        let theirs = Sample { latency: p50(0.0, 1e6), ..sample(399.0, 0.3, 1e6) };
        let ours = Sample { latency: p50(0.4e6, 0.0), ..sample(399.0, 0.02, 0.2e6) };
        check(
            &USERS,
            &series(Tool::Locust, 8, &theirs, &ours),
            Metric::P50,
            Verdict::Explained,
            Some("rounded"),
        );
    }
}
