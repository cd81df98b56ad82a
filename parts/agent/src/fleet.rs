//! The connections of a controller to its agents: it collects their messages, and checks that they are alive.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::ClientConfig;
use tare_base::{Clock, Monotonic};

use crate::align::{AgentClock, RoundTrip};
use crate::control_error::ControlError;
use crate::greet::greet;
use crate::link::{ConnectionError, Receiver, Sender};
use crate::message::{AgentDescription, ControllerMessage, Reply};
use crate::tls;
use crate::token::Token;

/// The longest wait for an event.
const WAIT: Duration = Duration::from_millis(20);
/// The longest normal pause between two checks for events. A longer one means that this process was stopped
/// or had no CPU, and says nothing about agents.
const AWAY_NS: u64 = 500_000_000;
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Longer than unauthenticated connections can keep an agent busy.
const GREETING_MAX: Duration = Duration::from_secs(10);

/// How often agents are asked for their time, and when they count as lost.
#[derive(Debug, Clone, Copy)]
pub struct PollTimes {
    pub heartbeat: Duration,
    pub silence: Duration,
}

impl Default for PollTimes {
    fn default() -> PollTimes {
        PollTimes { heartbeat: Duration::from_millis(250), silence: Duration::from_secs(10) }
    }
}

#[derive(Debug)]
enum Event {
    Reply(Box<Reply>, u64),
    Ended(String),
}

#[derive(Debug)]
pub(crate) struct Remote {
    /// The address as given by the user.
    pub(crate) address: String,
    pub(crate) about: AgentDescription,
    pub(crate) clock: AgentClock,
    /// The longest response time since the last reset.
    pub(crate) silent_ns: u64,
    /// The last start it was given, by its own clock.
    pub(crate) given_ns: u64,
    sender: Sender,
    heard_ns: u64,
    pongs: usize,
    reader: Option<JoinHandle<()>>,
}

#[derive(Debug)]
pub(crate) struct Fleet {
    pub(crate) remotes: Vec<Remote>,
    events: mpsc::Receiver<(usize, Event)>,
    times: PollTimes,
    next_ping_ns: u64,
    looked_ns: u64,
    /// Questions sent before this time are ignored when silence is measured.
    trusted_ns: u64,
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Fleet {
    pub(crate) fn connect(
        addresses: &[String],
        token: &Token,
        tare: &str,
        times: PollTimes,
    ) -> Result<Fleet, ControlError> {
        let (events, received) = mpsc::channel();
        let tls = tls::controller(token);
        let mut remotes = Vec::new();
        for (index, address) in addresses.iter().enumerate() {
            match Remote::connect(index, address, (&tls, tare), &events) {
                Ok(remote) => remotes.push(remote),
                Err(error) => {
                    // Disconnect the agents that were already reached.
                    drop(Fleet::new(remotes, received, times));
                    return Err(error);
                }
            }
        }
        Ok(Fleet::new(remotes, received, times))
    }

    fn new(remotes: Vec<Remote>, events: mpsc::Receiver<(usize, Event)>, times: PollTimes) -> Fleet {
        let now_ns = Monotonic.now_ns();
        Fleet { remotes, events, times, next_ping_ns: now_ns, looked_ns: now_ns, trusted_ns: now_ns }
    }

    /// Sends an order to one agent.
    pub(crate) fn order(&mut self, index: usize, order: &ControllerMessage) -> Result<(), ControlError> {
        let remote = &mut self.remotes[index];
        remote.sender.send(order).map_err(|error| remote.lost(error.to_string()))
    }

    /// The next message of an agent, except answers with its time; `None` if nothing arrives for a while.
    /// Meanwhile all agents are asked for their time.
    pub(crate) fn next(&mut self) -> Result<Option<(usize, Reply)>, ControlError> {
        let now_ns = Monotonic.now_ns();
        if now_ns.saturating_sub(self.looked_ns) > AWAY_NS {
            self.trusted_ns = now_ns;
            self.remotes.iter_mut().for_each(|remote| remote.heard_ns = now_ns);
        }
        self.looked_ns = now_ns;
        if now_ns >= self.next_ping_ns {
            self.ping()?;
            self.next_ping_ns = now_ns + ns(self.times.heartbeat);
        }
        match self.events.recv_timeout(WAIT) {
            Ok((index, Event::Reply(reply, received_ns))) => {
                self.heard(index, *reply, received_ns).map(|reply| reply.map(|reply| (index, reply)))
            }
            Ok((index, Event::Ended(reason))) => Err(self.remotes[index].lost(reason)),
            Err(RecvTimeoutError::Timeout) => self.check_silence().map(|()| None),
            Err(RecvTimeoutError::Disconnected) => match self.remotes.first() {
                Some(remote) => Err(remote.lost("the connection was closed".to_owned())),
                None => Err(ControlError::NoAgent),
            },
        }
    }

    /// Asks all agents for their time.
    pub(crate) fn ping(&mut self) -> Result<(), ControlError> {
        for index in 0..self.remotes.len() {
            self.order(index, &ControllerMessage::Ping { sent_ns: Monotonic.now_ns() })?;
        }
        Ok(())
    }

    /// Asks all agents for their time, this many rounds in sequence.
    pub(crate) fn synchronise(&mut self, rounds: usize) -> Result<(), ControlError> {
        for _ in 0..rounds {
            let before: Vec<usize> = self.remotes.iter().map(|remote| remote.pongs).collect();
            self.ping()?;
            let all =
                |fleet: &Fleet| fleet.remotes.iter().zip(&before).all(|(now, before)| now.pongs > *before);
            while !all(self) {
                // No other message is expected meanwhile.
                self.next()?;
            }
        }
        Ok(())
    }

    fn heard(&mut self, index: usize, reply: Reply, received_ns: u64) -> Result<Option<Reply>, ControlError> {
        let trusted_ns = self.trusted_ns;
        let remote = &mut self.remotes[index];
        remote.heard_ns = received_ns;
        match reply {
            Reply::Pong { sent_ns, clock_ns } => {
                remote.clock.add(RoundTrip { sent_ns, clock_ns, received_ns });
                remote.pongs += 1;
                if sent_ns >= trusted_ns {
                    remote.silent_ns = remote.silent_ns.max(received_ns.saturating_sub(sent_ns));
                }
                Ok(None)
            }
            Reply::Failed(reason) => Err(ControlError::Failed { address: remote.address.clone(), reason }),
            other => Ok(Some(other)),
        }
    }

    fn check_silence(&self) -> Result<(), ControlError> {
        let silence_ns = ns(self.times.silence);
        let is_silent = |remote: &&Remote| self.looked_ns.saturating_sub(remote.heard_ns) > silence_ns;
        match self.remotes.iter().find(is_silent) {
            Some(remote) => Err(remote.lost(format!("it said nothing for {:?}", self.times.silence))),
            None => Ok(()),
        }
    }
}

impl Remote {
    fn connect(
        index: usize,
        address: &str,
        (tls, tare): (&Arc<ClientConfig>, &str),
        events: &mpsc::Sender<(usize, Event)>,
    ) -> Result<Remote, ControlError> {
        let named = || address.to_owned();
        let unreachable = |source| ControlError::Unreachable { address: named(), source };
        let stream = connect(address).map_err(unreachable)?;
        let refused = |source| ControlError::Refused { address: named(), source };
        let (sender, mut receiver) = greet(stream, tls, tare, GREETING_MAX).map_err(refused)?;
        let about = first(&mut receiver).map_err(refused)?;
        let events = events.clone();
        let reader = std::thread::spawn(move || read(index, receiver, &events));
        Ok(Remote {
            address: named(),
            about,
            clock: AgentClock::default(),
            silent_ns: 0,
            given_ns: 0,
            sender,
            heard_ns: Monotonic.now_ns(),
            pongs: 0,
            reader: Some(reader),
        })
    }

    pub(crate) fn lost(&self, reason: String) -> ControlError {
        ControlError::Lost { address: self.address.clone(), reason }
    }

    pub(crate) fn is_watch(&self) -> bool {
        self.about.watch.is_some()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.sender.close();
        if let Some(reader) = self.reader.take() {
            let _panicked = reader.join();
        }
    }
}

/// A connection to the first address that accepts.
fn connect(address: &str) -> std::io::Result<TcpStream> {
    let mut error = std::io::Error::new(std::io::ErrorKind::NotFound, "it has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(stream) => return Ok(stream),
            Err(refused) => error = refused,
        }
    }
    Err(error)
}

/// The first message of an agent, which describes it.
fn first(receiver: &mut Receiver) -> Result<AgentDescription, ConnectionError> {
    let mut waited = Duration::ZERO;
    loop {
        match receiver.receive()? {
            Some(Reply::About(about)) => return Ok(about),
            Some(_) => return Err(ConnectionError::OutOfTurn),
            None if waited >= GREETING_MAX => return Err(ConnectionError::TooLate),
            None => waited += Receiver::PATIENCE,
        }
    }
}

/// Timestamps each message on arrival, before it is processed.
fn read(index: usize, mut receiver: Receiver, events: &mpsc::Sender<(usize, Event)>) {
    loop {
        let event = match receiver.receive() {
            Ok(Some(reply)) => Event::Reply(Box::new(reply), Monotonic.now_ns()),
            Ok(None) => continue,
            Err(error) => Event::Ended(error.to_string()),
        };
        let is_last = matches!(event, Event::Ended(_));
        if events.send((index, event)).is_err() || is_last {
            return;
        }
    }
}
