//! This machine: processes and their resource usage, CPUs, network namespaces, a slow link, the environment.
//! It knows nothing of services or experiments.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod cpu_lock;
pub mod cpus;
pub mod environment;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod foreign;
pub mod link;
pub mod machine;
pub mod process;
mod run_clock;
mod scheduler;
pub mod seal;
pub mod secrets;
pub mod seed;
pub mod shared_counters;
pub mod signals;
pub mod stderr;
pub mod threads;
