//! Compares the schema with the output: both have the same keys.

use std::{collections::BTreeSet, fs, path::Path};

use proptest::prelude::*;
use serde_json::Value;
use tare_analysis::sequential::fixture as published;
use tare_bench::{fixture as judge, folder::StoredRun, record::Record};
use tempfile::TempDir;

use super::*;
use crate::{
    document::{self, Kind, Scale, Shape, Status, Unit, Verdict},
    gather::{fixture as runs, gather},
    write::fixture::{self, bare, hostile, interleaved},
};

const KINDS: [Kind; 7] = [
    Kind::Interleaved,
    Kind::Sequential,
    Kind::Capacity,
    Kind::Comparison,
    Kind::History,
    Kind::Audit,
    Kind::Machines,
];

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

fn all() -> Vec<Document> {
    KINDS.into_iter().map(bare).chain([interleaved(), hostile()]).collect()
}

#[test]
fn every_document_fits_the_schema() {
    jsonschema::draft202012::meta::validate(&schema()).expect("the schema is one");
    let schema = jsonschema::draft202012::new(&schema()).unwrap();
    for document in all() {
        let value = serde_json::from_str(&json(&document)).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

/// A run folder of any kind, without histograms.
fn keep(run: &Path, stored: &StoredRun) {
    fs::write(run.join("run.json"), serde_json::to_string(&stored.header).unwrap()).unwrap();
    let line = |record: &Record| serde_json::to_string(record).unwrap() + "\n";
    fs::write(run.join("journal.ndjson"), stored.records.iter().map(line).collect::<String>()).unwrap();
}

#[test]
fn what_is_gathered_of_runs_fits_the_schema() {
    let schema = jsonschema::draft202012::new(&schema()).unwrap();
    let folders: [TempDir; 3] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let [interleaved, comparison, sequential] = folders.each_ref().map(TempDir::path);
    runs::write(&runs::kept(8), interleaved);
    let records = (0..14).flat_map(|block| judge::block(block, &[1.0, 0.9])).collect();
    keep(
        comparison,
        &StoredRun { header: judge::compared(), records, damage: Vec::new(), in_progress: false },
    );
    keep(sequential, &published::kept("restinio-2017", 1.0, published::measured));
    for (run, kind) in
        [(interleaved, Kind::Interleaved), (comparison, Kind::Comparison), (sequential, Kind::Sequential)]
    {
        let document = gather(run).unwrap();
        assert_eq!(document.kind, kind);
        assert!(!document.checks.is_empty(), "{kind:?}");
        let value = serde_json::from_str(&json(&document)).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{kind:?}: {errors:?}");
    }
}

#[test]
fn a_document_of_another_shape_does_not_fit() {
    let schema = jsonschema::draft202012::new(&schema()).unwrap();
    let good: Value = serde_json::from_str(&json(&interleaved())).unwrap();
    for (place, value) in [
        ("/format", "2.0".into()),
        ("/kind", "poll".into()),
        ("/sections/0/table/columns/0/unit", "furlongs".into()),
        ("/sections/0/table/rows/0/0", Value::Array(Vec::new())),
        ("/sections/0/id", "../etc".into()),
        ("/facts/0", serde_json::json!({"label": "a", "text": "b", "code": false, "more": 1})),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value;
        assert!(!schema.is_valid(&bad), "{place}");
    }
}

/// The place of every property in the schema; each object must be closed, and each property described.
fn properties(schema: &Value, place: &str, found: &mut BTreeSet<String>) {
    let Some(object) = schema.as_object() else { return };
    if object.contains_key("properties") {
        assert_eq!(object.get("additionalProperties"), Some(&Value::Bool(false)), "{place} is not closed");
    }
    for (name, inner) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        assert!(inner.get("description").is_some(), "{place}/{name} is not described");
        found.insert(name.clone());
        properties(inner, &format!("{place}/{name}"), found);
    }
    for (name, inner) in object.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        properties(inner, name, found);
    }
}

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, inner)| {
            found.insert(key.clone());
            // Its keys are words of the table.
            if !["tones", "names"].contains(&key.as_str()) {
                keys(inner, found);
            }
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn nothing_is_described_that_is_never_written() {
    let (mut described, mut written) = (BTreeSet::new(), BTreeSet::new());
    properties(&schema(), "", &mut described);
    keys(&serde_json::to_value(interleaved()).unwrap(), &mut written);
    assert_eq!(described, written);
}

#[test]
fn the_schema_has_every_word() {
    let words = |place: &str| schema().pointer(&format!("{place}/enum")).unwrap().clone();
    fn written<T: Serialize>(all: impl IntoIterator<Item = T>) -> Value {
        all.into_iter().map(|one| serde_json::to_value(one).unwrap()).collect()
    }
    let units = [
        Unit::Text,
        Unit::Flag,
        Unit::Count,
        Unit::Number,
        Unit::PerSecond,
        Unit::Nanoseconds,
        Unit::Bytes,
        Unit::Share,
        Unit::Times,
        Unit::Change,
        Unit::Percentile,
        Unit::Probability,
    ];
    let statuses = [Status::Complete, Status::Interrupted, Status::Running, Status::CutOff, Status::Unknown];
    let scales = [Scale::Linear, Scale::Log, Scale::Percentile, Scale::Names];
    assert_eq!(words("/properties/kind"), written(KINDS));
    assert_eq!(words("/properties/status"), written(statuses));
    assert_eq!(words("/properties/status"), written(statuses.map(Status::name)));
    assert_eq!(words("/$defs/column/properties/unit"), written(units));
    assert_eq!(words("/$defs/column/properties/unit"), written(units.map(Unit::name)));
    assert_eq!(words("/$defs/check/properties/verdict"), written(Verdict::ALL));
    assert_eq!(
        words("/$defs/chart/properties/shape"),
        written([Shape::Bars, Shape::Points, Shape::Lines, Shape::Flame])
    );
    assert_eq!(words("/$defs/scale"), written(scales));
    assert_eq!(schema().pointer("/properties/format/const").unwrap(), document::FORMAT);
}

#[test]
fn a_row_is_a_line() {
    let mut document = interleaved();
    document.sections.truncate(1);
    insta::assert_snapshot!(json(&document));
}

proptest! {
    #[test]
    fn the_lines_hold_what_is_in_the_document(table in fixture::table(), name in fixture::text()) {
        let mut document = interleaved();
        document.title = name;
        document.sections[0].table = Some(table);
        let read: Value = serde_json::from_str(&json(&document)).unwrap();
        prop_assert_eq!(read, serde_json::to_value(&document).unwrap());
    }
}
