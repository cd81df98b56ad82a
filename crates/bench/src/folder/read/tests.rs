use super::*;
use crate::record::{EndedRun, Ending};
use serde_json::json;

#[test]
fn a_journal_is_read_as_far_as_it_is_known_and_each_reason_is_given_once() {
    let ended = json!({"ended": {"reason": "blocks-max", "elapsed_ns": 5, "mood": "good"}});
    let lines = [
        json!({"nap": {"ns": 1}}).to_string(),
        "{\"ended\":{\"rea".to_owned(),
        json!({"nap": {"ns": 2}}).to_string(),
        ended.to_string(),
        json!({"sample": {"row": 3, "host": {"joules": 7}}}).to_string(),
        json!({"sample": {"row": 4}}).to_string(),
        json!({"block": {"order": [0, 9]}}).to_string(),
    ];
    let (records, damage) = records_within((lines.join("\n") + "\n{").as_bytes(), (4, 1)).unwrap();
    assert_eq!(records[0], Record::Ended(EndedRun { reason: Ending::BlocksMax, elapsed_ns: 5 }));
    assert!(matches!(&records[1], Record::Sample(sample) if sample.row == 3));
    insta::assert_snapshot!(damage.join("\n"));
}

#[test]
fn another_major_format_has_a_head_and_no_order() {
    let folder = tempfile::tempdir().unwrap();
    let write = |value: Value| fs::write(folder.path().join("run.json"), value.to_string()).unwrap();
    write(json!({"format": "3.0", "plan": {"title": "T", "order": "sequential"}}));
    let head = RunHead::read(folder.path()).unwrap();
    assert_eq!((head.order(), head.text(&["plan", "title"])), (None, Some("T")));
    write(json!({"format": "2.7", "plan": {"order": "sequential"}}));
    assert_eq!(RunHead::read(folder.path()).unwrap().order(), Some(Order::Sequential));
    write(json!({"format": "2.7", "plan": {"order": "orbital"}}));
    assert_eq!(RunHead::read(folder.path()).unwrap().order(), None);
}

#[test]
fn what_a_newer_tare_wrote_is_read_and_what_is_new_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut header = serde_json::to_value(crate::fixture::compared()).unwrap();
    header["format"] = json!("2.9");
    header["plan"]["colour"] = json!("red");
    fs::write(folder.path().join("run.json"), header.to_string()).unwrap();
    fs::write(journal_path(folder.path()), "").unwrap();
    insta::assert_snapshot!(read(folder.path()).unwrap().damage.join("\n"));
}

#[test]
fn folders_that_are_no_runs_are_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let error = || read(folder.path()).unwrap_err().to_string();
    assert!(error().contains("not a run folder"));
    let formats = ["9.0", "0.10", "one", "2.0"].map(|format| {
        fs::write(folder.path().join("run.json"), json!({"format": format}).to_string()).unwrap();
        error().replace(&folder.path().display().to_string(), "FOLDER")
    });
    insta::assert_snapshot!(formats.join("\n"));
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

#[test]
fn a_line_of_any_length_is_left_out_and_the_next_one_is_read() {
    let [before, after] = [0, 1].map(|block| json!({"block": {"block": block}}).to_string() + "\n");
    let long = std::io::repeat(b'a').take(3 * LINE_BYTES_MAX).chain(&b"\n"[..]);
    let journal = before.as_bytes().chain(long).chain(after.as_bytes());
    let (records, damage) = records_within(BufReader::new(journal), (1, 1)).unwrap();
    assert_eq!((records.len(), damage), (2, vec![format!("journal.ndjson: line 2: left out: {TOO_LONG}")]));
}

#[test]
fn what_a_terminal_would_obey_comes_out_of_no_run_folder() {
    let failed = json!({"failed": {"block": 0, "row": 0, "reason": "\u{1b}[2J\u{202e}x"}}).to_string() + "\n";
    let (records, damage) = records_within(failed.as_bytes(), (1, 1)).unwrap();
    assert_eq!(damage, [""; 0]);
    let Record::Failed(failed) = &records[0] else { panic!("{records:?}") };
    assert_eq!(failed.reason, "\\u{1b}[2J\\u{202e}x");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = |name: &str| {
        let (path, kind) = (folder.path().join(name), rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, rustix::fs::Mode::RWXU, 0).unwrap();
        path
    };
    let head = fifo("run.json");
    let refused = read(folder.path()).unwrap_err().to_string();
    assert!(refused.ends_with("it is no regular file"), "{refused}");
    fs::remove_file(&head).unwrap();
    fs::write(&head, serde_json::to_vec(&crate::fixture::compared()).unwrap()).unwrap();
    fifo("journal.ndjson");
    let refused = read(folder.path()).unwrap_err().to_string();
    assert!(refused.ends_with("it is no regular file"), "{refused}");
}

#[test]
fn a_line_that_repeats_another_counts_once() {
    let folder = crate::fixture::compared();
    let once = |records: &[Record]| {
        records.iter().map(|r| serde_json::to_string(r).unwrap() + "\n").collect::<String>()
    };
    let kept: Vec<Record> = [
        json!({"pilot": {"row": 1}}),
        json!({"block": {"order": [0, 1]}}),
        json!({"started": {"row": 1}}),
        json!({"sample": {"row": 1, "round": 2}}),
        json!({"sample": {"row": 1, "round": 3}}),
        json!({"stopped": {"row": 1}}),
        json!({"failed": {"row": 1, "reason": "it fell"}}),
        json!({"ended": {"reason": "interrupted", "elapsed_ns": 5}}),
        json!({"block": {"block": 1, "order": [0, 1]}}),
        json!({"ended": {"reason": "decided", "elapsed_ns": 9}}),
    ]
    .map(|line| serde_json::from_value(line).unwrap())
    .to_vec();
    let rows = (folder.plan.rows.len(), folder.plan.points.len());
    let lines = once(&kept);
    assert_eq!(records_within(lines.as_bytes(), rows).unwrap(), (kept.clone(), Vec::new()));
    let (records, damage) = records_within(lines.repeat(3).as_bytes(), rows).unwrap();
    // After the first copy only its two ends are new, and they follow an end.
    assert_eq!(records, kept);
    assert_eq!(damage, [format!("journal.ndjson: lines 11, 12, 13 and 13 more: left out: {REPEATED}")]);
}
