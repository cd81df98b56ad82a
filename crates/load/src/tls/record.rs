//! Records: sealing and opening them in place ([RFC 8446](https://www.rfc-editor.org/rfc/rfc8446#section-5.2), section 5.2).

use std::ops::Range;

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use rustls::ConnectionTrafficSecrets;

use crate::tls_error::TlsError;

/// Type, version and length.
pub(super) const HEADER_BYTES: usize = 5;
/// The longest text of one record.
pub(super) const PLAIN_BYTES_MAX: usize = 1 << 14;
/// With its type, padding and tag.
const SEALED_BYTES_MAX: usize = PLAIN_BYTES_MAX + 256;
const TAG_BYTES: usize = 16;

/// What is in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Data,
    Handshake,
    Alert,
}

impl Content {
    fn byte(self) -> u8 {
        match self {
            Content::Alert => 21,
            Content::Handshake => 22,
            Content::Data => 23,
        }
    }

    fn of(byte: u8) -> Result<Content, TlsError> {
        match byte {
            21 => Ok(Content::Alert),
            22 => Ok(Content::Handshake),
            23 => Ok(Content::Data),
            kind => Err(TlsError::Unexpected { what: "record", kind }),
        }
    }
}

/// The length of the record at the front, with its header; none while the header is not complete.
///
/// # Errors
/// It is not an encrypted record, or too long.
#[inline]
pub(super) fn length(bytes: &[u8]) -> Result<Option<usize>, TlsError> {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let body = usize::from(u16::from_be_bytes([header[3], header[4]]));
    match header[0] {
        23 if body <= SEALED_BYTES_MAX => Ok(Some(HEADER_BYTES + body)),
        23 => Err(TlsError::RecordTooLong { bytes: body }),
        kind => Err(TlsError::Unexpected { what: "record", kind }),
    }
}

/// The keys of one direction.
#[derive(Debug)]
pub(super) struct Keys {
    key: LessSafeKey,
    iv: [u8; 12],
    /// How many records they have sealed or opened.
    sequence: u64,
}

impl Keys {
    /// Keys for the record of this number and those behind it.
    ///
    /// # Errors
    /// The suite has no AEAD that is known.
    pub(super) fn new((sequence, secrets): (u64, ConnectionTrafficSecrets)) -> Result<Keys, TlsError> {
        let (algorithm, key, iv) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return Err(rustls::Error::General("a suite without a known AEAD".to_owned()).into()),
        };
        let key = UnboundKey::new(algorithm, key.as_ref()).map_err(|_| TlsError::Undecryptable)?;
        let iv = iv.as_ref().try_into().map_err(|_| TlsError::Undecryptable)?;
        Ok(Keys { key: LessSafeKey::new(key), iv, sequence })
    }

    /// How many records they have sealed or opened.
    #[inline]
    pub(super) fn records(&self) -> u64 {
        self.sequence
    }

    #[inline]
    fn nonce(&mut self) -> Nonce {
        let mut nonce = self.iv;
        for (byte, counter) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= counter;
        }
        self.sequence += 1;
        Nonce::assume_unique_for_key(nonce)
    }

    /// Appends `plain` to `out` in records.
    #[inline]
    pub(super) fn seal(&mut self, content: Content, plain: &[u8], out: &mut Vec<u8>) {
        plain.chunks(PLAIN_BYTES_MAX).for_each(|part| self.seal_one(content, part, out));
    }

    /// Appends one record, whose text is short enough for one.
    #[inline]
    pub(super) fn seal_one(&mut self, content: Content, part: &[u8], out: &mut Vec<u8>) {
        let sealed = part.len() + 1 + TAG_BYTES;
        let [high, low] = (sealed as u16).to_be_bytes();
        let header = [23, 3, 3, high, low];
        out.reserve(HEADER_BYTES + sealed);
        out.extend_from_slice(&header);
        let begin = out.len();
        out.extend_from_slice(part);
        out.push(content.byte());
        let nonce = self.nonce();
        let tag = self.key.seal_in_place_separate_tag(nonce, Aad::from(header), &mut out[begin..]);
        out.extend_from_slice(tag.expect("a record is short enough for every AEAD").as_ref());
    }

    /// Decrypts one whole record where it lies, and says where its text is in it.
    ///
    /// # Errors
    /// It was not sealed with these keys, or is empty.
    #[inline]
    pub(super) fn open(&mut self, record: &mut [u8]) -> Result<(Content, Range<usize>), TlsError> {
        let (header, body) = record.split_at_mut(HEADER_BYTES);
        let aad: [u8; HEADER_BYTES] = (&*header).try_into().map_err(|_| TlsError::Undecryptable)?;
        let nonce = self.nonce();
        let plain =
            self.key.open_in_place(nonce, Aad::from(aad), body).map_err(|_| TlsError::Undecryptable)?;
        // Behind the text is its type, and behind that padding of zeros.
        let end = plain.iter().rposition(|byte| *byte != 0).ok_or(TlsError::Undecryptable)?;
        if end > PLAIN_BYTES_MAX {
            return Err(TlsError::RecordTooLong { bytes: end });
        }
        Ok((Content::of(plain[end])?, HEADER_BYTES..HEADER_BYTES + end))
    }
}
