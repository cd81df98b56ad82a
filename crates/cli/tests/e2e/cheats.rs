//! Services of real work that cheat. `tare verify` finds each cheat that one client can notice, and a run
//! finds those that appear only under load; both report the reason.

use insta::assert_snapshot;
use serde_json::Value;
use tare_service::backing::PostgresPrograms;

use crate::support::{Ended, Workspace, cheating, row, state_of, wrong_of};

/// Each needs a database, so a few are enough to keep a machine busy.
const AT_ONCE: usize = 2;

const CONTRACTS: [&str; 10] =
    ["db", "queries", "updates", "fortunes", "crud", "json", "compress", "upload", "static", "gateway"];

/// A kind of cheating, and the contract that exposes it.
const SEEN_BY_ONE_CLIENT: [(&str, &str); 12] = [
    ("caches", "db"),
    ("skips-query", "db"),
    ("batches", "queries"),
    ("unescaped", "fortunes"),
    ("sorts-wrongly", "fortunes"),
    ("loses-updates", "updates"),
    ("loses-updates-all-counted", "updates"),
    ("forgets-change", "crud"),
    ("caches-items", "crud"),
    ("echoes-length", "upload"),
    ("compresses-other", "compress"),
    ("caches-gateway", "gateway"),
];

/// Whether this machine has a database; if not, prints that the test is skipped.
fn has_postgres(test: &str) -> bool {
    let found = PostgresPrograms::find();
    if let Err(error) = &found {
        tare_host::fixture::skip(test, &error.to_string());
    }
    found.is_ok()
}

fn workspace(services: &[&str]) -> Workspace {
    let workspace = Workspace::new(&[]);
    services.iter().for_each(|cheat| workspace.service(cheat, &cheating(cheat, &CONTRACTS)));
    workspace
}

/// The checks that failed, each with its reason.
fn failures(ended: &Ended) -> Vec<String> {
    let verdicts = ended.json();
    let checks = verdicts[0]["transcript"]["checks"].as_array().unwrap_or_else(|| panic!("{verdicts}"));
    let failed = checks.iter().filter(|check| check["outcome"] == "fail");
    let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
    failed
        .map(|check| {
            format!("{} {}: {}", text(check, "check"), text(check, "request"), text(check, "reason"))
        })
        .collect()
}

/// The text without numbers that depend on random draws.
fn without_draws(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let is_drawn = |before: &str| ["row", "expected", "got", "said", "or"].contains(&before);
    for place in 1..words.len() {
        let (number, rest) = words[place].split_at(words[place].trim_end_matches([',', ';', ':']).len());
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let next = words.get(place + 1).map_or("", String::as_str);
        let is_counted =
            [("and", "is"), ("and", "more"), ("of", "rows")].contains(&(words[place - 1].as_str(), next));
        if is_number && (is_drawn(&words[place - 1]) || is_counted) {
            words[place] = format!("N{rest}");
        }
    }
    words.join(" ")
}

#[test]
fn what_is_honest_passes_all_contracts() {
    if !has_postgres("contracts of real work") {
        return;
    }
    let check = |contract: &&str| {
        let workspace = workspace(&["none"]);
        let ended = workspace.tare(&["verify", "none", "--contract", contract]);
        let right = ended.code() == Some(0)
            && ended.stdout.contains("\n1 passed, 0 failed, 0 not on this machine; seed ");
        (!right).then(|| format!("{contract}: {ended}"))
    };
    let wrong = wrong_of(&CONTRACTS, AT_ONCE, check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_cheats_fails_with_its_reason() {
    if !has_postgres("contracts of real work") {
        return;
    }
    let found = std::sync::Mutex::new(std::collections::BTreeMap::new());
    let check = |&(cheat, contract): &(&'static str, &'static str)| {
        let workspace = workspace(&[cheat]);
        let ended = workspace.tare(&["verify", cheat, "--contract", contract, "--seed", "19", "--json"]);
        let right = ended.code() == Some(2);
        let reasons: Vec<String> = failures(&ended).iter().map(|reason| without_draws(reason)).collect();
        // The author reads the messages of the first checks.
        let more = reasons.len().saturating_sub(2);
        let shown = reasons.iter().take(2).map(|reason| format!("\n  {reason}")).collect::<String>();
        let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
        found.lock().unwrap().insert(cheat, format!("{cheat}, under {contract}:{shown}{more}"));
        (!right).then(|| format!("{cheat}: {ended}"))
    };
    let wrong = wrong_of(&SEEN_BY_ONE_CLIENT, AT_ONCE, check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let found: Vec<String> = found.into_inner().unwrap().into_values().collect();
    assert_snapshot!(found.join("\n"));
}

/// An experiment with a contract of real work; the first service is the reference.
fn experiment(contract: &str, services: &[&str]) -> String {
    let connections = "connections = 16\nthreads     = 1";
    crate::support::experiment(services, 3)
        .replace("\"hello\"", &format!("{contract:?}"))
        .replace("\"raw-socket\"", &format!("{:?}", services[0]))
        .replace("connections = 1\nthreads     = 1", connections)
        .replace("30ms", "250ms")
        .replace("slices-per-block = 2", "slices-per-block = 6")
}

/// The reason in a run's row that has no other failure.
fn reason_under_load(contract: &str, cheat: &str) -> String {
    let workspace = workspace(&["none", cheat]);
    workspace.write("experiments/tiny.toml", &experiment(contract, &["none", cheat]));
    let ended = workspace.tare(&["run", "experiments/tiny.toml", "--json"]);
    let report = ended.json();
    let honest = row(&report, "none");
    // Other programs on this machine may make its throughput invalid.
    assert_eq!(state_of(&honest), "measured", "{honest}");
    assert_eq!(honest["errors"], 0, "{honest}");
    let cheat = row(&report, cheat);
    format!("{} {}", cheat["reason"].as_str().unwrap_or_default(), cheat["warnings"])
}

#[test]
fn a_row_in_a_thousand_that_is_not_written_is_seen_under_load() {
    if !has_postgres("contracts of real work") {
        return;
    }
    let reason = reason_under_load("updates", "loses-updates-rarely");
    assert!(reason.contains("randomnumber of the row ") && reason.contains(" is stored"), "{reason}");
    assert!(!reason.contains("rows written"), "as many rows are written as should be: {reason}");
}

#[test]
fn answers_that_are_swapped_are_seen_under_load() {
    if !has_postgres("contracts of real work") {
        return;
    }
    let reason = reason_under_load("crud", "mixes-up");
    assert!(reason.contains("wrong answers: "), "{reason}");
}

#[test]
fn an_item_out_of_a_cache_is_seen_under_load() {
    if !has_postgres("contracts of real work") {
        return;
    }
    let reason = reason_under_load("gateway", "caches-gateway");
    assert!(reason.contains(" requests to the server behind it, and "), "{reason}");
}
