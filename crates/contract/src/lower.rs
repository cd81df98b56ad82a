//! Converts a parsed file to a valid [`Contract`]. Every error is found here, once, with its line.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use super::error::{ContractError, Lowered, Problem};
use super::file::{BadFile, ContractFile, Headers, PartFile, RequestFile};
use super::header::header;
use super::placeholder::{Placeholder, PlaceholderError, PlaceholderKind, Tables, Template};
use super::scoped::template;
use super::{
    Ask, Bad, BodyFraming, CheckId, CheckLevel, Contract, Request, Statements, answer, backing, capture,
    data, multipart, newer, sequence,
};
use crate::protocol::{self, HttpVersion};
use tare_base::spelling::suggestion;
use tare_load::Protocol;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PATH: &str = "a path";
const CONTENT_TYPE: &str = "Content-Type";

/// The parts shared by all requests of a contract.
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
    newer::refuse(&file)?;
    let protocols = protocols(&file)?;
    let tables = data::tables(&file, folder)?;
    let backing = backing::backing(&file.backing, &tables)?;
    let exchanges = match &file.exchanges {
        Some(exchanges) if *exchanges.get_ref() == 0 => Err((exchanges.span().start, Problem::NoExchanges)),
        exchanges => Ok(exchanges.as_ref().map(|exchanges| *exchanges.get_ref() as usize)),
    }?;
    let shared = Shared { headers: &file.defaults.headers, tables: &tables };
    let requests: Vec<Request> =
        file.requests.iter().map(|request| self::request(request, shared)).collect::<Lowered<_>>()?;
    let bad: Vec<Bad> = file.bad.iter().map(|bad| self::bad(bad, shared)).collect::<Lowered<_>>()?;
    unique(file.requests.iter().map(|request| &request.name))?;
    unique(file.bad.iter().map(|bad| &bad.name))?;
    let sequences = sequence::sequences(&file, &requests)?;
    let checks = checks(&file.checks)?;
    let (name, title, service) = (stem.to_owned(), file.title, file.service);
    let contract = Contract {
        name,
        title,
        protocols,
        service,
        exchanges,
        tables,
        backing,
        requests,
        sequences,
        bad,
        checks,
    };
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

fn checks(file: &BTreeMap<Spanned<String>, CheckLevel>) -> Lowered<BTreeMap<CheckId, CheckLevel>> {
    let level = |(name, level): (&Spanned<String>, &CheckLevel)| match CheckId::from_name(name.get_ref()) {
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
    let answer = answer::answer(&file.response, &ask, shared.tables)?;
    let otherwise =
        file.otherwise.as_ref().map(|other| answer::answer(other, &ask, shared.tables)).transpose()?;
    if let Some(other) = file.otherwise.as_ref().filter(|_| file.load) {
        return Err((other.span().start, Problem::OtherwiseInLoad));
    }
    let statements = file.statements.map(Statements::from);
    let (name, captures) = (file.name.get_ref().clone(), capture::captures(&file.capture)?);
    Ok(Request { name, ask, load: file.load, weight, answer, otherwise, statements, captures })
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
    if ask.placeholders().any(|placeholder| placeholder.kind == PlaceholderKind::Captured) {
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
        headers.push((
            name.get_ref().clone(),
            line(value, "a header", &[PlaceholderKind::Text, PlaceholderKind::Phrase], tables)?,
        ));
    }
    let ask = Ask {
        method: method.get_ref().clone(),
        // In a path, phrases are percent-encoded.
        path: line(path, PATH, &[PlaceholderKind::Text], tables)?,
        headers,
        body: body.map(|body| template(body, tables)).transpose()?,
        framing: BodyFraming::Length,
    };
    one_kind_a_name(&ask, path.span().start)?;
    Ok(ask)
}

/// A template used where spaces or line breaks end the text; placeholders of the `refused` kinds are errors.
fn line(
    text: &Spanned<String>,
    place: &'static str,
    refused: &[PlaceholderKind],
    tables: &Tables,
) -> Lowered<Template> {
    let template = template(text, tables)?;
    // In a path, columns are percent-encoded.
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

fn one_kind_a_name(ask: &Ask, start: usize) -> Lowered<()> {
    let mut kinds: BTreeMap<&str, &PlaceholderKind> = BTreeMap::new();
    for placeholder in ask.placeholders() {
        let Some(name) = &placeholder.name else { continue };
        if *kinds.entry(name).or_insert(&placeholder.kind) != &placeholder.kind {
            return Err((start, Problem::PlaceholderOfTwoKinds { name: name.clone() }));
        }
    }
    Ok(())
}
