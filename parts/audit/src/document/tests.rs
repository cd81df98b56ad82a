use std::path::Path;

use crate::{AuditFinding, AuditIssue, audit, read};
use tare_bench::record::Record;

use super::*;
use tare_report::{
    gather::fixture,
    write::text::{self, TextLook},
};

fn excerpt(path: &str) -> Published {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(path);
    read(path, &std::fs::read(file).unwrap()).unwrap()
}

fn of(path: &str) -> Document {
    let published = excerpt(path);
    document(&published, &audit(&published), &[path.to_owned()])
}

#[test]
fn the_audit_of_an_excerpt_in_words() {
    insta::assert_snapshot!(text::brief(
        &of("http-arena/baseline-h2c-1024.json"),
        TextLook { width: Some(120), ..TextLook::default() }
    ));
}

#[test]
fn a_figure_under_the_name_of_another_one_is_said_with_the_line_that_shows_it() {
    let document = of("web-frameworks/data-of-oha.json");
    let section = document.sections.iter().find(|section| section.id == "rows").unwrap();
    let said = section.table.as_ref().unwrap().values("findings").next().unwrap().text().unwrap().to_owned();
    assert_eq!(said, "what is called p99 (28.0 ms) is the p95, by .tasks/collect.rake:67 at commit 6ea7019");
}

#[test]
fn what_wrk_prints_is_no_contradiction_and_the_reason_is_said() {
    let document = of("tools/wrk.txt");
    assert_eq!(document.answer, "Of 1 row, 1 has figures that do not show what they are read as.");
    let ids: Vec<&str> = document.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(ids, ["rows", "rules", "arithmetic"], "findings come first");
    let said =
        document.sections[0].table.as_ref().unwrap().values("findings").next().unwrap().text().unwrap();
    assert!(said.contains("(stats_correct)"), "{said}");
}

#[test]
fn what_failed_is_said_with_its_kinds_and_whether_the_rate_counts_it() {
    let said = |path: &str| {
        let document = of(path);
        let table = document.sections[0].table.clone().unwrap();
        table.values("findings").next().unwrap().text().unwrap().to_owned()
    };
    let cases = [
        ("tools/h2load-503.txt", "(40 of 400: 40 with a status of failure), and the rate counts them"),
        ("tools/h2load-errored.txt", "(373 of 400: 373 without an answer); the rate leaves them out"),
        ("tools/vegeta-503.json", "(40 of 400: 40 with a status of failure); the rate leaves them out"),
    ];
    for (path, sentence) in cases {
        assert!(said(path).ends_with(sentence), "{path}: {}", said(path));
    }
    let k6 = said("tools/k6-1.0.txt");
    assert!(k6.ends_with("; 13.6% of the checks of the script failed (29 of 214)"), "{k6}");
}

#[test]
fn a_sentence_has_the_figures_of_its_doubt() {
    let published = excerpt("http-arena/baseline-4096.json");
    let of = |used: f64, cpus: f64| {
        let finding = AuditFinding { about: DoubtSubject::Row(0), doubt: AuditIssue::MoreCpu { used, cpus } };
        let document = document(&published, &Audit { findings: vec![finding] }, &[]);
        let table = document.sections[0].table.clone().unwrap();
        table.values("findings").next().unwrap().text().unwrap().to_owned()
    };
    let with = |used: f64| of(used, 64.0);
    assert!(with(66.8).starts_with("66.8 CPUs were busy, and the server had 64: "), "{}", with(66.8));
    assert!(with(70.0).starts_with("70 CPUs were busy, and the server had 64: "), "{}", with(70.0));
    assert!(of(1.011, 1.0).starts_with("1.01 CPUs were busy, and the server had 1: "), "{}", of(1.011, 1.0));
}

#[test]
fn a_service_that_works_on_after_its_last_answer_is_held_to_the_time_in_which_its_cpu_time_was_counted() {
    let rules_broken = |wall_ns: u64| {
        let mut run = fixture::kept(2);
        for record in &mut run.records {
            let Record::Sample(sample) = record else { continue };
            sample.host.server_cpu_ns = 104_000_000;
            sample.host.accounting.as_mut().unwrap().wall_ns = wall_ns;
        }
        audit(&of_run(&run)).findings.iter().filter(|finding| finding.doubt.rule() == Rule::CpuTime).count()
    };
    assert_eq!(rules_broken(105_000_000), 0, "100 ms of load, and 5 ms until it was frozen");
    assert!(rules_broken(100_000_000) > 0);
}

#[test]
fn what_no_rule_speaks_against_is_said_to_be_no_proof() {
    let mut published = excerpt("http-arena/baseline-4096.json");
    published.rows.truncate(1);
    published.rows[0].cpus_used = Some(60.0);
    let document = document(&published, &audit(&published), &[]);
    assert_eq!(document.answer, "No rule speaks against any of the 1 row.");
    let sections: Vec<&str> = document.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(sections, ["rules", "arithmetic"], "there is no row to show");
    assert!(document.notes[1].starts_with("that no rule is broken shows only "));
}
