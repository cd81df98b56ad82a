//! Behaviour over time that figures do not show: stalls, a few very late answers, growing memory, or changing
//! cost. Pure functions from samples to findings.

pub mod answers;
pub(crate) mod cost;
pub mod memory;
pub(crate) mod thaw;
