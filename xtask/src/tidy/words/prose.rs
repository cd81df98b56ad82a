//! The prose in Rust source: comments and string literals.

/// Comments and string literals at their original positions; code is replaced by spaces.
pub(super) fn of(source: &str) -> String {
    let mut left = source;
    let mut prose = String::with_capacity(source.len());
    while let Some(first) = left.chars().next() {
        let (length, is_prose) = match prose_length(left) {
            Some(length) => (length, true),
            None => (code_length(left, first), false),
        };
        let (part, rest) = left.split_at(length);
        prose.extend(part.chars().map(|c| if is_prose || c == '\n' { c } else { ' ' }));
        left = rest;
    }
    prose
}

/// The length of the comment or string literal that begins here, in bytes.
fn prose_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(text.find("*/").map_or(text.len(), |at| at + 2));
    }
    if let Some(quoted) = text.strip_prefix('"') {
        return Some(1 + quoted_length(quoted));
    }
    let hashes = text.strip_prefix('r')?.bytes().take_while(|byte| *byte == b'#').count();
    let end = format!("\"{}", "#".repeat(hashes));
    let inside = text[1 + hashes..].strip_prefix('"')?;
    let start = text.len() - inside.len();
    Some(inside.find(&end).map_or(text.len(), |at| start + at + end.len()))
}

/// The length up to and including the closing quotation mark, in bytes.
fn quoted_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let closes = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        closes
    });
    end.map_or(text.len(), |at| at + 1)
}

/// The length of a name (an `r` at its end begins no raw string), a character literal, or a character.
fn code_length(text: &str, first: char) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if is_word(first) {
        let name = text.find(|c| !is_word(c)).unwrap_or(text.len());
        return if is_string_prefix(&text[..name]) { 1 } else { name };
    }
    ["'\"'", "'\\\"'", "'\\\\'"]
        .iter()
        .find(|literal| text.starts_with(**literal))
        .map_or(first.len_utf8(), |literal| literal.len())
}

fn is_string_prefix(name: &str) -> bool {
    ["b", "c", "br", "cr"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The remaining words of a source.
    fn words(source: &str) -> Vec<String> {
        of(source).split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn comments_and_strings_are_kept_and_code_is_not() {
        for (source, expected) in [
            ("let a = b; // why", vec!["//", "why"]),
            ("/// What.\nfn f() {}", vec!["///", "What."]),
            ("f(/* of */ x)", vec!["/*", "of", "*/"]),
            ("print(\"to \\\" // me\", x)", vec!["\"to", "\\\"", "//", "me\""]),
            ("let t = r#\"a \" b\"#; c", vec!["r#\"a", "\"", "b\"#"]),
            ("let t = br\"a\\\"; c", vec!["r\"a\\\""]),
            ("for \"x\"", vec!["\"x\""]),
            ("f('\"', b'\\\\', '\\\"', 'a'); g", vec![]),
            ("\"never closed", vec!["\"never", "closed"]),
        ] {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn every_line_keeps_its_number() {
        let source = "let a = \"one\n two\";\nä // three\n/* four\nfive */ b";
        let prose = of(source);
        let lines: Vec<&str> = prose.lines().collect();
        assert_eq!(lines, ["        \"one", " two\" ", "  // three", "/* four", "five */  "]);
    }
}
