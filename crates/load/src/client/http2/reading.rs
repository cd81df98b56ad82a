//! Turns the bytes that arrive on an HTTP/2 connection into events of its slots.

use super::*;

impl<D: Driver> Http2<D> {
    /// Reads the bytes that were received last, up to the next event for the caller.
    pub(super) fn read(&mut self, mut reading: ChunkReading) {
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
                // Inform the peer, if that can be sent at once.
                let _ = self.flush_once(link);
                return self.fail(link, Failure::Malformed, Some(error));
            }
            Ok(Some(event)) => {
                use crate::http2::Http2Event;
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
                        // Part of its answer may have arrived; the repeated request's answer starts anew.
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
    pub(super) fn found(&mut self, found: Found) {
        let (slot, is_end) = (found.slot, found.is_end);
        self.found = Some(found);
        // At the next event the bytes of this one are no longer available.
        self.events.push_back(SlotEvent::Received { slot });
        if is_end {
            self.slots[slot].phase = SlotPhase::Complete;
            // Before the slot sends again: waiting requests are older.
            self.start_waiting(slot / self.streams);
        }
    }

    pub(super) fn trouble(&mut self, slot: usize, trouble: Trouble, failure: Failure) {
        let own = &mut self.slots[slot];
        (own.phase, own.trouble) = (SlotPhase::Idle, Some(trouble));
        self.events.push_back(SlotEvent::Failed { slot, failure });
    }

    #[inline]
    pub(super) fn event(&mut self, event: driver::Event) {
        match event {
            driver::Event::Received { slot: link, .. } => {
                self.traffic.received_bytes += self.driver.received().len() as u64;
                self.links[link].given_up = 0;
                self.reading = Some(ChunkReading { link, at: 0 });
            }
            driver::Event::Sendable { slot: link, sent } => self.sendable(link, sent),
            // The preface and the settings are sent first.
            driver::Event::Connected { slot: link } => {
                self.links[link].can_send = true;
                self.touch(link);
            }
            driver::Event::ConnectFailed { slot: link, failure } => self.fail(link, failure, None),
            driver::Event::Closed { slot: link } => self.ended(link, Failure::ClosedBeforeResponse),
            driver::Event::Failed { slot: link, failure } => self.ended(link, failure),
        }
    }

    /// Handles connections on which slots were closed. A connection without slots is closed too. Any other
    /// connection may have room for a waiting request, or be idle at last and ready to be replaced.
    pub(super) fn settle_left(&mut self) {
        while let Some(link) = self.left.pop() {
            match (self.links[link].phase, self.links[link].open_slots) {
                (LinkPhase::Closed, _) => {}
                (_, 0) => {
                    self.links[link].connection.close();
                    // It does not matter if this cannot be sent.
                    let _ = self.flush_once(link);
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
