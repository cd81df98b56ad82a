//! All responses are checked: a service of this repository honours its contracts.

use tare_service::backing::PostgresPrograms;

use super::catalogue::{is_built, tare};

#[test]
fn a_service_honours_its_contracts_in_each_protocol() {
    if !is_built("contracts", &["net-http"]) {
        return;
    }
    let contracts = ["--contract", "hello,rest,strings,api"];
    let verified = tare(&[&["verify", "net-http", "--seed", "1"][..], &contracts].concat()).expect(0);
    assert!(verified.stdout.contains("\n4 passed, 0 failed, 0 not on this machine; seed 1\n"), "{verified}");
    let verified = tare(&["verify", "net-http", "--contract", "hello", "--protocols", "all"]).expect(0);
    for row in ["net-http+tls", "net-http+h2", "net-http+h2c"] {
        assert!(verified.line(row).contains(" pass "), "{verified}");
    }
}

#[test]
fn what_a_service_stores_is_read_back() {
    if let Err(error) = PostgresPrograms::find() {
        return tare_host::fixture::skip("what is stored", &error.to_string());
    }
    if !is_built("what is stored", &["net-http"]) {
        return;
    }
    let verified = tare(&["verify", "net-http", "--contract", "updates", "--json"]).expect(0).json();
    let checks = verified[0]["transcript"]["checks"].as_array().unwrap();
    let backing: Vec<_> = checks.iter().filter(|check| check["check"] == "backing").collect();
    assert!(!backing.is_empty() && backing.iter().all(|check| check["outcome"] == "pass"), "{checks:#?}");
}
