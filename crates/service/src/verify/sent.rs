//! The exact bytes that a service sends for each request of the load, such as `Date`, server name and length
//! of the head. Bodies are equal by contract; heads differ, and their bytes cost work too.
//!
//! It looks at one service and compares none.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tare_base::Endpoint;
use tare_load::http1::Response;

use super::bench::{Asked, Bench};
use super::evaluate::header;
use super::talk::Talk;
use super::transcript::Failure;
use super::{CheckId, VerifyOptions};
use tare_contract::Contract;

/// Pause between the two requests of each kind: a `Date` changes in that time.
const APART: Duration = Duration::from_millis(1100);

/// One answer on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentAnswer {
    /// The name of the request in the contract.
    pub request: String,
    /// Such as `HTTP/1.1 200 OK`.
    pub status_line: String,
    /// In the order sent.
    pub headers: Vec<Field>,
    /// How the end of the body is marked.
    pub framing: SentFraming,
    /// Status line, headers and the empty line.
    pub head_bytes: usize,
    pub body_bytes: usize,
    /// All bytes: with chunks more than head and body.
    pub total_bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub value: String,
    /// Whether a repeated request gave another value, or none.
    pub varies: bool,
}

/// How the end of a body is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SentFraming {
    /// Its length in the head.
    ContentLength,
    Chunked,
    /// The end of the connection.
    Close,
}

impl SentFraming {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl SentAnswer {
    /// The first header with this name, ignoring case.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name))
    }
}

/// Sends every request of the load twice, on one connection if the service keeps it, like a load.
///
/// # Errors
/// The service cannot be reached, or an answer is wrong, so its bytes are not comparable.
pub fn sent(
    contract: &Contract,
    target: &Endpoint,
    options: &VerifyOptions,
) -> Result<Vec<SentAnswer>, String> {
    if options.channel.protocol.is_http2() {
        return Err("what HTTP/2 compresses has no size of its own: bytes are counted of HTTP/1.1".to_owned());
    }
    let mut bench = Bench::new(contract, target, options);
    let mut rng = bench.rng(CheckId::Response);
    let load: Vec<Asked<'_>> = bench.load().into_iter().map(|request| bench.any(request, &mut rng)).collect();
    let mut kept = None;
    let mut round = || -> Result<Vec<SentAnswer>, String> {
        load.iter().map(|asked| once(&mut bench, &mut kept, asked)).collect()
    };
    let began = Instant::now();
    let mut first = round()?;
    sleep(APART.saturating_sub(began.elapsed()));
    let second = round()?;
    for (first, second) in first.iter_mut().zip(&second) {
        mark_what_varies(first, second);
    }
    Ok(first)
}

fn once(bench: &mut Bench<'_>, kept: &mut Option<Talk>, asked: &Asked<'_>) -> Result<SentAnswer, String> {
    let wrong = |failure: Failure| format!("\"{}\": {}", asked.request.name, failure.reason);
    // A connection that has ended, or has unexpected bytes, is not used again.
    let mut talk = match kept.take().and_then(|mut talk| (!talk.spoke_early()).then_some(talk)) {
        Some(talk) => talk,
        None => bench.open().map_err(wrong)?,
    };
    talk.begin();
    talk.send(&asked.filled.bytes(&bench.host));
    let response = asked.right_answer(&mut talk).map_err(wrong)?;
    let more = talk.unclaimed().len();
    if more > 0 {
        return Err(wrong(Failure::new(format!("{more} bytes came after the end of the answer"), &talk)));
    }
    let sent = of(&asked.request.name, talk.received(), &response);
    *kept = Some(talk).filter(|_| response.keep_alive);
    Ok(sent)
}

/// `bytes` are exactly this answer.
fn of(request: &str, bytes: &[u8], response: &Response) -> SentAnswer {
    let end = |mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let field =
        |(name, value): &(String, Vec<u8>)| Field { name: name.clone(), value: text(value), varies: false };
    let framing = if header(response, "transfer-encoding").is_some() {
        SentFraming::Chunked
    } else if header(response, "content-length").is_some() {
        SentFraming::ContentLength
    } else {
        SentFraming::Close
    };
    SentAnswer {
        request: request.to_owned(),
        status_line: text(&bytes[..end(b"\n").unwrap_or(bytes.len())]),
        headers: response.headers.iter().map(field).collect(),
        framing,
        head_bytes: end(b"\r\n\r\n").map_or(bytes.len(), |at| at + 4),
        body_bytes: response.body.len(),
        total_bytes: bytes.len(),
    }
}

/// Compares headers by name, and by position among those of one name.
fn mark_what_varies(first: &mut SentAnswer, second: &SentAnswer) {
    let mut left: Vec<Option<&Field>> = second.headers.iter().map(Some).collect();
    for field in &mut first.headers {
        let same = left
            .iter_mut()
            .find(|other| other.is_some_and(|other| other.name.eq_ignore_ascii_case(&field.name)));
        let other = same.and_then(Option::take);
        field.varies = other.is_none_or(|other| other.value != field.value);
    }
    let new = left.into_iter().flatten().map(|field| Field { varies: true, ..field.clone() });
    first.headers.extend(new);
}

#[cfg(test)]
mod tests {
    use tare_load::http1::parse_response;

    use super::*;

    fn look(text: &str) -> SentAnswer {
        let (response, used) = parse_response(text.as_bytes(), false, true).unwrap().unwrap();
        of("x", &text.as_bytes()[..used], &response)
    }

    fn names(sent: &SentAnswer) -> Vec<(&str, bool)> {
        sent.headers.iter().map(|field| (field.name.as_str(), field.varies)).collect()
    }

    #[test]
    fn bytes_are_counted_as_they_came() {
        let plain = look("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK");
        assert_eq!((plain.head_bytes, plain.body_bytes, plain.total_bytes), (38, 2, 40));
        assert_eq!(
            (plain.status_line.as_str(), plain.framing),
            ("HTTP/1.1 200 OK", SentFraming::ContentLength)
        );
        let chunked = look("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n");
        assert_eq!((chunked.head_bytes, chunked.body_bytes, chunked.total_bytes), (47, 2, 59));
        assert_eq!(chunked.framing, SentFraming::Chunked);
        assert_eq!(look("HTTP/1.1 200 OK\r\n\r\nOK").framing, SentFraming::Close);
    }

    #[test]
    fn what_is_not_the_same_twice_varies() {
        let mut first = look(
            "HTTP/1.1 200 OK\r\nDate: a\r\nSet-Cookie: 1\r\nset-cookie: 2\r\nX: 1\r\nContent-Length: 0\r\n\r\n",
        );
        let second = look(
            "HTTP/1.1 200 OK\r\nDATE: b\r\nSet-Cookie: 1\r\nSet-Cookie: 3\r\nY: 1\r\nContent-Length: 0\r\n\r\n",
        );
        mark_what_varies(&mut first, &second);
        let varies = [("Date", true), ("Set-Cookie", false), ("set-cookie", true), ("X", true)];
        assert_eq!(names(&first), [&varies[..], &[("Content-Length", false), ("Y", true)]].concat());
        assert!(first.field("DATE").is_some_and(|field| field.value == "a"));
    }
}
