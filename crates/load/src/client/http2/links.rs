//! HTTP/2 connections: how they are made, written to, replaced and ended, and the slots on them.

use std::ops::Range;

use super::*;

impl Link {
    /// Whether a request can be sent at once.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.can_send && self.connection.has_room()
    }
}

impl<D: Driver> Http2<D> {
    pub(super) fn slots_of(&self, link: usize) -> Range<usize> {
        let first = link * self.streams;
        first..(first + self.streams).min(self.slots.len())
    }

    /// Marks the connection as having something to send.
    #[inline]
    pub(super) fn touch(&mut self, link: usize) {
        if !std::mem::replace(&mut self.links[link].is_dirty, true) {
            self.dirty.push(link);
        }
    }

    /// Passes to the driver what all connections have to send.
    #[inline]
    pub(super) fn flush_all(&mut self) {
        self.unflushed = 0;
        while let Some(link) = self.dirty.pop() {
            self.links[link].is_dirty = false;
            if let Err(failure) = self.flush(link) {
                self.cannot_send(link, failure);
            }
        }
    }

    fn flush(&mut self, link: usize) -> Result<(), Failure> {
        while self.flush_once(link)? {
            // Continues bodies that were held back because too much waited to be sent.
            self.links[link].connection.pump(&self.requests);
            self.start_waiting(link);
        }
        Ok(())
    }

    /// Passes to the driver what the connection has to send. Returns whether there was anything.
    pub(super) fn flush_once(&mut self, link: usize) -> Result<bool, Failure> {
        let Link { connection, unsent, can_send, .. } = &mut self.links[link];
        if !*can_send || !Range::is_empty(unsent) || connection.outgoing().is_empty() {
            return Ok(false);
        }
        let Some(bytes) = self.driver.own(link) else { return Ok(false) };
        bytes.clear();
        std::mem::swap(bytes, connection.outgoing());
        *unsent = own_range(0..bytes.len());
        self.push(link)?;
        Ok(true)
    }

    /// The peer accepts nothing any more. Answers and perhaps a GOAWAY that it sent before may still be read.
    /// The end of the connection follows them as an event of its own.
    fn cannot_send(&mut self, link: usize, failure: Failure) {
        // After a reset the kernel fails the first send with ECONNRESET, unless a read had that error, and
        // later ones with EPIPE.
        let is_gone = matches!(failure, Failure::Reset | Failure::ClosedBeforeResponse);
        if self.links[link].phase != LinkPhase::Open || !is_gone {
            return self.ended(link, failure);
        }
        self.links[link].can_send = false;
        self.links[link].unsent = 0..0;
    }

    pub(super) fn push(&mut self, link: usize) -> Result<(), Failure> {
        let unsent = &mut self.links[link].unsent;
        let sent = self.driver.send(link, unsent.clone())?;
        unsent.start += sent;
        self.traffic.sent_bytes += sent as u64;
        Ok(())
    }

    pub(super) fn sendable(&mut self, link: usize, sent: usize) {
        let unsent = &mut self.links[link].unsent;
        unsent.start += sent.min(unsent.len());
        self.traffic.sent_bytes += sent as u64;
        let pushed = if self.links[link].unsent.is_empty() { Ok(()) } else { self.push(link) };
        match pushed {
            Ok(()) => self.touch(link),
            Err(failure) => self.cannot_send(link, failure),
        }
    }

    /// Sends the request of a slot. The connection must have room for it.
    #[inline]
    pub(super) fn start(&mut self, slot: usize) {
        let link = slot / self.streams;
        let StreamSlot { phase, listed, own, is_head, .. } = &mut self.slots[slot];
        *phase = SlotPhase::Busy;
        let sent = listed.map_or(Sent::Single(own), Sent::Listed);
        let place = slot % self.streams;
        self.links[link].connection.send(place, sent, *is_head, &mut self.encoder, &self.requests);
        self.touch(link);
    }

    /// Sends requests that waited, as far as there is room.
    #[inline]
    pub(super) fn start_waiting(&mut self, link: usize) {
        while !self.links[link].waiting.is_empty() && self.links[link].has_room() {
            if let Some(slot) = self.links[link].waiting.pop_front() {
                self.start(slot);
                self.events.push_back(SlotEvent::Started { slot });
            }
        }
    }

    /// The settings of the peer arrived.
    pub(super) fn ready(&mut self, link: usize) {
        let began = self.began(link);
        if self.links[link].phase == (LinkPhase::Connecting { began: None }) {
            self.events.push_back(SlotEvent::Replaced { slot: link * self.streams });
        }
        self.links[link].phase = LinkPhase::Open;
        for slot in self.slots_of(link) {
            if self.slots[slot].phase == SlotPhase::Connecting {
                self.slots[slot].phase = SlotPhase::Idle;
                self.events.push_back(SlotEvent::Connected { slot, is_new: began == Some(slot) });
            }
        }
        self.start_waiting(link);
    }

    /// The slot that started the connection attempt.
    fn began(&self, link: usize) -> Option<usize> {
        match self.links[link].phase {
            LinkPhase::Connecting { began } => began,
            LinkPhase::Closed | LinkPhase::Open => None,
        }
    }

    /// The failure with which to end a connection after one of its slots was given up in this phase, if
    /// nothing can be received on it any more.
    pub(super) fn given_up_with(&self, link: usize, phase: SlotPhase) -> Option<Failure> {
        let Link { phase: of_link, given_up, .. } = &self.links[link];
        match (of_link, phase) {
            (LinkPhase::Connecting { .. }, SlotPhase::Connecting | SlotPhase::Waiting) => {
                Some(Failure::ConnectTimeout)
            }
            (LinkPhase::Open, SlotPhase::Busy) if *given_up >= self.streams => Some(Failure::ResponseTimeout),
            _ => None,
        }
    }

    /// The connection is over, and all requests in flight on it fail.
    pub(super) fn fail(&mut self, link: usize, failure: Failure, trouble: Option<Http2Error>) {
        let trouble = trouble.map(Trouble::Connection);
        let began = self.began(link);
        for slot in self.slots_of(link) {
            let is_idle = self.slots[slot].phase == SlotPhase::Idle;
            let was_said = !is_idle || self.take_connected(slot).is_none();
            let own = &mut self.slots[slot];
            match own.phase {
                SlotPhase::Closed => continue,
                // `Connected` was not reported for this slot yet.
                _ if !was_said => {
                    self.events.push_back(SlotEvent::ConnectFailed { slot, failure, is_own: false });
                }
                SlotPhase::Connecting => {
                    let is_own = began == Some(slot);
                    self.events.push_back(SlotEvent::ConnectFailed { slot, failure, is_own });
                }
                SlotPhase::Idle | SlotPhase::Complete => self.events.push_back(SlotEvent::Closed { slot }),
                // A request that was never sent cannot have a wrong answer.
                SlotPhase::Waiting if failure.is_wrong_answer() => {
                    let failure = Failure::ClosedBeforeResponse;
                    self.events.push_back(SlotEvent::Failed { slot, failure });
                }
                SlotPhase::Waiting => self.events.push_back(SlotEvent::Failed { slot, failure }),
                SlotPhase::Busy => {
                    let has_begun = self.links[link].connection.head(slot % self.streams).is_some();
                    let failure = cut_short(failure, has_begun);
                    self.events.push_back(SlotEvent::Failed { slot, failure });
                }
            }
            own.trouble = trouble.or(own.trouble);
            // Until its slot is closed, the slot is on no connection.
            own.phase = SlotPhase::Idle;
        }
        self.close_link(link);
    }

    /// Removes the pending event that a slot is open.
    fn take_connected(&mut self, slot: usize) -> Option<SlotEvent> {
        let is_it = |event: &SlotEvent| matches!(event, SlotEvent::Connected { slot: of, .. } if *of == slot);
        let place = self.events.iter().position(is_it)?;
        self.events.remove(place)
    }

    pub(super) fn close_link(&mut self, link: usize) {
        if self.reading.is_some_and(|reading| reading.link == link) {
            self.reading = None;
        }
        self.driver.close(link);
        let streams = self.streams;
        let own = &mut self.links[link];
        (own.phase, own.can_send, own.given_up) = (LinkPhase::Closed, false, 0);
        own.unsent = 0..0;
        own.waiting.clear();
        own.connection = Http2Connection::new(streams);
        own.connection.keep_fields(self.keeps_fields);
    }

    /// Replaces a connection that the peer ends, once nothing is in flight on it.
    pub(super) fn replace(&mut self, link: usize) {
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
            Ok(()) => self.links[link].phase = LinkPhase::Connecting { began: None },
            Err(failure) => self.fail(link, failure, None),
        }
    }

    /// The driver reported the end of the connection.
    pub(super) fn ended(&mut self, link: usize, failure: Failure) {
        if self.links[link].connection.is_going_away() {
            // The requests that this connection had sent will not be answered.
            for slot in self.slots_of(link) {
                if self.slots[slot].phase == SlotPhase::Busy {
                    let (connection, place) = (&mut self.links[link].connection, slot % self.streams);
                    let failure = cut_short(failure, connection.head(place).is_some());
                    connection.cancel(place);
                    self.slots[slot].phase = SlotPhase::Idle;
                    self.events.push_back(SlotEvent::Failed { slot, failure });
                }
            }
            return self.replace(link);
        }
        self.fail(link, failure, None);
    }
}
