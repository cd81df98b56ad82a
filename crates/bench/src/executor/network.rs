//! The network of a service, and how clients reach it.

use std::{os::fd::OwnedFd, sync::Arc};

use tare_host::link::{Link, LinkError, Namespace};

use crate::{
    plan::{Plan, Point},
    schedule::{ExecutorError, Slot},
};

#[derive(Debug)]
pub(super) enum Network {
    /// The machine's network, shared with all programs.
    Machine,
    /// A network namespace with its own loopback, for the service and its clients only.
    Own(Namespace),
    /// A namespace behind a slow link.
    Behind(Box<Link>),
}

impl Network {
    /// # Errors
    /// If the kernel refuses a namespace or a device.
    pub(super) fn create(plan: &Plan, slot: Slot, seed: u64) -> Result<Network, LinkError> {
        let point: &Point = &plan.points[slot.point];
        let is_started_here = plan.rows[slot.row].running.is_none();
        match &point.link {
            Some(link) => {
                Link::create(&link.spec, &plan.pinning.generator, seed).map(Box::new).map(Network::Behind)
            }
            None if plan.isolates && is_started_here => Namespace::alone().map(Network::Own),
            None => Ok(Network::Machine),
        }
    }

    pub(super) fn link(&self) -> Option<&Link> {
        match self {
            Network::Behind(link) => Some(link),
            Network::Machine | Network::Own(_) => None,
        }
    }

    /// The namespace of client sockets; absent for the network of the machine.
    pub(super) fn of_clients(&self) -> Option<Arc<OwnedFd>> {
        match self {
            Network::Machine => None,
            Network::Own(own) => Some(own.fd()),
            Network::Behind(link) => Some(link.client().fd()),
        }
    }

    /// Runs `act` in the network of the service.
    pub(super) fn at_the_service<T: Send>(&self, act: impl FnOnce() -> T + Send) -> Result<T, ExecutorError> {
        match self {
            Network::Machine => Ok(act()),
            Network::Own(own) => Ok(own.within(act)?),
            Network::Behind(link) => Ok(link.server().within(act)?),
        }
    }
}
