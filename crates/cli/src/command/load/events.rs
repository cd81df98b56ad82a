//! Learns what the events of a stream must be, by following it twice before the load, more than a second in all.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use anyhow::{bail, ensure};
use tare_base::units::{several, spell_duration};
use tare_load::{
    Connections, EventIds, EventJudge, EventPace, EventRule, Exchange, ExchangePool, Expected, ExpectedBody,
    ExpectedEvent, ExpectedEvents, Generator, GeneratorSettings, Load, RequestQuota, RunReport, Schedule,
    Stop,
    events::StreamEvent,
    http1::{Response, StatusLineVersion},
};
use tare_service::learn::{self, Required};

use super::{
    args::EventArgs,
    expect::{Learned, Rules},
};

/// How long each of two streams is followed. Values that change every second then differ between them.
const VISIT: Duration = Duration::from_millis(1_100);
/// The most events, and bytes of them, that are kept of each.
const KEPT_MAX: usize = 512;
const KEPT_BYTES_MAX: usize = 1024 * 1024;
/// With fewer events, ids that count by one may do so by chance.
const IDS_MIN: usize = 3;

/// What the user says of events.
pub(super) struct Wanted {
    status: u16,
    check: bool,
    pace: Option<EventPace>,
}

impl Wanted {
    pub(super) fn new(args: &EventArgs, rules: &Rules) -> Wanted {
        let every = args.event_every.map(EventPace::Every);
        let sent_at =
            args.event_time.clone().map(|member| EventPace::SentAt(Some(member).filter(|m| m != ".")));
        Wanted { status: rules.status.unwrap_or(200), check: !rules.no_check, pace: every.or(sent_at) }
    }

    fn expected(&self, rule: EventRule, ids: EventIds) -> Expected {
        let events = ExpectedEvents { rule, ids, pace: self.pace.clone() };
        Expected { status: self.status, body: ExpectedBody::Events(Arc::new(events)) }
    }
}

/// An event that was seen before the load.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    name: Vec<u8>,
    data: Vec<u8>,
    id: Option<u64>,
}

/// One stream that was followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Visit {
    seen: Vec<Seen>,
    /// Whether the server ended the stream, and all its events are here.
    is_whole: bool,
}

/// Keeps the events of a stream.
#[derive(Debug, Default)]
struct Notes(Mutex<(Vec<Seen>, usize)>);

impl EventJudge for Notes {
    fn is_right(&self, _: u64, event: &StreamEvent<'_>) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (seen, bytes) = &mut *kept;
        if seen.len() < KEPT_MAX && *bytes + event.data.len() <= KEPT_BYTES_MAX {
            *bytes += event.data.len();
            let id = event.id.and_then(|id| std::str::from_utf8(id).ok()?.parse().ok());
            seen.push(Seen { name: event.name.to_vec(), data: event.data.to_vec(), id });
        }
        true
    }

    fn describe(&self) -> String {
        "events".to_owned()
    }
}

/// Fills in the correct events of each exchange.
pub(super) fn learn(
    settings: &GeneratorSettings,
    exchanges: &mut [Exchange],
    wanted: &Wanted,
    load: &Load,
    interrupt: &Arc<AtomicBool>,
) -> anyhow::Result<Learned> {
    if !wanted.check {
        let ExpectedEvents { rule, ids, .. } = ExpectedEvents::any();
        exchanges.iter_mut().for_each(|exchange| exchange.expected = wanted.expected(rule.clone(), ids));
        return Ok(Learned {
            check: "the grammar of events alone: --no-check".to_owned(),
            warnings: Vec::new(),
        });
    }
    let mut words = BTreeSet::new();
    for exchange in exchanges {
        let mut visits = [Visit::default(), Visit::default()];
        for visit in &mut visits {
            *visit = follow(settings, exchange, wanted, VISIT, load, interrupt)?;
            if visit.seen.is_empty() && !visit.is_whole {
                *visit = follow(settings, exchange, wanted, load.response_timeout, load, interrupt)?;
            }
            ensure!(
                !visit.seen.is_empty(),
                "{} brought no event within {}: see whether it is a stream of server-sent events, or wait longer by --timeout",
                exchange.name,
                spell_duration(load.response_timeout.max(VISIT)),
            );
        }
        let sent = String::from_utf8_lossy(&exchange.request).into_owned();
        let (rule, ids, check) = in_common(&sent, &visits);
        exchange.expected = wanted.expected(rule, ids);
        words.insert(check);
    }
    Ok(Learned { check: words.into_iter().collect::<Vec<_>>().join("; "), warnings: Vec::new() })
}

/// Follows one stream for this long, or to its end.
fn follow(
    settings: &GeneratorSettings,
    exchange: &Exchange,
    wanted: &Wanted,
    lasts: Duration,
    load: &Load,
    interrupt: &Arc<AtomicBool>,
) -> anyhow::Result<Visit> {
    let notes = Arc::new(Notes::default());
    let rule = EventRule::Judged(Arc::clone(&notes) as Arc<dyn EventJudge>);
    let asked = Exchange { expected: wanted.expected(rule, EventIds::Any), ..exchange.clone() };
    let one = GeneratorSettings {
        connections: Connections { total: 1, threads: 1 },
        streams: 1,
        ..settings.clone()
    };
    let mut generator = Generator::new(one, Arc::new(ExchangePool::new(vec![asked])))?;
    let stop = Stop::count(RequestQuota::Requests(1), lasts, Duration::ZERO);
    let once = Load {
        connect_timeout: load.connect_timeout,
        ..Load::new(Schedule::SATURATE, stop, load.response_timeout.max(lasts))
    };
    let RunReport { total, first_failure, .. } = generator.run(&once, interrupt)?;
    let name = &exchange.name;
    if let Some(sample) = first_failure {
        let (failure, why) =
            (sample.failure, sample.reason.map(|why| format!(": {why}")).unwrap_or_default());
        let got = sample.got.escape_ascii();
        bail!("{name} is not a stream of events that can be followed: {failure}{why}; received \"{got}\"");
    }
    let statuses = total.statuses.counts();
    if let Some((status, _)) = statuses.iter().find(|(status, _)| *status != wanted.status) {
        bail!("{name} is answered with status {status}: name another URL, or use --expect-status {status}");
    }
    let kept = std::mem::take(&mut *notes.0.lock().unwrap_or_else(PoisonError::into_inner));
    let all = total.events.map_or(0, |events| events.events);
    let is_whole = total.tally.answered == 1 && all == kept.0.len() as u64;
    Ok(Visit { seen: kept.0, is_whole })
}

/// What the events of both streams have in common, with the check in words.
fn in_common(sent: &str, visits: &[Visit; 2]) -> (EventRule, EventIds, String) {
    let [first, second] = visits;
    let ids = if visits.iter().all(counts_by_one) { EventIds::Consecutive } else { EventIds::Any };
    let alike = |one: &Seen, other: &Seen| one.name == other.name && one.data == other.data;
    let is_same = first.seen.len() == second.seen.len()
        && first.seen.iter().zip(&second.seen).all(|(one, other)| alike(one, other));
    if first.is_whole && second.is_whole && is_same {
        let exact = |seen: &Seen| ExpectedEvent {
            name: Some(named(&seen.name)),
            data: ExpectedBody::Exact(seen.data.clone()),
        };
        let check = format!("every stream must have the same {}", several(first.seen.len(), "event"));
        return (EventRule::Whole(first.seen.iter().map(exact).collect()), ids, check);
    }
    let all: Vec<&Seen> = first.seen.iter().chain(&second.seen).collect();
    let name = all.first().map(|seen| &seen.name).filter(|name| all.iter().all(|seen| seen.name == **name));
    let answer = |seen: &&Seen| Response {
        status: 200,
        version: StatusLineVersion::Http11,
        headers: Vec::new(),
        body: seen.data.clone(),
        keep_alive: true,
    };
    let answers: Vec<Response> = all.iter().map(answer).collect();
    let (data, required) = learn::in_common(sent, &answers, jiff::Timestamp::now());
    let mut words = Vec::new();
    words.extend(name.map(|name| format!("the name `{}`", named(name).escape_ascii())));
    words.extend((ids == EventIds::Consecutive).then(|| "ids that count by one".to_owned()));
    words.push(described(&required));
    let every = ExpectedEvent { name: name.map(|name| named(name)), data };
    (EventRule::Every(every), ids, format!("every event must have {}", words.join(", ")))
}

/// The name that a browser gives the event.
fn named(name: &[u8]) -> Vec<u8> {
    if name.is_empty() { b"message".to_vec() } else { name.to_vec() }
}

fn counts_by_one(visit: &Visit) -> bool {
    let ids: Option<Vec<u64>> = visit.seen.iter().map(|seen| seen.id).collect();
    ids.is_some_and(|ids| {
        ids.len() >= IDS_MIN && ids.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    })
}

/// The required data, in words.
fn described(required: &Required) -> String {
    match required {
        Required::Body { bytes, .. } => format!("the same {} of data", several(*bytes, "byte")),
        Required::Json { .. } => "the same JSON value".to_owned(),
        Required::Pattern { varying, .. } | Required::Text { varying, .. } => {
            format!("the same data but for {}", several(varying.len(), "value"))
        }
        Required::Status { .. } => "any data, as no two have anything in common".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(events: &[(&str, &str, Option<u64>)], is_whole: bool) -> Visit {
        let seen = events.iter().map(|(name, data, id)| Seen {
            name: name.as_bytes().to_vec(),
            data: data.as_bytes().to_vec(),
            id: *id,
        });
        Visit { seen: seen.collect(), is_whole }
    }

    fn learned(first: Visit, second: Visit) -> (ExpectedEvents, String) {
        let (rule, ids, check) = in_common("GET / HTTP/1.1\r\n\r\n", &[first, second]);
        (ExpectedEvents { rule, ids, pace: None }, check)
    }

    #[test]
    fn a_stream_that_ends_and_repeats_is_required_whole() {
        let ticks = [("", "one", None), ("end", "two", None)];
        let (events, check) = learned(visit(&ticks, true), visit(&ticks, true));
        assert_eq!(check, "every stream must have the same 2 events");
        assert_eq!(events.wrong(b"data: one\n\nevent: end\ndata: two\n\n"), None);
        assert!(events.wrong(b"data: one\n\n").is_some());
        assert!(events.wrong(b"data: one\n\ndata: two\n\n").is_some(), "another name");
        let (_, check) = learned(visit(&ticks, true), visit(&ticks[..1], false));
        assert_eq!(check, "every event must have any data, as no two have anything in common");
    }

    #[test]
    fn ids_that_count_are_required_to_and_values_that_vary_are_not() {
        let ticks = |from: u64| {
            let data: Vec<String> =
                (from..from + 4).map(|n| format!("{{\"n\":{n},\"kind\":\"tick\"}}")).collect();
            let events: Vec<_> =
                (from..).zip(&data).map(|(id, data)| ("tick", data.as_str(), Some(id))).collect();
            visit(&events, false)
        };
        let (events, check) = learned(ticks(7), ticks(70));
        assert_eq!(
            check,
            "every event must have the name `tick`, ids that count by one, the same data but for 1 value"
        );
        let stream = |ids: [u64; 3]| {
            let event = |id| format!("event: tick\nid: {id}\ndata: {{\"n\":{id},\"kind\":\"tick\"}}\n\n");
            ids.map(event).concat()
        };
        assert_eq!(events.wrong(stream([1, 2, 3]).as_bytes()), None);
        let wrong = |ids| events.wrong(stream(ids).as_bytes()).unwrap().to_string();
        assert_eq!(wrong([1, 2, 4]), "an event is missing before event 3");
        assert_eq!(wrong([1, 2, 2]), "event 3 repeats the event before it");
    }
}
