//! One request to a server, on a connection of its own: to find out whether a service is ready, or what it answers.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use tare_load::{
    exchange::{Exchange, Expected, ExpectedBody},
    http1::{ParseError, Response, parse_response},
};

/// Each chunk is parsed together with all previous ones, so small chunks would make a large answer slow.
const CHUNK_BYTES: usize = 64 * 1024;

/// When a service is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Once it sends anything. Verify uses this, as it checks by itself whether the answer is correct.
    Speaks,
    /// Once it gives the correct answer. The start-up time is measured so.
    AnswersRightly,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The connection broke, or no answer arrived in time.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The answer is not HTTP.
    #[error(transparent)]
    NotHttp(#[from] ParseError),
    /// The server closed without an answer.
    #[error("the connection was closed without an answer")]
    Closed,
}

/// Asks once, on a connection of its own. No step takes longer than `patience`, since the end of the service is not noticed
/// meanwhile.
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

/// Sends the request and reads the whole answer.
///
/// # Errors
/// The connection breaks, times out or is closed without a complete answer, or the answer is not HTTP/1.1.
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

/// Whether a response has the expected status and body.
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
