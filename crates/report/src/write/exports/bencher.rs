//! Bencher Metric Format: JSON of benchmarks with their measures. A measure includes the bounds of its
//! interval, if it has one.

use serde_json::{Map, Value, json};

use crate::exports::{Exported, Level};

/// All subjects as benchmarks.
#[must_use]
pub fn bencher(exported: &Exported) -> String {
    let benchmarks = exported.subjects.iter().map(|subject| {
        let measures = subject.levels.iter().map(|level| (level.measure.name.to_owned(), metric(level)));
        (subject.name(), Value::Object(measures.collect()))
    });
    let benchmarks: Map<String, Value> = benchmarks.collect();
    serde_json::to_string_pretty(&benchmarks).expect("its keys are text") + "\n"
}

fn metric(level: &Level) -> Value {
    let mut metric = json!({ "value": level.estimate.value });
    for (key, end) in [("lower_value", level.estimate.low), ("upper_value", level.estimate.high)] {
        if let Some(end) = end {
            metric[key] = json!(end);
        }
    }
    metric
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::exports::fixture::{bad, exported, hostile};

    /// The schema from <https://bencher.dev/bmf.json>.
    fn schema() -> Value {
        let number = json!({ "type": "number" });
        let metric = json!({
            "type": "object",
            "properties": { "value": number, "lower_value": number, "upper_value": number },
            "required": ["value"],
            "additionalProperties": false,
        });
        let measures = json!({ "type": "object", "patternProperties": { ".+": metric } });
        json!({ "type": "object", "patternProperties": { ".+": measures } })
    }

    #[test]
    fn a_benchmark_for_each_service_and_load() {
        insta::assert_snapshot!(bencher(&exported()));
    }

    #[test]
    fn it_is_what_the_schema_of_bencher_asks_for() {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        for exported in [exported(), hostile(), bad()] {
            let json: Value = serde_json::from_str(&bencher(&exported)).unwrap();
            assert_eq!(json.as_object().unwrap().len(), exported.subjects.len(), "a name is one subject's");
            let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
            assert_eq!(errors, [] as [&str; 0]);
        }
    }
}
