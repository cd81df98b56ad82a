//! Sequences: requests that one connection sends one after the other, where a value of one answer is used in the next request.
//!
//! The generator knows which exchanges belong together and keeps the values of each connection. What a request looks like with
//! these values, and how a value is found in an answer, is the business of whoever made the [`SequenceStep`].

use std::collections::BTreeMap;

/// Values of earlier answers, by their names.
pub type Captured = BTreeMap<String, String>;

/// A right answer without a value that a later step needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MissingValue {
    /// It is not where it was looked for, or cannot be used.
    #[error("a value for {{{{captured.{name}}}}}: {reason}")]
    Of {
        /// The name of the value.
        name: String,
        /// Where it was looked for, and why it was not found.
        reason: String,
    },
    /// The answer is not kept whole.
    #[error("an answer of at most {bytes_max} bytes, to take a value out of it")]
    TooLong {
        /// The longest that is kept.
        bytes_max: usize,
    },
}
