//! The bytes that services send for each request. The contract fixes the body but not the head, which is
//! work.

use std::path::Path;

use tare_analysis::interleaved::Report;
use tare_bench::folder::{StoredRun, about};
use tare_service::verify::SentAnswer;

use crate::{
    document::{Chart, Section, Shape, Unit},
    gather::{columns::Columns, words::span},
};

const LEAD: &str = "What each service sends for each request of the contract, to the byte. The body is the same by contract; the \
                    head is not, and its bytes are work too.";

struct Answer {
    label: String,
    sent: SentAnswer,
}

pub(crate) fn section(stored: &StoredRun, report: &Report, run: &Path) -> Section {
    let contract = &stored.header.plan.contract();
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
    if answers.is_empty() {
        let why = lost.unwrap_or("this run did not keep what its services send".to_owned());
        return Section::without("wire", "Bytes on the wire", LEAD).note(why);
    }
    let chart = chart(&answers);
    let table = columns().table("Answers by service and request", answers);
    let section = Section::new("wire", "Bytes on the wire", LEAD, table).chart(chart);
    lost.into_iter().fold(section, Section::note)
}

/// The heads of the answers to the first request.
fn chart(answers: &[Answer]) -> Chart {
    let first = answers[0].sent.request.as_str();
    let heads = answers.iter().filter(|answer| answer.sent.request == first);
    let heads = heads.map(|answer| (answer.label.as_str(), answer.sent.head_bytes as f64));
    let span = span(Unit::Count, heads).unwrap_or_default();
    let alt = format!("Bytes of the head of the answer to {first}: {span}.");
    let chart = Chart::new(Shape::Bars, "head_bytes", "label", &alt);
    chart.title(&format!("Bytes of the head, {first}")).only("request", first)
}

/// Tens of bytes, so they are not shown in KiB.
fn columns<'a>() -> Columns<'a, Answer> {
    let value = |answer: &Answer, field: &str| answer.sent.field(field).map(|field| field.value.clone());
    Columns::new()
        .text("label", "service", |answer: &Answer| answer.label.clone())
        .facet("request", "request", |answer| answer.sent.request.clone())
        .text("status_line", "status line", |answer| answer.sent.status_line.clone())
        .facet("framing", "framing", |answer| answer.sent.framing.name())
        .count("head_bytes", "bytes of the head", |answer| answer.sent.head_bytes)
        .count("body_bytes", "of the body", |answer| answer.sent.body_bytes)
        .count("total_bytes", "in all", |answer| answer.sent.total_bytes)
        .text("headers", "headers", headers)
        .help("those with * varied when the same was asked again")
        .text("server", "names itself", move |answer| value(answer, "server"))
        .flag("has_date", "date", move |answer| value(answer, "date").is_some())
}

fn headers(answer: &Answer) -> String {
    let named = answer.sent.headers.iter().map(|field| match field.varies {
        true => format!("{}*", field.name),
        false => field.name.clone(),
    });
    named.collect::<Vec<_>>().join(", ")
}
