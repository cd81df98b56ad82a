//! Cross-validation: the same load by another generator and by Tare's, in turns on one running service.
//!
//! [`Tool`] is a generator that may be installed, and [`Shape`] a load that both it and Tare's can make.
//! [`reading`] parses the tools' output, [`rounds`] orders the loads, and [`Session`] has the processes and
//! sockets. [`evaluation`] interprets the figures, and [`known`] has the known reasons for differences. Only
//! the command, `main.rs`, uses a terminal.

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
