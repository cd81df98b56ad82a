//! The cost of frameworks: experiments of this repository over its services.

use std::fs;

use serde_json::Value;

use crate::{
    readme::catalogue::{Short, is_built, tare},
    support::{every_request_is_accounted_for, journal, row, rows, state},
};

#[test]
fn a_table_of_services_and_a_page_to_share() {
    if !is_built("a table of services", &["net-http", "node-http"]) {
        return;
    }
    let short = Short::changed("quick", |quick| _ = quick.remove("twin"));
    let ran = short.run(&["--services", "net-http,node-http", "--seed", "1", "--json"]);
    let report = ran.json();
    let table = rows(&report, "ranks");
    let labels = ["raw-socket", "net-http", "node-http"];
    assert_eq!(table.len(), labels.len());
    for label in labels {
        assert_eq!(state(&report, label), "measured", "{label}");
        let found = row(&report, label);
        assert_eq!((&found["blocks"], &found["starts"]), (&Value::from(2), &Value::from(2)), "{found}");
        for figure in ["cpu_ratio", "cpu_ns_per_request", "rss_bytes_peak", "start_up_ns"] {
            assert!(found[figure].as_f64() > Some(0.0), "{label}: {figure}: {found}");
        }
        // An answer of the reference waits for the ballast of those before it.
        assert_eq!(found["latency_ns_p99"].as_f64() > Some(0.0), label != "raw-socket", "{found}");
    }
    // A generator without optimisation may be slower than a service. Its row is measured, but the row and the
    // exit status report that its throughput is limited by the generator.
    let doubtful = table.iter().any(|row| row["requests_per_second"].is_null());
    assert_eq!(ran.code(), Some(if doubtful { 4 } else { 0 }), "{ran}");

    let page = fs::read_to_string(short.out().join("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && labels.iter().all(|label| page.contains(label)));
    let again = tare(&["show", short.out().to_str().unwrap(), "--recompute", "--json"]).expect_measured();
    assert_eq!(again.json(), report);
}

#[test]
fn a_run_of_several_loads_measures_each_on_the_same_processes() {
    if !is_built("several loads", &["net-http"]) {
        return;
    }
    let short = Short::of("connections");
    let ran = short.run(&["--services", "net-http"]);
    assert!(
        ran.stdout.contains("\nRanks, 64 connections\n") && ran.stdout.contains("\nConnections\n"),
        "{ran}"
    );
    let report = tare(&["show", short.out().to_str().unwrap(), "--json"]).expect_measured().json();
    for (section, count) in [("ranks", 2), ("ranks-64", 2), ("ranks-256", 2), ("loads", 6)] {
        let rows = rows(&report, section);
        assert_eq!(rows.len(), count, "{section}");
        assert!(rows.iter().all(|row| row["cpu_ns_per_request"].as_f64() > Some(0.0)), "{section}: {rows:?}");
    }
    let records = journal(&short.out());
    let starts = records.iter().filter(|record| record["kind"] == "started").count();
    assert_eq!(starts, 2 * 2, "all loads are those of one process");
    let samples = || records.iter().filter(|record| record["kind"] == "sample");
    let of = |point: u64| samples().filter(|sample| sample["point"] == point).count();
    assert!(of(0) > 0 && of(0) == of(1) && of(0) == of(2) && of(0) * 3 == samples().count());
    assert!(samples().all(|sample| sample["load"]["connects"] == 0), "connected before the window");
    every_request_is_accounted_for(&records, 2 * 2 * 3 * 3);
}

#[test]
fn a_rate_that_is_equal_for_all_has_costs_and_latency_of_its_own() {
    if !is_built("an equal rate", &["net-http", "gorilla-mux"]) {
        return;
    }
    let report = Short::of("equal-rate").measured(&["--services", "net-http,gorilla-mux"]);
    let labels = ["raw-socket", "net-http", "gorilla-mux"];
    for (section, figure) in [("equal-rate", "cpu_ns_at_rate"), ("load", "latency_ns_p50")] {
        let rows = rows(&report, section);
        for label in labels {
            let found = rows.iter().find(|row| row["label"] == label).unwrap_or_else(|| panic!("{rows:?}"));
            assert!(found[figure].as_f64() > Some(0.0), "{section}: {found}");
        }
    }
    assert!(rows(&report, "load").iter().all(|row| row["offered_per_second"] == 2000.0), "{report}");
}

/// One thread, and more threads than any machine has CPUs.
fn one_thread_and_many() -> Short {
    Short::changed("cores", |cores| {
        for section in ["load", "service"] {
            let threads = if section == "load" { vec![1, 1] } else { vec![1, 1024] };
            cores[section].as_table_mut().unwrap().insert("threads".to_owned(), threads.into());
        }
    })
}

#[test]
fn what_fits_is_measured_and_a_resumed_run_ends_as_planned() {
    if tare_host::cpus::available().len() < 2 {
        println!("skipped: a service and its generator need two CPUs");
        return;
    }
    if !is_built("several cores", &["net-http"]) {
        return;
    }
    let short = one_thread_and_many();
    let ran = short.run(&["--services", "net-http"]);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("scale is not known: they were measured with 1 thread only"), "{ran}");
    let out = short.out();
    let out = out.to_str().unwrap();
    let shown = || tare(&["show", out, "--json"]).expect_measured().json();
    let report = shown();
    assert_eq!(state(&report, "net-http+1t"), "measured");
    assert_eq!(state(&report, "net-http+1024t"), "left out");
    let curve = rows(&report, "cores");
    assert_eq!(curve.len(), 2 * 2);
    let first = curve.iter().find(|row| row["service"] == "net-http" && row["threads"] == 1).unwrap();
    assert_eq!((&first["generator_threads"], &first["blocks"]), (&Value::from(1), &Value::from(2)));
    assert!(row(&report, "net-http+1t")["cpu_ratio"].as_f64().is_some_and(|ratio| ratio > 0.0));
    assert_eq!(tare(&["show", out, "--recompute"]).expect_measured().stdout, ran.stdout);

    // The journal up to the second block: the state after a kill at that point.
    let path = short.out().join("journal.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    let whole = journal(&short.out()).len();
    let second = text.match_indices("{\"block\":{").nth(1).unwrap().0;
    fs::write(&path, &text[..second]).unwrap();
    tare(&["run", "--resume", out]).expect_measured();
    assert_eq!(journal(&short.out()).len(), whole, "as many records as without the cut");
    assert_eq!(rows(&shown(), "cores").len(), 2 * 2);
}
