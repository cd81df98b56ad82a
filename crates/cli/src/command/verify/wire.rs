//! What each service sends, to the byte, beside each other. Nothing is proved but that what is shown are right answers: a
//! proof would take longer and say nothing about heads.

use std::collections::BTreeSet;
use tare_service::prove;

use serde::Serialize;
use tare_service::{
    catalogue::Row,
    contract::Contract,
    verify::{Field, Sent},
};

use super::{Absence, Session, Work, head};
use crate::{
    exit::Outcome,
    output::{columns, paint, width},
};

/// Headers that have a column of their own: what servers differ in most.
const COLUMNS: [&str; 4] = ["Date", "Server", "Connection", "Keep-Alive"];
/// What the column `framing` says already.
const FRAMES: [&str; 2] = ["Content-Length", "Transfer-Encoding"];
/// A cell of these columns is cut after this many characters; JSON has all.
const CELL_MAX: usize = 24;
/// The last column is not made narrower than this.
const LAST_MIN: usize = 24;

pub struct Wire;

#[derive(Serialize)]
pub struct Verdict {
    service: String,
    contract: String,
    #[serde(flatten)]
    result: Result,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
enum Result {
    Answered {
        answers: Vec<Sent>,
    },
    Failed {
        reason: String,
    },
    #[serde(untagged)]
    Absent(Absence),
}

impl Work for Wire {
    type Verdict = Verdict;

    fn absent(&self, row: &Row, contract: &Contract, absence: Absence) -> Verdict {
        let (service, contract) = (row.label.clone(), contract.name.clone());
        Verdict { service, contract, result: Result::Absent(absence) }
    }

    fn look(&self, session: &Session, row: &Row, contract: &Contract) -> Verdict {
        let (proof, folder) = (session.proof(), session.folder(row));
        let answers = prove::weigh_answers(&row.service, contract, &proof, session.supervisor, &folder);
        let result = match answers {
            Ok(answers) => Result::Answered { answers },
            Err(reason) => Result::Failed { reason },
        };
        Verdict { service: row.label.clone(), contract: contract.name.clone(), result }
    }

    fn text(&self, _session: &Session, verdict: &Verdict) -> String {
        match &verdict.result {
            Result::Answered { .. } => String::new(),
            Result::Failed { reason } => {
                head(&verdict.service, &verdict.contract, &paint("31", "FAIL"), reason)
            }
            Result::Absent(absence) => absence.text(&verdict.service, &verdict.contract),
        }
    }

    fn summary(&self, session: &Session, verdicts: &[Verdict]) -> String {
        table(&lines(verdicts), width()) + &format!("\nseed {}\n", session.seed)
    }

    fn outcome(&self, verdicts: &[Verdict]) -> Outcome {
        let any = |wanted: fn(&Result) -> bool| verdicts.iter().any(|verdict| wanted(&verdict.result));
        if any(|result| matches!(result, Result::Failed { .. })) {
            Outcome::ServiceFailed
        } else if any(|result| matches!(result, Result::Absent(Absence::NotBuilt { .. }))) {
            Outcome::SetUp
        } else {
            Outcome::Fine
        }
    }
}

/// An answer, and whose it is.
struct Line<'v> {
    service: &'v str,
    contract: &'v str,
    sent: &'v Sent,
}

fn lines(verdicts: &[Verdict]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for verdict in verdicts {
        if let Result::Answered { answers } = &verdict.result {
            let (service, contract) = (verdict.service.as_str(), verdict.contract.as_str());
            lines.extend(answers.iter().map(|sent| Line { service, contract, sent }));
        }
    }
    lines
}

fn table(lines: &[Line], width: Option<usize>) -> String {
    let Some(first) = lines.first() else { return String::new() };
    let shared = shared(lines);
    let heads = ["service", "contract", "request", " head", " body", "total", "framing"];
    let heads = heads.into_iter().chain(COLUMNS).chain(["other headers"]);
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).collect()];
    rows.extend(lines.iter().map(|line| cells(line, &shared)));
    let mut out = format!("\n{}", columns(&wrap(rows, width)));
    let names: Vec<&str> = first
        .sent
        .headers
        .iter()
        .map(|field| field.name.as_str())
        .filter(|name| shared.contains(&key(name)))
        .collect();
    if !names.is_empty() {
        out += &format!("\nin every answer: {}\n", names.join(", "));
    }
    out + &without(lines, "Date")
}

/// Header names are one whatever their case.
fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// The names that all answers have, but for those that are looked for in a column.
fn shared(lines: &[Line]) -> BTreeSet<String> {
    let of = |line: &Line| -> BTreeSet<String> {
        line.sent.headers.iter().filter(|field| !has_column(field)).map(|field| key(&field.name)).collect()
    };
    let shared = lines.iter().map(of).reduce(|shared, names| &shared & &names);
    shared.unwrap_or_default()
}

fn has_column(field: &Field) -> bool {
    COLUMNS.iter().chain(&FRAMES).any(|column| field.name.eq_ignore_ascii_case(column))
}

fn cells(line: &Line, shared: &BTreeSet<String>) -> Vec<String> {
    let sent = line.sent;
    let bytes = |count: usize| format!("{count:>5}");
    let mut cells = vec![line.service.to_owned(), line.contract.to_owned(), sent.request.clone()];
    cells.extend([sent.head_bytes, sent.body_bytes, sent.total_bytes].map(bytes));
    cells.push(sent.framing.name().to_owned());
    cells.extend(COLUMNS.map(|name| sent.field(name).map_or("-".to_owned(), cell)));
    let others =
        sent.headers.iter().filter(|field| !has_column(field) && !shared.contains(&key(&field.name)));
    let others: Vec<String> = others.map(|field| format!("{}{}", field.name, mark(field))).collect();
    cells.push(others.join(", "));
    cells
}

/// A `Date` that moves is printed as such: its value does not matter.
fn cell(field: &Field) -> String {
    if field.name.eq_ignore_ascii_case("date") {
        return if field.varies { "moves" } else { "stands still" }.to_owned();
    }
    let shown: String = field.value.chars().take(CELL_MAX).collect();
    let more = if shown.len() < field.value.len() { "..." } else { "" };
    format!("{shown}{more}{}", mark(field))
}

fn mark(field: &Field) -> &'static str {
    if field.varies { " (varies)" } else { "" }
}

/// Folds the last column at its commas where the table would be wider than the terminal.
fn wrap(rows: Vec<Vec<String>>, width: Option<usize>) -> Vec<Vec<String>> {
    let Some(width) = width else { return rows };
    let last = rows[0].len() - 1;
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let before: usize = (0..last).map(|column| widest(column) + 2).sum();
    let room = width.saturating_sub(before).max(LAST_MIN);
    let mut folded = Vec::new();
    for mut row in rows {
        let mut parts = fold(&row[last], room).into_iter();
        row[last] = parts.next().unwrap_or_default();
        folded.push(row);
        folded.extend(parts.map(|part| {
            let mut row = vec![String::new(); last];
            row.push(part);
            row
        }));
    }
    folded
}

/// A list in lines of at most `room` characters, as far as its names allow.
fn fold(list: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in list.split_inclusive(", ") {
        match lines.last_mut() {
            Some(line) if line.len() + name.trim_end().len() <= room => line.push_str(name),
            _ => lines.push(name.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Who leaves a header out, in one line: a service that sends fewer bytes does less work.
fn without(lines: &[Line], name: &str) -> String {
    let mut services: Vec<&str> =
        lines.iter().filter(|line| line.sent.field(name).is_none()).map(|line| line.service).collect();
    services.dedup();
    match services.as_slice() {
        [] => String::new(),
        services => format!("without {name}: {}\n", services.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use tare_service::verify::Framing;

    use super::*;

    fn field(name: &str, value: &str, varies: bool) -> Field {
        Field { name: name.to_owned(), value: value.to_owned(), varies }
    }

    fn answered(service: &str, framing: Framing, headers: Vec<Field>) -> Verdict {
        let sent = Sent {
            request: "hello".to_owned(),
            status_line: "HTTP/1.1 200 OK".to_owned(),
            headers,
            framing,
            head_bytes: 85,
            body_bytes: 12,
            total_bytes: 97,
        };
        let result = Result::Answered { answers: vec![sent] };
        Verdict { service: service.to_owned(), contract: "hello".to_owned(), result }
    }

    fn verdicts() -> Vec<Verdict> {
        let plain = || field("content-type", "text/plain", false);
        vec![
            answered("lean", Framing::ContentLength, vec![plain(), field("content-length", "12", false)]),
            answered(
                "rich",
                Framing::Chunked,
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
        anstream::adapter::strip_str(&table(&lines(&verdicts()), width)).to_string()
    }

    #[test]
    fn what_all_send_is_said_once_and_what_moves_is_marked() {
        assert_snapshot!(shown(None));
    }

    #[test]
    fn a_narrow_terminal_folds_the_last_column() {
        assert_snapshot!(shown(Some(120)));
    }

    #[test]
    fn nothing_to_compare_is_no_table() {
        assert_eq!(table(&[], None), "");
    }
}
