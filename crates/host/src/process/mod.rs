//! Starts benchmark services, supervises, freezes and stops them, and proves that nothing of them is left.
//!
//! A [`Supervisor`] knows how services are isolated ([`Isolation`]) and has a [`Watchdog`] that outlives it; a
//! [`Service`] is one running program: one that was started here, or a [`Server`] that ran already, which is only looked at. Every
//! service that is started here is a process group and, where the kernel allows, a set of
//! cgroups. Every process of it also has the name of its group in its environment, so that even without cgroups a process
//! that left the process group is found.
//!
//! It knows nothing of contracts, HTTP or manifests: a [`Launch`] describes what to run, and a closure says whether the
//! service is ready.

mod cgroup;
pub mod init;
pub mod watchdog;

mod activity;
mod ask;
mod attached;
mod bystanders;
mod compilers;
mod container;
mod fallback;
mod files;
mod folder;
#[cfg(test)]
mod forks;
mod group;
mod hindrance;
mod input;
mod job;
mod launch;
mod meter;
mod metrics;
mod naming;
mod outcome;
mod placement;
mod port;
mod procfs;
mod quota;
mod sandbox;
mod scratch;
mod scratch_folder;
mod service;
mod shorten;
mod sockets;
mod supervised;
mod sweep;
mod syscall;
mod tail;
mod tally;
mod throttle;
mod unix;
mod unknown;
mod vigil;

pub use activity::{Activity, Used, rss_bytes};
pub use ask::Asked;
pub use attached::{Server, ServerError, Whose};
pub use bystanders::{Bystanders, BystandersUsed};
pub use cgroup::{Cgroups, Isolation};
pub use container::{ContainerError, main_process};
pub use files::InUse;
pub use hindrance::{Hindrance, Probed};
pub use input::Input;
pub use job::{Answer, Ended, Job, Limits, answer, run_to_end};
pub use launch::{Launch, StartError, StartFailure, Supervisor};
pub use metrics::Modes;
pub use outcome::{Exit, FreezeError, ServerGone, Stopped, Unready};
pub use placement::{Priority, ThreadGroup};
pub use port::{PortOwner, free_port, listeners, port_in_use};
pub use procfs::Process;
pub(crate) use procfs::began;
pub use quota::Quota;
pub use sandbox::Sandbox;
pub use scratch::{Scratch, ScratchError};
pub use service::Service;
pub use sockets::{Listening, Place, Table};
pub use sweep::{Swept, sweep};
pub use syscall::run_when_idle;
pub(crate) use syscall::thread_cpu_ns;
pub use tail::tail;
pub use tally::CpuTime;
pub use throttle::Throttle;
pub use unknown::{CpuUnknown, Unseen, Unwaited};
pub use vigil::Notices;
pub use watchdog::{Watchdog, WatchdogError};
