//! The capacity of a user's service.

use std::fs;

use serde_json::Value;

use crate::{
    readme::shop::Shop,
    support::{journal, row, state},
};

/// Two starts of four short windows. The limit is longer than a window, so that no rate is too high even on a
/// busy machine, and the lateness of the generator does not matter.
const WORDS: &str = "--slo p50=900ms --max-lag 60s --starts 2 --windows 4 --window 100ms --warm-up 30ms --warm-up-max 0s --out out \
                     --get /items/1 --at-least 1";

#[test]
fn a_search_prints_a_table_and_keeps_all_that_it_is_made_of() {
    let Some(shop) = Shop::new("a search") else { return };
    let service = "node server.js";
    let words: Vec<&str> = ["slo", service, "raw-socket"].into_iter().chain(WORDS.split(' ')).collect();
    let ran = shop.tare(&words).expect(5);
    let run = shop.path().join("out");
    for file in ["run.json", "journal.ndjson", "report.md", "report.json"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let shown = shop.tare(&["show", "out", "--recompute"]).expect(5);
    assert_eq!(shown.stdout, ran.stdout);
    assert_eq!(shown.stderr, "recomputed: the same as out/report.json, to the last digit\n");
    let markdown = shop.tare(&["show", "out", "--format", "markdown"]).expect(5);
    assert_eq!(markdown.stdout, fs::read_to_string(run.join("report.md")).unwrap());
    let report = shop.tare(&["show", "out", "--json"]).expect(5).json();
    let found = row(&report, service);
    assert_eq!((state(&report, service).as_str(), &found["starts"]), ("measured", &Value::from(2)));
    for label in [service, "raw-socket"] {
        assert_eq!(row(&report, label)["at_least"], true, "{label}");
    }

    let records = journal(&run);
    let open: Vec<&Value> =
        records.iter().filter(|record| record["load"]["offered_per_second"].is_number()).collect();
    // Up to 1.1 times the closed loop's rate: 0.7, 0.84, 1.008 and 1.1 times.
    assert_eq!(open.len(), 2 * 2 * 4);
    assert!(open.iter().all(|slice| slice["load"]["within"][0] == slice["load"]["answered"]), "{open:?}");
}
