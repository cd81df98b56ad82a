//! A small HTTP/2 server that misbehaves on purpose, frame by frame, over any stream of bytes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::SocketAddr;

use loona_hpack::Decoder;
use tare_load::Protocol;

use super::peer::{Peer, serve};
use super::tls::{serve_tls, server_config};
use super::wire::{
    ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
    answer_with, frame, settings_frame,
};

/// Bytes in both directions.
pub trait Bytes: Read + Write {}
impl<S: Read + Write> Bytes for S {}

/// A request that arrived completely.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub stream: u32,
    pub method: String,
    pub path: String,
    pub body: Vec<u8>,
}

/// A connection of the server, whose settings are sent.
pub struct Http2Peer<'a> {
    stream: Box<dyn Bytes + 'a>,
    /// The number of this connection, counted from 0.
    pub index: usize,
    decoder: Decoder<'static>,
    begun: BTreeMap<u32, Asked>,
    read: Vec<u8>,
    at: usize,
}

/// Starts an HTTP/2 server with these settings.
pub fn serve_http2(
    protocol: Protocol,
    settings: &'static [(u16, u32)],
    behave: impl Fn(Http2Peer<'_>) + Send + Sync + 'static,
) -> SocketAddr {
    match protocol.is_tls() {
        true => serve_tls(server_config(&[b"h2"]), move |peer| with(peer, settings, &behave)),
        false => serve(move |peer| with(peer, settings, &behave)),
    }
}

fn with<S: Bytes>(peer: Peer<S>, settings: &[(u16, u32)], behave: &impl Fn(Http2Peer<'_>)) {
    let mut peer = Http2Peer {
        stream: Box::new(peer.stream),
        index: peer.index,
        decoder: Decoder::new(),
        begun: BTreeMap::new(),
        read: Vec::new(),
        at: 0,
    };
    let mut preface = [0; PREFACE.len()];
    if peer.stream.read_exact(&mut preface).is_err() || !peer.settings(settings) {
        return;
    }
    assert_eq!(preface, PREFACE);
    behave(peer);
}

impl Http2Peer<'_> {
    /// Sends bytes; false when the client is gone.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).and_then(|()| self.stream.flush()).is_ok()
    }

    pub fn settings(&mut self, settings: &[(u16, u32)]) -> bool {
        self.send(settings_frame(settings))
    }

    fn fill(&mut self, bytes: usize) -> Option<()> {
        self.read.drain(..self.at);
        self.at = 0;
        while self.read.len() < bytes {
            let begin = self.read.len();
            self.read.resize(begin + 65_536, 0);
            let count = self.stream.read(&mut self.read[begin..]).ok().filter(|count| *count > 0)?;
            self.read.truncate(begin + count);
        }
        Some(())
    }

    /// The next frame; none when the client is gone.
    pub fn frame(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        if self.read.len() < self.at + 9 {
            self.fill(9)?;
        }
        let head: [u8; 9] = self.read[self.at..self.at + 9].try_into().unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        if self.read.len() < self.at + 9 + length {
            self.fill(9 + length)?;
        }
        let payload = self.read[self.at + 9..self.at + 9 + length].to_vec();
        self.at += 9 + length;
        Some((head[3], head[4], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload))
    }

    /// The next complete request; `None` when the client is gone. Bodies get new windows at once.
    pub fn request(&mut self) -> Option<Asked> {
        loop {
            let (kind, flags, stream, payload) = self.frame()?;
            let asked = self.begun.entry(stream).or_default();
            match kind {
                HEADERS => {
                    assert!(flags & END_HEADERS != 0);
                    asked.stream = stream;
                    let fields = self.decoder.decode(&payload).expect("a block");
                    let find = |name: &[u8]| {
                        let value = fields.iter().find(|field| field.0 == name).map(|field| field.1.clone());
                        String::from_utf8(value.unwrap_or_default()).unwrap()
                    };
                    (asked.method, asked.path) = (find(b":method"), find(b":path"));
                }
                DATA => {
                    asked.body.extend_from_slice(&payload);
                    let given = (payload.len() as u32).to_be_bytes();
                    let ends = flags & END_STREAM != 0;
                    if !payload.is_empty() && !ends {
                        self.send(
                            [frame(WINDOW_UPDATE, 0, 0, &given), frame(WINDOW_UPDATE, 0, stream, &given)]
                                .concat(),
                        );
                    } else if !payload.is_empty() {
                        self.send(frame(WINDOW_UPDATE, 0, 0, &given));
                    }
                }
                SETTINGS if flags & ACK == 0 => {
                    self.send(frame(SETTINGS, ACK, 0, &[]));
                }
                PING if flags & ACK == 0 => {
                    self.send(frame(PING, ACK, 0, &payload));
                }
                RST_STREAM => drop(self.begun.remove(&stream)),
                _ => {}
            }
            if matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0 {
                return self.begun.remove(&stream);
            }
        }
    }

    /// Answers every request with this body.
    pub fn always(&mut self, body: &[u8]) {
        while let Some(asked) = self.request() {
            if !self.send(answer_with(asked.stream, body)) {
                return;
            }
        }
    }
}
