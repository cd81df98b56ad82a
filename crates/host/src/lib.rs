//! This machine: processes and what they use, CPUs, network namespaces, a slow link, the environment. Knows nothing of
//! services or experiments.

pub mod cpus;
pub mod environment;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod link;
pub mod machine;
pub mod process;
pub mod seed;
pub mod signals;
pub mod spelling;
