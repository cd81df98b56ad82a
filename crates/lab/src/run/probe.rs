//! Whether a service answers a request of its contract: the question that tells when it is ready.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use tare_load::{
    exchange::{Exchange, ExpectedBody},
    http1::parse_response,
};

/// When a service is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Once it says anything: what verify asks for, which finds out by itself whether that is right.
    Speaks,
    /// Once it gives the right answer: what is measured as its start-up time.
    AnswersRightly,
}

/// Asks once, on a connection of its own. Nothing is waited for longer than `patience`: while a service is asked its
/// death is not noticed.
pub fn ready(target: SocketAddr, exchange: &Exchange, readiness: Readiness, patience: Duration) -> bool {
    ask(target, exchange, readiness, patience).unwrap_or(false)
}

fn ask(
    target: SocketAddr,
    exchange: &Exchange,
    readiness: Readiness,
    patience: Duration,
) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&target, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_nodelay(true)?;
    stream.write_all(&exchange.request)?;
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut chunk)?;
        if readiness == Readiness::Speaks {
            return Ok(count > 0);
        }
        bytes.extend_from_slice(&chunk[..count]);
        match parse_response(&bytes, exchange.is_head, count == 0) {
            Ok(Some((response, _))) => {
                let right_body = match &exchange.expected.body {
                    ExpectedBody::Any => true,
                    ExpectedBody::Exact(body) => *body == response.body,
                    ExpectedBody::Json(value) => serde_json::from_slice(&response.body)
                        .is_ok_and(|got: serde_json::Value| got == *value),
                };
                return Ok(right_body && response.status == exchange.expected.status);
            }
            Ok(None) if count > 0 => {}
            Ok(None) | Err(_) => return Ok(false),
        }
    }
}
