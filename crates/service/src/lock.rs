//! File locks (flock). The kernel releases them when their holder dies, however it dies.

use std::{
    fs::{self, File, Metadata, TryLockError},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

/// Pause between attempts: a blocking wait would not notice an interrupt.
const PAUSE: Duration = Duration::from_millis(50);

/// A lock file. Closing does not unlock it while a process that is being forked still has it open.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Opens the lock file, or creates it.
    pub(crate) fn open(path: &Path) -> io::Result<Lock> {
        File::options().read(true).append(true).create(true).open(path).map(Lock)
    }

    /// Opens an existing lock file, even without write permission.
    pub(crate) fn open_to_share(path: &Path) -> io::Result<Lock> {
        File::open(path).map(Lock)
    }

    pub(crate) fn try_alone(&self) -> Result<(), TryLockError> {
        self.0.try_lock()
    }

    pub(crate) fn try_shared(&self) -> Result<(), TryLockError> {
        self.0.try_lock_shared()
    }

    /// Whether the lock could be taken at once.
    pub(crate) fn is_had_alone(&self) -> io::Result<bool> {
        match self.try_alone() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether it is still the file of this path: the file may have been removed, and made anew by another process.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let id = |found: io::Result<Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
        let own = id(self.0.metadata());
        own.is_some() && own == id(fs::metadata(path))
    }

    /// The time of the last use, or of creation.
    pub(crate) fn used(&self) -> io::Result<SystemTime> {
        self.0.metadata()?.modified()
    }

    pub(crate) fn mark_used(&self) -> io::Result<()> {
        self.0.set_modified(SystemTime::now())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Waits until `attempt` has its lock. An interrupt ends the wait as [`io::ErrorKind::Interrupted`].
pub(crate) fn wait<T>(
    interrupt: &AtomicBool,
    mut attempt: impl FnMut() -> Result<T, TryLockError>,
) -> io::Result<T> {
    loop {
        match attempt() {
            Ok(locked) => return Ok(locked),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if interrupt.load(Ordering::Relaxed) => {
                return Err(io::ErrorKind::Interrupted.into());
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::{sync::Arc, time::Instant};

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn two() -> (tempfile::TempDir, Lock, Lock) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (one, two) = (Lock::open(&path).unwrap(), Lock::open(&path).unwrap());
        (folder, one, two)
    }

    #[test]
    fn readers_share_a_lock_that_a_writer_has_alone() {
        let (_folder, one, two) = two();
        one.try_shared().unwrap();
        two.try_shared().unwrap();
        assert!(!one.is_had_alone().unwrap(), "the other reads");
        drop(two);
        assert!(one.is_had_alone().unwrap());
    }

    #[test]
    fn a_lock_ends_with_its_value() {
        let (folder, one, two) = two();
        one.try_alone().unwrap();
        assert!(matches!(two.try_alone(), Err(TryLockError::WouldBlock)));
        drop(one);
        two.try_alone().unwrap();
        let reader = Lock::open_to_share(&folder.path().join("lock")).unwrap();
        assert!(matches!(reader.try_shared(), Err(TryLockError::WouldBlock)));
        assert!(Lock::open_to_share(&folder.path().join("none")).is_err(), "sharing makes no file");
    }

    #[test]
    fn a_wait_ends_with_the_lock_or_with_an_interrupt() {
        let (_folder, one, two) = two();
        one.try_alone().unwrap();
        let interrupted = AtomicBool::new(true);
        let error = wait(&interrupted, || two.try_alone()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        let holder = std::thread::spawn(move || {
            std::thread::sleep(2 * PAUSE);
            drop(one);
        });
        let began = Instant::now();
        wait(&NEVER, || two.try_alone()).unwrap();
        assert!(began.elapsed() >= PAUSE, "it waited");
        holder.join().unwrap();
        wait(&interrupted, || two.try_alone()).expect("a lock that is free needs no wait");
    }

    #[test]
    fn a_use_is_marked_for_others() {
        let (_folder, one, two) = two();
        one.0.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(two.used().unwrap(), SystemTime::UNIX_EPOCH);
        two.mark_used().unwrap();
        assert!(one.used().unwrap() > SystemTime::now() - Duration::from_secs(60));
    }

    #[test]
    fn an_error_is_no_reason_to_wait() {
        let tries = Arc::new(AtomicBool::new(false));
        let failed = || -> Result<(), TryLockError> {
            assert!(!tries.swap(true, Ordering::Relaxed), "tried once");
            Err(TryLockError::Error(io::ErrorKind::StorageFull.into()))
        };
        assert_eq!(wait(&NEVER, failed).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
