use super::*;
use crate::run::{
    plan::Plan,
    record::{Ending, Record},
};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    name: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outer {
    items: Vec<Inner>,
    size: u64,
}

#[test]
fn unknown_fields_are_taken_out_where_they_are_unknown_only() {
    let value = json!({
        "items": [{"name": "a", "size": 1, "hue": 2}, {"name": "b", "hue": 3}],
        "size": 7, "name": "outer", "hue": 4,
    });
    let (found, unknown) = known::<Outer>(&value).unwrap();
    let inner = |name: &str| Inner { name: name.to_owned() };
    assert_eq!(found, Outer { items: vec![inner("a"), inner("b")], size: 7 });
    let counts: Vec<(&str, usize)> = unknown.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(counts, [("hue", 3), ("name", 1), ("size", 1)]);
    assert_eq!(known::<Outer>(&json!({"size": 1})).unwrap_err(), "missing field `items`");
}

#[test]
fn a_journal_is_read_as_far_as_it_is_known_and_each_reason_is_told_once() {
    let ended = json!({"kind": "ended", "reason": "blocks-max", "elapsed_ns": 5, "mood": "good"});
    let lines = [
        json!({"kind": "nap", "ns": 1}).to_string(),
        "{\"kind\":\"ended\",\"rea".to_owned(),
        json!({"kind": "nap", "ns": 2}).to_string(),
        ended.to_string(),
    ];
    let (records, damage) = read_records::<Record>((lines.join("\n") + "\n{").as_bytes());
    assert_eq!(records, [Record::Ended { reason: Ending::BlocksMax, elapsed_ns: 5 }]);
    insta::assert_snapshot!(damage.join("\n"));
}

#[test]
fn a_newer_major_format_has_a_head_and_no_kind() {
    let folder = tempfile::tempdir().unwrap();
    let write = |value: Value| fs::write(folder.path().join("run.json"), value.to_string()).unwrap();
    write(json!({"format": "2.0", "plan": {"title": "T"}}));
    let head = Head::read(folder.path()).unwrap();
    assert_eq!((head.kind(), head.text(&["plan", "title"])), (None, Some("T")));
    write(json!({"format": "1.7", "kind": "grid"}));
    assert_eq!(Head::read(folder.path()).unwrap().kind(), Some(Kind::Grid));
    write(json!({"format": "1.7", "kind": "orbit"}));
    assert_eq!(Head::read(folder.path()).unwrap().kind(), None);
    let error = read::<Plan>(folder.path(), &Head::read(folder.path()).unwrap()).unwrap_err().to_string();
    assert!(error.contains("unknown variant `orbit`"), "{error}");
}

#[test]
fn what_is_no_run_folder_is_called_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(why_none(folder.path()).as_deref(), Some("the folder is empty"));
    let file = folder.path().join("run.json");
    fs::write(&file, "{}").unwrap();
    assert!(why_none(&file).unwrap().starts_with("it is a file, and a run is a folder: name its folder, "));
    assert_eq!(why_none(folder.path()), None);
    assert_eq!(why_none(&folder.path().join("gone")).as_deref(), Some("there is no such folder"));
}
