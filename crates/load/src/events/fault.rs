//! What can be wrong with an event, and which event it was.

use std::fmt;

/// What is wrong with an event or with the end of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFault {
    /// The data is not the expected one.
    Data,
    /// The name is not the expected one.
    Name,
    /// Events before this one did not arrive.
    Lost {
        /// The number of missing events.
        count: u64,
    },
    /// The event before this one arrived again.
    Repeated,
    /// The id is lower than the one before, without being the same.
    Backwards,
    /// The event has no id, or one that is not a number.
    NoId,
    /// The event has no time of the server, or one that cannot be read.
    NoTime,
    /// The stream should have ended before.
    Surplus,
    /// The stream ended before this event.
    Missing,
    /// The stream ended within this event.
    Cut,
    /// The event is longer than the limit.
    TooLong,
}

/// A wrong event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongEvent {
    /// The number of the event in its stream, from 1.
    pub number: u64,
    /// What is wrong.
    pub fault: EventFault,
}

impl fmt::Display for WrongEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        match self.fault {
            EventFault::Data => write!(f, "the data of event {number} is wrong"),
            EventFault::Name => write!(f, "event {number} has the wrong name"),
            EventFault::Lost { count: 1 } => write!(f, "an event is missing before event {number}"),
            EventFault::Lost { count } => write!(f, "{count} events are missing before event {number}"),
            EventFault::Repeated => write!(f, "event {number} repeats the event before it"),
            EventFault::Backwards => write!(f, "the id of event {number} is lower than the one before it"),
            EventFault::NoId => write!(f, "event {number} has no id that is a number"),
            EventFault::NoTime => write!(f, "event {number} has no time of the server"),
            EventFault::Surplus => write!(f, "the stream should end before event {number}"),
            EventFault::Missing => write!(f, "the stream ended before event {number}"),
            EventFault::Cut => write!(f, "the stream ended within event {number}"),
            EventFault::TooLong => {
                write!(f, "event {number} has more than {} bytes", super::reader::EVENT_BYTES_MAX)
            }
        }
    }
}
