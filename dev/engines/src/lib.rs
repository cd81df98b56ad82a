//! Clusters from nothing on this machine: for the tests of `tare submit`, and for trying things out (`cargo xtask cluster`).
//!
//! All of a cluster lies in one folder, listens on 127.0.0.1 or in network namespaces of its own only, and is found again by that
//! folder: each daemon writes its own number there before it becomes the daemon, and carries the folder in its environment, as its
//! children do. So a cluster can be ended whatever has become of the process that started it.
//!
//! It knows nothing of Tare.

mod guarded;
mod kubernetes;
mod processes;
mod programs;
mod slurm;

pub use guarded::{Ends, Guarded};
pub use kubernetes::{KubernetesCluster, Programs, pack_image};
pub use slurm::{NODES_MAX, SlurmCluster};
