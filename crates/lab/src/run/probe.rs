//! Whether a service answers a request of its contract rightly: the question that tells when it is ready.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use tare_load::{
    exchange::{Exchange, ExpectedBody},
    http1::parse_response,
};

/// A fresh service may need long for its first answer, but while it is asked its death is not noticed.
const PATIENCE: Duration = Duration::from_secs(1);

/// Asks once, on a connection of its own.
pub fn answers(target: SocketAddr, exchange: &Exchange) -> bool {
    ask(target, exchange).unwrap_or(false)
}

fn ask(target: SocketAddr, exchange: &Exchange) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&target, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    stream.write_all(&exchange.request)?;
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut chunk)?;
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
