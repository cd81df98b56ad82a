//! A published benchmark: whether it is consistent, and whether it holds on this machine.

use crate::{
    readme::catalogue::{is_built, tare},
    support::rows,
};

/// Two of its eleven services, for Go and Node, each for a second with a hundredth of the connections.
#[test]
fn each_claim_of_a_published_benchmark_has_a_verdict() {
    if !is_built("a published benchmark", &["gorilla-mux", "node-http"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let file = "experiments/published/abstract-2018.toml";
    let run = ["run", file, "--services", "gorilla-mux,node-http", "--scale", "0.01", "--duration", "1s"];
    let report = tare(&[&run[..], &["--out", out, "--json"]].concat()).expect_measured().json();
    let claims = rows(&report, "claims");
    let outcome = |claim: &str| {
        let found = claims.iter().find(|row| row["id"] == claim);
        found.unwrap_or_else(|| panic!("no claim {claim:?}: {claims:?}"))["outcome"].clone()
    };
    // The claim compares with a service that was left out.
    assert_eq!(outcome("go"), "inconclusive", "{claims:?}");
    // On a busy machine one request in a thousand waits too long.
    assert!(["holds", "does-not-hold"].iter().any(|known| outcome("errors") == *known), "{claims:?}");
    let published = rows(&report, "published");
    assert_eq!(published.len(), 2, "{published:?}");
    assert!(published.iter().all(|row| row["cpu_ns_per_request"].as_f64() > Some(0.0)), "{published:?}");
    let shown = tare(&["show", out, "--json", "--recompute"]).expect_measured().json();
    assert_eq!(shown, report);
}
