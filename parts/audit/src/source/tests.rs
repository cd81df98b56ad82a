use std::path::Path;

use super::*;
use crate::{
    audit,
    doubt::{DoubtWeight, Rule},
    published::{Mislabelled, Statistic},
};

pub(super) fn excerpt(path: &str) -> Published {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(path);
    read(path, &std::fs::read(file).unwrap()).unwrap()
}

pub(super) fn counts(published: &Published) -> Vec<(Rule, usize)> {
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
    // json-tls-4096: a corrected mean with an uncorrected count; pipelined-4096: 70% of the allowed requests.
    let expected = [(Rule::LittleAbove, 1), (Rule::Label, 1), (Rule::LittleBelow, 1)];
    assert_eq!(counts(&published), expected);
    assert_eq!(audit(&published).weight(), Some(DoubtWeight::NotShown), "wrk measured that profile");
}

#[test]
fn failures_that_count_as_throughput_are_found_in_techempower() {
    let published = excerpt("techempower/results.json");
    assert_eq!((published.source, published.rows.len()), (Source::TechEmpower, 10));
    let row = published.rows.iter().find(|row| row.test == "json, 256 connections").unwrap();
    let failed = row.counts.map(|counts| counts.refused);
    assert_eq!((row.per_second, failed, row.load.slots), (Some(6462.0 / 15.0), Some(800.0), Some(256.0)));
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
    assert_eq!((agoo.latency.ns_mean, agoo.counts), (None, None), "-1 is no figure");
    assert!(agoo.elapsed_s.is_some_and(|elapsed_s| (elapsed_s - 15.035_906).abs() < 1e-6));
    // One row has no quantile, because none of its requests was answered.
    let expected = [(Rule::Label, 11), (Rule::Ceiling, 1), (Rule::Spread, 1)];
    assert_eq!(counts(&published), expected);
    let label = Mislabelled {
        called: 0.99,
        is: Statistic::Quantile(0.95),
        shown_by: ".tasks/collect.rake:67 at commit 6ea7019",
    };
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
    for text in ["{}", "[]", "[{\"rps\":1}]", "hello", "{\"rawData\":3}"] {
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

#[test]
fn a_maximum_under_the_name_of_p99_is_found_in_the_profiles_of_http_arena_that_have_it() {
    let found = |profile: &str, avg: &str| {
        let text = format!(
            r#"[{{"framework":"a","rps":400000,"avg_latency":"{avg}","p99_latency":"1.99s","connections":4096,"pipeline":1}}]"#
        );
        let published = read(profile, text.as_bytes()).unwrap();
        (
            published.rows[0].latency.ns_max,
            counts(&published).into_iter().map(|(rule, _)| rule).collect::<Vec<_>>(),
        )
    };
    for profile in ["json-tls-4096", "static-tls-1024", "stream-grpc-64", "stream-grpc-tls-64"] {
        let (maximum, rules) = found(profile, "10.24ms");
        assert_eq!((maximum, rules.contains(&Rule::Label)), (Some(1.99e9), true), "{profile}");
    }
    assert_eq!(found("json-comp-4096", "10.24ms"), (None, vec![]));
    assert_eq!(
        found("json-tls-4096", "1.99s").1,
        [Rule::LittleAbove, Rule::MeanAsQuantile],
        "as it was before"
    );
    for paced in ["latency-1m-1024", "latency-10k-1024", "8gbit-512", "production-stack-256"] {
        assert_eq!(
            found(paced, "1.00ms").1,
            [],
            "{paced}: not all connections are busy, or a connection has many requests"
        );
    }
}

#[test]
fn what_is_empty_or_no_text_is_said_to_be_so() {
    assert_eq!(read("a", b"  \n\r\n"), Err(ReadError::Empty));
    for bytes in
        [&b"\x7fELF\x02\x01\x01\0\0"[..], b"\x89PNG\r\n\x1a\n", b"\x1f\x8b\x08\0", b"r\0u\0n\0", &[0; 64]]
    {
        assert_eq!(read("a", bytes), Err(ReadError::Binary), "{bytes:?}");
    }
    assert_eq!(read("a", "hyperfine".as_bytes()), Err(ReadError::Unknown));
    let said = ReadError::Unknown.to_string();
    assert!(
        said.contains("autocannon, fortio, k6") && said.contains("TechEmpower, HttpArena, web-frameworks"),
        "{said}"
    );
}
