//! Runs of every kind, made by the real scheduler on a simulated machine. Every format and the command itself
//! give the same figures, verdict and exit status.

#[allow(dead_code, unused_imports, reason = "the pages need more of it")]
#[path = "../../../../parts/site/tests/browser/fixtures/mod.rs"]
mod fixtures;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use fixtures::{OfEach, own_folder};

use tare_report::{
    Document,
    document::{Kind, Section, Value},
    gather::gather,
};

/// Run folders, which the command only reads.
static RUNS: OfEach<PathBuf> = OfEach::new(|fixture| fixture.write(&FOLDER));

static FOLDER: LazyLock<PathBuf> =
    LazyLock::new(|| own_folder(Path::new(env!("CARGO_TARGET_TMPDIR")), "forms"));

/// The output and exit status of the command.
struct Printed {
    code: Option<i32>,
    stdout: String,
}

fn tare(words: &[&str]) -> Printed {
    let Output { status, stdout, .. } =
        Command::new(env!("CARGO_BIN_EXE_tare")).args(words).output().expect("the command starts");
    Printed { code: status.code(), stdout: String::from_utf8(stdout).expect("what is printed is text") }
}

#[test]
fn every_form_of_every_kind_of_run_says_the_same() {
    let lines = fixtures::each(|fixture| {
        let run = RUNS.named(fixture.name);
        let document = gather(run).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let code = status(fixture.name, run.to_str().unwrap(), &document);
        let verdicts = document.checks.iter().map(|check| check.verdict.name()).collect::<Vec<_>>();
        format!("{}: status {code}, {}", fixture.name, verdicts.join(" "))
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_run_of_several_loads_has_a_table_for_each_and_a_curve() {
    let run = RUNS.named("connections").to_str().unwrap();
    let printed = |words: &[&str]| tare(&[&["report", run], words].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&printed(&["--format", "json"])).unwrap();
    let sections = json["sections"].as_array().unwrap();
    let section =
        |id: &str| sections.iter().find(|section| section["id"] == id).unwrap_or_else(|| panic!("no {id}"));
    let page = printed(&["--format", "html", "--out", "-"]);
    let forms = [tare(&["show", run]).stdout, unescaped(&printed(&["--format", "markdown"])), page];
    let tables = [("ranks", 5), ("ranks-64", 5), ("ranks-256", 5), ("loads", 15), ("slices-256", 560)];
    for (id, rows) in tables {
        assert_eq!(section(id)["table"]["rows"].as_array().unwrap().len(), rows, "{id}");
        assert_eq!(printed(&["--format", "csv", "--section", id]).lines().count(), 1 + rows, "{id}");
    }
    // The first table on a terminal has no heading.
    for (form, id) in forms.iter().flat_map(|form| tables[1..4].iter().map(move |(id, _)| (form, id))) {
        let title = section(id)["title"].as_str().unwrap();
        assert!(form.contains(title), "no {title} in {form}");
    }
    let curve = &section("loads")["charts"][0];
    assert_eq!((curve["shape"].as_str(), curve["x"].as_str()), (Some("lines"), Some("connections")));
    let failed =
        json["checks"].as_array().unwrap().iter().find(|check| check["verdict"] == "invalid").unwrap();
    assert_eq!(failed["name"], "asio at 256 connections");
}

#[test]
fn a_run_goes_to_other_tools() {
    let run = RUNS.named("comparison").to_str().unwrap();
    let formats = [
        ("bmf", "{\n"),
        ("go-bench", "goos: linux\n"),
        ("github-bigger", "[\n"),
        ("github-smaller", "[\n"),
        ("otava", "time,run,commit,"),
        ("openmetrics", "# TYPE tare_cpu_per_request_seconds gauge\n"),
    ];
    for (format, begin) in formats {
        let printed = tare(&["report", run, "--format", format]);
        assert!(printed.code == Some(0) && printed.stdout.starts_with(begin), "{format}: {}", printed.stdout);
        let of_two = tare(&["report", run, run, "--format", format]);
        assert_eq!(of_two.code, Some(if format == "otava" { 0 } else { 1 }), "{format}");
    }
    let two = tare(&["report", run, run, "--format", "otava"]).stdout;
    assert_eq!(two.lines().count(), 3, "a head and a row for each run: {two}");
}

/// The exit status, the same for all formats.
fn status(name: &str, run: &str, document: &Document) -> i32 {
    let text = tare(&["show", run]);
    let markdown = tare(&["show", run, "--format", "markdown"]);
    let json = tare(&["show", run, "--json"]);
    let junit = tare(&["report", run, "--format", "junit"]);
    for other in [&markdown, &json, &junit] {
        assert_eq!(other.code, text.code, "{name}: {}", other.stdout);
    }
    assert_eq!(
        json.stdout,
        tare(&["report", run, "--format", "json"]).stdout,
        "{name}: one document, one JSON"
    );
    // The short text of a comparison has six columns.
    let long = tare(&["show", run, "--long"]).stdout;
    let is_short = document.kind == Kind::Comparison;
    let html = tare(&["report", run, "--format", "html", "--out", "-"]);
    assert_eq!(html.code, Some(0), "{name}: a page is no gate");
    same_verdicts(name, document, &json, &junit);
    // Misleading names are escaped differently in each format, which other tests check.
    if name != "hostile" {
        for (form, printed) in [("text", &text.stdout), ("Markdown", &unescaped(&markdown.stdout))] {
            assert!(printed.contains(&document.answer), "{name}: {form}: {printed}");
            let figures = if is_short && form == "text" { &long } else { printed };
            same_figures(&format!("{name}: {form}"), document, figures);
        }
    }
    same_data(name, run, document);
    text.code.unwrap_or_else(|| panic!("{name}: ended by a signal"))
}

fn same_verdicts(name: &str, document: &Document, json: &Printed, junit: &Printed) {
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let told = json["checks"].as_array().unwrap().iter().map(|check| check["verdict"].as_str().unwrap());
    assert!(told.eq(document.checks.iter().map(|check| check.verdict.name())), "{name}: {json}");
    assert_eq!(junit.stdout.matches("<testcase ").count(), document.checks.len(), "{name}: {}", junit.stdout);
}

fn unescaped(markdown: &str) -> String {
    markdown.replace('\\', "").replace("&lt;", "<").replace("&amp;", "&")
}

/// The sections of the short form.
fn brief(document: &Document) -> impl Iterator<Item = &Section> {
    document
        .sections
        .iter()
        .enumerate()
        .filter(|(place, section)| *place == 0 || section.brief)
        .map(|(_, section)| section)
}

/// Each figure is in a line with the name of its row.
fn same_figures(name: &str, document: &Document, printed: &str) {
    for section in brief(document) {
        let Some(table) = &section.table else { continue };
        let names = table.columns.iter().position(|column| !column.hidden).expect("a table shows something");
        for row in &table.rows {
            let label = row[names].text().unwrap_or_default();
            let shown = row.iter().zip(&table.columns).filter(|(_, column)| !column.hidden);
            for (number, column) in shown.filter_map(|(value, column)| Some((value.number()?, column))) {
                let figure = column.unit.show(number);
                let stands = printed.lines().any(|line| line.contains(label) && line.contains(&figure));
                assert!(stands, "{name}: {label}, {}: no {figure} in {printed}", column.key);
            }
        }
    }
}

/// CSV has each number of the main table with all digits.
fn same_data(name: &str, run: &str, document: &Document) {
    let Some((section, table)) =
        document.sections.first().and_then(|section| Some((section, section.table.as_ref()?)))
    else {
        return;
    };
    let csv = tare(&["report", run, "--format", "csv", "--section", &section.id]).stdout;
    for number in table.rows.iter().flatten().filter_map(Value::number) {
        assert!(csv.contains(&number.to_string()), "{name}: no {number} in {csv}");
    }
}
