//! Services: what there is (catalogue), what each must do (contract), how it is built, launched, loaded, verified and
//! strained, and what using it takes. Knows nothing of experiments.

pub mod build;
pub mod catalogue;
pub mod contract;
pub mod document;
pub mod drive;
pub mod endurance;
pub mod footprint;
pub mod knobs;
pub mod launch;
mod lock;
pub mod probe;
pub mod prove;
pub mod raw_socket;
pub mod revisions;
pub mod verify;
pub mod workspace;
