//! The same over HTTP/2 without TLS: the part of a server that a tool needs to send its first request.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
};

use loona_hpack::Decoder;
use tare_base::http2::{
    ACK, DATA, END_HEADERS, END_STREAM, HAS_PRIORITY, HEADERS, PADDED, PING, PREFACE, SETTINGS,
};

/// The protocol's default limit of a frame.
const PAYLOAD_BYTES_MAX: usize = 16 * 1024;

/// `:status: 200` and `content-length: 2`, without the dynamic table.
const BLOCK: &[u8] = &[0x88, 0x0f, 0x0d, 1, b'2'];

/// Names and values in order.
type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Answers everything on a connection until it is closed or silent; requests are recorded as HTTP/1.1.
pub(super) fn answer(
    stream: &mut TcpStream,
    over: &AtomicBool,
    mut see: impl FnMut(Vec<u8>),
) -> io::Result<()> {
    let mut preface = [0; PREFACE.len()];
    stream.read_exact(&mut preface)?;
    if preface != PREFACE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.write_all(&frame(SETTINGS, 0, 0, b""))?;
    let mut decoder = Decoder::new();
    while !over.load(Ordering::Relaxed) {
        let (kind, flags, id, payload) = receive(stream)?;
        match kind {
            SETTINGS if flags & ACK == 0 => stream.write_all(&frame(SETTINGS, ACK, 0, b""))?,
            PING if flags & ACK == 0 => stream.write_all(&frame(PING, ACK, 0, &payload))?,
            HEADERS => {
                // A tool's request fits into one frame.
                let block = block(flags, &payload).ok_or(io::ErrorKind::InvalidData)?;
                let fields = decoder.decode(block).map_err(|error| io::Error::other(format!("{error:?}")))?;
                see(as_http1(&fields));
                let answer = [frame(HEADERS, END_HEADERS, id, BLOCK), frame(DATA, END_STREAM, id, b"ok")];
                stream.write_all(&answer.concat())?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn receive(stream: &mut TcpStream) -> io::Result<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let [a, b, c, kind, flags, id @ ..] = head;
    let length = u32::from_be_bytes([0, a, b, c]) as usize;
    if length > PAYLOAD_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload)?;
    Ok((kind, flags, u32::from_be_bytes(id), payload))
}

fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(id.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// The header block of a frame that contains all of it.
fn block(flags: u8, mut payload: &[u8]) -> Option<&[u8]> {
    if flags & END_HEADERS == 0 {
        return None;
    }
    let mut padding = 0;
    if flags & PADDED != 0 {
        let (length, rest) = payload.split_first()?;
        (padding, payload) = (usize::from(*length), rest);
    }
    if flags & HAS_PRIORITY != 0 {
        payload = payload.get(5..)?;
    }
    payload.get(..payload.len().checked_sub(padding)?)
}

/// The request in the form that our engine stores, from which it makes the same fields.
fn as_http1(fields: &Fields) -> Vec<u8> {
    let pseudo = |name: &[u8]| {
        let found = fields.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_slice()).unwrap_or_default()
    };
    let mut request =
        [pseudo(b":method"), b" ", pseudo(b":path"), b" HTTP/1.1\r\nhost: ", pseudo(b":authority")].concat();
    for (name, value) in fields.iter().filter(|(name, _)| !name.starts_with(b":")) {
        request.extend([b"\r\n", name.as_slice(), b": ", value].concat());
    }
    request.extend(b"\r\n\r\n");
    request
}

#[cfg(test)]
mod tests {
    use loona_hpack::Encoder;

    use super::{super::*, *};

    const FIELDS: [(&[u8], &[u8]); 5] = [
        (b":path", b"/x"),
        (b":scheme", b"http"),
        (b":authority", b"127.0.0.1:9"),
        (b":method", b"GET"),
        (b"user-agent", b"it 1"),
    ];
    const AS_HTTP1: &[u8] = b"GET /x HTTP/1.1\r\nhost: 127.0.0.1:9\r\nuser-agent: it 1\r\n\r\n";

    /// The request that the listener records from a client that sends these frames after its preface.
    fn seen(frames: &[Vec<u8>]) -> Option<Vec<u8>> {
        let listener = Listener::start(true).unwrap();
        let mut stream = TcpStream::connect(listener.address).unwrap();
        stream.write_all(PREFACE).unwrap();
        stream.write_all(&frames.concat()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answers = Vec::new();
        stream.read_to_end(&mut answers).unwrap();
        let seen = listener.finish();
        assert_eq!(seen.is_some(), answers.ends_with(b"ok"), "a request is answered");
        seen
    }

    #[test]
    fn the_fields_of_a_request_are_those_of_one_of_http1() {
        let block = Encoder::new().encode(FIELDS);
        let settings = frame(SETTINGS, 0, 0, b"");
        let plain = frame(HEADERS, END_HEADERS | END_STREAM, 1, &block);
        assert_eq!(seen(&[settings.clone(), plain]).unwrap(), AS_HTTP1);
        let padded = [&[3, 0, 0, 0, 0, 15][..], &block, &[0; 3]].concat();
        let flags = END_HEADERS | END_STREAM | PADDED | HAS_PRIORITY;
        assert_eq!(seen(&[settings, frame(HEADERS, flags, 1, &padded)]).unwrap(), AS_HTTP1);
    }

    #[test]
    fn what_is_no_request_is_none() {
        assert_eq!(seen(&[frame(SETTINGS, 0, 0, b"")]), None);
        assert_eq!(seen(&[frame(HEADERS, 0, 1, b"")]), None, "not all of it");
        assert_eq!(seen(&[frame(HEADERS, END_HEADERS | PADDED, 1, &[9])]), None, "more padding than payload");
        assert_eq!(seen(&[frame(HEADERS, END_HEADERS, 1, &[0x7f, 0xff])]), None, "no block");
    }
}
