//! Reads the end of a file of any length, for a message. It knows nothing of services.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::foreign;

/// Longest part that is read, however long the lines are.
const BYTES_MAX: u64 = 64 * 1024;

/// The last `lines` lines of a file, without hidden characters; empty if the file cannot be read.
pub fn tail(path: &Path, lines: usize) -> String {
    let Ok(text) = last_bytes(path) else { return String::new() };
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.trim_end().lines().collect();
    foreign::quotable(&all[all.len().saturating_sub(lines)..].join("\n"))
}

fn last_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_read_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stderr");
        assert_eq!(tail(&path, 3), "");
        for (text, expected) in [("", ""), ("one", "one"), ("1\n2\n3\n4\n", "2\n3\n4"), ("a\n\n\n", "a")] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(tail(&path, 3), expected, "{text:?}");
        }
        std::fs::write(&path, "x".repeat(1_000_000)).unwrap();
        assert!(tail(&path, 3).ends_with("x... (63536 more characters)"));
    }

    #[test]
    fn a_character_that_is_cut_in_two_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stderr");
        std::fs::write(&path, "é".repeat(BYTES_MAX as usize) + "x").unwrap();
        let text = tail(&path, 1);
        assert!(text.starts_with("\u{fffd}é") && text.ends_with(" more characters)"));
        std::fs::write(&path, b"a\xff\n").unwrap();
        assert_eq!(tail(&path, 1), "a\u{fffd}", "no UTF-8");
    }

    #[test]
    fn what_a_terminal_would_obey_is_visible() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stderr");
        std::fs::write(&path, "a\x1b[2J\x1b]0;pwned\x07\u{202e}b").unwrap();
        assert_eq!(tail(&path, 1), "a\\u{1b}[2J\\u{1b}]0;pwned\\u{7}\\u{202e}b");
    }
}
