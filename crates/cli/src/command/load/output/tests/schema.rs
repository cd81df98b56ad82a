//! Compares the schema with the real output: both have the same keys.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    super::json::{Series, document},
    fixtures::{Case, cases, intervals},
};

const SCHEMA: &str = include_str!("../../../../../schema/load.schema.json");

/// A checker for the parts of JSON Schema that the schema uses. It records which parts a document has used.
struct Checker {
    root: Value,
    seen: BTreeSet<String>,
}

impl Checker {
    fn check(&mut self, schema: &Value, value: &Value, place: &str) {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let path = name.strip_prefix('#').expect("only references within the schema");
            let target =
                self.root.pointer(path).unwrap_or_else(|| panic!("{place}: nothing at {name}")).clone();
            return self.check(&target, value, path);
        }
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let fits = |choice: &&Value| choice["type"].as_str() != Some("null") || value.is_null();
            let null = choices.iter().find(|choice| choice["type"] == "null" && value.is_null());
            let choice =
                null.or(choices.iter().find(fits)).unwrap_or_else(|| panic!("{place}: nothing fits"));
            return self.check(choice, value, place);
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => vec![one.as_str().unwrap_or_else(|| panic!("{place}: no type"))],
        };
        assert!(types.iter().any(|kind| is_of(kind, value)), "{place}: {value} is not of {types:?}");
        if let Some(constant) = schema.get("const") {
            assert_eq!(constant, value, "{place}");
        }
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
            assert!(allowed.contains(value), "{place}: {value} is none of {allowed:?}");
        }
        if let Some(number) = value.as_f64().filter(|_| schema.get("minimum").is_some()) {
            assert!(number >= schema["minimum"].as_f64().unwrap(), "{place}: {number} is too small");
        }
        self.check_inside(schema, value, place);
    }

    fn check_inside(&mut self, schema: &Value, value: &Value, place: &str) {
        for item in value.as_array().into_iter().flatten() {
            self.check(&schema["items"], item, &format!("{place}/items"));
        }
        let Some(object) = value.as_object() else { return };
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(required.as_str().unwrap()), "{place}: no {required}");
        }
        for (key, inner) in object {
            let place = format!("{place}/properties/{key}");
            match schema["properties"].get(key) {
                Some(schema) => {
                    self.seen.insert(place.clone());
                    self.check(schema, inner, &place);
                }
                None if schema["additionalProperties"].is_object() => {
                    self.check(&schema["additionalProperties"], inner, &place);
                }
                None => panic!("{place} is not in the schema"),
            }
        }
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("the checker knows no type {other}"),
    }
}

/// The place of every property in the schema; each object must state whether other properties are allowed.
fn properties(schema: &Value, place: &str, found: &mut BTreeSet<String>) {
    let Some(object) = schema.as_object() else { return };
    if object.contains_key("properties") {
        assert_eq!(object.get("additionalProperties"), Some(&Value::Bool(false)), "{place} is not closed");
    }
    for (key, inner) in object {
        if key == "properties" || key == "$defs" {
            for (name, inner) in inner.as_object().unwrap() {
                let place = format!("{place}/{key}/{name}");
                if key == "properties" {
                    found.insert(place.clone());
                    assert!(inner.get("description").is_some(), "{place} is not described");
                }
                properties(inner, &place, found);
            }
        } else {
            properties(inner, &format!("{place}/{key}"), found);
        }
    }
}

/// What the schema describes, and neither these cases nor the lines of a series have.
pub(crate) fn never_written<'c>(cases: impl IntoIterator<Item = &'c Case>) -> Vec<String> {
    let root: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut checker = Checker { root: root.clone(), seen: BTreeSet::new() };
    for case in cases {
        checker.check(&root, &document(&case.result()), "");
    }
    let mut series = Series::default();
    for interval in intervals() {
        let line = series.line(&interval);
        checker.check(&root["$defs"]["interval"], &line, "/$defs/interval");
    }
    let mut described = BTreeSet::new();
    properties(&root, "", &mut described);
    described.difference(&checker.seen).cloned().collect()
}

/// Only a part writes what several generators add.
#[test]
fn the_schema_and_the_output_agree() {
    let never = never_written(&cases());
    let of_several =
        ["/$defs/agent/", "/$defs/alignment/", "/$defs/doubt/properties/agent", "/$defs/service_cpu/"];
    let is_of_several = |place: &&String| of_several.iter().any(|prefix| place.starts_with(prefix));
    let others: Vec<&String> = never.iter().filter(|place| !is_of_several(place)).collect();
    assert!(others.is_empty(), "described and never written: {others:?}");
}
