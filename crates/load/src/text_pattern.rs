//! A regular expression that a whole text must match, for answers that change and are not JSON.
//!
//! The crate `regex` takes time linear in the text, so that no expression stalls the generator. It lacks what
//! cannot be matched in that time: look-around and back-references.

use std::{fmt, sync::Arc};

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

/// The largest size of a compiled expression, which all workers share.
const COMPILED_BYTES_MAX: usize = 1 << 20;
/// The longest text that is generated for a pattern.
const EXAMPLE_BYTES_MAX: usize = 1 << 20;

/// A regular expression for a whole text. Its clones share it.
#[derive(Clone)]
pub struct TextPattern {
    source: Arc<str>,
    /// Shared, because each copy of a `Regex` would fill caches of its own.
    whole: Arc<Regex>,
}

/// Why a text is no valid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextPatternError {
    /// It is no valid regular expression of the crate `regex`.
    #[error("the pattern '{pattern}' is no regular expression: {reason}")]
    Syntax {
        /// The pattern as written.
        pattern: String,
        /// The error in it.
        reason: String,
    },
    /// The compiled pattern would take too much memory.
    #[error(
        "the pattern '{pattern}' is too large once compiled: repeat less in it, or compare a length instead"
    )]
    TooLarge {
        /// The pattern as written.
        pattern: String,
    },
    /// It must have exactly one group.
    #[error(
        "the pattern '{pattern}' has {count} groups, and needs one around the value: other groups are written (?: )"
    )]
    Groups {
        /// The pattern as written.
        pattern: String,
        /// The number of groups it has.
        count: usize,
    },
}

/// A regular expression that finds a value in a text: the match of its one group, at the first match of the
/// expression. Its clones share it.
#[derive(Clone)]
pub struct CapturePattern {
    source: Arc<str>,
    regex: Arc<Regex>,
}

impl TextPattern {
    /// The pattern written as `source`.
    ///
    /// # Errors
    /// It is no valid regular expression, or it is too large once compiled.
    pub fn new(source: &str) -> Result<TextPattern, TextPatternError> {
        // Compiled by itself first: `a)(?:b` is invalid, although it would be valid between the brackets.
        compile(source, source)?;
        let whole = Arc::new(compile(&format!(r"\A(?:{source})\z"), source)?);
        Ok(TextPattern { source: source.into(), whole })
    }

    /// Whether the whole text matches; invalid UTF-8 does not.
    #[must_use]
    pub fn matches(&self, text: &[u8]) -> bool {
        str::from_utf8(text).is_ok_and(|text| self.whole.is_match(text))
    }

    /// A short text that matches. `None` if nothing matches, if the text would be longer than 1 MiB, or if
    /// the pattern has a condition between its parts, as `\B` is.
    #[must_use]
    pub fn example(&self) -> Option<String> {
        let mut text = String::new();
        append_example(&regex_syntax::parse(&self.source).ok()?, &mut text)?;
        self.matches(text.as_bytes()).then_some(text)
    }
}

/// Appends the shortest text of each part, and the first of alternatives.
fn append_example(pattern: &Hir, text: &mut String) -> Option<()> {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => text.push(class.ranges().first()?.start()),
        HirKind::Class(Class::Bytes(class)) => text.push(class.ranges().first()?.start().into()),
        HirKind::Repetition(repetition) => {
            (0..repetition.min).try_for_each(|_| append_example(&repetition.sub, text))?;
        }
        HirKind::Capture(capture) => append_example(&capture.sub, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| append_example(part, text))?,
        HirKind::Alternation(parts) => append_example(parts.first()?, text)?,
    }
    (text.len() <= EXAMPLE_BYTES_MAX).then_some(())
}

impl CapturePattern {
    /// The pattern written as `source`.
    ///
    /// # Errors
    /// The errors of [`TextPattern::new`], or the pattern has no group, or several.
    pub fn new(source: &str) -> Result<CapturePattern, TextPatternError> {
        let regex = compile(source, source)?;
        match regex.captures_len() - 1 {
            1 => Ok(CapturePattern { source: source.into(), regex: Arc::new(regex) }),
            count => Err(TextPatternError::Groups { pattern: source.to_owned(), count }),
        }
    }

    /// The value, if the pattern matches anywhere in `text` and its group takes part in the match.
    #[must_use]
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        Some(self.regex.captures(text)?.get(1)?.as_str())
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

/// The last line of the crate's message, which has the error; the lines before it draw the expression.
fn last_line(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// The form in a contract.
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

/// The form in a contract.
impl fmt::Display for CapturePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for CapturePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CapturePattern({:?})", self.source)
    }
}

impl PartialEq for CapturePattern {
    fn eq(&self, other: &CapturePattern) -> bool {
        self.source == other.source
    }
}

impl Eq for CapturePattern {}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        TextPattern::new(pattern).unwrap().matches(text.as_bytes())
    }

    #[test]
    fn a_value_is_found_anywhere_by_its_one_group() {
        let find = |pattern: &str, text: &'static str| CapturePattern::new(pattern).unwrap().find(text);
        assert_eq!(find("items/([0-9]+)", "/v1/items/17?x"), Some("17"));
        assert_eq!(find("(?:a|b)(c*)", "xb"), Some(""));
        assert_eq!(find("a|(b)", "ab"), None, "the group takes no part in the first match");
        assert_eq!(find("(z)", "xb"), None);
        for (pattern, count) in [("a", 0), ("(a)(b)", 2)] {
            let error = CapturePattern::new(pattern).unwrap_err();
            assert_eq!(error, TextPatternError::Groups { pattern: pattern.to_owned(), count });
        }
        assert!(matches!(CapturePattern::new("(a"), Err(TextPatternError::Syntax { .. })));
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

    #[test]
    fn an_example_is_a_short_text_that_matches() {
        let example = |pattern: &str| TextPattern::new(pattern).unwrap().example();
        assert_eq!(example("now [0-9]{10}, (?:a|b)c*d+").as_deref(), Some("now 0000000000, ad"));
        assert_eq!(example(r"^\d+$\n").as_deref(), None, "nothing stands behind an end");
        assert_eq!(example(r"(?m)^a$\nb").as_deref(), Some("a\nb"));
        assert_eq!(example(r"[^\s\S]"), None, "nothing matches");
        assert_eq!(example(r"").as_deref(), Some(""));
    }

    /// An expression on which backtracking matchers take longer than the age of the universe.
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
                prop_assert!(pattern.example().is_none_or(|example| pattern.matches(example.as_bytes())));
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
