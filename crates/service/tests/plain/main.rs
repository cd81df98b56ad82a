//! Tests that need no isolation: builds with real steps, and the raw socket in each protocol.

mod build;
mod raw_socket;
