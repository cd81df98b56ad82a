//! Expectations without an exact value: headers by presence or pattern, bodies by pattern or length. From the
//! file to valid values.

use std::borrow::Cow;

use tare_load::exchange::BodyShape;
use tare_load::text_pattern::TextPattern;
use toml::Spanned;

use super::Body;
use super::error::{Lowered, Problem};
use super::file::{HeaderRuleFile, LengthRangeFile, ResponseFile, ResponseHeaders};
use super::header::{header, header_name, is_field_value};
use super::placeholder::Template;
use super::plain_or::PlainOr;

/// The rule for one response header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderRule {
    /// Exactly this value.
    Exact(String),
    /// Any value.
    Present,
    /// The header must be missing.
    Absent,
    /// A value that matches as a whole.
    Matches(TextPattern),
}

impl HeaderRule {
    /// Whether `got` satisfies the rule.
    pub fn accepts(&self, got: Option<&str>) -> bool {
        match (self, got) {
            (HeaderRule::Exact(right), Some(got)) => right == got,
            (HeaderRule::Matches(pattern), Some(got)) => pattern.matches(got.as_bytes()),
            (HeaderRule::Present, Some(_)) | (HeaderRule::Absent, None) => true,
            (HeaderRule::Absent, Some(_)) | (_, None) => false,
        }
    }

    /// An acceptable value, if one is known.
    pub(super) fn example(&self) -> Option<Cow<'_, str>> {
        match self {
            HeaderRule::Exact(value) => Some(value.into()),
            HeaderRule::Present => Some("1".into()),
            HeaderRule::Matches(pattern) => {
                pattern.example().filter(|value| is_field_value(value)).map(Cow::from)
            }
            HeaderRule::Absent => None,
        }
    }
}

pub(super) fn headers(file: &ResponseHeaders) -> Lowered<Vec<(String, HeaderRule)>> {
    let one = |(name, rule): (&Spanned<String>, &Spanned<PlainOr<String, HeaderRuleFile>>)| {
        let lowered = match rule.get_ref() {
            PlainOr::Plain(value) => {
                header(name, value)?;
                HeaderRule::Exact(value.clone())
            }
            PlainOr::Table(table) => {
                header_name(name)?;
                header_rule(name, table)?
            }
        };
        Ok((name.get_ref().clone(), lowered))
    };
    file.iter().map(one).collect()
}

fn header_rule(name: &Spanned<String>, file: &HeaderRuleFile) -> Lowered<HeaderRule> {
    match (file.present, file.absent, &file.matches) {
        (Some(true), None, None) => Ok(HeaderRule::Present),
        (None, Some(true), None) => Ok(HeaderRule::Absent),
        (None, None, Some(matches)) => pattern(matches).map(HeaderRule::Matches),
        _ => Err((name.span().start, Problem::HeaderRule { name: name.get_ref().clone() })),
    }
}

/// Absent if the response has neither a pattern nor a length.
pub(super) fn shape(file: &ResponseFile) -> Lowered<Option<Body>> {
    if file.matches.is_none() && file.length.is_none() {
        return Ok(None);
    }
    let pattern = file.matches.as_ref().map(pattern).transpose()?;
    let bytes = match &file.length {
        None => 0..=u64::MAX,
        Some(length) => {
            let start = length.span().start;
            match length.get_ref() {
                PlainOr::Plain(bytes) => *bytes..=*bytes,
                PlainOr::Table(LengthRangeFile { min: None, max: None }) => {
                    return Err((start, Problem::LengthOfNothing));
                }
                PlainOr::Table(LengthRangeFile { min, max }) => {
                    let (min, max) = (min.unwrap_or(0), max.unwrap_or(u64::MAX));
                    if min > max {
                        return Err((start, Problem::LengthRange { min, max }));
                    }
                    min..=max
                }
            }
        }
    };
    Ok(Some(Body::Shape(BodyShape { bytes, pattern })))
}

fn pattern(text: &Spanned<String>) -> Lowered<TextPattern> {
    let start = text.span().start;
    let first = Template::parse(text.get_ref()).ok().and_then(|template| {
        let placeholder = template.placeholders().next()?;
        Some(placeholder.to_string())
    });
    if let Some(placeholder) = first {
        return Err((start, Problem::PlaceholderInPattern { placeholder }));
    }
    TextPattern::new(text.get_ref()).map_err(|error| (start, error.into()))
}

#[cfg(test)]
mod tests;
