//! Starts, supervises, freezes and stops services, and verifies that nothing of them is left.
//!
//! A [`Supervisor`] knows how services are isolated ([`Isolation`]) and has a [`Watchdog`] that outlives it.
//! A [`RunningService`] is one running program: Tare started it, or it is a [`Server`] that Tare only observes. A
//! started service is a process group and, if the kernel allows it, a set of cgroups. The environment of each
//! of its processes names the group, so a process that left the process group is found even without cgroups.
//!
//! It knows nothing of contracts, HTTP or manifests: a [`Launch`] describes the program, and a closure
//! reports whether the service is ready.

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
pub use ask::Query;
pub use attached::{CountedProcesses, Server, ServerError};
pub use bystanders::{Bystanders, BystandersUsed};
pub use cgroup::{Cgroups, Isolation};
pub use container::{ContainerError, main_process};
pub use files::InUse;
pub use hindrance::{NotReadyReason, Probed};
pub use input::Input;
pub use job::{Ended, ProgramAnswer, ProgramLimits, ProgramRun, answer, run_to_end};
pub use launch::{Launch, StartError, StartFailure, Supervisor};
pub use metrics::Modes;
pub use outcome::{Exit, FreezeError, ServerGone, Stopped, Unready};
pub use placement::{Priority, ThreadGroup};
pub use port::{PortOwner, free_port, listeners, port_in_use};
pub use procfs::Process;
pub(crate) use procfs::began;
pub use quota::CpuQuota;
pub use sandbox::Sandbox;
pub use scratch::{Scratch, ScratchError};
pub use service::RunningService;
pub use sockets::{Listening, SocketPlace, SocketTable};
pub use sweep::{Swept, sweep};
pub use syscall::run_when_idle;
pub(crate) use syscall::thread_cpu_ns;
pub use tail::tail;
pub use tally::CpuTime;
pub use throttle::Throttle;
pub use unknown::{CpuUnknown, Unseen, Unwaited};
pub use vigil::Notices;
pub use watchdog::{Watchdog, WatchdogError};
