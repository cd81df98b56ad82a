//! The servers and the short loads that tests, examples and benchmarks share, so that nothing is written twice: what a
//! test bounds loosely, the benchmark `accuracy` measures at length.

// Each target uses a part of it.
#![allow(dead_code)]

pub mod alone;
pub mod behaviours;
pub mod closed;
pub mod fixed;
pub mod h2_server;
pub mod http2;
pub mod load;
pub mod peer;
pub mod process;
pub mod scenarios;
pub mod stations;
pub mod tls;
pub mod wire;
