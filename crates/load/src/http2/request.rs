//! Requests as header fields, made once from the HTTP/1.1 bytes of exchanges.

use crate::exchange::{Exchange, ExchangePool};
use crate::http1::unchunked;

/// The URI scheme of a request, a pseudo-header of HTTP/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// Over TLS.
    Https,
}

/// Why a request cannot be sent over HTTP/2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the request \"{name}\" cannot be sent over HTTP/2: it is not one whole request of HTTP/1.1")]
pub struct RequestError {
    /// The name of the exchange.
    pub name: String,
}

/// A request: its fields in order, pseudo-headers first, and its body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Http2Request {
    /// Names and values.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// The body, empty if there is none.
    pub body: Vec<u8>,
}

/// The requests of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestList(pub Vec<Http2Request>);

impl RequestList {
    /// The requests of `pool`, in its order.
    ///
    /// # Errors
    /// One of them is not HTTP/1.1.
    pub fn of(pool: &ExchangePool, scheme: Scheme) -> Result<RequestList, RequestError> {
        pool.exchanges()
            .iter()
            .map(|exchange| Http2Request::of(exchange, scheme))
            .collect::<Result<_, _>>()
            .map(RequestList)
    }
}

impl Http2Request {
    /// The request of an exchange. `Host` becomes the authority, and fields about the HTTP/1.1 connection are
    /// left out (RFC 9113, 8.2.2).
    ///
    /// # Errors
    /// The bytes are not one whole HTTP/1.1 request.
    pub fn of(exchange: &Exchange, scheme: Scheme) -> Result<Http2Request, RequestError> {
        read(&exchange.request, scheme).ok_or_else(|| RequestError { name: exchange.name.clone() })
    }
}

fn read(bytes: &[u8], scheme: Scheme) -> Option<Http2Request> {
    const HEADERS_MAX: usize = 128;
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head_bytes) = parsed.parse(bytes).ok()? else { return None };
    let body = bytes.get(head_bytes..)?;
    let find = |name: &str| parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let is_chunked = find("transfer-encoding").is_some();
    let scheme = match scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    let pseudo = |name: &str, value: &[u8]| (name.as_bytes().to_vec(), value.to_vec());
    let mut fields = vec![
        pseudo(":method", parsed.method?.as_bytes()),
        pseudo(":scheme", scheme.as_bytes()),
        pseudo(":path", parsed.path?.as_bytes()),
    ];
    fields.extend(find("host").map(|host| pseudo(":authority", host.value)));
    let kept = parsed.headers.iter().filter(|header| !is_of_the_connection(header));
    fields.extend(kept.map(|header| (header.name.to_ascii_lowercase().into_bytes(), header.value.to_vec())));
    let body = if is_chunked { unchunked(body)? } else { body.to_vec() };
    Some(Http2Request { fields, body })
}

fn is_of_the_connection(header: &httparse::Header<'_>) -> bool {
    const NAMES: [&str; 6] =
        ["host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];
    let is_te = header.name.eq_ignore_ascii_case("te") && !header.value.eq_ignore_ascii_case(b"trailers");
    is_te || NAMES.iter().any(|name| header.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Expected, ExpectedBody};

    fn request(bytes: &str) -> Result<Http2Request, RequestError> {
        let expected = Expected { status: 200, body: ExpectedBody::Any };
        let request = bytes.as_bytes().to_vec();
        let exchange = Exchange { request, is_head: false, expected, name: "it".to_owned(), step: None };
        Http2Request::of(&exchange, Scheme::Https)
    }

    fn fields(request: &Http2Request) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        request.fields.iter().map(|(name, value)| format!("{} {}\n", text(name), text(value))).collect()
    }

    #[test]
    fn the_host_becomes_the_authority_and_names_are_in_lower_case() {
        let request = request(
            "POST /a?b=c HTTP/1.1\r\nHost: localhost:1\r\nX-A: B\r\nConnection: keep-alive\r\nTE: gzip\r\n\
             Content-Length: 2\r\n\r\nhi",
        )
        .unwrap();
        let lines =
            ":method POST\n:scheme https\n:path /a?b=c\n:authority localhost:1\nx-a B\ncontent-length 2\n";
        assert_eq!(fields(&request), lines);
        assert_eq!(request.body, b"hi");
    }

    #[test]
    fn a_chunked_body_is_sent_without_its_chunks() {
        let bytes =
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        let request = request(bytes).unwrap();
        assert_eq!(request.body, b"abcde");
        assert_eq!(fields(&request), ":method PUT\n:scheme https\n:path /\n:authority a\n");
    }

    #[test]
    fn what_is_no_request_is_named() {
        for bytes in ["", "GET /", "GET / HTTP/1.1\r\nHost: a\r\n", "\x16\x03\x01\r\n\r\n"] {
            assert_eq!(request(bytes), Err(RequestError { name: "it".to_owned() }), "{bytes:?}");
        }
    }
}
