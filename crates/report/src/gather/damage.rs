//! Folders of which not everything can be read: what is said of them, and what is shown in spite of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;
use tare_bench::run::{
    about::{About, AboutError},
    folder::{
        FORMAT as READS, FolderError, is_being_written,
        lenient::{self, Head},
        other_format,
    },
};

use super::{GatherError, campaign, fields};
use crate::document::{Column, Document, FORMAT, Fact, Kind, Section, Status, Table, Unit};

/// Names of paths, as the end of a sentence.
pub fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| format!("\"{}\"", path.display())).collect();
    if names.is_empty() { "it holds none yet".to_owned() } else { names.join(", ") }
}

/// With all damage told once, and as damage alone: a kind of run may have taken it for notes too.
pub fn told(mut document: Document, mut found: Vec<String>) -> Document {
    found.extend(document.sections.iter().filter_map(campaign::lost_histograms).map(ToOwned::to_owned));
    for sentence in found {
        if !document.damage.contains(&sentence) {
            document.damage.push(sentence);
        }
    }
    let damage = &document.damage;
    document.notes.retain(|note| !damage.contains(note));
    document
}

/// What is wrong, where the sentence around it says with what.
pub fn reason(error: FolderError) -> String {
    match error {
        FolderError::NotARun { reason, .. } | FolderError::Series { reason, .. } => reason,
        error => error.to_string(),
    }
}

/// That what was kept beside figures cannot be read.
pub fn about(run: &Path) -> Option<String> {
    let reason = match About::read(run).err()? {
        AboutError::Content { source, .. } => source.to_string(),
        AboutError::Io { source, .. } => source.to_string(),
        AboutError::Format { format, .. } => format!("it has {}", other_format(&format)),
    };
    Some(format!("about.json cannot be read, and with it command and aspects: {reason}"))
}

/// Why this program cannot go on from a head that it has read.
pub fn unknown(head: &Head) -> String {
    let what = match head.value.get("kind") {
        Some(kind) if head.format == READS => format!("is of kind {kind}, which this tare does not know"),
        _ => format!("has {}", other_format(&head.format)),
    };
    let wrote = head.text(&["tare"]).map(|version| format!(" ({version})")).unwrap_or_default();
    format!("run.json {what}: its figures are not shown; use the tare that wrote it{wrote}")
}

/// A folder without a head that can be read: something else, or a run of which the report alone is left.
pub fn without_a_head(run: &Path, error: FolderError) -> Result<Document, GatherError> {
    let path = run.to_owned();
    if let Some(reason) = lenient::why_none(run) {
        return Err(GatherError::NotARun { path, reason });
    }
    let Some(report) = json(&run.join("report.json")) else { return Err(error.into()) };
    let head = Head { format: String::new(), value: Json::Null };
    let reason = format!("run.json cannot be read: {}", reason(error));
    let mut document = head_only(run, &head, reason);
    let text = |key: &str| report.get(key).and_then(Json::as_str).map(ToOwned::to_owned);
    document.title = text("title").unwrap_or(document.title);
    document.question = text("question").unwrap_or_default();
    document.began = text("began").unwrap_or_default();
    Ok(document)
}

/// A folder of run folders that does not say which these are.
pub fn of_a_series(run: &Path, error: FolderError) -> GatherError {
    let entries = fs::read_dir(run).into_iter().flatten().filter_map(Result::ok);
    let mut members: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join("run.json").is_file()).collect();
    members.sort();
    GatherError::Series { path: run.to_owned(), reason: reason(error), members }
}

fn json(path: &Path) -> Option<Json> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// What can be told of a run whose plan or records this program cannot read: who it says it is, and the table that was kept
/// when it ended.
pub fn head_only(run: &Path, head: &Head, reason: String) -> Document {
    let text = |keys: &[&str]| head.text(keys).map(ToOwned::to_owned);
    let report = json(&run.join("report.json"));
    let status = status(run, report.as_ref());
    let kept = report.and_then(|report| kept_table(&report));
    let answer = match kept {
        Some(_) => {
            "The records of this run cannot be read; the table is the one that was kept when it ended."
        }
        None => "The records of this run cannot be read, and no table of it was kept.",
    };
    let name = run.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (title, question) = (text(&["plan", "title"]), text(&["plan", "question"]));
    let seed = head.value.pointer("/plan/seed").map(|seed| Fact::code("Seed", seed.to_string()));
    let tare = text(&["tare"]).map(|tare| Fact::new("Tare", tare));
    Document {
        format: FORMAT,
        kind: if text(&["kind"]).as_deref() == Some("grid") { Kind::Grid } else { Kind::Campaign },
        title: title.unwrap_or(name),
        question: question.unwrap_or_default(),
        answer: answer.to_owned(),
        began: text(&["began"]).unwrap_or_default(),
        status,
        damage: vec![reason],
        notes: Vec::new(),
        facts: seed.into_iter().chain(tare).collect(),
        checks: Vec::new(),
        sections: kept.into_iter().collect(),
    }
}

/// How far a run came whose records cannot be read: as the report says that was kept when it ended.
fn status(run: &Path, report: Option<&Json>) -> Status {
    match report.and_then(|report| report.get("ending")) {
        _ if is_being_written(run) => Status::Running,
        Some(Json::String(ending)) if ending == "interrupted" => Status::Interrupted,
        Some(Json::String(_)) => Status::Complete,
        Some(_) => Status::CutOff,
        None => Status::Unknown,
    }
}

/// The main columns of a report that was kept, as far as they are there.
fn kept_table(report: &Json) -> Option<Section> {
    let rows =
        report.get("rows")?.as_array()?.iter().filter(|row| row.get("label").is_some_and(Json::is_string));
    let rows: Vec<&Json> = rows.collect();
    let text = |key, title, at: &'static str| {
        fields::field(Column::new(key, title, Unit::Text), move |row: &&Json| {
            row.pointer(at).and_then(Json::as_str).map(ToOwned::to_owned)
        })
    };
    let number = |key, title, unit, at: &'static str| {
        fields::field(Column::new(key, title, unit), move |row: &&Json| {
            row.pointer(at).and_then(Json::as_f64)
        })
    };
    let columns = vec![
        text("label", "service", "/label"),
        text("version", "version", "/version"),
        text("state", "state", "/state/is"),
        number("requests_per_second", "req/s", Unit::PerSecond, "/requests_per_second"),
        number("throughput_ratio", "of reference", Unit::Share, "/ratio/ratio"),
        number("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds, "/cpu_ns_per_request"),
        number("latency_ns_p50", "p50", Unit::Nanoseconds, "/latency_ns_p50"),
        number("latency_ns_p99", "p99", Unit::Nanoseconds, "/latency_ns_p99"),
        number("rss_bytes_peak", "RSS", Unit::Bytes, "/rss_bytes_peak"),
    ];
    let table: Table = fields::table("Services as the kept report has them", columns, rows);
    let lead = "As it stands in \"report.json\" of the folder. It was not computed anew.";
    (!table.rows.is_empty()).then(|| Section::new("tiers", "The kept table", lead, table))
}
