//! A minimal HTTP/1.1. The head is read at once, the body on demand, so that a service can answer without it.

use std::io::{self, Read};
use std::net::TcpStream;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: u64 = 32 << 20;
const CHUNK: usize = 64 * 1024;

/// The head of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub method: String,
    /// Percent-decoded.
    pub path: String,
    pub query: String,
    pub keep_alive: bool,
    pub http_1_0: bool,
    pub length: Option<u64>,
    pub chunked: bool,
    headers: Vec<(String, String)>,
}

/// Errors that require a 400 and a close, or the end of the connection.
#[derive(Debug)]
pub(crate) enum Trouble {
    Malformed,
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Io(error)
    }
}

/// Received bytes that were not read.
pub(crate) struct Incoming {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Incoming {
    pub(crate) fn new(stream: TcpStream) -> Incoming {
        Incoming { stream, bytes: Vec::new() }
    }

    /// The next head; absent if the client closed.
    pub(crate) fn head(&mut self) -> Result<Option<Head>, Trouble> {
        loop {
            if let Some(end) = self.bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let head =
                    std::str::from_utf8(&self.bytes[..end]).ok().and_then(parse).ok_or(Trouble::Malformed)?;
                self.bytes.drain(..end + 4);
                return Ok(Some(head));
            }
            if self.bytes.len() > HEAD_BYTES_MAX {
                return Err(Trouble::Malformed);
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// The body of a request.
    pub(crate) fn body(&mut self, head: &Head) -> Result<Vec<u8>, Trouble> {
        let mut body = Vec::new();
        if !head.chunked {
            self.take(head.length.unwrap_or(0), &mut body)?;
            return Ok(body);
        }
        loop {
            let line = self.line()?;
            let length =
                line.split(';').next().and_then(|length| u64::from_str_radix(length.trim(), 16).ok());
            match length.ok_or(Trouble::Malformed)? {
                0 => break,
                length => self.take(length, &mut body)?,
            }
            if !self.line()?.is_empty() {
                return Err(Trouble::Malformed);
            }
        }
        while !self.line()?.is_empty() {}
        Ok(body)
    }

    fn line(&mut self) -> Result<String, Trouble> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|window| window == b"\r\n") {
                let line = String::from_utf8_lossy(&self.bytes[..end]).into_owned();
                self.bytes.drain(..end + 2);
                return Ok(line);
            }
            if self.bytes.len() > HEAD_BYTES_MAX || !self.more()? {
                return Err(Trouble::Malformed);
            }
        }
    }

    fn take(&mut self, length: u64, body: &mut Vec<u8>) -> Result<(), Trouble> {
        if length + body.len() as u64 > BODY_BYTES_MAX {
            return Err(Trouble::Malformed);
        }
        let here = self.bytes.len().min(length as usize);
        body.extend(self.bytes.drain(..here));
        let rest = length - here as u64;
        let read = (&mut self.stream).take(rest).read_to_end(body)?;
        if read as u64 == rest { Ok(()) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) }
    }

    fn more(&mut self) -> io::Result<bool> {
        let mut chunk = [0; CHUNK];
        let length = self.stream.read(&mut chunk)?;
        self.bytes.extend_from_slice(&chunk[..length]);
        Ok(length > 0)
    }
}

impl Head {
    /// The value of a header; its name is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let value = |pair: &str| {
            pair.split_once('=').filter(|(known, _)| *known == name).map(|(_, value)| decoded(value))
        };
        self.query.split('&').find_map(value)
    }
}

fn parse(head: &str) -> Option<Head> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !target.starts_with('/') || !version.starts_with("HTTP/1.") {
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let http_1_0 = version == "HTTP/1.0";
    let mut head = Head {
        method: method.to_owned(),
        path: decoded(path),
        query: query.to_owned(),
        keep_alive: !http_1_0,
        http_1_0,
        ..Head::default()
    };
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        match name.as_str() {
            "content-length" => head.length = Some(value.parse().ok()?),
            "transfer-encoding" => head.chunked = true,
            "connection" if value.eq_ignore_ascii_case("close") => head.keep_alive = false,
            "connection" if value.eq_ignore_ascii_case("keep-alive") => head.keep_alive = true,
            _ => {}
        }
        head.headers.push((name, value.to_owned()));
    }
    Some(head)
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => (bytes.push(byte), rest = &after[2..]).0,
            None => (bytes.push(first), rest = after).0,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub status: u16,
    pub content_type: &'static str,
    pub encoding: Option<&'static str>,
    pub body: Vec<u8>,
}

impl Response {
    pub(crate) fn of(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status, content_type, encoding: None, body: body.into() }
    }

    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Response {
        Response::of(200, "application/json", body)
    }

    pub(crate) fn error(status: u16, body: &str) -> Response {
        Response::of(status, "text/plain; charset=utf-8", body)
    }

    /// The bytes of an answer to a request with this head.
    pub(crate) fn write(&self, head: &Head) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            201 => "Created",
            400 => "Bad Request",
            405 => "Method Not Allowed",
            500 => "Internal Server Error",
            _ => "Not Found",
        };
        let (status, kind, length) = (self.status, self.content_type, self.body.len());
        let mut text =
            format!("HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n");
        if let Some(encoding) = self.encoding {
            text += &format!("Content-Encoding: {encoding}\r\nVary: Accept-Encoding\r\n");
        }
        if !head.keep_alive {
            text += "Connection: close\r\n";
        } else if head.http_1_0 {
            text += "Connection: keep-alive\r\n";
        }
        text += "\r\n";
        let mut bytes = text.into_bytes();
        if head.method != "HEAD" {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}
