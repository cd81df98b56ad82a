//! The bytes that each service sends, side by side.

use std::collections::BTreeSet;

use tare_report::{
    document::{ALWAYS, Unit, Value},
    write::text::TextLook,
};
use tare_service::verify::{Field, SentAnswer};

use super::{Found, Verified};
use crate::output::table;

/// Headers with a column of their own: servers differ most in these.
const COLUMNS: [&str; 4] = ["Date", "Server", "Connection", "Keep-Alive"];
/// Headers that the column `framing` already covers.
const FRAMES: [&str; 2] = ["Content-Length", "Transfer-Encoding"];
/// The width of a header's value; JSON has the full value.
const VALUE_MAX: usize = 24;

/// An answer, with its service and its request.
struct Answer<'v> {
    service: &'v str,
    contract: &'v str,
    sent: &'v SentAnswer,
}

/// A table of all answers, and their common parts.
pub(super) fn text(all: &[Verified], look: TextLook) -> String {
    let answers = answers(all);
    let Some(first) = answers.first() else { return String::new() };
    let shared = shared(&answers);
    let columns = [
        ("answer", Unit::Text, ALWAYS),
        ("head", Unit::Count, 9),
        ("body", Unit::Count, 9),
        ("total", Unit::Count, ALWAYS),
        ("framing", Unit::Text, 8),
        (COLUMNS[0], Unit::Text, 7),
        (COLUMNS[1], Unit::Text, 6),
        (COLUMNS[2], Unit::Text, 5),
        (COLUMNS[3], Unit::Text, 5),
        ("other headers", Unit::Text, ALWAYS),
    ];
    let rows = answers.iter().map(|answer| cells(answer, &shared)).collect();
    let mut out = format!("\n{}", table(columns, rows, look));
    let names = first.sent.headers.iter().map(|field| field.name.as_str());
    let names: Vec<&str> = names.filter(|name| shared.contains(&key(name))).collect();
    if !names.is_empty() {
        out += &format!("\nin every answer: {}\n", names.join(", "));
    }
    out + &without(&answers, "Date")
}

fn answers(all: &[Verified]) -> Vec<Answer<'_>> {
    let mut found = Vec::new();
    for Verified { service, contract, found: of_one } in all {
        if let Found::Answered { answers } = of_one {
            found.extend(answers.iter().map(|sent| Answer { service, contract, sent }));
        }
    }
    found
}

/// Header names are case-insensitive.
fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// The header names in all answers, except those with a column.
fn shared(answers: &[Answer]) -> BTreeSet<String> {
    let of = |answer: &Answer| -> BTreeSet<String> {
        answer.sent.headers.iter().filter(|field| !has_column(field)).map(|field| key(&field.name)).collect()
    };
    let shared = answers.iter().map(of).reduce(|shared, names| &shared & &names);
    shared.unwrap_or_default()
}

fn has_column(field: &Field) -> bool {
    COLUMNS.iter().chain(&FRAMES).any(|column| field.name.eq_ignore_ascii_case(column))
}

fn cells(answer: &Answer, shared: &BTreeSet<String>) -> [Value; 10] {
    let sent = answer.sent;
    let others =
        sent.headers.iter().filter(|field| !has_column(field) && !shared.contains(&key(&field.name)));
    let others: Vec<String> = others.map(|field| format!("{}{}", field.name, mark(field))).collect();
    let [date, server, connection, keep_alive] = COLUMNS.map(|name| sent.field(name).map(cell).into());
    [
        format!("{} {}/{}", answer.service, answer.contract, sent.request).into(),
        sent.head_bytes.into(),
        sent.body_bytes.into(),
        sent.total_bytes.into(),
        sent.framing.name().into(),
        date,
        server,
        connection,
        keep_alive,
        (!others.is_empty()).then(|| others.join(", ")).into(),
    ]
}

/// A cell; a `Date` that changes is marked as such, because its value does not matter.
fn cell(field: &Field) -> String {
    if field.name.eq_ignore_ascii_case("date") {
        return if field.varies { "moves" } else { "stands still" }.to_owned();
    }
    let shown: String = field.value.chars().take(VALUE_MAX).collect();
    let more = if shown.len() < field.value.len() { "..." } else { "" };
    format!("{shown}{more}{}", mark(field))
}

fn mark(field: &Field) -> &'static str {
    if field.varies { " (varies)" } else { "" }
}

/// A note on services without a header: they send fewer bytes, and do less work.
fn without(answers: &[Answer], name: &str) -> String {
    let without = answers.iter().filter(|answer| answer.sent.field(name).is_none());
    let mut services: Vec<&str> = without.map(|answer| answer.service).collect();
    services.dedup();
    match services.as_slice() {
        [] => String::new(),
        services => format!("without {name}: {}\n", services.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use tare_service::verify::SentFraming;

    use super::*;

    fn field(name: &str, value: &str, varies: bool) -> Field {
        Field { name: name.to_owned(), value: value.to_owned(), varies }
    }

    fn answered(service: &str, framing: SentFraming, headers: Vec<Field>) -> Verified {
        let sent = SentAnswer {
            request: "hello".to_owned(),
            status_line: "HTTP/1.1 200 OK".to_owned(),
            headers,
            framing,
            head_bytes: 85,
            body_bytes: 12,
            total_bytes: 97,
        };
        let found = Found::Answered { answers: vec![sent] };
        Verified { service: service.to_owned(), contract: "hello".to_owned(), found }
    }

    fn verified() -> Vec<Verified> {
        let plain = || field("content-type", "text/plain", false);
        vec![
            answered("lean", SentFraming::ContentLength, vec![plain(), field("content-length", "12", false)]),
            answered(
                "rich",
                SentFraming::Chunked,
                vec![
                    field("Date", "now", true),
                    field("Server", "a very long name of a server 1.2.3", false),
                    field("Keep-Alive", "max=99", true),
                    field("Content-Type", "text/plain", false),
                    field("X-Request-Id", "7", true),
                    field("X-Content-Type-Options", "nosniff", false),
                    field("X-Frame-Options", "DENY", false),
                    field("Transfer-Encoding", "chunked", false),
                ],
            ),
        ]
    }

    fn shown(width: Option<usize>) -> String {
        text(&verified(), TextLook { width, ..TextLook::default() })
    }

    #[test]
    fn what_all_send_is_said_once_and_what_moves_is_marked() {
        assert_snapshot!(shown(None));
    }

    #[test]
    fn a_narrow_terminal_has_the_sizes() {
        assert_snapshot!(shown(Some(60)));
    }

    #[test]
    fn nothing_to_compare_is_no_table() {
        assert_eq!(text(&[], TextLook::default()), "");
    }
}
