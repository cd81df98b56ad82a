//! Builds and verifies all real services of this repository that can be built here. It is a test program of
//! its own: Cargo runs test programs in sequence, so that compilers do not disturb timed tests.

#[path = "../e2e/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the end-to-end tests use all of it, these tests a part")]
mod support;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use tare_host::fixture::{nothing_may_be_skipped, skip_always};

use support::{real_root, start, start_under, wrong_of};

/// Services whose sources no registry has: their users provide them, and no set-up can.
const NOWHERE: [&str; 5] = ["crow", "helidon", "kitura", "restbed", "simple-web-server"];
/// Rows that fail on purpose, as docs/reference/service.md explains: the error of a published benchmark, with
/// the contract and the reason in verify's message.
const FAIL_ON_PURPOSE: [(&str, &str, &str); 1] = [(
    "express-2019",
    "bare",
    "FAIL  keep-alive        all of the load in turn\n        closed the connection after 1 of 1100 requests without saying \
     \"Connection: close\"",
)];
/// No build starts after this time, so that the tests end within their hour; finished builds remain.
const BUILD_WITHIN: &str = "35m";
/// The time limit for builds that started before it.
const LAST_BUILD: Duration = Duration::from_secs(45 * 60);
/// Contracts that are verified within seconds.
const SMALL: [&str; 5] = ["bare", "hello", "rest", "strings", "api"];
/// The number of other contracts for each row.
const LONG_EACH: usize = 2;
/// The address of services: only those that obey SERVE_ON listen there, which agents on other machines need.
const SERVED_ON: &str = "127.0.0.2";
/// A JVM that runs for a few hundred requests spends half of its CPU time on recompilation. The answers of a
/// service do not depend on it.
const QUICK_JVM: [&str; 2] = ["env", "JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1"];
/// Verified in parallel: verification mostly waits for the clock.
const AT_ONCE: usize = 8;

/// Builds all of `words`, or everything, and returns the names of what was built. Other services are skipped
/// by name. Under TARE_TEST_ALL=1 it is a failure if only time or set-up was missing.
fn build(words: &[&str]) -> Vec<String> {
    let words = [&["build", "--json", "--within", BUILD_WITHIN], words].concat();
    let ended = start(&real_root(), &words).end_within(LAST_BUILD);
    let lines = ended.json().as_array().unwrap().clone();
    let (mut built, mut wrong) = (Vec::new(), Vec::new());
    for line in &lines {
        let name = line["service"].as_str().unwrap().to_owned();
        match line["result"].as_str().unwrap() {
            "built" | "current" => built.push(name),
            result => {
                let reason = line["reason"].as_str().unwrap();
                let tolerated = match result {
                    "missing" => NOWHERE.contains(&name.as_str()) || !nothing_may_be_skipped(),
                    "skipped" => !nothing_may_be_skipped(),
                    _ => false,
                };
                if tolerated {
                    skip_always(&name, reason)
                } else {
                    wrong.push(format!("{result}: {name}: {reason}"))
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    built
}

/// Services and their variants.
fn rows_of(names: &[String]) -> Vec<String> {
    let listed = start(&real_root(), &["list", "--json"]).end().json();
    let ids = listed.as_array().unwrap().iter().map(|line| line["service"].as_str().unwrap().to_owned());
    let is_built = |id: &String| names.iter().any(|name| Some(name.as_str()) == id.split(':').next());
    ids.filter(is_built).collect()
}

/// The contracts for each row: all small ones, and some of those with a database, files or long bodies, which
/// rotate over the rows. `tare verify` covers all of them.
fn contracts_to_prove(rows: &[String]) -> BTreeMap<String, Vec<String>> {
    let listed = start(&real_root(), &["list", "--json"]).end().json();
    let of_row = |row: &String, place: usize| -> Vec<String> {
        let line = listed.as_array().unwrap().iter().find(|line| line["service"] == row.as_str()).unwrap();
        let declared =
            line["contracts"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
        let (small, long): (Vec<_>, Vec<_>) = declared.partition(|name| SMALL.contains(&name.as_str()));
        let start = (place * LONG_EACH) % long.len().max(1);
        let chosen: Vec<String> =
            long.iter().cycle().skip(start).take(LONG_EACH.min(long.len())).cloned().collect();
        let left_out =
            long.iter().filter(|name| !chosen.contains(name)).cloned().collect::<Vec<_>>().join(", ");
        if !left_out.is_empty() {
            println!("{row}: not proved in this test for want of time: {left_out}");
        }
        small.into_iter().chain(chosen).collect()
    };
    rows.iter().enumerate().map(|(place, row)| (row.clone(), of_row(row, place))).collect()
}

#[test]
fn all_that_can_be_built_honour_their_contracts() {
    let mut built = rows_of(&build(&[]));
    built.retain(|id| !FAIL_ON_PURPOSE.iter().any(|(name, ..)| name == id));
    let contracts = contracts_to_prove(&built);
    let check = |name: &String| {
        let contracts = contracts[name].iter().flat_map(|contract| ["--contract", contract.as_str()]);
        let words: Vec<&str> =
            ["verify", name, "--serve-on", SERVED_ON].into_iter().chain(contracts).collect();
        let verified = start_under(&QUICK_JVM, &real_root(), &words).end_within(LAST_BUILD);
        (verified.code() != Some(0)).then(|| verified.stdout.clone())
    };
    // Several services share the CPUs here. One that was late among them is proved again, alone.
    let late = Mutex::new(Vec::new());
    let mut wrong = wrong_of(&built, AT_ONCE, |name| {
        let output = check(name)?;
        let is_late = output.contains("no answer within");
        if is_late {
            late.lock().unwrap().push(name.clone());
        }
        (!is_late).then_some(output)
    });
    let late = late.into_inner().unwrap();
    late.iter().for_each(|name| println!("{name}: late among others, proved again alone"));
    wrong.extend(late.iter().filter_map(check));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_fails_on_purpose_fails_for_its_reason() {
    let built = build(&FAIL_ON_PURPOSE.map(|(name, ..)| name));
    for (name, contract, reason) in
        FAIL_ON_PURPOSE.iter().filter(|(name, ..)| built.iter().any(|id| id == name))
    {
        let ended = start(&real_root(), &["verify", name, "--contract", contract]).end();
        assert_eq!(ended.code(), Some(2), "{name}: {ended}");
        assert!(ended.stdout.contains(reason), "{name}: {reason:?} was expected of\n{ended}");
        assert!(ended.stdout.contains("\n0 passed, 1 failed, "), "{name}: {ended}");
    }
}

/// The page of 2019 claims identical responses, and httperf counted 88 bytes in each.
#[test]
fn bare_responses_are_identical_in_length() {
    let mut built = build(&["hyper", "express", "express-2019", "simple-web-server"]);
    if !node_may_omit_connection() {
        built.retain(|name| name != "express");
    }
    // Without a name, `tare verify` would verify all services.
    if built.is_empty() {
        return;
    }
    let names: Vec<&str> = built.iter().map(String::as_str).collect();
    let words = [&["verify", "--wire", "--json", "--contract", "bare"], names.as_slice()].concat();
    let verdicts = start(&real_root(), &words).end().json();
    for verdict in verdicts.as_array().unwrap() {
        assert_eq!(verdict["answers"][0]["total_bytes"], 88, "{verdict}");
    }
    assert_eq!(verdicts.as_array().unwrap().len(), built.len());
}

/// Whether Node may omit the Connection header, checked as in `services/node/express/bare.js`.
fn node_may_omit_connection() -> bool {
    let script = "process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)";
    std::process::Command::new("node").args(["-e", script]).status().is_ok_and(|status| status.success())
}
