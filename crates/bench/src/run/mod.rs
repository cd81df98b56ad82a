//! A run: the plan, the blocks of interleaved slices, and the folder that keeps all of it.
//!
//! `plan` says what will be done, `prepare` builds and proves, `campaign` orders it in time (and knows nothing of
//! processes), `starts` says how many blocks a process lasts, `bench` carries it out on this machine by what `launch` and
//! `drive` know, `folder` and `record` keep it on disk.

pub mod about;
pub mod bench;
pub mod campaign;
pub mod folder;
pub mod loads;
pub mod past;
pub mod plan;
pub mod prepare;
pub mod record;
pub mod starts;
mod steady;
pub mod until;
