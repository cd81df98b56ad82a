//! Tables of responses, and the property that how bytes are split changes nothing.

use proptest::prelude::*;

use super::*;

fn whole(bytes: &[u8]) -> Result<Option<(Response, usize)>, ParseError> {
    parse_response(bytes, false, false)
}

fn ok(bytes: &str) -> Response {
    let (response, used) = whole(bytes.as_bytes()).unwrap().unwrap();
    assert_eq!(used, bytes.len(), "{bytes:?}");
    response
}

#[test]
fn framings() {
    let plain = ok("HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!((plain.status, plain.version, plain.keep_alive), (200, Version::Http11, true));
    assert_eq!(plain.body, b"abc");
    assert_eq!(plain.headers[0], ("Server".to_owned(), b"x".to_vec()));

    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n00A;x=\"y\"\r\n0123456789\r\n\
                   0\r\nX-Sum: 1\r\nY:\r\n\r\n";
    assert_eq!(ok(chunked).body, b"abc0123456789");
    for bodiless in ["204 No Content\r\nContent-Length: 5", "304 Not Modified\r\nContent-Length: 5"] {
        assert_eq!(ok(&format!("HTTP/1.1 {bodiless}\r\n\r\n")).body, b"");
    }
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(parse_response(head, true, false).unwrap().unwrap().1, head.len());
    assert_eq!(whole(head), Ok(None));
    assert_eq!(parse_response(head, false, true), Err(ParseError::Truncated));
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    assert_eq!(ok(&format!("{interim}HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")).status, 201);
}

#[test]
fn a_body_until_the_close() {
    let bytes = b"HTTP/1.1 200 OK\r\n\r\nabc";
    assert_eq!(whole(bytes), Ok(None));
    let (response, used) = parse_response(bytes, false, true).unwrap().unwrap();
    assert_eq!((response.body.as_slice(), response.keep_alive, used), (&b"abc"[..], false, bytes.len()));
}

#[test]
fn what_follows_is_left_alone() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n";
    assert_eq!(whole(bytes).unwrap().unwrap().1, 39);
}

#[test]
fn keep_alive_by_version_and_token() {
    let table = [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: Upgrade , Close\r\n", false),
        ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", false),
        ("1.1", "Connection: closed\r\n", true),
        ("1.0", "", false),
        ("1.0", "connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
    ];
    for (version, headers, keep_alive) in table {
        let response = ok(&format!("HTTP/{version} 200 OK\r\n{headers}Content-Length: 0\r\n\r\n"));
        assert_eq!(response.keep_alive, keep_alive, "{version} {headers:?}");
    }
}

#[test]
fn malformed() {
    let chunked = "Transfer-Encoding: chunked\r\n";
    let table = [
        ("garbage\r\n\r\n".to_owned(), ParseError::StatusLine),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n".to_owned(), ParseError::StatusLine),
        ("HTTP/2.0 200 OK\r\n\r\n".to_owned(), ParseError::Head(httparse::Error::Version)),
        ("HTTP/1.1 2x0 OK\r\n\r\n".to_owned(), ParseError::Head(httparse::Error::Status)),
        ("HTTP/1.1 101 Go\r\n\r\n".to_owned(), ParseError::Upgrade),
        (with("Content-Length: 1\r\nContent-Length: 2\r\n"), ParseError::ContentLength),
        (with("Content-Length: 1, 2\r\n"), ParseError::ContentLength),
        (with("Content-Length: -1\r\n"), ParseError::ContentLength),
        (with("Content-Length: +1\r\n"), ParseError::ContentLength),
        (with("Content-Length:\r\n"), ParseError::ContentLength),
        (with("Content-Length: 1099511627777\r\n"), ParseError::BodyTooLong { bytes: BODY_BYTES_MAX + 1 }),
        (with("Content-Length: 18446744073709551615\r\n"), ParseError::BodyTooLong { bytes: u64::MAX }),
        (with("Content-Length: 18446744073709551618\r\n"), ParseError::BodyTooLong { bytes: u64::MAX }),
        (with("Content-Length: 18446744073709551618x\r\n"), ParseError::ContentLength),
        (with(&format!("Content-Length: 1\r\n{chunked}")), ParseError::TwoFramings),
        (with("Transfer-Encoding: gzip, chunked\r\n"), ParseError::TransferEncoding),
        (with(&format!("{chunked}{chunked}")), ParseError::TransferEncoding),
        (format!("HTTP/1.0 200 OK\r\n{chunked}\r\n"), ParseError::TransferEncoding),
        (with(chunked) + "x\r\n", ParseError::ChunkSize),
        (with(chunked) + "\r\n", ParseError::ChunkSize),
        (with(chunked) + "1\nabc", ParseError::ChunkSize),
        (with(chunked) + "00000000000000001\r\n", ParseError::ChunkSize),
        (with(chunked) + "FFFFFFFFFFFFFFFF\r", ParseError::BodyTooLong { bytes: u64::MAX }),
        (with(chunked) + "7fffffffffffffff;", ParseError::BodyTooLong { bytes: i64::MAX as u64 }),
        (with(chunked) + "10000000001\r", ParseError::BodyTooLong { bytes: BODY_BYTES_MAX + 1 }),
        (with(chunked) + "10000000000000002", ParseError::BodyTooLong { bytes: u64::MAX }),
        (with(chunked) + "1\r\nab\r\n", ParseError::ChunkEnd),
        (with(chunked) + "0\r\nno colon\r\n\r\n", ParseError::Trailers),
        (with(chunked) + "0\r\nX: " + &"y".repeat(TRAILER_BYTES_MAX), ParseError::Trailers),
        (with(chunked) + "1;" + &"y".repeat(CHUNK_LINE_BYTES_MAX + 1), ParseError::ChunkSize),
    ];
    for (bytes, error) in table {
        assert_eq!(whole(bytes.as_bytes()), Err(error), "{:?}", &bytes[..bytes.len().min(99)]);
    }
}

fn with(headers: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{headers}\r\n")
}

#[test]
fn a_length_that_is_announced_is_refused_by_its_value() {
    let refused = |headers: &str| whole(with(headers).as_bytes()).unwrap_err().to_string();
    assert_eq!(
        refused("Content-Length: 9223372036854775807\r\n"),
        "the response announces 9223372036854775807 bytes: no more than 1099511627776 are waited for"
    );
    assert_eq!(
        refused("Content-Length: 99999999999999999999\r\n"),
        "the response announces 18446744073709551615 bytes or more: no more than 1099511627776 are waited for"
    );
    // Nothing of the body comes, so nothing is waited for.
    let head = with("Content-Length: 18446744073709551615\r\n");
    assert!(parse_response(head.as_bytes(), true, false).unwrap().is_some());
    let mut reader = ResponseReader::new(false);
    for (bytes, least) in [
        (with("Content-Length: 1099511627776\r\n"), BODY_BYTES_MAX),
        (with("Content-Length: 1099511627776\r\n") + "abc", BODY_BYTES_MAX),
    ] {
        assert_eq!(reader.read(bytes.as_bytes()), Ok(None));
        assert_eq!(reader.announced(), Some(least));
    }
    let mut reader = ResponseReader::new(false);
    let chunks = with("Transfer-Encoding: chunked\r\n") + "2\r\nok\r\n10000000000\r\n!";
    assert_eq!(reader.read(chunks.as_bytes()), Ok(None));
    assert_eq!(reader.announced(), Some(2 + BODY_BYTES_MAX));
    let mut reader = ResponseReader::new(false);
    assert_eq!(reader.read(b"HTTP/1.1 200 OK\r\n\r\nabc"), Ok(None));
    assert_eq!(reader.announced(), None);
}

#[test]
fn what_was_read_of_a_body_is_forgotten() {
    let mut reader = ResponseReader::new(false);
    let mut bytes = b"HTTP/1.1 200 OK\r\nContent-Le".to_vec();
    assert!(!reader.has_begun());
    assert_eq!(reader.read(&bytes), Ok(None));
    reader.forget(&mut bytes);
    assert_eq!(bytes.len(), 27, "the head is read whole");
    bytes.extend(b"ngth: 5\r\n\r\nhe");
    assert_eq!(reader.read(&bytes), Ok(None));
    reader.forget(&mut bytes);
    assert_eq!((bytes.as_slice(), reader.has_begun()), (&b""[..], true));
    bytes.extend(b"lloHTTP");
    let (response, used) = reader.read(&bytes).unwrap().unwrap();
    assert_eq!((response.body.as_slice(), used), (&b"hello"[..], 3));
}

#[test]
fn equal_lengths_are_one() {
    let response = whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\nContent-Length: 1\r\n\r\na");
    assert_eq!(response.unwrap().unwrap().0.body, b"a");
}

#[test]
fn limits_are_errors_and_not_waiting() {
    let many = |count: usize| with(&"X: y\r\n".repeat(count));
    assert!(whole(many(HEADERS_MAX).as_bytes()).is_ok());
    assert_eq!(whole(many(HEADERS_MAX + 1).as_bytes()), Err(ParseError::TooManyHeaders));
    let long = |bytes: usize| {
        let frame = with("X: \r\nContent-Length: 0\r\n").len();
        with(&format!("X: {}\r\nContent-Length: 0\r\n", "y".repeat(bytes - frame)))
    };
    assert_eq!(whole(long(HEAD_BYTES_MAX).as_bytes()).unwrap().unwrap().1, HEAD_BYTES_MAX);
    assert_eq!(whole(long(HEAD_BYTES_MAX + 1).as_bytes()), Err(ParseError::HeadTooLong));
    assert!(whole("HTTP/1.1 200 ".repeat(9_999).as_bytes()).is_err());
}

/// Everything that the decoder reports of a stream of bytes, however it was split.
fn decode(pieces: &[&[u8]], is_head: bool) -> (Vec<Head>, Vec<u8>, Option<bool>, Option<ParseError>, bool) {
    let mut decoder = Decoder::default();
    decoder.start(is_head);
    let (mut heads, mut body, mut complete) = (vec![], vec![], None);
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match decoder.next(&mut rest) {
                Ok(Some(Piece::Head(head))) => heads.push(head),
                Ok(Some(Piece::Body(part))) => body.extend_from_slice(part),
                Ok(Some(Piece::Complete { keep_alive })) => complete = Some(keep_alive),
                Ok(None) => break,
                Err(error) => return (heads, body, complete, Some(error), false),
            }
        }
    }
    let eof = decoder.eof().is_ok();
    (heads, body, complete, None, eof)
}

fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Pieces that make right and nearly right responses.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 200 OK\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 204 No\r\n",
        "Content-Length: 5\r\n",
        "Content-Length: 7\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        "X: y\r\n",
        "\r\n",
        "\n",
        "5\r\nhello\r\n",
        "a;b=c\r\n0123456789\r\n",
        "0\r\n\r\n",
        "0\r\nT: u\r\n\r\n",
        "hello",
        "\r",
        ":",
        " ",
        "0",
        "HTTP/1.1 304 N\r\n",
    ]);
    prop_oneof![8 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..9)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same(
        fragments in prop::collection::vec(fragment(), 0..9),
        prefix in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        is_head in any::<bool>(),
    ) {
        let mut bytes = if prefix { b"HTTP/1.1 200 OK\r\n".to_vec() } else { vec![] };
        bytes.extend(fragments.concat());
        let whole = decode(&[&bytes], is_head);
        prop_assert_eq!(&decode(&cut(&bytes, &cuts), is_head), &whole);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&decode(&single, is_head), &whole);
    }
}
