//! Messages on a stream: a length of four bytes, big-endian, followed by that many bytes. It does no I/O, and
//! allocates memory only for bytes that have arrived.

/// The bytes before a message.
pub const HEAD_BYTES: usize = 4;
/// The size limit of a message: a job with its requests, or a report with its histograms.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A violation of the framing, which no version of this protocol sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("a message of {bytes} bytes, of which at most {limit} are allowed")]
    TooLong { bytes: usize, limit: usize },
    #[error("a message without content")]
    Empty,
}

/// Splits received bytes into messages.
#[derive(Debug)]
pub struct Frames {
    pending: Vec<u8>,
    /// The start of the next message.
    at: usize,
    limit: usize,
}

impl Frames {
    /// For messages of at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Frames {
        Frames { pending: Vec::new(), at: 0, limit }
    }

    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.at > 0 {
            self.pending.drain(..self.at);
            self.at = 0;
        }
        self.pending.extend_from_slice(bytes);
    }

    /// The next message, if it is complete.
    ///
    /// # Errors
    /// The next message is empty or too long; the stream is unusable from now on.
    pub fn take(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let rest = &self.pending[self.at..];
        let Some((head, rest)) = rest.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let bytes = u32::from_be_bytes(*head) as usize;
        match bytes {
            0 => return Err(FrameError::Empty),
            bytes if bytes > self.limit => return Err(FrameError::TooLong { bytes, limit: self.limit }),
            _ => {}
        }
        let message = rest.get(..bytes).map(<[u8]>::to_vec);
        if message.is_some() {
            self.at += HEAD_BYTES + bytes;
        }
        Ok(message)
    }

    /// Whether the stream may end here, which is not within a message.
    #[must_use]
    pub fn is_between_messages(&self) -> bool {
        self.at == self.pending.len()
    }
}

/// A message with its length in front.
///
/// # Errors
/// The message is empty, or longer than the limit.
pub fn framed(message: &[u8]) -> Result<Vec<u8>, FrameError> {
    match message.len() {
        0 => Err(FrameError::Empty),
        bytes if bytes > MESSAGE_BYTES_MAX => Err(FrameError::TooLong { bytes, limit: MESSAGE_BYTES_MAX }),
        bytes => Ok([&(bytes as u32).to_be_bytes(), message].concat()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_length_alone_reserves_nothing_and_is_refused_if_it_is_too_long() {
        let mut frames = Frames::new(1_000);
        frames.push(&u32::MAX.to_be_bytes());
        assert_eq!(frames.take(), Err(FrameError::TooLong { bytes: u32::MAX as usize, limit: 1_000 }));
        let mut frames = Frames::new(1_000);
        frames.push(&[0; 4]);
        assert_eq!(frames.take(), Err(FrameError::Empty));
        assert_eq!(framed(&[]), Err(FrameError::Empty));
        assert!(framed(&vec![1; MESSAGE_BYTES_MAX + 1]).is_err());
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_messages(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..8),
            cuts in prop::collection::vec(1..20_usize, 1..200),
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|message| framed(message).unwrap()).collect();
            let (mut frames, mut found, mut rest) = (Frames::new(50), Vec::new(), stream.as_slice());
            for cut in cuts.iter().cycle().take_while(|_| true) {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                frames.push(now);
                while let Some(message) = frames.take().unwrap() {
                    found.push(message);
                }
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(found, messages);
            prop_assert!(frames.is_between_messages());
        }
    }
}
