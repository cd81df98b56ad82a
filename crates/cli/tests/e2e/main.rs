//! The command `tare` from end to end: against services made to misbehave, and against real ones.

mod broken;
mod build;
mod compare;
mod dist;
mod docs;
mod endure;
mod errors;
mod init;
mod killed;
mod list;
mod load;
mod own;
mod planted;
mod published;
mod raw_socket;
mod record;
mod reference;
mod report;
mod run;
mod selftest;
mod serve;
mod slo;
mod support;
mod terminal;
mod verify;
mod wire;
