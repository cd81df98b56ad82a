//! Counters that one process adds to and another one reads: a file that the first has mapped. Adding costs no system call, and
//! what was added is in the file at once.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, Ordering},
};

/// Each counter has a cache line of its own, so that threads do not wait for each other.
const BYTES_EACH: usize = 64;
const U64_BYTES: usize = size_of::<u64>();

/// The mapped file, as the process has it that adds.
#[derive(Debug)]
pub struct SharedCounters {
    first: NonNull<u8>,
    count: usize,
}

// SAFETY: the mapping belongs to this value alone, and all that is done with it is atomic.
unsafe impl Send for SharedCounters {}
// SAFETY: as above.
unsafe impl Sync for SharedCounters {}

impl SharedCounters {
    /// Makes a file of `count` counters, each 0.
    ///
    /// # Errors
    /// The file cannot be made, has no room on its disk, or cannot be mapped.
    pub fn create(path: &Path, count: usize) -> io::Result<SharedCounters> {
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        let bytes = count * BYTES_EACH;
        // Written, since a mapped page without room on its disk would end the process at its first use.
        file.write_all(&vec![0; bytes])?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let file = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: a new mapping of an open file, at an address that the kernel chooses.
        let address = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, file, 0) };
        match NonNull::new(address.cast()) {
            Some(first) if address != libc::MAP_FAILED => Ok(SharedCounters { first, count }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Adds to one of them.
    ///
    /// # Panics
    /// There is no such counter.
    pub fn add(&self, counter: usize, value: u64) {
        assert!(counter < self.count, "{counter} of {} counters", self.count);
        // SAFETY: it lies within the mapping, at a multiple of 64 bytes, and lives as long as `self`.
        let at = unsafe { &*self.first.as_ptr().add(counter * BYTES_EACH).cast::<AtomicU64>() };
        at.fetch_add(value, Ordering::Relaxed);
    }

    /// The sum of all counters of such a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn sum(path: &Path) -> io::Result<u64> {
        let bytes = fs::read(path)?;
        let value = |counter: &[u8]| u64::from_ne_bytes(counter[..U64_BYTES].try_into().unwrap_or_default());
        Ok(bytes.chunks_exact(BYTES_EACH).map(value).sum())
    }
}

impl Drop for SharedCounters {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the mapping any more.
        unsafe { libc::munmap(self.first.as_ptr().cast(), self.count * BYTES_EACH) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_add_is_in_the_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counters");
        assert_eq!(SharedCounters::sum(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        let counters = SharedCounters::create(&path, 3).unwrap();
        assert_eq!(SharedCounters::sum(&path).unwrap(), 0);
        std::thread::scope(|scope| {
            for counter in 0..3 {
                let counters = &counters;
                scope.spawn(move || (0..1_000).for_each(|_| counters.add(counter, 2)));
            }
        });
        assert_eq!(SharedCounters::sum(&path).unwrap(), 6_000);
        drop(counters);
        assert_eq!(SharedCounters::sum(&path).unwrap(), 6_000);
        assert_eq!(
            SharedCounters::sum(&SharedCounters::create(&path, 1).map(|_| path.clone()).unwrap()).unwrap(),
            0
        );
    }
}
