//! Bytes as text in which each byte is recognisable, for messages and failure transcripts.

use std::fmt::Write;

use tare_host::foreign;

/// Approximate length of excerpts in messages.
const EXCERPT_LENGTH_MAX: usize = 60;

/// Uses `\r`, `\n`, `\t`, `\\`, and `\xNN` for anything that is not printable UTF-8.
pub(super) fn escape(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                '\r' => text.push_str("\\r"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                hidden if foreign::is_hidden(hidden) => {
                    for byte in hidden.to_string().bytes() {
                        write!(text, "\\x{byte:02x}").expect("a String takes all");
                    }
                }
                printable => text.push(printable),
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("a String takes all");
        }
    }
    text
}

/// The bytes in quotes, truncated if they are many.
pub(crate) fn quote(bytes: &[u8]) -> String {
    match bytes.split_at_checked(EXCERPT_LENGTH_MAX) {
        Some((shown, rest)) if !rest.is_empty() => format!("\"{}...\"", escape(shown)),
        _ => format!("\"{}\"", escape(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_recognisable() {
        assert_eq!(escape(b"a\r\n\t\\\x00\xffz\xc3\xa9"), "a\\r\\n\\t\\\\\\x00\\xffzé");
        assert_eq!(quote(&[b'x'; 61]), format!("\"{}...\"", "x".repeat(60)));
        assert_eq!(quote(b"OK"), "\"OK\"");
        assert_eq!(escape("\u{202e}".as_bytes()), "\\xe2\\x80\\xae", "it turns what follows");
    }

    /// The bytes of an escaped text.
    fn unescape(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (byte, length) = match rest.get(..2) {
                Some("\\\\") => (b'\\', 2),
                Some("\\r") => (b'\r', 2),
                Some("\\n") => (b'\n', 2),
                Some("\\t") => (b'\t', 2),
                Some("\\x") => (u8::from_str_radix(&rest[2..4], 16).unwrap(), 4),
                _ => {
                    bytes.extend(first.to_string().bytes());
                    rest = &rest[first.len_utf8()..];
                    continue;
                }
            };
            bytes.push(byte);
            rest = &rest[length..];
        }
        bytes
    }

    proptest! {
        #[test]
        fn no_two_byte_strings_look_alike(bytes in proptest::collection::vec(any::<u8>(), 0..80), text in "(?s).{0,20}") {
            for bytes in [bytes, text.into_bytes()] {
                let escaped = escape(&bytes);
                prop_assert_eq!(unescape(&escaped), bytes);
                prop_assert!(escaped.chars().all(|c| !c.is_control()));
            }
        }
    }
}
