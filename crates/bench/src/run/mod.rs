//! A run: the plan, the blocks of interleaved slices, and the folder that keeps all of it.
//!
//! `plan` is what will be done, `prepare` builds and verifies, `schedule` orders it in time (and knows no process), `starts` decides for
//! how many blocks a process is kept, `bench` runs it on this machine, `folder` and `record` store it, `loads` divides a run of
//! several loads.

pub mod about;
pub mod bench;
pub mod folder;
pub mod loads;
pub mod plan;
pub mod prepare;
pub mod record;
pub mod resume;
pub mod schedule;
pub mod starts;
mod steady;
pub mod until;
