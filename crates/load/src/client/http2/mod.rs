//! HTTP/2: a slot is one of the streams that a connection may have at a time; a connection's slots are
//! consecutive.
//!
//! A request that the peer does not allow at once waits here. A connection that the peer ends with GOAWAY is
//! replaced, and requests that the peer did not process are sent again: a server may recycle its connections,
//! and no request fails because of it. A connection that ends before it answered anything counts as failed
//! and is not replaced, which prevents an endless loop.

mod links;
mod reading;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::{Client, Prepared, SlotEvent, ToSend, Traffic, cut_short};
use crate::driver::{self, Driver, own_range};
use crate::exchange::ExchangePool;
use crate::http1::{Progress, Response, StatusLineVersion};
use crate::http2::{
    Encoder, ErrorCode, HeadError, Http2Connection, Http2Error, Http2Request, RequestList, Scheme, Sent,
};
use crate::judgement::{Expectation, Judgement, Outcome, empty};
use crate::negotiated::Handshakes;
use crate::tally::{Failure, SAMPLE_BYTES_MAX};
use tare_base::Route;

/// Requests are flushed after at most this number of driver events, so that the first does not wait for a
/// long batch. Some servers answer each stream in a TCP segment of its own: a send for each doubles the cost.
const UNFLUSHED_MAX: usize = 8;

/// The state of a slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SlotPhase {
    #[default]
    Closed,
    /// Its connection is being established.
    Connecting,
    Idle,
    /// Its request waits until the peer allows another stream.
    Waiting,
    /// Its request is on its way.
    Busy,
    /// Its answer is complete and not judged yet.
    Complete,
}

#[derive(Debug, Default)]
struct StreamSlot {
    phase: SlotPhase,
    /// The index of the request in the pool; `None` if the request was made for this slot.
    listed: Option<usize>,
    own: Http2Request,
    is_head: bool,
    judgement: Judgement,
    is_head_judged: bool,
    /// The limit of the part of the body that is kept, and that part.
    keep_bytes_max: Option<usize>,
    kept: Vec<u8>,
    /// What the peer did to the request, if it failed.
    trouble: Option<Trouble>,
}

/// Why a request has no valid answer.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    Connection(Http2Error),
    Malformed(HeadError),
    Reset(ErrorCode),
}

impl Trouble {
    fn say(&self) -> String {
        match self {
            Trouble::Connection(error) => error.to_string(),
            Trouble::Malformed(error) => error.to_string(),
            Trouble::Reset(code) => format!("RST_STREAM with {code}"),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LinkPhase {
    #[default]
    Closed,
    /// The connection is not established, or the settings of the peer have not arrived.
    Connecting {
        /// The slot that started the attempt; `None` if the connection replaces another one.
        began: Option<usize>,
    },
    Open,
}

/// A connection, with the slots on it.
#[derive(Debug)]
struct Link {
    phase: LinkPhase,
    /// Whether it can send: the driver has connected it, and no send failed.
    can_send: bool,
    connection: Http2Connection,
    /// The bytes of this connection that the driver has not accepted.
    unsent: Range<usize>,
    waiting: VecDeque<usize>,
    /// Whether it is in the list of connections with something to send.
    is_dirty: bool,
    /// The number of its slots that are not closed.
    open_slots: usize,
    /// The number of streams that were given up since something was received.
    given_up: usize,
}

/// The bytes that were received last, and how much of them is read.
#[derive(Debug, Clone, Copy)]
struct ChunkReading {
    link: usize,
    at: usize,
}

/// The part of an answer that was found last in the received bytes.
#[derive(Debug, Clone)]
struct Found {
    slot: usize,
    bytes: Range<usize>,
    is_end: bool,
}

/// Connections that speak HTTP/2.
#[derive(Debug)]
pub(crate) struct Http2<D> {
    driver: D,
    /// The number of slots of a connection.
    streams: usize,
    scheme: Scheme,
    links: Vec<Link>,
    slots: Vec<StreamSlot>,
    events: VecDeque<SlotEvent>,
    route: Option<Route>,
    encoder: Encoder,
    requests: Arc<RequestList>,
    reading: Option<ChunkReading>,
    found: Option<Found>,
    dirty: Vec<usize>,
    /// The number of driver events since connections last passed on what they have to send.
    unflushed: usize,
    /// Connections that had a slot closed.
    left: Vec<usize>,
    keeps_fields: bool,
    traffic: Traffic,
}

impl<D: Driver> Http2<D> {
    /// Connections for a number of slots; each connection has `streams` of them.
    pub(crate) fn new(driver: D, slots: usize, streams: usize, scheme: Scheme) -> Http2<D> {
        let requests = Arc::<RequestList>::default();
        let link = || Link {
            phase: LinkPhase::Closed,
            can_send: false,
            connection: Http2Connection::new(streams),
            unsent: 0..0,
            waiting: VecDeque::new(),
            is_dirty: false,
            open_slots: 0,
            given_up: 0,
        };
        Http2 {
            driver,
            streams,
            scheme,
            links: std::iter::repeat_with(link).take(slots.div_ceil(streams)).collect(),
            slots: std::iter::repeat_with(StreamSlot::default).take(slots).collect(),
            events: VecDeque::new(),
            route: None,
            encoder: Encoder::new(&requests),
            requests,
            reading: None,
            found: None,
            dirty: Vec::new(),
            unflushed: 0,
            left: Vec::new(),
            keeps_fields: false,
            traffic: Traffic::default(),
        }
    }
}

impl<D: Driver> Client for Http2<D> {
    fn set_requests(&mut self, pool: &ExchangePool, requests: Prepared) {
        let Prepared::Http2(requests) = requests else { return };
        // Entries that were added to the tables of connections belong to the old requests.
        for link in 0..self.links.len() {
            if self.links[link].phase != LinkPhase::Closed {
                self.links[link].connection.set_requests();
            }
        }
        self.encoder = Encoder::new(&requests);
        self.requests = requests;
        self.keeps_fields = pool.has_sequences();
        for link in &mut self.links {
            link.connection.keep_fields(self.keeps_fields);
        }
    }

    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure> {
        let link = slot / self.streams;
        self.slots[slot].trouble = None;
        match self.links[link].phase {
            LinkPhase::Open => {
                self.slots[slot].phase = SlotPhase::Idle;
                self.events.push_back(SlotEvent::Connected { slot, is_new: false });
            }
            LinkPhase::Connecting { .. } => self.slots[slot].phase = SlotPhase::Connecting,
            LinkPhase::Closed => {
                self.driver.connect(link, route)?;
                self.route = Some(route.clone());
                self.links[link].phase = LinkPhase::Connecting { began: Some(slot) };
                self.slots[slot].phase = SlotPhase::Connecting;
            }
        }
        self.links[link].open_slots += 1;
        Ok(())
    }

    #[inline]
    fn expect(&mut self, slot: usize, is_head: bool, keep_bytes_max: Option<usize>) {
        let own = &mut self.slots[slot];
        own.judgement.start();
        (own.is_head, own.is_head_judged) = (is_head, false);
        (own.keep_bytes_max, own.trouble) = (keep_bytes_max, None);
        empty(&mut own.kept);
    }

    #[inline]
    fn send(&mut self, slot: usize, outgoing: ToSend<'_>) -> Result<(), Failure> {
        let link = slot / self.streams;
        let own = &mut self.slots[slot];
        match outgoing {
            ToSend::Listed { first, .. } => own.listed = Some(first),
            ToSend::Filled(exchange) => {
                own.own = Http2Request::of(exchange, self.scheme).map_err(|_| Failure::Other)?;
                own.listed = None;
            }
        }
        if self.links[link].waiting.is_empty() && self.links[link].has_room() {
            self.start(slot);
        } else {
            own.phase = SlotPhase::Waiting;
            self.links[link].waiting.push_back(slot);
        }
        Ok(())
    }

    /// A stream has one request, and the connection itself sends the rest of it.
    #[inline]
    fn is_sending(&self, _: usize) -> bool {
        false
    }

    #[inline]
    fn judge(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome {
        let mut expectation = expectation;
        let Expectation { exchange, check, .. } = expectation;
        let Some(Found { bytes, is_end, .. }) = self.found.take() else { return Outcome::Partial };
        let own = &mut self.slots[slot];
        let connection = &self.links[slot / self.streams].connection;
        if !std::mem::replace(&mut own.is_head_judged, true) {
            let status = connection.head(slot % self.streams).map_or(0, |head| head.status);
            let has_body = !own.is_head && !matches!(status, 204 | 304);
            own.judgement.head(status, has_body, check.then_some(exchange.expected.status));
        }
        let part = &self.driver.received()[bytes];
        if let Some(bytes_max) = own.keep_bytes_max {
            let room = bytes_max.saturating_sub(own.kept.len());
            own.kept.extend_from_slice(&part[..part.len().min(room)]);
        }
        if (check || exchange.is_of_events())
            && !part.is_empty()
            && let Err(failure) = own.judgement.part(&mut expectation, part)
        {
            return Outcome::Failed { failure, keep_alive: false };
        }
        if !is_end {
            return own.judgement.partial();
        }
        own.phase = SlotPhase::Idle;
        own.judgement.conclude(&mut expectation, true)
    }

    #[inline]
    fn has_more(&self, _: usize) -> bool {
        false
    }

    fn judge_end(&mut self, _: usize, _: Expectation<'_>) -> Outcome {
        // The end of a connection never completes an HTTP/2 answer.
        Outcome::Failed { failure: Failure::ClosedBeforeResponse, keep_alive: false }
    }

    #[inline]
    fn status(&self, slot: usize) -> Option<u16> {
        self.slots[slot].judgement.status()
    }

    fn response(&self, slot: usize) -> Option<Response> {
        let own = &self.slots[slot];
        let connection = &self.links[slot / self.streams].connection;
        let is_whole = own.keep_bytes_max.is_some_and(|bytes_max| own.kept.len() < bytes_max);
        is_whole.then(|| Response {
            status: own.judgement.status().unwrap_or_default(),
            version: StatusLineVersion::Http2,
            headers: connection.fields(slot % self.streams).unwrap_or_default().to_vec(),
            body: own.kept.clone(),
            keep_alive: true,
        })
    }

    fn reason(&self, slot: usize, failure: Failure) -> Option<String> {
        if let Some(trouble) = &self.slots[slot].trouble {
            return Some(trouble.say());
        }
        let judgement = &self.slots[slot].judgement;
        if let Some(wrong) = judgement.wrong_event().filter(|_| failure == Failure::Mismatch) {
            return Some(wrong);
        }
        let is_cut = matches!(failure, Failure::ResponseTimeout | Failure::ClosedMidResponse);
        let came = |status| Progress::Body { status, bytes: judgement.body_bytes(), announced: None };
        let came = judgement.status().filter(|_| is_cut).map(came);
        came.map(|came| came.to_string()).or_else(|| self.tls_trouble(failure))
    }

    fn got(&self, slot: usize, failure: Failure) -> Vec<u8> {
        let own = &self.slots[slot];
        let mut got = match (failure, own.judgement.status()) {
            (Failure::Status, Some(status)) => format!(":status {status}").into_bytes(),
            _ => own.judgement.body_so_far().to_vec(),
        };
        got.truncate(SAMPLE_BYTES_MAX);
        got
    }

    fn close(&mut self, slot: usize) {
        let link = slot / self.streams;
        let phase = std::mem::take(&mut self.slots[slot].phase);
        match phase {
            SlotPhase::Closed => return,
            SlotPhase::Busy => {
                self.links[link].connection.cancel(slot % self.streams);
                self.links[link].given_up += 1;
                self.touch(link);
            }
            SlotPhase::Waiting => self.links[link].waiting.retain(|waiting| *waiting != slot),
            SlotPhase::Connecting | SlotPhase::Idle | SlotPhase::Complete => {}
        }
        // No event of the slot may follow its close.
        self.events.retain(|event| slot_of(event) != slot);
        self.links[link].open_slots -= 1;
        self.left.push(link);
        if let Some(failure) = self.given_up_with(link, phase) {
            self.fail(link, failure, None);
        }
    }

    fn is_open(&self, slot: usize) -> bool {
        let phase = self.links[slot / self.streams].phase;
        self.slots[slot].phase != SlotPhase::Closed && phase != LinkPhase::Closed
    }

    fn wait(&mut self, timeout_ns: u64) {
        self.found = None;
        self.settle_left();
        self.flush_all();
        let has_events = !self.events.is_empty();
        self.driver.wait(if has_events { 0 } else { timeout_ns });
    }

    fn gather(&mut self, count: usize, sleeps: bool) -> u64 {
        if self.streams > 1 { self.driver.gather(count, sleeps) } else { 0 }
    }

    #[inline]
    fn next_event(&mut self) -> Option<SlotEvent> {
        self.found = None;
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if let Some(reading) = self.reading.take() {
                self.read(reading);
                continue;
            }
            if self.unflushed >= UNFLUSHED_MAX {
                self.flush_all();
                continue;
            }
            match self.driver.next_event() {
                Some(event) => {
                    self.unflushed += 1;
                    self.event(event);
                }
                // Flushing may create events too, for connections that accept nothing.
                None => {
                    self.flush_all();
                    return self.events.pop_front();
                }
            }
        }
    }

    fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.traffic)
    }

    fn tls(&self) -> Option<&Handshakes> {
        self.driver.tls()
    }
}

fn slot_of(event: &SlotEvent) -> usize {
    match *event {
        SlotEvent::Connected { slot, .. }
        | SlotEvent::ConnectFailed { slot, .. }
        | SlotEvent::Received { slot }
        | SlotEvent::Accepted { slot }
        | SlotEvent::Started { slot }
        | SlotEvent::Replaced { slot }
        | SlotEvent::Closed { slot }
        | SlotEvent::Failed { slot, .. } => slot,
    }
}
