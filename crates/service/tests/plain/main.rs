//! What needs no isolation: builds with real steps, and the raw socket in each of its protocols.

mod build;
mod raw_socket;
