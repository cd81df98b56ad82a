//! Ctrl-C and SIGTERM: the first asks a command to stop and print what is known, the second ends it at once (the keeper
//! then kills whatever is still running).

use std::{
    os::unix::net::UnixStream,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};

static RECEIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From now on a signal sets the flag that is returned.
pub fn listen() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let received = RECEIVED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        let register = || -> std::io::Result<()> {
            // In this order: the second signal finds the flag set and ends the process.
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&flag))?;
            signal_hook::flag::register_usize(signal, Arc::clone(received), signal as usize)?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
            Ok(())
        };
        register().with_context(|| format!("cannot listen for signal {signal}"))?;
    }
    Ok(flag)
}

/// For who waits for other things too: from now on a signal makes what is returned readable.
pub fn listen_by_socket() -> anyhow::Result<UnixStream> {
    listen()?;
    let (read, write) = UnixStream::pair().context("cannot make a pair of sockets")?;
    for signal in [SIGINT, SIGTERM] {
        let write = write.try_clone().context("cannot duplicate a socket")?;
        signal_hook::low_level::pipe::register(signal, write)
            .with_context(|| format!("cannot listen for signal {signal}"))?;
    }
    Ok(read)
}

/// The signal that was received, if one was.
pub fn received() -> Option<i32> {
    let signal = RECEIVED.get()?.load(Ordering::Relaxed);
    (signal != 0).then_some(signal as i32)
}

/// A server that was asked to end and did has not been interrupted.
pub fn forget() {
    if let Some(received) = RECEIVED.get() {
        received.store(0, Ordering::Relaxed);
    }
}
