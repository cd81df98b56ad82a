//! Why a request has no answer.

use std::{io, time::Duration};

use rustix::io::Errno;
use tare_load::{
    TlsError,
    http1::{Malformed, Progress},
};

use super::ANSWER_BYTES_MAX;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    NotHttp(#[from] Malformed),
    #[error("the connection was closed without an answer")]
    Closed,
    #[error("the connection was closed within the answer: {0}")]
    Cut(Progress),
    /// `bytes` counts all layers; `progress` describes the answer itself.
    #[error("the answer was not complete within {within:?}{}", meanwhile(*.bytes, *.progress))]
    TooLate { within: Duration, bytes: usize, progress: Option<Progress> },
    #[error("the answer has no end: more than {ANSWER_BYTES_MAX} bytes came without a whole one")]
    TooLong,
    #[error("the answer has a body of {0} bytes or more, and no more than {ANSWER_BYTES_MAX} are read")]
    Announced(u64),
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Tls(#[from] Box<TlsError>),
    #[error("HTTP/2: {0}")]
    Http2(#[from] ClientHttp2Error),
    #[error(transparent)]
    NotHttp2(#[from] NotHttp2),
    /// The protocol that the port speaks instead, with the fix.
    #[error("{0}")]
    OtherProtocol(String),
}

/// An HTTP/2 error. Codes are those of RFC 9113, section 7, such as `PROTOCOL_ERROR`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientHttp2Error {
    #[error("the server sent what RFC 9113 forbids, or too much of what it allows: {0}")]
    Refused(Box<str>),
    #[error("the server ended the request by RST_STREAM with {0}")]
    Reset(Box<str>),
    #[error("the server ended the connection by GOAWAY with {0}")]
    GoAway(Box<str>),
    #[error("the request has no form in HTTP/2")]
    Request,
    #[error("{0}")]
    Other(Box<str>),
}

/// The bytes received instead of the first HTTP/2 frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server does not speak HTTP/2 there: it sent `{}`", .got.escape_ascii())]
pub struct NotHttp2 {
    pub got: Vec<u8>,
}

/// The amount received so far, which distinguishes a flooding server from a silent one.
fn meanwhile(bytes: usize, progress: Option<Progress>) -> String {
    match (progress, bytes) {
        (Some(Progress::Nothing), _) | (None, 0) => String::new(),
        (Some(progress), _) => format!(": {progress}"),
        (None, 1) => ": 1 byte came".to_owned(),
        (None, bytes) => format!(": {bytes} bytes came"),
    }
}

impl AskError {
    /// The error with the progress of the answer.
    pub(super) fn after(self, progress: Progress) -> AskError {
        match self {
            AskError::TooLate { within, bytes, .. } => {
                AskError::TooLate { within, bytes, progress: Some(progress) }
            }
            other => other,
        }
    }
}

impl From<TlsError> for AskError {
    fn from(error: TlsError) -> AskError {
        AskError::Tls(Box::new(error))
    }
}

impl From<rustls::Error> for AskError {
    fn from(error: rustls::Error) -> AskError {
        TlsError::from(error).into()
    }
}

impl From<Errno> for AskError {
    fn from(error: Errno) -> AskError {
        AskError::Io(error.into())
    }
}
