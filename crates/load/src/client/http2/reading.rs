//! What comes over a connection of HTTP/2, as events of its slots.

use super::*;

impl<D: Driver> Http2<D> {
    /// Reads what was received last, up to an event for whoever is above.
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
                // The peer is informed, if that can be sent at once.
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
    pub(super) fn found(&mut self, found: Found) {
        let (slot, is_end) = (found.slot, found.is_end);
        self.found = Some(found);
        // The next event: what was found is there for no longer.
        self.events.push_back(SlotEvent::Received { slot });
        if is_end {
            self.slots[slot].phase = SlotPhase::Complete;
            // Before the slot sends again: they have waited longer.
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
            // The preface and the settings are the first to be sent.
            driver::Event::Connected { slot: link } => {
                self.links[link].can_send = true;
                self.touch(link);
            }
            driver::Event::ConnectFailed { slot: link, failure } => self.fail(link, failure, None),
            driver::Event::Closed { slot: link } => self.ended(link, Failure::ClosedBeforeResponse),
            driver::Event::Failed { slot: link, failure } => self.ended(link, failure),
        }
    }

    /// Goes on where slots were closed: a connection that no slot is on any more is closed too. On any other there may be room now for
    /// a request that waits, or nothing may be on its way any more that kept it from being replaced.
    pub(super) fn settle_left(&mut self) {
        while let Some(link) = self.left.pop() {
            match (self.links[link].phase, self.links[link].open_slots) {
                (LinkPhase::Closed, _) => {}
                (_, 0) => {
                    self.links[link].connection.close();
                    // Not of importance where it cannot be sent.
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
