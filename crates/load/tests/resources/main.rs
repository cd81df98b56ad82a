//! The memory and allocations of a generator. Both are counted for a whole process, so each test that counts
//! has a process of its own ([`kit::alone::in_own_process`]), and one test runs at a time.

mod allocations;
mod hostile;
#[path = "../kit/mod.rs"]
mod kit;
mod memory;
