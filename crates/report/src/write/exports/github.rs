//! The two files of the GitHub Action "github-action-benchmark", each an array of results: one for measures
//! where larger is better, the other where smaller is.

use serde::Serialize;
use tare_stats::Better;

use super::short;
use crate::exports::{ExportSubject, Exported, Level};

/// A result with the action's field names.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    /// Text beside the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// The results of measures with this direction.
#[must_use]
pub fn github(exported: &Exported, better: Better) -> String {
    let entries = exported.subjects.iter().flat_map(|subject| {
        let levels = subject.levels.iter().filter(|level| level.measure.better == better);
        levels.map(move |level| entry(exported, subject, level))
    });
    let entries: Vec<Entry> = entries.collect();
    serde_json::to_string_pretty(&entries).expect("its keys are text") + "\n"
}

fn entry(exported: &Exported, subject: &ExportSubject, level: &Level) -> Entry {
    let range = level.estimate.interval().map(|(low, high)| format!("{} .. {}", short(low), short(high)));
    let version = subject.version.iter().map(|version| format!("version {version}"));
    let n = (level.estimate.n > 0).then(|| format!("n = {}", level.estimate.n));
    let extra = version.chain(n).chain([format!("run {}", exported.run)]);
    Entry {
        name: format!("{}: {}", subject.name(), level.measure.title),
        unit: level.measure.quantity.unit(),
        value: level.estimate.value,
        range,
        extra: extra.collect::<Vec<_>>().join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use crate::write::exports::fixture::{bad, exported, hostile};

    #[test]
    fn more_is_better() {
        insta::assert_snapshot!(github(&exported(), Better::Higher));
    }

    #[test]
    fn less_is_better() {
        insta::assert_snapshot!(github(&exported(), Better::Lower));
    }

    /// The action's type `BenchmarkResult` as a schema.
    fn schema() -> Value {
        let string = json!({ "type": "string" });
        let entry = json!({
            "type": "object",
            "properties": {
                "name": string, "value": { "type": "number" }, "unit": string, "range": string, "extra": string
            },
            "required": ["name", "value", "unit"],
            "additionalProperties": false,
        });
        json!({ "type": "array", "items": entry })
    }

    #[test]
    fn both_are_what_the_action_reads_and_each_level_is_in_one() {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        for exported in [exported(), hostile(), bad()] {
            let files = [Better::Higher, Better::Lower].map(|better| github(&exported, better));
            let files = files.map(|file| serde_json::from_str::<Value>(&file).unwrap());
            assert!(files.iter().all(|file| validator.is_valid(file)), "{files:?}");
            let entries = files.iter().flat_map(|file| file.as_array().unwrap());
            let names: BTreeSet<&str> = entries.map(|entry| entry["name"].as_str().unwrap()).collect();
            let levels: usize = exported.subjects.iter().map(|subject| subject.levels.len()).sum();
            assert_eq!(names.len(), levels);
        }
    }
}
