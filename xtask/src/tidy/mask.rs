//! Rust source with the contents of comments, strings and characters blanked, line for line, so that braces and words
//! in them do not count.
//!
//! A lexer in the small. Knows nested block comments, raw strings, and lifetimes beside characters; raw identifiers and
//! macros are plain code to it.

/// Returns `source` with everything blanked that is no code. Lines keep their number; their length in bytes may change.
pub fn mask(source: &str) -> String {
    let mut masker =
        Masker { chars: source.chars().collect(), at: 0, masked: String::with_capacity(source.len()) };
    while masker.at < masker.chars.len() {
        masker.step();
    }
    masker.masked
}

struct Masker {
    chars: Vec<char>,
    at: usize,
    masked: String,
}

impl Masker {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn keep(&mut self) {
        self.masked.extend(self.peek(0));
        self.at += 1;
    }

    fn blank(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(c) = self.peek(0) {
                self.masked.push(if c == '\n' { '\n' } else { ' ' });
                self.at += 1;
            }
        }
    }

    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.blank(1);
                }
            }
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.string(),
            (Some('\''), _) => self.character(),
            (Some('r'), Some('"' | '#')) if !self.in_word() => self.raw_string(),
            _ => self.keep(),
        }
    }

    /// Whether the character before belongs to the same word; the b and c of `br""` and `cr""` do not make one.
    fn in_word(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).and_then(|at| self.chars.get(at)).copied();
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let prefix = matches!(before(1), Some('b' | 'c')) && !word(before(2));
        word(before(1)) && !prefix
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.blank(2);
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.blank(2);
                }
                (Some(_), _) => self.blank(1),
                (None, _) => return,
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.blank(1);
        loop {
            match self.peek(0) {
                Some('\\') => self.blank(2),
                Some('"') | None => return self.blank(1),
                Some(_) => self.blank(1),
            }
        }
    }

    fn raw_string(&mut self) {
        let hashes = (1..).take_while(|ahead| self.peek(*ahead) == Some('#')).count();
        if self.peek(1 + hashes) != Some('"') {
            return self.keep(); // a raw identifier
        }
        self.blank(2 + hashes);
        while self.peek(0).is_some() {
            let ends = self.peek(0) == Some('"') && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if ends {
                return self.blank(1 + hashes);
            }
            self.blank(1);
        }
    }

    /// 'x' and '\n' are characters; an apostrophe with no other two places on starts a lifetime.
    fn character(&mut self) {
        if self.peek(1) == Some('\\') {
            self.blank(3);
            while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
                self.blank(1);
            }
            self.blank(1);
        } else if self.peek(2) == Some('\'') {
            self.blank(3);
        } else {
            self.keep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_what_is_no_code() {
        for (source, expected) in [
            ("a // { b\nc", "a c"),
            ("a /* { /* */ } */ b", "a b"),
            (r#"f("{ \" }", x)"#, "f( , x)"),
            ("r#\"{ \" }\"# x", "x"),
            ("br\"{\" x", "b x"),
            ("'{' '\\'' '\\u{7b}' x", "x"),
            ("fn f<'a>(x: &'a str) {", "fn f<'a>(x: &'a str) {"),
            ("r#type {", "r#type {"),
            ("var\"{\"", "var"),
        ] {
            let masked = mask(source);
            assert_eq!(masked.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{source}");
            assert_eq!(masked.chars().count(), source.chars().count(), "{source}");
        }
    }

    #[test]
    fn keeps_the_number_of_lines() {
        let source = "\"a\n{\n\" /* \n */ 'x'\n\"never ended\n";
        assert_eq!(mask(source).lines().count(), source.lines().count());
    }
}
