//! The added cost of TLS and HTTP/2.

use std::fs;

use serde_json::Value;

use crate::{
    readme::catalogue::{Short, is_built},
    support::{rows, state},
};

const WORDS: [&str; 2] = ["--services", "raw-socket,net-http"];

fn labels(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["label"].as_str().unwrap()).collect()
}

#[test]
fn a_run_with_and_without_tls_says_what_it_adds() {
    if !is_built("TLS", &["net-http"]) {
        return;
    }
    let report = Short::of("tls").measured(&WORDS);
    for label in ["raw-socket", "raw-socket+tls", "net-http", "net-http+tls"] {
        assert_eq!(state(&report, label), "measured", "{report}");
    }
    let added = rows(&report, "protocols");
    assert_eq!(labels(&added), ["raw-socket+tls", "net-http+tls"], "{added:?}");
    let agreed = rows(&report, "handshakes");
    assert!(agreed.iter().all(|row| row["suite"] == "TLS_AES_128_GCM_SHA256" && row["group"] == "X25519"));
}

#[test]
fn a_run_says_what_protocols_add_and_keeps_no_key() {
    if !is_built("HTTP/2", &["net-http"]) {
        return;
    }
    let short = Short::of("h2");
    let report = short.measured(&WORDS);
    let protocols = ["", "+tls", "+h2", "+h2c"];
    for label in
        ["raw-socket", "net-http"].iter().flat_map(|name| protocols.map(|end| format!("{name}{end}")))
    {
        assert_eq!(state(&report, &label), "measured", "{report}");
    }
    let added = rows(&report, "protocols");
    assert!(labels(&added).contains(&"net-http+h2") && labels(&added).contains(&"net-http+h2c"), "{added:?}");
    let agreed = rows(&report, "handshakes");
    assert_eq!(agreed.len(), 4, "{agreed:?}");
    assert!(
        agreed.iter().all(|row| row["suite"] == "TLS_AES_128_GCM_SHA256" && row["group"] == "X25519"),
        "{agreed:?}"
    );
    let tls = short.out().join("tls");
    assert!(tls.join("cert.pem").is_file() && !tls.join("key.pem").exists());
    assert!(fs::read_to_string(tls.join("cert.pem")).unwrap().starts_with("-----BEGIN CERTIFICATE"));
}
