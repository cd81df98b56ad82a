//! A regular expression that a whole text must match: what an answer must look like where its text changes and is no JSON.
//!
//! The crate `regex` takes time that is linear in the text, so that no expression holds the generator up. What cannot be
//! matched so, look-around and back-references, it does not have.

use std::{fmt, sync::Arc};

use regex::{Regex, RegexBuilder};

/// The largest size of a compiled expression; the workers share it.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// A regular expression for a whole text. Its clones are one and the same.
#[derive(Clone)]
pub struct TextPattern {
    source: Arc<str>,
    /// Shared, because each copy of a `Regex` would fill caches of its own.
    whole: Arc<Regex>,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextPatternError {
    /// It is no regular expression of the crate `regex`.
    #[error("the pattern '{pattern}' is no regular expression: {reason}")]
    Syntax {
        /// As it was written.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It would take too much memory.
    #[error(
        "the pattern '{pattern}' is too large once compiled: repeat less in it, or compare a length instead"
    )]
    TooLarge {
        /// As it was written.
        pattern: String,
    },
}

impl TextPattern {
    /// The pattern that is written as `source`.
    ///
    /// # Errors
    /// It is no regular expression, or it is too large once compiled.
    pub fn new(source: &str) -> Result<TextPattern, TextPatternError> {
        // By itself first: `a)(?:b` is none, although it would be one between the brackets.
        compile(source, source)?;
        let whole = Arc::new(compile(&format!(r"\A(?:{source})\z"), source)?);
        Ok(TextPattern { source: source.into(), whole })
    }

    /// Whether all of `text` matches; what is not UTF-8 does not.
    #[must_use]
    pub fn matches(&self, text: &[u8]) -> bool {
        str::from_utf8(text).is_ok_and(|text| self.whole.is_match(text))
    }
}

fn compile(expression: &str, source: &str) -> Result<Regex, TextPatternError> {
    let pattern = source.to_owned();
    let built = RegexBuilder::new(expression).size_limit(COMPILED_BYTES_MAX).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => TextPatternError::TooLarge { pattern },
        error => TextPatternError::Syntax { pattern, reason: last_line(&error.to_string()) },
    })
}

/// The crate draws the expression over several lines; what is wrong stands in the last one.
fn last_line(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// As it is written in a contract.
impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextPattern({:?})", self.source)
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &TextPattern) -> bool {
        self.source == other.source
    }
}

impl Eq for TextPattern {}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        TextPattern::new(pattern).unwrap().matches(text.as_bytes())
    }

    #[test]
    fn a_pattern_is_of_the_whole_text() {
        for (pattern, right, wrong) in [
            ("[0-9]+", vec!["7", "70"], vec!["", "a7", "7a", "7\n"]),
            ("a|ab", vec!["a", "ab"], vec!["abc", "b"]),
            ("", vec![""], vec!["a"]),
            ("a.c", vec!["abc", "aéc"], vec!["a\nc"]),
            ("(?s)a.c", vec!["a\nc"], vec!["ac"]),
            ("(?i)etag", vec!["ETag"], vec!["e-tag"]),
            ("(?m)^a$", vec!["a"], vec!["a\na"]),
        ] {
            right.iter().for_each(|text| assert!(matches(pattern, text), "{pattern} {text:?}"));
            wrong.iter().for_each(|text| assert!(!matches(pattern, text), "{pattern} {text:?}"));
        }
        assert!(!TextPattern::new("(?s).*").unwrap().matches(b"\xff"), "no UTF-8");
    }

    #[test]
    fn what_is_no_pattern_is_said_in_one_line() {
        let error = |pattern: &str| TextPattern::new(pattern).unwrap_err().to_string();
        assert_eq!(error("(a"), "the pattern '(a' is no regular expression: unclosed group");
        assert_eq!(error("a)(?:b"), "the pattern 'a)(?:b' is no regular expression: unopened group");
        assert!(error(r"(a)\1").contains("backreferences are not supported"));
        assert!(error("(?x)a # b").contains("is no regular expression"), "its end would be in the comment");
        assert!(error("(?:a{1000}){1000}").contains("is too large once compiled"));
    }

    /// An expression on which matchers that go back take longer than the age of the universe.
    #[test]
    fn no_text_takes_long() {
        let began = Instant::now();
        assert!(!matches("(a*)*b", &"a".repeat(100_000)));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(pattern in ".{0,30}", text in ".{0,30}") {
            if let Ok(pattern) = TextPattern::new(&pattern) {
                let _ = pattern.matches(text.as_bytes());
                prop_assert_eq!(&pattern, &TextPattern::new(&pattern.to_string()).unwrap());
            }
        }

        #[test]
        fn a_text_matches_itself_and_nothing_longer(text in ".{0,30}", more in ".{1,3}") {
            let pattern = TextPattern::new(&regex::escape(&text)).unwrap();
            prop_assert!(pattern.matches(text.as_bytes()));
            prop_assert!(!pattern.matches((text.clone() + &more).as_bytes()));
            prop_assert!(!pattern.matches((more + &text).as_bytes()));
        }
    }
}
