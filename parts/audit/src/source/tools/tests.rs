use std::path::Path;

use proptest::prelude::*;

use crate::{
    audit,
    doubt::{Audit, DoubtWeight, Rule},
    published::{AuditRow, Counts, PublishedLoad, Source},
    source::{
        read,
        tests::{counts, excerpt},
    },
};

fn tools() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tools");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// A row with its findings, in one line.
fn line(row: &AuditRow, found: &Audit) -> String {
    let count = |counts: Counts| {
        let Counts { succeeded, refused, unlike, unanswered, broken_off } = counts;
        format!("{succeeded:.0}+{refused:.0}+{unlike:.0}+{unanswered:.0}+{broken_off:.0}")
    };
    let us = |ns: Option<f64>| ns.map_or("-".to_owned(), |ns| format!("{:.0}", ns / 1e3));
    let PublishedLoad { slots, thinks, reconnects, paced, .. } = row.load;
    let quantiles: Vec<String> =
        row.latency.quantiles_ns.iter().map(|(share, ns)| format!("{share}:{}", us(Some(*ns)))).collect();
    let findings: Vec<String> = found
        .findings
        .iter()
        .map(|finding| format!("{:?} {:?}", finding.doubt.rule(), finding.doubt.weight()))
        .collect();
    format!(
        "{}/s of {:?}, {:?}; {} in {}; slots {}{}{}{}; min {} mean {} max {} step {}; {}{} => {}",
        row.per_second.map_or("-".to_owned(), |rate| format!("{rate:.0}")),
        row.counted,
        row.timing,
        row.counts.map_or("-".to_owned(), count),
        row.elapsed_s.map_or("-".to_owned(), |s| format!("{s:.3} s")),
        slots.map_or("-".to_owned(), |slots| slots.to_string()),
        if thinks { " thinks" } else { "" },
        if reconnects { " reconnects" } else { "" },
        if paced { " paced" } else { "" },
        us(row.latency.ns_min),
        us(row.latency.ns_mean),
        us(row.latency.ns_max),
        us(Some(row.latency.step_ns)),
        quantiles.join(" "),
        row.checks.map_or(String::new(), |checks| format!("; checks {} of {}", checks.failed, checks.of)),
        if findings.is_empty() { "nothing".to_owned() } else { findings.join(", ") },
    )
}

/// Counts are successes, error statuses, unexpected answers, missing answers, and requests that were cut off.
#[test]
fn the_output_of_each_tool_is_read_and_held_to_the_rules() {
    let lines = tools().into_iter().map(|(name, bytes)| {
        let published = read("a", &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = audit(&published);
        format!("{name}: {} {}", published.source.name(), line(&published.rows[0], &found))
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_honest_output_is_never_said_to_be_untrue_and_one_with_failures_says_so() {
    for (name, bytes) in tools() {
        let found = audit(&read("a", &bytes).unwrap());
        let fails = ["503", "404", "closed", "errors", "errored", "others", "lengths", "refused", "k6-"];
        let is_failing = fails.iter().any(|part| name.contains(part)) || name == "oha.json";
        assert_eq!(found.count(Rule::Failures) > 0, is_failing, "{name}: {found:?}");
        assert_ne!(found.weight(), Some(DoubtWeight::CannotBeTrue), "{name}: {found:?}");
    }
}

#[test]
fn every_tool_that_is_listed_has_a_sample_and_is_in_the_guide() {
    let read: Vec<Source> = tools().iter().map(|(_, bytes)| read("a", bytes).unwrap().source).collect();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/audit.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    for tool in Source::tools().split(", ") {
        assert!(read.iter().any(|source| source.name() == tool), "{tool} has no sample");
        assert!(guide.contains(tool), "{tool} is not in docs/how-to/audit.md");
    }
    for suite in Source::suites().split(", ") {
        assert!(guide.contains(suite), "{suite} is not in docs/how-to/audit.md");
    }
}

#[test]
fn a_file_may_have_several_runs_and_what_a_terminal_shows() {
    let runs = |text: &str| read("a", text.as_bytes()).unwrap().rows.len();
    for (name, bytes) in tools().into_iter().filter(|(name, _)| name.ends_with(".txt")) {
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(runs(&(text.clone() + &text)), 2, "{name}");
        let row = |text: &str| read("a", text.as_bytes()).unwrap().rows.remove(0);
        let plain = row(&text);
        assert_eq!(row(&text.replace('\n', "\r\n")), plain, "{name} with CRLF");
        assert_eq!(row(&format!("$ command\n\n{text}\n$ ")), plain, "{name} between lines of a shell");
        let coloured = text.lines().map(|line| format!("\u{1b}[1;32m{line}\u{1b}[0m\n")).collect::<String>();
        assert_eq!(row(&coloured), plain, "{name} with colours");
        let indented = text.lines().map(|line| format!("    {line}\n")).collect::<String>();
        assert_eq!(row(&indented), plain, "{name} indented");
    }
}

#[test]
fn runs_of_another_tool_in_a_file_are_counted_as_unread() {
    let text = |file: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tools").join(file)).unwrap()
    };
    for (first, other) in [("wrk.txt", "wrk2.txt"), ("oha.txt", "hey.txt"), ("ab.txt", "autocannon.txt")] {
        let both = read("a", (text(first) + &text(other)).as_bytes()).unwrap();
        let alone = excerpt(&format!("tools/{first}"));
        assert_eq!((both.source, both.rows.len(), both.unread), (alone.source, 1, 1), "{first}");
        assert_eq!(both.rows[0].latency, alone.rows[0].latency, "{first}");
    }
}

#[test]
fn json_behind_lines_for_people_is_read() {
    let alone = excerpt("tools/bombardier-503.json");
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tools/bombardier-503.json"));
    let behind =
        format!("Bombarding http://127.0.0.1 for 1s using 4 connection(s)\n{}\nDone!\n", text.unwrap());
    assert_eq!(read("tools/bombardier-503.json", behind.as_bytes()), Ok(alone));
}

#[test]
fn redirects_are_no_failures_where_the_tool_takes_them_for_success() {
    let text = "finished in 1.00s, 100000.00 req/s, 9.00MB/s\n\
        requests: 100000 total, 100000 started, 100000 done, 100000 succeeded, 0 failed, 0 errored, 0 timeout\n\
        status codes: 0 2xx, 100000 3xx, 0 4xx, 0 5xx\n";
    assert_eq!(counts(&read("a", text.as_bytes()).unwrap()), []);
}

#[test]
fn requests_that_h2load_gave_up_are_in_no_rate() {
    let text = "finished in 2.63s, 10549.11 req/s, 9.00MB/s\n\
        requests: 200000 total, 27847 started, 27746 done, 27746 succeeded, 172254 failed, 172254 errored, 0 timeout\n\
        status codes: 27746 2xx, 0 3xx, 0 4xx, 0 5xx\n";
    assert_eq!(counts(&read("a", text.as_bytes()).unwrap()), [(Rule::Failures, 1)]);
}

#[test]
fn time_outs_of_bombardier_are_failures() {
    let text = "Bombarding http://127.0.0.1:1/ with 100000 request(s) using 125 connection(s)\n\
        Statistics        Avg      Stdev        Max\n  Reqs/sec     1000.00     10.00    1100.00\n\
        Latency      1.99s   319.39us     2.00s\n  HTTP codes:\n    1xx - 0, 2xx - 1000, 3xx - 0, 4xx - 0, 5xx - 0\n    \
        others - 99000\n  Errors:\n       timeout - 99000\n  Throughput:    20.83KB/s\n";
    let found = audit(&read("a", text.as_bytes()).unwrap());
    assert_eq!((found.count(Rule::Failures), found.weight()), (1, Some(DoubtWeight::NotShown)));
}

#[test]
fn hey_with_more_results_than_it_keeps_has_no_mean() {
    let text = "Summary:\n  Total:\t30.0000 secs\n  Slowest:\t0.0100 secs\n  Fastest:\t0.0001 secs\n  \
        Average:\t0.0300 secs\n  Requests/sec:\t100000.0\n\nStatus code distribution:\n  [200]\t1000000 responses\n";
    let published = read("a", text.as_bytes()).unwrap();
    assert_eq!((published.source, published.rows[0].latency.ns_mean), (Source::Hey, None));
    assert_eq!(counts(&published), []);
}

#[test]
fn the_summary_of_k6_for_machines_is_read() {
    let text = r#"{"version":"0.1.0","metadata":{"k6Version":"1.5.0"},"config":{"duration":10.0,"execution":"local"},
        "results":{"metrics":[{"name":"http_reqs","type":"counter","values":{"count":200,"rate":20.0}},
        {"name":"http_req_failed","type":"rate","values":{"rate":0.1,"matches":20,"total":200}},
        {"name":"http_req_duration","type":"trend","values":{"avg":2.0,"max":9.0,"med":1.5,"min":1.0,"p(90)":4.0,"p(95)":5.0}}],
        "checks":{"metrics":[{"name":"checks_failed","type":"rate","values":{"rate":0.5,"matches":10,"total":20}}]}}}"#;
    let published = read("a", text.as_bytes()).unwrap();
    let row = &published.rows[0];
    assert_eq!((published.source, row.per_second, row.latency.ns_mean), (Source::K6, Some(20.0), Some(2e6)));
    assert_eq!(row.counts.map(|counts| counts.failed()), Some(20.0));
    assert_eq!(counts(&published), [(Rule::Failures, 2)]);
}

#[test]
fn the_sign_of_a_microsecond_may_be_of_another_code_page() {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tools/vegeta.txt")).unwrap();
    let latin: Vec<u8> =
        String::from_utf8(bytes.clone()).unwrap().chars().map(|c| u32::from(c) as u8).collect();
    assert_ne!(latin, bytes);
    assert_eq!(read("a", &latin), read("a", &bytes));
}

/// A change to bytes, as by an editor, a pipe or a bad disk.
#[derive(Debug, Clone)]
enum Change {
    Cut(usize),
    WithoutLine(usize),
    Byte(usize, u8),
    Digit(usize, u8),
    Insert(usize, Vec<u8>),
    Swap(usize, usize),
}

fn changed(bytes: &[u8], change: &Change) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let length = bytes.len().max(1);
    match change {
        Change::Cut(at) => bytes.truncate(at % length),
        Change::WithoutLine(line) => {
            let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            let gone = line % lines.len();
            let kept = lines.iter().enumerate().filter(|(place, _)| *place != gone).map(|(_, line)| *line);
            bytes = kept.collect::<Vec<_>>().join(&b'\n');
        }
        Change::Byte(at, byte) => bytes.iter_mut().skip(at % length).take(1).for_each(|old| *old = *byte),
        Change::Digit(at, digit) => {
            let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
            if let Some(place) = places.get(at % places.len().max(1)) {
                bytes[*place] = b'0' + digit % 10;
            }
        }
        Change::Insert(at, more) => {
            let at = at % length;
            bytes.splice(at.min(bytes.len())..at.min(bytes.len()), more.iter().copied());
        }
        Change::Swap(one, other) => {
            let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            let (one, other) = (one % lines.len(), other % lines.len());
            lines.swap(one, other);
            bytes = lines.join(&b'\n');
        }
    }
    bytes
}

fn change() -> impl Strategy<Value = Change> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        prop::sample::select(vec![
            "%", "│", "9e999", "-", "NaN", "[", "] ", "=", "\u{1b}[", " 10 sec", "/s", "µs", ":"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop_oneof![
        any::<usize>().prop_map(Change::Cut),
        any::<usize>().prop_map(Change::WithoutLine),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, digit)| Change::Digit(at, digit)),
        (any::<usize>(), piece).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (any::<usize>(), any::<usize>()).prop_map(|(one, other)| Change::Swap(one, other)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// No text causes a panic, and no figure that is read is infinite.
    #[test]
    fn no_change_to_an_output_is_more_than_a_refusal(
        sample in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let samples = tools();
        let (_, bytes) = sample.get(&samples);
        let bytes = changes.iter().fold(bytes.clone(), |bytes, change| changed(&bytes, change));
        if let Ok(published) = read("a", &bytes) {
            audit(&published);
            for row in &published.rows {
                let counted = row.counts.map(|counts| counts.judged());
                let figures = [row.per_second, counted, row.elapsed_s, row.latency.ns_mean, row.load.slots];
                prop_assert!(figures.into_iter().flatten().all(f64::is_finite), "{:?}", row);
            }
        }
    }
}
