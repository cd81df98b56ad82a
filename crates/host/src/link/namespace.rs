//! A network namespace: interfaces, addresses, routes and ports of its own. It lives as long as there is a
//! descriptor of it, or a thread, a socket or an interface in it.

use std::{
    fs::File,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use super::{error::LinkError, interface::Interface};
use crate::threads::on_another;

#[derive(Debug, Clone)]
pub struct Namespace {
    descriptor: Arc<OwnedFd>,
}

impl Namespace {
    /// A new namespace, in which even loopback is down.
    ///
    /// # Errors
    /// The kernel refuses it, or a thread.
    pub(crate) fn new() -> Result<Namespace, LinkError> {
        let make = || {
            // SAFETY: only the network namespace of this thread changes, not its table of descriptors, and the thread
            // ends with this closure.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            File::open("/proc/thread-self/ns/net")
        };
        let descriptor = on_another(make).map_err(LinkError::Thread)?.map_err(LinkError::NewNamespace)?;
        Ok(Namespace { descriptor: Arc::new(descriptor.into()) })
    }

    /// A namespace with only a loopback of its own: processes in it cannot reach the outside, nor be reached
    /// from there.
    ///
    /// # Errors
    /// The kernel refuses it, or a thread.
    pub fn alone() -> Result<Namespace, LinkError> {
        let namespace = Namespace::new()?;
        namespace.within(|| Interface::of("lo")?.up())??;
        Ok(namespace)
    }

    /// Runs `work` inside. Sockets and processes that it creates stay in this namespace.
    ///
    /// It runs on a thread of its own, which ends with it: a thread cannot return to a namespace that belongs
    /// to another user namespace (see [`super::rights`]). A panic of `work` is resumed in the caller.
    ///
    /// # Errors
    /// The namespace cannot be entered, or no thread can be started.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
        on_another(|| {
            let inside = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(self.descriptor.as_fd(), inside)
                .map_err(|error| LinkError::Enter(error.into()))?;
            Ok(work())
        })
        .map_err(LinkError::Thread)?
    }

    /// The descriptor for `tare_base::Route`, whose threads enter the namespace.
    #[must_use]
    pub fn fd(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.descriptor)
    }
}
