//! From the file as it is written to a [`Contract`] that makes sense: every error is found here, once, with its line.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use super::error::{ContractError, Lowered, Problem};
use super::file::{BadFile, ContractFile, Extra, Headers, PartFile, RequestFile, ResponseFile};
use super::header::header;
use super::placeholder::{Kind, Placeholder, PlaceholderError, Scope, Tables, Template};
use super::plain_or::PlainOr;
use super::{
    Answer, Ask, Bad, Body, BodyFraming, CheckId, Contract, FORMAT, Level, OLDER, Request, capture, data,
    expectation, multipart, sequence,
};
use crate::protocol::{self, HttpVersion};
use tare_host::spelling::suggestion;
use tare_load::Protocol;
use tare_load::pattern::JsonPattern;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PATH: &str = "a path";
const CONTENT_TYPE: &str = "Content-Type";

/// How a wildcard begins.
const WILDCARD: &str = "{{any";

/// What all requests of a contract have in common.
#[derive(Debug, Clone, Copy)]
struct Shared<'c> {
    headers: &'c Headers,
    tables: &'c Tables,
}

pub(super) fn lower(file: ContractFile, text: &str, path: &Path) -> Result<Contract, ContractError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new(""));
    contract(file, &stem, folder).map_err(|(start, problem)| {
        let line = text[..start.min(text.len())].matches('\n').count() + 1;
        ContractError::Check { path: path.to_owned(), line, problem }
    })
}

fn contract(file: ContractFile, stem: &str, folder: &Path) -> Lowered<Contract> {
    if file.name.get_ref() != stem {
        let name = file.name.get_ref().clone();
        return Err((file.name.span().start, Problem::Name { name, stem: stem.to_owned() }));
    }
    if file.format == OLDER {
        let newer =
            |span: std::ops::Range<usize>, what| Err((span.start, Problem::Newer { what, needed: FORMAT }));
        if let Some(protocols) = &file.protocols {
            return newer(protocols.span(), "\"protocols\"");
        }
        if let Some(tls) = &file.tls {
            return newer(tls.span(), "\"tls\"");
        }
        if let Some(name) = file.data.keys().next() {
            return newer(name.span(), "a table");
        }
        file.requests.iter().try_for_each(refuse_what_is_newer)?;
        if let Some(sequence) = file.sequences.first() {
            return newer(sequence.name.span(), "a sequence");
        }
    }
    let protocols = protocols(&file)?;
    let tables = data::tables(&file.data, folder)?;
    let shared = Shared { headers: &file.defaults.headers, tables: &tables };
    let requests: Vec<Request> =
        file.requests.iter().map(|request| self::request(request, shared)).collect::<Lowered<_>>()?;
    let bad: Vec<Bad> = file.bad.iter().map(|bad| self::bad(bad, shared)).collect::<Lowered<_>>()?;
    unique(file.requests.iter().map(|request| &request.name))?;
    unique(file.bad.iter().map(|bad| &bad.name))?;
    let sequences = sequence::sequences(&file, &requests)?;
    let checks = checks(&file.checks)?;
    let (name, title, service) = (stem.to_owned(), file.title, file.service);
    let contract = Contract { name, title, protocols, service, tables, requests, sequences, bad, checks };
    let is_loaded = contract.loaded().next().is_some();
    if is_loaded { Ok(contract) } else { Err((file.name.span().start, Problem::NothingToLoad)) }
}

fn protocols(file: &ContractFile) -> Lowered<Vec<Protocol>> {
    let versions = file.protocols.as_ref().map_or(&[HttpVersion::Http1][..], |list| list.get_ref());
    let tls = file.tls.as_ref().is_some_and(|tls| *tls.get_ref());
    protocol::check(versions, tls).map_err(|mistake| {
        let (list, tls) = (file.protocols.as_ref().map(Spanned::span), file.tls.as_ref().map(Spanned::span));
        let span = if mistake.key == "tls" { tls.or(list) } else { list.or(tls) };
        (span.map_or(0, |span| span.start), Problem::Protocols { reason: mistake.reason })
    })?;
    Ok(protocol::spoken(versions, tls).collect())
}

fn refuse_what_is_newer(request: &RequestFile) -> Lowered<()> {
    let newer =
        |span: std::ops::Range<usize>, what| Err((span.start, Problem::Newer { what, needed: FORMAT }));
    let response = request.response.get_ref();
    match (&response.json, &response.extra) {
        _ if request.multipart.is_some() => {
            newer(request.multipart.as_ref().map_or(0..0, Spanned::span), "\"multipart\"")
        }
        _ if !request.capture.is_empty() => {
            newer(request.capture.keys().next().map_or(0..0, Spanned::span), "\"capture\"")
        }
        _ if request.chunked.is_some() => {
            newer(request.chunked.as_ref().map_or(0..0, Spanned::span), "\"chunked\"")
        }
        (_, Some(extra)) => newer(extra.span(), "\"extra\""),
        (Some(json), None) if json.get_ref().contains(WILDCARD) => newer(json.span(), "a wildcard"),
        _ => response_in_an_older_file(response).map_or(Ok(()), |(span, what)| newer(span, what)),
    }
}

fn response_in_an_older_file(response: &ResponseFile) -> Option<(std::ops::Range<usize>, &'static str)> {
    let table = response.headers.values().find(|rule| matches!(rule.get_ref(), PlainOr::Table(_)));
    let table = table.map(|rule| (rule.span(), "a header that is no text"));
    let matches = response.matches.as_ref().map(|matches| (matches.span(), "\"matches\""));
    let length = response.length.as_ref().map(|length| (length.span(), "\"length\""));
    table.or(matches).or(length)
}

fn unique<'f>(names: impl Iterator<Item = &'f Spanned<String>>) -> Lowered<()> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name.get_ref().as_str()) {
            return Err((name.span().start, Problem::Twice { name: name.get_ref().clone() }));
        }
        seen.push(name.get_ref());
    }
    Ok(())
}

fn checks(file: &BTreeMap<Spanned<String>, Level>) -> Lowered<BTreeMap<CheckId, Level>> {
    let level = |(name, level): (&Spanned<String>, &Level)| match CheckId::from_name(name.get_ref()) {
        Some(check) => Ok((check, *level)),
        None => {
            let suggestion = suggestion(name.get_ref(), CheckId::ALL.iter().map(|check| check.name()));
            Err((name.span().start, Problem::UnknownCheck { name: name.get_ref().clone(), suggestion }))
        }
    };
    file.iter().map(level).collect()
}

fn request(file: &RequestFile, shared: Shared) -> Lowered<Request> {
    let mut ask = ask(&file.method, &file.path, &file.headers, file.body.as_ref(), shared)?;
    if let Some(parts) = &file.multipart {
        form(&mut ask, parts, shared.tables)?;
    }
    ask.framing = framing(file, &ask)?;
    let weight = match &file.weight {
        Some(weight) if *weight.get_ref() == 0 => {
            return Err((weight.span().start, Problem::WeightOfNothing));
        }
        Some(weight) => *weight.get_ref(),
        None => 1,
    };
    let answer = answer(&file.response, &ask, shared.tables)?;
    let (name, captures) = (file.name.get_ref().clone(), capture::captures(&file.capture)?);
    Ok(Request { name, ask, load: file.load, weight, answer, captures })
}

fn form(ask: &mut Ask, parts: &Spanned<Vec<PartFile>>, tables: &Tables) -> Lowered<()> {
    let start = parts.span().start;
    if ask.body.is_some() {
        return Err((start, Problem::BodyBesideParts));
    }
    let is_type = |(name, _): &&(String, Template)| name.eq_ignore_ascii_case(CONTENT_TYPE);
    if let Some((name, _)) = ask.headers.iter().find(is_type) {
        return Err((start, Problem::TypeOfParts { name: name.clone() }));
    }
    let (content_type, body) = multipart::body(parts, tables)?;
    ask.headers.push((CONTENT_TYPE.to_owned(), content_type));
    ask.body = Some(body);
    one_kind_a_name(ask, start)
}

fn framing(file: &RequestFile, ask: &Ask) -> Lowered<BodyFraming> {
    match (&file.chunked, &ask.body) {
        (Some(chunked), None) => Err((chunked.span().start, Problem::ChunksOfNothing)),
        (Some(chunked), Some(_)) if *chunked.get_ref() => Ok(BodyFraming::Chunked),
        _ => Ok(BodyFraming::Length),
    }
}

fn bad(file: &BadFile, shared: Shared) -> Lowered<Bad> {
    let ask = ask(&file.method, &file.path, &file.headers, file.body.as_ref(), shared)?;
    if ask.placeholders().any(|placeholder| placeholder.kind == Kind::Captured) {
        return Err((file.name.span().start, PlaceholderError::OutsideOfSequence.into()));
    }
    Ok(Bad { name: file.name.get_ref().clone(), ask })
}

fn ask(
    method: &Spanned<String>,
    path: &Spanned<String>,
    own: &Headers,
    body: Option<&Spanned<String>>,
    Shared { headers: defaults, tables }: Shared,
) -> Lowered<Ask> {
    if !METHODS.contains(&method.get_ref().as_str()) {
        let suggestion = suggestion(&method.get_ref().to_uppercase(), METHODS);
        let name = method.get_ref().clone();
        return Err((method.span().start, Problem::UnknownMethod { name, suggestion }));
    }
    let outside = |byte: u8| byte <= b' ' || byte == 0x7f;
    if !path.get_ref().starts_with('/') || path.get_ref().bytes().any(outside) {
        return Err((path.span().start, Problem::Path { path: path.get_ref().clone() }));
    }
    let mut headers: Vec<(String, Template)> = Vec::new();
    let is_own = |name: &str| own.keys().any(|own| own.get_ref().eq_ignore_ascii_case(name));
    for (name, value) in defaults.iter().filter(|(name, _)| !is_own(name.get_ref())).chain(own) {
        header(name, value.get_ref())?;
        headers.push((name.get_ref().clone(), line(value, "a header", &[Kind::Text, Kind::Phrase], tables)?));
    }
    let ask = Ask {
        method: method.get_ref().clone(),
        // There a phrase is percent-encoded.
        path: line(path, PATH, &[Kind::Text], tables)?,
        headers,
        body: body.map(|body| template(body, tables)).transpose()?,
        framing: BodyFraming::Length,
    };
    one_kind_a_name(&ask, path.span().start)?;
    Ok(ask)
}

fn answer(file: &Spanned<ResponseFile>, ask: &Ask, tables: &Tables) -> Lowered<Answer> {
    let response = file.get_ref();
    let status = *response.status.get_ref();
    if !(200..=599).contains(&status) {
        return Err((response.status.span().start, Problem::Status { status }));
    }
    let body = body(response, ask, tables)?;
    if let (Some(extra), None) = (&response.extra, &response.json) {
        return Err((extra.span().start, Problem::ExtraWithoutJson));
    }
    if ask.method == "HEAD" && body != Body::Any {
        return Err((file.span().start, Problem::HeadWithBody));
    }
    let headers = expectation::headers(&response.headers)?;
    Ok(Answer { status, content_type: response.content_type.clone(), headers, body })
}

fn body(response: &ResponseFile, ask: &Ask, tables: &Tables) -> Lowered<Body> {
    let ResponseFile { body, json, matches, length, .. } = response;
    let one = |key, text: &Option<Spanned<String>>| text.as_ref().map(|text| (key, text.span().start));
    // A pattern and a length may stand together.
    let shape = one("matches", matches).or(length.as_ref().map(|length| ("length", length.span().start)));
    let mut given = [one("body", body), one("json", json), shape].into_iter().flatten();
    if let (Some((first, _)), Some((second, start))) = (given.next(), given.next()) {
        return Err((start, Problem::TwoBodies { first, second }));
    }
    match (body, json, expectation::shape(response)?) {
        (Some(body), ..) => Ok(Body::Exact(echo(body, ask, tables)?)),
        (_, Some(json), _) => json_body(json, response.extra.as_ref(), ask, tables),
        (.., shape) => Ok(shape.unwrap_or(Body::Any)),
    }
}

fn template(text: &Spanned<String>, tables: &Tables) -> Lowered<Template> {
    scoped(text, Scope { tables: Some(tables), ..Scope::default() })
}

fn scoped(text: &Spanned<String>, scope: Scope) -> Lowered<Template> {
    Template::parse_in(text.get_ref(), scope).map_err(|error| (text.span().start, error.into()))
}

/// A template for a place that ends at a space or a line break, and takes none of these kinds.
fn line(text: &Spanned<String>, place: &'static str, refused: &[Kind], tables: &Tables) -> Lowered<Template> {
    let template = template(text, tables)?;
    // In a path it is percent-encoded.
    for cell in template.cells().filter(|_| place != PATH) {
        data::in_a_line(cell, place, text.span().start)?;
    }
    let wrong = template.placeholders().find(|placeholder| refused.contains(&placeholder.kind));
    if let Some(Placeholder { kind, .. }) = wrong {
        let placeholder = Placeholder { kind: kind.clone(), name: None }.to_string();
        return Err((text.span().start, Problem::SpacesIn { placeholder, place }));
    }
    Ok(template)
}

/// A template of a response: it can only repeat values of the request.
fn echo(text: &Spanned<String>, ask: &Ask, tables: &Tables) -> Lowered<Template> {
    repeated(template(text, tables)?, text, ask)
}

fn repeated(template: Template, text: &Spanned<String>, ask: &Ask) -> Lowered<Template> {
    let start = text.span().start;
    for placeholder in template.placeholders() {
        if matches!(placeholder.kind, Kind::Env(_)) {
            return Err((start, Problem::SecretInAnswer { placeholder: placeholder.to_string() }));
        }
        if let Kind::Cell(cell) = &placeholder.kind {
            data::of_the_row_asked_for(cell, ask, start)?;
            continue;
        }
        if placeholder.kind == Kind::Captured {
            // Whether it is known by then is judged with its sequence.
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
                return Err((start, Problem::HoleOfTwoKinds { name: name.clone() }));
            }
            Some(_) => {}
        }
    }
    Ok(template)
}

/// Equal JSON, or a pattern if it has wildcards or may have more members.
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
    // Ones are JSON inside of a string and outside, and no wildcard.
    let filled = serde_json::from_str(&template.fill_with(|_| "1".to_owned()));
    let whole = filled.map_or(0, |value| JsonPattern::new(value, extra).wildcards());
    if whole != written {
        return Err((text.span().start, Problem::WildcardInText));
    }
    Ok(Body::Pattern { template, extra })
}

/// A template that is JSON whatever its placeholders are filled with: tried with the least and the greatest numbers, and with
/// a word that is no JSON where it stands outside of quotes.
fn json(text: &Spanned<String>, ask: &Ask, tables: &Tables) -> Lowered<Template> {
    let start = text.span().start;
    let template = scoped(text, Scope { tables: Some(tables), wildcards: true, row: false })?;
    let template = repeated(template, text, ask)?;
    for filled in template.extremes() {
        if let Err(error) = serde_json::from_str::<serde_json::Value>(&filled) {
            return Err((start, Problem::Json { reason: error.to_string() }));
        }
    }
    template.cells_outside_of_strings().try_for_each(|cell| data::is_json(cell, start))?;
    Ok(template)
}

fn one_kind_a_name(ask: &Ask, start: usize) -> Lowered<()> {
    let mut kinds: BTreeMap<&str, &Kind> = BTreeMap::new();
    for placeholder in ask.placeholders() {
        let Some(name) = &placeholder.name else { continue };
        if *kinds.entry(name).or_insert(&placeholder.kind) != &placeholder.kind {
            return Err((start, Problem::HoleOfTwoKinds { name: name.clone() }));
        }
    }
    Ok(())
}
