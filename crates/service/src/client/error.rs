//! Why a request has no answer.

use std::{io, time::Duration};

use rustix::io::Errno;
use tare_load::{Protocol, http1::ParseError};

use super::ANSWER_BYTES_MAX;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    NotHttp(#[from] ParseError),
    #[error("the connection was closed without an answer")]
    Closed,
    #[error("the answer was not complete within {within:?}{}", meanwhile(*.bytes))]
    TooLate { within: Duration, bytes: usize },
    #[error("the answer has no end: more than {ANSWER_BYTES_MAX} bytes came without a whole one")]
    TooLong,
    #[error("the answer has a body of {0} bytes or more, and no more than {ANSWER_BYTES_MAX} are read")]
    Announced(u64),
    #[error("interrupted")]
    Interrupted,
    #[error("TLS: {0}")]
    Tls(Box<rustls::Error>),
    #[error("the connection was closed within the TLS handshake")]
    NotSecured,
    #[error("ALPN chose {got} instead of {wanted}")]
    Alpn { wanted: Protocol, got: Box<str> },
    #[error("HTTP/2: {0}")]
    Http2(Box<str>),
}

/// What came in vain, which tells a server that floods from one that is silent.
fn meanwhile(bytes: usize) -> String {
    match bytes {
        0 => String::new(),
        1 => ": 1 byte came".to_owned(),
        bytes => format!(": {bytes} bytes came"),
    }
}

impl From<rustls::Error> for AskError {
    fn from(error: rustls::Error) -> AskError {
        AskError::Tls(Box::new(error))
    }
}

impl From<Errno> for AskError {
    fn from(error: Errno) -> AskError {
        AskError::Io(error.into())
    }
}
