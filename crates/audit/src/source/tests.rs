use std::path::Path;

use super::*;
use crate::{audit, doubt::Rule};

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
