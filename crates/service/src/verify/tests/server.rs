//! A small service in this process that satisfies all contracts, except for one given fault.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    StatusSaysOkBang,
    FrameworkInLowerCase,
    IgnoresCount,
    OnlyLabelsOfThree,
    ResetsAfterReply,
    ClosesAfterReply,
    SaysClose,
    SaysCloseButStaysOpen,
    AnswersBeforeTheBody,
    AnswersOnePipelined,
    SwapsPipelined,
    Caches,
    PromisesTooMuch,
    SendsTooMuch,
    WrongContentType,
    NeverAnswers,
    StaysOpen,
    ChunkedAlways,
    BodyToHead,
    FindsAll,
    TakesAllMethods,
    TakesBadInput,
    HangsUpOnBadInput,
    FrozenDate,
    DateOfAnHourAgo,
    NoDate,
    WrongTypeAndName,
    OneSpelling,
    HeadOfFourKilobytes,
    ChunkedInOnePiece,
    RefusesLongBodies,
    PrefixRouter,
    PostIsGet,
    ClosesAtAThousand,
    NeverAnswersLabels,
    NeverDecodes,
    QueryIsPath,
    IgnoresCase,
}

pub(super) struct Server {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
}

struct Shared {
    fault: Fault,
    cached: std::sync::Mutex<std::collections::BTreeMap<&'static str, String>>,
}

struct Asked {
    method: String,
    target: String,
    http_1_0: bool,
    close: bool,
    body: String,
    head: usize,
    length: usize,
}

impl Server {
    pub(super) fn start(fault: Fault) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared { fault, cached: Default::default() });
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(stream.unwrap()));
            }
        });
        Server { address, stop }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let mut input = Vec::new();
        let mut answered = 0;
        let mut buffer = [0; 4096];
        loop {
            let mut output = Vec::new();
            let mut close = false;
            let mut answers: Vec<Vec<u8>> = Vec::new();
            while let Some(asked) = self.parse(&input) {
                input.drain(..asked.length);
                let Some((answer, closes)) = self.answer(&asked) else { return };
                answered += 1;
                close |= self.fault == Fault::ClosesAtAThousand && answered == 1000;
                answers.push(answer);
                close |= closes;
            }
            match self.fault {
                Fault::SwapsPipelined => answers.reverse(),
                Fault::AnswersOnePipelined => answers.truncate(1),
                _ => {}
            }
            answers.iter().for_each(|answer| output.extend(answer));
            if self.fault != Fault::NeverAnswers && stream.write_all(&output).is_err() {
                return;
            }
            if !output.is_empty() && self.fault == Fault::ResetsAfterReply {
                let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
                return;
            }
            if close {
                return;
            }
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(length) => input.extend_from_slice(&buffer[..length]),
            }
        }
    }

    fn parse(&self, input: &[u8]) -> Option<Asked> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut request = httparse::Request::new(&mut headers);
        let Ok(httparse::Status::Complete(head)) = request.parse(input) else { return None };
        let value = |name: &str| {
            let found = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(found.value).ok()
        };
        let mut length: usize = value("content-length").map_or(0, |length| length.parse().unwrap());
        if self.fault == Fault::AnswersBeforeTheBody {
            length = length.min(input.len() - head);
        }
        if self.fault == Fault::OneSpelling && !input[..head].windows(16).any(|at| at == b"Content-Length: ")
        {
            length = 0;
        }
        let (body, length) = match value("transfer-encoding") {
            Some(_) if self.fault == Fault::ChunkedInOnePiece => {
                // It reads only the bytes that came with the head.
                unchunked(&input[head..]).unwrap_or((Vec::new(), input.len() - head))
            }
            Some(_) => unchunked(&input[head..])?,
            None => (input.get(head..head + length)?.to_vec(), length),
        };
        Some(Asked {
            method: request.method?.to_owned(),
            target: request.path?.to_owned(),
            http_1_0: request.version == Some(0),
            close: value("connection") == Some("close"),
            body: String::from_utf8(body).ok()?,
            head,
            length: head + length,
        })
    }

    /// The answer's bytes, and whether to close the connection; `None` closes it at once.
    fn answer(&self, asked: &Asked) -> Option<(Vec<u8>, bool)> {
        let (status, mut content_type, body) = self.route(asked);
        let hangs_up = match self.fault {
            Fault::HangsUpOnBadInput => status == 400,
            Fault::HeadOfFourKilobytes => asked.head > 4096,
            _ => false,
        };
        if hangs_up {
            return None;
        }
        if self.fault == Fault::NeverAnswersLabels && asked.target.starts_with("/test/labels/") {
            thread::sleep(Duration::from_secs(60));
        }
        if matches!(self.fault, Fault::WrongContentType | Fault::WrongTypeAndName) {
            content_type = "text/html";
        }
        let close = asked.close || asked.http_1_0 || self.fault == Fault::SaysClose;
        let says =
            if close || self.fault == Fault::SaysCloseButStaysOpen { "Connection: close\r\n" } else { "" };
        let date = match self.fault {
            Fault::NoDate => String::new(),
            Fault::FrozenDate => String::from("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
            Fault::DateOfAnHourAgo => date(3600),
            _ => date(0),
        };
        let length = body.len() + if self.fault == Fault::PromisesTooMuch { 5 } else { 0 };
        let framing = match self.fault {
            Fault::ChunkedAlways => String::from("Transfer-Encoding: chunked"),
            _ => format!("Content-Length: {length}"),
        };
        let mut bytes =
            format!("HTTP/1.1 {status} X\r\n{says}{date}Content-Type: {content_type}\r\n{framing}\r\n\r\n");
        if asked.method != "HEAD" || self.fault == Fault::BodyToHead {
            match self.fault {
                Fault::ChunkedAlways => bytes.push_str(&format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())),
                Fault::SendsTooMuch => bytes.push_str(&format!("{body}\r\n")),
                _ => bytes.push_str(&body),
            }
        }
        let closes = match self.fault {
            Fault::StaysOpen | Fault::SaysCloseButStaysOpen => false,
            Fault::ClosesAfterReply => true,
            _ => close,
        };
        Some((bytes.into_bytes(), closes))
    }

    fn route(&self, asked: &Asked) -> (u16, &'static str, String) {
        const TEXT: &str = "text/plain; charset=utf-8";
        const JSON: &str = "application/json";
        let get = matches!(asked.method.as_str(), "GET" | "HEAD")
            || self.fault == Fault::TakesAllMethods
            || (self.fault == Fault::PostIsGet && asked.method == "POST");
        let (path, query) = match asked.target.split_once('?') {
            Some(parts) if self.fault != Fault::QueryIsPath => parts,
            _ => (asked.target.as_str(), ""),
        };
        let lower = path.to_ascii_lowercase();
        let path = if self.fault == Fault::IgnoresCase && path.starts_with("/TEST") { &lower } else { path };
        if self.fault == Fault::RefusesLongBodies && asked.body.len() > 100_000 {
            return (413, TEXT, String::from("too long"));
        }
        let by_prefix = |known: &str| self.fault == Fault::PrefixRouter && path.starts_with(known);
        match path {
            _ if by_prefix("/api") => (200, TEXT, String::from("Hello, World!")),
            "/api/test" if get => (200, TEXT, String::from("Hello, World!")),
            "/" if get => (200, TEXT, String::from("Hello world!")),
            "/test/status" if get && self.fault == Fault::StatusSaysOkBang => {
                (200, TEXT, String::from("OK!"))
            }
            "/test/status" if get => (200, TEXT, String::from("OK")),
            "/framework"
                if get && matches!(self.fault, Fault::FrameworkInLowerCase | Fault::WrongTypeAndName) =>
            {
                (200, JSON, json!({ "hello": "world" }).to_string())
            }
            "/framework" if get => (200, JSON, json!({ "Hello": "world" }).to_string()),
            "/benchmark" if get => match self.strings(query) {
                Some(strings) => (200, JSON, strings),
                None => (400, TEXT, String::new()),
            },
            "/test" if asked.method == "POST" => match self.echo(&asked.body) {
                Some(body) => (200, JSON, body),
                None => (400, TEXT, String::from("bad")),
            },
            _ if get && path.starts_with("/test/labels/") => self.label(&path["/test/labels/".len()..], TEXT),
            _ if self.fault == Fault::FindsAll => (200, TEXT, String::from("Hello world!")),
            _ => (404, TEXT, String::from("not found")),
        }
    }

    fn label(&self, label: &str, content_type: &'static str) -> (u16, &'static str, String) {
        match self.fault {
            _ if label.contains('/') => (404, content_type, String::new()),
            Fault::OnlyLabelsOfThree if label.len() != 3 => (404, content_type, String::new()),
            Fault::Caches if label != "x" => {
                let mut cached = self.cached.lock().unwrap();
                (200, content_type, cached.entry("label").or_insert_with(|| label.to_owned()).clone())
            }
            Fault::NeverDecodes => (200, content_type, label.to_owned()),
            _ => (200, content_type, decoded(label)),
        }
    }

    fn strings(&self, query: &str) -> Option<String> {
        let count = match query.strip_prefix("count=") {
            Some(_) if self.fault == Fault::IgnoresCount => 10_000,
            Some(count) => count.parse().ok().filter(|count| *count <= 1_000_000)?,
            None => 10_000,
        };
        let strings: Vec<String> = (0..count.min(10)).map(|index: usize| format!("Index {index}")).collect();
        Some(json!(strings).to_string())
    }

    fn echo(&self, body: &str) -> Option<String> {
        let mut value: Value = match (serde_json::from_str(body), self.fault) {
            (Ok(value), _) => value,
            (Err(_), Fault::TakesBadInput) => json!({}),
            (Err(_), _) => return None,
        };
        value.as_object_mut()?.insert(String::from("text"), json!("received"));
        Some(value.to_string())
    }
}

/// A `Date` some seconds ago.
fn date(seconds_ago: i64) -> String {
    let now = jiff::Timestamp::now().as_second();
    let then = jiff::Timestamp::from_second(now - seconds_ago).unwrap();
    then.strftime("Date: %a, %d %b %Y %H:%M:%S GMT\r\n").to_string()
}

/// A chunked body and its length on the wire, once the last chunk has come.
fn unchunked(mut input: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, all) = (Vec::new(), input.len());
    loop {
        let line = input.windows(2).position(|end| end == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&input[..line]).ok()?, 16).ok()?;
        let chunk = input.get(line + 2..line + 2 + length + 2)?;
        body.extend(&chunk[..length]);
        input = &input[line + length + 4..];
        if length == 0 {
            return Some((body, all - input.len()));
        }
    }
}

fn decoded(label: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = label.bytes();
    while let Some(byte) = rest.next() {
        let digits =
            |rest: &mut std::str::Bytes<'_>| [rest.next(), rest.next()].into_iter().flatten().collect();
        bytes.push(match byte {
            b'%' => {
                u8::from_str_radix(std::str::from_utf8(&digits(&mut rest) as &Vec<u8>).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}
