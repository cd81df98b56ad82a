//! HTTP/1.1: a slot is a connection, and answers arrive in the order of the requests.

mod inspection;

use std::ops::Range;
use std::sync::Arc;

use super::{Client, Prepared, SlotEvent, ToSend, Traffic, cut_short};
use crate::driver::{self, Driver, own_range};
use crate::exchange::ExchangePool;
use crate::http1::Response;
use crate::judgement::{Expectation, Outcome};
use crate::negotiated::Handshakes;
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;
use inspection::Inspection;
use tare_base::Route;

#[derive(Debug, Default)]
struct Slot {
    /// The part of the sent bytes that the driver has not accepted yet.
    unsent: Range<usize>,
    inspection: Inspection,
}

/// Connections that speak HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Http1<D> {
    driver: D,
    requests: Arc<RequestBuffer>,
    slots: Vec<Slot>,
    /// The slot of the last `Received`, as long as its bytes are available.
    receiver: Option<usize>,
    /// The number of those bytes that were consumed.
    taken: usize,
    /// Whether the peer is known to have closed its side after those bytes.
    hangup: bool,
    traffic: Traffic,
}

impl<D: Driver> Http1<D> {
    pub(crate) fn new(driver: D, slots: usize) -> Http1<D> {
        Http1 {
            driver,
            requests: Arc::default(),
            slots: std::iter::repeat_with(Slot::default).take(slots).collect(),
            receiver: None,
            taken: 0,
            hangup: false,
            traffic: Traffic::default(),
        }
    }

    #[inline]
    fn push(&mut self, slot: usize) -> Result<(), Failure> {
        let unsent = &mut self.slots[slot].unsent;
        let sent = self.driver.send(slot, unsent.clone())?;
        unsent.start += sent;
        self.traffic.sent_bytes += sent as u64;
        Ok(())
    }

    /// The driver accepted more of the sent bytes.
    fn sendable(&mut self, slot: usize, sent: usize) -> Option<SlotEvent> {
        self.slots[slot].unsent.start += sent;
        self.traffic.sent_bytes += sent as u64;
        if self.slots[slot].unsent.is_empty() {
            return Some(SlotEvent::Accepted { slot });
        }
        self.push(slot).err().map(|failure| SlotEvent::Failed { slot, failure })
    }

    #[inline]
    fn event(&mut self, event: driver::Event) -> Option<SlotEvent> {
        match event {
            driver::Event::Received { slot, hangup } => {
                (self.receiver, self.taken, self.hangup) = (Some(slot), 0, hangup);
                self.traffic.received_bytes += self.driver.received().len() as u64;
                Some(SlotEvent::Received { slot })
            }
            driver::Event::Sendable { slot, sent } => self.sendable(slot, sent),
            driver::Event::Connected { slot } => Some(SlotEvent::Connected { slot, is_new: true }),
            driver::Event::ConnectFailed { slot, failure } => {
                Some(SlotEvent::ConnectFailed { slot, failure, is_own: true })
            }
            driver::Event::Closed { slot } => Some(SlotEvent::Closed { slot }),
            driver::Event::Failed { slot, failure } => {
                let failure = cut_short(failure, self.slots[slot].inspection.has_begun());
                Some(SlotEvent::Failed { slot, failure })
            }
        }
    }
}

impl<D: Driver> Client for Http1<D> {
    fn set_requests(&mut self, _: &ExchangePool, requests: Prepared) {
        if let Prepared::Http1(requests) = requests {
            self.driver.set_requests(Arc::clone(&requests));
            self.requests = requests;
        }
    }

    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure> {
        self.slots[slot].unsent = 0..0;
        self.slots[slot].inspection.begin();
        self.driver.connect(slot, route)
    }

    #[inline]
    fn expect(&mut self, slot: usize, is_head: bool, keep_bytes_max: Option<usize>) {
        self.slots[slot].inspection.start(is_head, keep_bytes_max);
    }

    #[inline]
    fn send(&mut self, slot: usize, outgoing: ToSend<'_>) -> Result<(), Failure> {
        self.slots[slot].unsent = match outgoing {
            ToSend::Listed { first, count } => self.requests.range(first, count),
            ToSend::Filled(exchange) => {
                // The rest of a request that was answered early would be sent before this one.
                let own = self.driver.own(slot).ok_or(Failure::Malformed)?;
                own.clear();
                own.extend_from_slice(&exchange.request);
                own_range(0..own.len())
            }
        };
        self.push(slot)
    }

    #[inline]
    fn is_sending(&self, slot: usize) -> bool {
        !self.slots[slot].unsent.is_empty()
    }

    #[inline]
    fn judge(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome {
        let mut expectation = expectation;
        let Slot { unsent, inspection } = &mut self.slots[slot];
        let mut bytes = &self.driver.received()[self.taken..];
        let outcome = inspection.feed(&mut expectation, &mut bytes);
        self.taken = self.driver.received().len() - bytes.len();
        if !expectation.is_last {
            return outcome;
        }
        // Bytes after the last response belong to no response. If the response came before the end of its
        // request, the rest of that request would be sent before the next one.
        let is_good = bytes.is_empty() && Range::is_empty(unsent) && !self.hangup;
        match outcome {
            Outcome::Partial | Outcome::Streaming => outcome,
            Outcome::Answered { .. } if !bytes.is_empty() => {
                inspection.overrun(bytes);
                Outcome::Failed { failure: Failure::Malformed, keep_alive: false }
            }
            Outcome::Answered { keep_alive } => Outcome::Answered { keep_alive: keep_alive && is_good },
            Outcome::Failed { failure, keep_alive } => {
                Outcome::Failed { failure, keep_alive: keep_alive && is_good }
            }
        }
    }

    #[inline]
    fn has_more(&self, _: usize) -> bool {
        self.taken < self.driver.received().len()
    }

    fn judge_end(&mut self, slot: usize, expectation: Expectation<'_>) -> Outcome {
        self.slots[slot].inspection.eof(&mut { expectation })
    }

    #[inline]
    fn status(&self, slot: usize) -> Option<u16> {
        self.slots[slot].inspection.status()
    }

    fn response(&self, slot: usize) -> Option<Response> {
        self.slots[slot].inspection.response()
    }

    fn reason(&self, slot: usize, failure: Failure) -> Option<String> {
        self.slots[slot].inspection.reason(failure).or_else(|| self.tls_trouble(failure))
    }

    fn got(&self, slot: usize, failure: Failure) -> Vec<u8> {
        let is_last = self.receiver == Some(slot);
        self.slots[slot].inspection.got(failure, if is_last { self.driver.received() } else { &[] })
    }

    fn close(&mut self, slot: usize) {
        self.slots[slot].unsent = 0..0;
        self.driver.close(slot);
    }

    fn is_open(&self, slot: usize) -> bool {
        self.driver.is_open(slot)
    }

    fn wait(&mut self, timeout_ns: u64) {
        self.receiver = None;
        self.driver.wait(timeout_ns);
    }

    #[inline]
    fn next_event(&mut self) -> Option<SlotEvent> {
        self.receiver = None;
        loop {
            let event = self.driver.next_event()?;
            if let Some(event) = self.event(event) {
                return Some(event);
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
