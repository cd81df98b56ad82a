//! The common part of several texts that are not JSON, as a regular expression: equal parts stay, and varying
//! parts become patterns of their form.

use tare_load::text_pattern::TextPattern;

use super::moving::{AnswerContext, Nature, TextToken, TokenForm, Varying, nature_of_numbers, tokens};

/// Longer texts give patterns that are too large to compile.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// The common form of several texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prose {
    pub pattern: String,
    /// Empty if the texts are identical and contain no changing value.
    pub varying: Vec<Varying>,
}

/// A part of a pattern.
#[derive(Debug)]
enum Piece {
    Fixed(String),
    Form { pattern: &'static str, place: usize, nature: Nature },
}

/// A pattern that matches all these texts; absent if there is none, or nothing is common.
pub(super) fn pattern_of(texts: &[&str], context: &AnswerContext) -> Option<Prose> {
    if texts.iter().any(|text| text.len() > TEXT_BYTES_MAX) {
        return None;
    }
    let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.split_inclusive('\n').collect()).collect();
    let first = lines.first()?;
    if lines.iter().any(|other| other.len() != first.len()) {
        return None;
    }
    let (mut pieces, mut begins) = (Vec::new(), 0);
    for number in 0..first.len() {
        let line: Vec<&str> = lines.iter().map(|lines| lines[number]).collect();
        let common = by_tokens(&line, begins, context);
        pieces.extend(common.unwrap_or_else(|| around(&line, begins)));
        begins += line[0].len();
    }
    let says_something = |piece: &Piece| match piece {
        Piece::Fixed(text) => !text.trim().is_empty(),
        Piece::Form { nature, .. } => *nature != Nature::Text,
    };
    if !pieces.is_empty() && !pieces.iter().any(says_something) {
        return None;
    }
    let pattern: String = pieces.iter().map(Piece::pattern).collect();
    // Rejects a pattern that is too large, or that a contract would read as a placeholder.
    let whole = TextPattern::new(&pattern).ok().filter(|_| !pattern.contains("{{"))?;
    if !texts.iter().all(|text| whole.matches(text.as_bytes())) {
        return None;
    }
    Some(Prose { pattern, varying: pieces.iter().filter_map(Piece::varying).collect() })
}

impl Piece {
    fn pattern(&self) -> String {
        match self {
            Piece::Fixed(text) => regex::escape(text),
            Piece::Form { pattern, .. } => (*pattern).to_owned(),
        }
    }

    fn varying(&self) -> Option<Varying> {
        match self {
            Piece::Fixed(_) => None,
            Piece::Form { place, nature, .. } => {
                Some(Varying { place: format!("byte {place}"), nature: *nature })
            }
        }
    }
}

/// The common pieces, part by part, if all lines have the same number of parts.
fn by_tokens(lines: &[&str], begins: usize, context: &AnswerContext) -> Option<Vec<Piece>> {
    let lines: Vec<Vec<TextToken>> = lines.iter().map(|line| tokens(line).collect()).collect();
    let first = lines.first()?;
    if lines.iter().any(|line| line.len() != first.len()) {
        return None;
    }
    let piece = |place: usize| {
        let alike: Vec<TextToken> = lines.iter().map(|line| line[place]).collect();
        common(&alike, begins, context)
    };
    (0..first.len()).map(piece).collect()
}

fn common(tokens: &[TextToken], begins: usize, context: &AnswerContext) -> Option<Piece> {
    let first = tokens.first()?;
    let place = begins + first.at;
    let moves = context.moves(first);
    if tokens.iter().all(|token| token.text == first.text) {
        return Some(match (moves, first.form.pattern()) {
            (Some(nature), Some(pattern)) => Piece::Form { pattern, place, nature },
            _ => Piece::Fixed(first.text.to_owned()),
        });
    }
    if tokens.iter().all(|token| token.form == first.form) {
        let nature = match first.form {
            TokenForm::Number => moves.unwrap_or_else(|| {
                let values: Vec<f64> = tokens.iter().filter_map(|token| token.text.parse().ok()).collect();
                nature_of_numbers(&values, context)
            }),
            form => form.nature(),
        };
        return Some(Piece::Form { pattern: first.form.pattern()?, place, nature });
    }
    let is_word =
        |token: &TextToken| token.text.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let pattern = TokenForm::Word.pattern()?;
    tokens.iter().all(is_word).then_some(Piece::Form { pattern, place, nature: Nature::Id })
}

/// The common beginning and end of the lines.
fn around(lines: &[&str], begins: usize) -> Vec<Piece> {
    let lines: Vec<Vec<char>> = lines.iter().map(|line| line.chars().collect()).collect();
    let Some((first, others)) = lines.split_first() else { return Vec::new() };
    let shortest = lines.iter().map(Vec::len).min().unwrap_or_default();
    let agree_ahead = |place: &usize| others.iter().all(|other| other[*place] == first[*place]);
    let ahead = (0..shortest).take_while(agree_ahead).count();
    let from_end = |line: &[char], place: usize| line[line.len() - 1 - place];
    let agree_behind =
        |place: &usize| others.iter().all(|other| from_end(other, *place) == from_end(first, *place));
    let behind = (0..shortest - ahead).take_while(agree_behind).count();
    let [prefix, suffix] = [&first[..ahead], &first[first.len() - behind..]].map(String::from_iter);
    let place = begins + prefix.len();
    let between = Piece::Form { pattern: "(?s:.*)", place, nature: Nature::Text };
    vec![Piece::Fixed(prefix), between, Piece::Fixed(suffix)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn context() -> AnswerContext<'static> {
        AnswerContext { now: Some("2026-11-28T05:10:35Z".parse().unwrap()), sent: "" }
    }

    fn of(texts: &[&str]) -> Option<(String, String)> {
        let prose = pattern_of(texts, &context())?;
        let varying: Vec<String> = prose.varying.iter().map(ToString::to_string).collect();
        Some((prose.pattern, varying.join(", ")))
    }

    fn some(pattern: &str, varying: &str) -> Option<(String, String)> {
        Some((pattern.to_owned(), varying.to_owned()))
    }

    #[test]
    fn what_varies_has_its_form() {
        let number = r"[0-9]+(?:\.[0-9]+)?";
        assert_eq!(of(&["hits: 9.", "hits: 10."]), some(&format!(r"hits: {number}\."), "byte 6 (a counter)"));
        let time = some(&format!("now {number}"), "byte 4 (a time)");
        assert_eq!(of(&["now 1795842635", "now 1795842636"]), time);
        assert_eq!(of(&["now 1795842635"; 2]), time, "it stood still");
        assert_eq!(of(&["05:10\n", "05:11\n"]).unwrap().1, "byte 0 (a time)");
        assert_eq!(of(&["id a1b2, ok", "id 1234, ok"]), some(r"id \w+, ok", "byte 3 (an id)"));
        let token = some("token: (?s:.*)=\nok\n", "byte 7 (a text)");
        assert_eq!(of(&["token: +/a==\nok\n", "token: /b=\nok\n"]), token);
        assert_eq!(of(&["all the same"; 2]), some("all the same", ""));
    }

    #[test]
    fn nothing_in_common_is_no_pattern() {
        assert_eq!(of(&["one", "two"]), None);
        assert_eq!(of(&["one", "one\ntwo"]), None);
        assert_eq!(of(&["one two", "three"]), None);
    }

    proptest! {
        #[test]
        fn a_pattern_takes_every_text_that_it_was_learned_from(texts in prop::collection::vec("[a-c0-9:. \n{}-]{0,12}", 1..5)) {
            let all: Vec<&str> = texts.iter().map(String::as_str).collect();
            if let Some(prose) = pattern_of(&all, &context()) {
                let pattern = TextPattern::new(&prose.pattern).unwrap();
                prop_assert!(all.iter().all(|text| pattern.matches(text.as_bytes())), "{}", prose.pattern);
            }
        }
    }
}
