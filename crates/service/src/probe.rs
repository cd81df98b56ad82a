//! One question to a server, on a connection of its own: whether a service is ready, and what the right answer is.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use tare_load::{
    exchange::{Exchange, Expected, ExpectedBody},
    http1::{ParseError, Response, parse_response},
};

/// Every chunk is parsed together with all before it, so that small ones would make a large answer slow.
const CHUNK_BYTES: usize = 64 * 1024;

/// When a service is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Once it says anything: what verify asks for, which finds out by itself whether that is right.
    Speaks,
    /// Once it gives the right answer: what is measured as its start-up time.
    AnswersRightly,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The connection broke, or nothing came in time.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What came is not HTTP.
    #[error(transparent)]
    NotHttp(#[from] ParseError),
    /// The server closed without a word.
    #[error("the connection was closed without an answer")]
    Closed,
}

/// Asks once, on a connection of its own. Nothing is waited for longer than `patience`: while a service is asked its
/// death is not noticed.
pub fn ready(target: SocketAddr, exchange: &Exchange, readiness: Readiness, patience: Duration) -> bool {
    let asked = || -> Result<bool, AskError> {
        let mut stream = TcpStream::connect_timeout(&target, patience)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_nodelay(true)?;
        if readiness == Readiness::Speaks {
            stream.write_all(&exchange.request)?;
            return Ok(stream.read(&mut [0; 4096])? > 0);
        }
        Ok(is_right(&exchange.expected, &ask(&mut stream, exchange)?))
    };
    asked().unwrap_or(false)
}

/// Sends the request and reads its whole answer, whatever that is.
pub fn ask(stream: &mut (impl Read + Write), exchange: &Exchange) -> Result<Response, AskError> {
    stream.write_all(&exchange.request)?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 && bytes.is_empty() {
            return Err(AskError::Closed);
        }
        bytes.extend_from_slice(&chunk[..count]);
        match parse_response(&bytes, exchange.is_head, count == 0)? {
            Some((response, _)) => return Ok(response),
            None if count == 0 => return Err(AskError::Closed),
            None => {}
        }
    }
}

/// Whether a response is the one that is expected.
pub fn is_right(expected: &Expected, response: &Response) -> bool {
    let right_body = match &expected.body {
        ExpectedBody::Any => true,
        ExpectedBody::Exact(body) => *body == response.body,
        ExpectedBody::Json(value) => {
            serde_json::from_slice(&response.body).is_ok_and(|got: serde_json::Value| got == *value)
        }
    };
    right_body && response.status == expected.status
}
