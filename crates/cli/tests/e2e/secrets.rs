//! A contract that sends a token from the environment: the service receives it, and Tare stores it nowhere.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tare_host::fixture::has_program;

const TOKEN: &str = "hunter2 is \"my\" token";
const CONTRACT: &str = r#"
format = "1.1"
name = "shop"
title = "a shop with a token"

[checks]
bad-input = "skip"
head = "skip"
not-found = "skip"
wrong-method = "skip"

[[request]]
name = "mine"
method = "GET"
path = "/mine?key={{env:SHOP_TOKEN}}"
headers = { Authorization = "Bearer {{env:SHOP_TOKEN}}" }
[request.response]
status = 200
body = "yours"
"#;
/// A server that prints the received token, and refuses any other.
const SERVER: &str = r#"
const server = require("http").createServer((request, response) => {
  console.log(request.url, request.headers.authorization);
  const right = request.headers.authorization === `Bearer ${process.env.RIGHT}`;
  const body = right ? "yours" : `not ${request.headers.authorization} at ${request.url}`;
  response.writeHead(right ? 200 : 401, { "Content-Type": "text/plain", "Content-Length": body.length });
  response.end(body);
});
server.listen(process.env.PORT, "127.0.0.1");
"#;

fn repository(right: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let service = toml_of(right);
    for (name, text) in [("shop.toml", CONTRACT), ("server.js", SERVER), ("tare.toml", &service)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn toml_of(right: &str) -> String {
    let right = serde_json::Value::from(right).to_string();
    format!(
        "format = \"1.0\"\ncontracts = [\"shop.toml\"]\n[service.shop]\ncommand = [\"node\", \"server.js\"]\nenv = {{ RIGHT = {right} }}\n"
    )
}

fn tare(folder: &Path, token: Option<&str>, words: &[&str]) -> Output {
    let mut tare = Command::new(env!("CARGO_BIN_EXE_tare"));
    tare.args(words).current_dir(folder).env_remove("SHOP_TOKEN").env("TARE_HOME", folder.join(".tare/home"));
    tare.env("TARE_TRUST", "1");
    if let Some(token) = token {
        tare.env("SHOP_TOKEN", token);
    }
    tare.output().unwrap()
}

/// Files below `folder`, except the one of the test, that contain the secret in any form.
fn leaks(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(leaks(&path));
        } else if path.file_name().unwrap() != "tare.toml" {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            found.extend(text.contains("hunter2").then(|| path.display().to_string()));
        }
    }
    found
}

#[test]
fn a_secret_is_sent_and_written_nowhere() {
    if !has_program("secrets", "node") {
        return;
    }
    let repository = repository(TOKEN);
    let folder = repository.path();
    let words = ["compare", "shop", "shop", "--contract", "shop", "--budget", "8s", "--out", "out"];
    let ended = tare(folder, Some(TOKEN), &words);
    assert!(matches!(ended.status.code(), Some(0 | 3 | 5 | 6)), "{ended:?}");
    let stdout = fs::read_dir(folder.join("out/services")).unwrap().count();
    assert!(stdout > 0, "the services of the run have folders");
    let verified = tare(folder, Some(TOKEN), &["verify", "shop"]);
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    assert_eq!(leaks(folder), Vec::<String>::new());
    let sent = fs::read_to_string(folder.join("shop.toml")).unwrap();
    assert!(sent.contains("{{env:SHOP_TOKEN}}"));
    for ended in [ended, verified] {
        let said =
            format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(!said.contains("hunter2"), "{said}");
    }
}

/// The service returns the token in a wrong answer, which a person would see.
#[test]
fn a_secret_in_a_wrong_answer_is_shown_by_its_name() {
    if !has_program("secrets", "node") {
        return;
    }
    let repository = repository("another");
    let folder = repository.path();
    let ended = tare(folder, Some(TOKEN), &["verify", "shop"]);
    let said =
        format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("{{env:SHOP_TOKEN}}") && !said.contains("hunter2"), "{said}");
    assert_eq!(leaks(folder), Vec::<String>::new());
    let missing = tare(folder, None, &["verify", "shop"]);
    let said =
        String::from_utf8_lossy(&missing.stdout).into_owned() + &String::from_utf8_lossy(&missing.stderr);
    assert!(said.contains("sends the variable SHOP_TOKEN, which is not set"), "{said}");
    assert_ne!(missing.status.code(), Some(0));
}
