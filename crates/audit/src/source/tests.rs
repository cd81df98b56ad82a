use std::path::Path;

use super::*;
use crate::{audit, doubt::Rule, published::Mislabelled};

fn excerpt(path: &str) -> Published {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(path);
    read(path, &std::fs::read(file).unwrap()).unwrap()
}

fn counts(published: &Published) -> Vec<(Rule, usize)> {
    let audit = audit(published);
    let counts = Rule::ALL.map(|rule| (rule, audit.count(rule)));
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

#[test]
fn a_mean_under_the_name_of_p99_and_a_server_that_idles_at_the_top_are_found_in_http_arena() {
    let published = excerpt("http-arena/baseline-h2c-1024.json");
    assert_eq!((published.source, published.rows.len(), published.unread), (Source::HttpArena, 6, 0));
    let first = &published.rows[0];
    assert_eq!((first.name.as_str(), first.test.as_str()), ("actix", "baseline-h2c-1024"));
    assert_eq!(first.load.slots, None, "a connection of HTTP/2 carries many requests");
    let expected = [(Rule::MeanAsQuantile, 6), (Rule::Count, 1), (Rule::IdleServer, 1), (Rule::Spread, 1)];
    assert_eq!(counts(&published), expected);
}

#[test]
fn more_cpu_than_there_is_and_littles_law_are_found_in_http_arena() {
    let published = excerpt("http-arena/baseline-4096.json");
    let expected = [(Rule::CpuTime, 2), (Rule::LittleBelow, 4), (Rule::Spread, 1)];
    assert_eq!(counts(&published), expected);
    let published = excerpt("http-arena/caddy.json");
    assert_eq!(published.tests().len(), 5);
    // json-tls-4096: a mean that was corrected, beside a count that was not; pipelined-4096: 70% of the requests it allows.
    assert_eq!(counts(&published), [(Rule::LittleAbove, 1), (Rule::LittleBelow, 1)]);
}

#[test]
fn failures_that_count_as_throughput_are_found_in_techempower() {
    let published = excerpt("techempower/results.json");
    assert_eq!((published.source, published.rows.len()), (Source::TechEmpower, 10));
    let row = published.rows.iter().find(|row| row.test == "json, 256 connections").unwrap();
    assert_eq!((row.per_second, row.failed, row.load.slots), (Some(6462.0 / 15.0), Some(800.0), Some(256.0)));
    let found = counts(&published);
    assert_eq!(found.iter().find(|(rule, _)| *rule == Rule::Failures), Some(&(Rule::Failures, 10)));
    assert!(found.contains(&(Rule::LittleAbove, 3)), "1.12 s times 431/s, on 256 connections: {found:?}");
}

#[test]
fn a_latency_below_zero_is_found_in_web_frameworks() {
    let published = excerpt("web-frameworks/data.json");
    assert_eq!((published.source, published.rows.len()), (Source::WebFrameworks, 2));
    assert_eq!(published.rows[1].latency.quantiles_ns[3], (0.99, 11_647.6666666667 * 1e3));
    assert_eq!(counts(&published)[0], (Rule::Sign, 1));
}

#[test]
fn a_p95_under_the_name_of_p99_is_found_in_web_frameworks() {
    let published = excerpt("web-frameworks/data-of-oha.json");
    assert_eq!((published.rows.len(), published.unread), (12, 0), "a figure that is null is none");
    let agoo = published.rows.iter().find(|row| row.name == "agoo-c").unwrap();
    let quantile = |place: usize| agoo.latency.quantiles_ns[place];
    assert_eq!(quantile(0), (0.5, 0.017_944_406 * 1e9), "seconds");
    assert_eq!((quantile(3), agoo.latency.quantiles_ns.len()), ((0.95, 0.028_035_373 * 1e9), 4));
    assert_eq!((agoo.latency.ns_mean, agoo.requests, agoo.failed), (None, None, None), "-1 is no figure");
    assert!(agoo.elapsed_s.is_some_and(|elapsed_s| (elapsed_s - 15.035_906).abs() < 1e-6));
    // One row has no quantile: none of its requests was answered.
    let expected = [(Rule::Label, 11), (Rule::Ceiling, 1), (Rule::Spread, 1)];
    assert_eq!(counts(&published), expected);
    let label = Mislabelled { called: 0.99, is: 0.95, shown_by: ".tasks/collect.rake:67 at commit 6ea7019" };
    assert_eq!(agoo.mislabelled, Some(label));
}

#[test]
fn frameworks_of_two_languages_are_not_runs_of_one_server() {
    let text = r#"{"metrics":[{"level":64,"label":"total_requests_per_s","value":20.0,"framework_id":1},
        {"level":64,"label":"total_requests_per_s","value":10.0,"framework_id":2}],
        "frameworks":[{"id":1,"label":"jooby","language":"java"},{"id":2,"label":"jooby","language":"kotlin"}]}"#;
    let published = read("data", text.as_bytes()).unwrap();
    let names: Vec<&str> = published.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["jooby (java)", "jooby (kotlin)"]);
    assert_eq!(audit(&published).count(Rule::Repetition), 0);
}

#[test]
fn the_p99_of_wrk_is_one() {
    let published = excerpt("web-frameworks/data.json");
    assert!(published.rows.iter().all(|row| row.mislabelled.is_none()));
    assert_eq!(audit(&published).count(Rule::Label), 0);
}

#[test]
fn the_labels_of_wrk_do_not_hide_that_figures_are_ohas() {
    let text = r#"{"metrics":[{"level":64,"label":"total_requests","value":-1.0,"framework_id":1},
        {"level":64,"label":"total_requests_per_s","value":1901.9,"framework_id":1},
        {"level":64,"label":"percentile_99","value":0.0167,"framework_id":1}]}"#;
    let published = read("data", text.as_bytes()).unwrap();
    assert_eq!(published.rows[0].latency.quantiles_ns, [(0.95, 16.7e6)]);
    assert_eq!(audit(&published).count(Rule::Label), 1);
}

#[test]
fn what_is_of_no_known_format_is_refused_by_naming_those_that_are() {
    for text in ["", "{}", "[]", "[{\"rps\":1}]", "hello", "{\"rawData\":3}"] {
        assert_eq!(read("a", text.as_bytes()), Err(ReadError::Unknown), "{text}");
    }
    let empty = read("a", br#"{"rawData":{"json":{}}}"#);
    assert_eq!(empty, Err(ReadError::NoRow { of: Source::TechEmpower }));
}

#[test]
fn names_of_others_are_visible() {
    let text = r#"[{"framework":"a\u001b[31mb","rps":5}]"#;
    let read = read("x-1.json", text.as_bytes()).unwrap();
    assert!(!read.rows[0].name.contains('\u{1b}'), "{:?}", read.rows[0].name);
}

/// Rate, requests that failed, slots, mean in microseconds, and the number of quantiles.
fn row(file: &str) -> (Source, f64, Option<f64>, Option<f64>, f64, usize) {
    let published = excerpt(&format!("tools/{file}"));
    let row = &published.rows[0];
    let mean_us = (row.latency.ns_mean.unwrap() / 1e3).round();
    let rate = row.per_second.unwrap().round();
    (published.source, rate, row.failed, row.load.slots, mean_us, row.latency.quantiles_ns.len())
}

#[test]
fn the_output_of_each_tool_is_read() {
    use Source::{Bombardier, H2load, K6, Oha, Vegeta, Wrk};
    assert_eq!(row("wrk.txt"), (Wrk, 103_267.0, Some(0.0), Some(64.0), 684.0, 4));
    assert_eq!(row("wrk-404.txt"), (Wrk, 100_203.0, Some(210_562.0), Some(64.0), 790.0, 0));
    assert_eq!(row("bombardier.txt"), (Bombardier, 92_168.0, Some(0.0), Some(64.0), 693.0, 5));
    assert_eq!(row("vegeta.txt"), (Vegeta, 2_000.0, Some(0.0), None, 145.0, 4));
    assert_eq!(row("vegeta.json"), (Vegeta, 2_000.0, Some(0.0), None, 145.0, 4));
    assert_eq!(row("h2load.txt"), (H2load, 101_866.0, Some(0.0), None, 628.0, 0));
    assert_eq!(row("k6.json"), (K6, 27_967.0, Some(0.0), Some(16.0), 549.0, 3));
    assert_eq!(row("oha.json"), (Oha, 50_000.0, Some(10_000.0), None, 1_000.0, 3));
    // hey is read as oha is, whose output it has.
    assert_eq!(row("hey.txt"), (Oha, 48_417.0, Some(0.0), None, 1_300.0, 7));
}

#[test]
fn what_a_tool_prints_is_held_to_the_rules() {
    let rules = |file: &str| {
        counts(&excerpt(&format!("tools/{file}"))).into_iter().map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    assert_eq!(rules("bombardier.txt"), []);
    assert_eq!(rules("k6.json"), []);
    // It corrects its latencies for coordinated omission, and not its count (wg/wrk#114).
    assert_eq!(rules("wrk.txt"), [Rule::LittleAbove]);
    assert!(rules("wrk-404.txt").contains(&Rule::Failures));
    assert_eq!(rules("oha.json"), [Rule::Failures]);
}
