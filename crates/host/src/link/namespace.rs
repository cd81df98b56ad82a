//! A network namespace: interfaces, addresses, routes and ports of its own. It lives as long as somebody holds a
//! descriptor of it, or has a thread, a socket or an interface in it.

use std::{
    fs::File,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use super::LinkError;

/// A network namespace.
#[derive(Debug, Clone)]
pub struct Namespace {
    descriptor: Arc<OwnedFd>,
}

impl Namespace {
    /// A new one, in which even loopback is still down.
    pub fn new() -> Result<Namespace, LinkError> {
        let make = || {
            // SAFETY: only the network namespace of this thread changes, not its table of descriptors, and the thread
            // ends with this closure.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            File::open("/proc/thread-self/ns/net")
        };
        let descriptor = on_a_thread(make)?.map_err(LinkError::NewNamespace)?;
        Ok(Namespace { descriptor: Arc::new(descriptor.into()) })
    }

    /// Does `work` inside. Sockets that it makes and processes that it starts are of this namespace, and stay so.
    ///
    /// It happens on a thread of its own, which ends with the work: the way back into the namespace of the caller is barred
    /// where that belongs to another user namespace (see [`super::rights`]), and so no panic can leave a thread behind in
    /// here. A panic of the work goes on in the caller.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
        on_a_thread(|| {
            let inside = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(self.descriptor.as_fd(), inside)
                .map_err(|error| LinkError::Enter(error.into()))?;
            Ok(work())
        })?
    }

    /// For `tare_load::Route`, whose threads enter it.
    #[must_use]
    pub fn fd(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.descriptor)
    }
}

/// The result of `work`, which ran on a thread that has ended. CPUs and timer slack are the caller's.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("tare-within".to_owned());
        let thread = builder.spawn_scoped(scope, work).map_err(LinkError::Thread)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
