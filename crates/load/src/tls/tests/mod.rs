//! TLS against rustls' own server side, in memory. The driver below consists of two buffers, so a test
//! controls how bytes are split and how slowly they are accepted.

mod handshakes;
mod records;
mod texts;

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::*;
use crate::driver::{Driver, Event, Outgoing};
use crate::negotiated::Negotiated;
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;
use crate::tls_error::TlsError;
use tare_base::Route;

/// A driver with one connection, whose other end is the test.
struct Wire {
    outgoing: Outgoing,
    /// The number of bytes that a send accepts.
    accepts: usize,
    is_blocked: bool,
    sent: Vec<u8>,
    events: VecDeque<Event>,
    incoming: VecDeque<Vec<u8>>,
    received: Vec<u8>,
    is_open: bool,
}

impl Wire {
    fn new() -> Wire {
        Wire {
            outgoing: Outgoing::new(1),
            accepts: usize::MAX,
            is_blocked: false,
            sent: Vec::new(),
            events: VecDeque::new(),
            incoming: VecDeque::new(),
            received: Vec::new(),
            is_open: false,
        }
    }
}

impl Driver for Wire {
    fn set_requests(&mut self, requests: Arc<RequestBuffer>) {
        self.outgoing.share(requests);
    }

    fn own(&mut self, slot: usize) -> Option<&mut Vec<u8>> {
        Some(self.outgoing.own(slot))
    }

    fn connect(&mut self, slot: usize, _: &Route) -> Result<(), Failure> {
        self.is_open = true;
        self.events.push_back(Event::Connected { slot });
        Ok(())
    }

    fn send(&mut self, slot: usize, range: Range<usize>) -> Result<usize, Failure> {
        assert!(self.is_open && !self.is_blocked, "nothing may be sent before `Sendable`");
        let bytes = self.outgoing.bytes(slot, range);
        let taken = bytes.len().min(self.accepts);
        self.is_blocked = taken < bytes.len();
        self.sent.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn close(&mut self, _: usize) {
        (self.is_open, self.is_blocked) = (false, false);
        self.events.clear();
        self.incoming.clear();
    }

    fn is_open(&self, _: usize) -> bool {
        self.is_open
    }

    fn wait(&mut self, _: u64) {}

    fn next_event(&mut self) -> Option<Event> {
        if self.accepts > 0 && std::mem::take(&mut self.is_blocked) {
            return Some(Event::Sendable { slot: 0, sent: 0 });
        }
        let event = self.events.pop_front()?;
        if let Event::Received { .. } = event {
            self.received = self.incoming.pop_front().unwrap();
        }
        Some(event)
    }

    fn received(&self) -> &[u8] {
        &self.received
    }

    fn received_mut(&mut self) -> &mut [u8] {
        &mut self.received
    }
}

/// A certificate for localhost, and its key.
fn identity() -> &'static (CertificateDer<'static>, PrivateKeyDer<'static>) {
    static IDENTITY: OnceLock<(CertificateDer<'static>, PrivateKeyDer<'static>)> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.der().clone(), PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into()))
    })
}

fn server_config(provider: CryptoProvider) -> ServerConfig {
    server_config_of(provider, &rustls::version::TLS13)
}

fn server_config_of(
    provider: CryptoProvider,
    version: &'static rustls::SupportedProtocolVersion,
) -> ServerConfig {
    let (certificate, key) = identity();
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.clone_key())
        .unwrap();
    config.enable_secret_extraction = true;
    config
}

fn ordinary() -> ServerConfig {
    server_config(aws_lc_rs::default_provider())
}

fn options() -> TlsOptions {
    TlsOptions {
        trust: TlsTrust::Authorities(vec![identity().0.clone()]),
        server_name: "localhost".to_owned(),
        alpn: None,
        resume: false,
        offer: TlsOffer::Usual,
        version: TlsVersion::Tls13,
        certificate: None,
    }
}

/// A client and a server with two buffers between them.
struct Pair {
    client: Secured<Wire>,
    server: ServerConnection,
    /// The sizes of the pieces of the server's bytes; after the last one, all bytes at once.
    cuts: VecDeque<usize>,
    events: Vec<Event>,
    /// For each text, whether the end of the peer was known with it.
    hangups: Vec<bool>,
    /// The text that the client received, and the one the server received.
    text: Vec<u8>,
    server_text: Vec<u8>,
    server_failed: bool,
    /// The text that the client has to send, and how much of it was passed down.
    upload: Vec<u8>,
    uploaded: usize,
    may_upload: bool,
}

impl Pair {
    fn new(config: ServerConfig, options: TlsOptions) -> Pair {
        Pair::of(&Arc::new(config), &Arc::new(TlsClient::new(options).unwrap()))
    }

    fn of(config: &Arc<ServerConfig>, client: &Arc<TlsClient>) -> Pair {
        Pair {
            client: Secured::new(Wire::new(), Arc::clone(client), 1),
            server: server(config),
            cuts: VecDeque::new(),
            events: Vec::new(),
            hangups: Vec::new(),
            text: Vec::new(),
            server_text: Vec::new(),
            server_failed: false,
            upload: Vec::new(),
            uploaded: 0,
            may_upload: true,
        }
    }

    /// A pair after its handshake.
    fn open(config: ServerConfig, options: TlsOptions) -> Pair {
        let mut pair = Pair::new(config, options);
        pair.connect();
        assert_eq!(pair.events, [Event::Connected { slot: 0 }], "{:?}", pair.error());
        pair
    }

    fn connect(&mut self) {
        let nowhere = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        self.client.connect(0, &Route::from(nowhere)).unwrap();
        self.settle();
    }

    fn error(&self) -> Option<&TlsError> {
        self.client.tls().unwrap().last_error.as_ref()
    }

    fn has_failed(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::ConnectFailed { .. } | Event::Failed { .. }))
    }

    /// Gives bytes to the client in pieces.
    fn give(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.client_wire().is_open {
            let cut = self.cuts.pop_front().map_or(bytes.len(), |cut| cut.clamp(1, bytes.len()));
            let (piece, rest) = bytes.split_at(cut);
            bytes = rest;
            let wire = self.client_wire();
            wire.incoming.push_back(piece.to_vec());
            wire.events.push_back(Event::Received { slot: 0, hangup: false });
            self.client_goes_on();
        }
    }

    fn client_wire(&mut self) -> &mut Wire {
        self.client.below_mut()
    }

    /// The client processes its bytes, like the client of a protocol.
    fn client_goes_on(&mut self) {
        self.client.wait(0);
        while let Some(event) = self.client.next_event() {
            match event {
                Event::Received { hangup, .. } => {
                    self.hangups.push(hangup);
                    let text = self.client.received().to_vec();
                    assert_eq!(text, self.client.received_mut());
                    self.text.extend(text);
                    continue;
                }
                Event::Sendable { .. } => self.may_upload = true,
                Event::ConnectFailed { .. } | Event::Failed { .. } => self.client.close(0),
                Event::Connected { .. } | Event::Closed { .. } => {}
            }
            self.events.push(event);
        }
        self.send_upload();
    }

    fn send_upload(&mut self) {
        let is_connected = self.events.contains(&Event::Connected { slot: 0 });
        if !is_connected || !self.may_upload || self.uploaded == self.upload.len() || self.has_failed() {
            return;
        }
        if self.uploaded == 0 {
            self.client.own(0).unwrap().clone_from(&self.upload);
        }
        let rest = crate::driver::own_range(self.uploaded..self.upload.len());
        self.uploaded += self.client.send(0, rest).unwrap();
        self.may_upload = self.uploaded == self.upload.len();
    }

    /// Both sides continue until neither has anything to send.
    fn settle(&mut self) {
        loop {
            self.client_goes_on();
            let sent = std::mem::take(&mut self.client_wire().sent);
            let said = self.server_goes_on(&sent);
            if sent.is_empty() && said.is_empty() {
                return;
            }
            self.give(&said);
        }
    }

    /// The server processes bytes and replies.
    fn server_goes_on(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        while !bytes.is_empty() && !self.server_failed {
            self.server.read_tls(&mut bytes).unwrap();
            self.server_failed |= self.server.process_new_packets().is_err();
            let _none_now = self.server.reader().read_to_end(&mut self.server_text);
        }
        let mut said = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut said).unwrap();
        }
        said
    }

    fn server_says(&mut self, text: &[u8]) {
        self.server.writer().write_all(text).unwrap();
    }
}

fn server(config: &Arc<ServerConfig>) -> ServerConnection {
    let mut server = ServerConnection::new(Arc::clone(config)).unwrap();
    server.set_buffer_limit(None);
    server
}

fn text(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (index % 251) as u8).collect()
}
