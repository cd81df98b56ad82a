//! Paths in Rust source: a small lexer for names, `::`, braces and commas.

/// A path as its names, and the line of its last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    pub parts: Vec<String>,
    pub line: usize,
}

/// The source without comments and without its test module; line numbers stay valid.
pub(in crate::tidy) fn code(source: &str) -> String {
    let tests = source.find("#[cfg(test)]\nmod tests {").unwrap_or(source.len());
    let lines = source[..tests].lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path of an import, `pub` or not.
pub(super) fn imports(code: &str) -> Vec<Path> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        let own = line.trim_start().trim_start_matches("pub").trim_start();
        let own = own.strip_prefix("(crate) ").or_else(|| own.strip_prefix("(super) ")).unwrap_or(own);
        if let Some(tree) = own.strip_prefix("use ") {
            let at = start + line.len() - tree.len();
            Tree { code, at }.read(&mut Vec::new(), &mut found);
        }
        start += line.len();
    }
    found
}

/// Every path that begins with `crate`, `super` or `self`.
pub(super) fn mentions(code: &str) -> Vec<Path> {
    let mut found = Vec::new();
    for word in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(word) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| is_word(c) || c == ':' || c == '$') {
                Tree { code, at }.read(&mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// A path, or a tree of them in braces, that begins at a byte of the code.
struct Tree<'c> {
    code: &'c str,
    at: usize,
}

impl Tree<'_> {
    fn rest(&self) -> &str {
        &self.code[self.at..]
    }

    /// Skips white space, and `text` if it comes next.
    fn take(&mut self, text: &str) -> bool {
        self.at += self.rest().len() - self.rest().trim_start().len();
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        let word = word.to_owned();
        self.at += word.len();
        word
    }

    /// Adds the paths of this tree, with the prefix `before`.
    fn read(&mut self, before: &mut Vec<String>, found: &mut Vec<Path>) {
        let depth = before.len();
        loop {
            if self.take("{") {
                while !self.take("}") && !self.rest().is_empty() {
                    self.read(before, found);
                    self.skip_to_next();
                }
                break;
            }
            let word = self.word();
            if !word.is_empty() {
                before.push(word);
            }
            if !self.rest().starts_with("::") {
                let line = self.code[..self.at].matches('\n').count() + 1;
                found.push(Path { parts: before.clone(), line });
                break;
            }
            self.at += 2;
        }
        before.truncate(depth);
    }

    /// Skips to after the comma, or to the brace that ends the list.
    fn skip_to_next(&mut self) {
        let rest = self.rest();
        self.at += rest.find([',', '}']).unwrap_or(rest.len());
        self.take(",");
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: &[Path]) -> Vec<String> {
        paths.iter().map(|path| format!("{}:{}", path.parts.join("."), path.line)).collect()
    }

    #[test]
    fn trees_are_spread() {
        let code = "use a::{\n    b::{self, C},\n    D as E,\n};\npub(crate) use f::*;\npub use g;\n";
        assert_eq!(shown(&imports(code)), ["a.b.self:2", "a.b.C:2", "a.D:3", "f:5", "g:6"]);
    }

    #[test]
    fn paths_stand_anywhere_but_in_comments() {
        let source = "// crate::no\nlet x = crate::a::f::<u8>(super::super::b);\n$crate::no\n";
        assert_eq!(shown(&mentions(&code(source))), ["crate.a.f:2", "super.super.b:2"]);
    }
}
