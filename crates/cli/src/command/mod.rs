//! One file a command.

pub mod build;
mod campaign;
pub mod compare;
pub mod doctor;
pub mod keeper;
pub mod list;
pub mod load;
pub mod pivot;
pub mod run;
pub mod selftest;
pub mod show;
pub mod slo;
pub mod verify;
