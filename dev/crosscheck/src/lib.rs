//! Cross-validation: the same load by another generator and by Tare's, in turns over one running service.
//!
//! [`Tool`] is a generator that may be installed, [`Shape`] a load that it and Tare's can both make, [`reading`] the parsers
//! of what tools print, [`rounds`] the order in time, [`Session`] the processes and sockets behind it, [`evaluation`] what the
//! figures mean, [`known`] the known reasons for a difference. Only the command, `main.rs`, knows a terminal.

#![warn(clippy::missing_errors_doc, unreachable_pub)]

mod evaluation;
pub mod finding;
mod known;
pub mod reading;
pub mod render;
pub mod report;
mod rounds;

mod ask;
mod capture;
mod session;
mod shape;
mod tool;

pub use ask::{AskError, fixed_get};
pub use report::Report;
pub use session::{Error, Plan, Session};
pub use shape::{Pace, Shape};
pub use tool::{Found, Tool};
