//! Whether the records of a run still give the report that was kept when it ended: another Tare may compute otherwise.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::{Map, Value};

/// More of a value than this names no difference.
const SHOWN_MAX: usize = 60;

/// Where a run keeps its report.
pub fn kept_path(run: &Path) -> PathBuf {
    run.join("report.json")
}

/// A report as it is kept, and printed for programs.
pub fn json(report: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}

/// The first difference between the kept report and this one, which was computed now; absent if they are the same to the
/// last digit.
pub fn difference(run: &Path, report: &impl Serialize) -> io::Result<Option<String>> {
    let (kept, now) = (fs::read_to_string(kept_path(run))?, json(report)?);
    if kept == now {
        return Ok(None);
    }
    Ok(Some(match (serde_json::from_str(&kept), serde_json::from_str(&now)) {
        (Ok(kept), Ok(now)) => first("", &kept, &now).unwrap_or_else(|| "its layout differs".to_owned()),
        (Err(error), _) | (_, Err(error)) => error.to_string(),
    }))
}

/// The first place where two values differ, and both of them.
fn first(place: &str, kept: &Value, now: &Value) -> Option<String> {
    match (kept, now) {
        (Value::Object(kept), Value::Object(now)) => {
            let mut keys: Vec<&String> = kept.keys().collect();
            keys.extend(now.keys().filter(|key| !kept.contains_key(*key)));
            let value = |of: &Map<String, Value>, key: &String| of.get(key).cloned().unwrap_or(Value::Null);
            keys.into_iter()
                .find_map(|key| first(&format!("{place}/{key}"), &value(kept, key), &value(now, key)))
        }
        (Value::Array(kept), Value::Array(now)) if kept.len() == now.len() => {
            let pairs = kept.iter().zip(now).enumerate();
            pairs.into_iter().find_map(|(index, (kept, now))| first(&format!("{place}/{index}"), kept, now))
        }
        (kept, now) if kept == now => None,
        (kept, now) => Some(format!("{place} was {} and is {}", shown(kept), shown(now))),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_place() {
        let kept = json!({"rows": [{"ratio": 1.5, "n": 12}, {"ratio": null}]});
        assert_eq!(first("", &kept, &kept), None);
        let mut now = kept.clone();
        now["rows"][0]["ratio"] = json!(1.500_000_1);
        assert_eq!(first("", &kept, &now).unwrap(), "/rows/0/ratio was 1.5 and is 1.5000001");
        let longer = json!({"rows": kept["rows"], "tiers": 3});
        assert_eq!(first("", &kept, &longer).unwrap(), "/tiers was null and is 3");
        assert_eq!(first("", &json!([1]), &json!([1, 2])).unwrap(), " was [1] and is [1,2]");
        let long = first("", &json!(null), &json!("\u{e9}".repeat(100))).unwrap();
        assert_eq!(long, format!(" was null and is \"{}...", "\u{e9}".repeat(59)));
    }

    #[test]
    fn a_report_is_compared_with_the_one_that_was_kept() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(difference(run.path(), &json!(1)).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(kept_path(run.path()), super::json(&json!({"a": 1})).unwrap()).unwrap();
        assert_eq!(difference(run.path(), &json!({"a": 1})).unwrap(), None);
        assert_eq!(difference(run.path(), &json!({"a": 2})).unwrap().unwrap(), "/a was 1 and is 2");
        fs::write(kept_path(run.path()), "{\"a\": 1}").unwrap();
        assert_eq!(difference(run.path(), &json!({"a": 1})).unwrap().unwrap(), "its layout differs");
        fs::write(kept_path(run.path()), "{").unwrap();
        assert!(difference(run.path(), &json!(1)).unwrap().unwrap().starts_with("EOF"));
    }
}
