//! Locks of files (flock). The kernel gives them back when their holder dies, however it dies.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

/// How long to wait before asking for a lock again: a blocking wait would not notice an interrupt.
const PAUSE: Duration = Duration::from_millis(50);

/// A file that is a lock. Closing alone would not unlock it as long as a process that is just being forked has it open too.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Opens it, and makes it where there is none.
    pub fn open(path: &Path) -> io::Result<Lock> {
        File::options().read(true).append(true).create(true).open(path).map(Lock)
    }

    /// Opens one that is there and that this user may not be allowed to write to.
    pub fn open_to_share(path: &Path) -> io::Result<Lock> {
        File::open(path).map(Lock)
    }

    pub fn try_alone(&self) -> Result<(), TryLockError> {
        self.0.try_lock()
    }

    pub fn try_shared(&self) -> Result<(), TryLockError> {
        self.0.try_lock_shared()
    }

    /// True where it could be had at once.
    pub fn is_had_alone(&self) -> io::Result<bool> {
        match self.try_alone() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// When it was last marked as used, or made.
    pub fn used(&self) -> io::Result<SystemTime> {
        self.0.metadata()?.modified()
    }

    pub fn mark_used(&self) -> io::Result<()> {
        self.0.set_modified(SystemTime::now())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Waits until `attempt` has its lock. An interrupt ends the wait as [`io::ErrorKind::Interrupted`].
pub fn wait<T>(
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
