//! The job's side: it queries a collector, and pushes a bundle to it. It uses one connection per request, and
//! no thread, so nothing wakes up while a service is measured.

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use tare_agent::{Token, TokenError, token};
use tare_host::foreign;

use super::{
    answer::{AnswerError, AnswerHead, answer_head},
    message::{Accepted, AssignedJob, Refusal, RefusalKind, Refused},
    proof::{Asked, DIGEST, NONCE, PROOF, PushKey},
    route::PushRoute,
    unpack::{packed_bytes, preamble},
};
use crate::{
    attempt::AttemptRecord,
    bundle::{Bundle, BundleError, Committed, HEAD, HEAD_BYTES_MAX},
    certificates::{MachineIdentity, StoredCertificate},
};

/// The time limit for connecting.
const CONNECTED_WITHIN: Duration = Duration::from_secs(10);
/// The time limit for each read and write.
const SILENT_MAX: Duration = Duration::from_secs(60);
/// The time limit for one bundle.
const DONE_WITHIN: Duration = Duration::from_secs(600);
const CHUNK_BYTES: usize = 256 << 10;

/// Why a collector did not do what was requested.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    #[error("{0:?} is no address of a collector: write it as http://HOST:PORT")]
    Address(String),
    #[error("the collector {collector} does not answer: {source}")]
    Unreachable { collector: String, source: io::Error },
    #[error("{collector} is no collector of this batch: {reason}")]
    NotTheCollector { collector: String, reason: String },
    #[error("the collector {collector} refuses it: {refusal}")]
    Refused { collector: String, refusal: Refusal },
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl PushError {
    /// Whether a later retry may succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            PushError::Unreachable { .. } | PushError::NotTheCollector { .. } => true,
            PushError::Refused { refusal, .. } => refusal.kind.is_passing(),
            PushError::Address(_) | PushError::Bundle(_) | PushError::Token(_) => false,
        }
    }

    pub fn kind(&self) -> Option<RefusalKind> {
        match self {
            PushError::Refused { refusal, .. } => Some(refusal.kind),
            _ => None,
        }
    }
}

/// The collector of a batch, for a job.
#[derive(Debug, Clone)]
pub struct Collector {
    /// The address as `HOST:PORT`.
    address: String,
    key: PushKey,
}

/// The content after the head of a request.
enum Sent<'a> {
    Nothing,
    Message(&'a [u8]),
    /// A bundle, its `bundle.json`, and the total length.
    Bundle(&'a Bundle, &'a [u8], u64),
}

/// The `HOST:PORT` in the URL of a collector.
///
/// # Errors
/// It is no valid URL.
pub fn collector_address(url: &str) -> Result<String, PushError> {
    let wrong = || PushError::Address(url.to_owned());
    let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
    let address = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
    let is_six = host.starts_with('[') && host.ends_with(']');
    let inner = if is_six { &host[1..host.len() - 1] } else { host };
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c) || is_six && c == ':';
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    match !inner.is_empty() && inner.chars().all(is_host) && is_port {
        true => Ok(address.to_owned()),
        false => Err(wrong()),
    }
}

impl Collector {
    /// # Errors
    /// The URL is not valid.
    pub fn new(url: &str, token: &Token) -> Result<Collector, PushError> {
        Ok(Collector { address: collector_address(url)?, key: PushKey::of(token) })
    }

    /// The job at this position of the list.
    ///
    /// # Errors
    /// The collector is unreachable, or has no such job.
    pub fn job(&self, position: usize) -> Result<AssignedJob, PushError> {
        let body = self.ask(PushRoute::Job { position }, Sent::Nothing)?;
        AssignedJob::parse(&body).map_err(|reason| self.not_the_collector(reason))
    }

    /// Reports the progress of an attempt.
    ///
    /// # Errors
    /// The collector is unreachable, or refuses it.
    pub fn show(&self, position: usize, record: &AttemptRecord) -> Result<(), PushError> {
        let body = serde_json::to_vec(record).map_err(|error| self.unreachable(error.into()))?;
        let attempt = record.attempt.clone();
        self.ask(PushRoute::Attempt { position, attempt }, Sent::Message(&body)).map(drop)
    }

    /// The newest certificate of a machine, if there is one.
    ///
    /// # Errors
    /// The collector is unreachable, or refuses it.
    pub fn certificate(&self, machine: &MachineIdentity) -> Result<Option<Value>, PushError> {
        let body = match self.ask(PushRoute::ReadCertificate { name: machine.hash() }, Sent::Nothing) {
            Err(error) if error.kind() == Some(RefusalKind::NotFound) => return Ok(None),
            body => body?,
        };
        let stored = StoredCertificate::parse(&body).map_err(|reason| self.not_the_collector(reason))?;
        Ok((stored.machine == *machine).then_some(stored.certificate))
    }

    /// # Errors
    /// The collector is unreachable, or refuses it.
    pub fn put_certificate(&self, machine: &MachineIdentity, certificate: Value) -> Result<(), PushError> {
        let stored = StoredCertificate { machine: machine.clone(), certificate };
        let body = serde_json::to_vec(&stored).map_err(|error| self.unreachable(error.into()))?;
        self.ask(PushRoute::Certificate { name: machine.hash() }, Sent::Message(&body)).map(drop)
    }

    /// Pushes a local bundle, without retries.
    ///
    /// # Errors
    /// The collector is unreachable, or refuses it; or the bundle cannot be read.
    pub fn push(&self, position: usize, bundle: &Bundle) -> Result<Committed, PushError> {
        let path = bundle.folder.join(HEAD);
        let head = foreign::read(&path, HEAD_BYTES_MAX).map_err(crate::bundle::at(&path))?;
        let bytes = packed_bytes(&bundle.head, head.len());
        let route = PushRoute::Bundle { position, attempt: bundle.head.attempt.clone() };
        let body = self.ask(route, Sent::Bundle(bundle, &head, bytes))?;
        let accepted: Accepted =
            foreign::json(&body).map_err(|error| self.not_the_collector(error.to_string()))?;
        Ok(accepted.committed)
    }

    fn unreachable(&self, source: io::Error) -> PushError {
        PushError::Unreachable { collector: self.address.clone(), source }
    }

    fn not_the_collector(&self, reason: impl Into<String>) -> PushError {
        PushError::NotTheCollector {
            collector: self.address.clone(),
            reason: foreign::quotable(&reason.into()),
        }
    }

    /// The body of an answer that is proven to come from the collector.
    fn ask(&self, route: PushRoute, sent: Sent) -> Result<Vec<u8>, PushError> {
        let nonce = token::hex(&token::random::<32>()?);
        let hashed: &[u8] = match &sent {
            Sent::Nothing => &[],
            Sent::Message(bytes) | Sent::Bundle(_, bytes, _) => bytes,
        };
        let asked = Asked::new(route, nonce, hashed);
        let (head, body) = self.exchange(&asked, &sent)?;
        let is_shown = |proof: &String| asked.is_proof_of_answer(&self.key, head.status, &body, proof);
        let is_ours = head.proof.as_ref().is_some_and(is_shown);
        let refusal = |kind| {
            let reason = foreign::json::<Refused>(&body).map_or_else(
                |_| format!("status {}", head.status),
                |refused| foreign::quotable(&refused.error),
            );
            PushError::Refused { collector: self.address.clone(), refusal: Refusal::new(kind, reason) }
        };
        match (head.status, RefusalKind::of_status(head.status)) {
            (200, _) if is_ours => Ok(body),
            (_, Some(kind)) if is_ours => Err(refusal(kind)),
            // A collector with another token cannot prove its answers to this job.
            (401, _) => Err(refusal(RefusalKind::WrongToken)),
            (status, _) if is_ours => Err(self.not_the_collector(format!("it answers with status {status}"))),
            (status, _) => Err(self.not_the_collector(format!(
                "its answer of status {status} does not show that it has the token"
            ))),
        }
    }

    fn exchange(&self, asked: &Asked, sent: &Sent) -> Result<(AnswerHead, Vec<u8>), PushError> {
        let stream = self.connect().map_err(|error| self.unreachable(error))?;
        let mut wire = Wire { stream, read: Vec::new(), ends: Instant::now() + DONE_WITHIN, collector: self };
        wire.write(self.head(asked, sent).as_bytes())?;
        match sent {
            Sent::Nothing => {}
            Sent::Message(bytes) => wire.write(bytes)?,
            Sent::Bundle(bundle, head, _) => {
                // An unwanted bundle, or one that has already arrived, is not sent.
                let first = wire.head()?;
                if first.status != 100 {
                    return wire.body(first);
                }
                let written = wire.write(&preamble(head)).and_then(|()| wire.files(bundle));
                match written {
                    // It may have refused after reading a part.
                    Err(PushError::Unreachable { collector, source }) => {
                        let answered = wire.head().and_then(|head| wire.body(head));
                        return answered.map_err(|_| PushError::Unreachable { collector, source });
                    }
                    written => written?,
                }
            }
        }
        let head = wire.head()?;
        wire.body(head)
    }

    fn head(&self, asked: &Asked, sent: &Sent) -> String {
        let Asked { route, nonce, digest } = asked;
        let (verb, proof) = (route.verb().as_str(), asked.proof(&self.key));
        let length = match sent {
            Sent::Nothing => String::new(),
            Sent::Message(bytes) => format!("content-length: {}\r\n", bytes.len()),
            Sent::Bundle(_, _, bytes) => format!("content-length: {bytes}\r\nexpect: 100-continue\r\n"),
        };
        format!(
            "{verb} {route} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{NONCE}: {nonce}\r\n{DIGEST}: {digest}\r\n\
            {PROOF}: {proof}\r\n{length}\r\n",
            self.address
        )
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "its name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECTED_WITHIN) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(SILENT_MAX))?;
                    stream.set_write_timeout(Some(SILENT_MAX))?;
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// A connection, with the bytes read from it.
struct Wire<'c> {
    stream: TcpStream,
    read: Vec<u8>,
    ends: Instant,
    collector: &'c Collector,
}

impl Wire<'_> {
    fn in_time(&self) -> Result<(), PushError> {
        match Instant::now() < self.ends {
            true => Ok(()),
            false => Err(self.collector.unreachable(io::ErrorKind::TimedOut.into())),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), PushError> {
        for chunk in bytes.chunks(CHUNK_BYTES) {
            self.in_time()?;
            self.stream.write_all(chunk).map_err(|error| self.collector.unreachable(error))?;
        }
        Ok(())
    }

    /// Sends the content of all files, with the lengths in `bundle.json`.
    fn files(&mut self, bundle: &Bundle) -> Result<(), PushError> {
        for file in bundle.head.files() {
            self.file(&bundle.folder.join(&file.path), file.bytes)?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, bytes: u64) -> Result<(), PushError> {
        let at = crate::bundle::at;
        let mut from = foreign::open(path).map_err(at(path))?;
        let (mut left, mut chunk) = (bytes, vec![0; CHUNK_BYTES]);
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            from.read_exact(&mut chunk[..wanted]).map_err(at(path))?;
            self.write(&chunk[..wanted])?;
            left -= wanted as u64;
        }
        Ok(())
    }

    fn more(&mut self) -> Result<(), PushError> {
        self.in_time()?;
        let mut chunk = [0; 16 << 10];
        let unreachable = |error| self.collector.unreachable(error);
        match self.stream.read(&mut chunk).map_err(unreachable)? {
            0 => Err(unreachable(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"))),
            bytes => {
                self.read.extend_from_slice(&chunk[..bytes]);
                Ok(())
            }
        }
    }

    fn head(&mut self) -> Result<AnswerHead, PushError> {
        loop {
            let wrong = |error: AnswerError| self.collector.not_the_collector(error.to_string());
            match answer_head(&self.read).map_err(wrong)? {
                Some(head) => {
                    self.read.drain(..head.bytes);
                    return Ok(head);
                }
                None => self.more()?,
            }
        }
    }

    fn body(&mut self, head: AnswerHead) -> Result<(AnswerHead, Vec<u8>), PushError> {
        while self.read.len() < head.body_bytes {
            self.more()?;
        }
        Ok((head.clone(), self.read[..head.body_bytes].to_vec()))
    }
}
