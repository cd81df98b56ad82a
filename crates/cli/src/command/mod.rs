//! One file a command.

pub(crate) mod build;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod list;
pub(crate) mod load;
mod print;
pub(crate) mod raw_socket;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod slo;
mod start;
pub(crate) mod verify;
mod words;
