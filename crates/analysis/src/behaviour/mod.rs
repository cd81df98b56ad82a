//! What a service does over time that its figures do not show: it stops for a while, answers a few requests far too late, needs
//! more and more memory, or changes what a request costs. Pure: samples in, findings with figures out.

pub mod answers;
pub(crate) mod cost;
pub mod memory;
pub(crate) mod thaw;
