//! Requests and their expected responses, as finished bytes that all connections share.
//!
//! The module knows no contract files, builds no requests and does not parse them.

mod events;
mod follower;

use std::{collections::BTreeMap, fmt, ops::RangeInclusive, sync::Arc};

use serde_json::Value;

pub use events::{EventIds, EventJudge, EventPace, EventRule, ExpectedEvent, ExpectedEvents};
pub(crate) use follower::{Arrival, Follower};

use crate::{
    http1::Response,
    pattern::JsonPattern,
    same_json::KnownJson,
    sequence::{Captured, MissingValue},
    text_pattern::TextPattern,
};

/// One request and its correct response.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The complete request as it goes on the wire.
    pub request: Vec<u8>,
    /// Whether it is a HEAD request, whose response has no body whatever its head announces.
    pub is_head: bool,
    /// The correct response.
    pub expected: Expected,
    /// The name in reports.
    pub name: String,
    /// The place in a sequence; `None` for an exchange of its own.
    pub step: Option<SequenceStep>,
}

impl Exchange {
    /// Whether its answer is a stream of events.
    #[must_use]
    pub fn is_of_events(&self) -> bool {
        matches!(self.expected.body, ExpectedBody::Events(_))
    }
}

/// The place of an exchange in a sequence. All steps of a sequence are consecutive in the pool.
#[derive(Debug, Clone)]
pub struct SequenceStep {
    /// Whether it is the first step of a sequence.
    pub is_first: bool,
    /// How the step uses and captures values.
    pub rule: Arc<dyn StepRule>,
}

/// Two steps are equal if they share one rule object.
impl PartialEq for SequenceStep {
    fn eq(&self, other: &SequenceStep) -> bool {
        self.is_first == other.is_first && Arc::ptr_eq(&self.rule, &other.rule)
    }
}

/// Fills a step with values of earlier answers, and captures values from its answer.
pub trait StepRule: fmt::Debug + Send + Sync {
    /// The exchange with these values; `None` if it has no placeholder.
    fn fill(&self, captured: &Captured) -> Option<Exchange>;

    /// Whether it captures a value from its answer.
    fn captures(&self) -> bool;

    /// Captures the values from a correct answer.
    ///
    /// # Errors
    /// A value is missing, or cannot be used.
    fn capture(&self, response: &Response, captured: &mut Captured) -> Result<(), MissingValue>;
}

/// The correct response.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: ExpectedBody,
}

/// The correct body. It is not compared if the response can have none (HEAD, 204, 304).
#[derive(Debug, Clone, PartialEq)]
pub enum ExpectedBody {
    /// Exactly these bytes.
    Exact(Vec<u8>),
    /// An equal JSON value: the order of keys and white space do not matter, but `1` is not `1.0`.
    Json(KnownJson),
    /// A JSON value that matches this pattern.
    Pattern(JsonPattern),
    /// A body of this length, or a text of this form.
    Shape(BodyShape),
    /// A body that its own judge checks.
    Judged(Judged),
    /// A stream of server-sent events, which may have no end.
    Events(Arc<ExpectedEvents>),
    /// Any body.
    Any,
}

/// Checks bodies of a form that this crate does not know: rows of a table, HTML, compressed data.
pub trait BodyJudge: fmt::Debug + Send + Sync {
    /// Whether a body is correct. The judge may record what it has seen.
    fn is_right(&self, body: &[u8], flight: Flight) -> bool;

    /// Whether the same bytes are correct the next time too, so that the judge need not see them again.
    fn may_be_remembered(&self) -> bool;

    /// The errors of a body, in words; empty if it is correct.
    fn differences(&self, body: &[u8]) -> Vec<String>;

    /// The correct body in words, as in "a row of the table world".
    fn describe(&self) -> String;

    /// The longest correct body, in bytes.
    fn body_bytes_max(&self) -> u64;
}

/// When a request was sent and when its answer arrived, by the generator's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flight {
    /// At or before the first byte was sent.
    pub sent_ns: u64,
    /// At or after the last byte arrived.
    pub answered_ns: u64,
}

/// A shared judge; two are equal if they are the same object.
#[derive(Debug, Clone)]
pub struct Judged(pub Arc<dyn BodyJudge>);

impl PartialEq for Judged {
    fn eq(&self, other: &Judged) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The required form of a body that is neither known nor JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyShape {
    /// The allowed lengths.
    pub bytes: RangeInclusive<u64>,
    /// A pattern that the whole body must match as UTF-8.
    pub pattern: Option<TextPattern>,
}

impl ExpectedBody {
    /// A JSON value that is equal to this one.
    #[must_use]
    pub fn json(value: Value) -> ExpectedBody {
        ExpectedBody::Json(KnownJson::new(value))
    }

    /// Whether `got` is correct.
    #[must_use]
    pub fn accepts(&self, got: &[u8]) -> bool {
        match self {
            ExpectedBody::Exact(right) => right == got,
            ExpectedBody::Json(right) => right.accepts(got),
            ExpectedBody::Pattern(pattern) => {
                serde_json::from_slice(got).is_ok_and(|got| pattern.matches(&got))
            }
            ExpectedBody::Shape(shape) => {
                shape.bytes.contains(&(got.len() as u64))
                    && shape.pattern.as_ref().is_none_or(|pattern| pattern.matches(got))
            }
            ExpectedBody::Judged(Judged(judge)) => judge.is_right(got, Flight::default()),
            ExpectedBody::Events(events) => events.wrong(got).is_none(),
            ExpectedBody::Any => true,
        }
    }

    /// Whether bytes that were correct once are always correct.
    pub(crate) fn may_be_remembered(&self) -> bool {
        match self {
            ExpectedBody::Judged(Judged(judge)) => judge.may_be_remembered(),
            ExpectedBody::Events(_) => false,
            _ => true,
        }
    }
}

/// As in "a body of 10 bytes".
impl fmt::Display for BodyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self.bytes.start(), *self.bytes.end()) {
            (0, u64::MAX) => f.write_str("a body")?,
            (least, u64::MAX) => write!(f, "a body of at least {least} bytes")?,
            (least, most) if least == most => write!(f, "a body of {least} bytes")?,
            (least, most) => write!(f, "a body of {least} to {most} bytes")?,
        }
        self.pattern.as_ref().map_or(Ok(()), |pattern| write!(f, " that matches '{pattern}'"))
    }
}

impl Expected {
    /// The expected body, in words for a report.
    #[must_use]
    pub fn describe(&self) -> String {
        let status = self.status;
        match &self.body {
            ExpectedBody::Exact(bytes) => {
                let shown = &bytes[..bytes.len().min(crate::tally::SAMPLE_BYTES_MAX)];
                format!("status {status} with {} bytes `{}`", bytes.len(), shown.escape_ascii())
            }
            ExpectedBody::Json(right) => format!("status {status} with JSON equal to `{}`", right.value()),
            ExpectedBody::Pattern(pattern) => format!("status {status} with JSON like `{pattern}`"),
            ExpectedBody::Shape(shape) => format!("status {status} with {shape}"),
            ExpectedBody::Judged(Judged(judge)) => format!("status {status} with {}", judge.describe()),
            ExpectedBody::Events(events) => format!("status {status} with {events}"),
            ExpectedBody::Any => format!("status {status} with any body"),
        }
    }
}

/// The exchanges of a load, read-only and shared by all connections.
///
/// Each connection goes through all exchanges in order and then starts over. Connections start at different
/// offsets. So the server sees the whole mixture at every moment, and every connection sends all requests.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangePool {
    exchanges: Vec<Exchange>,
    has_sequences: bool,
    has_events: bool,
}

impl ExchangePool {
    /// Makes a pool. A generator refuses an empty one.
    #[must_use]
    pub fn new(exchanges: Vec<Exchange>) -> Self {
        let has_sequences = exchanges.iter().any(|exchange| exchange.step.is_some());
        let has_events = exchanges.iter().any(Exchange::is_of_events);
        Self { exchanges, has_sequences, has_events }
    }

    /// Whether any exchange is a step of a sequence.
    pub(crate) fn has_sequences(&self) -> bool {
        self.has_sequences
    }

    /// Whether any answer is a stream of events.
    pub(crate) fn has_events(&self) -> bool {
        self.has_events
    }

    /// Whether the exchange at `index` is a step other than the first of its sequence.
    pub(crate) fn is_within_sequence(&self, index: usize) -> bool {
        let step = self.exchanges.get(index).and_then(|exchange| exchange.step.as_ref());
        step.is_some_and(|step| !step.is_first)
    }

    /// The first index from `index` on at which a connection may start: not within a sequence.
    pub(crate) fn beginning(&self, index: usize) -> usize {
        let places = std::iter::successors(Some(index), |index| Some(self.after(*index)));
        // A pool that has only steps contains a first step.
        let mut beginnings = places.take(self.exchanges.len().max(1));
        beginnings.find(|index| !self.is_within_sequence(*index)).unwrap_or(index)
    }

    pub(crate) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Counts of exchanges, summed by name; names with a count of zero are left out.
    pub(crate) fn by_name(&self, counts: &[u64]) -> BTreeMap<String, u64> {
        let counted = self.exchanges.iter().zip(counts).filter(|(_, count)| **count > 0);
        let mut by_name = BTreeMap::<&str, u64>::new();
        counted.for_each(|(exchange, count)| *by_name.entry(&exchange.name).or_default() += count);
        by_name.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }

    /// The longest expected body, where the length is known.
    pub(crate) fn body_bytes_max(&self) -> usize {
        let bytes = |exchange: &Exchange| match &exchange.expected.body {
            ExpectedBody::Exact(bytes) => bytes.len(),
            ExpectedBody::Shape(shape) => usize::try_from(*shape.bytes.start()).unwrap_or(usize::MAX),
            ExpectedBody::Json(_)
            | ExpectedBody::Pattern(_)
            | ExpectedBody::Judged(_)
            | ExpectedBody::Events(_)
            | ExpectedBody::Any => 0,
        };
        self.exchanges.iter().map(bytes).max().unwrap_or(0)
    }

    /// The index at which a connection starts. If the pool is larger than the number of connections, they are
    /// spread evenly over it.
    pub(crate) fn offset(&self, connection: usize, connections: usize) -> usize {
        let (len, connections) = (self.exchanges.len().max(1), connections.max(1));
        if len > connections { connection % connections * len / connections } else { connection % len }
    }

    #[inline]
    pub(crate) fn after(&self, index: usize) -> usize {
        if index + 1 >= self.exchanges.len() { 0 } else { index + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(len: usize) -> ExchangePool {
        let expected = Expected { status: 200, body: ExpectedBody::Any };
        let one = Exchange { request: vec![], is_head: false, expected, name: String::new(), step: None };
        ExchangePool::new(vec![one; len])
    }

    #[test]
    fn a_shape_is_told_as_it_is_asked_for() {
        let told = |bytes, pattern: Option<&str>| {
            let pattern = pattern.map(|pattern| TextPattern::new(pattern).unwrap());
            BodyShape { bytes, pattern }.to_string()
        };
        assert_eq!(told(5..=5, None), "a body of 5 bytes");
        assert_eq!(told(5..=9, None), "a body of 5 to 9 bytes");
        assert_eq!(told(5..=u64::MAX, Some("a+")), "a body of at least 5 bytes that matches 'a+'");
        assert_eq!(told(0..=u64::MAX, Some("a+")), "a body that matches 'a+'");
    }

    #[test]
    fn a_body_is_right_by_its_length_and_its_text() {
        let shape = |bytes, pattern: Option<&str>| {
            let pattern = pattern.map(|pattern| TextPattern::new(pattern).unwrap());
            ExpectedBody::Shape(BodyShape { bytes, pattern })
        };
        let both = shape(2..=3, Some("[ab]*"));
        let right = |got: &str| both.accepts(got.as_bytes());
        assert!(right("ab") && right("aba") && !right("a") && !right("abab") && !right("ac"));
        assert!(shape(2..=2, None).accepts(b"\xff\xfe"), "its length alone is asked for");
    }

    #[test]
    fn offsets_spread_and_wrap() {
        let starts = |len, total| (0..total).map(|i| pool(len).offset(i, total)).collect::<Vec<_>>();
        assert_eq!(starts(3, 5), [0, 1, 2, 0, 1]);
        assert_eq!(starts(8, 4), [0, 2, 4, 6]);
        assert_eq!(starts(1, 3), [0, 0, 0]);
    }

    #[test]
    fn every_connection_meets_all() {
        let pool = pool(3);
        let mut index = 2;
        let mut met = vec![];
        for _ in 0..4 {
            met.push(index);
            index = pool.after(index);
        }
        assert_eq!(met, [2, 0, 1, 2]);
    }
}
