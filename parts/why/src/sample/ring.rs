//! The buffer that the kernel shares with a reader: records are written at its head and read at its tail.

use std::{
    io,
    os::fd::AsRawFd,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, Ordering},
};

use super::attributes::Event;

/// Places in the first page (`struct perf_event_mmap_page`).
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// The shared buffer of one CPU.
#[derive(Debug)]
pub(super) struct Ring {
    start: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
}

// SAFETY: the memory belongs to this value alone on our side of the kernel, and no method needs the thread that mapped it.
unsafe impl Send for Ring {}

impl Ring {
    /// The buffer of an event, with this number of bytes: a power of two, and a multiple of a page.
    ///
    /// # Errors
    /// The kernel refuses, such as beyond its limit of locked memory.
    pub(super) fn of(event: &Event, data_bytes: usize) -> io::Result<Ring> {
        let page_bytes = rustix::param::page_size();
        let (length, access) = (page_bytes + data_bytes, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: the kernel chooses the place, so no memory in use is replaced; the descriptor is open, and the result is
        // checked. The mapping outlives the descriptor.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), length, access, libc::MAP_SHARED, event.as_raw_fd(), 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(Ring { start, page_bytes, data_bytes })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn position(&self, place: usize) -> &AtomicU64 {
        // SAFETY: `place` is one of two constants within the first page, which is mapped as long as `self` lives, aligned for
        // eight bytes; the kernel changes these words by atomic stores only.
        unsafe { &*self.start.as_ptr().add(place).cast::<AtomicU64>() }
    }

    /// Takes all records out and adds them to `out`. Returns how many bytes these were.
    pub(super) fn drain(&mut self, out: &mut Vec<u8>) -> usize {
        let (head, tail) = (self.position(HEAD), self.position(TAIL));
        // What the kernel wrote before it moved its head is visible after this load.
        let (end, begin) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        let length = (end.wrapping_sub(begin) as usize).min(self.data_bytes);
        let first = begin as usize & (self.data_bytes - 1);
        let before_wrap = length.min(self.data_bytes - first);
        out.reserve(length);
        for (from, bytes) in [(first, before_wrap), (0, length - before_wrap)] {
            // SAFETY: `from + bytes` is at most `data_bytes`, so all of it lies in the mapping, behind its first page. The kernel
            // writes none of it before the tail moves past it. The room was reserved, and the regions cannot overlap, as one is a
            // heap allocation.
            unsafe {
                let data = self.start.as_ptr().add(self.page_bytes + from);
                let room = out.as_mut_ptr().add(out.len());
                ptr::copy_nonoverlapping(data, room, bytes);
                out.set_len(out.len() + bytes);
            }
        }
        tail.store(end, Ordering::Release);
        length
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly the region that `of` mapped, and nothing refers to it after this.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.page_bytes + self.data_bytes) };
    }
}
