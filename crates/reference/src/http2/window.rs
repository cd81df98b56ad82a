//! Flow control (RFC 9113, section 5.2): bytes that may still be received and sent.

use tare_base::http2::ErrorCode;

/// The default window of a connection and its streams.
pub(super) const INITIAL: u32 = 65_535;
/// Largest allowed window.
const MAX: i64 = 0x7fff_ffff;

/// The client's send window. Its bytes are returned once they reach half the window: bodies are skipped, so
/// smaller steps are not needed.
#[derive(Debug)]
pub(super) struct Inbound {
    size: u32,
    taken: u32,
}

impl Inbound {
    pub(super) fn new(size: u32) -> Inbound {
        Inbound { size, taken: 0 }
    }

    /// Takes the payload of a frame; returns the bytes to give back, if any.
    pub(super) fn take(&mut self, bytes: usize) -> Result<Option<u32>, ErrorCode> {
        self.taken += bytes as u32;
        match self.taken {
            taken if taken > self.size => Err(ErrorCode::FLOW_CONTROL),
            taken if taken > self.size / 2 => Ok(Some(std::mem::take(&mut self.taken))),
            _ => Ok(None),
        }
    }
}

/// Bytes that may still be sent. If a client lowers its initial window, stream windows can become negative.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outbound(i64);

impl Outbound {
    pub(super) fn new(size: u32) -> Outbound {
        Outbound(size.into())
    }

    pub(super) fn left(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    /// Adds what a client grants, or the difference of two of its settings.
    pub(super) fn grow(&mut self, by: i64) -> Result<(), ErrorCode> {
        self.0 += by;
        if self.0 <= MAX { Ok(()) } else { Err(ErrorCode::FLOW_CONTROL) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_client_that_sends_more_than_it_may_is_found_out() {
        let mut window = Inbound::new(100);
        assert_eq!(window.take(50), Ok(None));
        assert_eq!(window.take(1), Ok(Some(51)));
        assert_eq!(window.take(101), Err(ErrorCode::FLOW_CONTROL));
    }

    #[test]
    fn a_window_may_become_negative_and_not_too_large() {
        let mut window = Outbound::new(10);
        window.grow(-30).unwrap();
        assert_eq!(window.left(), 0);
        window.grow(25).unwrap();
        assert_eq!(window.left(), 5);
        window.spend(5);
        assert_eq!((window.grow(MAX), window.grow(1)), (Ok(()), Err(ErrorCode::FLOW_CONTROL)));
    }

    proptest! {
        #[test]
        fn an_upload_of_any_length_goes_on(frames in prop::collection::vec(0_usize..=50, 0..200)) {
            let (mut window, mut left) = (Inbound::new(100), 100);
            for bytes in frames {
                prop_assert!(left >= 50, "half of it is always free");
                left -= bytes as u32;
                left += window.take(bytes).unwrap().unwrap_or(0);
            }
        }
    }
}
