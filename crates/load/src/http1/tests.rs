//! Tables of responses, and the property that the split of the bytes does not matter.

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
    assert_eq!((plain.status, plain.version, plain.keep_alive), (200, StatusLineVersion::Http11, true));
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

#[test]
fn what_the_rfc_accepts_is_accepted() {
    let folded = ok("HTTP/1.1 200 OK\r\nX-A: a\r\n  b\r\n\tc \r\nContent-Length:\r\n 3\r\nY:\r\n\r\nabc");
    let fields = [("X-A", "a b c"), ("Content-Length", "3"), ("Y", "")];
    assert_eq!(
        folded.headers,
        fields.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())),
        "a fold is a space (RFC 9112, 5.2)"
    );
    for version in ["1.2", "1.9"] {
        let later = ok(&format!("HTTP/{version} 200 OK\r\nContent-Length: 2\r\n\r\nok"));
        assert_eq!(
            (later.version, later.keep_alive, later.body.as_slice()),
            (StatusLineVersion::Http11, true, &b"ok"[..])
        );
    }
    let many = "X: y\r\n".repeat(1_000);
    for begin in ["HTTP/1.1 200 OK\r\n", "HTTP/1.2 200 OK\r\n"] {
        assert_eq!(ok(&format!("{begin}{many}Content-Length: 1\r\n\r\na")).headers.len(), 1_001);
    }
}

#[test]
fn a_fold_hides_no_framing() {
    for (headers, error) in [
        ("Content-Length: 1\r\n 2\r\n", ParseError::ContentLength),
        ("Transfer-Encoding: chunked\r\n gzip\r\n", ParseError::TransferEncoding),
        (" X: y\r\n", ParseError::Head(httparse::Error::HeaderName)),
    ] {
        assert_eq!(whole(with(headers).as_bytes()), Err(error), "{headers:?}");
    }
    let close = ok("HTTP/1.1 200 OK\r\nConnection: x,\r\n close\r\nContent-Length: 0\r\n\r\n");
    assert!(!close.keep_alive);
}

/// The error text for these bytes.
fn said(bytes: &str, to_head: bool) -> String {
    let mut reader = ResponseReader::new(to_head);
    let error = reader.read(bytes.as_bytes()).unwrap_err();
    reader.malformed(error, bytes.as_bytes()).to_string()
}

#[test]
fn a_mistake_names_its_rule_and_shows_its_bytes() {
    let long = "X: y\r\n".repeat(90);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    for (bytes, rule, shown) in [
        (with(&format!("{long}no colon\r\n{long}")), "(RFC 9112, 5)", "`no colon\\r\\n`"),
        (with(&format!("{long}X: a\0b\r\n")), "(RFC 9110, 5.5)", "`X: a\\x00b\\r\\n`"),
        ("HTTP/2.0 200 OK\r\n\r\n".to_owned(), "(RFC 9112, 2.3)", "`HTTP/2.0 200 OK\\r\\n"),
        ("HTTP/1.1 099 OK\r\n\r\n".to_owned(), "(RFC 9112, 4)", "`HTTP/1.1 099 OK"),
        ("http/1.1 200 OK\r\n\r\n".to_owned(), "(RFC 9112, 2.3)", "`http/1.1 200 OK\\r\\n\\r\\n`"),
        (
            with(&format!("{long}Content-Length: 5\r\n{long}content-length: 6\r\n")),
            "(RFC 9112, 6.3)",
            "`Content-Length: 5\\r\\ncontent-length: 6\\r\\n`",
        ),
        (format!("{chunked}-5\r\nhello\r\n"), "(RFC 9112, 7.1)", "5\\r\\nhello\\r\\n-5\\r\\nhello\\r\\n`"),
        // 48 bytes before the error is the middle of the end of the first line.
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello\r\n".to_owned(),
            "no more than",
            "it sent `Transfer-Encoding: chunked\\r\\n\\r\\nffffffffffffffff\\r\\nhello\\r\\n`",
        ),
        ("\x15\x03\x03\0\x02\x02\x28".to_owned(), "the port speaks TLS", "`\\x15\\x03\\x03\\x00\\x02\\x02(`"),
        ("\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64".to_owned(), "a frame of HTTP/2", "\\x04"),
    ] {
        let said = said(&bytes, false);
        assert!(said.contains(rule) && said.contains(shown), "{said}");
    }
    let behind = |status, to_head| Malformed::left_over(status, to_head, b"hello").to_string();
    assert_eq!(
        behind(204, false),
        "bytes follow the answer with status 204, which has no content (RFC 9110, 6.4.1); it sent `hello`"
    );
    assert!(behind(304, false).contains("status 304"));
    assert!(behind(200, true).contains("the answer to HEAD, which has no content (RFC 9110, 6.4.1)"));
    assert!(behind(200, false).contains("where its length or its last chunk says (RFC 9112, 6.3)"));
}

#[test]
fn how_much_came_is_known_wherever_it_stops() {
    let chunked = with("Transfer-Encoding: chunked\r\n");
    for (bytes, came) in [
        (String::new(), "nothing came"),
        ("HTTP/1.1 2".to_owned(), "10 bytes of the head came"),
        ("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), "only interim heads (1xx) came"),
        (with("Content-Length: 100\r\n") + "abc", "status 200 and 3 of 100 bytes of the body came"),
        (chunked + "5\r\nhello\r\n3\r\na", "status 200 and 6 bytes of the body came, and not its end"),
        (with("") + "a", "status 200 and 1 byte of the body came, and not its end"),
    ] {
        for pieces in [bytes.len().max(1), 1] {
            let mut decoder = Decoder::default();
            decoder.start(false);
            for mut piece in bytes.as_bytes().chunks(pieces) {
                while decoder.next(&mut piece).unwrap().is_some() {}
            }
            assert_eq!(decoder.progress().to_string(), came, "{bytes:?}");
        }
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
    // No byte of the body arrives, so the reader need not wait.
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
        "HTTP/1.2 200 OK\r\n",
        " folded\r\n",
        "\tfolded\n",
        "Content-Length:\r\n 5\r\n",
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
        if let Some(error) = whole.3 {
            // Whatever the error, the shown bytes are part of the received ones.
            let shown = Malformed::new(error, &bytes, bytes.len()).got;
            prop_assert!(shown.is_empty() || bytes.windows(shown.len()).any(|window| window == shown)
                || matches!(error, ParseError::ContentLength | ParseError::TwoFramings | ParseError::TransferEncoding));
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&decode(&single, is_head), &whole);
    }
}
