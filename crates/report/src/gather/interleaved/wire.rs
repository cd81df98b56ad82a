//! What services send for each request, to the byte: the body is the same by contract, the head is not, and its bytes are work.

use std::path::Path;

use tare_analysis::report::Report;
use tare_bench::run::{about, folder::Kept};
use tare_service::verify::Sent;

use crate::{
    document::{Chart, Column, Section, Shape, Table, Unit},
    gather::fields::{field, span, table},
};

const LEAD: &str = "What each service sends for each request of the contract, to the byte. The body is the same by contract; the \
                    head is not, and its bytes are work too.";

/// An answer of a row.
struct Answer {
    label: String,
    sent: Sent,
}

pub(crate) fn section(kept: &Kept, report: &Report, run: &Path) -> Section {
    let contract = &kept.header.plan.contract;
    let (mut answers, mut lost) = (Vec::new(), Vec::new());
    for row in &report.rows {
        match about::sent(run, &row.label, contract) {
            Ok(sent) => answers
                .extend(sent.into_iter().flatten().map(|sent| Answer { label: row.label.clone(), sent })),
            Err(error) => lost.push(error.to_string()),
        }
    }
    let lost =
        lost.first().map(|first| format!("of {} rows it cannot be read; the first: {first}", lost.len()));
    let first = answers.first().map(|answer| answer.sent.request.clone());
    let Some(first) = first else {
        let why = lost.unwrap_or("this run did not keep what its services send".to_owned());
        return Section::without("wire", "Bytes on the wire", LEAD).note(why);
    };
    let heads = answers.iter().filter(|answer| answer.sent.request == first);
    let heads = heads.map(|answer| (answer.label.as_str(), answer.sent.head_bytes as f64));
    let alt = format!(
        "Bytes of the head of the answer to {first}: {}.",
        span(Unit::Count, heads).unwrap_or_default()
    );
    let chart = Chart::new(Shape::Bars, "head_bytes", "label", &alt);
    let only = Some(["request".to_owned(), first.clone()]);
    let chart = Chart { title: format!("Bytes of the head, {first}"), only, ..chart };
    let section = Section::new("wire", "Bytes on the wire", LEAD, answers_table(answers)).chart(chart);
    lost.into_iter().fold(section, Section::note)
}

fn answers_table(answers: Vec<Answer>) -> Table {
    let text = |key, title| Column::new(key, title, Unit::Text);
    // Tens of bytes: KiB would be of no use.
    let bytes = |key, title| Column::new(key, title, Unit::Count);
    let names = |answer: &Answer| {
        let named = answer.sent.headers.iter().map(|field| match field.varies {
            true => format!("{}*", field.name),
            false => field.name.clone(),
        });
        named.collect::<Vec<_>>().join(", ")
    };
    let fields = vec![
        field(text("label", "service"), |answer: &Answer| answer.label.clone()),
        field(text("request", "request").facet(), |answer: &Answer| answer.sent.request.clone()),
        field(text("status_line", "status line"), |answer: &Answer| answer.sent.status_line.clone()),
        field(text("framing", "framing").facet(), |answer: &Answer| answer.sent.framing.name()),
        field(bytes("head_bytes", "bytes of the head"), |answer: &Answer| answer.sent.head_bytes),
        field(bytes("body_bytes", "of the body"), |answer: &Answer| answer.sent.body_bytes),
        field(bytes("total_bytes", "in all"), |answer: &Answer| answer.sent.total_bytes),
        field(text("headers", "headers").help("those with * varied when the same was asked again"), names),
        field(text("server", "names itself"), |answer: &Answer| {
            answer.sent.field("server").map(|field| field.value.clone())
        }),
        field(Column::new("has_date", "date", Unit::Flag), |answer: &Answer| {
            answer.sent.field("date").is_some()
        }),
    ];
    table("Answers by service and request", fields, answers)
}
