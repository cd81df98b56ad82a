//! Reads the exports of a report with the programs that they are made for. A missing program is skipped by
//! name, or is an error with TARE_TEST_ALL=1. `make setup` installs benchstat and, in a Python environment,
//! Otava and a parser of OpenMetrics.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Output},
};

use tare_host::fixture::{has_program, skip_always};
use tare_report::{
    exports::Exported,
    write::exports::{go_bench::go_bench, openmetrics::openmetrics, otava::otava},
};

use crate::{fixtures::OfEach, pages::RUNS};

/// Kinds of runs that have figures.
const KINDS: [&str; 5] = ["few", "bound", "hostile", "comparison", "connections"];

fn exported(name: &str) -> &'static Exported {
    static EXPORTED: OfEach<Exported> = OfEach::new(|fixture| {
        Exported::read(RUNS.named(fixture.name)).unwrap_or_else(|error| panic!("{}: {error}", fixture.name))
    });
    EXPORTED.named(name)
}

#[test]
fn what_no_other_tool_can_take_is_an_error() {
    let error = |name: &str| Exported::read(RUNS.named(name)).unwrap_err().to_string();
    let failures = error("failures");
    assert!(failures.contains("failures: nothing to export; raw-socket: block 1: gave no"), "{failures}");
    assert!(error("sequential").contains("a published experiment has no figures for other tools"));
}

/// The output of a program that succeeded.
fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(status.success(), "{command:?}: {stdout}\n{stderr}");
    assert_eq!(stderr, "", "{command:?}: {stdout}");
    stdout
}

fn program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A figure of benchstat, such as `7.050µ`, in base units.
fn base(figure: &str) -> f64 {
    let number = figure.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match figure[number.len()..].as_ref() {
        "n" => 1e-9,
        "µ" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        _ => 1.0,
    };
    number.parse::<f64>().unwrap() * factor
}

#[test]
fn benchstat_has_a_sample_for_each_block() {
    if !has_program("benchstat_has_a_sample_for_each_block", "benchstat") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.txt");
    for kind in KINDS {
        let run = exported(kind);
        fs::write(&file, go_bench(run)).unwrap();
        let words = ["-format", "csv", "-row", "/service,/load", "-col", "/contract"];
        let table = printed(Command::new("benchstat").args(words).arg(&file));
        for unit in ["CPU-sec/op", "p99-sec", "RSS-B", "req/s"] {
            assert!(table.contains(unit), "{kind}: no {unit} in {table}");
        }
    }
    let run = exported("comparison");
    fs::write(&file, go_bench(run)).unwrap();
    let table = printed(Command::new("benchstat").args(["-col", "/service"]).arg(&file));
    let line =
        table.lines().skip_while(|line| !line.contains("CPU-sec/op")).find(|line| line.starts_with("Tare"));
    let found: Vec<&str> = line.unwrap().split_whitespace().collect();
    // benchstat prints the median of the blocks, which is close to their geometric mean.
    for (subject, figure) in run.subjects.iter().zip([found[1], found[4]]) {
        let level = subject.levels.iter().find(|level| level.measure.name == "cpu-per-request").unwrap();
        let ratio = base(figure) / (level.estimate.value / 1e9);
        assert!((0.97..1.03).contains(&ratio), "{}: {figure}, {:?}", subject.service, level.estimate);
    }
}

/// The Python environment of Otava and of a parser of OpenMetrics.
fn python(test: &str) -> Option<PathBuf> {
    has_program(test, "otava").then(|| {
        let otava = program("otava").unwrap().canonicalize().unwrap();
        otava.with_file_name("python3")
    })
}

const PARSE: &str = "\
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = list(parse(sys.stdin.read()))
for family in families:
    for sample in family.samples:
        print(family.type, family.unit, sample.name, sample.labels.get('stat', '-'), sample.value, sep='\\t')
";

#[test]
fn a_parser_of_openmetrics_reads_each_sample() {
    let Some(python) = python("a_parser_of_openmetrics_reads_each_sample") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics.txt");
    for kind in KINDS.into_iter().chain(["capacity"]) {
        let run = exported(kind);
        fs::write(&file, openmetrics(run)).unwrap();
        let text = fs::File::open(&file).unwrap();
        let read = printed(Command::new(&python).args(["-c", PARSE]).stdin(text));
        let estimates = read.lines().filter(|line| line.contains("\testimate\t")).count();
        let levels: usize = run.subjects.iter().map(|subject| subject.levels.len()).sum();
        assert_eq!(estimates, levels, "{kind}: {read}");
        assert!(read.lines().all(|line| line.starts_with("gauge\t")), "{kind}: {read}");
    }
}

#[test]
fn promtool_has_nothing_to_say_against_it() {
    if program("promtool").is_none() {
        return skip_always("promtool_has_nothing_to_say_against_it", "promtool is not on this machine");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics.txt");
    for kind in KINDS {
        fs::write(&file, openmetrics(exported(kind))).unwrap();
        let text = fs::File::open(&file).unwrap();
        printed(Command::new("promtool").args(["check", "metrics"]).stdin(text));
    }
}

/// 24 runs of one service, the last twelve of which cost a fifth more.
fn history() -> Vec<Exported> {
    let run = exported("comparison");
    let at = |place: u32| {
        let mut run = Exported {
            began: format!("2026-03-{:02}T05:06:07Z", place + 1),
            run: format!("run{place}"),
            ..run.clone()
        };
        let factor = (1.0 + f64::from(place * 7 % 5) / 500.0) * if place < 12 { 1.0 } else { 1.2 };
        for level in run.subjects.iter_mut().flat_map(|subject| &mut subject.levels) {
            level.estimate.value *= factor;
        }
        run
    };
    (0..24).map(at).collect()
}

#[test]
fn otava_finds_the_change_of_a_history() {
    if !has_program("otava_finds_the_change_of_a_history", "otava") {
        return;
    }
    let runs = history();
    let folder = tempfile::tempdir().unwrap();
    let (csv, config) = (folder.path().join("tare.csv"), folder.path().join("otava.yaml"));
    fs::write(&csv, otava(&runs).csv).unwrap();
    let subject = &runs[0].subjects[0];
    let column = format!("{} {}.cpu_per_request_ns", subject.service, subject.contract);
    let yaml = format!(
        "tests:\n  tare:\n    type: csv\n    file: {}\n    time_column: time\n    attributes: [run, commit]\n    \
         metrics:\n      cpu:\n        column: \"{column}\"\n        direction: -1\n    csv_options:\n      \
         delimiter: ','\n      quotechar: '\"'\n",
        csv.display()
    );
    fs::write(&config, yaml).unwrap();
    let words = ["analyze", "tare", "--since", "2020-01-01", "--last", "1000"];
    let output = Command::new("otava").args(words).env("OTAVA_CONFIG", &config).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{table}{}", String::from_utf8_lossy(&output.stderr));
    assert!(table.contains("·····"), "{table}");
    let lines: Vec<&str> = table.lines().collect();
    let change =
        lines.iter().position(|line| line.contains('%')).unwrap_or_else(|| panic!("no change in {table}"));
    assert!(lines[change].contains("+2") || lines[change].contains("+19"), "{table}");
    assert!(lines[change + 2..].first().is_some_and(|line| line.contains("run12")), "{table}");
}
