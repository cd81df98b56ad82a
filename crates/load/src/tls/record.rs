//! Records: sealing and opening them in place ([RFC
//! 8446](https://www.rfc-editor.org/rfc/rfc8446#section-5.2), section 5.2). TLS 1.2 records have another form
//! ([RFC 5246](https://www.rfc-editor.org/rfc/rfc5246#section-6.2.3.3), section 6.2.3.3).

use std::ops::Range;

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use rustls::{ConnectionTrafficSecrets, ProtocolVersion};

use crate::tls_error::TlsError;

/// Type, version and length.
pub(super) const HEADER_BYTES: usize = 5;
/// The longest plain text of one record.
pub(super) const PLAIN_BYTES_MAX: usize = 1 << 14;
/// The longest sealed text, including type, padding and tag.
const SEALED_BYTES_MAX: usize = PLAIN_BYTES_MAX + 256;
const TAG_BYTES: usize = 16;
/// The same in TLS 1.2, including the explicit nonce and the tag. RFC 5246 allows more, but no supported
/// cipher needs it.
const SEALED_BYTES_MAX_OF_1_2: usize = PLAIN_BYTES_MAX + EXPLICIT_NONCE_BYTES + TAG_BYTES;
/// The part of a GCM nonce that is sent with each record (RFC 5288, section 3).
const EXPLICIT_NONCE_BYTES: usize = 8;
/// Level and description.
const ALERT_BYTES: usize = 2;

/// The content type of a record.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordForm {
    /// The type is sealed with the text.
    Tls13,
    /// The type and a part of the nonce precede the sealed text.
    Tls12 { explicit_nonce_bytes: usize },
}

#[derive(Debug)]
pub(super) struct Keys {
    key: LessSafeKey,
    iv: [u8; 12],
    /// The number of records sealed or opened.
    sequence: u64,
    form: RecordForm,
}

impl Keys {
    /// Keys for the records from this number on.
    ///
    /// # Errors
    /// The AEAD of the suite is not supported.
    pub(super) fn new(
        version: ProtocolVersion,
        (sequence, secrets): (u64, ConnectionTrafficSecrets),
    ) -> Result<Keys, TlsError> {
        let form = match (version, &secrets) {
            (ProtocolVersion::TLSv1_2, ConnectionTrafficSecrets::Chacha20Poly1305 { .. }) => {
                RecordForm::Tls12 { explicit_nonce_bytes: 0 }
            }
            (ProtocolVersion::TLSv1_2, _) => RecordForm::Tls12 { explicit_nonce_bytes: EXPLICIT_NONCE_BYTES },
            _ => RecordForm::Tls13,
        };
        let (algorithm, key, iv) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return Err(rustls::Error::General("a suite without a known AEAD".to_owned()).into()),
        };
        let key = UnboundKey::new(algorithm, key.as_ref()).map_err(|_| TlsError::Undecryptable)?;
        let iv = iv.as_ref().try_into().map_err(|_| TlsError::Undecryptable)?;
        Ok(Keys { key: LessSafeKey::new(key), iv, sequence, form })
    }

    /// The length of the record at the front, including its header; `None` while the header is incomplete.
    ///
    /// # Errors
    /// The record is not encrypted, or is too long.
    #[inline]
    pub(super) fn length(&self, bytes: &[u8]) -> Result<Option<usize>, TlsError> {
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let body = usize::from(u16::from_be_bytes([header[3], header[4]]));
        let (is_known, bytes_max) = match self.form {
            RecordForm::Tls13 => (header[0] == 23, SEALED_BYTES_MAX),
            RecordForm::Tls12 { .. } => ((21..=23).contains(&header[0]), SEALED_BYTES_MAX_OF_1_2),
        };
        match is_known {
            true if body <= bytes_max => Ok(Some(HEADER_BYTES + body)),
            true => Err(TlsError::RecordTooLong { bytes: body }),
            false => Err(TlsError::Unexpected { what: "record", kind: header[0] }),
        }
    }

    /// The length of a record with an alert, including its header. A short text may have the same length.
    #[inline]
    pub(super) fn alert_record_bytes(&self) -> usize {
        let beside = match self.form {
            RecordForm::Tls13 => 1,
            RecordForm::Tls12 { explicit_nonce_bytes } => explicit_nonce_bytes,
        };
        HEADER_BYTES + beside + ALERT_BYTES + TAG_BYTES
    }

    /// The number of records sealed or opened.
    #[inline]
    pub(super) fn records(&self) -> u64 {
        self.sequence
    }

    #[inline]
    fn nonce(&mut self) -> [u8; 12] {
        let mut nonce = self.iv;
        for (byte, counter) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= counter;
        }
        self.sequence += 1;
        nonce
    }

    /// Appends `plain` to `out` in records.
    #[inline]
    pub(super) fn seal(&mut self, content: Content, plain: &[u8], out: &mut Vec<u8>) {
        plain.chunks(PLAIN_BYTES_MAX).for_each(|part| self.seal_one(content, part, out));
    }

    /// Appends one record; `part` must fit into it.
    #[inline]
    pub(super) fn seal_one(&mut self, content: Content, part: &[u8], out: &mut Vec<u8>) {
        if let RecordForm::Tls12 { explicit_nonce_bytes } = self.form {
            return self.seal_one_of_1_2(explicit_nonce_bytes, content, part, out);
        }
        let sealed = part.len() + 1 + TAG_BYTES;
        let [high, low] = (sealed as u16).to_be_bytes();
        let header = [23, 3, 3, high, low];
        out.reserve(HEADER_BYTES + sealed);
        out.extend_from_slice(&header);
        let begin = out.len();
        out.extend_from_slice(part);
        out.push(content.byte());
        let nonce = Nonce::assume_unique_for_key(self.nonce());
        let tag = self.key.seal_in_place_separate_tag(nonce, Aad::from(header), &mut out[begin..]);
        out.extend_from_slice(tag.expect("a record is short enough for every AEAD").as_ref());
    }

    #[inline(never)]
    fn seal_one_of_1_2(
        &mut self,
        explicit_nonce_bytes: usize,
        content: Content,
        part: &[u8],
        out: &mut Vec<u8>,
    ) {
        let aad = aad_of_1_2(self.sequence, content.byte(), part.len());
        let nonce = self.nonce();
        let [high, low] = ((explicit_nonce_bytes + part.len() + TAG_BYTES) as u16).to_be_bytes();
        out.extend_from_slice(&[content.byte(), 3, 3, high, low]);
        out.extend_from_slice(&nonce[nonce.len() - explicit_nonce_bytes..]);
        let begin = out.len();
        out.extend_from_slice(part);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.key.seal_in_place_separate_tag(nonce, Aad::from(aad), &mut out[begin..]);
        out.extend_from_slice(tag.expect("a record is short enough for every AEAD").as_ref());
    }

    #[inline(never)]
    fn open_of_1_2(
        &mut self,
        explicit_nonce_bytes: usize,
        record: &mut [u8],
    ) -> Result<(Content, Range<usize>), TlsError> {
        let kind = record[0];
        let begin = HEADER_BYTES + explicit_nonce_bytes;
        let text_bytes = record.len().checked_sub(begin + TAG_BYTES).ok_or(TlsError::Undecryptable)?;
        let aad = aad_of_1_2(self.sequence, kind, text_bytes);
        let mut nonce = self.nonce();
        let implicit_bytes = nonce.len() - explicit_nonce_bytes;
        nonce[implicit_bytes..].copy_from_slice(&record[HEADER_BYTES..begin]);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let opened = self.key.open_in_place(nonce, Aad::from(aad), &mut record[begin..]);
        opened.map_err(|_| TlsError::Undecryptable)?;
        Ok((Content::of(kind)?, begin..begin + text_bytes))
    }

    /// Decrypts one whole record in place, and returns the range of its text.
    ///
    /// # Errors
    /// The record was not sealed with these keys, or is empty.
    #[inline]
    pub(super) fn open(&mut self, record: &mut [u8]) -> Result<(Content, Range<usize>), TlsError> {
        if let RecordForm::Tls12 { explicit_nonce_bytes } = self.form {
            return self.open_of_1_2(explicit_nonce_bytes, record);
        }
        let (header, body) = record.split_at_mut(HEADER_BYTES);
        let aad: [u8; HEADER_BYTES] = (&*header).try_into().map_err(|_| TlsError::Undecryptable)?;
        let nonce = Nonce::assume_unique_for_key(self.nonce());
        let plain =
            self.key.open_in_place(nonce, Aad::from(aad), body).map_err(|_| TlsError::Undecryptable)?;
        // The text is followed by its type and then by zero padding.
        let end = plain.iter().rposition(|byte| *byte != 0).ok_or(TlsError::Undecryptable)?;
        if end > PLAIN_BYTES_MAX {
            return Err(TlsError::RecordTooLong { bytes: end });
        }
        Ok((Content::of(plain[end])?, HEADER_BYTES..HEADER_BYTES + end))
    }
}

/// The additional data that authenticates a TLS 1.2 record (RFC 5246, section 6.2.3.3).
fn aad_of_1_2(sequence: u64, kind: u8, text_bytes: usize) -> [u8; 13] {
    let mut aad = [0; 13];
    aad[..8].copy_from_slice(&sequence.to_be_bytes());
    aad[8..11].copy_from_slice(&[kind, 3, 3]);
    aad[11..].copy_from_slice(&(text_bytes as u16).to_be_bytes());
    aad
}
