//! From bytes to rows: which suite or tool wrote them is seen in what they say, and each has a module that knows its format.

mod http_arena;
mod techempower;
mod text;
mod tool_json;
mod tool_text;
mod web_frameworks;

use serde_json::Value;
use tare_host::foreign;

use crate::published::{Published, Source};

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(
        "it is neither the results of a suite (TechEmpower, HttpArena, web-frameworks) nor the output of a tool \
         (wrk, wrk2, oha, k6, h2load, bombardier, vegeta)"
    )]
    Unknown,
    #[error("it looks like {}, and has no row that can be read", of.name())]
    NoRow { of: Source },
}

/// Reads a file of a suite or the output of a tool. `name` is what its rows are called if it does not name them: that of the file.
///
/// # Errors
/// If it is of no format that is known, or has no row.
pub fn read(name: &str, bytes: &[u8]) -> Result<Published, ReadError> {
    let read = match foreign::json_value(bytes) {
        Ok(value) => of_json(name, &value),
        Err(_) => tool_text::read(name, &foreign::visible(&String::from_utf8_lossy(bytes))),
    };
    match read.ok_or(ReadError::Unknown)? {
        Published { source, rows, .. } if rows.is_empty() => Err(ReadError::NoRow { of: source }),
        published => Ok(published),
    }
}

fn of_json(name: &str, value: &Value) -> Option<Published> {
    let readers = [techempower::read, http_arena::read, web_frameworks::read, tool_json::read];
    readers.into_iter().find_map(|read| read(name, value))
}

#[cfg(test)]
mod tests;
