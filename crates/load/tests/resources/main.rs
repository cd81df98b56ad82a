//! What a generator takes: memory and allocations. Both are counted for a whole process. So each test that counts has a process of
//! its own ([`kit::alone::in_own_process`]), and one test runs at a time.

mod allocations;
mod hostile;
#[path = "../kit/mod.rs"]
mod kit;
mod memory;
