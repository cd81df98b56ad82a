//! What a contract of an older format must not have: an older Tare would refuse the file, and would name a key and not the format.

use std::ops::Range;

use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::{ContractFile, RequestFile, ResponseFile};
use super::plain_or::PlainOr;
use super::{FORMAT, FORMAT_1_0, FORMAT_1_1};

/// How a wildcard begins.
const WILDCARD: &str = "{{any";

/// Where it stands, and what it is.
type Found = Option<(Range<usize>, &'static str)>;

pub(super) fn refuse(file: &ContractFile) -> Lowered<()> {
    if file.format == FORMAT_1_0 {
        let sequence = || at(file.sequences.first().map(|sequence| &sequence.name), "a sequence");
        let in_requests = || file.requests.iter().find_map(request_since_1_1);
        demand(FORMAT_1_1, since_1_1(file).or_else(in_requests).or_else(sequence))?;
    }
    if file.format != FORMAT {
        demand(FORMAT, since_1_2(file).or_else(|| file.requests.iter().find_map(request_since_1_2)))?;
    }
    Ok(())
}

fn demand(needed: &'static str, found: Found) -> Lowered<()> {
    found.map_or(Ok(()), |(span, what)| Err((span.start, Problem::Newer { what, needed })))
}

fn at<T>(value: Option<&Spanned<T>>, what: &'static str) -> Found {
    value.map(|value| (value.span(), what))
}

fn since_1_1(file: &ContractFile) -> Found {
    at(file.protocols.as_ref(), "\"protocols\"")
        .or_else(|| at(file.tls.as_ref(), "\"tls\""))
        .or_else(|| at(file.data.keys().next(), "a table"))
}

fn request_since_1_1(request: &RequestFile) -> Found {
    let response = request.response.get_ref();
    let table = response.headers.values().find(|rule| matches!(rule.get_ref(), PlainOr::Table(_)));
    let wildcard = response.json.as_ref().filter(|json| json.get_ref().contains(WILDCARD));
    at(request.multipart.as_ref(), "\"multipart\"")
        .or_else(|| at(request.capture.keys().next(), "\"capture\""))
        .or_else(|| at(request.chunked.as_ref(), "\"chunked\""))
        .or_else(|| at(response.extra.as_ref(), "\"extra\""))
        .or_else(|| at(wildcard, "a wildcard"))
        .or_else(|| at(table, "a header that is no text"))
        .or_else(|| at(response.matches.as_ref(), "\"matches\""))
        .or_else(|| at(response.length.as_ref(), "\"length\""))
}

fn since_1_2(file: &ContractFile) -> Found {
    let table = file.data.iter().find(|(_, data)| data.json.is_some() || data.key.is_some());
    at(file.exchanges.as_ref(), "\"exchanges\"")
        .or_else(|| at(table.map(|(name, _)| name), "\"json\" or \"key\" of a table"))
        .or_else(|| at(file.folder.keys().next(), "a folder"))
        .or_else(|| at(file.backing.upstream.as_ref(), "\"backing\""))
        .or_else(|| {
            at(
                file.backing.postgres.as_ref().and_then(|postgres| postgres.tables.keys().next()),
                "\"backing\"",
            )
        })
}

fn request_since_1_2(request: &RequestFile) -> Found {
    let ResponseFile { html, any_row, rows, encoding, .. } = request.response.get_ref();
    at(request.otherwise.as_ref(), "\"otherwise\"")
        .or_else(|| at(html.as_ref(), "\"html\""))
        .or_else(|| at(any_row.as_ref(), "\"any-row\""))
        .or_else(|| at(rows.keys().next(), "\"rows\""))
        .or_else(|| at(encoding.as_ref(), "\"encoding\""))
        .or_else(|| request.statements.map(|_| (request.name.span(), "\"statements\"")))
}
