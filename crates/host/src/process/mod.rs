//! Starts benchmark services, supervises, freezes and stops them, and proves that nothing of them is left.
//!
//! A [`Supervisor`] says how services are kept apart ([`Isolation`]) and has a [`Keeper`] that outlives it; a
//! [`Service`] is one running program. Every service is a process group and, where the kernel allows, a set of
//! cgroups; every process of it also carries the name of its group in its environment, so that even without cgroups
//! one that left the process group is found again.
//!
//! It deliberately knows nothing of contracts, HTTP or manifests: what to run is a [`Launch`], whether a service is
//! ready is answered by a closure.

pub mod cgroup;
pub mod keeper;

mod ask;
mod fallback;
mod folder;
mod group;
mod job;
mod launch;
mod metrics;
mod outcome;
mod port;
mod procfs;
mod quota;
mod service;
mod sweep;
mod syscall;
mod tail;
mod throttle;

pub use ask::Asked;
pub use cgroup::{Accounting, Freezer, Isolation, Killing};
pub use job::{Ended, Job, Limits, run_to_end};
pub use keeper::{Keeper, KeeperError};
pub use launch::{Launch, StartError, Supervisor};
pub use metrics::Modes;
pub use outcome::{Exit, FreezeError, Process, Stopped, Unready};
pub use port::{PortOwner, free_port, port_in_use};
pub use quota::Quota;
pub use service::Service;
pub use sweep::{Swept, sweep};
pub use syscall::run_when_idle;
pub(crate) use syscall::thread_cpu_ns;
pub use throttle::Throttle;
