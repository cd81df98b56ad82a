//! One file a command.

pub mod build;
mod campaign;
pub mod compare;
pub mod doctor;
pub mod list;
pub mod load;
mod print;
pub mod raw_socket;
pub mod report;
pub mod run;
mod runs;
pub mod selftest;
pub mod serve;
pub mod show;
pub mod slo;
pub mod verify;
pub mod watchdog;
mod words;
