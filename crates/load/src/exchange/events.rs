//! What the events of a stream must be.

use std::{fmt, sync::Arc, time::Duration};

use super::ExpectedBody;
use crate::events::{EventFault, StreamEvent};

/// How many events ahead an event is looked for that is not the next one.
const LOOK_AHEAD: u64 = 64;

/// The correct events of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedEvents {
    /// What each event must be.
    pub rule: EventRule,
    /// What the ids of events must be.
    pub ids: EventIds,
    /// When events are due, if that is known.
    pub pace: Option<EventPace>,
}

/// What each event must be.
#[derive(Debug, Clone)]
pub enum EventRule {
    /// Every event must be this one.
    Every(ExpectedEvent),
    /// These events, one after the other; then the stream must end.
    Whole(Vec<ExpectedEvent>),
    /// These events, one after the other, and then from the first again.
    Cycle(Vec<ExpectedEvent>),
    /// Each event is checked by its own judge.
    Judged(Arc<dyn EventJudge>),
}

/// One correct event.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedEvent {
    /// The name; `None` for any name.
    pub name: Option<Vec<u8>>,
    /// The data.
    pub data: ExpectedBody,
}

/// What the ids of events must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EventIds {
    /// Any ids, or none.
    #[default]
    Any,
    /// Numbers, each one more than the one before.
    Consecutive,
}

/// When events are due. Each instant is compared with the arrival of the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventPace {
    /// The n-th event after the first is due n intervals after the first.
    Every(Duration),
    /// An event is due when the server sent it: its data is the Unix time, or a JSON object with this member.
    /// The unit is that of its magnitude: s, ms, us or ns.
    SentAt(Option<String>),
}

/// Checks events of a form that this crate does not know.
pub trait EventJudge: fmt::Debug + Send + Sync {
    /// Whether the event with this number, from 0, is correct. The judge may record what it has seen.
    fn is_right(&self, number: u64, event: &StreamEvent<'_>) -> bool;

    /// The correct events in words, as in "rows of the table world".
    fn describe(&self) -> String;
}

/// Two judges are equal if they are the same object.
impl PartialEq for EventRule {
    fn eq(&self, other: &EventRule) -> bool {
        match (self, other) {
            (EventRule::Every(own), EventRule::Every(other)) => own == other,
            (EventRule::Whole(own), EventRule::Whole(other))
            | (EventRule::Cycle(own), EventRule::Cycle(other)) => own == other,
            (EventRule::Judged(own), EventRule::Judged(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }
}

impl ExpectedEvent {
    fn fault(&self, event: &StreamEvent<'_>) -> Option<EventFault> {
        if self.name.as_ref().is_some_and(|name| name != name_of(event)) {
            return Some(EventFault::Name);
        }
        (!self.data.accepts(event.data)).then_some(EventFault::Data)
    }
}

fn name_of<'a>(event: &StreamEvent<'a>) -> &'a [u8] {
    if event.name.is_empty() { b"message" } else { event.name }
}

impl EventRule {
    /// What is wrong with the event that has this number, from 0.
    pub(super) fn fault(&self, number: u64, event: &StreamEvent<'_>) -> Option<EventFault> {
        let expected = match self {
            EventRule::Every(every) => return every.fault(event),
            EventRule::Judged(judge) => return (!judge.is_right(number, event)).then_some(EventFault::Data),
            EventRule::Whole(_) | EventRule::Cycle(_) => self.at(number),
        };
        let Some(expected) = expected else { return Some(EventFault::Surplus) };
        let fault = expected.fault(event)?;
        let is = |number: u64| self.at(number).is_some_and(|other| other.fault(event).is_none());
        if number > 0 && is(number - 1) {
            return Some(EventFault::Repeated);
        }
        let found = (1..=LOOK_AHEAD).find(|ahead| is(number + ahead));
        Some(found.map_or(fault, |count| EventFault::Lost { count }))
    }

    /// The number of events of a whole stream, if it has an end.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            EventRule::Whole(events) => Some(events.len() as u64),
            EventRule::Every(_) | EventRule::Cycle(_) | EventRule::Judged(_) => None,
        }
    }

    fn at(&self, number: u64) -> Option<&ExpectedEvent> {
        match self {
            EventRule::Whole(events) => events.get(usize::try_from(number).ok()?),
            EventRule::Cycle(events) => events.get((number % (events.len().max(1) as u64)) as usize),
            EventRule::Every(_) | EventRule::Judged(_) => None,
        }
    }
}

impl ExpectedEvents {
    /// Any events, with any ids.
    #[must_use]
    pub fn any() -> ExpectedEvents {
        let any = ExpectedEvent { name: None, data: ExpectedBody::Any };
        ExpectedEvents { rule: EventRule::Every(any), ids: EventIds::Any, pace: None }
    }
}

/// As in "a stream of 3 events" and "a stream of events, each `tick`".
impl fmt::Display for ExpectedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            EventRule::Every(ExpectedEvent { name: Some(name), .. }) => {
                write!(f, "a stream of events with the name `{}`", name.escape_ascii())
            }
            EventRule::Every(_) => f.write_str("a stream of events"),
            EventRule::Whole(events) => write!(f, "a stream of {} events", events.len()),
            EventRule::Cycle(events) => write!(f, "a stream of events that repeats after {}", events.len()),
            EventRule::Judged(judge) => write!(f, "a stream of {}", judge.describe()),
        }
    }
}
