//! What measures time: each test takes the CPUs of this machine for itself, so its first line is `let _alone = alone();`.

mod accuracy;
mod aligned;
#[path = "../kit/mod.rs"]
mod kit;
