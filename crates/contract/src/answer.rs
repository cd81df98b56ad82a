//! The answers of a contract: from the file to the expectation. An expectation can contain only what follows
//! from the request.

use tare_base::spelling::suggestion;
use tare_load::pattern::JsonPattern;
use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::{Extra, ResponseFile};
use super::placeholder::{Computed, DrawnColumn, PlaceholderKind, Scope, Tables, Template};
use super::scoped::scoped;
use super::{Ask, Body, Encoding, ExpectedAnswer, any_row, data, expectation, row_set};

/// How a wildcard begins.
const WILDCARD: &str = "{{any";

pub(super) fn answer(file: &Spanned<ResponseFile>, ask: &Ask, tables: &Tables) -> Lowered<ExpectedAnswer> {
    let response = file.get_ref();
    let status = *response.status.get_ref();
    if !(200..=599).contains(&status) {
        return Err((response.status.span().start, Problem::Status { status }));
    }
    let row_sets = row_set::row_sets(&response.rows, tables)?;
    for rows in &row_sets {
        rows.templates().try_for_each(|template| {
            is_knowable(template, file.span().start, ask, Some(rows.table_name()))
        })?;
    }
    let body = body(response, ask, tables)?;
    if let (Some(extra), None) = (&response.extra, &response.json) {
        return Err((extra.span().start, Problem::ExtraWithoutJson));
    }
    if ask.method == "HEAD" && body != Body::Any {
        return Err((file.span().start, Problem::HeadWithBody));
    }
    let headers = expectation::headers(&response.headers)?;
    let encodings = encodings(response, &body)?;
    let answer = ExpectedAnswer {
        status,
        content_type: response.content_type.clone(),
        headers,
        body,
        row_sets,
        encodings,
    };
    match unknown_rows(&answer) {
        Some(name) => Err((file.span().start, Problem::UnknownRows { name })),
        None => Ok(answer),
    }
}

/// Finds rows that the body uses without a definition.
fn unknown_rows(answer: &ExpectedAnswer) -> Option<String> {
    let is_known = |name: &String| answer.row_sets.iter().any(|rows| rows.name == *name);
    let mut asked = answer.placeholders().filter(|placeholder| placeholder.kind == PlaceholderKind::Rows);
    asked.find_map(|placeholder| placeholder.name.clone().filter(|name| !is_known(name)))
}

fn body(response: &ResponseFile, ask: &Ask, tables: &Tables) -> Lowered<Body> {
    let ResponseFile { body, json, matches, length, html, any_row, .. } = response;
    let one = |key, text: &Option<Spanned<String>>| text.as_ref().map(|text| (key, text.span().start));
    // A pattern and a length may be combined.
    let shape = one("matches", matches).or(length.as_ref().map(|length| ("length", length.span().start)));
    let any = any_row.as_ref().map(|any| ("any-row", any.span().start));
    let mut given =
        [one("body", body), one("json", json), one("html", html), any, shape].into_iter().flatten();
    if let (Some((first, _)), Some((second, start))) = (given.next(), given.next()) {
        return Err((start, Problem::TwoBodies { first, second }));
    }
    match (body, json, html, any_row) {
        (Some(body), ..) => Ok(Body::Exact(echo(body, ask, tables)?)),
        (_, Some(json), ..) => json_body(json, response.extra.as_ref(), ask, tables),
        (_, _, Some(html), _) => Ok(Body::Html(echo(html, ask, tables)?)),
        (.., Some(any)) => any_row::any_row(any, tables).map(Body::AnyRow),
        (None, None, None, None) => Ok(expectation::shape(response)?.unwrap_or(Body::Any)),
    }
}

/// A template of a response: it can only repeat values of the request.
fn echo(text: &Spanned<String>, ask: &Ask, tables: &Tables) -> Lowered<Template> {
    let scope = Scope { tables: Some(tables), answer: true, ..Scope::default() };
    repeated(scoped(text, scope)?, text, ask)
}

fn repeated(template: Template, text: &Spanned<String>, ask: &Ask) -> Lowered<Template> {
    is_knowable(&template, text.span().start, ask, None)?;
    Ok(template)
}

/// Checks that every part follows from the request. All rows of the table `own` are known.
fn is_knowable(template: &Template, start: usize, ask: &Ask, own: Option<&str>) -> Lowered<()> {
    for placeholder in template.placeholders() {
        if matches!(placeholder.kind, PlaceholderKind::Env(_)) {
            return Err((start, Problem::SecretInAnswer { placeholder: placeholder.to_string() }));
        }
        if let PlaceholderKind::Cell(cell) = &placeholder.kind {
            of_a_known_row(cell, ask, own, start)?;
            continue;
        }
        if let PlaceholderKind::Computed(computed) = &placeholder.kind {
            computed.cells().try_for_each(|cell| of_a_known_row(cell, ask, own, start))?;
            is_sent(computed, ask, start)?;
            continue;
        }
        if matches!(placeholder.kind, PlaceholderKind::Captured | PlaceholderKind::Rows) {
            // Checked later, with its sequence or its rows.
            continue;
        }
        let Some(name) = &placeholder.name else {
            return Err((start, Problem::NamelessPlaceholder { placeholder: placeholder.to_string() }));
        };
        match ask.placeholders().find(|asked| asked.name.as_ref() == Some(name)) {
            None => {
                return Err((start, Problem::UnknowablePlaceholder { placeholder: placeholder.to_string() }));
            }
            Some(asked) if asked.kind != placeholder.kind => {
                return Err((start, Problem::PlaceholderOfTwoKinds { name: name.clone() }));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn of_a_known_row(cell: &DrawnColumn, ask: &Ask, own: Option<&str>, start: usize) -> Lowered<()> {
    match own == Some(cell.table.name()) {
        true => Ok(()),
        false => data::of_the_row_asked_for(cell, ask, start),
    }
}

/// Checks that the request contains all operands.
fn is_sent(computed: &Computed, ask: &Ask, start: usize) -> Lowered<()> {
    let is_sent = |name: &str| ask.placeholders().any(|asked| asked.name.as_deref() == Some(name));
    match computed.names().find(|name| !is_sent(name)) {
        Some(_) => Err((start, Problem::UnknowablePlaceholder { placeholder: computed.to_string() })),
        None => Ok(()),
    }
}

/// The encodings that the body may have.
fn encodings(response: &ResponseFile, body: &Body) -> Lowered<Vec<Encoding>> {
    let Some(file) = &response.encoding else { return Ok(Vec::new()) };
    let is_known = matches!(body, Body::Exact(_) | Body::Json(_) | Body::Pattern { .. } | Body::Html(_));
    if file.get_ref().is_empty() || !is_known {
        return Err((file.span().start, Problem::EncodingOfNothing));
    }
    let one = |name: &Spanned<String>| {
        let found = Encoding::ALL.into_iter().find(|encoding| encoding.word() == name.get_ref());
        found.ok_or_else(|| {
            let suggestion = suggestion(name.get_ref(), Encoding::ALL.iter().map(|encoding| encoding.word()));
            (name.span().start, Problem::UnknownEncoding { name: name.get_ref().clone(), suggestion })
        })
    };
    file.get_ref().iter().map(one).collect()
}

/// A JSON value to equal, or a pattern if there are wildcards or extra members.
fn json_body(
    text: &Spanned<String>,
    extra: Option<&Spanned<Extra>>,
    ask: &Ask,
    tables: &Tables,
) -> Lowered<Body> {
    let template = json(text, ask, tables)?;
    let extra = extra.is_some_and(|extra| *extra.get_ref() == Extra::Allow);
    let written = text.get_ref().matches(WILDCARD).count();
    if written == 0 && !extra {
        return Ok(Body::Json(template));
    }
    // The digit 1 is valid JSON inside and outside a string, and is no wildcard.
    let filled = serde_json::from_str(&template.fill_with(|_| "1".to_owned()));
    let whole = filled.map_or(0, |value| JsonPattern::new(value, extra).wildcards());
    if whole != written {
        return Err((text.span().start, Problem::WildcardInText));
    }
    Ok(Body::Pattern { template, extra })
}

/// A template that is valid JSON for all values of its placeholders: tried with the smallest and largest
/// numbers, and with words that are invalid outside quotes.
fn json(text: &Spanned<String>, ask: &Ask, tables: &Tables) -> Lowered<Template> {
    let start = text.span().start;
    let template = scoped(text, Scope { tables: Some(tables), wildcards: true, answer: true, row: false })?;
    let template = repeated(template, text, ask)?;
    for filled in template.extremes() {
        if let Err(error) = serde_json::from_str::<serde_json::Value>(&filled) {
            return Err((start, Problem::Json { reason: error.to_string() }));
        }
    }
    template.cells_outside_of_strings().try_for_each(|cell| data::is_json(cell, start))?;
    Ok(template)
}
