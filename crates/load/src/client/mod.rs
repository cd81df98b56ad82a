//! A run's view of a protocol: slots that carry one request after another, and the events of these slots.
//!
//! In HTTP/1.1 a slot is a connection; in HTTP/2 it is one of the streams that a connection may have at a
//! time. A client owns a driver and does only what the protocol requires: it knows no schedule, no clock and
//! no counts except those of bytes.

mod http1;
mod http2;

pub(crate) use http1::Http1;
pub(crate) use http2::Http2;

use std::sync::Arc;

use crate::exchange::{Exchange, ExchangePool};
use crate::http1::Response;
use crate::http2::RequestList;
use crate::judgement::{Expectation, Outcome};
use crate::negotiated::Handshakes;
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;
use tare_base::Route;

/// An event of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotEvent {
    /// The slot can carry requests.
    Connected {
        slot: usize,
        /// Whether a connection was made for this slot; if not, it shares an existing one.
        is_new: bool,
    },
    ConnectFailed {
        slot: usize,
        failure: Failure,
        /// Whether the attempt was made for this slot; if not, another attempt is reported too.
        is_own: bool,
    },
    /// Part of an answer arrived, or unsolicited bytes did: [`Client::judge`] reads them.
    Received {
        slot: usize,
    },
    /// The driver accepted all of the last send.
    Accepted {
        slot: usize,
    },
    /// The request waited until the peer allowed another stream, and was sent now.
    Started {
        slot: usize,
    },
    /// The connection was replaced at the peer's request. Unprocessed requests are sent again.
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

#[derive(Debug, Clone, Copy)]
pub(crate) enum ToSend<'a> {
    /// `count` exchanges of the pool, from `first` on.
    Listed { first: usize, count: usize },
    /// A request that was made for this slot.
    Filled(&'a Exchange),
}

/// Bytes of HTTP since the last query, without TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
}

/// Slots that carry requests. A client belongs to the thread that made it.
pub(crate) trait Client {
    /// Sets the requests that are sent from now on. No request may be in flight.
    fn set_requests(&mut self, pool: &ExchangePool, requests: Prepared);

    /// Starts to connect a slot; `Connected` or `ConnectFailed` follows unless it fails at once.
    ///
    /// # Errors
    /// The attempt failed at once.
    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure>;

    /// Prepares for the answer to the next request of a slot. Up to `keep_bytes_max` bytes of it are kept.
    fn expect(&mut self, slot: usize, is_head: bool, keep_bytes_max: Option<usize>);

    /// Sends requests. If they are not accepted whole, `Accepted` follows.
    ///
    /// # Errors
    /// The connection is broken.
    fn send(&mut self, slot: usize, outgoing: ToSend<'_>) -> Result<(), Failure>;

    /// Whether part of the last send is not accepted yet, so that no more can be sent.
    fn is_sending(&self, slot: usize) -> bool;

    /// Reads the bytes received for the oldest request of the slot.
    fn judge(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome;

    /// Whether received bytes of the slot are still unread.
    fn has_more(&self, slot: usize) -> bool;

    /// Handles the end of the connection for the oldest request of the slot.
    fn judge_end(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome;

    /// The status of the answer, once its head arrived.
    fn status(&self, slot: usize) -> Option<u16>;

    /// The kept answer, once it is complete; `None` if it was longer than the limit.
    fn response(&self, slot: usize) -> Option<Response>;

    /// The last TLS error in words, if the failure is one of TLS.
    fn tls_trouble(&self, failure: Failure) -> Option<String> {
        let of_tls = self.tls().filter(|_| failure == Failure::Tls)?;
        of_tls.last_error.as_ref().map(ToString::to_string)
    }

    /// Why a slot failed, if more is known than the kind of failure: the rule that the answer breaks, how
    /// much of it arrived, or the TLS error.
    fn reason(&self, slot: usize, failure: Failure) -> Option<String>;

    /// The received bytes, for a sample: from the beginning, or from where they are wrong.
    fn got(&self, slot: usize, failure: Failure) -> Vec<u8>;

    /// Closes a slot and, in HTTP/1.1, its connection. No event of the slot follows.
    fn close(&mut self, slot: usize);

    /// Whether a slot is open or being opened.
    fn is_open(&self, slot: usize) -> bool;

    /// Waits for events for at most `timeout_ns`, after submitting queued requests. A signal ends the wait.
    fn wait(&mut self, timeout_ns: u64);

    /// Waits a moment longer for about `count` answers, if that saves CPU time and the last wait brought an
    /// answer. Returns the time it polled without result, if it may not sleep.
    fn gather(&mut self, _count: usize, _sleeps: bool) -> u64 {
        0
    }

    /// The next event of the last wait.
    fn next_event(&mut self) -> Option<SlotEvent>;

    /// The bytes sent and received since the last call.
    fn take_traffic(&mut self) -> Traffic;

    /// The TLS handshakes so far, if TLS is used.
    fn tls(&self) -> Option<&Handshakes>;
}

/// The failure of a request whose connection closed, given whether its answer had begun.
fn cut_short(failure: Failure, has_begun: bool) -> Failure {
    match failure {
        Failure::ClosedBeforeResponse if has_begun => Failure::ClosedMidResponse,
        failure => failure,
    }
}
