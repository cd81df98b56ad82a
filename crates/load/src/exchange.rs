//! What is sent and what must come back: the requests of a load as finished bytes, shared by all connections.
//!
//! It knows no contract files and builds no requests; it does not look into the request at all.

use std::{collections::BTreeMap, fmt, ops::RangeInclusive, sync::Arc};

use serde_json::Value;

use crate::{
    http1::Response,
    pattern::JsonPattern,
    same_json::KnownJson,
    sequence::{Captured, MissingValue},
    text_pattern::TextPattern,
};

/// One request and the response that is right for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The complete request as it goes on the wire.
    pub request: Vec<u8>,
    /// Whether it is a HEAD request, whose response has no body whatever its head says.
    pub is_head: bool,
    /// The right response.
    pub expected: Expected,
    /// Its name in reports.
    pub name: String,
    /// Its place in a sequence; absent where it stands alone.
    pub step: Option<SequenceStep>,
}

/// The place of an exchange in a sequence. The steps of a sequence follow each other in the pool, all of them.
#[derive(Debug, Clone)]
pub struct SequenceStep {
    /// Whether a sequence begins with it.
    pub is_first: bool,
    /// What is special about it.
    pub rule: Arc<dyn StepRule>,
}

/// Steps are equal if they are of one sequence that was made once.
impl PartialEq for SequenceStep {
    fn eq(&self, other: &SequenceStep) -> bool {
        self.is_first == other.is_first && Arc::ptr_eq(&self.rule, &other.rule)
    }
}

/// How a step is sent with the values of earlier answers, and what it takes out of its own.
pub trait StepRule: fmt::Debug + Send + Sync {
    /// The exchange with these values; absent if it has no place for one.
    fn fill(&self, captured: &Captured) -> Option<Exchange>;

    /// Whether it takes anything out of its answer.
    fn captures(&self) -> bool;

    /// Takes the values out of a right answer.
    ///
    /// # Errors
    /// A value is not there, or cannot be used.
    fn capture(&self, response: &Response, captured: &mut Captured) -> Result<(), MissingValue>;
}

/// The right response.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: ExpectedBody,
}

/// The right body. It is not looked at when the response can have none (HEAD, 204, 304).
#[derive(Debug, Clone, PartialEq)]
pub enum ExpectedBody {
    /// Exactly these bytes.
    Exact(Vec<u8>),
    /// An equal JSON value: neither the order of keys nor white space matter, but `1` is not `1.0`.
    Json(KnownJson),
    /// A JSON value that fits this pattern.
    Pattern(JsonPattern),
    /// A body of this length, or a text of this form.
    Shape(BodyShape),
    /// A body that its own judge knows.
    Judged(Judged),
    /// Whatever comes.
    Any,
}

/// Judges bodies of a form that this crate does not know: rows of a table, HTML, what is compressed.
pub trait BodyJudge: fmt::Debug + Send + Sync {
    /// Whether a body is right. It may take note of what it has seen.
    fn is_right(&self, body: &[u8], flight: Flight) -> bool;

    /// Whether the same bytes are right again, so that it need not see them.
    fn may_be_remembered(&self) -> bool;

    /// What is wrong with a body, in words; empty if nothing is.
    fn differences(&self, body: &[u8]) -> Vec<String>;

    /// What is right, as in "a row of the table world".
    fn describe(&self) -> String;

    /// The longest body that can be right, in bytes.
    fn body_bytes_max(&self) -> u64;
}

/// When a request was sent and its answer came, in the time of the generator's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flight {
    /// Not after the first byte was sent.
    pub sent_ns: u64,
    /// Not before the last byte came.
    pub answered_ns: u64,
}

/// A judge; two are equal if they are one.
#[derive(Debug, Clone)]
pub struct Judged(pub Arc<dyn BodyJudge>);

impl PartialEq for Judged {
    fn eq(&self, other: &Judged) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What is asked of a body that is neither known nor JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyShape {
    /// How long it may be.
    pub bytes: RangeInclusive<u64>,
    /// What all of it must match as UTF-8.
    pub pattern: Option<TextPattern>,
}

impl ExpectedBody {
    /// A JSON value that is equal to this one.
    #[must_use]
    pub fn json(value: Value) -> ExpectedBody {
        ExpectedBody::Json(KnownJson::new(value))
    }

    /// Whether `got` is right.
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
            ExpectedBody::Any => true,
        }
    }

    /// Whether bytes that were right are right again.
    pub(crate) fn may_be_remembered(&self) -> bool {
        match self {
            ExpectedBody::Judged(Judged(judge)) => judge.may_be_remembered(),
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
    /// What is expected, in words for a report.
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
            ExpectedBody::Any => format!("status {status} with any body"),
        }
    }
}

/// The exchanges of a load, read-only and shared by all connections.
///
/// Each connection goes through all of them in order and starts over; connections start at different offsets so
/// that the server sees the whole mixture at every moment and every connection meets all requests.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangePool {
    exchanges: Vec<Exchange>,
    has_sequences: bool,
}

impl ExchangePool {
    /// A pool; an empty one is refused where it is used.
    #[must_use]
    pub fn new(exchanges: Vec<Exchange>) -> Self {
        let has_sequences = exchanges.iter().any(|exchange| exchange.step.is_some());
        Self { exchanges, has_sequences }
    }

    /// Whether any exchange is a step of a sequence.
    pub(crate) fn has_sequences(&self) -> bool {
        self.has_sequences
    }

    /// Whether the exchange at `index` is a step that others come before.
    pub(crate) fn is_within_sequence(&self, index: usize) -> bool {
        let step = self.exchanges.get(index).and_then(|exchange| exchange.step.as_ref());
        step.is_some_and(|step| !step.is_first)
    }

    /// The first place from `index` on at which a connection may begin: not within a sequence.
    pub(crate) fn beginning(&self, index: usize) -> usize {
        let places = std::iter::successors(Some(index), |index| Some(self.after(*index)));
        // A pool of steps alone has a first one.
        let mut beginnings = places.take(self.exchanges.len().max(1));
        beginnings.find(|index| !self.is_within_sequence(*index)).unwrap_or(index)
    }

    /// All of them.
    pub(crate) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Counts of exchanges, added up by their names; names without any are left out.
    pub(crate) fn by_name(&self, counts: &[u64]) -> BTreeMap<String, u64> {
        let counted = self.exchanges.iter().zip(counts).filter(|(_, count)| **count > 0);
        let mut by_name = BTreeMap::<&str, u64>::new();
        counted.for_each(|(exchange, count)| *by_name.entry(&exchange.name).or_default() += count);
        by_name.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }

    /// The longest body that is expected, as far as it is known.
    pub(crate) fn body_bytes_max(&self) -> usize {
        let bytes = |exchange: &Exchange| match &exchange.expected.body {
            ExpectedBody::Exact(bytes) => bytes.len(),
            ExpectedBody::Shape(shape) => usize::try_from(*shape.bytes.start()).unwrap_or(usize::MAX),
            ExpectedBody::Json(_)
            | ExpectedBody::Pattern(_)
            | ExpectedBody::Judged(_)
            | ExpectedBody::Any => 0,
        };
        self.exchanges.iter().map(bytes).max().unwrap_or(0)
    }

    /// Where a connection starts: connections are spread evenly over a pool that is larger than their number.
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
