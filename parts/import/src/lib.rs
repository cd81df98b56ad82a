//! What is read of others: [`adopt`] makes a service of an entry of another benchmark, [`footprint`] tells what a service is
//! besides fast.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod adopt;
pub mod footprint;
