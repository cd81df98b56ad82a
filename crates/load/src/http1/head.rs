//! The head of a response: what its status line and headers say about the framing of the body and about the
//! connection. The module knows nothing of bodies themselves.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use super::{HEAD_BYTES_MAX, HEADERS_MAX, ParseError, StatusLineVersion, bearable};

/// The properties of a head that matter to the rest of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Status code.
    pub status: u16,
    /// Version.
    pub version: StatusLineVersion,
    /// How the body ends.
    pub framing: Framing,
    /// Whether the connection can carry another request.
    pub keep_alive: bool,
    /// Bytes of the head, including its empty line.
    pub len: usize,
}

/// How the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is no body, whatever the headers say.
    None,
    /// After this number of bytes.
    Length(u64),
    /// With the last chunk.
    Chunked,
    /// With the connection.
    UntilClose,
}

/// The header fields that decide the framing, collected in one pass.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

/// The first bytes of a response.
const BEGIN: &[u8] = b"HTTP/";
/// The first bytes up to the minor version.
const MAJOR: &[u8] = b"HTTP/1.";
/// The number of headers that are read without an allocation.
const USUAL_HEADERS_MAX: usize = 128;

type Parsed<'a> = httparse::Response<'a, 'a>;

/// Parses the head at the beginning of `bytes`; `None` if it is incomplete.
pub(super) fn parse(bytes: &[u8], request_is_head: bool) -> Result<Option<Head>, ParseError> {
    with_parsed(bytes, |parsed, len| {
        let mut fields = Fields::default();
        for header in parsed.headers.iter() {
            fields.take(header)?;
        }
        judge(parsed, &fields, len, request_is_head)
    })
}

/// All fields of a complete head.
pub(super) fn fields(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, ParseError> {
    let fields = with_parsed(bytes, |parsed, _| {
        Ok(parsed.headers.iter().map(|header| (header.name.to_owned(), unfolded(header.value))).collect())
    })?;
    fields.ok_or(ParseError::Truncated)
}

/// Replaces each line fold in a value by a space (RFC 9112, 5.2).
fn unfolded(value: &[u8]) -> Vec<u8> {
    if !value.contains(&b'\n') {
        return value.to_vec();
    }
    let lines = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(&b' ')
}

fn config() -> httparse::ParserConfig {
    let mut config = httparse::ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    config
}

#[inline]
fn with_parsed<T>(
    bytes: &[u8],
    read: impl FnOnce(&Parsed<'_>, usize) -> Result<T, ParseError>,
) -> Result<Option<T>, ParseError> {
    let common = bytes.len().min(BEGIN.len());
    if bytes[..common] != BEGIN[..common] {
        return Err(ParseError::StatusLine);
    }
    // Never looks past the limit, so that the same bytes give the same error however they were split.
    let window = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    // Not initialised: 4 KiB of writes would cost as much as reading a usual head.
    let mut headers = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; USUAL_HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut []);
    match config().parse_response_with_uninit_headers(&mut parsed, window, &mut headers) {
        Ok(httparse::Status::Complete(len)) => read(&parsed, len).map(Some),
        Ok(httparse::Status::Partial) => partial(window),
        Err(error) => with_parsed_anew(window, error, read),
    }
}

/// Parses rare heads a second time: those with many headers, and those of a later version.
#[cold]
fn with_parsed_anew<T>(
    window: &[u8],
    error: httparse::Error,
    read: impl FnOnce(&Parsed<'_>, usize) -> Result<T, ParseError>,
) -> Result<Option<T>, ParseError> {
    let mut headers = vec![httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut headers);
    let as_1_1 = match error {
        httparse::Error::TooManyHeaders => Cow::Borrowed(window),
        httparse::Error::Version => Cow::Owned(read_as_1_1(window).ok_or(ParseError::Head(error))?),
        error => return Err(ParseError::Head(error)),
    };
    match config().parse_response(&mut parsed, &as_1_1) {
        Ok(httparse::Status::Complete(len)) => read(&parsed, len).map(Some),
        Ok(httparse::Status::Partial) => partial(window),
        Err(httparse::Error::TooManyHeaders) => Err(ParseError::TooManyHeaders),
        Err(error) => Err(ParseError::Head(error)),
    }
}

fn partial<T>(window: &[u8]) -> Result<Option<T>, ParseError> {
    if window.len() == HEAD_BYTES_MAX { Err(ParseError::HeadTooLong) } else { Ok(None) }
}

/// A later minor version of HTTP/1 is read as the latest one that is known (RFC 9110, 2.5).
fn read_as_1_1(window: &[u8]) -> Option<Vec<u8>> {
    let minor = window.strip_prefix(MAJOR)?.first()?;
    matches!(minor, b'2'..=b'9').then(|| [MAJOR, b"1", &window[MAJOR.len() + 1..]].concat())
}

impl Fields {
    fn take(&mut self, header: &httparse::Header<'_>) -> Result<(), ParseError> {
        let name = header.name;
        // The length is compared first: it distinguishes most headers without a look at their letters.
        match name.len() {
            10 if name.eq_ignore_ascii_case("connection") => self.connection(header.value),
            14 if name.eq_ignore_ascii_case("content-length") => self.content_length(header.value)?,
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if self.chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err(ParseError::TransferEncoding);
                }
                self.chunked = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) {
        for token in value.split(|&byte| byte == b',') {
            let token = token.trim_ascii();
            self.close |= token.eq_ignore_ascii_case(b"close");
            self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// A list of equal numbers is one number (RFC 9112, 6.3): a proxy may have merged two fields.
    fn content_length(&mut self, value: &[u8]) -> Result<(), ParseError> {
        for part in value.split(|&byte| byte == b',') {
            let number = decimal(part.trim_ascii()).ok_or(ParseError::ContentLength)?;
            if self.length.is_some_and(|length| length != number) {
                return Err(ParseError::ContentLength);
            }
            self.length = Some(number);
        }
        Ok(())
    }
}

/// The value of `digits`, or `u64::MAX` if it is larger.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })
}

fn judge(
    parsed: &Parsed<'_>,
    fields: &Fields,
    len: usize,
    request_is_head: bool,
) -> Result<Head, ParseError> {
    // A complete parse has both; httparse gives 0 for HTTP/1.0.
    let status = parsed.code.unwrap_or_default();
    let version =
        if parsed.version == Some(0) { StatusLineVersion::Http10 } else { StatusLineVersion::Http11 };
    if status < 100 {
        return Err(ParseError::Head(httparse::Error::Status));
    }
    if status == 101 {
        return Err(ParseError::Upgrade);
    }
    if fields.chunked && fields.length.is_some() {
        return Err(ParseError::TwoFramings);
    }
    if fields.chunked && version == StatusLineVersion::Http10 {
        return Err(ParseError::TransferEncoding);
    }
    let framing = match status {
        _ if request_is_head => Framing::None,
        100..200 | 204 | 304 => Framing::None,
        _ if fields.chunked => Framing::Chunked,
        _ => match fields.length {
            Some(length) => Framing::Length(bearable(length)?),
            None => Framing::UntilClose,
        },
    };
    let wanted = match version {
        StatusLineVersion::Http11 | StatusLineVersion::Http2 => !fields.close,
        StatusLineVersion::Http10 => fields.keep_alive && !fields.close,
    };
    let keep_alive = wanted && framing != Framing::UntilClose;
    Ok(Head { status, version, framing, keep_alive, len })
}
