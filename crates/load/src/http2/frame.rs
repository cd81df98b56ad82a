//! Frames: their heads, and those that a client writes (RFC 9113, sections 4 and 6).

use tare_base::http2::{
    ACK, DATA, END_STREAM, ErrorCode, GOAWAY, HEAD_BYTES, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl FrameHead {
    #[inline]
    pub(super) fn parse(bytes: &[u8; HEAD_BYTES]) -> FrameHead {
        let [a, b, c, kind, flags, s0, s1, s2, s3] = *bytes;
        FrameHead {
            length: usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c),
            kind,
            flags,
            // The first bit is reserved and ignored.
            stream: u32::from_be_bytes([s0, s1, s2, s3]) & (u32::MAX >> 1),
        }
    }

    #[inline]
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, s0, s1, s2, s3]);
    }
}

fn write(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    FrameHead { length: payload.len(), kind, flags, stream }.write(out);
    out.extend_from_slice(payload);
}

pub(super) fn settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    let mut payload = Vec::with_capacity(settings.len() * 6);
    for (id, value) in settings {
        payload.extend_from_slice(&id.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    write(out, SETTINGS, 0, 0, &payload);
}

pub(super) fn settings_ack(out: &mut Vec<u8>) {
    write(out, SETTINGS, ACK, 0, &[]);
}

pub(super) fn ping_ack(out: &mut Vec<u8>, payload: &[u8]) {
    write(out, PING, ACK, 0, payload);
}

pub(super) fn window_update(out: &mut Vec<u8>, stream: u32, bytes: u32) {
    write(out, WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
}

pub(super) fn rst_stream(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    write(out, RST_STREAM, 0, stream, &code.0.to_be_bytes());
}

/// A client accepts no streams of the peer, so the last one is always 0.
pub(super) fn goaway(out: &mut Vec<u8>, code: ErrorCode) {
    let [a, b, c, d] = code.0.to_be_bytes();
    write(out, GOAWAY, 0, 0, &[0, 0, 0, 0, a, b, c, d]);
}

pub(super) fn data(out: &mut Vec<u8>, stream: u32, bytes: &[u8], is_end: bool) {
    write(out, DATA, if is_end { END_STREAM } else { 0 }, stream, bytes);
}
