//! Services of others, made Tare's own: [`adopt`] makes a service of an entry of another benchmark.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod adopt;
