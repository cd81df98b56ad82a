//! The counted window: a part of the load in which every agent certainly loaded the server. Values only.
//!
//! An agent counts by its own clock from its given start. That start was computed from clock measurements
//! before the load. With the measurements after it, it turns out to have been slightly early or late. The
//! agent may also have begun late or ended early. The counted window begins when the last agent had certainly
//! begun, by any agent's count, and ends before the first one ended. The parts cut off at both ends are this
//! lateness and the clock errors. An agent may end long before another one: between the measurements of its
//! clock an agent's count is uncertain by what its clock may drift.

use crate::align::{AgentClock, Inconsistent, drift_ns_max};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// The distances of marks from both ends of the load.
const EDGES_MS: [u64; 10] = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500];
/// The most marks in the middle, because an interrupted load may end anywhere.
const MARKS_MAX: u64 = 1_000;

/// The actual timing of one agent, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The lateness of its start.
    pub late_ns: u64,
    /// The end of its sending, counted from its start by its own clock.
    pub window_ns: u64,
    /// The offset of its start from the controller's.
    pub start_shift_ns: i128,
    /// The uncertainty of this offset.
    pub start_error_ns: u64,
    /// The offset of its end from the controller's.
    pub end_shift_ns: i128,
    /// The uncertainty of this offset.
    pub end_error_ns: u64,
}

/// The planned and the actual start of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// The start by the controller's clock.
    pub start_ns: u64,
    /// The start it was given, by its own clock.
    pub given_ns: u64,
    /// The lateness of its actual start.
    pub late_ns: u64,
}

impl Span {
    /// Computes the span from all measurements of the agent's clock, including those after the load.
    ///
    /// # Errors
    /// The clock offset is unknown.
    pub fn of(clock: &AgentClock, begun: Begun, window_ns: u64) -> Result<Span, Inconsistent> {
        let Begun { start_ns, given_ns, late_ns } = begun;
        let given_ns = i128::from(given_ns) - i128::from(start_ns);
        let shift = |own_ns: u64| {
            let offset = clock.offset_at(start_ns.saturating_add(own_ns))?;
            let shift_ns = given_ns - offset.ns;
            // The agent is there earlier or later by the shift, and its clock drifts meanwhile.
            let drift_ns = drift_ns_max(shift_ns.abs() + i128::from(offset.error_ns));
            let drift_ns = u64::try_from(drift_ns).unwrap_or(u64::MAX);
            Ok((shift_ns, offset.error_ns.saturating_add(drift_ns)))
        };
        let ((start_shift_ns, start_error_ns), (end_shift_ns, end_error_ns)) = (shift(0)?, shift(window_ns)?);
        Ok(Span { late_ns, window_ns, start_shift_ns, start_error_ns, end_shift_ns, end_error_ns })
    }

    /// How much earlier and later at most it counts this instant than the controller does: as much as at its start and at its end, and
    /// what its clock may have drifted since or until then.
    fn shifts_ns(&self, at_ns: u64) -> (i128, i128) {
        let at_ns = i128::from(at_ns);
        let start_error_ns = i128::from(self.start_error_ns) + drift_ns_max(at_ns);
        let end_error_ns = i128::from(self.end_error_ns) + drift_ns_max(i128::from(self.window_ns) - at_ns);
        let earliest = (self.start_shift_ns - start_error_ns).max(self.end_shift_ns - end_error_ns);
        (earliest, (self.start_shift_ns + start_error_ns).min(self.end_shift_ns + end_error_ns))
    }

    /// When it had begun at the latest, and ended at the earliest, by the controller's clock since the start of the load.
    fn loads_ns(&self) -> (i128, i128) {
        let late_ns = i128::from(self.late_ns);
        let begun_ns =
            late_ns + drift_ns_max(late_ns) + self.start_shift_ns + i128::from(self.start_error_ns);
        (begun_ns, i128::from(self.window_ns) + self.end_shift_ns - i128::from(self.end_error_ns))
    }
}

/// The window, counted from the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedWindow {
    pub from_ns: u64,
    pub to_ns: u64,
    /// The largest clock error of any agent.
    pub uncertainty_ns: u64,
}

impl CountedWindow {
    #[must_use]
    pub fn ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// The instants at which agents store their counts, in ascending order: close to both ends, and every second.
#[must_use]
pub fn marks(window_ns: u64) -> Vec<u64> {
    let edges = EDGES_MS.iter().map(|ms| ms * MS).filter(|edge_ns| *edge_ns < window_ns / 2);
    let step_ns = S.max(window_ns / MARKS_MAX);
    let seconds = (1..).map(|number| number * step_ns).take_while(|at_ns| *at_ns < window_ns);
    let mut marks: Vec<u64> =
        edges.flat_map(|edge_ns| [edge_ns, window_ns - edge_ns]).chain(seconds).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// The longest window between two marks in which all agents loaded the server; `None` if there is none.
#[must_use]
pub fn counted(spans: &[Span], marks_ns: &[u64]) -> Option<CountedWindow> {
    let begun_ns = spans.iter().map(|span| span.loads_ns().0).max()?;
    let ended_ns = spans.iter().map(|span| span.loads_ns().1).min()?;
    let begins =
        |at_ns: &u64| spans.iter().all(|span| i128::from(*at_ns) + span.shifts_ns(*at_ns).0 >= begun_ns);
    let ends =
        |at_ns: &u64| spans.iter().all(|span| i128::from(*at_ns) + span.shifts_ns(*at_ns).1 <= ended_ns);
    let from_ns = marks_ns.iter().copied().find(begins)?;
    let to_ns = marks_ns.iter().copied().rev().find(ends)?;
    let uncertainty_ns = spans.iter().map(|span| span.start_error_ns.max(span.end_error_ns)).max()?;
    (from_ns < to_ns).then_some(CountedWindow { from_ns, to_ns, uncertainty_ns })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::align::{DRIFT_PPM_MAX, RoundTrip};

    fn span(late_ns: u64, window_ns: u64, error_ns: u64) -> Span {
        let (start_error_ns, end_error_ns) = (error_ns, error_ns);
        Span { late_ns, window_ns, start_shift_ns: 0, start_error_ns, end_shift_ns: 0, end_error_ns }
    }

    #[test]
    fn marks_are_close_to_both_ends_and_every_second() {
        let marks = marks(3 * S);
        assert!(marks.is_sorted_by(|a, b| a < b) && marks.len() == 22, "{marks:?}");
        assert_eq!((marks[0], marks[21]), (MS, 3 * S - MS));
        assert!(marks.contains(&S) && marks.contains(&(2 * S)));
        assert_eq!(super::marks(10 * MS), [1, 2, 3, 7, 8, 9].map(|ms| ms * MS));
        assert_eq!(super::marks(MS), [0; 0]);
        assert!(super::marks(86_400 * S).len() < 1_100);
    }

    #[test]
    fn the_window_is_the_intersection_shrunk_by_the_uncertainty() {
        let marks = marks(10 * S);
        let all = |spans: &[Span]| counted(spans, &marks).map(|c| (c.from_ns / MS, c.to_ns / MS));
        let exact = span(0, 10 * S, 50_000);
        assert_eq!(all(&[exact, exact]), Some((1, 9_999)));
        assert_eq!(all(&[exact, span(4 * MS, 10 * S, 0)]), Some((5, 9_999)), "one began late");
        assert_eq!(all(&[exact, span(0, 10 * S, 6 * MS)]), Some((20, 9_980)), "one clock is not well known");
        assert_eq!(all(&[exact, span(0, 4_500 * MS, 0)]), Some((1, 4_000)), "interrupted");
        let earlier = Span { start_shift_ns: -4_000_000, ..exact };
        assert_eq!(all(&[exact, earlier]), Some((5, 9_999)), "one counts from before the others begin");
        let slower = Span { end_shift_ns: 4_000_000, ..exact };
        assert_eq!(all(&[exact, slower]), Some((1, 9_995)), "one counts four milliseconds later in the end");
        assert_eq!(counted(&[exact, span(0, MS, 0)], &marks), None);
        assert_eq!(counted(&[], &marks), None);
        assert_eq!(counted(&[exact, slower], &marks).unwrap().uncertainty_ns, 50_000);
    }

    /// A simulated clock: it has one rate until the middle of the load, and another one afterwards.
    #[derive(Debug, Clone)]
    struct TrueClock {
        offset_ns: i128,
        rates_ppm: [i128; 2],
        turn_ns: i128,
    }

    impl TrueClock {
        fn at(&self, t: i128) -> i128 {
            let [first, second] = self.rates_ppm;
            let (before, after) = (t.min(self.turn_ns), (t - self.turn_ns).max(0));
            self.offset_ns + t + (before * first + after * second).div_euclid(1_000_000)
        }

        /// The instant at which it shows this time, to a nanosecond.
        fn when(&self, shows: i128) -> i128 {
            let (mut low, mut high) = (-(1_i128 << 50), 1_i128 << 50);
            while high - low > 1 {
                let middle = (low + high) / 2;
                if self.at(middle) < shows { low = middle } else { high = middle }
            }
            high
        }
    }

    #[derive(Debug, Clone)]
    struct SimulatedAgent {
        clock: TrueClock,
        /// For each question, its send time and the durations of both directions.
        trips: Vec<(u64, u64, u64)>,
        late_ns: u64,
        /// The share of the load in which it took part.
        share: f64,
    }

    fn agent() -> impl Strategy<Value = SimulatedAgent> {
        let ppm = DRIFT_PPM_MAX as i128;
        let delay = || prop_oneof![10_000..200_000_u64, 10_000..60_000_000_u64];
        // Before the load (which begins at 2 s), during it, and after it.
        let when = || {
            prop_oneof![
                0..2_000_000_000_u64,
                2_000_000_000..12_000_000_000_u64,
                12_000_000_000..14_000_000_000_u64
            ]
        };
        let clock =
            (100_000_000_000..1_000_000_000_000_000_i128, [-ppm..=ppm, -ppm..=ppm], 0..14_000_000_000_i128)
                .prop_map(|(offset_ns, rates_ppm, turn_ns)| TrueClock { offset_ns, rates_ppm, turn_ns });
        // Whatever its delays, it is answered before the load begins: without an answer there is no start.
        let first = (0..1_880_000_000_u64, delay(), delay());
        let others = prop::collection::vec((when(), delay(), delay()), 0..20);
        (
            clock,
            first,
            others,
            prop_oneof![Just(0_u64), 0..100_000_000_u64],
            prop_oneof![Just(1.0), 0.2..1.0_f64],
        )
            .prop_map(|(clock, first, mut trips, late_ns, share)| {
                trips.push(first);
                SimulatedAgent { clock, trips, late_ns, share }
            })
    }

    const START_NS: u64 = 2 * S;
    const WINDOW_NS: u64 = 10 * S;

    /// The controller's knowledge of an agent, and its true start, end and counting times.
    struct Simulated {
        span: Span,
        own_start: i128,
        agent: SimulatedAgent,
    }

    fn simulate(agent: &SimulatedAgent) -> Simulated {
        let trip = |&(sent_ns, there_ns, back_ns): &(u64, u64, u64)| RoundTrip {
            sent_ns,
            clock_ns: u64::try_from(agent.clock.at(i128::from(sent_ns + there_ns))).unwrap(),
            received_ns: sent_ns + there_ns + back_ns,
        };
        let mut known = AgentClock::default();
        // The measurements before the start determine when it begins.
        agent
            .trips
            .iter()
            .map(trip)
            .filter(|trip| trip.received_ns < START_NS)
            .for_each(|trip| known.add(trip));
        let given_ns = known.offset_at(START_NS).unwrap().agent_ns(START_NS).unwrap();
        agent
            .trips
            .iter()
            .map(trip)
            .filter(|trip| trip.received_ns >= START_NS)
            .for_each(|trip| known.add(trip));
        let window_ns = (WINDOW_NS as f64 * agent.share) as u64;
        let begun = Begun { start_ns: START_NS, given_ns, late_ns: agent.late_ns };
        let span = Span::of(&known, begun, window_ns).unwrap();
        let own_start = i128::from(given_ns);
        Simulated { span, own_start, agent: agent.clone() }
    }

    /// What is counted while an agent does not load the server.
    fn counted_alone(agents: &[SimulatedAgent]) -> Option<String> {
        let all: Vec<Simulated> = agents.iter().map(simulate).collect();
        let spans: Vec<Span> = all.iter().map(|one| one.span).collect();
        let counted = counted(&spans, &marks(WINDOW_NS))?;
        all.iter().find_map(|counts| {
            let at = |ns: u64| counts.agent.clock.when(counts.own_start + i128::from(ns));
            let (from, to) = (at(counted.from_ns), at(counted.to_ns));
            all.iter().find_map(|loads| {
                let when = |ns: u64| loads.agent.clock.when(loads.own_start + i128::from(ns));
                let (begun, ended) = (when(loads.span.late_ns), when(loads.span.window_ns));
                let is_apart = begun > from || to > ended;
                is_apart.then(|| format!("counts from {from} to {to}, and one loads from {begun} to {ended}"))
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Whatever the offsets, drifts and delays: all agents load the server whenever any agent counts.
        #[test]
        fn what_is_counted_lies_within_the_true_window_of_every_agent(agents in prop::collection::vec(agent(), 1..5)) {
            prop_assert_eq!(counted_alone(&agents), None);
        }
    }

    /// Its clock ran late until the other one had ended, and caught up by its own end.
    #[test]
    fn an_agent_that_counts_on_after_another_ended_is_not_believed_by_its_end_alone() {
        let clock = |rates_ppm, turn_ns| TrueClock { offset_ns: 100_000_000_000, rates_ppm, turn_ns };
        let early = SimulatedAgent {
            clock: clock([811, 0], 9_004_810_111),
            trips: vec![(7_044_206_366, 10_000, 10_000), (0, 10_000, 10_000)],
            late_ns: 0,
            share: 0.7013547366869491,
        };
        let whole = SimulatedAgent {
            clock: clock([0, 481], 3_256_275_659),
            trips: vec![
                (1_515_110_000, 18_044_520, 10_000),
                (12_000_000_000, 10_000, 10_000),
                (0, 16_529_410, 10_000),
            ],
            late_ns: 0,
            share: 1.0,
        };
        assert_eq!(counted_alone(&[early, whole]), None);
    }

    /// The window is not reduced more than necessary: fast round trips at both ends cost only milliseconds.
    #[test]
    fn with_good_clocks_hardly_anything_is_cut_off() {
        let clock = TrueClock { offset_ns: 5_000_000_000, rates_ppm: [30, 30], turn_ns: 0 };
        let trips = vec![(1_900_000_000, 40_000, 90_000), (12_000_000_000, 90_000, 30_000)];
        let one = simulate(&SimulatedAgent {
            clock: clock.clone(),
            trips: trips.clone(),
            late_ns: 20_000,
            share: 1.0,
        });
        let other = TrueClock { rates_ppm: [-30, -30], ..clock };
        let two = simulate(&SimulatedAgent { clock: other, trips, late_ns: 0, share: 1.0 });
        let counted = counted(&[one.span, two.span], &marks(WINDOW_NS)).unwrap();
        assert!(counted.from_ns <= MS && counted.to_ns >= WINDOW_NS - 2 * MS, "{counted:?}");
        assert!(counted.uncertainty_ns < 200_000, "{counted:?}");
    }
}
