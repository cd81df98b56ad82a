//! Compares HTML as a browser parses it: the tree of elements and texts, in any spelling. White space around
//! tags, kinds of entities, `meta`, `link` and tags that parsers add are ignored.

use scraper::{ElementRef, Html, Node};
use tare_load::exchange::{BodyJudge, Flight};

/// Elements that do not affect the display.
const IGNORED: [&str; 2] = ["meta", "link"];
/// Elements that a parser adds if they are missing; their content counts as if they were not there.
const TRANSPARENT: [&str; 5] = ["html", "head", "body", "thead", "tbody"];
/// Size limit of a page.
const BODY_BYTES_MAX: u64 = 4 << 20;

/// Judges an HTML answer.
#[derive(Debug)]
pub(super) struct HtmlJudge {
    expected: Vec<Token>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Open { name: String, attributes: Vec<(String, String)> },
    Close { name: String },
    Text(String),
}

impl HtmlJudge {
    pub(super) fn new(expected: &str) -> HtmlJudge {
        HtmlJudge { expected: tokens(expected) }
    }
}

impl BodyJudge for HtmlJudge {
    fn is_right(&self, body: &[u8], _: Flight) -> bool {
        str::from_utf8(body).is_ok_and(|body| tokens(body) == self.expected)
    }

    fn may_be_remembered(&self) -> bool {
        true
    }

    fn differences(&self, body: &[u8]) -> Vec<String> {
        let Ok(body) = str::from_utf8(body) else { return vec!["the page is not UTF-8".to_owned()] };
        let got = tokens(body);
        let place = self.expected.iter().zip(&got).take_while(|(expected, got)| expected == got).count();
        let at = |tokens: &[Token]| {
            tokens.get(place).map_or("the end of the page".to_owned(), ToString::to_string)
        };
        let (expected, got) = (at(&self.expected), at(&got));
        (expected != got)
            .then(|| format!("the page differs: expected {expected}, got {got}"))
            .into_iter()
            .collect()
    }

    fn describe(&self) -> String {
        let cells = self.expected.iter().filter(|token| matches!(token, Token::Text(_))).count();
        format!("a page of HTML with {cells} texts")
    }

    fn body_bytes_max(&self) -> u64 {
        BODY_BYTES_MAX
    }
}

/// The token in messages.
impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Open { name, attributes } => {
                write!(f, "<{name}")?;
                attributes.iter().try_for_each(|(name, value)| write!(f, " {name}={value:?}"))?;
                f.write_str(">")
            }
            Token::Close { name } => write!(f, "</{name}>"),
            Token::Text(text) => write!(f, "the text {text:?}"),
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    push(Html::parse_document(text).root_element(), &mut tokens);
    tokens
}

fn push(element: ElementRef<'_>, tokens: &mut Vec<Token>) {
    let name = element.value().name().to_owned();
    if IGNORED.contains(&name.as_str()) {
        return;
    }
    let is_shown = !TRANSPARENT.contains(&name.as_str());
    if is_shown {
        let mut attributes: Vec<(String, String)> =
            element.value().attrs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        attributes.sort();
        tokens.push(Token::Open { name: name.clone(), attributes });
    }
    for child in element.children() {
        match child.value() {
            Node::Text(text) if !text.trim().is_empty() => tokens.push(Token::Text(text.trim().to_owned())),
            Node::Element(_) => ElementRef::wrap(child).into_iter().for_each(|child| push(child, tokens)),
            _ => {}
        }
    }
    if is_shown {
        tokens.push(Token::Close { name });
    }
}

/// Escapes a text between tags.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!DOCTYPE html><html><head><title>F</title></head><body><table><tr><td>1</td>\
                        <td>&lt;b&gt; &amp; 'é'</td></tr></table></body></html>";

    fn differences(got: &str) -> Vec<String> {
        let judge = HtmlJudge::new(PAGE);
        assert_eq!(
            judge.is_right(got.as_bytes(), Flight::default()),
            judge.differences(got.as_bytes()).is_empty()
        );
        judge.differences(got.as_bytes())
    }

    #[test]
    fn spelling_is_free() {
        let other = "<!doctype html>\n<meta charset=utf-8><title>F</title>\n<table>\n <tbody><tr><td>1<td>&#60;b> &#x26; \
                     &#39;&eacute;&apos;</table>";
        assert!(differences(other).is_empty(), "{:?}", differences(other));
        assert!(differences(PAGE).is_empty());
    }

    #[test]
    fn what_is_not_escaped_or_is_missing_differs() {
        let open = PAGE.replace("&lt;b&gt;", "<b>");
        assert_eq!(differences(&open), ["the page differs: expected the text \"<b> & 'é'\", got <b>"]);
        let twice = PAGE.replace("&lt;b&gt;", "&amp;lt;b&amp;gt;");
        assert_eq!(differences(&twice).len(), 1);
        let missing = PAGE.replace("<td>1</td>", "");
        assert_eq!(
            differences(&missing),
            ["the page differs: expected the text \"1\", got the text \"<b> & 'é'\""]
        );
        assert_eq!(HtmlJudge::new(PAGE).differences(b"\xff"), ["the page is not UTF-8"]);
    }

    #[test]
    fn what_is_escaped_is_read_as_it_was() {
        let text = "<script>alert(\"x\" & 'y');</script>";
        assert_eq!(tokens(&escaped(text)), [Token::Text(text.to_owned())]);
    }
}
