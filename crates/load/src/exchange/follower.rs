//! Follows one stream: checks every event and records its times.

use super::events::{EventIds, EventPace, ExpectedEvents};
use crate::events::{EventFault, EventMeasures, EventReader, StreamEvent, TooLong, WrongEvent, sent_at_ns};
use crate::tally::SAMPLE_BYTES_MAX;

/// When a stream was asked for, and when the bytes at hand arrived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrival {
    /// When the request was due.
    pub(crate) due_ns: u64,
    /// When the bytes arrived, by the generator's clock.
    pub(crate) at_ns: u64,
    /// The Unix time minus the generator's clock.
    pub(crate) unix_offset_ns: u64,
}

/// The state of one stream.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    reader: EventReader,
    progress: StreamProgress,
    wrong: Option<WrongEvent>,
    /// The beginning of the data of the wrong event.
    got: Vec<u8>,
}

/// What arrived so far.
#[derive(Debug, Default)]
struct StreamProgress {
    count: u64,
    first_ns: u64,
    last_ns: u64,
    last_id: Option<u64>,
}

impl Follower {
    /// Prepares for another stream.
    pub(crate) fn restart(&mut self) {
        self.reader.restart();
        self.progress = StreamProgress::default();
        self.wrong = None;
        self.got.clear();
    }

    /// The first wrong event.
    pub(crate) fn wrong(&self) -> Option<WrongEvent> {
        self.wrong
    }

    /// The beginning of its data.
    pub(crate) fn got(&self) -> &[u8] {
        &self.got
    }

    /// Reads the next part of the stream, and returns the number of events that it completed. With `check` off
    /// only the grammar is read.
    ///
    /// # Errors
    /// An event is wrong. The rest of the stream is then of no use.
    pub(crate) fn part(
        &mut self,
        expected: &ExpectedEvents,
        mut part: &[u8],
        check: bool,
        arrival: Arrival,
        measures: &mut EventMeasures,
    ) -> Result<u64, WrongEvent> {
        let Follower { reader, progress, wrong, got } = self;
        let before = progress.count;
        loop {
            let fault = match reader.next(&mut part) {
                Ok(None) => return Ok(progress.count - before),
                Ok(Some(event)) => {
                    let fault = if check { progress.fault(expected, &event) } else { None };
                    let fault = fault.or_else(|| progress.record(expected, &event, arrival, measures));
                    if fault.is_some() {
                        got.extend_from_slice(&event.data[..event.data.len().min(SAMPLE_BYTES_MAX)]);
                    }
                    fault
                }
                Err(TooLong) => Some(EventFault::TooLong),
            };
            if let Some(fault) = fault {
                return Err(*wrong.insert(WrongEvent { number: progress.count + 1, fault }));
            }
        }
    }

    /// The stream has ended.
    ///
    /// # Errors
    /// It ended too early.
    pub(crate) fn end(&mut self, expected: &ExpectedEvents, check: bool) -> Result<(), WrongEvent> {
        let count = self.progress.count;
        let missing = check && expected.rule.count().is_some_and(|whole| count < whole);
        let fault = match (self.reader.is_within_event(), missing) {
            (true, _) => EventFault::Cut,
            (false, true) => EventFault::Missing,
            (false, false) => return Ok(()),
        };
        let pending = self.reader.pending();
        self.got.extend_from_slice(&pending[..pending.len().min(SAMPLE_BYTES_MAX)]);
        Err(*self.wrong.insert(WrongEvent { number: count + 1, fault }))
    }
}

impl ExpectedEvents {
    /// The first wrong event of a stream that has ended.
    #[must_use]
    pub fn wrong(&self, stream: &[u8]) -> Option<WrongEvent> {
        let mut follower = Follower::default();
        let (arrival, mut measures) = (Arrival::default(), EventMeasures::default());
        let followed = follower.part(self, stream, true, arrival, &mut measures);
        followed.and_then(|_| follower.end(self, true)).err()
    }
}

impl StreamProgress {
    fn fault(&mut self, expected: &ExpectedEvents, event: &StreamEvent<'_>) -> Option<EventFault> {
        let by_id = match expected.ids {
            EventIds::Any => None,
            EventIds::Consecutive => self.fault_of_id(event),
        };
        by_id.or_else(|| expected.rule.fault(self.count, event))
    }

    fn fault_of_id(&mut self, event: &StreamEvent<'_>) -> Option<EventFault> {
        let id = event.id.and_then(|id| std::str::from_utf8(id).ok()?.parse::<u64>().ok());
        let Some(id) = id else { return Some(EventFault::NoId) };
        match self.last_id.replace(id) {
            Some(last) if id == last => Some(EventFault::Repeated),
            Some(last) if id < last => Some(EventFault::Backwards),
            Some(last) if id - last > 1 => Some(EventFault::Lost { count: id - last - 1 }),
            _ => None,
        }
    }

    /// Records the times of a correct event.
    fn record(
        &mut self,
        expected: &ExpectedEvents,
        event: &StreamEvent<'_>,
        arrival: Arrival,
        measures: &mut EventMeasures,
    ) -> Option<EventFault> {
        let at_ns = arrival.at_ns;
        let due_ns = match &expected.pace {
            None => None,
            Some(EventPace::Every(every)) => {
                let every_ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
                (self.count > 0).then(|| self.first_ns.saturating_add(every_ns.saturating_mul(self.count)))
            }
            Some(EventPace::SentAt(member)) => match sent_at_ns(event.data, member.as_deref()) {
                Some(sent_ns) => Some(sent_ns.saturating_sub(arrival.unix_offset_ns)),
                None => return Some(EventFault::NoTime),
            },
        };
        if let Some(due_ns) = due_ns {
            measures.delay.record(at_ns.saturating_sub(due_ns));
        }
        if self.count == 0 {
            self.first_ns = at_ns;
            measures.streams += 1;
            measures.first.record(at_ns.saturating_sub(arrival.due_ns));
        } else {
            measures.gap.record(at_ns.saturating_sub(self.last_ns));
        }
        self.last_ns = at_ns;
        self.count += 1;
        measures.events += 1;
        None
    }
}
