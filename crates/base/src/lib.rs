//! What all crates count and read with: quantities and their units, the clock, histograms of latencies, addresses,
//! percent-encoding, numbers of HTTP/2, files that a person writes, files that are written whole, and what a mistyped word was meant to be.
//!
//! It knows nothing of loads, services or experiments.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod clock;
pub mod document;
mod endpoint;
pub mod http2;
pub mod latency;
pub mod percent;
pub mod spelling;
pub mod units;
pub mod whole;

pub use clock::{Clock, Monotonic, thread_cpu_ns, unix_now_ns};
pub use endpoint::{Endpoint, Route};
pub use latency::Histogram;
