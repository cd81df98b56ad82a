//! Servers and short loads shared by tests, examples and benchmarks. The tests bound loosely what the
//! benchmark `accuracy` measures at length.

// Each target uses only a part of the kit.
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
