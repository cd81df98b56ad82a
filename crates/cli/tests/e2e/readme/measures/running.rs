//! Loads a server that is already running.

use std::{fs, process::Command};

use serde_json::Value;
use tare_host::fixture::has_program;
use tempfile::TempDir;

use crate::{
    protocols::certify,
    readme::shop::{Server, Shop, Version},
    support::{Ended, start},
};

fn load(shop: &Shop, url: &str, words: &str) -> Ended {
    let words = words.split(' ').chain(["--max-interference", "100%"]);
    shop.tare(&["load", url].into_iter().chain(words).collect::<Vec<_>>())
}

/// The counters of a load.
fn tally(ended: &Ended) -> Value {
    ended.json()["totals"].clone()
}

#[test]
fn every_kind_of_load_is_counted() {
    let Some(shop) = Shop::new("kinds of load") else { return };
    let server = shop.serve(Version::Cheap);
    let load = |words: &str| load(&shop, &server.url("/items/1"), words).expect_measured();
    // Like wrk, with its combined options and its output.
    let closed = load("-t1 -c1 -d 300ms --warm-up 50ms --latency --json");
    assert!(tally(&closed)["answered"].as_u64() > Some(50), "{closed}");
    let printed = load("-t1 -c4 -d 300ms --latency --format wrk");
    assert!(
        printed.stdout.contains("Latency Distribution") && printed.stdout.contains("Requests/sec:"),
        "{printed}"
    );

    // Like wrk2.
    let open = load("-c 4 -R 500 --arrivals poisson -d 300ms --seed 1 --json");
    let due = |ended: &Ended| {
        let tally = tally(ended);
        tally["sent"].as_u64().unwrap() + tally["unsent"].as_u64().unwrap()
    };
    let again = load("-c 4 -R 500 --arrivals poisson -d 300ms --seed 1 --json");
    assert_eq!(due(&open), due(&again), "the same seed gives the same arrivals");

    // Like hey and curl, and other combinations.
    let table = [
        ("-n 50", 50, 0),
        ("-n 20 -c 2 -X POST -H X-Y:z --data a=b", 20, 0),
        ("-c 2 --connections-total 20 --requests-per-connection 3", 60, 20),
        ("-c 3 --requests-each 5 --requests-per-connection 1", 15, 15),
        ("-c 2 -t 2 --requests-each 10", 20, 0),
        ("-c 1 -n 64 --pipeline 16", 64, 0),
        ("-c 2 -n 20 --driver epoll --source 127.0.0.2-127.0.0.3", 20, 0),
        ("-c 2 -n 4 --think 1ms..2ms", 4, 0),
    ];
    for (words, answered, connects) in table {
        // In so short a run the generator may be busy all the time.
        let ended = load(&format!("{words} --json"));
        let tally = tally(&ended);
        assert_eq!((&tally["sent"], &tally["answered"]), (&answered.into(), &answered.into()), "{words}");
        assert_eq!(tally["connects"], connects, "{words}");
    }
}

#[test]
fn every_response_is_checked() {
    let Some(shop) = Shop::new("checked responses") else { return };
    let server = shop.serve(Version::Cheap);
    let load = |words: &str| load(&shop, &server.url("/items/1"), words);
    let checked = load("-c 4 -n 400").expect_measured();
    let said = "checked: every response is compared with the first one: status 200, 31 bytes";
    assert!(checked.stdout.contains(said), "{checked}");
    assert!(checked.stdout.contains("400 sent: 400 answered, 0 failed, 0 in flight at the end"), "{checked}");
    // A tenth of a second is too short for 1k requests per second with latencies from the due instant.
    let open = load("-c 4 -R 1k -d 500ms --latency").expect_measured();
    assert!(open.stdout.contains("latency, from the instant due"), "{open}");
    // An unexpected answer is an error.
    load("-c 1 -n 10 --expect-body tea").expect(1);
    load("-c 1 -n 10 --expect-status 201").expect(1);
}

/// A server of net/http, compiled.
struct Go {
    folder: TempDir,
}

impl Go {
    fn build(test: &str) -> Option<Go> {
        if !has_program(test, "go") {
            return None;
        }
        let go = Go { folder: tempfile::tempdir().unwrap() };
        fs::write(go.folder.path().join("main.go"), include_str!("server.go")).unwrap();
        let mut build = Command::new("go");
        build.args(["build", "-o", "server", "main.go"]).current_dir(go.folder.path());
        let built = build.output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        certify(go.folder.path());
        Some(go)
    }

    fn serve(&self, protocol: &str) -> Server {
        let mut command = Command::new(self.folder.path().join("server"));
        Server::start(command.current_dir(self.folder.path()).env("PROTOCOL", protocol))
    }

    fn load(&self, words: &str) -> Value {
        let words = format!("load -q --json -n 2000 -c 4 --max-interference 100% {words}");
        let words: Vec<&str> = words.split(' ').collect();
        start(self.folder.path(), &words).end().expect_measured().json()
    }
}

#[test]
fn a_load_speaks_each_protocol_and_says_what_was_negotiated() {
    let Some(go) = Go::build("HTTP/2 and TLS 1.3") else { return };
    let plain = go.serve("h2c");
    // Like h2load.
    let report = go.load(&format!("--h2c -m 8 {}", plain.url("/")));
    assert_eq!(report["settings"]["protocol"], "h2c");
    assert_eq!((&report["settings"]["streams"], &report["handshakes"]), (&Value::from(8), &Value::Null));
    assert_eq!(report["totals"]["answered"], 2000);

    let secured = go.serve("http/1.1");
    let report = go.load(&format!("--cacert cert.pem https://localhost:{}/", secured.port));
    assert_eq!(report["totals"]["answered"], 2000);
    let agreed = &report["handshakes"]["negotiated"][0];
    assert_eq!((&agreed["version"], &agreed["alpn"]), (&Value::from("TLSv1.3"), &Value::from("http/1.1")));
    assert_eq!(report["handshakes"]["full"], 4);
    let words = format!("-k --requests-per-connection 1 --resume https://127.0.0.1:{}/", secured.port);
    let report = go.load(&words);
    assert!(report["handshakes"]["resumed"].as_u64().unwrap() > 1_500, "{}", report["handshakes"]);

    let both = go.serve("h2");
    let report = go.load(&format!("-k --h2 -m 16 https://localhost:{}/", both.port));
    assert_eq!(report["settings"]["protocol"], "h2");
    assert_eq!(report["handshakes"]["negotiated"][0]["alpn"], "h2");
}
