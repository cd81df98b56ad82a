//! Ctrl-C and SIGTERM: the first asks a command to stop and print its results so far, the second ends it at once (the
//! watchdog then kills what is still running).

use std::{
    io,
    os::unix::net::UnixStream,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use signal_hook::consts::{SIGINT, SIGTERM};

static RECEIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Installs the handlers. A signal sets the returned flag.
///
/// # Errors
/// The kernel refuses a handler for a signal.
pub fn listen() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let received = RECEIVED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        // In this order: the second signal finds the flag set and ends the process.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&flag))?;
        signal_hook::flag::register_usize(signal, Arc::clone(received), signal as usize)?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

/// As [`listen`], for an event loop: a signal makes the returned socket readable.
///
/// # Errors
/// The kernel refuses a handler or a pair of sockets.
pub fn listen_by_socket() -> io::Result<UnixStream> {
    listen()?;
    let (read, write) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(read)
}

pub fn received() -> Option<i32> {
    let signal = RECEIVED.get()?.load(Ordering::Relaxed);
    (signal != 0).then_some(signal as i32)
}

/// Forgets the signal that was received: a server that ends on SIGTERM has not been interrupted.
pub fn forget() {
    if let Some(received) = RECEIVED.get() {
        received.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::{io::Read, time::Duration};

    /// One test, since a signal reaches the whole process.
    #[test]
    fn the_first_signal_is_noticed_everywhere_and_can_be_forgotten() {
        let flag = listen().unwrap();
        let mut socket = listen_by_socket().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        assert_eq!((flag.load(Ordering::Relaxed), received()), (false, None));
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!(socket.read(&mut [0; 8]).unwrap(), 1, "an event loop wakes up");
        assert_eq!((flag.load(Ordering::Relaxed), received()), (true, Some(SIGTERM)));
        forget();
        assert_eq!(received(), None);
    }
}
