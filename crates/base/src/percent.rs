//! Percent-encoding for parts of a path or a query.

/// Encodes everything except the unreserved characters of RFC 3986 (section 2.3).
#[must_use]
pub fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_not_unreserved_is_encoded() {
        assert_eq!(super::encoded("a-Z_0.~ /é%"), "a-Z_0.~%20%2F%C3%A9%25");
    }
}
