//! Multipart bodies, as for forms with files (RFC 7578).

use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::PartFile;
use super::placeholder::{Scope, Tables, Template};

/// Long enough not to occur in any value.
const BOUNDARY: &str = "tare-9c4f1d7be2a85036-boundary";

/// The value of `Content-Type`, and the body.
pub(super) fn body(parts: &Spanned<Vec<PartFile>>, tables: &Tables) -> Lowered<(Template, Template)> {
    let start = parts.span().start;
    if parts.get_ref().is_empty() {
        return Err((start, Problem::PartsOfNothing));
    }
    let mut text = String::new();
    for part in parts.get_ref() {
        text.push_str(&self::text(part, tables)?);
    }
    text.push_str(&format!("--{BOUNDARY}--\r\n"));
    let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
    Ok((template(&content_type, start, tables)?, template(&text, start, tables)?))
}

/// A part in template syntax, with the boundary before it.
fn text(part: &PartFile, tables: &Tables) -> Lowered<String> {
    let mut head =
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"", quotable(&part.name)?);
    if let Some(filename) = &part.filename {
        head.push_str(&format!("; filename=\"{}\"", quotable(filename)?));
    }
    if let Some(content_type) = &part.content_type {
        head.push_str(&format!("\r\nContent-Type: {}", quotable(content_type)?));
    }
    let (content, start) = (part.content.get_ref(), part.content.span().start);
    if content.contains(BOUNDARY) {
        return Err((start, Problem::BoundaryInPart));
    }
    // Parsed separately, so that an error gets its line.
    template(content, start, tables)?;
    Ok(format!("{head}\r\n\r\n{content}\r\n"))
}

/// Checks text that is quoted in a part's head.
fn quotable(text: &Spanned<String>) -> Lowered<&str> {
    match text.get_ref().contains(|character: char| character.is_control() || character == '"') {
        true => Err((text.span().start, Problem::PartHead { text: text.get_ref().clone() })),
        false => Ok(text.get_ref()),
    }
}

fn template(text: &str, start: usize, tables: &Tables) -> Lowered<Template> {
    let scope = Scope { tables: Some(tables), ..Scope::default() };
    Template::parse_in(text, scope).map_err(|error| (start, error.into()))
}

#[cfg(test)]
mod tests;
