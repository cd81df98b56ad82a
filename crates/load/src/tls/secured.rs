//! The TLS driver: it does handshakes and records, and uses the driver below for the bytes.

use std::ops::Range;
use std::sync::Arc;

use super::client::TlsClient;
use super::handshake::Handshake;
use super::session::{Read, Text, TlsSession};
use crate::driver::{Driver, Event, Outgoing, own_range};
use crate::negotiated::Handshakes;
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;
use crate::tls_error::TlsError;
use tare_base::Route;

/// The amount of plain text that is sealed at a time, so that a long upload is not in memory twice.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// The limit of replies to key updates that wait for a server that does not read.
const REPLIES_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, Default)]
enum TlsPhase {
    /// There is no connection yet, or not any more.
    #[default]
    Closed,
    Handshaking(Box<Handshake>),
    Open(Box<TlsSession>),
}

#[derive(Debug, Default)]
struct TlsSlot {
    phase: TlsPhase,
    /// Records that the driver below cannot accept yet: handshakes and replies to key updates.
    waiting: Vec<u8>,
    /// The part of the slot's own bytes that the driver below has not accepted.
    unsent: Range<usize>,
    /// Whether the caller waits for `Sendable`.
    is_awaited: bool,
}

/// The bytes that were received last, and how much of them is read.
#[derive(Debug, Clone, Copy)]
struct RecordReading {
    slot: usize,
    at: usize,
    hangup: bool,
}

/// The result of a record that was read before the caller asked for it.
#[derive(Debug)]
struct ReadAhead {
    slot: usize,
    outcome: Result<Read, TlsError>,
    hangup: bool,
}

/// Connections over TLS.
#[derive(Debug)]
pub(crate) struct Secured<D> {
    below: D,
    client: Arc<TlsClient>,
    outgoing: Outgoing,
    slots: Vec<TlsSlot>,
    reading: Option<RecordReading>,
    /// The record after the last text, which was read ahead with it.
    ahead: Option<ReadAhead>,
    /// The text of the last `Received`, and its slot.
    text: (usize, Text),
    handshakes: Handshakes,
}

impl<D: Driver> Secured<D> {
    pub(crate) fn new(below: D, client: Arc<TlsClient>, slots: usize) -> Secured<D> {
        Secured {
            below,
            client,
            outgoing: Outgoing::new(slots),
            slots: std::iter::repeat_with(TlsSlot::default).take(slots).collect(),
            reading: None,
            ahead: None,
            text: (0, Text::Given(0..0)),
            handshakes: Handshakes::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn below_mut(&mut self) -> &mut D {
        &mut self.below
    }

    /// Passes waiting records to the driver below.
    fn flush(&mut self, slot: usize) -> Result<(), Failure> {
        let own = &mut self.slots[slot];
        if !own.unsent.is_empty() || own.waiting.is_empty() {
            return Ok(());
        }
        let Some(bytes) = self.below.own(slot) else { return Ok(()) };
        bytes.clear();
        std::mem::swap(bytes, &mut own.waiting);
        own.unsent = own_range(0..bytes.len());
        self.push(slot)
    }

    fn push(&mut self, slot: usize) -> Result<(), Failure> {
        let own = &mut self.slots[slot];
        own.unsent.start += self.below.send(slot, own.unsent.clone())?;
        Ok(())
    }

    /// Seals a part of `range` and passes it down. Returns the length of that part; 0 if it has to wait.
    #[inline]
    fn seal(&mut self, slot: usize, range: Range<usize>) -> Result<usize, Failure> {
        let own = &mut self.slots[slot];
        let TlsPhase::Open(session) = &mut own.phase else { return Err(Failure::Other) };
        if !own.unsent.is_empty() || !own.waiting.is_empty() {
            return Ok(0);
        }
        let Some(bytes) = self.below.own(slot) else { return Ok(0) };
        bytes.clear();
        let end = range.end.min(range.start + TEXT_BYTES_MAX);
        session.seal(self.outgoing.bytes(slot, range.start..end), bytes);
        own.unsent = own_range(0..bytes.len());
        self.push(slot)?;
        Ok(end - range.start)
    }

    fn connected(&mut self, slot: usize) -> Option<Event> {
        let own = &mut self.slots[slot];
        own.waiting.clear();
        let begun = Handshake::begin(&self.client, &mut own.waiting);
        match begun {
            Ok(handshake) => own.phase = TlsPhase::Handshaking(Box::new(handshake)),
            Err(error) => return Some(self.handshake_failed(slot, error)),
        }
        self.flush(slot).err().map(|failure| Event::ConnectFailed { slot, failure })
    }

    /// Processes bytes of a handshake.
    fn shake_hands(&mut self, slot: usize, hangup: bool) -> Option<Event> {
        let own = &mut self.slots[slot];
        let TlsPhase::Handshaking(handshake) = &mut own.phase else { return None };
        let outcome = handshake.take(self.below.received(), &mut own.waiting);
        let flushed = self.flush(slot);
        match outcome {
            Ok(false) => flushed.err().map(|failure| Event::ConnectFailed { slot, failure }),
            Ok(true) => {
                Some(self.establish(slot, hangup).unwrap_or_else(|error| self.handshake_failed(slot, error)))
            }
            Err(error) => Some(self.handshake_failed(slot, error)),
        }
    }

    fn establish(&mut self, slot: usize, hangup: bool) -> Result<Event, TlsError> {
        let own = &mut self.slots[slot];
        let TlsPhase::Handshaking(handshake) = std::mem::take(&mut own.phase) else {
            return Err(TlsError::ClosedInHandshake);
        };
        let established = handshake.establish(&self.client)?;
        self.handshakes.succeeded(established.kind, established.negotiated.clone());
        let session = TlsSession::new(established)?;
        if session.has_carried_record() {
            // All bytes of the driver below are read; the rest of them is in the session.
            self.reading = Some(RecordReading { slot, at: usize::MAX, hangup });
        }
        own.phase = TlsPhase::Open(Box::new(session));
        Ok(Event::Connected { slot })
    }

    fn handshake_failed(&mut self, slot: usize, error: TlsError) -> Event {
        self.handshakes.failed(error);
        Event::ConnectFailed { slot, failure: Failure::Tls }
    }

    /// The next text of the bytes that were received last.
    #[inline]
    fn read(&mut self, mut reading: RecordReading) -> Option<Event> {
        let slot = reading.slot;
        let own = &mut self.slots[slot];
        let TlsPhase::Open(session) = &mut own.phase else { return None };
        let bytes = match reading.at {
            usize::MAX => &mut [][..],
            _ => self.below.received_mut(),
        };
        let mut at = reading.at.min(bytes.len());
        let mut outcome = session.read(bytes, &mut at);
        let mut hangup = reading.hangup;
        if matches!(outcome, Ok(Read::Text(Text::Given(_))))
            && bytes.len() - at == session.alert_record_bytes()
        {
            // The reader of an answer has to know whether the peer has ended the connection after it.
            let ahead = session.read(bytes, &mut at);
            let is_closed = matches!(ahead, Ok(Read::Closed));
            self.ahead = Some(ReadAhead { slot, outcome: ahead, hangup });
            hangup = is_closed;
        }
        let is_last = at == bytes.len() && !session.has_carried_record();
        if !session.reply.is_empty() {
            own.waiting.append(&mut session.reply);
            if own.waiting.len() > REPLIES_BYTES_MAX {
                outcome = Err(TlsError::KeyUpdates);
            }
            // The next send reports a failure of this flush.
            let _ = self.flush(slot);
        }
        if matches!(outcome, Ok(Read::Text(_))) {
            if reading.at != usize::MAX {
                reading.at = at;
            }
            self.reading = (!is_last).then_some(reading);
        }
        self.came(slot, outcome, hangup && is_last)
    }

    /// The event for a result of the session.
    #[inline]
    fn came(&mut self, slot: usize, outcome: Result<Read, TlsError>, hangup: bool) -> Option<Event> {
        match outcome {
            Ok(Read::Nothing) => None,
            Ok(Read::Closed) => Some(Event::Closed { slot }),
            Ok(Read::Text(text)) => {
                self.text = (slot, text);
                Some(Event::Received { slot, hangup })
            }
            Err(error) => {
                self.handshakes.failed(error);
                Some(Event::Failed { slot, failure: Failure::Tls })
            }
        }
    }

    fn sendable(&mut self, slot: usize, sent: usize) -> Option<Event> {
        let own = &mut self.slots[slot];
        own.unsent.start += sent.min(own.unsent.len());
        let pushed = if own.unsent.is_empty() { self.flush(slot) } else { self.push(slot) };
        if let Err(failure) = pushed {
            return Some(self.ended(slot, failure));
        }
        let own = &mut self.slots[slot];
        let is_free = own.unsent.is_empty() && own.waiting.is_empty();
        (is_free && std::mem::take(&mut own.is_awaited)).then_some(Event::Sendable { slot, sent: 0 })
    }

    /// The connection of the driver below is broken.
    fn ended(&mut self, slot: usize, failure: Failure) -> Event {
        match self.slots[slot].phase {
            TlsPhase::Open(_) => Event::Failed { slot, failure },
            TlsPhase::Handshaking(_) | TlsPhase::Closed => Event::ConnectFailed { slot, failure },
        }
    }

    fn event(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Connected { slot } => self.connected(slot),
            Event::Received { slot, hangup } => match self.slots[slot].phase {
                TlsPhase::Open(_) => self.read(RecordReading { slot, at: 0, hangup }),
                TlsPhase::Handshaking(_) => self.shake_hands(slot, hangup),
                TlsPhase::Closed => None,
            },
            Event::Sendable { slot, sent } => self.sendable(slot, sent),
            Event::Closed { slot } if matches!(self.slots[slot].phase, TlsPhase::Handshaking(_)) => {
                Some(self.handshake_failed(slot, TlsError::ClosedInHandshake))
            }
            // Without `close_notify` it may have been cut off, so it completes no answer (RFC 9112, 9.8).
            Event::Closed { slot } => Some(self.ended(slot, Failure::ClosedBeforeResponse)),
            Event::Failed { slot, failure } => Some(self.ended(slot, failure)),
            Event::ConnectFailed { .. } => Some(event),
        }
    }
}

impl<D: Driver> Driver for Secured<D> {
    fn set_requests(&mut self, requests: Arc<RequestBuffer>) {
        self.outgoing.share(requests);
    }

    #[inline]
    fn own(&mut self, slot: usize) -> Option<&mut Vec<u8>> {
        // A send seals its bytes at once, so the buffer is free.
        Some(self.outgoing.own(slot))
    }

    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure> {
        self.slots[slot] = TlsSlot::default();
        self.below.connect(slot, route)
    }

    #[inline]
    fn send(&mut self, slot: usize, range: Range<usize>) -> Result<usize, Failure> {
        let mut sent = 0;
        loop {
            let sealed = self.seal(slot, range.start + sent..range.end)?;
            sent += sealed;
            if sent == range.len() {
                return Ok(sent);
            }
            if sealed == 0 {
                self.slots[slot].is_awaited = true;
                return Ok(sent);
            }
        }
    }

    /// Sends `close_notify` to the peer, if that is possible at once.
    fn close(&mut self, slot: usize) {
        let own = &mut self.slots[slot];
        if let TlsPhase::Open(session) = &mut own.phase
            && own.unsent.is_empty()
            && let Some(bytes) = self.below.own(slot)
        {
            bytes.clear();
            session.close(bytes);
            let all = own_range(0..bytes.len());
            let _peer_is_gone = self.below.send(slot, all);
        }
        self.slots[slot] = TlsSlot::default();
        if self.reading.is_some_and(|reading| reading.slot == slot) {
            self.reading = None;
        }
        if self.ahead.as_ref().is_some_and(|ahead| ahead.slot == slot) {
            self.ahead = None;
        }
        self.below.close(slot);
    }

    fn is_open(&self, slot: usize) -> bool {
        self.below.is_open(slot)
    }

    fn wait(&mut self, timeout_ns: u64) {
        debug_assert!(self.reading.is_none(), "all events are taken before the next wait");
        self.below.wait(timeout_ns);
    }

    fn gather(&mut self, count: usize, sleeps: bool) -> u64 {
        self.below.gather(count, sleeps)
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(ReadAhead { slot, outcome, hangup }) = self.ahead.take() {
                if let Some(event) = self.came(slot, outcome, hangup) {
                    return Some(event);
                }
                continue;
            }
            if let Some(reading) = self.reading.take() {
                if let Some(event) = self.read(reading) {
                    return Some(event);
                }
                continue;
            }
            let event = self.below.next_event()?;
            if let Some(event) = self.event(event) {
                return Some(event);
            }
        }
    }

    #[inline]
    fn received(&self) -> &[u8] {
        let (slot, text) = &self.text;
        match (text, &self.slots[*slot].phase) {
            (Text::Given(range), _) => &self.below.received()[range.clone()],
            (Text::Carried(range), TlsPhase::Open(session)) => session.carried(range.clone()),
            (Text::Carried(_), _) => &[],
        }
    }

    #[inline]
    fn received_mut(&mut self) -> &mut [u8] {
        let (slot, text) = &self.text;
        match (text, &mut self.slots[*slot].phase) {
            (Text::Given(range), _) => &mut self.below.received_mut()[range.clone()],
            (Text::Carried(range), TlsPhase::Open(session)) => session.carried_mut(range.clone()),
            (Text::Carried(_), _) => &mut [],
        }
    }

    fn tls(&self) -> Option<&Handshakes> {
        Some(&self.handshakes)
    }
}
