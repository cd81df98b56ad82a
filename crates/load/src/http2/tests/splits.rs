//! However the bytes are split, the client reports and sends the same. The conversations come from a small
//! server that knows the protocol.

use proptest::prelude::*;

use super::*;
use tare_base::http2::{CONTINUATION, HAS_PRIORITY, HEADERS, PADDED, PING, PRIORITY};

/// The server's next action; numbers choose among the open streams.
#[derive(Debug, Clone)]
enum Step {
    Interim(usize),
    Head { which: usize, style: Style, is_end: bool },
    Data { which: usize, bytes: usize, padding: Option<u8>, is_end: bool },
    Trailers(usize),
    Reset(usize),
    Ping,
    Update { which: usize, bytes: u32 },
    Settings { window: u32, streams: u32 },
    Unknown,
    Priority(usize),
    GoAway(usize),
}

/// The form of a header block.
#[derive(Debug, Clone)]
struct Style {
    padding: Option<u8>,
    has_priority: bool,
    is_indexed: bool,
    /// The places where the block is split into frames.
    cuts: Vec<usize>,
}

#[derive(Debug)]
struct Open {
    id: u32,
    place: usize,
    status: Option<u16>,
    body: Vec<u8>,
}

/// The server's side of the conversation, as far as the client's behaviour depends on it.
struct Server {
    encoder: loona_hpack::Encoder<'static>,
    open: Vec<Open>,
    idle: Vec<usize>,
    next_id: u32,
    left: usize,
    streams_max: u32,
    is_going_away: bool,
    bytes: Vec<u8>,
    /// The outcome of each request, in this order.
    ends: Vec<Seen>,
}

impl Server {
    fn new(places: usize, count: usize) -> Server {
        Server {
            encoder: loona_hpack::Encoder::new(),
            open: Vec::new(),
            idle: (0..places).rev().collect(),
            next_id: 1,
            left: count,
            streams_max: u32::MAX,
            is_going_away: false,
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The client sends what it may.
    fn fill(&mut self) {
        while self.left > 0 && !self.is_going_away && self.open.len() < self.streams_max as usize {
            let Some(place) = self.idle.pop() else { return };
            self.open.push(Open { id: self.next_id, place, status: None, body: Vec::new() });
            (self.next_id, self.left) = (self.next_id + 2, self.left - 1);
        }
    }

    fn head(&mut self, id: u32, fields: &[(&str, &str)], style: &Style, is_end: bool) {
        let pairs = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let block = match style.is_indexed {
            true => self.encoder.encode(pairs),
            false => fields.iter().flat_map(|(name, value)| literal(name, value)).collect(),
        };
        let mut cuts: Vec<usize> = style.cuts.iter().map(|cut| cut % (block.len() + 1)).collect();
        cuts.sort_unstable();
        let ends = cuts.iter().copied().chain([block.len()]);
        let begins = [0].into_iter().chain(cuts.iter().copied());
        let parts: Vec<&[u8]> = begins.zip(ends).map(|(begin, end)| &block[begin..end]).collect();
        for (index, part) in parts.iter().enumerate() {
            let last = if index + 1 == parts.len() { END_HEADERS } else { 0 };
            if index > 0 {
                self.bytes.extend(frame(CONTINUATION, last, id, part));
                continue;
            }
            let (mut payload, mut flags) = (Vec::new(), last | if is_end { END_STREAM } else { 0 });
            if let Some(padding) = style.padding {
                (flags, payload) = (flags | PADDED, vec![padding]);
            }
            if style.has_priority {
                flags |= HAS_PRIORITY;
                payload.extend([0, 0, 0, 0, 9]);
            }
            payload.extend_from_slice(part);
            payload.extend(vec![0; style.padding.unwrap_or(0).into()]);
            self.bytes.extend(frame(HEADERS, flags, id, &payload));
        }
    }

    fn end(&mut self, at: usize) {
        let Open { place, status, body, .. } = self.open.remove(at);
        self.ends.push(Seen::Answer { place, status: status.unwrap(), body, is_end: true });
        self.idle.push(place);
    }

    /// The index of a stream that is open.
    fn choose(&self, which: usize, has_head: bool) -> Option<usize> {
        let fit: Vec<usize> =
            (0..self.open.len()).filter(|at| self.open[*at].status.is_some() == has_head).collect();
        (!fit.is_empty()).then(|| fit[which % fit.len()])
    }

    fn step(&mut self, step: &Step) {
        let plain = Style { padding: None, has_priority: false, is_indexed: false, cuts: vec![] };
        match step {
            Step::Interim(which) => {
                let Some(at) = self.choose(*which, false) else { return };
                self.head(self.open[at].id, &[(":status", "103"), ("link", "a")], &plain, false);
            }
            Step::Head { which, style, is_end } => {
                let Some(at) = self.choose(*which, false) else { return };
                let status = [200, 204, 404, 503][which % 4];
                self.open[at].status = Some(status);
                let fields =
                    [(":status", &*status.to_string()), ("date", "today"), ("x-n", &which.to_string())];
                self.head(self.open[at].id, &fields, style, *is_end || status == 204);
                if *is_end || status == 204 {
                    self.end(at);
                }
            }
            Step::Data { which, bytes, padding, is_end } => {
                let Some(at) = self.choose(*which, true) else { return };
                let body: Vec<u8> = (0..*bytes).map(|index| (index + which) as u8).collect();
                let flags = if *is_end { END_STREAM } else { 0 };
                let padded = padding.map(|padding| [&[padding], &*body, &vec![0; padding.into()]].concat());
                let flags = if padded.is_some() { flags | PADDED } else { flags };
                self.bytes.extend(data(self.open[at].id, flags, padded.as_deref().unwrap_or(&body)));
                self.open[at].body.extend(body);
                if *is_end {
                    self.end(at);
                }
            }
            Step::Trailers(which) => {
                let Some(at) = self.choose(*which, true) else { return };
                self.head(self.open[at].id, &[("grpc-status", "0")], &plain, true);
                self.end(at);
            }
            Step::Reset(which) => {
                let Some(at) = (!self.open.is_empty()).then(|| which % self.open.len()) else { return };
                let Open { id, place, .. } = self.open.remove(at);
                self.bytes.extend(rst(id, ErrorCode(*which as u32)));
                self.ends.push(Seen::Reset { place, code: ErrorCode(*which as u32) });
                self.idle.push(place);
            }
            Step::Ping => self.bytes.extend(frame(PING, 0, 0, b"12345678")),
            Step::Update { which, bytes } => {
                let id = 2 * (*which as u32 % (self.next_id / 2 + 1));
                self.bytes.extend(window_update(id.saturating_sub(1), *bytes));
            }
            Step::Settings { window, streams } => {
                self.streams_max = *streams;
                self.bytes.extend(settings_frame(&[(4, *window), (3, *streams), (1, *window)]));
            }
            Step::Unknown => self.bytes.extend(frame(0xaa, 0xff, 7, b"grease")),
            Step::Priority(which) => self.bytes.extend(frame(PRIORITY, 0, *which as u32 % 8, &[0; 5])),
            Step::GoAway(which) => {
                let last = 2 * (*which as u32 % (self.next_id / 2 + 1)) + 1;
                self.bytes.extend(goaway(last, ErrorCode::NO_ERROR));
                self.is_going_away = true;
                while let Some(Open { place, .. }) = self.open.pop_if(|open| open.id > last) {
                    self.ends.push(Seen::NotTaken { place });
                    self.idle.push(place);
                }
            }
        }
        self.fill();
    }

    /// All bytes of a conversation in which every request ends.
    fn talk(&mut self, steps: &[Step]) {
        self.bytes = settings_frame(&[]);
        self.fill();
        steps.iter().for_each(|step| self.step(step));
        self.streams_max = 0;
        while let Some(open) = self.open.first() {
            let (has_head, style) = (
                open.status.is_some(),
                Style { padding: None, has_priority: false, is_indexed: true, cuts: vec![1] },
            );
            self.left = 0;
            self.step(&match has_head {
                false => Step::Head { which: 0, style, is_end: true },
                true => Step::Data { which: 0, bytes: 3, padding: None, is_end: true },
            });
        }
    }
}

fn style() -> impl Strategy<Value = Style> {
    let cuts = prop::collection::vec(0_usize..64, 0..4);
    (prop::option::of(0_u8..9), any::<bool>(), any::<bool>(), cuts).prop_map(
        |(padding, has_priority, is_indexed, cuts)| Style { padding, has_priority, is_indexed, cuts },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0_usize..16;
    let body = prop_oneof![0_usize..20, 0_usize..2_000];
    prop_oneof![
        1 => which.clone().prop_map(Step::Interim),
        4 => (which.clone(), style(), prop::bool::weighted(0.2))
            .prop_map(|(which, style, is_end)| Step::Head { which, style, is_end }),
        4 => (which.clone(), body, prop::option::of(0_u8..20), prop::bool::weighted(0.4))
            .prop_map(|(which, bytes, padding, is_end)| Step::Data { which, bytes, padding, is_end }),
        1 => which.clone().prop_map(Step::Trailers),
        1 => which.clone().prop_map(Step::Reset),
        1 => Just(Step::Ping),
        2 => (which.clone(), 1_u32..50_000).prop_map(|(which, bytes)| Step::Update { which, bytes }),
        1 => (0_u32..200_000, 0_u32..6).prop_map(|(window, streams)| Step::Settings { window, streams }),
        1 => Just(Step::Unknown),
        1 => which.clone().prop_map(Step::Priority),
        1 => which.prop_map(Step::GoAway),
    ]
}

/// Feeds bytes in pieces that end at these places.
fn converse(bytes: &[u8], cuts: &[usize]) -> (Vec<Seen>, Vec<u8>, Result<(), Http2Error>) {
    let requests = vec![get(), post(30_000), post(1), get()];
    let mut client = Client::new(PLACES, requests, REQUESTS);
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([bytes.len()]).collect();
    cuts.sort_unstable();
    let (mut at, mut outcome) = (0, Ok(()));
    for cut in cuts {
        outcome = client.take(&bytes[at..cut]);
        if outcome.is_err() {
            break;
        }
        at = cut;
    }
    (client.seen, client.sent, outcome)
}

const PLACES: usize = 4;
const REQUESTS: usize = 40;

/// The outcomes of requests: complete bodies, without events that only let the client continue.
fn ends(seen: &[Seen]) -> Vec<Seen> {
    let mut parts: Vec<Option<Vec<u8>>> = vec![None; PLACES];
    let mut ends = Vec::new();
    for one in seen {
        match one {
            Seen::Answer { place, status, body, is_end } => {
                let whole = parts[*place].get_or_insert_default();
                whole.extend_from_slice(body);
                if *is_end {
                    let body = parts[*place].take().unwrap();
                    ends.push(Seen::Answer { place: *place, status: *status, body, is_end: true });
                }
            }
            Seen::Malformed { place, .. } | Seen::Reset { place, .. } | Seen::NotTaken { place } => {
                parts[*place] = None;
                ends.push(one.clone());
            }
            Seen::Ready | Seen::GoingAway | Seen::Room => {}
        }
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn pieces_change_nothing(
        steps in prop::collection::vec(step(), 0..60),
        cuts in prop::collection::vec(any::<usize>(), 0..30),
    ) {
        let mut server = Server::new(PLACES, REQUESTS);
        server.talk(&steps);
        let whole = converse(&server.bytes, &[]);
        prop_assert_eq!(&whole.2, &Ok(()));
        prop_assert_eq!(ends(&whole.0), server.ends, "what the server meant is what the client saw");
        prop_assert_eq!(&converse(&server.bytes, &cuts), &whole);
        let all: Vec<usize> = (0..server.bytes.len()).collect();
        prop_assert_eq!(&converse(&server.bytes, &all), &whole, "byte by byte");
    }

    /// The same with a change in the bytes, so that most conversations end in an error.
    #[test]
    fn pieces_change_nothing_of_an_error_either(
        steps in prop::collection::vec(step(), 0..30),
        cuts in prop::collection::vec(any::<usize>(), 0..30),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4),
    ) {
        let mut server = Server::new(PLACES, REQUESTS);
        server.talk(&steps);
        for (at, byte) in changes {
            let at = at % server.bytes.len();
            server.bytes[at] = byte;
        }
        let whole = converse(&server.bytes, &[]);
        prop_assert_eq!(&converse(&server.bytes, &cuts), &whole);
    }
}
