//! Second opinions: the same load by another generator and by ours, in turns over one running service.
//!
//! [`Tool`] is what there is to ask, [`Shape`] a load that a tool and our engine can both make, [`reading`] what a tool
//! printed, [`rounds`] the order of time, [`Session`] the processes and sockets behind it, [`judge`] what the figures mean,
//! [`known`] the reasons that are known for a difference. Nothing here knows a terminal.

pub mod judge;
pub mod known;
pub mod reading;
pub mod render;
pub mod report;
pub mod rounds;

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
