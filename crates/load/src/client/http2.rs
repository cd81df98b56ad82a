//! HTTP/2: a slot is one of the streams that a connection may have at a time, and slots of a connection stand side by side.
//!
//! A request that the peer does not allow at once waits here for its turn. A connection that the peer ends in good order (GOAWAY)
//! is replaced, and requests that it did not take are sent again: a server may recycle its connections, and no request fails by
//! it. One that ends before it answered anything is not replaced but has failed, so that nothing goes in circles.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::{Client, Event, Expectation, Outgoing, Prepared, Traffic};
use crate::driver::{self, Driver, own_range};
use crate::endpoint::Route;
use crate::exchange::ExchangePool;
use crate::http1::{Response, Version};
use crate::http2::{
    Connection, Encoder, ErrorCode, HeadError, Http2Error, Request, RequestList, Scheme, Sent,
};
use crate::judgement::{Judgement, Outcome};
use crate::tally::{Failure, SAMPLE_BYTES_MAX};
use crate::tls::Handshakes;

/// What a slot is doing.
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
struct Slot {
    phase: SlotPhase,
    /// The request of the list; none if it is its own.
    listed: Option<usize>,
    own: Request,
    is_head: bool,
    judgement: Judgement,
    is_head_judged: bool,
    /// How much of the body is kept, and what of it.
    keep_bytes_max: Option<usize>,
    kept: Vec<u8>,
    /// What the peer did to it.
    trouble: Option<Trouble>,
}

/// Why a request has no proper answer.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    Connection(Http2Error),
    Malformed(HeadError),
    Reset(ErrorCode),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LinkPhase {
    #[default]
    Closed,
    /// The connection, or the settings of the peer, are still to come.
    Connecting {
        /// Whether it takes the place of another.
        replaces: bool,
    },
    Open,
}

/// A connection, with the slots on it.
#[derive(Debug)]
struct Link {
    phase: LinkPhase,
    /// Whether the driver has connected it, so that it can send.
    is_connected: bool,
    connection: Connection,
    /// What the driver has not accepted of the bytes of this connection.
    unsent: Range<usize>,
    waiting: VecDeque<usize>,
    /// Whether it is in the list of those with something to send.
    is_dirty: bool,
    /// How many of its slots are not closed.
    open_slots: usize,
}

/// What was received last, as far as it is read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    link: usize,
    at: usize,
}

/// The part of an answer that was found last, in what was received.
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
    /// How many slots a connection has.
    streams: usize,
    scheme: Scheme,
    links: Vec<Link>,
    slots: Vec<Slot>,
    events: VecDeque<Event>,
    route: Option<Route>,
    encoder: Encoder,
    requests: Arc<RequestList>,
    reading: Option<Reading>,
    found: Option<Found>,
    dirty: Vec<usize>,
    /// Connections of which a slot was closed.
    left: Vec<usize>,
    keeps_fields: bool,
    traffic: Traffic,
}

impl<D: Driver> Http2<D> {
    /// Connections for so many slots, of which each has `streams`.
    pub(crate) fn new(driver: D, slots: usize, streams: usize, scheme: Scheme) -> Http2<D> {
        let requests = Arc::<RequestList>::default();
        let link = || Link {
            phase: LinkPhase::Closed,
            is_connected: false,
            connection: Connection::new(streams),
            unsent: 0..0,
            waiting: VecDeque::new(),
            is_dirty: false,
            open_slots: 0,
        };
        Http2 {
            driver,
            streams,
            scheme,
            links: std::iter::repeat_with(link).take(slots.div_ceil(streams)).collect(),
            slots: std::iter::repeat_with(Slot::default).take(slots).collect(),
            events: VecDeque::new(),
            route: None,
            encoder: Encoder::new(&requests),
            requests,
            reading: None,
            found: None,
            dirty: Vec::new(),
            left: Vec::new(),
            keeps_fields: false,
            traffic: Traffic::default(),
        }
    }

    fn slots_of(&self, link: usize) -> Range<usize> {
        let first = link * self.streams;
        first..(first + self.streams).min(self.slots.len())
    }

    /// Notes that the connection has something to send.
    #[inline]
    fn touch(&mut self, link: usize) {
        if !std::mem::replace(&mut self.links[link].is_dirty, true) {
            self.dirty.push(link);
        }
    }

    /// Hands over what connections have to send.
    #[inline]
    fn flush_all(&mut self) {
        while let Some(link) = self.dirty.pop() {
            self.links[link].is_dirty = false;
            if let Err(failure) = self.flush(link) {
                self.fail(link, failure, None);
            }
        }
    }

    fn flush(&mut self, link: usize) -> Result<(), Failure> {
        loop {
            let Link { connection, unsent, is_connected, .. } = &mut self.links[link];
            if !*is_connected || !Range::is_empty(unsent) || connection.outgoing().is_empty() {
                return Ok(());
            }
            let Some(bytes) = self.driver.own(link) else { return Ok(()) };
            bytes.clear();
            std::mem::swap(bytes, connection.outgoing());
            *unsent = own_range(0..bytes.len());
            self.push(link)?;
            // What was held back because so much waited to be sent.
            self.links[link].connection.pump(&self.requests);
            self.start_waiting(link);
        }
    }

    fn push(&mut self, link: usize) -> Result<(), Failure> {
        let unsent = &mut self.links[link].unsent;
        let sent = self.driver.send(link, unsent.clone())?;
        unsent.start += sent;
        self.traffic.sent_bytes += sent as u64;
        Ok(())
    }

    fn sendable(&mut self, link: usize, sent: usize) {
        let unsent = &mut self.links[link].unsent;
        unsent.start += sent.min(unsent.len());
        self.traffic.sent_bytes += sent as u64;
        let pushed = if self.links[link].unsent.is_empty() { Ok(()) } else { self.push(link) };
        match pushed {
            Ok(()) => self.touch(link),
            Err(failure) => self.fail(link, failure, None),
        }
    }

    /// Sends the request of a slot, for which there is room.
    #[inline]
    fn start(&mut self, slot: usize) {
        let link = slot / self.streams;
        let Slot { phase, listed, own, is_head, .. } = &mut self.slots[slot];
        *phase = SlotPhase::Busy;
        let sent = listed.map_or(Sent::Single(own), Sent::Listed);
        let place = slot % self.streams;
        self.links[link].connection.send(place, sent, *is_head, &mut self.encoder, &self.requests);
        self.touch(link);
    }

    /// Sends requests that waited, as far as there is room.
    #[inline]
    fn start_waiting(&mut self, link: usize) {
        while !self.links[link].waiting.is_empty() && self.links[link].connection.has_room() {
            if let Some(slot) = self.links[link].waiting.pop_front() {
                self.start(slot);
                self.events.push_back(Event::Started { slot });
            }
        }
    }

    /// The peer's settings came.
    fn ready(&mut self, link: usize) {
        let replaces = matches!(self.links[link].phase, LinkPhase::Connecting { replaces: true });
        self.links[link].phase = LinkPhase::Open;
        if replaces {
            self.events.push_back(Event::Replaced { slot: link * self.streams });
        }
        let mut is_new = !replaces;
        for slot in self.slots_of(link) {
            if self.slots[slot].phase == SlotPhase::Connecting {
                self.slots[slot].phase = SlotPhase::Idle;
                self.events.push_back(Event::Connected { slot, is_new: std::mem::take(&mut is_new) });
            }
        }
        self.start_waiting(link);
    }

    /// The connection is over, and with it what is on its way.
    fn fail(&mut self, link: usize, failure: Failure, trouble: Option<Http2Error>) {
        let trouble = trouble.map(Trouble::Connection);
        for slot in self.slots_of(link) {
            let own = &mut self.slots[slot];
            match own.phase {
                SlotPhase::Closed => continue,
                SlotPhase::Connecting => self.events.push_back(Event::ConnectFailed { slot, failure }),
                SlotPhase::Idle | SlotPhase::Complete => self.events.push_back(Event::Closed { slot }),
                SlotPhase::Waiting => self.events.push_back(Event::Failed { slot, failure }),
                SlotPhase::Busy => {
                    let has_begun = self.links[link].connection.head(slot % self.streams).is_some();
                    let failure = cut_short(failure, has_begun);
                    self.events.push_back(Event::Failed { slot, failure });
                }
            }
            own.trouble = trouble.or(own.trouble);
            // Until its slot is closed it is not on any connection.
            own.phase = SlotPhase::Idle;
        }
        self.close_link(link);
    }

    fn close_link(&mut self, link: usize) {
        if self.reading.is_some_and(|reading| reading.link == link) {
            self.reading = None;
        }
        self.driver.close(link);
        let streams = self.streams;
        let own = &mut self.links[link];
        (own.phase, own.is_connected) = (LinkPhase::Closed, false);
        own.unsent = 0..0;
        own.waiting.clear();
        own.connection = Connection::new(streams);
        own.connection.keep_fields(self.keeps_fields);
    }

    /// Makes another connection in the place of one that the peer ends, once nothing is on its way on it.
    fn replace(&mut self, link: usize) {
        let connection = &self.links[link].connection;
        if !connection.is_going_away() || connection.busy() > 0 {
            return;
        }
        let code = connection.goaway().unwrap_or(ErrorCode::NO_ERROR);
        let Some(route) = self.route.clone().filter(|_| connection.has_answered()) else {
            return self.fail(link, Failure::ClosedBeforeResponse, Some(Http2Error::GoneAway(code)));
        };
        let waiting = std::mem::take(&mut self.links[link].waiting);
        self.close_link(link);
        self.links[link].waiting = waiting;
        match self.driver.connect(link, &route) {
            Ok(()) => self.links[link].phase = LinkPhase::Connecting { replaces: true },
            Err(failure) => self.fail(link, failure, None),
        }
    }

    /// The connection ended below.
    fn ended(&mut self, link: usize, failure: Failure) {
        if self.links[link].connection.is_going_away() {
            // What it had taken will not be answered.
            for slot in self.slots_of(link) {
                if self.slots[slot].phase == SlotPhase::Busy {
                    let (connection, place) = (&mut self.links[link].connection, slot % self.streams);
                    let failure = cut_short(failure, connection.head(place).is_some());
                    connection.cancel(place);
                    self.slots[slot].phase = SlotPhase::Idle;
                    self.events.push_back(Event::Failed { slot, failure });
                }
            }
            return self.replace(link);
        }
        self.fail(link, failure, None);
    }

    /// Reads what was received last, up to an event for whoever is above.
    fn read(&mut self, mut reading: Reading) {
        let link = reading.link;
        let received = self.driver.received();
        let mut rest = &received[reading.at..];
        let outcome = self.links[link].connection.receive(&mut rest);
        reading.at = received.len() - rest.len();
        let first = link * self.streams;
        match outcome {
            Ok(None) => {
                self.touch(link);
                return self.replace(link);
            }
            Err(error) => {
                // The peer is informed, if that can be sent at once.
                let _ = self.flush(link);
                return self.fail(link, Failure::Malformed, Some(error));
            }
            Ok(Some(event)) => {
                use crate::http2::Event as Http2Event;
                self.reading = Some(reading);
                match event {
                    Http2Event::Answer { place, bytes, is_end } => {
                        let begin = match bytes.is_empty() {
                            true => 0,
                            false => bytes.as_ptr().addr() - received.as_ptr().addr(),
                        };
                        let found = Found { slot: first + place, bytes: begin..begin + bytes.len(), is_end };
                        return self.found(found);
                    }
                    Http2Event::Malformed { place, error } => {
                        self.trouble(first + place, Trouble::Malformed(error), Failure::Malformed);
                    }
                    Http2Event::Reset { place, code } => {
                        self.trouble(first + place, Trouble::Reset(code), Failure::StreamReset);
                    }
                    Http2Event::NotTaken { place } => {
                        let own = &mut self.slots[first + place];
                        own.phase = SlotPhase::Waiting;
                        // Its answer may have begun all the same, and another one follows.
                        own.judgement.start();
                        own.is_head_judged = false;
                        own.kept.clear();
                        self.links[link].waiting.push_front(first + place);
                    }
                    Http2Event::Ready => self.ready(link),
                    Http2Event::GoingAway => {}
                    Http2Event::Room => self.links[link].connection.pump(&self.requests),
                }
            }
        }
        self.start_waiting(link);
    }

    #[inline]
    fn found(&mut self, found: Found) {
        let (slot, is_end) = (found.slot, found.is_end);
        self.found = Some(found);
        // The next event: what was found is there for no longer.
        self.events.push_back(Event::Received { slot });
        if is_end {
            self.slots[slot].phase = SlotPhase::Complete;
            // Before the slot sends again: they have waited longer.
            self.start_waiting(slot / self.streams);
        }
    }

    fn trouble(&mut self, slot: usize, trouble: Trouble, failure: Failure) {
        let own = &mut self.slots[slot];
        (own.phase, own.trouble) = (SlotPhase::Idle, Some(trouble));
        self.events.push_back(Event::Failed { slot, failure });
    }

    #[inline]
    fn event(&mut self, event: driver::Event) {
        match event {
            driver::Event::Received { slot: link, .. } => {
                self.traffic.received_bytes += self.driver.received().len() as u64;
                self.reading = Some(Reading { link, at: 0 });
            }
            driver::Event::Sendable { slot: link, sent } => self.sendable(link, sent),
            // The preface and the settings are the first to be sent.
            driver::Event::Connected { slot: link } => {
                self.links[link].is_connected = true;
                self.touch(link);
            }
            driver::Event::ConnectFailed { slot: link, failure } => self.fail(link, failure, None),
            driver::Event::Closed { slot: link } => self.ended(link, Failure::ClosedBeforeResponse),
            driver::Event::Failed { slot: link, failure } => self.ended(link, failure),
        }
    }

    /// Goes on where slots were closed: a connection that no slot is on any more is closed too. On any other there may be room now for
    /// a request that waits, or nothing may be on its way any more that kept it from being replaced.
    fn settle_left(&mut self) {
        while let Some(link) = self.left.pop() {
            match (self.links[link].phase, self.links[link].open_slots) {
                (LinkPhase::Closed, _) => {}
                (_, 0) => {
                    self.links[link].connection.close();
                    // Not of importance where it cannot be sent.
                    let _ = self.flush(link);
                    self.close_link(link);
                }
                _ => {
                    self.start_waiting(link);
                    self.replace(link);
                }
            }
        }
    }
}

impl<D: Driver> Client for Http2<D> {
    fn set_requests(&mut self, pool: &ExchangePool, requests: Prepared) {
        let Prepared::Http2(requests) = requests else { return };
        // What was added to the tables of connections belongs to the requests before.
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
        match self.links[link].phase {
            LinkPhase::Open => {
                self.slots[slot].phase = SlotPhase::Idle;
                self.events.push_back(Event::Connected { slot, is_new: false });
            }
            LinkPhase::Connecting { .. } => self.slots[slot].phase = SlotPhase::Connecting,
            LinkPhase::Closed => {
                self.driver.connect(link, route)?;
                self.route = Some(route.clone());
                self.links[link].phase = LinkPhase::Connecting { replaces: false };
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
        own.kept.clear();
    }

    #[inline]
    fn send(&mut self, slot: usize, outgoing: Outgoing<'_>) -> Result<(), Failure> {
        let link = slot / self.streams;
        let own = &mut self.slots[slot];
        match outgoing {
            Outgoing::Listed { first, .. } => own.listed = Some(first),
            Outgoing::Filled(exchange) => {
                own.own = Request::of(exchange, self.scheme).map_err(|_| Failure::Other)?;
                own.listed = None;
            }
        }
        if self.links[link].waiting.is_empty() && self.links[link].connection.has_room() {
            self.start(slot);
        } else {
            own.phase = SlotPhase::Waiting;
            self.links[link].waiting.push_back(slot);
        }
        Ok(())
    }

    /// A stream has one request, whose rest the connection sends by itself.
    #[inline]
    fn is_sending(&self, _: usize) -> bool {
        false
    }

    #[inline]
    fn judge(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome {
        let Expectation { exchange, memo, check, .. } = expectation;
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
        if check
            && !part.is_empty()
            && let Err(failure) = own.judgement.part(&exchange.expected.body, part)
        {
            return Outcome::Failed { failure, keep_alive: false };
        }
        if !is_end {
            return Outcome::Partial;
        }
        own.phase = SlotPhase::Idle;
        own.judgement.conclude(exchange, memo, check, true)
    }

    #[inline]
    fn has_more(&self, _: usize) -> bool {
        false
    }

    fn judge_end(&mut self, _: usize, _: Expectation<'_>) -> Outcome {
        // The end of a connection ends no answer of HTTP/2.
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
            version: Version::Http2,
            headers: connection.fields(slot % self.streams).unwrap_or_default().to_vec(),
            body: own.kept.clone(),
            keep_alive: true,
        })
    }

    fn got(&self, slot: usize, failure: Failure) -> Vec<u8> {
        let own = &self.slots[slot];
        let mut got = match (own.trouble, failure, own.judgement.status()) {
            (Some(Trouble::Connection(error)), _, _) => error.to_string().into_bytes(),
            (Some(Trouble::Malformed(error)), _, _) => error.to_string().into_bytes(),
            (Some(Trouble::Reset(code)), _, _) => format!("RST_STREAM with {code}").into_bytes(),
            (None, Failure::Status, Some(status)) => format!(":status {status}").into_bytes(),
            (None, _, _) => own.judgement.body_so_far().to_vec(),
        };
        got.truncate(SAMPLE_BYTES_MAX);
        got
    }

    fn close(&mut self, slot: usize) {
        let link = slot / self.streams;
        match std::mem::take(&mut self.slots[slot].phase) {
            SlotPhase::Closed => return,
            SlotPhase::Busy => {
                self.links[link].connection.cancel(slot % self.streams);
                self.touch(link);
            }
            SlotPhase::Waiting => self.links[link].waiting.retain(|waiting| *waiting != slot),
            SlotPhase::Connecting | SlotPhase::Idle | SlotPhase::Complete => {}
        }
        // No event of it follows.
        self.events.retain(|event| slot_of(event) != slot);
        self.links[link].open_slots -= 1;
        self.left.push(link);
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

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        self.found = None;
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if let Some(reading) = self.reading.take() {
                self.read(reading);
                continue;
            }
            self.flush_all();
            let event = self.driver.next_event()?;
            self.event(event);
        }
    }

    fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.traffic)
    }

    fn tls(&self) -> Option<&Handshakes> {
        self.driver.tls()
    }
}

/// What a closed connection is to a request whose answer has begun, or has not.
fn cut_short(failure: Failure, has_begun: bool) -> Failure {
    match failure {
        Failure::ClosedBeforeResponse if has_begun => Failure::ClosedMidResponse,
        failure => failure,
    }
}

fn slot_of(event: &Event) -> usize {
    match *event {
        Event::Connected { slot, .. }
        | Event::ConnectFailed { slot, .. }
        | Event::Received { slot }
        | Event::Accepted { slot }
        | Event::Started { slot }
        | Event::Replaced { slot }
        | Event::Closed { slot }
        | Event::Failed { slot, .. } => slot,
    }
}
