//! What a service spends its CPU time on, and which functions are behind a difference.
//!
//! [`course::why`] runs slices of their own after a run, in which [`sample`] looks at the services, [`names`] gives their addresses names,
//! [`profile`] counts stacks, and [`difference`] computes. The result is a value of the core, which prints and stores it.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod course;
pub mod difference;
pub mod export;
pub mod flags;
mod looker;
pub mod names;
pub mod profile;
pub mod sample;
mod timing;
mod unwind;
