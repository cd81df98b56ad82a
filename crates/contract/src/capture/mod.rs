//! Values captured from an answer for later requests of a sequence: from the file to valid rules, and from an
//! answer to the value.
//!
//! A value becomes part of paths, heads and bodies. So its length is limited, and it must not end a line.

use std::collections::BTreeMap;

use tare_load::http1::Response;
use tare_load::sequence::{Captured, MissingValue};
use tare_load::text_pattern::{CapturePattern, TextPatternError};
use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::CaptureFile;
use super::header::header_name;
use super::json_path::{JsonPath, JsonPathError};

/// Length limit; tokens and addresses are shorter.
const VALUE_BYTES_MAX: usize = 8 * 1024;

/// A value that an answer must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Used as `{{captured.NAME}}`.
    pub name: String,
    source: CaptureSource,
}

/// The location of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CaptureSource {
    Json(JsonPath),
    /// The pattern's group in a header's value, or the whole value.
    Header(String, Option<CapturePattern>),
    Body(CapturePattern),
}

pub(super) fn captures(file: &BTreeMap<Spanned<String>, Spanned<CaptureFile>>) -> Lowered<Vec<Capture>> {
    file.iter().map(|(name, file)| capture(name, file)).collect()
}

fn capture(name: &Spanned<String>, file: &Spanned<CaptureFile>) -> Lowered<Capture> {
    let start = name.span().start;
    let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    if name.get_ref().is_empty() || !name.get_ref().bytes().all(in_name) {
        return Err((start, Problem::CaptureName { name: name.get_ref().clone() }));
    }
    let CaptureFile { json, header, body, matches } = file.get_ref();
    let source = match (json, header, body, matches) {
        (Some(path), None, None, None) => {
            let path =
                path.get_ref().parse().map_err(|error: JsonPathError| (path.span().start, error.into()));
            CaptureSource::Json(path?)
        }
        (None, Some(header), None, matches) => {
            header_name(header)?;
            CaptureSource::Header(header.get_ref().clone(), matches.as_ref().map(pattern).transpose()?)
        }
        (None, None, Some(body), None) => CaptureSource::Body(pattern(body)?),
        _ => return Err((start, Problem::CaptureSource { name: name.get_ref().clone() })),
    };
    Ok(Capture { name: name.get_ref().clone(), source })
}

fn pattern(text: &Spanned<String>) -> Lowered<CapturePattern> {
    let wrong = |error: TextPatternError| (text.span().start, Problem::Pattern(error));
    CapturePattern::new(text.get_ref()).map_err(wrong)
}

/// Captures all values of an answer.
///
/// # Errors
/// A value is missing or cannot be used.
pub(super) fn take(
    captures: &[Capture],
    response: &Response,
    captured: &mut Captured,
) -> Result<(), MissingValue> {
    for capture in captures {
        let wrong = |reason| MissingValue::Of { name: capture.name.clone(), reason };
        let value = capture.source.find(response).and_then(usable).map_err(wrong)?;
        captured.insert(capture.name.clone(), value);
    }
    Ok(())
}

impl CaptureSource {
    fn find(&self, response: &Response) -> Result<String, String> {
        let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err("the answer is not UTF-8".to_owned()),
        };
        match self {
            CaptureSource::Json(path) => path.find(&response.body),
            CaptureSource::Body(pattern) => group(pattern, &text(&response.body)?, "the body"),
            CaptureSource::Header(name, pattern) => {
                let is_it = |(header, _): &&(String, Vec<u8>)| header.eq_ignore_ascii_case(name);
                let found = response.headers.iter().find(is_it);
                let (_, value) = found.ok_or_else(|| format!("no header {name} came"))?;
                let value = text(value)?;
                match pattern {
                    None => Ok(value.trim().to_owned()),
                    Some(pattern) => group(pattern, value.trim(), &format!("the header {name}")),
                }
            }
        }
    }
}

fn group(pattern: &CapturePattern, text: &str, place: &str) -> Result<String, String> {
    pattern.find(text).map(str::to_owned).ok_or_else(|| format!("{place} does not match '{pattern}'"))
}

/// Checks that a value can be sent and compared unchanged.
fn usable(value: String) -> Result<String, String> {
    match value.len() {
        0 => Err("it is empty".to_owned()),
        bytes if bytes > VALUE_BYTES_MAX => {
            Err(format!("it has {bytes} bytes, and no more than {VALUE_BYTES_MAX} are taken"))
        }
        _ if value.chars().any(char::is_control) => Err("it holds a control character".to_owned()),
        // In expected JSON, braces would be read as a wildcard.
        _ if value.contains("{{") => Err("it holds \"{{\", with which placeholders begin".to_owned()),
        _ => Ok(value),
    }
}

#[cfg(test)]
mod tests;
