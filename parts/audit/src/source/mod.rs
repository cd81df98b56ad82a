//! Turns bytes into rows: the output identifies the suite or tool, and each has a module for its format.

mod http_arena;
mod techempower;
mod text;
mod tools;
mod web_frameworks;

use serde_json::Value;
use tare_host::foreign;

use crate::published::{Published, Source};

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(
        "it is empty: some tools print on stderr (autocannon) or to a file (fortio -json, k6 --summary-export)"
    )]
    Empty,
    #[error(
        "it is no text: audit what a tool printed, or the JSON that it wrote; unpack what is packed, and give UTF-16 its byte order mark"
    )]
    Binary,
    #[error(
        "it is neither the results of a suite ({}) nor the output of a tool ({})",
        Source::suites(),
        Source::tools()
    )]
    Unknown,
    #[error("it looks like {}, and has no row that can be read", of.name())]
    NoRow { of: Source },
}

/// Reads a file of a suite or the output of a tool. `name` is the file's name, for unnamed rows.
///
/// # Errors
/// If the file is empty, is no text, has an unknown format, or has no row.
pub fn read(name: &str, bytes: &[u8]) -> Result<Published, ReadError> {
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    let read = match foreign::json_value(bytes) {
        Ok(value) => of_json(name, &value),
        Err(_) if bytes.iter().any(|byte| is_of_no_text(*byte)) => return Err(ReadError::Binary),
        Err(_) => of_text(name, &String::from_utf8_lossy(bytes)),
    };
    match read.ok_or(ReadError::Unknown)? {
        Published { source, rows, .. } if rows.is_empty() => Err(ReadError::NoRow { of: source }),
        published => Ok(published),
    }
}

/// A control character that no text contains; bell, backspace, tab, line ends, feeds and escape are allowed.
fn is_of_no_text(byte: u8) -> bool {
    matches!(byte, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f)
}

/// Parses lines for people, or JSON with such lines before it.
fn of_text(name: &str, text: &str) -> Option<Published> {
    let json = || {
        let (begin, end) = (text.find("\n{")? + 1, text.rfind('}')?);
        of_json(name, &foreign::json_value(text.get(begin..=end)?.as_bytes()).ok()?)
    };
    match tools::text(name, text) {
        Some(published) if !published.rows.is_empty() => Some(published),
        without_rows => json().or(without_rows),
    }
}

fn of_json(name: &str, value: &Value) -> Option<Published> {
    let readers = [techempower::read, http_arena::read, web_frameworks::read, tools::json];
    readers.into_iter().find_map(|read| read(name, value))
}

#[cfg(test)]
mod tests;
