//! Tests that measure.

mod capacity;
mod frameworks;
mod instrument;
mod machines;
mod own;
mod protocols;
mod published;
mod real_work;
mod running;
