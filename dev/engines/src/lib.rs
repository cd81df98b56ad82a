//! Clusters on this machine, for the tests of `tare cluster submit` and for experiments (`cargo xtask cluster`).
//!
//! A cluster keeps everything in one folder, and listens only on 127.0.0.1 or in its own network namespaces.
//! The folder identifies it: each daemon writes its PID there before it becomes the daemon, and has the
//! folder in its environment, like its children. So a cluster can be ended whatever happened to the process
//! that started it.
//!
//! The crate knows nothing of Tare.

mod guarded;
mod kubernetes;
mod processes;
mod programs;
mod slurm;

pub use guarded::{Ends, Guarded};
pub use kubernetes::{KubernetesCluster, Programs, pack_image};
pub use slurm::{NODES_MAX, SlurmCluster};
