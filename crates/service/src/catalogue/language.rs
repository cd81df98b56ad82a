//! The names of languages: those of folders, keys and data, and what people read in their place.

const NAMES: [(&str, &str); 12] = [
    ("c", "C"),
    ("clojure", "Clojure"),
    ("cpp", "C++"),
    ("csharp", "C#"),
    ("go", "Go"),
    ("haskell", "Haskell"),
    ("java", "Java"),
    ("node", "Node.js"),
    ("python", "Python"),
    ("ruby", "Ruby"),
    ("rust", "Rust"),
    ("swift", "Swift"),
];

/// The name of a language as people write it; of an unknown one as it is.
#[must_use]
pub fn language_name(key: &str) -> &str {
    NAMES.iter().find(|(known, _)| *known == key).map_or(key, |(_, name)| name)
}

/// The key of a language in either spelling, such as `c++` and `cpp`.
pub(crate) fn language_key(word: &str) -> &str {
    NAMES.iter().find(|(_, name)| name.eq_ignore_ascii_case(word)).map_or(word, |(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_the_name_that_people_write() {
        assert_eq!(["cpp", "node", "rust", "zig"].map(language_name), ["C++", "Node.js", "Rust", "zig"]);
        assert_eq!(["c++", "Node.js", "rust", "zig"].map(language_key), ["cpp", "node", "rust", "zig"]);
    }
}
