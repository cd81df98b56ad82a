//! Receive buffers that all connections of a ring share. An idle connection occupies none.

use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU16, Ordering};
use std::{io, slice};

use io_uring::types::{BufRingEntry, IOU_PBUF_RING_INC};
use io_uring::{Submitter, cqueue};

/// The one buffer group of a ring.
pub(super) const GROUP: u16 = 0;

/// The number of buffers and their size.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// A power of two.
    count: u16,
    bytes: usize,
    flags: u16,
}

/// Linux 6.12 fills a buffer piece by piece: small answers lie side by side, and a large body comes in large pieces.
const INCREMENTAL: Layout = Layout { count: 4, bytes: 256 * 1024, flags: IOU_PBUF_RING_INC as u16 };
/// Before that every receive takes a whole buffer, and all connections may have an answer at a time.
const WHOLE: Layout = Layout { count: 512, bytes: 8 * 1024, flags: 0 };

/// A range of the memory that a receive filled.
#[derive(Debug, Clone, Default)]
pub(super) struct ReceivedRange {
    range: Range<usize>,
    /// The buffer that is returned to the kernel after this piece has been read.
    finished: Option<u16>,
}

/// The buffers, and the queue that gives them to the kernel.
#[derive(Debug)]
pub(super) struct Buffers {
    /// The queue, which begins a page, and the buffers behind it.
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    queue_bytes: usize,
    layout: Layout,
    tail: u16,
    /// The number of bytes received into each buffer.
    filled: Vec<usize>,
}

impl Buffers {
    /// Buffers that the ring knows and may fill.
    pub(super) fn register(submitter: &Submitter<'_>) -> io::Result<Buffers> {
        match Buffers::divided(INCREMENTAL, submitter) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Buffers::divided(WHOLE, submitter),
            result => result,
        }
    }

    #[allow(unsafe_code)]
    fn divided(layout: Layout, submitter: &Submitter<'_>) -> io::Result<Buffers> {
        let count = usize::from(layout.count);
        let queue_bytes = (count * size_of::<BufRingEntry>()).next_multiple_of(rustix::param::page_size());
        let mapping_bytes = queue_bytes + count * layout.bytes;
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping at no fixed address touches no other memory.
        let address = unsafe { libc::mmap(ptr::null_mut(), mapping_bytes, protection, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let filled = vec![0; count];
        let mut buffers = Buffers { mapping, mapping_bytes, queue_bytes, layout, tail: 0, filled };
        // SAFETY: the queue begins a page, has room for all entries and is unmapped after the ring is gone.
        unsafe { submitter.register_buf_ring_with_flags(address as u64, layout.count, GROUP, layout.flags) }?;
        (0..layout.count).for_each(|buffer| buffers.offer(buffer));
        Ok(buffers)
    }

    /// The piece that a completed receive filled, if it has one. To be called once for every receive, in order.
    #[inline]
    pub(super) fn take(&mut self, result: i32, flags: u32) -> ReceivedRange {
        let Some(buffer) = cqueue::buffer_select(flags) else { return ReceivedRange::default() };
        let index = usize::from(buffer);
        let start = self.queue_bytes + index * self.layout.bytes + self.filled[index];
        let bytes = usize::try_from(result).unwrap_or(0);
        self.filled[index] += bytes;
        ReceivedRange {
            range: start..start + bytes,
            finished: (!cqueue::buffer_more(flags)).then_some(buffer),
        }
    }

    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn bytes(&self, piece: &ReceivedRange) -> &[u8] {
        // SAFETY: the range is within the mapping: it is empty, or `take` made it from what the kernel wrote.
        // The kernel does not write there again before `give_back`, which takes the piece by value.
        unsafe { slice::from_raw_parts(self.mapping.as_ptr().add(piece.range.start), piece.range.len()) }
    }

    /// The bytes of a piece, to be changed in place.
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn bytes_mut(&mut self, piece: &ReceivedRange) -> &mut [u8] {
        // SAFETY: as in `bytes`, and nothing else refers to the memory while `self` is borrowed.
        unsafe { slice::from_raw_parts_mut(self.mapping.as_ptr().add(piece.range.start), piece.range.len()) }
    }

    /// Returns a piece to the kernel.
    #[inline]
    pub(super) fn give_back(&mut self, piece: ReceivedRange) {
        if let Some(buffer) = piece.finished {
            self.offer(buffer);
        }
    }

    #[allow(unsafe_code)]
    fn offer(&mut self, buffer: u16) {
        let index = usize::from(buffer);
        self.filled[index] = 0;
        let offset = self.queue_bytes + index * self.layout.bytes;
        let queue = self.mapping.as_ptr().cast::<BufRingEntry>();
        // SAFETY: the entry lies in the queue, because the count is a power of two. It is not in the kernel's
        // part, because the kernel has at most `count` buffers. The spare field of the first entry holds the
        // tail that the kernel reads.
        unsafe {
            let entry = &mut *queue.add(usize::from(self.tail & (self.layout.count - 1)));
            entry.set_addr(self.mapping.as_ptr().add(offset) as u64);
            entry.set_len(self.layout.bytes as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            (*BufRingEntry::tail(queue).cast::<AtomicU16>()).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: it is our mapping, and no reference to it outlives `self`.
        let _result = unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
    }
}
