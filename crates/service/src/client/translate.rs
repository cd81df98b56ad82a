//! Translates HTTP/1.1 requests to HTTP/2, and HTTP/2 answers to HTTP/1.1, so other modules need one form.

use http::{HeaderName, HeaderValue, Method, Request, Uri, Version, header, response::Parts};
use tare_load::http1::{self, Response};

/// Most headers of a contract's request.
const HEADERS_MAX: usize = 100;
/// Headers of one connection, which HTTP/2 forbids (RFC 9113, 8.2.2).
pub(crate) const OF_ONE_CONNECTION: [&str; 5] =
    ["connection", "transfer-encoding", "keep-alive", "proxy-connection", "upgrade"];
/// The name of the status field: it marks an HTTP/2 answer.
pub(crate) const STATUS: &str = ":status";

/// The request in `bytes` with its body, if any; absent if HTTP/2 cannot express it.
pub(crate) fn request(bytes: &[u8], scheme: &str) -> Option<(Request<()>, Option<Vec<u8>>)> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let Ok(httparse::Status::Complete(end)) = head.parse(bytes) else { return None };
    let is_chunked = head.headers.iter().any(|header| header.name.eq_ignore_ascii_case("transfer-encoding"));
    let has_length = head.headers.iter().any(|header| header.name.eq_ignore_ascii_case("content-length"));
    let host = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"))?;
    let uri = Uri::builder().scheme(scheme).authority(host.value).path_and_query(head.path?).build().ok()?;
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(head.method?.as_bytes()).ok()?;
    *request.uri_mut() = uri;
    *request.version_mut() = Version::HTTP_2;
    for field in head.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        if name != header::HOST && !OF_ONE_CONNECTION.contains(&name.as_str()) {
            request.headers_mut().append(name, HeaderValue::from_bytes(field.value).ok()?);
        }
    }
    let body = match (is_chunked, has_length) {
        (true, _) => Some(of_chunks(&bytes[end..])?),
        (false, true) => Some(bytes[end..].to_vec()),
        (false, false) => None,
    };
    Some((request, body))
}

/// The data of a whole chunked body.
fn of_chunks(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    while let Ok(httparse::Status::Complete((start, length))) = httparse::parse_chunk_size(bytes) {
        let length = usize::try_from(length).ok()?;
        if length == 0 {
            return Some(data);
        }
        data.extend_from_slice(bytes.get(start..start + length)?);
        // Skips the line end after the data.
        bytes = bytes.get(start + length + 2..)?;
    }
    None
}

/// An answer in HTTP/1.1 form, except that its first header is the status.
pub(crate) fn response(head: &Parts, body: Vec<u8>) -> Response {
    let status = (STATUS.to_owned(), head.status.as_str().as_bytes().to_vec());
    let headers =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
    Response {
        status: head.status.as_u16(),
        version: http1::StatusLineVersion::Http11,
        headers: std::iter::once(status).chain(headers).collect(),
        body,
        keep_alive: true,
    }
}

/// An answer as readable text.
pub(crate) fn text(response: &Response) -> Vec<u8> {
    let mut text = format!("HTTP/2 {}\r\n", response.status).into_bytes();
    for (name, value) in response.headers.iter().filter(|(name, _)| name != STATUS) {
        text.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    text.extend_from_slice(b"\r\n");
    text.extend_from_slice(&response.body);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_the_same_in_both() {
        let bytes = b"POST /a?b=1 HTTP/1.1\r\nHost: h:1\r\nContent-Type: x/y\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
        let (request, body) = super::request(bytes, "https").unwrap();
        assert_eq!(
            (request.method().as_str(), request.uri().to_string().as_str()),
            ("POST", "https://h:1/a?b=1")
        );
        let names: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!((names, body.as_deref()), (vec!["content-type", "content-length"], Some(&b"ok"[..])));
        let (request, body) = super::request(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "http").unwrap();
        assert_eq!((request.uri().scheme_str(), body), (Some("http"), None));
    }

    #[test]
    fn a_chunked_body_is_its_data() {
        let head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
        let of = |body: &[u8]| super::request(&[&head[..], body].concat(), "http").and_then(|(_, body)| body);
        assert_eq!(of(b"2\r\nok\r\n1\r\n!\r\n0\r\n\r\n").as_deref(), Some(&b"ok!"[..]));
        assert_eq!(of(b"5\r\nok"), None, "it has no end");
    }

    #[test]
    fn an_answer_keeps_its_status_as_a_header() {
        let head = http::Response::builder().status(404).header("a", "b").body(()).unwrap().into_parts().0;
        let response = response(&head, b"no".to_vec());
        assert_eq!((response.status, response.headers[0].0.as_str()), (404, STATUS));
        assert_eq!(text(&response), b"HTTP/2 404\r\na: b\r\n\r\nno");
    }
}
