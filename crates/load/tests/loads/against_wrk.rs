//! Tests of the parts of the benchmark `against_wrk`: its options, its servers and its output parsers.

#[allow(dead_code)]
#[path = "../../benches/against_wrk/leash.rs"]
mod leash;
#[allow(dead_code)]
#[path = "../../benches/against_wrk/options.rs"]
mod options;
#[path = "../../benches/against_wrk/outputs.rs"]
mod outputs;
#[path = "../../benches/against_wrk/servers.rs"]
mod servers;
#[allow(dead_code)]
#[path = "../../benches/against_wrk/tools.rs"]
mod tools;

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::kit::load::skip;
use options::{KNOWN, Options};
use outputs::requests;
use servers::Serving;
use tare_load::{DriverKind, Protocol, Waiting};
use tools::Tool;

/// More than one TLS record and one HTTP/2 frame.
const BODY_BYTES: usize = 40_000;

#[test]
fn each_foreign_server_serves_the_body_in_each_of_its_protocols() {
    for (serving, name, package) in
        [(Serving::Nginx, "nginx", "nginx-light"), (Serving::Nghttpd, "nghttpd", "nghttp2-server")]
    {
        if let Err(reason) = tools::program(name, package) {
            skip(name, &reason);
            continue;
        }
        for protocol in Protocol::ALL.into_iter().filter(|protocol| serving.speaks(*protocol)) {
            let running = serving.start(protocol, BODY_BYTES).unwrap();
            let word = crate::kit::closed::word_of(protocol);
            let words = format!("{} 2 0.1 auto {BODY_BYTES} 1 {word} 1", running.target);
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let report = crate::kit::closed::report(&words).unwrap();
            let tally = report.total.tally;
            assert!(tally.answered > 0 && tally.failed.total() == 0, "{name} {protocol}: {tally:?}");
            // Otherwise each tool would be measured with another cipher.
            let negotiated = report.handshakes.map(|handshakes| handshakes.negotiated);
            let suites = negotiated.iter().flatten().map(|(negotiated, _)| negotiated.suite.as_str());
            let expected: &[&str] = if protocol.is_tls() { &["TLS_AES_128_GCM_SHA256"] } else { &[] };
            assert_eq!(suites.collect::<Vec<_>>(), expected, "{name} {protocol}");
        }
    }
}

#[test]
fn a_leashed_process_ends_with_the_thread_that_started_it() {
    let start = || leash::leash(Command::new("sleep").arg("60")).spawn().unwrap();
    let mut child: Child = std::thread::spawn(start).join().unwrap();
    let began = Instant::now();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_folder_is_gone_with_its_value() {
    let folder = leash::Folder::new("leash-test").unwrap();
    let path = folder.path().to_owned();
    std::fs::write(path.join("file"), "x").unwrap();
    drop(folder);
    assert!(!path.exists(), "{}", path.display());
}

fn parse(words: &str) -> Result<Options, String> {
    Options::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
}

#[test]
fn each_protocol_has_its_usual_server_and_loads() {
    let usual = |words: &str| {
        let Options { serving, connections, streams, .. } = parse(words).unwrap();
        (serving, connections, streams)
    };
    assert_eq!(usual(""), (Serving::Own, vec![64, 400], vec![1]));
    assert_eq!(usual("--protocol tls"), (Serving::Nginx, vec![64, 400], vec![1]));
    assert_eq!(usual("--protocol h2c"), (Serving::Nghttpd, vec![64], vec![1, 8, 32, 100]));
    let own = usual("--streams 4 --connections 1,2 --protocol h2 --server nginx");
    assert_eq!(own, (Serving::Nginx, vec![1, 2], vec![4]));
}

#[test]
fn what_cannot_be_measured_says_why() {
    for (words, reason) in [
        ("--protocol h3", "there is no protocol h3: give http1, tls, h2c or h2"),
        ("--server iis", "there is no server iis: give own, nginx or nghttpd"),
        ("--protocol tls --server nghttpd", "nghttpd does not serve tls"),
        ("--protocol h2 --server own", "own does not serve h2"),
        ("--streams 8", "--streams is of HTTP/2: give --protocol h2c or h2"),
        ("--rounds", "--rounds needs a value"),
        ("--body 1,x", "--body: \"x\" is no number"),
        ("--connections 0", "nothing to measure: give at least 1 of each"),
        ("--round 1", &format!("\"--round\" is not known: give {KNOWN}")),
    ] {
        assert_eq!(parse(words).unwrap_err(), reason, "{words}");
    }
}

const H2: &str = include_str!("../../benches/against_wrk/recorded/h2load-h2.txt");
const WRK: &str = include_str!("../../benches/against_wrk/recorded/wrk-tls.txt");
const TARE: &str = include_str!("../../benches/against_wrk/recorded/tare-h2.txt");

fn h2load(protocol: Protocol, output: &str) -> Option<u64> {
    requests(&Tool::H2load("h2load".into()), protocol, output)
}

#[test]
fn h2load_has_spoken_what_it_was_asked_to() {
    assert_eq!(h2load(Protocol::H2, H2), Some(20_000));
    for other in [Protocol::Http1, Protocol::Http1Tls, Protocol::H2c] {
        assert_eq!(h2load(other, H2), None);
    }
    let refused = include_str!("../../benches/against_wrk/recorded/h2load-refused.txt");
    assert_eq!(h2load(Protocol::H2, refused), None);
}

#[test]
fn a_request_that_failed_spoils_a_run() {
    let wrk = |output: &str| requests(&Tool::Wrk("wrk".into()), Protocol::Http1Tls, output);
    assert_eq!(wrk(WRK), Some(26_712));
    assert_eq!(wrk(&format!("{WRK}  Non-2xx or 3xx responses: 1\n")), None);
    let tare = |output: &str| requests(&Tool::Tare(DriverKind::Epoll, Waiting::Sleep), Protocol::H2, output);
    assert_eq!(tare(TARE), Some(268_344));
    assert_eq!(tare(&TARE.replace("failed         0", "failed         3")), None);
    assert_eq!(h2load(Protocol::H2, &H2.replace(" 0 failed", " 2 failed")), None);
}
