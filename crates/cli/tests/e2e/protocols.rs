//! TLS and HTTP/2 from end to end: loads, proofs and a run, with the built-in server in each protocol.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, USUAL, Workspace, alone, experiment, free_port, rows, send, state, within};

/// A certificate of this machine that `openssl req -x509` would make, and its key, in the folder of the workspace.
fn certify(workspace: &Workspace) {
    let issued =
        rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    workspace.write("cert.pem", &issued.cert.pem());
    workspace.write("key.pem", &issued.signing_key.serialize_pem());
}

fn serving(workspace: &Workspace, words: &[&str]) -> (Running, u16) {
    let port = free_port();
    let server = workspace.start(&[&["raw-socket", "--port", &port.to_string()], words].concat());
    assert!(within(USUAL, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()));
    (server, port)
}

const TLS: [&str; 4] = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];

fn load(workspace: &Workspace, words: &str) -> Value {
    let words = format!("load -q --json -n 2000 -c 4 --max-interference 100% {words}");
    workspace.tare(&words.split(' ').collect::<Vec<_>>()).expect(0).json()
}

#[test]
fn a_load_speaks_each_protocol_and_says_what_was_negotiated() {
    let workspace = Workspace::new(&[]);
    certify(&workspace);
    let (plain, port) = serving(&workspace, &["--protocol", "h2c"]);
    let report = load(&workspace, &format!("--h2c -m 8 http://127.0.0.1:{port}/"));
    assert_eq!(report["settings"]["protocol"], "h2c");
    assert_eq!((&report["settings"]["streams"], &report["handshakes"]), (&Value::from(8), &Value::Null));
    assert_eq!(report["totals"]["answered"], 2000);

    let (secured, port) = serving(&workspace, &TLS);
    let report = load(&workspace, &format!("--cacert cert.pem https://localhost:{port}/"));
    assert_eq!(report["totals"]["answered"], 2000);
    let agreed = &report["handshakes"]["negotiated"][0];
    assert_eq!((&agreed["version"], &agreed["alpn"]), (&Value::from("TLSv1.3"), &Value::from("http/1.1")));
    assert_eq!(report["handshakes"]["full"], 4);
    let words = format!("-k --requests-per-connection 1 --resume https://127.0.0.1:{port}/");
    let report = load(&workspace, &words);
    assert!(report["handshakes"]["resumed"].as_u64().unwrap() > 1_500, "{}", report["handshakes"]);

    let (both, port) = serving(&workspace, &[&TLS[..], &["--protocol", "h2"]].concat());
    let report = load(&workspace, &format!("-k --h2 -m 16 https://localhost:{port}/"));
    assert_eq!(report["settings"]["protocol"], "h2");
    assert_eq!(report["handshakes"]["negotiated"][0]["alpn"], "h2");
    for server in [plain, secured, both] {
        send(server.pid(), Signal::TERM);
        server.end().expect(0);
    }
}

#[test]
fn what_is_not_trusted_or_not_spoken_is_named_before_anything_is_sent() {
    let workspace = Workspace::new(&[]);
    certify(&workspace);
    let (secured, port) = serving(&workspace, &TLS);
    let refused = |words: &str| {
        let words = format!("load -q {words}:{port}/");
        workspace.tare(&words.split(' ').collect::<Vec<_>>()).expect(1).stderr.clone()
    };
    let untrusted = refused("https://localhost");
    assert!(
        untrusted.contains("give its authority by --cacert, or accept any certificate by -k"),
        "{untrusted}"
    );
    let by_alpn = refused("-k --h2 https://localhost");
    assert!(by_alpn.contains("does not offer HTTP/2 over TLS: leave out --h2"), "{by_alpn}");
    let plain = refused("--h2c http://localhost");
    assert!(plain.contains("does perhaps not speak HTTP/2 there"), "{plain}");
    send(secured.pid(), Signal::TERM);
    secured.end().expect(0);
}

#[test]
fn the_raw_socket_is_proved_in_each_protocol() {
    let workspace = Workspace::new(&[]);
    let words = ["verify", "raw-socket", "--protocols", "all", "--contract", "hello"];
    let proved = workspace.tare(&words).expect(0);
    for row in ["raw-socket+tls", "raw-socket+h2", "raw-socket+h2c"] {
        assert!(proved.stdout.contains(row), "{proved}");
    }
    assert!(
        !workspace
            .root()
            .join(".tare/verify")
            .read_dir()
            .unwrap()
            .flatten()
            .any(|entry| { entry.file_name().to_string_lossy().starts_with("tls-") })
    );
}

#[test]
fn a_run_says_what_protocols_add_and_keeps_no_key() {
    let _alone = alone();
    let workspace = Workspace::new(&[("honest", "correct")]);
    let text = experiment(&["raw-socket", "honest"], 3)
        .replace("contract", "protocols = [\"http/1.1\", \"tls\", \"h2\", \"h2c\"]\ncontract");
    workspace.write("experiments/tiny.toml", &text);
    let report =
        workspace.tare(&["run", "experiments/tiny.toml", "--out", "out", "--json"]).expect_measured().json();
    for row in ["raw-socket", "raw-socket+tls", "raw-socket+h2", "raw-socket+h2c", "honest"] {
        assert_eq!(state(&report, row), "measured", "{report}");
    }
    assert_eq!(state(&report, "honest+h2"), "left out", "{report}");
    assert!(report.to_string().contains("this service does not offer h2"), "{report}");
    let added = rows(&report, "protocols");
    let labels: Vec<&str> = added.iter().map(|row| row["label"].as_str().unwrap()).collect();
    assert_eq!(labels.len(), 4, "{added:?}");
    assert!(labels.iter().all(|label| label.starts_with("raw-socket+")), "{labels:?}");
    let agreed = rows(&report, "handshakes");
    assert_eq!(agreed.len(), 2, "{agreed:?}");
    assert!(
        agreed.iter().all(|row| row["suite"] == "TLS_AES_128_GCM_SHA256" && row["group"] == "X25519"),
        "{agreed:?}"
    );
    let tls = workspace.root().join("out/tls");
    assert!(tls.join("cert.pem").is_file() && !tls.join("key.pem").exists());
    assert!(fs::read_to_string(tls.join("cert.pem")).unwrap().starts_with("-----BEGIN CERTIFICATE"));
}
