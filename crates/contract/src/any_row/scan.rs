//! Scans JSON in its usual spelling, without building values.

/// Whether a byte needs no escape in a string.
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// A scanner for the simplest JSON.
pub(super) struct Scan<'t>(pub(super) &'t str);

impl<'t> Scan<'t> {
    pub(super) fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    pub(super) fn eat(&mut self, character: char) -> bool {
        self.skip_blanks();
        let rest = self.0.strip_prefix(character);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    pub(super) fn name(&mut self, name: &str) -> bool {
        let rest = self.eat('"').then(|| self.0.strip_prefix(name)?.strip_prefix('"')).flatten();
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// A string without escapes.
    pub(super) fn text(&mut self) -> Option<&'t str> {
        if !self.eat('"') {
            return None;
        }
        let end = self.0.bytes().position(|byte| !is_plain(byte))?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }

    /// An integer in its usual spelling.
    pub(super) fn number(&mut self) -> Option<&'t str> {
        self.skip_blanks();
        let end = self.0.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.0.len());
        let (number, rest) = self.0.split_at(end);
        self.0 = rest;
        let is_usual = number == "0" || !number.starts_with('0');
        (!number.is_empty() && is_usual).then_some(number)
    }

    pub(super) fn is_over(&mut self) -> bool {
        self.skip_blanks();
        self.0.is_empty()
    }
}
