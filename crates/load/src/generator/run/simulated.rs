//! Checks the consistency tests of a run in virtual time, with simulated servers. A correct engine is never
//! accused, whatever the server does. An engine that loses a twentieth of its counts or times is.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use proptest::prelude::*;

use super::ledger::Ledger;
use crate::generator::connection::Stamp;
use crate::generator::report::RunReport;
use crate::generator::verdict::{EngineFinding, Limits, evaluate};
use crate::tally::Failure;

const MS: u64 = 1_000_000;
/// The time from the end of a connection to the next one in its place.
const RECONNECT_NS: u64 = MS / 10;
/// A faulty engine loses one part in this many.
const LOST_OF: u64 = 20;

/// The server's behaviour towards the requests of one connection.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Silent,
    Slow {
        ns: u64,
    },
    /// One worker serves all connections of this behaviour.
    OneAtATime {
        ns: u64,
    },
    /// Closes the connection instead of every n-th answer.
    Closing {
        ns: u64,
        every: u64,
    },
    Wrong {
        ns: u64,
    },
}

#[derive(Debug, Clone, Copy)]
enum Pace {
    Closed { pipeline: usize, think_ns: u64 },
    Open { every_ns: u64 },
}

#[derive(Debug, Clone)]
struct Case {
    /// One entry per connection.
    manners: Vec<Manner>,
    pace: Pace,
    timeout_ns: u64,
    window_ns: u64,
    drain_ns: u64,
}

/// The fault of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The outcomes of some requests are not counted.
    Outcomes,
    /// Some answers are timed but not counted.
    Answers,
    /// The recorded times in flight are too short.
    Times,
    /// The recorded latencies are too short.
    Latencies,
    /// Requests in flight are integrated over a part of the time only.
    InFlight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SimulatedEvent {
    Free { slot: usize },
    Due,
    Answer { slot: usize, connection: u64 },
    Close { slot: usize, connection: u64 },
    Scan,
}

#[derive(Debug, Default)]
struct SimulatedSlot {
    /// The number of the connection in time order: bytes of an earlier connection are lost.
    connection: u64,
    flight: VecDeque<Stamp>,
    sent: u64,
    answers_until_ns: u64,
    is_idle: bool,
}

struct Simulation<'a> {
    case: &'a Case,
    fault: Fault,
    ledger: Ledger,
    events: BinaryHeap<Reverse<(u64, SimulatedEvent)>>,
    slots: Vec<SimulatedSlot>,
    /// When the one worker of [`Manner::OneAtATime`] is free again.
    works_until_ns: u64,
    /// Due instants of an open loop that wait for a connection.
    waiting: VecDeque<u64>,
    ended: u64,
}

impl Simulation<'_> {
    fn run(case: &Case, fault: Fault) -> RunReport {
        let is_open = matches!(case.pace, Pace::Open { .. });
        let mut simulation = Simulation {
            case,
            fault,
            ledger: Ledger::default(),
            events: BinaryHeap::new(),
            slots: case.manners.iter().map(|_| SimulatedSlot::default()).collect(),
            works_until_ns: 0,
            waiting: VecDeque::new(),
            ended: 0,
        };
        simulation.ledger.begin(0, false, is_open);
        for slot in 0..case.manners.len() {
            simulation.at(0, SimulatedEvent::Free { slot });
        }
        if is_open {
            simulation.at(0, SimulatedEvent::Due);
        }
        simulation.at(0, SimulatedEvent::Scan);
        let end_ns = simulation.drive();
        simulation.report(end_ns)
    }

    fn at(&mut self, at_ns: u64, event: SimulatedEvent) {
        self.events.push(Reverse((at_ns, event)));
    }

    fn drive(&mut self) -> u64 {
        let (window_ns, end_ns) = (self.case.window_ns, self.case.window_ns + self.case.drain_ns);
        while let Some(Reverse((now_ns, event))) = self.events.pop() {
            let is_through = self.ledger.busy() == 0 && self.waiting.is_empty();
            if now_ns >= end_ns || (now_ns >= window_ns && is_through) {
                return now_ns;
            }
            self.handle(event, now_ns);
        }
        end_ns
    }

    fn handle(&mut self, event: SimulatedEvent, now_ns: u64) {
        match event {
            SimulatedEvent::Free { slot } => self.free(slot, now_ns),
            SimulatedEvent::Due => self.due(now_ns),
            SimulatedEvent::Answer { slot, connection } if self.slots[slot].connection == connection => {
                let Some(stamp) = self.slots[slot].flight.pop_front() else { return };
                match self.case.manners[slot] {
                    Manner::Wrong { .. } => self.failed(stamp, Failure::Status, now_ns),
                    _ => self.answered(stamp, now_ns),
                }
                let think_ns = match self.case.pace {
                    Pace::Closed { think_ns, .. } => think_ns,
                    Pace::Open { .. } => 0,
                };
                self.at(now_ns + think_ns, SimulatedEvent::Free { slot });
            }
            SimulatedEvent::Close { slot, connection } if self.slots[slot].connection == connection => {
                self.end(slot, Failure::ClosedBeforeResponse, now_ns);
            }
            SimulatedEvent::Answer { .. } | SimulatedEvent::Close { .. } => {}
            SimulatedEvent::Scan => {
                for slot in 0..self.slots.len() {
                    let oldest = self.slots[slot].flight.front();
                    if oldest.is_some_and(|stamp| now_ns - stamp.sent_ns >= self.case.timeout_ns) {
                        self.end(slot, Failure::ResponseTimeout, now_ns);
                    }
                }
                self.at(now_ns + (self.case.timeout_ns / 20).max(MS), SimulatedEvent::Scan);
            }
        }
    }

    /// The connection can take another request.
    fn free(&mut self, slot: usize, now_ns: u64) {
        match self.case.pace {
            Pace::Closed { pipeline, .. } if now_ns < self.case.window_ns => {
                let room = pipeline - self.slots[slot].flight.len();
                self.send(slot, room, None, now_ns);
            }
            Pace::Closed { .. } => {}
            Pace::Open { .. } => match self.waiting.pop_front() {
                Some(due_ns) => self.send(slot, 1, Some(due_ns), now_ns),
                None => self.slots[slot].is_idle = true,
            },
        }
    }

    fn due(&mut self, now_ns: u64) {
        let Pace::Open { every_ns } = self.case.pace else { return };
        if now_ns >= self.case.window_ns {
            return;
        }
        self.ledger.lag(0);
        match self.slots.iter().position(|slot| slot.is_idle) {
            Some(slot) => self.send(slot, 1, Some(now_ns), now_ns),
            None => self.waiting.push_back(now_ns),
        }
        self.at(now_ns + every_ns, SimulatedEvent::Due);
    }

    fn send(&mut self, slot: usize, count: usize, due_ns: Option<u64>, now_ns: u64) {
        let manner = self.case.manners[slot];
        self.slots[slot].is_idle = false;
        for _ in 0..count {
            let to = &mut self.slots[slot];
            to.flight.push_back(Stamp {
                due_ns: due_ns.unwrap_or(now_ns),
                handed_ns: now_ns,
                sent_ns: now_ns,
            });
            to.sent += 1;
            let (sent, connection) = (to.sent, to.connection);
            let answer_ns = match manner {
                Manner::Silent => continue,
                Manner::Slow { ns } | Manner::Closing { ns, .. } | Manner::Wrong { ns } => {
                    to.answers_until_ns = to.answers_until_ns.max(now_ns) + ns;
                    to.answers_until_ns
                }
                Manner::OneAtATime { ns } => {
                    self.works_until_ns = self.works_until_ns.max(now_ns) + ns;
                    self.works_until_ns
                }
            };
            let closes = matches!(manner, Manner::Closing { every, .. } if sent.is_multiple_of(every));
            let event = match closes {
                true => SimulatedEvent::Close { slot, connection },
                false => SimulatedEvent::Answer { slot, connection },
            };
            self.at(answer_ns, event);
        }
        if count > 0 {
            self.ledger.sent(count, now_ns);
        }
    }

    /// Ends a connection, and fails its requests in flight.
    fn end(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        for stamp in std::mem::take(&mut self.slots[slot].flight) {
            self.failed(stamp, failure, now_ns);
        }
        self.slots[slot].connection += 1;
        self.slots[slot].answers_until_ns = 0;
        self.at(now_ns + RECONNECT_NS, SimulatedEvent::Free { slot });
    }

    fn answered(&mut self, stamp: Stamp, now_ns: u64) {
        if !self.is_lost() {
            let stamp = self.bent(stamp, now_ns);
            self.ledger.answered(stamp, now_ns, self.case.window_ns);
        }
    }

    fn failed(&mut self, stamp: Stamp, failure: Failure, now_ns: u64) {
        if !self.is_lost() {
            let stamp = self.bent(stamp, now_ns);
            self.ledger.failed(stamp, failure, now_ns);
        }
    }

    fn is_lost(&mut self) -> bool {
        self.ended += 1;
        self.fault == Fault::Outcomes && self.ended.is_multiple_of(LOST_OF)
    }

    fn bent(&self, stamp: Stamp, now_ns: u64) -> Stamp {
        let later = |since_ns: u64| since_ns + (now_ns - since_ns) / LOST_OF;
        match self.fault {
            Fault::Times => Stamp { handed_ns: later(stamp.handed_ns), ..stamp },
            Fault::Latencies => Stamp { due_ns: later(stamp.due_ns), sent_ns: later(stamp.sent_ns), ..stamp },
            _ => stamp,
        }
    }

    fn report(mut self, end_ns: u64) -> RunReport {
        self.ledger.account(end_ns);
        for slot in std::mem::take(&mut self.slots) {
            for stamp in slot.flight {
                let stamp = self.bent(stamp, end_ns);
                self.ledger.in_flight(stamp, end_ns);
            }
        }
        for due_ns in std::mem::take(&mut self.waiting) {
            self.ledger.never_sent(due_ns, end_ns);
        }
        let mut total = self.ledger.take(end_ns);
        match self.fault {
            Fault::Answers => {
                let lost = total.tally.answered / LOST_OF;
                total.tally.answered -= lost;
                total.tally.sent -= lost;
                total.tally.answered_in_window = total.tally.answered_in_window.min(total.tally.answered);
            }
            Fault::InFlight => total.in_flight_ns -= total.in_flight_ns / u128::from(LOST_OF),
            _ => {}
        }
        RunReport { window_ns: self.case.window_ns, ..RunReport::usual(end_ns, total) }
    }
}

/// The contradictions within a report.
fn accusations(report: &RunReport) -> Vec<String> {
    let unreconciled = report.total.tally.reconcile().err().map(|error| error.to_string());
    let doubts = evaluate(report, &Limits::default()).into_iter();
    let inconsistent = doubts.filter(|doubt| matches!(doubt, EngineFinding::Inconsistent(_)));
    unreconciled.into_iter().chain(inconsistent.map(|doubt| doubt.to_string())).collect()
}

fn manner() -> impl Strategy<Value = Manner> {
    let ns = MS / 2..300 * MS;
    prop_oneof![
        1 => Just(Manner::Silent),
        3 => ns.clone().prop_map(|ns| Manner::Slow { ns }),
        2 => ns.clone().prop_map(|ns| Manner::OneAtATime { ns }),
        2 => (ns.clone(), 1..9_u64).prop_map(|(ns, every)| Manner::Closing { ns, every }),
        1 => ns.prop_map(|ns| Manner::Wrong { ns }),
    ]
}

fn pace() -> impl Strategy<Value = Pace> {
    prop_oneof![
        (1..5_usize).prop_map(|pipeline| Pace::Closed { pipeline, think_ns: 0 }),
        (0..50 * MS).prop_map(|think_ns| Pace::Closed { pipeline: 1, think_ns }),
        (MS..40 * MS).prop_map(|every_ns| Pace::Open { every_ns }),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let manners = prop_oneof![
        prop::collection::vec(manner(), 1..9),
        (manner(), 1..9_usize).prop_map(|(manner, count)| vec![manner; count]),
    ];
    (manners, pace(), 5 * MS..400 * MS, 10 * MS..1_500 * MS, 0..500 * MS).prop_map(
        |(manners, pace, timeout_ns, window_ns, drain_ns)| Case {
            manners,
            pace,
            timeout_ns,
            window_ns,
            drain_ns,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_right_engine_is_never_accused(case in case()) {
        let found = accusations(&Simulation::run(&case, Fault::None));
        prop_assert!(found.is_empty(), "{:?}", found);
    }

    #[test]
    fn an_engine_that_loses_a_twentieth_is_accused(
        case in case(),
        fault in prop::sample::select(vec![
            Fault::Outcomes, Fault::Answers, Fault::Times, Fault::Latencies, Fault::InFlight,
        ]),
    ) {
        let right = Simulation::run(&case, Fault::None).total;
        let ended = right.tally.answered + right.tally.failed.total();
        let has_what_is_lost = match fault {
            Fault::Outcomes => ended >= LOST_OF,
            Fault::Answers => right.tally.answered >= LOST_OF,
            Fault::Latencies => right.tally.answered > 0,
            Fault::Times | Fault::InFlight | Fault::None => right.in_flight_ns > 0,
        };
        prop_assume!(has_what_is_lost);
        prop_assert!(!accusations(&Simulation::run(&case, fault)).is_empty());
    }
}

/// The case of a bug report: some connections never answer, and the others answer at once.
#[test]
fn time_outs_are_in_the_product_of_rate_and_time() {
    let mut manners = vec![Manner::Slow { ns: MS / 2 }; 6];
    manners.extend([Manner::Silent; 2]);
    let pace = Pace::Closed { pipeline: 1, think_ns: 0 };
    let case = Case { manners, pace, timeout_ns: 500 * MS, window_ns: 2_000 * MS, drain_ns: 600 * MS };
    let report = Simulation::run(&case, Fault::None);
    assert!(report.total.tally.failed.get(Failure::ResponseTimeout) >= 6, "{:?}", report.total.tally);
    assert!(accusations(&report).is_empty());
}
