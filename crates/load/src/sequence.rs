//! Sequences: consecutive requests of one connection, where a value of one answer is used in a later request.
//!
//! The generator knows which exchanges belong together, and keeps the values of each connection. The code
//! that makes the steps decides how a request uses the values, and how to find a value in an answer.

use std::collections::BTreeMap;

/// Values of earlier answers, by their names.
pub type Captured = BTreeMap<String, String>;

/// A correct answer lacks a value that a later step needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MissingValue {
    /// The value is missing from its place, or cannot be used.
    #[error("a value for {{{{captured.{name}}}}}: {reason}")]
    Of {
        /// The name of the value.
        name: String,
        /// The place where it was expected, and why it was not found.
        reason: String,
    },
    /// The answer is too long to be kept whole.
    #[error("an answer of at most {bytes_max} bytes, to take a value out of it")]
    TooLong {
        /// The longest answer that is kept, in bytes.
        bytes_max: usize,
    },
}
