//! `tare verify --wire`: the bytes that services send, side by side.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::Workspace;

#[test]
fn answers_stand_beside_each_other_and_wrong_ones_are_told() {
    let workspace =
        Workspace::new(&[("honest", "correct"), ("dated", "frozen-date"), ("wrong", "wrong-body")]);
    let ended = workspace
        .tare(&[
            "verify",
            "dated",
            "honest",
            "wrong",
            "raw-socket",
            "--wire",
            "--contract",
            "hello",
            "--seed",
            "1",
        ])
        .expect(2);
    assert_snapshot!(ended.stdout);
}

#[test]
fn json_has_every_header_with_its_value() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let verdicts =
        workspace.tare(&["verify", "honest", "--wire", "--contract", "rest", "--json"]).expect(0).json();
    let answers = verdicts[0]["answers"].as_array().unwrap();
    let names: Vec<&str> = answers.iter().map(|answer| answer["request"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "status", "label"]);
    let status = &answers[1];
    assert_eq!(
        (&status["status_line"], &status["framing"]),
        (&Value::from("HTTP/1.1 200 OK"), &Value::from("content-length"))
    );
    assert_eq!(
        status["headers"][1],
        serde_json::json!({"name": "Content-Length", "value": "2", "varies": false})
    );
    let size = |name: &str| status[name].as_u64().unwrap();
    assert_eq!((size("body_bytes"), size("total_bytes")), (2, size("head_bytes") + 2));
}
