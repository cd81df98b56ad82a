//! What shows that a message came from the end that has the token, and in its order: a MAC over its number and its bytes, by a key
//! of this connection. Nothing is encrypted. It does no I/O.

use hmac::Mac;

use crate::token::mac;

const MAC_BYTES: usize = 32;

/// Which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Controller,
    Agent,
}

impl End {
    /// What a MAC of this end begins with.
    pub(crate) fn label(self) -> &'static [u8] {
        match self {
            End::Controller => b"tare controller",
            End::Agent => b"tare agent",
        }
    }

    pub(crate) fn other(self) -> End {
        match self {
            End::Controller => End::Agent,
            End::Agent => End::Controller,
        }
    }
}

/// Seals the messages of one end, or opens those of the other.
#[derive(Clone)]
pub struct Seal {
    key: [u8; 32],
    from: End,
    next: u64,
}

/// A message that was changed, repeated or made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message is not what the other end sent")]
pub struct Broken;

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("from", &self.from).field("next", &self.next).finish_non_exhaustive()
    }
}

impl Seal {
    pub(crate) fn new(key: [u8; 32], from: End) -> Seal {
        Seal { key, from, next: 0 }
    }

    /// The next message with its MAC before it.
    #[must_use]
    pub fn seal(&mut self, message: &[u8]) -> Vec<u8> {
        let mac = mac(&self.key, &[self.from.label(), &self.next.to_be_bytes(), message]);
        self.next += 1;
        [mac.finalize().into_bytes().as_slice(), message].concat()
    }

    /// The message in what [`Seal::seal`] made.
    ///
    /// # Errors
    /// It was not made by the other end, or not as its next message.
    pub fn open<'m>(&mut self, sealed: &'m [u8]) -> Result<&'m [u8], Broken> {
        let (given, message) = sealed.split_at_checked(MAC_BYTES).ok_or(Broken)?;
        let mac = mac(&self.key, &[self.from.label(), &self.next.to_be_bytes(), message]);
        mac.verify_slice(given).map_err(|_| Broken)?;
        self.next += 1;
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_changed_repeated_or_turned_back_is_not_opened() {
        let key = [7; 32];
        let (mut sends, mut reads) = (Seal::new(key, End::Agent), Seal::new(key, End::Agent));
        let sealed = [sends.seal(b"one"), sends.seal(b"two")];
        assert_eq!(reads.clone().open(&sealed[1]), Err(Broken), "the second first");
        let mut changed = sealed[0].clone();
        *changed.last_mut().unwrap() ^= 1;
        assert_eq!(reads.open(&changed), Err(Broken));
        assert_eq!(Seal::new(key, End::Controller).open(&sealed[0]), Err(Broken), "from the wrong end");
        assert_eq!(Seal::new([8; 32], End::Agent).open(&sealed[0]), Err(Broken), "of another connection");
        assert_eq!(reads.open(&sealed[0]), Ok(b"one".as_slice()));
        assert_eq!(reads.open(&sealed[0]), Err(Broken), "twice");
        assert_eq!(reads.open(&sealed[1]), Ok(b"two".as_slice()));
        assert_eq!(reads.open(b"short"), Err(Broken));
    }
}
