//! A socket with the protocol on it: the handshake from either end, and then sealed messages.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde::{Serialize, de::DeserializeOwned};

use crate::frame::{FrameError, Frames, GREETING_BYTES_MAX, MESSAGE_BYTES_MAX, framed};
use crate::handshake::{Greeting, HandshakeError, Hello, Introduction, Refusal, greeting};
use crate::message::{self, BadMessage};
use crate::seal::{Broken, End, Seal};
use crate::token::{Token, TokenError};

/// The longest that a read waits, so that its thread notices other things.
const SLICE: Duration = Duration::from_millis(100);
/// Nothing that reads takes longer to make room.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const READ_BYTES: usize = 64 * 1024;

/// Why a connection is of no use any more.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("the connection was closed")]
    Closed,
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    #[error("it did not greet in time")]
    TooLate,
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Broken(#[from] Broken),
    #[error(transparent)]
    Message(#[from] BadMessage),
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    #[error(transparent)]
    Random(#[from] TokenError),
}

/// The half that sends.
#[derive(Debug)]
pub struct Sender {
    stream: TcpStream,
    seal: Seal,
}

/// The half that receives.
#[derive(Debug)]
pub struct Receiver {
    incoming: Incoming,
    seal: Seal,
}

#[derive(Debug)]
struct Incoming {
    stream: TcpStream,
    frames: Frames,
    buffer: Vec<u8>,
}

/// What an agent lets in.
pub struct Gate<'a> {
    pub token: &'a Token,
    pub tare: &'a str,
    /// Whether it may serve another run; called once the token is known to be right.
    pub claim: &'a dyn Fn() -> bool,
    /// Called before a wrong token is answered, so that guessing is slow.
    pub penalty: &'a dyn Fn(),
}

impl std::fmt::Debug for Gate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("tare", &self.tare).finish_non_exhaustive()
    }
}

impl Incoming {
    fn new(stream: TcpStream) -> io::Result<Incoming> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Incoming { stream, frames: Frames::new(GREETING_BYTES_MAX), buffer: vec![0; READ_BYTES] })
    }

    /// The next frame; absent if nothing comes for as long as a read waits. A process that was stopped reads what came meanwhile
    /// before it takes note of the time.
    fn frame(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        loop {
            if let Some(frame) = self.frames.take()? {
                return Ok(Some(frame));
            }
            match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err(LinkError::Closed),
                Ok(count) => self.frames.push(&self.buffer[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Ok(None);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(closed_or(error)),
            }
        }
    }

    /// The next message of a handshake.
    fn greeting(&mut self, deadline: Instant) -> Result<Greeting, LinkError> {
        loop {
            if Instant::now() >= deadline {
                return Err(LinkError::TooLate);
            }
            if let Some(frame) = self.frame_of_stranger(deadline)? {
                return Ok(greeting(&frame)?);
            }
        }
    }

    /// One byte at a time is no way to hold a connection open.
    fn frame_of_stranger(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, LinkError> {
        while Instant::now() < deadline {
            if let Some(frame) = self.frames.take()? {
                return Ok(Some(frame));
            }
            match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err(LinkError::Closed),
                Ok(count) => self.frames.push(&self.buffer[..count]),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(closed_or(error)),
            }
        }
        Ok(None)
    }

    fn send(&mut self, greeting: &Greeting) -> Result<(), LinkError> {
        Ok(self.stream.write_all(&framed(&message::write(greeting))?)?)
    }

    fn into_link(mut self, (own, other): (Seal, Seal)) -> Result<(Sender, Receiver), LinkError> {
        self.frames.set_limit(MESSAGE_BYTES_MAX);
        let stream = self.stream.try_clone()?;
        Ok((Sender { stream, seal: own }, Receiver { incoming: self, seal: other }))
    }
}

fn closed_or(error: io::Error) -> LinkError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            LinkError::Closed
        }
        _ => LinkError::Io(error),
    }
}

/// The handshake from the controller's end.
///
/// # Errors
/// The other end is of another version, does not have the token, or does not answer within `patience`.
pub fn greet(
    stream: TcpStream,
    token: &Token,
    tare: &str,
    patience: Duration,
) -> Result<(Sender, Receiver), LinkError> {
    let deadline = Instant::now() + patience;
    let mut incoming = Incoming::new(stream)?;
    let controller = Hello::new(tare)?;
    incoming.send(&Greeting::Hello(controller.clone()))?;
    let Greeting::Hello(agent) = incoming.greeting(deadline)? else { return Err(out_of_turn()) };
    let both = Introduction { controller: &controller, agent: &agent };
    both.check(End::Controller)?;
    incoming.send(&Greeting::Proof(both.proof(token, End::Controller)))?;
    match incoming.greeting(deadline)? {
        Greeting::Proof(proof) if both.is_proof(token, End::Agent, &proof) => {}
        Greeting::Proof(_) => return Err(HandshakeError::WrongToken.into()),
        Greeting::Refused(Refusal::WrongToken) => return Err(HandshakeError::TokenRefused.into()),
        Greeting::Refused(Refusal::Busy) => return Err(HandshakeError::Busy.into()),
        Greeting::Hello(_) => return Err(out_of_turn()),
    }
    incoming.into_link(both.seals(token, End::Controller))
}

/// The handshake from the agent's end.
///
/// # Errors
/// The other end is of another version, does not have the token, comes while the agent is busy, or does not answer within `patience`.
pub fn answer(
    stream: TcpStream,
    gate: &Gate<'_>,
    patience: Duration,
) -> Result<(Sender, Receiver), LinkError> {
    let deadline = Instant::now() + patience;
    let mut incoming = Incoming::new(stream)?;
    let Greeting::Hello(controller) = incoming.greeting(deadline)? else { return Err(out_of_turn()) };
    let agent = Hello::new(gate.tare)?;
    incoming.send(&Greeting::Hello(agent.clone()))?;
    let both = Introduction { controller: &controller, agent: &agent };
    both.check(End::Agent)?;
    let Greeting::Proof(proof) = incoming.greeting(deadline)? else { return Err(out_of_turn()) };
    if !both.is_proof(gate.token, End::Controller, &proof) {
        (gate.penalty)();
        let _gone = incoming.send(&Greeting::Refused(Refusal::WrongToken));
        return Err(HandshakeError::WrongToken.into());
    }
    if !(gate.claim)() {
        let _gone = incoming.send(&Greeting::Refused(Refusal::Busy));
        return Err(HandshakeError::Busy.into());
    }
    incoming.send(&Greeting::Proof(both.proof(gate.token, End::Agent)))?;
    incoming.into_link(both.seals(gate.token, End::Agent))
}

fn out_of_turn() -> LinkError {
    HandshakeError::NotOurs("a message out of turn".to_owned()).into()
}

impl Sender {
    /// Sends a message.
    ///
    /// # Errors
    /// It is too long, or the other end is gone.
    pub fn send<T: Serialize>(&mut self, message: &T) -> Result<(), LinkError> {
        let frame = framed(&self.seal.seal(&message::write(message)))?;
        self.stream.write_all(&frame).map_err(closed_or)
    }

    /// Ends the connection, for the half that receives too.
    pub fn close(&self) {
        let _was_closed = self.stream.shutdown(Shutdown::Both);
    }
}

impl Receiver {
    /// The next message; absent if none comes for [`Receiver::PATIENCE`].
    ///
    /// # Errors
    /// The other end is gone, or does not keep to the protocol.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, LinkError> {
        let Some(frame) = self.incoming.frame()? else { return Ok(None) };
        Ok(Some(message::read(self.seal.open(&frame)?)?))
    }

    /// How long [`Receiver::receive`] waits.
    pub const PATIENCE: Duration = SLICE;
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::message::{Order, Reply};

    fn token(of: &str) -> Token {
        Token::parse(&of.repeat(32)).unwrap()
    }

    type Ends = [Result<(Sender, Receiver), LinkError>; 2];

    /// Both ends of a handshake.
    fn both(controller: (&str, &str), agent: (&str, &str), may_serve: bool) -> Ends {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let patience = Duration::from_secs(10);
        std::thread::scope(|scope| {
            let agent = scope.spawn(move || {
                let token = token(agent.0);
                let gate = Gate { token: &token, tare: agent.1, claim: &|| may_serve, penalty: &|| {} };
                answer(listener.accept().unwrap().0, &gate, patience)
            });
            let stream = TcpStream::connect(address).unwrap();
            let controller = greet(stream, &token(controller.0), controller.1, patience);
            [controller, agent.join().unwrap()]
        })
    }

    fn refusals(ends: Ends) -> [String; 2] {
        ends.map(|end| end.unwrap_err().to_string())
    }

    #[test]
    fn two_ends_with_one_token_talk() {
        let [Ok((mut orders, _)), Ok((_, mut received))] = both(("a", "1"), ("a", "1"), true) else {
            panic!()
        };
        orders.send(&Order::Ping { sent_ns: 5 }).unwrap();
        orders.send(&Order::Bye).unwrap();
        assert_eq!(received.receive().unwrap(), Some(Order::Ping { sent_ns: 5 }));
        assert_eq!(received.receive().unwrap(), Some(Order::Bye));
        assert_eq!(received.receive::<Order>().unwrap(), None, "nothing more comes");
        orders.close();
        assert!(matches!(received.receive::<Order>(), Err(LinkError::Closed)));
    }

    #[test]
    fn another_token_version_or_run_is_refused_at_both_ends() {
        let [controller, agent] = refusals(both(("a", "1"), ("b", "1"), true));
        assert!(controller.contains("refuses the token") && agent.contains("does not have this run's token"));
        let [controller, agent] = refusals(both(("a", "1"), ("a", "2"), true));
        assert!(controller.contains("it is Tare 2, and this is Tare 1"), "{controller}");
        assert!(agent.contains("it is Tare 1, and this is Tare 2"), "{agent}");
        let [controller, _] = refusals(both(("a", "1"), ("a", "1"), false));
        assert_eq!(controller, "it serves another run");
    }

    #[test]
    fn an_agent_that_does_not_have_the_token_is_not_believed() {
        // It lets every controller in, and cannot show the token.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let liar = std::thread::spawn(move || {
            let mut incoming = Incoming::new(listener.accept().unwrap().0).unwrap();
            let deadline = Instant::now() + Duration::from_secs(10);
            incoming.greeting(deadline).unwrap();
            incoming.send(&Greeting::Hello(Hello::new("1").unwrap())).unwrap();
            let Greeting::Proof(proof) = incoming.greeting(deadline).unwrap() else { panic!() };
            incoming.send(&Greeting::Proof(proof)).unwrap();
            incoming
        });
        let refused = greet(TcpStream::connect(address).unwrap(), &token("a"), "1", Duration::from_secs(10));
        assert!(matches!(refused, Err(LinkError::Handshake(HandshakeError::WrongToken))), "{refused:?}");
        liar.join().unwrap();
    }

    #[test]
    fn a_stranger_that_says_nothing_or_little_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for slow in [false, true] {
            let began = Instant::now();
            let mut stranger = TcpStream::connect(address).unwrap();
            let (stream, _) = listener.accept().unwrap();
            let trickle = std::thread::spawn(move || {
                for _ in 0..if slow { 40 } else { 0 } {
                    let _closed = stranger.write_all(&[0]);
                    std::thread::sleep(Duration::from_millis(20));
                }
                stranger
            });
            let token = token("a");
            let gate = Gate { token: &token, tare: "1", claim: &|| true, penalty: &|| {} };
            assert!(answer(stream, &gate, Duration::from_millis(300)).is_err());
            assert!(began.elapsed() < Duration::from_secs(5));
            trickle.join().unwrap();
        }
    }

    #[test]
    fn a_message_that_is_not_sealed_ends_the_connection() {
        let [Ok((mut orders, _)), Ok((_, mut received))] = both(("a", "1"), ("a", "1"), true) else {
            panic!()
        };
        let plain = framed(&message::write(&Reply::WarmedUp)).unwrap();
        orders.stream.write_all(&plain).unwrap();
        assert!(matches!(received.receive::<Order>(), Err(LinkError::Broken(_))));
    }
}
