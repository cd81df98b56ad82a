//! The sum of the agents' reports. Values only.
//!
//! Counts and histograms are added, and percentiles are computed from the sum. The findings of each agent
//! stay in its own row, and an invalid agent makes the sum invalid.

use std::collections::BTreeMap;
use std::fmt;

use tare_base::Histogram;
use tare_load::{EngineFinding, FailureSample, Limits, Measures, RunReport, evaluate};

use crate::align::AgentClock;
use crate::message::CpuReading;
use crate::tails::{Tails, TailsDiffer};
use crate::window::{Begun, CountedWindow, Span, counted};

/// The length from which a silence is noted: the agent was stopped, or the network was down.
pub const SILENT_NS_NOTED: u64 = 1_000_000_000;

/// The common start by the controller's clock, and the instants of the counts.
#[derive(Debug, Clone)]
pub struct MergeTiming {
    pub start_ns: u64,
    pub marks_ns: Vec<u64>,
}

/// The final report of an agent.
#[derive(Debug)]
pub struct AgentEnd {
    pub address: String,
    pub report: RunReport,
    pub clock: AgentClock,
    /// The start it was given, by its own clock.
    pub given_ns: u64,
    /// Its longest response time to the controller.
    pub silent_ns: u64,
}

#[derive(Debug, Clone)]
pub struct AgentRow {
    pub address: String,
    pub report: RunReport,
    /// Every reason to distrust it.
    pub doubts: Vec<EngineFinding>,
    /// `None` if its clock offset is unknown.
    pub clock: Option<ClockFacts>,
    /// Its answers in the counted window.
    pub answered_in_window: u64,
    pub silent_ns: u64,
}

/// The comparison of an agent's clock with the controller's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockFacts {
    /// The agent's clock minus the controller's at the start.
    pub offset_ns: i128,
    /// The lateness of its start relative to the others, as determined after the load.
    pub start_shift_ns: i64,
    pub start_error_ns: u64,
    pub end_error_ns: u64,
    /// The excess of its rate, in parts per million.
    pub drift_ppm: f64,
    pub round_trip_ns_min: u64,
}

/// The CPU time of the service in the counted window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServiceCpu {
    pub cpu_ns: u64,
    /// The time between the two readings.
    pub between_ns: u64,
    /// The CPU time per answer of all agents.
    pub ns_per_answer: f64,
}

/// One load of several agents.
#[derive(Debug, Clone)]
pub struct FleetReport {
    /// The sum, whose window is the counted one.
    pub total: RunReport,
    pub counted: Option<CountedWindow>,
    pub rows: Vec<AgentRow>,
    pub service_cpu: Option<ServiceCpu>,
    pub findings: Vec<FleetFinding>,
}

/// A reason to distrust the sum, in addition to those of the sum itself.
#[derive(Debug, Clone, PartialEq)]
pub enum FleetFinding {
    /// An agent's own verdict.
    Agent { agent: String, doubts: Vec<EngineFinding> },
    /// The slow answers belong to one agent.
    Tails { high: String, low: String, found: TailsDiffer },
    /// An agent did not answer the controller for a long time.
    Silent { agent: String, ns: u64 },
    /// An agent's clock cannot be compared.
    Clocks { agent: String },
    /// There is no time in which all agents certainly loaded the server.
    Unaligned,
}

impl FleetFinding {
    /// The stable kebab-case name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            FleetFinding::Agent { .. } => "agent",
            FleetFinding::Tails { .. } => "tails",
            FleetFinding::Silent { .. } => "silent",
            FleetFinding::Clocks { .. } => "clocks",
            FleetFinding::Unaligned => "unaligned",
        }
    }

    /// The agent it concerns, if there is one.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        match self {
            FleetFinding::Agent { agent, .. }
            | FleetFinding::Silent { agent, .. }
            | FleetFinding::Clocks { agent }
            | FleetFinding::Tails { high: agent, .. } => Some(agent),
            FleetFinding::Unaligned => None,
        }
    }
}

impl fmt::Display for FleetFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetFinding::Agent { agent, doubts } => {
                let doubts: Vec<String> = doubts.iter().map(ToString::to_string).collect();
                write!(f, "agent: {agent} is not valid: {}", doubts.join("; "))
            }
            FleetFinding::Tails { high, low, found } => write!(
                f,
                "tails: {:.2}% of the latencies of {high} lie above the p99 of all agents ({:.3} ms), and {:.2}% of those of \
                 {low}: the percentiles of the sum are of neither",
                found.highest.1 * 100.0,
                found.p99_ns as f64 / 1e6,
                found.lowest.1 * 100.0
            ),
            FleetFinding::Silent { agent, ns } => write!(
                f,
                "silent: {agent} did not answer the controller for {:.2} s: it was stopped, or the network was",
                *ns as f64 / 1e9
            ),
            FleetFinding::Clocks { agent } => {
                write!(f, "clocks: {agent}: {}", crate::align::Inconsistent)
            }
            FleetFinding::Unaligned => f.write_str(
                "unaligned: there is no time in which all agents surely loaded the server: load for longer, or find out why an \
                 agent began late",
            ),
        }
    }
}

/// Adds up the reports of all agents; `tails` has their intervals, in the same order.
#[must_use]
pub fn merge(ends: Vec<AgentEnd>, timing: &MergeTiming, tails: &Tails, limits: &Limits) -> FleetReport {
    let mut findings = Vec::new();
    let spans: Vec<Option<(Span, ClockFacts)>> = ends.iter().map(|end| span(end, timing)).collect();
    let known: Option<Vec<Span>> = spans.iter().map(|span| span.map(|(span, _)| span)).collect();
    let window = known.and_then(|spans| counted(&spans, &timing.marks_ns));
    let rows: Vec<AgentRow> = ends
        .into_iter()
        .zip(spans)
        .map(|(end, span)| row(end, span.map(|(_, facts)| facts), window, &timing.marks_ns, limits))
        .collect();
    for row in &rows {
        let agent = row.address.clone();
        if !row.doubts.is_empty() {
            findings.push(FleetFinding::Agent { agent: agent.clone(), doubts: row.doubts.clone() });
        }
        if row.silent_ns >= SILENT_NS_NOTED {
            findings.push(FleetFinding::Silent { agent: agent.clone(), ns: row.silent_ns });
        }
        if row.clock.is_none() {
            findings.push(FleetFinding::Clocks { agent });
        }
    }
    findings.extend(window.is_none().then_some(FleetFinding::Unaligned));
    findings.extend(tails_differ(&rows, tails));
    FleetReport { total: total(&rows, window), counted: window, rows, service_cpu: None, findings }
}

fn span(end: &AgentEnd, timing: &MergeTiming) -> Option<(Span, ClockFacts)> {
    let window_ns = end.report.window_ns;
    let begun = Begun {
        start_ns: timing.start_ns,
        given_ns: end.given_ns,
        late_ns: end.report.aligned.as_ref().map_or(0, |aligned| aligned.late_ns),
    };
    let span = Span::of(&end.clock, begun, window_ns).ok()?;
    let drift = (span.start_shift_ns - span.end_shift_ns) as f64 / window_ns.max(1) as f64;
    let facts = ClockFacts {
        offset_ns: end.clock.offset_at(timing.start_ns).ok()?.ns,
        start_shift_ns: i64::try_from(span.start_shift_ns).ok()?,
        start_error_ns: span.start_error_ns,
        end_error_ns: span.end_error_ns,
        drift_ppm: drift * 1e6,
        round_trip_ns_min: end.clock.round_trip_ns_min()?,
    };
    Some((span, facts))
}

fn row(
    end: AgentEnd,
    clock: Option<ClockFacts>,
    window: Option<CountedWindow>,
    marks_ns: &[u64],
    limits: &Limits,
) -> AgentRow {
    let AgentEnd { address, report, silent_ns, .. } = end;
    let counts = report.aligned.as_ref().map_or(&[][..], |aligned| &aligned.answered_at);
    let until = |at_ns: u64| {
        let mark = marks_ns.iter().position(|mark_ns| *mark_ns == at_ns)?;
        counts.get(mark).copied()
    };
    let within = |window: CountedWindow| Some(until(window.to_ns)?.saturating_sub(until(window.from_ns)?));
    let answered_in_window = window.and_then(within).unwrap_or(0);
    AgentRow { doubts: evaluate(&report, limits), address, clock, answered_in_window, silent_ns, report }
}

/// The report of all agents as if they were one generator.
fn total(rows: &[AgentRow], window: Option<CountedWindow>) -> RunReport {
    let reports = || rows.iter().map(|row| &row.report);
    let mut total = reports().fold(Measures::default(), |mut sum, report| {
        sum += &report.total;
        sum
    });
    total.tally.answered_in_window = rows.iter().map(|row| row.answered_in_window).sum();
    let gone: Option<Vec<u64>> = reports().map(|report| report.gone_since_ns).collect();
    let mut handshakes = None::<tare_load::Handshakes>;
    for one in reports().filter_map(|report| report.handshakes.as_ref()) {
        *handshakes.get_or_insert_default() += one;
    }
    let mut answered_by_name = BTreeMap::<String, u64>::new();
    for (name, count) in reports().flat_map(|report| &report.answered_by_name) {
        *answered_by_name.entry(name.clone()).or_default() += count;
    }
    let first_failure =
        reports().filter_map(|report| report.first_failure.as_ref()).min_by_key(|s| FailureSample::order(s));
    RunReport {
        window_ns: window.map_or(0, |window| window.ns()),
        elapsed_ns: reports().map(|report| report.elapsed_ns).max().unwrap_or(0),
        total,
        answered_by_name,
        generator_cpu_ns: reports().map(|report| report.generator_cpu_ns).sum(),
        generator_polled_ns: reports().map(|report| report.generator_polled_ns).sum(),
        threads: reports().map(|report| report.threads).sum(),
        driver: rows[0].report.driver.clone(),
        interrupted: reports().any(|report| report.interrupted),
        // The server is gone only if every agent finds it gone.
        gone_since_ns: gone.and_then(|gone| gone.into_iter().max()),
        first_failure: first_failure.cloned(),
        handshakes,
        aligned: None,
    }
}

fn tails_differ(rows: &[AgentRow], tails: &Tails) -> Option<FleetFinding> {
    let measures: Vec<&Measures> = rows.iter().map(|row| &row.report.total).collect();
    let found = tails.compare(&measures)?;
    let name = |(agent, _): (usize, f64)| rows[agent].address.clone();
    Some(FleetFinding::Tails { high: name(found.highest), low: name(found.lowest), found })
}

impl AgentRow {
    /// The agent's own verdict: `valid`, or the names of its findings. Findings of the fleet are excluded.
    #[must_use]
    pub fn verdict(&self) -> String {
        let names: Vec<&str> = self.doubts.iter().map(EngineFinding::name).collect();
        if names.is_empty() { "valid".to_owned() } else { names.join(", ") }
    }
}

impl FleetReport {
    /// Answers per second of one agent in the counted window; 0 without one.
    #[must_use]
    pub fn answers_per_s_of(&self, row: &AgentRow) -> f64 {
        self.counted.map_or(0.0, |window| row.answered_in_window as f64 * 1e9 / window.ns() as f64)
    }

    /// Adds the CPU time of the service, read at each mark. The readings do not exactly match the bounds of
    /// the window, so the CPU time is divided by the answers in the time between the readings, at the
    /// window's rate.
    pub fn add_service_cpu(&mut self, readings: &[CpuReading], marks_ns: &[u64]) {
        let Some(window) = self.counted else { return };
        let at = |at_ns: u64| {
            let mark = marks_ns.iter().position(|mark_ns| *mark_ns == at_ns)?;
            readings.get(mark).copied()
        };
        let (Some(from), Some(to)) = (at(window.from_ns), at(window.to_ns)) else { return };
        let between_ns = to.at_ns.saturating_sub(from.at_ns);
        let cpu_ns = to.cpu_ns.saturating_sub(from.cpu_ns);
        let answers = self.total.answers_per_s() * between_ns as f64 / 1e9;
        if answers > 0.0 {
            self.service_cpu =
                Some(ServiceCpu { cpu_ns, between_ns, ns_per_answer: cpu_ns as f64 / answers });
        }
    }

    /// All latencies; the histograms of the agents are added bucket by bucket.
    #[must_use]
    pub fn latency(&self) -> &Histogram {
        &self.total.total.latency
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tare_load::{AlignedRun, Failure};

    use super::*;
    use crate::align::RoundTrip;
    use crate::report::tests::report;

    const MS: u64 = 1_000_000;
    const START_NS: u64 = 5_000 * MS;

    fn timing() -> MergeTiming {
        MergeTiming { start_ns: START_NS, marks_ns: vec![MS, 500 * MS, 999 * MS] }
    }

    /// An agent with a clock that is known to 50 µs at both ends.
    fn end(address: &str, latencies_ns: &[u64]) -> AgentEnd {
        let mut clock = AgentClock::default();
        for sent_ns in [START_NS - MS, START_NS + 1_000 * MS] {
            clock.add(RoundTrip { sent_ns, clock_ns: sent_ns + 77_050_000, received_ns: sent_ns + 100_000 });
        }
        AgentEnd {
            address: address.to_owned(),
            report: report(latencies_ns),
            clock,
            given_ns: START_NS + 77_000_000,
            silent_ns: 0,
        }
    }

    fn merged(ends: Vec<AgentEnd>) -> FleetReport {
        merge(ends, &timing(), &Tails::default(), &Limits::default())
    }

    #[test]
    fn the_sum_has_the_answers_of_the_window_and_every_latency() {
        let (one, other) = (vec![MS; 400], vec![3 * MS; 600]);
        let sum = merged(vec![end("a:1", &one), end("b:2", &other)]);
        assert_eq!(sum.findings, []);
        let window = sum.counted.unwrap();
        assert_eq!((window.from_ns, window.to_ns), (MS, 999 * MS));
        assert!(window.uncertainty_ns < 60_000, "{window:?}");
        assert_eq!(sum.total.total.tally.answered, 1_000);
        // According to the marks of the fixture, all answers lie between the first and the last.
        assert_eq!(sum.total.total.tally.answered_in_window, 1_000);
        assert!((sum.total.answers_per_s() - 1_000.0 / 0.998).abs() < 1e-6);
        assert_eq!(sum.latency().quantile_ns(0.3) / MS, 1, "of the sum, and no mean of two percentiles");
        assert_eq!(sum.latency().quantile_ns(0.5) / MS, 3);
        assert_eq!((sum.total.threads, sum.total.generator_cpu_ns), (2, 600 * MS));
        assert_eq!(sum.rows[0].clock.unwrap().offset_ns, 77_000_000);
    }

    #[test]
    fn one_invalid_agent_makes_the_sum_invalid_and_is_named() {
        let mut failing = end("b:2", &[MS; 100]);
        failing.report.total.tally.failed.add(Failure::Mismatch);
        failing.report.total.tally.sent += 1;
        let sum = merged(vec![end("a:1", &[MS; 100]), failing]);
        assert_eq!(sum.findings.len(), 1);
        assert_eq!((sum.findings[0].name(), sum.findings[0].agent()), ("agent", Some("b:2")));
        assert!(
            sum.findings[0].to_string().contains("b:2 is not valid: failing: 0.990%"),
            "{}",
            sum.findings[0]
        );
    }

    #[test]
    fn a_silence_a_strange_clock_and_a_window_without_time_are_found() {
        let silent = AgentEnd { silent_ns: 2_000 * MS, ..end("a:1", &[MS; 10]) };
        let unknown = AgentEnd { clock: AgentClock::default(), ..end("b:2", &[MS; 10]) };
        let sum = merged(vec![silent, unknown]);
        let names: Vec<&str> = sum.findings.iter().map(FleetFinding::name).collect();
        assert_eq!(names, ["silent", "clocks", "unaligned"]);
        assert_eq!((sum.total.window_ns, sum.total.answers_per_s()), (0, 0.0), "no figure");
    }

    #[test]
    fn the_first_wrong_answer_of_all_is_kept_and_a_server_is_gone_if_it_is_for_all() {
        let sample = |failure, at_ns| {
            let (exchange, expected) = (String::new(), String::new());
            Some(FailureSample { failure, exchange, expected, reason: None, got: Vec::new(), at_ns })
        };
        let mut ends = vec![end("a:1", &[MS]), end("b:2", &[MS]), end("c:3", &[MS])];
        ends[0].report.first_failure = sample(Failure::Refused, 1);
        ends[1].report.first_failure = sample(Failure::Mismatch, 9);
        ends[2].report.first_failure = sample(Failure::Mismatch, 7);
        ends[0].report.gone_since_ns = Some(3);
        let sum = merged(ends);
        assert_eq!(
            sum.total.first_failure.unwrap().at_ns,
            7,
            "a wrong answer comes before one that did not come"
        );
        assert_eq!(sum.total.gone_since_ns, None, "two still find it");
    }

    #[test]
    fn cpu_time_is_read_at_the_bounds_of_the_window() {
        let mut sum = merged(vec![end("a:1", &[MS; 499]), end("b:2", &[MS; 499])]);
        let reading = |at_ms, cpu_ms| CpuReading { at_ns: at_ms * MS, cpu_ns: cpu_ms * MS };
        // Each reading was a millisecond late.
        sum.add_service_cpu(&[reading(2, 100), reading(501, 200), reading(1_000, 599)], &timing().marks_ns);
        let cpu = sum.service_cpu.unwrap();
        assert_eq!((cpu.cpu_ns, cpu.between_ns), (499 * MS, 998 * MS));
        assert!((cpu.ns_per_answer - 500_000.0).abs() < 1.0, "{cpu:?}");
        sum.service_cpu = None;
        sum.add_service_cpu(&[reading(2, 100)], &timing().marks_ns);
        assert_eq!(sum.service_cpu, None, "a reading is missing");
    }

    proptest! {
        /// The histogram of the sum does not depend on which agent measured a latency.
        #[test]
        fn the_order_and_the_cut_of_agents_change_nothing(
            latencies in prop::collection::vec(1..60_000_000_000_u64, 3..200),
            cut in any::<prop::sample::Index>(),
        ) {
            let (one, other) = latencies.split_at(cut.index(latencies.len()));
            let whole = report(&latencies);
            let parts = [end("a:1", one), end("b:2", other)];
            let turned = [end("b:2", other), end("a:1", one)];
            for ends in [parts, turned] {
                let sum = merged(ends.into());
                prop_assert_eq!(&sum.total.total.latency, &whole.total.latency);
                prop_assert_eq!(sum.total.total.in_flight_ns, whole.total.in_flight_ns);
                prop_assert_eq!(sum.total.total.statuses.counts().first().map(|(_, n)| *n), Some(latencies.len() as u64));
            }
        }
    }

    #[test]
    fn a_late_agent_shortens_the_window() {
        let mut late = end("b:2", &[MS; 10]);
        late.report.aligned = Some(AlignedRun { late_ns: 300 * MS, answered_at: vec![0, 4, 9] });
        let sum = merged(vec![end("a:1", &[MS; 10]), late]);
        let window = sum.counted.unwrap();
        assert_eq!((window.from_ns, window.to_ns), (500 * MS, 999 * MS));
        assert_eq!(sum.total.total.tally.answered_in_window, 5 + 5);
    }
}
