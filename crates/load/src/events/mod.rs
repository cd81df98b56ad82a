//! Server-sent events: the grammar, what can be wrong, and what is counted. What the events of a stream must be
//! is said by [`ExpectedEvents`](crate::exchange::ExpectedEvents). Nothing here does I/O, reads a clock, or
//! knows HTTP.

mod fault;
mod measures;
mod reader;
mod sent_at;

pub use fault::{EventFault, WrongEvent};
pub use measures::EventMeasures;
pub use reader::{EVENT_BYTES_MAX, EventReader, StreamEvent, TooLong};
pub(crate) use sent_at::sent_at_ns;

#[cfg(test)]
mod tests;
