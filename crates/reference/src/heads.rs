//! Counts the ends of request heads in a stream of bytes that is split anywhere.

use memchr::memmem;

const END: &[u8] = b"\r\n\r\n";

/// The last bytes so far, which may begin the end of a head.
#[derive(Debug, Default)]
pub(super) struct Heads {
    kept: [u8; END.len() - 1],
    count: usize,
}

impl Heads {
    /// Number of heads that end in `bytes`, which continue those of the last call.
    pub(super) fn count(&mut self, bytes: &[u8]) -> usize {
        if self.count == 0 {
            return self.count_in(bytes);
        }
        let joined = [&self.kept[..self.count], bytes].concat();
        self.count_in(&joined)
    }

    fn count_in(&mut self, bytes: &[u8]) -> usize {
        let (mut heads, mut after) = (0, 0);
        while let Some(at) = memmem::find(&bytes[after..], END) {
            heads += 1;
            after += at + END.len();
        }
        let rest = &bytes[after..];
        self.count = rest.len().min(self.kept.len());
        self.kept[..self.count].copy_from_slice(&rest[rest.len() - self.count..]);
        heads
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cutting_changes_nothing(bytes in "[\r\na]{0,40}", cuts in prop::collection::vec(0usize..41, 0..6)) {
            let whole = Heads::default().count(bytes.as_bytes());
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut heads = Heads::default();
            let parts: usize = cuts.windows(2).map(|cut| heads.count(&bytes.as_bytes()[cut[0]..cut[1]])).sum();
            prop_assert_eq!(parts, whole);
        }
    }
}
