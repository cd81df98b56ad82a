//! Real work: the cost of a database, a page and an upload. The reference of the experiments is a service in
//! C that needs a library of PostgreSQL. To avoid that, a service is its own reference here.

use serde_json::Value;
use tare_service::backing::PostgresPrograms;

use crate::{
    readme::catalogue::{Short, is_built},
    support::{rows, state},
};

const OWN_REFERENCE: [&str; 4] = ["--services", "net-http", "--reference", "net-http"];

/// Whether this machine can measure work with a database; if not, prints that `test` is skipped.
fn has_database(test: &str) -> bool {
    if let Err(error) = PostgresPrograms::find() {
        tare_host::fixture::skip(test, &error.to_string());
        return false;
    }
    is_built(test, &["net-http"])
}

#[test]
fn the_cpu_time_of_the_service_and_of_postgresql_are_apart() {
    if !has_database("a row of a database") {
        return;
    }
    let report = Short::of("database").measured(&OWN_REFERENCE);
    assert_eq!(state(&report, "net-http"), "measured");
    let parts = &rows(&report, "parts")[0];
    let figure = |key: &str| parts[key].as_f64().unwrap_or_else(|| panic!("{key}: {parts}"));
    let (service, database) = (figure("cpu_ns_per_request"), figure("backing_cpu_ns_per_request"));
    assert!(service > 0.0 && database > 0.0, "{parts}");
    assert!((figure("total_cpu_ns_per_request") / (service + database) - 1.0).abs() < 0.01, "{parts}");
    assert!(figure("backing_rss_bytes") > 0.0);
    // All rows have the same rate.
    let at_rate = &rows(&report, "equal-rate")[0];
    assert_eq!(at_rate["rate"], "500/s");
    assert!(at_rate["backing_cpu_ns_at_rate"].as_f64() > Some(0.0), "{at_rate}");
    assert!(rows(&report, "load")[0]["latency_ns_p50"].as_f64() > Some(0.0));
}

#[test]
fn a_page_of_rows_of_a_database_is_measured() {
    if !has_database("a page of rows") {
        return;
    }
    let report = Short::of("pages").measured(&OWN_REFERENCE);
    assert_eq!(state(&report, "net-http"), "measured");
    let wire = &rows(&report, "wire")[0];
    assert!(wire["body_bytes"].as_u64() > Some(1_000), "{wire}");
    assert!(rows(&report, "parts")[0]["backing_cpu_ns_per_request"].as_f64() > Some(0.0));
}

#[test]
fn an_upload_is_measured_beside_a_server_that_only_counts() {
    if !is_built("an upload", &["net-http", "raw-echo"]) {
        return;
    }
    let report = Short::of("bodies").measured(&["--services", "net-http"]);
    for label in ["raw-echo", "net-http"] {
        assert_eq!(state(&report, label), "measured", "{report}");
    }
    let found = rows(&report, "ranks").into_iter().find(|row| row["label"] == "net-http").unwrap();
    assert_eq!((&found["contract"], &found["errors"]), (&Value::from("upload"), &Value::from(0)), "{found}");
    assert!(found["cpu_ratio"].as_f64() > Some(0.0), "{found}");
}
