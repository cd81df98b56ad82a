//! A minimal HTTP/1.1: bytes to a request, a response to bytes. No sockets.

/// A complete request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    /// Empty if missing.
    pub authorization: String,
    pub body: Vec<u8>,
    pub keep_alive: bool,
    pub http_1_0: bool,
}

/// The result of parsing the bytes so far.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// More bytes are needed.
    Partial,
    /// A request, and its length in bytes.
    Complete(Request, usize),
    /// Malformed: answer 400 and close.
    Malformed,
}

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Parses one request at the start of the bytes.
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let Some(head_length) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if bytes.len() > HEAD_BYTES_MAX { Parsed::Malformed } else { Parsed::Partial };
    };
    let Some((request, length)) = str::from_utf8(&bytes[..head_length]).ok().and_then(parse_head) else {
        return Parsed::Malformed;
    };
    let start = head_length + 4;
    let body = match length {
        Some(length) if length > BODY_BYTES_MAX => return Parsed::Malformed,
        Some(length) => bytes.get(start..start + length).map(|body| (body.to_vec(), length)),
        None => unchunked(&bytes[start..]),
    };
    match body {
        Some((body, length)) => Parsed::Complete(Request { body, ..request }, start + length),
        None => Parsed::Partial,
    }
}

/// A chunked body and its length on the wire; absent until it is complete.
fn unchunked(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let rest = &bytes[at..];
        let line = rest.windows(2).position(|end| end == b"\r\n")?;
        let length = usize::from_str_radix(str::from_utf8(&rest[..line]).ok()?, 16).ok()?;
        let chunk = rest.get(line + 2..line + 2 + length + 2)?;
        body.extend(&chunk[..length]);
        at += line + 2 + length + 2;
        if length == 0 {
            return Some((body, at));
        }
    }
}

/// The request and the length of its body; no length for a chunked one.
fn parse_head(head: &str) -> Option<(Request, Option<usize>)> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !target.starts_with('/') || !version.starts_with("HTTP/1.") {
        return None;
    }
    let http_1_0 = version == "HTTP/1.0";
    let (mut length, mut keep_alive, mut authorization) = (Some(0), !http_1_0, String::new());
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = Some(value.parse().ok()?),
            "transfer-encoding" => length = None,
            "authorization" => authorization = value.to_owned(),
            "connection" if value.eq_ignore_ascii_case("close") => keep_alive = false,
            "connection" if value.eq_ignore_ascii_case("keep-alive") => keep_alive = true,
            _ => {}
        }
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (method, path, query) = (method.into(), path.into(), query.into());
    Some((Request { method, path, query, authorization, body: Vec::new(), keep_alive, http_1_0 }, length))
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub status: u16,
    pub content_type: &'static str,
    pub location: Option<String>,
    pub body: Vec<u8>,
}

/// How an answer is written, correctly or not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Framing {
    pub close: bool,
    pub say_keep_alive: bool,
    pub without_body: bool,
    pub promise_one_byte_less: bool,
    pub date: Option<String>,
}

impl Response {
    pub(crate) fn text(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", location: None, body: body.into() }
    }

    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type: "application/json", location: None, body: body.into() }
    }

    pub(crate) fn created(location: String, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 201, location: Some(location), ..Self::json(body) }
    }

    /// The bytes on the wire.
    pub(crate) fn write(&self, framing: Framing) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            201 => "Created",
            401 => "Unauthorized",
            400 => "Bad Request",
            405 => "Method Not Allowed",
            _ => "Not Found",
        };
        let length = self.body.len() - usize::from(framing.promise_one_byte_less && !self.body.is_empty());
        let mut head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {length}\r\n",
            self.status, self.content_type
        );
        if let Some(location) = &self.location {
            head += &format!("Location: {location}\r\n");
        }
        if let Some(date) = framing.date {
            head += &format!("Date: {date}\r\n");
        }
        if framing.close {
            head += "Connection: close\r\n";
        } else if framing.say_keep_alive {
            head += "Connection: keep-alive\r\n";
        }
        head += "\r\n";
        let mut bytes = head.into_bytes();
        if !framing.without_body {
            bytes.extend(&self.body);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bytes: &[u8]) -> Request {
        match parse(bytes) {
            Parsed::Complete(request, length) if length == bytes.len() => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_is_complete_with_its_last_byte() {
        let bytes = b"POST /a?b=c HTTP/1.1\r\ncontent-length: 2\r\n\r\nok";
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Parsed::Partial, "{length} bytes");
        }
        let found = request(bytes);
        assert_eq!((found.method.as_str(), found.path.as_str(), found.query.as_str()), ("POST", "/a", "b=c"));
        assert_eq!(found.body, b"ok");
        let two = [&bytes[..], b"GET"].concat();
        assert!(matches!(parse(&two), Parsed::Complete(_, length) if length == bytes.len()), "pipelined");
    }

    #[test]
    fn a_request_in_chunks_is_complete_with_its_last_one() {
        let bytes =
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\nA\r\nkkkkkkkkkk\r\n0\r\n\r\n";
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Parsed::Partial, "{length} bytes");
        }
        assert_eq!(request(bytes).body, b"okkkkkkkkkk");
    }

    #[test]
    fn a_connection_is_kept_as_version_and_header_say() {
        for (line, header, expected) in [
            ("HTTP/1.1", "", true),
            ("HTTP/1.1", "Connection: Close\r\n", false),
            ("HTTP/1.0", "", false),
            ("HTTP/1.0", "connection: keep-alive\r\n", true),
        ] {
            let found = request(format!("GET / {line}\r\n{header}\r\n").as_bytes());
            assert_eq!((found.keep_alive, found.http_1_0), (expected, line == "HTTP/1.0"), "{line} {header}");
        }
    }

    #[test]
    fn what_no_test_sends_is_malformed() {
        for text in [
            "GET / HTTP/2\r\n\r\n",
            "GET x HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1 x\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n",
        ] {
            assert_eq!(parse(text.as_bytes()), Parsed::Malformed, "{text:?}");
        }
        assert_eq!(parse(&vec![b'x'; HEAD_BYTES_MAX + 1]), Parsed::Malformed, "a head without an end");
    }

    #[test]
    fn a_response_is_written_right_or_as_the_mode_has_it() {
        let text = |framing| String::from_utf8(Response::text(200, "ok").write(framing)).unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n";
        assert_eq!(text(Framing::default()), format!("{head}Content-Length: 2\r\n\r\nok"));
        let short = Framing { promise_one_byte_less: true, close: true, ..Framing::default() };
        assert_eq!(text(short), format!("{head}Content-Length: 1\r\nConnection: close\r\n\r\nok"));
        let to_head = Framing {
            without_body: true,
            say_keep_alive: true,
            date: Some("now".into()),
            ..Framing::default()
        };
        assert_eq!(
            text(to_head),
            format!("{head}Content-Length: 2\r\nDate: now\r\nConnection: keep-alive\r\n\r\n")
        );
    }
}
