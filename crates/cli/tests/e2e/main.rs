//! The command `tare` from end to end: against services made to misbehave, and against real ones.

mod broken;
mod compare;
mod endure;
mod errors;
mod killed;
mod list;
mod load;
mod pivot;
mod run;
mod selftest;
mod slo;
mod support;
mod verify;
mod wire;
