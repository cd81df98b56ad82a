//! What a run sees of a protocol: slots, each of which carries one request after another, and what becomes of them.
//!
//! In HTTP/1.1 a slot is a connection, in HTTP/2 one of the streams that a connection may have at a time. A client owns a driver
//! and does no more than the protocol asks for: it knows no schedule, no clock and no counts but those of bytes.

mod http1;
mod http2;

pub(crate) use http1::Http1;
pub(crate) use http2::Http2;

use std::sync::Arc;

use crate::endpoint::Route;
use crate::exchange::{Exchange, ExchangePool};
use crate::http1::Response;
use crate::http2::RequestList;
use crate::judgement::{Expectation, Outcome};
use crate::negotiated::Handshakes;
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;

/// What happened in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotEvent {
    /// It can carry requests.
    Connected {
        slot: usize,
        /// Whether a connection was made for it; if not, it shares one that was there.
        is_new: bool,
    },
    ConnectFailed {
        slot: usize,
        failure: Failure,
        /// Whether the attempt was made for it; if not, it waited for one that is reported too.
        is_own: bool,
    },
    /// Something of an answer came, or something that nothing asked for: [`Client::judge`] takes it.
    Received {
        slot: usize,
    },
    /// What was sent last is now accepted whole.
    Accepted {
        slot: usize,
    },
    /// The request had to wait until the peer allowed another stream, and is sent now.
    Started {
        slot: usize,
    },
    /// The connection was replaced by another, as the peer asked for. Requests that it had not taken are sent again.
    Replaced {
        slot: usize,
    },
    /// The peer closed its side in an orderly way, which may be the end of an answer.
    Closed {
        slot: usize,
    },
    Failed {
        slot: usize,
        failure: Failure,
    },
}

/// The requests of a pool in the form that a protocol sends.
#[derive(Debug, Clone)]
pub(crate) enum Prepared {
    Http1(Arc<RequestBuffer>),
    Http2(Arc<RequestList>),
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ToSend<'a> {
    /// `count` exchanges of the pool from the first on.
    Listed { first: usize, count: usize },
    /// A request that was made for this slot.
    Filled(&'a Exchange),
}

/// Bytes of HTTP since they were asked for last, without TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
}

/// Slots that carry requests. It belongs to the thread that made it.
pub(crate) trait Client {
    /// Sets the requests that are sent from now on. No request may be in flight.
    fn set_requests(&mut self, pool: &ExchangePool, requests: Prepared);

    /// Starts to connect a slot; `Connected` or `ConnectFailed` follows unless it fails at once.
    ///
    /// # Errors
    /// The attempt failed at once.
    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure>;

    /// Gets ready for the answer to the next request of a slot. Up to `keep_bytes_max` bytes of it are kept.
    fn expect(&mut self, slot: usize, is_head: bool, keep_bytes_max: Option<usize>);

    /// Sends requests. If they are not accepted whole, `Accepted` follows.
    ///
    /// # Errors
    /// The connection is broken.
    fn send(&mut self, slot: usize, outgoing: ToSend<'_>) -> Result<(), Failure>;

    /// Whether what was sent last is not all accepted, so that no more can be sent.
    fn is_sending(&self, slot: usize) -> bool;

    /// Takes what was received for the oldest request of the slot.
    fn judge(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome;

    /// Whether more was received for the slot than was taken.
    fn has_more(&self, slot: usize) -> bool;

    /// Takes the end of the connection, for the oldest request of the slot.
    fn judge_end(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome;

    /// The status of the answer, once it came.
    fn status(&self, slot: usize) -> Option<u16>;

    /// The answer that was kept, once it is complete; none if it was longer than was to be kept.
    fn response(&self, slot: usize) -> Option<Response>;

    /// What TLS says of its last failure, if this is one of TLS.
    fn tls_trouble(&self, failure: Failure) -> Option<String> {
        let of_tls = self.tls().filter(|_| failure == Failure::Tls)?;
        of_tls.last_error.as_ref().map(ToString::to_string)
    }

    /// Why a slot failed, if more is known than the failure says: the rule that an answer breaks, how much of it came, or what TLS
    /// says.
    fn reason(&self, slot: usize, failure: Failure) -> Option<String>;

    /// What came, for a sample: from its beginning, or where it is wrong.
    fn got(&self, slot: usize, failure: Failure) -> Vec<u8>;

    /// Closes a slot: its connection, or what it has of one. No event of it follows.
    fn close(&mut self, slot: usize);

    /// Whether a slot is open or being opened.
    fn is_open(&self, slot: usize) -> bool;

    /// Waits for events for at most `timeout_ns`. Queued requests are handed over at the latest now. A signal ends the wait.
    fn wait(&mut self, timeout_ns: u64);

    /// Waits a moment longer until about `count` answers have come, if that saves something and the last wait brought one. Returns how
    /// long it polled for nothing, if it may not sleep.
    fn gather(&mut self, _count: usize, _sleeps: bool) -> u64 {
        0
    }

    /// The next event of the last wait.
    fn next_event(&mut self) -> Option<SlotEvent>;

    /// What was sent and received since this was asked last.
    fn take_traffic(&mut self) -> Traffic;

    /// What is known of TLS, if it is spoken.
    fn tls(&self) -> Option<&Handshakes>;
}

/// What a closed connection is to a request whose answer has begun, or has not.
fn cut_short(failure: Failure, has_begun: bool) -> Failure {
    match failure {
        Failure::ClosedBeforeResponse if has_begun => Failure::ClosedMidResponse,
        failure => failure,
    }
}
