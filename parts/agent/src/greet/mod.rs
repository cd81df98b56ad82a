//! The beginning of a connection: the TLS handshake, which authenticates both sides, and a comparison of
//! their versions.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};
use serde_json::json;

use crate::frame::framed;
use crate::link::{ConnectionError, Receiver, Sender, closed_or, is_pause, open, set_waits};
use crate::message::{self, Greeting};
use crate::tls::PROTOCOL;

/// What an agent requires of a controller.
pub struct ControllerRequirement<'a> {
    /// The configuration from [`crate::tls::agent`].
    pub tls: &'a Arc<ServerConfig>,
    pub tare: &'a str,
    /// Whether the agent can serve another run; called after authentication and the version check.
    pub claim: &'a dyn Fn() -> bool,
}

impl std::fmt::Debug for ControllerRequirement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControllerRequirement").field("tare", &self.tare).finish_non_exhaustive()
    }
}

/// The controller's side; `tls` is the configuration from [`crate::tls::controller`].
///
/// # Errors
/// The peer has another version, lacks the token, serves another run, or does not answer within `patience`.
pub fn greet(
    stream: TcpStream,
    tls: &Arc<ClientConfig>,
    tare: &str,
    patience: Duration,
) -> Result<(Sender, Receiver), ConnectionError> {
    let deadline = Instant::now() + patience;
    set_waits(&stream)?;
    // An address, so that the ClientHello contains no name: the key identifies the agent.
    let name = ServerName::from(stream.peer_addr()?.ip());
    let tls = ClientConnection::new(Arc::clone(tls), name)?;
    let opened = open(Arc::new(stream), tls.into(), deadline);
    let (mut sender, mut receiver) = opened.map_err(|error| match error {
        ConnectionError::Closed => ConnectionError::Unanswered,
        other => other,
    })?;
    sender.send(&Greeting::Hello { tare: tare.to_owned() })?;
    match first(&mut receiver, deadline)? {
        Greeting::Hello { tare: theirs } => compare(tare, &theirs)?,
        Greeting::Busy => return Err(ConnectionError::Busy),
    }
    Ok((sender, receiver))
}

/// The agent's side.
///
/// # Errors
/// The peer has another version, lacks the token, arrives while the agent is busy, or does not answer within
/// `patience`.
pub fn answer(
    stream: Arc<TcpStream>,
    gate: &ControllerRequirement<'_>,
    patience: Duration,
) -> Result<(Sender, Receiver), ConnectionError> {
    let deadline = Instant::now() + patience;
    set_waits(&stream)?;
    if is_without_tls(&stream, deadline)? {
        return Err(refuse_without_tls(&stream, gate.tare));
    }
    let tls = ServerConnection::new(Arc::clone(gate.tls))?;
    let (mut sender, mut receiver) = open(stream, tls.into(), deadline)?;
    let Greeting::Hello { tare: theirs } = first(&mut receiver, deadline)? else {
        return Err(ConnectionError::OutOfTurn);
    };
    let compared = compare(gate.tare, &theirs);
    if compared.is_ok() && !(gate.claim)() {
        let _gone = sender.send(&Greeting::Busy);
        return Err(ConnectionError::Busy);
    }
    sender.send(&Greeting::Hello { tare: gate.tare.to_owned() })?;
    compared.map(|()| (sender, receiver))
}

fn first(receiver: &mut Receiver, deadline: Instant) -> Result<Greeting, ConnectionError> {
    while Instant::now() < deadline {
        if let Some(greeting) = receiver.receive()? {
            return Ok(greeting);
        }
    }
    Err(ConnectionError::TooLate)
}

fn compare(ours: &str, theirs: &str) -> Result<(), ConnectionError> {
    match ours == theirs {
        true => Ok(()),
        false => Err(ConnectionError::Version { ours: shown(ours), theirs: shown(theirs) }),
    }
}

/// A text from the peer without control characters, for a message.
fn shown(word: &str) -> String {
    const CHARS_MAX: usize = 40;
    word.chars().take(CHARS_MAX).flat_map(char::escape_default).collect()
}

/// Whether the peer speaks `tare-agent/1`, which has no TLS. That protocol begins with the length of a message, whose first byte is
/// zero; no record of TLS begins with a zero.
fn is_without_tls(stream: &TcpStream, deadline: Instant) -> Result<bool, ConnectionError> {
    let mut byte = [0];
    while Instant::now() < deadline {
        match stream.peek(&mut byte) {
            Ok(0) => return Err(ConnectionError::Closed),
            Ok(_) => return Ok(byte == [0]),
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(closed_or(error)),
        }
    }
    Err(ConnectionError::TooLate)
}

/// Answers a controller of `tare-agent/1` in its own format. It then prints the two protocol versions and what to do.
fn refuse_without_tls(mut stream: &TcpStream, tare: &str) -> ConnectionError {
    let hello = json!({ "hello": { "protocol": PROTOCOL, "tare": tare, "nonce": "" } });
    // Unread bytes would make the kernel reset the connection, and the answer would be lost.
    let _read = stream.read(&mut [0; 4_096]);
    let told = framed(&message::write(&hello)).map(|frame| stream.write_all(&frame));
    drop(told);
    ConnectionError::Protocol
}

#[cfg(test)]
mod tests;
