//! The head of a collector's answer, as a job parses it. No I/O; it accepts only what a collector sends.

use super::{MESSAGE_BYTES_MAX, proof::PROOF};

/// The size limit of a head: a collector sends a few hundred bytes, and a proxy adds few.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerHead {
    pub status: u16,
    /// The proof; `None` if the sender does not have the token.
    pub proof: Option<String>,
    pub body_bytes: usize,
    /// The length of the head.
    pub bytes: usize,
}

/// Why bytes are no head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error("it does not speak HTTP/1.1: {0}")]
    NotHttp(String),
    #[error("its answer has a head of more than {HEAD_BYTES_MAX} bytes")]
    HeadTooLong,
    #[error("its answer does not say how long it is")]
    NoLength,
    #[error("its answer has {0} bytes")]
    TooLong(u64),
}

/// Parses a head; `None` if it is incomplete. Status 100 only means that the body may be sent.
///
/// # Errors
/// It is no answer of a collector.
pub fn answer_head(bytes: &[u8]) -> Result<Option<AnswerHead>, AnswerError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(bytes).map_err(|error| AnswerError::NotHttp(error.to_string()))?;
    let httparse::Status::Complete(head_bytes) = parsed else {
        return if bytes.len() < HEAD_BYTES_MAX { Ok(None) } else { Err(AnswerError::HeadTooLong) };
    };
    if head_bytes > HEAD_BYTES_MAX {
        return Err(AnswerError::HeadTooLong);
    }
    let header = |name: &str| {
        let found = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
    };
    let status = response.code.unwrap_or_default();
    let body_bytes = match status {
        100..200 => 0,
        _ => {
            let length = header("content-length").and_then(|length| length.parse::<u64>().ok());
            let length = length.ok_or(AnswerError::NoLength)?;
            let fits = usize::try_from(length).ok().filter(|length| *length <= MESSAGE_BYTES_MAX);
            fits.ok_or(AnswerError::TooLong(length))?
        }
    };
    Ok(Some(AnswerHead { status, proof: header(PROOF).map(str::to_owned), body_bytes, bytes: head_bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_once_its_head_is_complete() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTare-Proof: 00ff\r\n\r\nhello";
        let head = answer_head(text).unwrap().unwrap();
        assert_eq!((head.status, head.proof.as_deref(), head.body_bytes), (200, Some("00ff"), 5));
        assert_eq!(&text[head.bytes..], b"hello");
        for end in 0..head.bytes {
            assert_eq!(answer_head(&text[..end]), Ok(None), "{end}");
        }
        let go_on = answer_head(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap().unwrap();
        assert_eq!((go_on.status, go_on.body_bytes, go_on.proof), (100, 0, None));
    }

    #[test]
    fn what_no_collector_sends_is_refused() {
        let error = |text: &str| answer_head(text.as_bytes()).unwrap_err().to_string();
        insta::assert_snapshot!(error("SSH-2.0-OpenSSH_9\r\n"), @"it does not speak HTTP/1.1: invalid HTTP version");
        insta::assert_snapshot!(error("HTTP/1.1 200 OK\r\n\r\n"), @"its answer does not say how long it is");
        insta::assert_snapshot!(error("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), @"its answer has 99999999999 bytes");
        let long = format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(HEAD_BYTES_MAX));
        insta::assert_snapshot!(error(&long), @"its answer has a head of more than 16384 bytes");
    }
}
