//! Golden outputs of made-up runs, and the document against its schema.

pub(crate) mod fixtures;
pub(crate) mod schema;

use insta::assert_snapshot;

use super::{
    Recorder,
    json::{Series, document},
    printable, text, wrk,
};
use crate::command::load::args::{Exports, LoadFormat};
use fixtures::{Case, cases, intervals};

fn shown(case: &Case, form: impl Fn(&super::LoadResult<'_>) -> String) -> String {
    anstream::adapter::strip_str(&form(&case.result())).to_string()
}

#[test]
fn texts() {
    for case in cases() {
        assert_snapshot!(format!("text_{}", case.name), as_text(&case));
    }
}

pub(crate) fn as_text(case: &Case) -> String {
    shown(case, |result| text::text(result, false))
}

#[test]
fn a_text_with_the_spectrum() {
    assert_snapshot!(shown(&Case::open(), |result| text::text(result, true)));
}

#[test]
fn only_the_verdict_is_in_colour() {
    let [good, bad] = [Case::closed(), Case::open()].map(|case| text::text(&case.result(), false));
    assert!(good.contains("verdict: \x1b[32mvalid\x1b[0m\n"), "{good}");
    assert!(bad.contains("verdict: \x1b[31mfailing, late\x1b[0m\n"), "{bad}");
    assert_eq!([&good, &bad].map(|text| text.matches('\x1b').count()), [2, 2]);
}

#[test]
fn texts_of_wrk() {
    for case in cases() {
        assert_snapshot!(format!("wrk_{}", case.name), as_wrk(&case));
    }
}

/// wrk prints a space after units of one letter, which editors would remove.
pub(crate) fn as_wrk(case: &Case) -> String {
    shown(case, |result| wrk::wrk(result, true)).replace(" \n", "<space>\n")
}

#[test]
fn documents() {
    for case in cases() {
        assert_snapshot!(format!("json_{}", case.name), as_json(&case));
    }
}

/// The document without histograms, which are tested elsewhere.
pub(crate) fn as_json(case: &Case) -> String {
    let mut json = document(&case.result());
    for value in json.as_object_mut().unwrap().values_mut() {
        if let Some(histogram) = value.get_mut("hdr_v2_base64") {
            assert!(histogram.as_str().unwrap().starts_with("HISTFAAA"), "{histogram}");
            *histogram = "HISTFAAA...".into();
        }
    }
    serde_json::to_string_pretty(&json).unwrap()
}

#[test]
fn lines() {
    let mut series = Series::default();
    let lines = intervals().map(|interval| series.line(&interval).to_string());
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn nothing_of_the_server_reaches_the_terminal() {
    assert_eq!(printable("a\u{1b}[2J\u{9b}\n\u{202e}é"), r"a\u{1b}[2J\u{9b}\u{a}\u{202e}é");
    let case = Case::failing();
    let forms = [
        text::text(&case.result(), true).replace("\x1b[31m", "").replace("\x1b[0m", ""),
        wrk::wrk(&case.result(), true),
        document(&case.result()).to_string(),
    ];
    for form in forms {
        assert!(form.chars().all(|c| c == '\n' || !c.is_control()), "{form:?}");
    }
}

/// Records the made-up intervals, with every file in `folder`.
fn recorded_in(folder: &std::path::Path) -> Exports {
    let path = |name: &str| Some(folder.join(name));
    let exports = Exports { hgrm: path("a.hgrm"), hdr_log: path("a.hlog"), series: path("a.ndjson") };
    let case = Case::open();
    let mut recorder = Recorder::new(true, LoadFormat::Text, &exports, &case.load).unwrap();
    recorder.begin(case.started_at).unwrap();
    intervals().iter().for_each(|interval| recorder.on_interval(interval));
    let recorded = recorder.finish(&case.report);
    recorded.written.unwrap();
    assert_eq!(recorded.rates_per_s, [1_000.0, 500.0]);
    exports
}

#[test]
fn files_hold_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let exports = recorded_in(folder.path());
    let read = |path: Option<std::path::PathBuf>| std::fs::read_to_string(path.unwrap()).unwrap();
    let series = read(exports.series);
    let lines: Vec<serde_json::Value> =
        series.lines().map(|line| serde_json::from_str(line).expect("a line is whole")).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["from_ns"], 1_000_000_000);
    let log = read(exports.hdr_log);
    let tags: Vec<&str> = log.lines().filter(|line| !line.starts_with(['#', '"'])).collect();
    assert_eq!(tags.iter().filter(|line| line.starts_with("Tag=unanswered,")).count(), 1);
    assert_eq!(tags.iter().filter(|line| !line.starts_with("Tag=")).count(), 3);
    assert!(log.contains("#[BaseTime: 1763726400.000 (seconds since epoch)]\n"), "{log}");
    let hgrm = read(exports.hgrm);
    assert!(hgrm.contains("Total count    =         1020]"), "{hgrm}");
    assert!(hgrm.ends_with("#[Unanswered = 20: values from 1999.634432 on are lower bounds]\n"), "{hgrm}");
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/a.hgrm");
    let exports = Exports { hgrm: Some(path.clone()), ..Exports::default() };
    let error = Recorder::new(true, LoadFormat::Text, &exports, &Case::open().load).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot create {}", path.display()));
}

#[test]
fn a_full_disk_costs_the_file_and_not_the_result() {
    let exports = Exports { series: Some("/dev/full".into()), ..Exports::default() };
    let case = Case::open();
    let mut recorder = Recorder::new(true, LoadFormat::Text, &exports, &case.load).unwrap();
    intervals().iter().for_each(|interval| recorder.on_interval(interval));
    let recorded = recorder.finish(&case.report);
    let error = recorded.written.unwrap_err().to_string();
    assert!(error.starts_with("cannot write /dev/full: "), "{error}");
    assert_eq!(recorded.rates_per_s.len(), 2);
}
