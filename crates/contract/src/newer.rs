//! Finds features that an older format lacks: an older Tare would report an unknown key, not the format.

use std::ops::Range;

use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::{ContractFile, RequestFile, ResponseFile};
use super::plain_or::PlainOr;
use super::{BRACES_PLACEHOLDER, FORMAT, FORMAT_1_0, FORMAT_1_1};

/// The beginning of a wildcard.
const WILDCARD: &str = "{{any";

/// The place and the name of a feature.
type Found = Option<(Range<usize>, &'static str)>;

pub(super) fn refuse(file: &ContractFile) -> Lowered<()> {
    if file.format == FORMAT_1_0 {
        demand(FORMAT_1_1, first(since_1_1(file), file.requests.iter().find_map(request_since_1_1)))?;
    }
    if file.format != FORMAT {
        demand(FORMAT, first(since_1_2(file), file.requests.iter().find_map(request_since_1_2)))?;
    }
    Ok(())
}

/// The first of both in the file.
fn first(of_file: Found, of_requests: Found) -> Found {
    of_file.into_iter().chain(of_requests).min_by_key(|(span, _)| span.start)
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
        .or_else(|| at(file.sequences.first().map(|sequence| &sequence.name), "a sequence"))
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
        .or_else(|| at(braces(request), BRACES_PLACEHOLDER))
        .or_else(|| request.statements.map(|_| (request.name.span(), "\"statements\"")))
}

/// A text of the request that contains the placeholder for literal braces.
fn braces(request: &RequestFile) -> Option<&Spanned<String>> {
    let all = std::iter::once(&request.path).chain(request.headers.values()).chain(&request.body);
    all.into_iter().find(|text| text.get_ref().contains(BRACES_PLACEHOLDER))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::Contract;

    /// Features of newer formats: lines before the requests, in a request, in its answer.
    const NEWER: [(&str, &str, &str, &str); 10] = [
        ("exchanges = 3", "", "", "\"exchanges\""),
        (
            "[data.t]\nrows = 1\nkey = \"id\"\ncolumns = { id = \"{{row}}\" }",
            "",
            "",
            "\"json\" or \"key\" of a table",
        ),
        ("[folder.f]\nfiles = { \"a.txt\" = 1 }", "", "", "a folder"),
        (
            "[data.t]\nrows = 1\ncolumns = { id = \"{{row}}\" }\n[backing.postgres.tables]\nt = \"id integer\"",
            "",
            "",
            "\"backing\"",
        ),
        ("", "statements = { reads = 1 }", "", "\"statements\""),
        ("", "body = \"{{braces}}\"", "", "{{braces}}"),
        ("", "load = false\n[request.otherwise]\nstatus = 404", "", "\"otherwise\""),
        ("", "", "html = \"<p>\"", "\"html\""),
        ("", "", "body = \"a\"\nencoding = [\"gzip\"]", "\"encoding\""),
        (
            "[data.t]\nrows = 1\ncolumns = { id = \"{{row}}\" }",
            "",
            "any-row = { table = \"t\" }",
            "\"any-row\"",
        ),
    ];

    fn contract(format: &str, head: &str, request: &str, answer: &str) -> Result<Contract, String> {
        let text = format!(
            "format = \"{format}\"\nname = \"sample\"\ntitle = \"\"\n{head}\n[[request]]\nname = \"other\"\nmethod = \"GET\"\n\
             path = \"/other\"\n[request.response]\nstatus = 200\n[[request]]\nname = \"r\"\nmethod = \"GET\"\npath = \"/\"\n\
             {request}\n[request.response]\nstatus = 200\n{answer}\n"
        );
        Contract::parse(&text, Path::new("contracts/sample.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_an_older_format_has_not_is_refused_with_the_format_that_it_needs() {
        for (head, request, answer, what) in NEWER {
            let error = contract("1.1", head, request, answer).unwrap_err();
            assert!(
                error.ends_with(&format!(": {what} needs format = \"1.2\" in the first line")),
                "{error}"
            );
            if head.is_empty() {
                let error = contract("1.0", head, request, answer).unwrap_err();
                assert!(
                    error.ends_with(&format!(": {what} needs format = \"1.2\" in the first line")),
                    "{error}"
                );
            }
            // The text may have other errors, which do not matter here.
            let error = contract("1.2", head, request, answer).err().unwrap_or_default();
            assert!(!error.contains("needs format"), "{error}");
        }
        assert!(contract("1.0", "", "", "body = \"a\"").is_ok());
    }

    #[test]
    fn the_oldest_format_needs_the_one_between_for_what_that_brought() {
        let table = "[data.t]\nrows = 1\ncolumns = { id = \"{{row}}\" }";
        let error = contract("1.0", table, "", "").unwrap_err();
        assert!(error.ends_with(": a table needs format = \"1.1\" in the first line"), "{error}");
        assert!(contract("1.1", table, "", "").is_ok());
    }
}
