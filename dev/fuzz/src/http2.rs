//! The bytes of an HTTP/2 server.

use tare_load::http2::{
    Encoder, ErrorCode, HeadError, Http2Connection, Http2Error, Http2Event, Http2Request, RequestList, Sent,
};

use crate::parts;

/// The number of concurrent requests, and the total.
const PLACES: usize = 3;
const REQUESTS: usize = 20;
/// A bound on the client's output for any fuzzer input: answers to pings, and uploads.
const SENT_BYTES_MAX: usize = 4 << 20;

/// The events of a client; consecutive parts of a body are merged.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Answer { place: usize, status: u16, body: Vec<u8>, is_end: bool },
    Malformed(usize, HeadError),
    Reset(usize, ErrorCode),
    NotTaken(usize),
    GoingAway,
    Ready,
    Room,
}

struct Client {
    connection: Http2Connection,
    encoder: Encoder,
    requests: RequestList,
    idle: Vec<usize>,
    count: usize,
    seen: Vec<Seen>,
    sent: Vec<u8>,
    /// The fields of the last completed head.
    fields: Vec<(String, Vec<u8>)>,
}

fn request(method: &str, body: Vec<u8>) -> Http2Request {
    let field = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
    Http2Request { fields: vec![field(":method", method), field(":path", "/a"), field("x", "y")], body }
}

impl Client {
    fn new() -> Client {
        let requests = RequestList(vec![request("GET", vec![]), request("POST", vec![7; 100_000])]);
        let mut connection = Http2Connection::new(PLACES);
        connection.keep_fields(true);
        Client {
            connection,
            encoder: Encoder::new(&requests),
            requests,
            idle: (0..PLACES).rev().collect(),
            count: 0,
            seen: Vec::new(),
            sent: Vec::new(),
            fields: Vec::new(),
        }
    }

    fn fill(&mut self) {
        while self.count < REQUESTS && self.connection.has_room() {
            let Some(place) = self.idle.pop() else { return };
            let index = self.count % self.requests.0.len();
            self.count += 1;
            self.connection.send(place, Sent::Listed(index), false, &mut self.encoder, &self.requests);
        }
    }

    fn take(&mut self, mut bytes: &[u8]) -> Result<(), Http2Error> {
        loop {
            let event = self.connection.receive(&mut bytes);
            let is_over = !matches!(event, Ok(Some(_)));
            if let Ok(Some(event)) = event {
                self.see(event);
                self.connection.pump(&self.requests);
                self.fill();
            }
            while !self.connection.outgoing().is_empty() {
                self.sent.append(self.connection.outgoing());
                self.connection.pump(&self.requests);
            }
            assert!(self.connection.busy() <= PLACES && self.sent.len() < SENT_BYTES_MAX);
            match event {
                Err(error) => return Err(error),
                Ok(_) if is_over => break,
                Ok(_) => {}
            }
        }
        assert!(bytes.is_empty(), "bytes are left while more are asked for");
        Ok(())
    }

    fn see(&mut self, event: Http2Event<'_>) {
        let (seen, free) = match event {
            Http2Event::Ready => (Seen::Ready, None),
            Http2Event::GoingAway => (Seen::GoingAway, None),
            Http2Event::Room => (Seen::Room, None),
            Http2Event::NotTaken { place } => (Seen::NotTaken(place), Some(place)),
            Http2Event::Reset { place, code } => (Seen::Reset(place, code), Some(place)),
            Http2Event::Malformed { place, error } => {
                // How much of its body arrived before depends on the pieces.
                self.seen.retain(
                    |seen| !matches!(seen, Seen::Answer { place: at, is_end: false, .. } if *at == place),
                );
                (Seen::Malformed(place, error), Some(place))
            }
            Http2Event::Answer { place, bytes, is_end } => {
                let status = self.connection.head(place).expect("an answer has a head").status;
                self.idle.extend(is_end.then_some(place));
                self.fields = self.connection.fields(place).map(<[_]>::to_vec).unwrap_or_default();
                if let Some(Seen::Answer { place: before, body, is_end: ended @ false, .. }) =
                    self.seen.last_mut()
                    && *before == place
                {
                    body.extend_from_slice(bytes);
                    *ended = is_end;
                    return;
                }
                (Seen::Answer { place, status, body: bytes.to_vec(), is_end }, None)
            }
        };
        self.seen.push(seen);
        self.idle.extend(free);
    }
}

fn converse<'b>(mut pieces: impl Iterator<Item = &'b [u8]>) -> (Vec<Seen>, Vec<u8>, Result<(), Http2Error>) {
    let mut client = Client::new();
    let outcome = client.take(&[]).and_then(|()| pieces.try_for_each(|piece| client.take(piece)));
    (client.seen, client.sent, outcome)
}

/// Options, followed by split points, and the bytes of a server. A client with requests in flight neither
/// panics nor stalls, and splits do not change what it receives and sends.
pub(crate) fn http2(input: &[u8]) {
    let [options, bytes] = parts(input);
    let cut = options.iter().fold(0_usize, |cut, byte| cut.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let (front, back) = bytes.split_at(cut % (bytes.len() + 1));
    let whole = converse([bytes].into_iter());
    assert_eq!(converse([front, back].into_iter()), whole);
    assert_eq!(converse(bytes.chunks(1)), whole);
}

/// Header blocks, each after a byte with its length. They are decoded as by another decoder, twice in a row
/// too, and an invalid head is an error of the stream.
pub(crate) fn hpack(input: &[u8]) {
    let mut other = loona_hpack::Decoder::new();
    other.set_max_allowed_table_size(4096);
    let mut client = Client::new();
    client.take(&frame(4, 0, 0, &[])).expect("settings");
    let (mut rest, mut stream) = (input, 1);
    while let Some((&length, behind)) = rest.split_first() {
        let block = &behind[..behind.len().min(length.into())];
        rest = &behind[block.len()..];
        // The client only has REQUESTS streams.
        if stream >= 2 * REQUESTS as u32 {
            return;
        }
        let expected = other.decode(block);
        client.seen.clear();
        let taken = client.take(&frame(1, 5, stream, block));
        stream += 2;
        if taken == Err(Http2Error::Hpack) {
            // The other decoder accepts size updates anywhere except at the end.
            assert!(expected.is_err() || block.iter().any(|byte| (0x20..0x40).contains(byte)), "{block:?}");
            return;
        }
        assert_eq!(taken, Ok(()));
        let Some(Seen::Answer { status, .. }) = client.seen.first() else {
            if expected.is_err() {
                // For a block with only a size update, it reports an update at the end.
                assert!(block.iter().any(|byte| (0x20..0x40).contains(byte)), "{block:?}");
                return;
            }
            continue;
        };
        let fields: Vec<(Vec<u8>, Vec<u8>)> = expected.expect("a block that was decoded");
        let (pseudo, regular): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|(name, _)| name.starts_with(b":"));
        assert_eq!(pseudo, [(b":status".to_vec(), status.to_string().into_bytes())]);
        let kept: Vec<(Vec<u8>, Vec<u8>)> =
            client.fields.iter().map(|(name, value)| (name.clone().into_bytes(), value.clone())).collect();
        assert_eq!(kept, regular);
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}
