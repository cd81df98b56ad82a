//! The known reasons why a tool differs from our engine, as data. Each has a condition on the figures of the
//! run, and explains nothing if the condition does not hold.

use tare_bench::metric::Metric;
use tare_stats::{RatioEstimate, summary};

use super::{
    Shape, Tool,
    finding::{self, Explanation, Finding, Verdict},
    rounds::{Pair, Sample, Series},
};
use tare_analysis::figures::{percent, time};

/// The share of time on a CPU from which a generator counts as at its limit, and a service as saturated. It
/// is below 95%, the limit of our own verdict, because CPU times of other programs are known only to a tick,
/// and their run times to a hundredth of a second.
const BUSY: f64 = 0.9;
/// A client that never sleeps is on a CPU for a larger share than this, whatever else runs there.
const AWAKE: f64 = 0.8;
/// The largest deviation of a figure from a reason's prediction.
const TOLERANCE: f64 = 0.02;
/// The largest difference between two equal counts of the kernel: other programs use TCP too.
const COUNTS_APART: f64 = 0.005;
/// The longest wake-up, and so the largest gain per request of a client that never sleeps.
const WAKE_NS_MAX: f64 = 100e3;

/// One metric of one tool, with all known data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub shape: &'a Shape,
    pub series: &'a Series,
    pub metric: Metric,
    /// The tool's median.
    pub theirs: f64,
    /// Our engine's median.
    pub ours: f64,
    /// The ratio of the tool to ours, if it is known.
    pub estimate: Option<&'a RatioEstimate>,
}

#[derive(Debug)]
pub(crate) struct Known {
    pub id: &'static str,
    pub tools: &'static [Tool],
    pub metrics: &'static [Metric],
    pub why: &'static str,
    /// The evidence in these figures; `None` without any. The findings are those of the earlier metrics.
    shows: fn(&Case, &[Finding]) -> Option<String>,
}

const THROUGHPUT: &[Metric] = &[Metric::Throughput];
const LATENCY: &[Metric] = &[Metric::Mean, Metric::P50, Metric::P99];

/// All known reasons; the first with evidence is printed.
pub(crate) const KNOWN: [Known; 12] = [
    Known {
        id: "rounded",
        tools: &[Tool::Httperf, Tool::Locust],
        metrics: LATENCY,
        why: "the tool rounds its times",
        shows: rounded,
    },
    Known {
        id: "corrected-histogram",
        tools: &[Tool::Wrk],
        metrics: LATENCY,
        why: "wrk puts made-up samples beside each latency above twice its mean interval (stats_correct), as if the requests \
              that a closed loop did not send had been sent and had waited",
        shows: corrected,
    },
    Known {
        id: "untimed-turn",
        tools: &[Tool::Wrk],
        metrics: LATENCY,
        why: "wrk starts its clock when it writes, and after an answer a connection waits for its turn to write: at wrk's own \
              ceiling that is a part of every request which no latency of it holds",
        shows: untimed_turn,
    },
    Known {
        id: "descriptors",
        tools: &[Tool::Httperf],
        metrics: THROUGHPUT,
        why: "httperf waits by select() and cannot have more than 1024 descriptors",
        shows: descriptors,
    },
    Known {
        id: "polls",
        tools: &[Tool::Httperf],
        metrics: &[Metric::Throughput, Metric::Mean],
        why: "httperf never sleeps: it polls its one connection and sees an answer without being woken, where our engine \
              sleeps until there is one",
        shows: polls,
    },
    Known {
        id: "own-ceiling",
        tools: &[Tool::Wrk, Tool::H2load, Tool::Oha, Tool::Locust],
        metrics: THROUGHPUT,
        why: "the tool was the limit: its threads had no more CPU",
        shows: own_ceiling,
    },
    Known {
        id: "our-ceiling",
        tools: &Tool::ALL,
        metrics: THROUGHPUT,
        why: "our engine was the limit: its threads had no more CPU",
        shows: our_ceiling,
    },
    Known {
        id: "own-loop",
        tools: &[Tool::Locust],
        metrics: &[Metric::Throughput, Metric::Mean, Metric::P50, Metric::P99],
        why: "all users of locust share one thread, and their response times hold the time for which they wait for it",
        shows: own_loop,
    },
    Known {
        id: "dearer-for-the-service",
        tools: &Tool::ALL,
        metrics: THROUGHPUT,
        why: "both saturated the service, which spent more CPU on a request of the one than of the other: how many it finds \
              ready at a time depends on the pace of its client",
        shows: dearer,
    },
    Known {
        id: "pace",
        tools: &Tool::ALL,
        metrics: &[Metric::Cpu],
        why: "how many requests a service finds ready at a time, and how often it sleeps, depends on the pace of its client",
        shows: pace,
    },
    Known {
        id: "batches",
        tools: &[Tool::H2load, Tool::Oha],
        metrics: &[Metric::Throughput, Metric::Cpu],
        why: "requests of several streams that are ready together travel together, and are cheaper for the service; how many \
              are, depends on the client. No count of the kernel says then whether both counted alike: one stream does",
        shows: batches,
    },
    Known {
        id: "little",
        tools: &[Tool::Wrk, Tool::H2load, Tool::Oha, Tool::Httperf],
        metrics: LATENCY,
        why: "in a closed loop without pauses latencies go as connections / throughput (Little, of their mean), and throughput \
              differs",
        shows: little,
    },
];

/// The first known reason with evidence.
pub(crate) fn explain(case: &Case, earlier: &[Finding]) -> Option<Explanation> {
    let tool = case.series.tool;
    let fits = |known: &&Known| known.tools.contains(&tool) && known.metrics.contains(&case.metric);
    KNOWN.iter().filter(fits).find_map(|known| {
        let here = (known.shows)(case, earlier)?;
        Some(Explanation { id: known.id, why: known.why, here })
    })
}

impl Case<'_> {
    /// Whether the tool's value is certainly higher than ours, or certainly lower.
    fn is_higher(&self) -> bool {
        self.estimate.is_some_and(|estimate| estimate.low.is_some_and(|low| low > 1.0))
    }

    fn is_lower(&self) -> bool {
        self.estimate.is_some_and(|estimate| estimate.high.is_some_and(|high| high < 1.0))
    }

    /// Whether the interval contains a ratio, within a tolerance.
    fn allows(&self, ratio: f64) -> bool {
        let ends = self.estimate.and_then(|estimate| estimate.low.zip(estimate.high));
        ends.is_some_and(|(low, high)| (low * (1.0 - TOLERANCE)..=high * (1.0 + TOLERANCE)).contains(&ratio))
    }

    /// The median of a value over the rounds.
    fn median(&self, of: impl Fn(&Pair) -> f64) -> f64 {
        let values: Vec<f64> = self.series.pairs.iter().map(of).collect();
        summary::median(&values).unwrap_or(f64::NAN)
    }

    /// The medians of both generators.
    fn both(&self, of: impl Fn(&Sample) -> f64) -> (f64, f64) {
        (self.median(|pair| of(&pair.theirs)), self.median(|pair| of(&pair.ours)))
    }
}

fn rounded(case: &Case, _: &[Finding]) -> Option<String> {
    let step_ns = case.median(|pair| finding::step_ns(case.metric, &pair.theirs));
    let apart_ns = (case.theirs - case.ours).abs();
    (step_ns > 0.0 && apart_ns <= step_ns)
        .then(|| format!("the two are {} apart, and its step is {}", time(apart_ns), time(step_ns)))
}

/// A connection of a closed loop has one request in flight. If latencies imply a higher mean, they contain
/// samples that no request had.
fn corrected(case: &Case, _: &[Finding]) -> Option<String> {
    let (connections, out) = (case.shape.in_flight_max() as f64, requests_out(case));
    // wrk corrects if the maximum exceeds two intervals; an interval is the time per request of a connection.
    let triggered = case.median(|pair| {
        let interval_ns = connections / pair.theirs.per_second * 1e9;
        pair.theirs.latency.max_ns.unwrap_or(f64::NAN) / interval_ns
    });
    (case.is_higher() && triggered > 2.0 && out > 1.0 + TOLERANCE).then(|| {
        format!(
            "its longest latency is {triggered:.0} intervals, and by its latencies each connection had {out:.2} requests out, \
             where there can be 1"
        )
    })
}

fn untimed_turn(case: &Case, _: &[Finding]) -> Option<String> {
    let (busy, _) = case.both(Sample::client_busy);
    let out = requests_out(case);
    (case.is_lower() && busy >= BUSY && out < 1.0 - TOLERANCE).then(|| {
        format!(
            "it was on its CPU for {} of the time, and by its latencies each connection had {out:.2} requests out, where a \
             closed loop always has 1",
            percent(busy)
        )
    })
}

/// The mean number of requests in flight per connection, according to the tool's latencies.
fn requests_out(case: &Case) -> f64 {
    case.median(|pair| {
        let mean_ns = pair.theirs.latency.mean_ns.unwrap_or(f64::NAN);
        pair.theirs.per_second * mean_ns / 1e9 / case.shape.in_flight_max() as f64
    })
}

fn descriptors(case: &Case, _: &[Finding]) -> Option<String> {
    let lacking: u64 = case.series.pairs.iter().map(|pair| pair.theirs.descriptors_lacking).sum();
    (case.is_lower() && lacking > 0).then(|| format!("it had no descriptor for {lacking} connections"))
}

fn polls(case: &Case, _: &[Finding]) -> Option<String> {
    let (theirs, ours) = case.both(Sample::client_busy);
    let (their_rate, our_rate) = case.both(|sample| sample.per_second);
    let gain_ns = 1e9 / our_rate - 1e9 / their_rate;
    let faster = if case.metric == Metric::Throughput { case.is_higher() } else { case.is_lower() };
    (faster && theirs >= AWAKE && ours < AWAKE && (0.0..=WAKE_NS_MAX).contains(&gain_ns)).then(|| {
        format!(
            "it was on its CPU for {} of the time and our engine for {}; a request took {} less",
            percent(theirs),
            percent(ours),
            time(gain_ns)
        )
    })
}

fn own_ceiling(case: &Case, _: &[Finding]) -> Option<String> {
    let (theirs, _) = case.both(Sample::client_busy);
    (case.is_lower() && theirs >= BUSY).then(|| ceiling(case, theirs))
}

fn our_ceiling(case: &Case, _: &[Finding]) -> Option<String> {
    let (_, ours) = case.both(Sample::client_busy);
    (case.is_higher() && ours >= BUSY).then(|| ceiling(case, ours))
}

fn ceiling(case: &Case, busy: f64) -> String {
    let (theirs, ours) = case.both(Sample::client_cost_ns);
    format!(
        "on a CPU for {} of the time; a request costs the tool {}, our engine {}",
        percent(busy),
        time(theirs),
        time(ours)
    )
}

/// N users can send N / (pause + response time) requests. The throughput follows from the tool's own response
/// times, and these from how long a request occupies its event loop.
fn own_loop(case: &Case, earlier: &[Finding]) -> Option<String> {
    let mean = |sample: &Sample| sample.latency.mean_ns.unwrap_or(f64::NAN);
    let (theirs_ns, ours_ns) = case.both(mean);
    let (cost_ns, busy) = (case.both(Sample::client_cost_ns).0, case.both(Sample::client_busy).0);
    if case.metric == Metric::Throughput {
        let pause_ns = case.shape.think_ns_mean();
        let predicted = (pause_ns + ours_ns) / (pause_ns + theirs_ns);
        return (case.is_lower() && case.allows(predicted)).then(|| {
            format!(
                "its mean response time is {}, ours {}: that predicts {predicted:.3}",
                time(theirs_ns),
                time(ours_ns)
            )
        });
    }
    if !case.is_higher() {
        return None;
    }
    let excess_ns = theirs_ns - ours_ns;
    // The throughput matches these response times, so users really spent them. They did not wait for the
    // service, which our engine loaded as much.
    let by = |finding: &Finding| {
        finding.explanation.as_ref().is_some_and(|explanation| explanation.id == "own-loop")
    };
    if earlier.iter().any(by) {
        return Some(format!(
            "its mean is {} longer, and its throughput is what that predicts",
            time(excess_ns)
        ));
    }
    // Each request takes its own turns, and waits for those of others, both when sending and receiving. The
    // wait grows with the load of the loop.
    let turns_ns = 2.0 * cost_ns / (1.0 - busy).max(0.05);
    (0.0..=turns_ns).contains(&excess_ns).then(|| {
        format!(
            "a request occupies it for {}, and it is busy for {} of the time; its mean is {} longer",
            time(cost_ns),
            percent(busy),
            time(excess_ns)
        )
    })
}

fn dearer(case: &Case, _: &[Finding]) -> Option<String> {
    let (theirs, ours) = case.both(Sample::server_busy);
    let (their_cost, our_cost) = case.both(Sample::server_cost_ns);
    let counts = counted_alike(case)?;
    let saturated = theirs >= BUSY && ours >= BUSY;
    (saturated && case.allows(our_cost / their_cost)).then(|| {
        format!(
            "busy for {} under the tool and for {} under ours; a request cost it {} and {}; {counts}",
            percent(theirs),
            percent(ours),
            time(their_cost),
            time(our_cost)
        )
    })
}

/// The side whose requests come in fewer segments must be the cheaper one, and throughput must follow from
/// the costs. If the counts are equal, an earlier reason applied.
fn batches(case: &Case, _: &[Finding]) -> Option<String> {
    let (theirs, ours) = case.both(Sample::server_busy);
    let (their_cost, our_cost) = case.both(Sample::server_cost_ns);
    let (their_segments, our_segments) =
        case.both(|sample| sample.segments_per_request().unwrap_or(f64::NAN));
    let together = (their_segments - our_segments) * (their_cost - our_cost) > 0.0;
    let predicted = match case.metric {
        Metric::Throughput => theirs >= BUSY && ours >= BUSY && case.allows(our_cost / their_cost),
        _ => true,
    };
    (case.shape.streams() > 1 && together && predicted).then(|| {
        format!(
            "{their_segments:.3} and {our_segments:.3} segments a request, which cost the service {} and {}",
            time(their_cost),
            time(our_cost)
        )
    })
}

fn pace(case: &Case, _: &[Finding]) -> Option<String> {
    let (theirs, ours) = case.both(Sample::server_busy);
    let counts = counted_alike(case)?;
    Some(format!(
        "busy for {} under the tool and for {} under ours; {counts}",
        percent(theirs),
        percent(ours)
    ))
}

/// A generator that miscounts would also change the apparent cost per request. The kernel's own count shows
/// it, if its ratio is closer to 1 than the one to be explained.
fn counted_alike(case: &Case) -> Option<String> {
    let (theirs, ours) = case.both(|sample| sample.segments_per_request().unwrap_or(f64::NAN));
    let apart = case.estimate.map_or(0.0, |estimate| (estimate.ratio - 1.0).abs());
    ((theirs / ours - 1.0).abs() <= (apart / 4.0).max(COUNTS_APART)).then(|| {
        format!("by the kernel's count {theirs:.2} and {ours:.2} segments a request, so both counted alike")
    })
}

fn little(case: &Case, earlier: &[Finding]) -> Option<String> {
    let throughput = earlier.iter().find(|finding| finding.metric == Metric::Throughput)?;
    let ratio = throughput.ratio.filter(|_| throughput.verdict != Verdict::Agree)?;
    case.allows(1.0 / ratio)
        .then(|| format!("throughput is {ratio:.3} of ours, which predicts {:.3}", 1.0 / ratio))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::reading::Latency;

    const CLOSED: Shape = Shape::Closed { connections: 64, streams: 1, threads: 1, seconds: 2 };

    /// Two seconds of a service that is idle half of the time.
    fn sample(per_second: f64) -> Sample {
        Sample {
            answered: (2.0 * per_second) as u64,
            served: (2.0 * per_second) as u64,
            per_second,
            latency: Latency { mean_ns: Some(64e9 / per_second), max_ns: Some(1e6), ..Latency::default() },
            client_cpu_ns: 1_000_000_000,
            client_threads: 1,
            server_cpu_ns: 1_000_000_000,
            server_cpus: 1,
            segments: Some((4.0 * per_second) as u64),
            ..Sample::default()
        }
    }

    /// The reason for a metric with this ratio, known to within a thousandth.
    fn reason(tool: Tool, shape: &Shape, metric: Metric, ratio: f64, pair: &Pair) -> Option<&'static str> {
        let series = Series { tool, pairs: vec![pair.clone(); 3], fault: None };
        let estimate = RatioEstimate {
            ratio,
            low: Some(ratio * 0.999),
            high: Some(ratio * 1.001),
            ..tare_stats::interval(&[0.0, 0.0, 0.0, 0.0], 0.95).unwrap().into()
        };
        let value = |sample| finding::value(metric, sample).unwrap_or(1.0);
        let (theirs, ours) = (value(&pair.theirs), value(&pair.ours));
        let case = Case { shape, series: &series, metric, theirs, ours, estimate: Some(&estimate) };
        explain(&case, &[]).map(|explanation| explanation.id)
    }

    #[test]
    fn each_reason_has_a_name_of_its_own_and_a_tool_and_a_metric() {
        let ids: BTreeSet<&str> = KNOWN.iter().map(|known| known.id).collect();
        assert_eq!(ids.len(), KNOWN.len());
        for known in &KNOWN {
            assert!(
                !known.tools.is_empty() && !known.metrics.is_empty() && !known.why.is_empty(),
                "{}",
                known.id
            );
            assert!(known.metrics.iter().all(|metric| finding::METRICS.contains(metric)), "{}", known.id);
        }
    }

    #[test]
    fn a_difference_without_a_cause_has_no_reason() {
        let pair = Pair { theirs: sample(45_000.0), ours: sample(50_000.0) };
        // For locust its own latencies would be a reason.
        for tool in [Tool::Wrk, Tool::H2load, Tool::Httperf] {
            assert_eq!(reason(tool, &CLOSED, Metric::Throughput, 0.9, &pair), None, "{tool}");
        }
    }

    #[test]
    fn a_ceiling_explains_one_direction() {
        let busy = |sample: Sample| Sample { client_cpu_ns: 1_960_000_000, ..sample };
        let (slow, fast) = (sample(45_000.0), sample(50_000.0));
        for (theirs, ours, ratio, expected) in [
            (busy(slow.clone()), fast.clone(), 0.9, Some("own-ceiling")),
            (fast.clone(), busy(slow.clone()), 1.1, Some("our-ceiling")),
            (busy(fast.clone()), slow.clone(), 1.1, None),
            (slow, busy(fast), 0.9, None),
        ] {
            let found = reason(Tool::H2load, &CLOSED, Metric::Throughput, ratio, &Pair { theirs, ours });
            assert_eq!(found, expected, "{ratio}");
        }
    }

    #[test]
    fn a_rounded_figure_is_excused_up_to_its_step_and_no_farther() {
        let rounded = |ns: f64| {
            let latency = Latency { p50_ns: Some(ns), percentile_step_ns: 1e6, ..Latency::default() };
            Sample { latency, ..sample(400.0) }
        };
        let users = Shape::Users { users: 40, wait_ms_min: 50, wait_ms_max: 150, seconds: 2 };
        for (theirs_ns, expected) in [(0.0, Some("rounded")), (1e6, Some("rounded")), (3e6, None)] {
            let pair = Pair { theirs: rounded(theirs_ns), ours: rounded(0.4e6) };
            let found = reason(Tool::Locust, &users, Metric::P50, 0.5, &pair).filter(|id| *id == "rounded");
            assert_eq!(found, expected, "{theirs_ns}");
        }
    }

    #[test]
    fn lacking_descriptors_explain_fewer_answers_of_httperf_alone() {
        let theirs = Sample { descriptors_lacking: 3, ..sample(45_000.0) };
        let pair = Pair { theirs, ours: sample(50_000.0) };
        let sessions = Shape::Sessions { connections: 9, calls: 200 };
        let found = |tool| reason(tool, &sessions, Metric::Throughput, 0.9, &pair);
        assert_eq!(found(Tool::Httperf), Some("descriptors"));
        assert_eq!(found(Tool::Wrk), None);
    }

    #[test]
    fn another_cost_of_the_service_needs_counts_that_agree() {
        let dearer = |segments| {
            let theirs = Sample { server_cpu_ns: 1_100_000_000, segments, ..sample(50_000.0) };
            let pair = Pair { theirs, ours: sample(50_000.0) };
            reason(Tool::Wrk, &CLOSED, Metric::Cpu, 1.1, &pair)
        };
        assert!(dearer(Some(200_000)).is_some());
        assert_eq!(dearer(Some(150_000)), None, "one of the two did not count a quarter of its answers");
        assert_eq!(dearer(None), None, "a kernel that does not count");
    }

    #[test]
    fn batches_explain_a_saturated_service_with_several_streams_and_in_their_own_direction() {
        let busy = |per_second: f64, segments: f64| {
            let segments = Some((2.0 * per_second * segments) as u64);
            Sample { server_cpu_ns: 1_960_000_000, segments, ..sample(per_second) }
        };
        let streams = Shape::Closed { connections: 64, streams: 8, threads: 1, seconds: 2 };
        let found = |shape: &Shape, theirs: f64| {
            let pair = Pair { theirs: busy(45_000.0, theirs), ours: busy(50_000.0, 0.4) };
            reason(Tool::Oha, shape, Metric::Throughput, 0.9, &pair)
        };
        assert_eq!(found(&streams, 0.6), Some("batches"));
        assert_eq!(found(&streams, 0.3), None, "fewer segments, and dearer");
        assert_eq!(found(&CLOSED, 0.6), None, "one stream");
    }
}
