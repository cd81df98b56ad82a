//! One load from several generators. A controller (`tare load --agents`) gives each agent (`tare agent`) its
//! part, starts them at the same instant, and adds up their reports.
//!
//! Three parts do no I/O: the protocol ([`tls`], [`frame`], [`message`]), the clocks ([`align`], [`window`]),
//! and the sum ([`merge`], [`tails`]). [`link`] is a socket with the protocol on it, which [`greet`] opens;
//! [`serve`] is the agent's side and [`control`] the controller's. [`experiment`] loads the slices of a run. A
//! [`rig::Rig`] implements jobs: requests, contracts, TLS, and permissions for servers.
//!
//! No latency is measured across machines: an agent uses its own monotonic clock. Clocks are compared only to
//! align windows.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod align;
pub mod control;
mod control_error;
pub mod experiment;
mod fleet;
pub mod frame;
pub mod greet;
pub mod job;
pub mod link;
pub mod merge;
pub mod message;
mod options;
pub mod report;
pub mod resting;
pub mod rig;
pub mod serve;
mod session;
mod strangers;
pub mod tails;
pub mod tls;
pub mod token;
mod watch;
pub mod window;

pub use control::{Control, ControlError};
pub use job::Job;
pub use merge::{AgentRow, FleetFinding, FleetReport};
pub use message::{AgentDescription, CpuReading, LearnedByAgent, Prepared};
pub use resting::Resting;
pub use rig::{CpuMeter, ReadyJob, Rig};
pub use serve::{AgentOptions, Notice, serve};
pub use token::{Token, TokenError};

/// The most generators that share a load. Each worker skips the arrivals of all others, at some 10 ns each.
pub const AGENTS_MAX: usize = 256;
