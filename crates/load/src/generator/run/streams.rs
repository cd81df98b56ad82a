//! Streams of events: they have no end of their own, so the end of the window ends them.

use super::Run;
use crate::client::Client;
use crate::events::EventMeasures;
use crate::generator::connection::Phase;
use tare_base::{Clock, Monotonic, unix_now_ns};

impl<C: Client> Run<'_, C> {
    /// Prepares the times of events, before the first request.
    pub(super) fn begin_streams(&mut self) {
        if self.worker.pool.has_events() {
            self.worker.events = EventMeasures::default();
            self.worker.unix_offset_ns = unix_now_ns().saturating_sub(Monotonic.now_ns());
        }
    }

    /// Events have arrived: the stream is not silent.
    pub(super) fn heard(&mut self, slot: usize, now_ns: u64) {
        self.worker.connections[slot].heard_ns = now_ns;
        self.ledger.heard(now_ns);
    }

    /// The events since the last call.
    pub(super) fn take_events(&mut self) -> Option<Box<EventMeasures>> {
        self.worker.pool.has_events().then(|| Box::new(std::mem::take(&mut self.worker.events)))
    }

    /// Ends the streams that are open when the window ends. With a quota each stream is waited for.
    pub(super) fn cut_streams(&mut self, now_ns: u64) {
        if self.worker.pool.has_events() && self.shared.load.stop.quota().is_none() {
            self.end_streams(now_ns);
        }
    }

    /// Ends every stream that has begun. It is no failure: an endless stream is right as long as it lasts.
    pub(super) fn end_streams(&mut self, now_ns: u64) {
        if !self.worker.pool.has_events() {
            return;
        }
        for slot in 0..self.worker.slots() {
            let worker = &mut *self.worker;
            let connection = &worker.connections[slot];
            let is_streaming = connection.phase == Phase::Open
                && connection.in_flight == 1
                && worker.pool.exchanges()[connection.exchange].is_of_events()
                && worker.client.status(slot).is_some();
            if !is_streaming {
                continue;
            }
            let stamp = *worker.stamps.at(slot, connection.oldest, 0);
            let silence_ns = now_ns.saturating_sub(stamp.sent_ns.max(connection.heard_ns));
            let silence_ns_max = &mut worker.events.silence_ns_max;
            *silence_ns_max = (*silence_ns_max).max(silence_ns);
            self.ledger.streaming(stamp, now_ns);
            self.worker.forget(slot);
            self.worker.shut(slot);
        }
    }
}
