//! Capacity under an SLO: the highest rate that a service holds, such as "p99 within 10 ms".
//!
//! An [`Slo`] says of every request whether it is good; a window of open-loop load at a rate is a number of requests and of
//! bad ones. [`search`] says which rate to try next and, in the end, which one is the highest that holds; it knows numbers
//! only. [`searches`] puts a search behind each row of each block of an ordinary run, so that a fresh start is one search
//! and the unit that statistics count. Nothing here starts or loads a service.

mod isotonic;
pub mod objective;
pub mod search;
pub mod searches;

pub use objective::Slo;
pub use search::{Found, Search};
#[cfg(test)]
mod tests;
