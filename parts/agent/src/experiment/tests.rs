//! What is stored of slices, from reports of agents.

use std::collections::BTreeMap;

use tare_bench::{
    record::Record,
    sample::{AskedOfLoad, LoadResult, RequestCost, Sample},
};
use tare_load::{AlignedRun, Failure, Limits, Measures, RunReport};

use super::sample::{discarded_of, sample_of};
use crate::{
    align::{AgentClock, RoundTrip},
    merge::{AgentEnd, FleetReport, MergeTiming, merge},
    tails::Tails,
};

const MS: u64 = 1_000_000;
const START_NS: u64 = 5_000 * MS;

fn timing() -> MergeTiming {
    MergeTiming { start_ns: START_NS, marks_ns: vec![MS, 500 * MS, 999 * MS] }
}

/// A second with this number of answers, each after a millisecond, half of them before the middle.
fn report(answered: u64) -> RunReport {
    let mut total = Measures::default();
    for _ in 0..answered {
        total.latency.record(MS);
    }
    (total.tally.sent, total.tally.answered) = (answered, answered);
    total.tally.answered_in_window = answered;
    total.in_flight_ns = u128::from(answered * MS);
    total.in_flight_ns_answered = total.in_flight_ns;
    RunReport {
        window_ns: 1_000 * MS,
        answered_by_name: BTreeMap::from([("a".to_owned(), answered)]),
        generator_cpu_ns: 300 * MS,
        aligned: Some(AlignedRun {
            late_ns: 21_000,
            answered_at: vec![answered / 100, answered / 2, answered - answered / 100],
        }),
        ..RunReport::usual(1_001 * MS, total)
    }
}

/// An agent whose clock is known to 50 µs.
fn end(address: &str, report: RunReport) -> AgentEnd {
    let mut clock = AgentClock::default();
    for sent_ns in [START_NS - MS, START_NS + 1_000 * MS] {
        clock.add(RoundTrip { sent_ns, clock_ns: sent_ns + 77_050_000, received_ns: sent_ns + 100_000 });
    }
    let given_ns = START_NS + 77_000_000;
    AgentEnd { address: address.to_owned(), report, clock, given_ns, silent_ns: 0 }
}

fn merged(ends: Vec<AgentEnd>) -> FleetReport {
    merge(ends, &timing(), &Tails::default(), &Limits::default())
}

#[test]
fn throughput_is_of_the_window_of_all_agents_and_cost_of_all_their_answers() {
    let sum = merged(vec![end("a:1", report(400)), end("b:2", report(600))]);
    assert_eq!(discarded_of(&sum), None);
    let mut sample =
        Sample { load: LoadResult::of(&sum.total, &AskedOfLoad::default()), ..Sample::default() };
    sample.fleet = Some(sample_of(&sum));
    // 10 of 1,000 answers came before the first mark, and 10 after the last.
    assert_eq!((sample.load.answered, sample.load.answered_in_window), (1_000, 980));
    assert_eq!(sample.load.window_ns, 998 * MS);
    assert!((sample.load.per_second() - 980.0 / 0.998).abs() < 1e-6);
    assert_eq!(sample.load.latency.count, 1_000, "of every latency");
    sample.host.server_cpu_ns = 50 * MS;
    assert_eq!(
        sample.cost().and_then(RequestCost::per_request),
        Some(50_000.0),
        "from thaw to freeze, for all that was answered"
    );
}

#[test]
fn a_sample_keeps_what_each_agent_did_and_reads_back() {
    let sum = merged(vec![end("a:1", report(400)), end("b:2", report(600))]);
    let fleet = sample_of(&sum);
    assert_eq!((fleet.from_ns, fleet.to_ns), (MS, 999 * MS));
    assert!((1..60_000).contains(&fleet.uncertainty_ns), "{fleet:?}");
    let [one, other] = &fleet.agents[..] else { panic!("{fleet:?}") };
    assert_eq!((one.address.as_str(), one.verdict.as_str(), one.answered), ("a:1", "valid", 400));
    assert_eq!((other.answered_in_window, other.late_ns, other.silent_ns), (588, 21_000, 0));
    assert_eq!(one.latency_ns_p99 / MS, 1);
    assert!(one.clock_error_ns.is_some_and(|ns| ns < 60_000));
    let sample = Sample { fleet: Some(fleet), ..Sample::default() };
    let text = serde_json::to_string(&Record::Sample(Box::new(sample.clone()))).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap().sample(), Some(&sample));
    let older = serde_json::to_value(Sample::default()).unwrap();
    assert!(older.get("fleet").is_none(), "a run without agents is as it was");
}

#[test]
fn one_agent_that_is_not_valid_leaves_a_slice_without_figures() {
    let mut late = report(600);
    (late.total.in_flight_ns, late.total.in_flight_ns_answered) = (6_000 * 1_000_000, 2_000 * 1_000_000);
    late.total.tally.sent = 2_000;
    late.total.tally.answered = 2_000;
    (0..1_400).for_each(|_| {
        late.total.latency.record(MS);
    });
    let sum = merged(vec![end("a:1", report(400)), end("b:2", late)]);
    let found = discarded_of(&sum).expect("its counts contradict each other");
    assert!(found.reasons[0].starts_with("agent: b:2 is not valid: inconsistent"), "{found:?}");
    let verdicts: Vec<&str> = found.agents.iter().map(|agent| agent.verdict.as_str()).collect();
    assert_eq!(verdicts, ["valid", "inconsistent"]);
    assert!(!found.is_lost);
    let text = serde_json::to_string(&Record::Discarded(found.clone())).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap().discarded(), Some(&found));
}

#[test]
fn a_silence_a_strange_clock_and_no_common_window_leave_none_either() {
    let silent = AgentEnd { silent_ns: 2_000 * MS, ..end("a:1", report(10)) };
    let found = discarded_of(&merged(vec![silent, end("b:2", report(10))])).unwrap();
    assert!(found.reasons[0].starts_with("silent: a:1"), "{found:?}");
    let unknown = AgentEnd { clock: AgentClock::default(), ..end("b:2", report(10)) };
    let found = discarded_of(&merged(vec![end("a:1", report(10)), unknown])).unwrap();
    let names: Vec<&str> = found.reasons.iter().filter_map(|reason| reason.split(':').next()).collect();
    assert_eq!(names, ["clocks", "unaligned"]);
}

#[test]
fn what_the_service_did_is_no_reason_to_discard_a_slice() {
    let mut failing = report(600);
    failing.total.tally.failed.add(Failure::Mismatch);
    failing.total.tally.sent += 1;
    let sum = merged(vec![end("a:1", report(400)), end("b:2", failing)]);
    assert_eq!(sum.findings.len(), 1, "it is a finding of a load");
    assert_eq!(discarded_of(&sum), None);
    let fleet = sample_of(&sum);
    assert_eq!((fleet.agents[1].verdict.as_str(), fleet.notes.len()), ("failing", 0));
    assert_eq!(
        LoadResult::of(&sum.total, &AskedOfLoad::default()).wrong_answers(),
        1,
        "and a wrong answer of the row"
    );
}
