//! The memory of a process, read from outside while it stands still. It is the process's own, so nothing in it is believed: each read has a
//! bounded length, and a place that is not there has no answer.

use std::{fs::File, os::unix::fs::FileExt};

/// The longest text that is read.
const TEXT_BYTES_MAX: usize = 512;

/// Reads of memory by address. A file of the right bytes is one too, as is `/proc/PID/mem`.
pub(super) trait Memory {
    /// Fills all of `into`; `None` if a byte of it is not there.
    fn fill(&self, address: u64, into: &mut [u8]) -> Option<()>;

    fn bytes(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.fill(address, &mut bytes)?;
        Some(bytes)
    }

    fn array<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(address, &mut bytes)?;
        Some(bytes)
    }

    fn u8(&self, address: u64) -> Option<u8> {
        self.array(address).map(|[byte]| byte)
    }

    fn u16(&self, address: u64) -> Option<u16> {
        self.array(address).map(u16::from_ne_bytes)
    }

    fn u32(&self, address: u64) -> Option<u32> {
        self.array(address).map(u32::from_ne_bytes)
    }

    fn u64(&self, address: u64) -> Option<u64> {
        self.array(address).map(u64::from_ne_bytes)
    }

    /// A text that ends with a zero byte.
    fn text(&self, address: u64) -> Option<String> {
        let mut text = Vec::new();
        // In small pieces that end where a page may end: what is behind it may not be there.
        while text.len() < TEXT_BYTES_MAX {
            let at = address.checked_add(text.len() as u64)?;
            let piece = self.bytes(at, (64 - at % 64) as usize)?;
            if let Some(end) = piece.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(&piece[..end]);
                return Some(String::from_utf8_lossy(&text).into_owned());
            }
            text.extend(piece);
        }
        None
    }
}

impl Memory for File {
    fn fill(&self, address: u64, into: &mut [u8]) -> Option<()> {
        self.read_exact_at(into, address).ok()
    }
}

/// The memory of a process of this user, or of one that it started where the kernel asks for more.
pub(super) fn of_process(pid: u32) -> Option<File> {
    File::open(format!("/proc/{pid}/mem")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_read_and_what_is_not_there_is_none() {
        let own = of_process(std::process::id()).unwrap();
        let (number, text) = (Box::new(0x0102_0304_0506_0708_u64), c"StubRoutines");
        let (number_at, text_at) = (std::ptr::from_ref(&*number) as u64, text.as_ptr() as u64);
        assert_eq!(
            (own.u64(number_at), own.u16(number_at), own.u8(number_at)),
            (Some(*number), Some(0x0708), Some(8))
        );
        assert_eq!(own.text(text_at).as_deref(), Some("StubRoutines"));
        assert_eq!((own.u32(8), own.text(0), own.bytes(u64::MAX - 1, 16)), (None, None, None));
        // Longer than any name.
        let long = vec![b'x'; 4096];
        assert_eq!(own.text(long.as_ptr() as u64), None);
    }
}
