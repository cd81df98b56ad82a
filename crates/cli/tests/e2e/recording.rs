//! `tare record`: from a server, an OpenAPI document and a HAR file; services honour the contract at once.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

use insta::assert_snapshot;

use crate::support::{Ended, PROGRAM, USUAL, free_port, start, within};

const OPENAPI: &str = "\
openapi: 3.0.3
info: { title: The shop, version: '1' }
paths:
  /shop/items/{id}:
    get:
      parameters: [ { name: id, in: path, required: true, schema: { type: integer } } ]
      responses:
        200:
          description: an item
          content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } }
  /shop/items:
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/New' } } } }
      responses:
        '200':
          description: it was made
          content: { application/json: { schema: { $ref: '#/components/schemas/New' } } }
  /shop/nothing:
    get: { responses: { '200': { description: it is not there } } }
components:
  schemas:
    New: { type: object, required: [ name ], properties: { name: { type: string, example: tea } } }
    Item:
      type: object
      required: [ id, name, at, tags ]
      properties:
        id: { type: integer }
        name: { type: string }
        at: { type: string, format: date-time }
        tags: { type: array, items: { type: string } }
";
const HAR: &str = r#"{"log": {"version": "1.2", "entries": [
    {"request": {"method": "GET", "url": "http://shop.example.com/test/status", "headers": [{"name": "Cookie", "value": "4711"}]},
     "response": {"status": 200, "content": {"text": "OK"}}},
    {"request": {"method": "GET", "url": "http://shop.example.com/shop/items/1", "headers": []},
     "response": {"status": 200, "content": {"text": "{\"id\":1,\"name\":\"tea\",\"read\":1,\"at\":\"2026-11-23T12:00:00Z\",\"tags\":[\"hot\"]}"}}},
    {"request": {"method": "GET", "url": "http://shop.example.com/shop/items/1", "headers": []},
     "response": {"status": 200, "content": {"text": "{\"id\":1,\"name\":\"tea\",\"read\":2,\"at\":\"2026-11-23T12:00:01Z\",\"tags\":[\"hot\"]}"}}},
    {"request": {"method": "POST", "url": "http://shop.example.com/shop/items", "headers": [],
                 "postData": {"mimeType": "application/json", "text": "{}"}},
     "response": {"status": 200, "content": {"text": "{\"text\":\"received\"}"}}},
    {"request": {"method": "GET", "url": "http://other.example.com/", "headers": []}, "response": {"status": 200, "content": {}}}
]}}"#;

/// A service that is already running, and a repository that has it.
struct Shop {
    service: Child,
    url: String,
    folder: tempfile::TempDir,
}

impl Shop {
    fn new() -> Shop {
        let folder = tempfile::tempdir().unwrap();
        let program = PROGRAM.display();
        let project = format!(
            "format = \"1.0\"\ncontracts = [\"shop.toml\"]\n[service.shop]\ncommand = [\"{program}\"]\n"
        );
        for (name, text) in [("tare.toml", project.as_str()), ("api.yaml", OPENAPI), ("shop.har", HAR)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let port = free_port();
        let mut command = Command::new(PROGRAM.as_path());
        let service = command.env("PORT", port.to_string()).stdin(Stdio::null()).spawn().unwrap();
        assert!(within(USUAL, || TcpStream::connect(("127.0.0.1", port)).is_ok()));
        Shop { service, url: format!("http://127.0.0.1:{port}"), folder }
    }

    fn tare(&self, words: &[&str]) -> Ended {
        start(self.folder.path(), words).end()
    }

    /// Records a contract and checks that a fresh process honours it. Returns the contract and the messages.
    fn recorded(&self, words: &[&str]) -> (String, String) {
        let recorded = self.tare(&[&["record", "--out", "shop.toml"], words].concat()).expect(0);
        let proof = self.tare(&["verify", "shop", "--all"]).expect(0);
        let proven =
            proof.stdout.lines().find(|line| line.starts_with("  pass  response")).unwrap_or_default();
        let text = fs::read_to_string(self.folder.path().join("shop.toml")).unwrap();
        assert_eq!(proven.split(", ").count(), text.matches("[[request]]").count(), "{proof}");
        (without_checks(&text.replace(&self.url, "URL")), recorded.stderr.replace(&self.url, "URL"))
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _it_may_have_ended = self.service.kill();
        let _ = self.service.wait();
    }
}

/// The text without its checks, which are the same in each.
fn without_checks(text: &str) -> String {
    let (head, rest) = text.split_once("\n[checks]\n").unwrap();
    let requests = rest.find("[[request]]").unwrap();
    format!("{head}\n{}", &rest[requests..])
}

#[test]
fn what_a_server_answers_is_honoured_at_once() {
    let shop = Shop::new();
    let (contract, said) = shop.recorded(&[&format!("{}/shop/items/1", shop.url)]);
    assert_snapshot!(format!("{contract}---\n{said}"));
    let both =
        ["--get", "/test/status", "--get", "/none", "--post", "/shop/items", "--data", "{\"name\":\"tea\"}"];
    let (contract, said) = shop.recorded(&[&[shop.url.as_str()][..], &both].concat());
    assert_eq!(contract.matches("[[request]]").count(), 2, "{contract}");
    assert!(said.contains("not recorded: GET /none is answered with status 404"), "{said}");
}

#[test]
fn placeholders_vary_what_is_asked_for_and_braces_may_stand_for_themselves() {
    let shop = Shop::new();
    let varied = ["--post", "/shop/items", "--data", "{\"name\":\"{{number:1-9}}\"}"];
    let (contract, said) = shop.recorded(&[&[shop.url.as_str()][..], &varied].concat());
    assert!(contract.contains("{\"name\":\"{{number:1-9}}\"}"), "{contract}");
    assert!(said.starts_with("POST /shop/items: every answer must have status 200;"), "{said}");
    let literal = [&["--no-placeholders"][..], &varied].concat();
    let (contract, said) = shop.recorded(&[&[shop.url.as_str()][..], &literal].concat());
    assert!(contract.contains("{\"name\":\"{{braces}}number:1-9}}\"}"), "{contract}");
    assert!(!said.contains("not recorded"), "{said}");
    let unknown = shop.tare(&["record", &shop.url, "--get", "/{{colour}}"]).expect(1);
    assert!(unknown.stderr.contains("--no-placeholders sends \"{{\" as it is"), "{unknown}");
}

#[test]
fn what_a_document_says_is_honoured_at_once() {
    let shop = Shop::new();
    // A document does not know that the service lacks one of its paths.
    let ended = shop.tare(&["record", "api.yaml", "--out", "shop.toml", "--writes"]).expect(0);
    assert_snapshot!(ended.stderr);
    let told = shop.tare(&["verify", "shop"]).expect(2);
    assert!(told.stdout.contains("GET /shop/nothing"), "{told}");
    let (contract, said) = shop.recorded(&["api.yaml", "--server", &shop.url, "--writes"]);
    assert!(said.contains("not recorded: GET /shop/nothing is answered with status 404"), "{said}");
    assert!(
        contract.contains("{{any:timestamp}}") && contract.contains("\nmethod = \"POST\"\n"),
        "{contract}"
    );
    fs::write(shop.folder.path().join("api.yaml"), OPENAPI.replace("/shop/nothing:", "/test/status:"))
        .unwrap();
    let (contract, said) = shop.recorded(&["api.yaml"]);
    assert!(contract.contains("\"id\":\"{{any:int}}\""), "{contract}");
    assert!(said.contains("not recorded: POST /shop/items: it may change data"), "{said}");
}

/// A server with an item and its own OpenAPI document.
fn documented_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let document = r#"{"openapi": "3.1.0", "paths": {"/items/{id}": {"get": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer", "example": 7}}],
        "responses": {"200": {"description": "an item"}}}}}}"#;
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut head = [0; 2048];
            let read = connection.read(&mut head).unwrap();
            let body = match String::from_utf8_lossy(&head[..read]).split(' ').nth(1) {
                Some("/openapi.json") => document,
                Some("/items/7") => r#"{"id":7}"#,
                _ => "no",
            };
            let status = if body == "no" { "404 Not Found" } else { "200 OK" };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
            let answer = format!("{head}Content-Type: application/json\r\n\r\n{body}");
            connection.write_all(answer.as_bytes()).unwrap();
        }
    });
    url
}

#[test]
fn a_server_that_has_a_document_is_asked_what_it_says() {
    let url = documented_server();
    let folder = tempfile::tempdir().unwrap();
    let recorded = start(folder.path(), &["record", &url]).end().expect(0);
    assert!(recorded.stderr.contains("the OpenAPI document at /openapi.json says what to ask"), "{recorded}");
    assert!(recorded.stdout.contains("path = \"/items/7\""), "{recorded}");
    let root = start(folder.path(), &["record", &url, "--get", "/items/7"]).end().expect(0);
    assert!(!root.stderr.contains("OpenAPI"), "what is asked for is asked alone: {root}");
}

#[test]
fn what_a_browser_recorded_is_honoured_at_once() {
    let shop = Shop::new();
    let (contract, said) = shop.recorded(&["shop.har"]);
    assert_snapshot!(format!("{contract}---\n{said}"));
    assert!(!format!("{contract}{said}").contains("4711"), "a cookie is secret");
    let (contract, _) = shop.recorded(&["shop.har", "--server", &shop.url, "--writes"]);
    assert!(contract.contains("\nmethod = \"POST\"\n"), "{contract}");
}

/// The text in UTF-16, as Windows programs save it.
fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{}", text.replace('\n', "\r\n")).encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn files_are_read_however_they_were_saved() {
    let shop = Shop::new();
    let path = |name: &str| shop.folder.path().join(name);
    let plain = shop.tare(&["record", "api.yaml", "--out", "shop.toml"]).expect(0).stderr.clone();
    let contract = fs::read_to_string(path("shop.toml")).unwrap();
    fs::write(path("api.yaml"), utf16(OPENAPI)).unwrap();
    assert_eq!(shop.tare(&["record", "api.yaml", "--out", "shop.toml"]).expect(0).stderr, plain);
    assert_eq!(fs::read_to_string(path("shop.toml")).unwrap(), contract);
    fs::write(path("shop.har"), format!("\u{feff}{}", HAR.replace('\n', "\r\n"))).unwrap();
    shop.recorded(&["shop.har"]);
    for name in ["tare.toml", "shop.toml"] {
        let text = fs::read_to_string(path(name)).unwrap();
        fs::write(path(name), utf16(&text)).unwrap();
    }
    shop.tare(&["verify", "shop"]).expect(0);
    fs::write(path("urls.txt"), utf16(&format!("# one\n{}/shop/items/1\n", shop.url))).unwrap();
    let loaded =
        shop.tare(&["load", "--urls", "urls.txt", "-n", "4", "-c", "1", "--max-interference", "100%"]);
    assert!(matches!(loaded.code(), Some(0 | 4)), "{loaded}");
    fs::write(path("tare.toml"), b"format = \"1.0\"\n# \xe9\n").unwrap();
    let told = shop.tare(&["verify", "shop"]).expect(1).stderr.clone();
    assert!(told.contains("tare.toml is not UTF-8 in line 2: save it as UTF-8"), "{told}");
}

#[test]
fn what_cannot_be_recorded_is_said_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.yaml"), "swagger: '2.0'\n").unwrap();
    fs::write(folder.path().join("empty.yaml"), "openapi: 3.0.0\n").unwrap();
    let error = |words: &[&str]| {
        let ended = start(folder.path(), &[&["record", "--out", "a.toml"], words].concat()).end().expect(1);
        assert!(!Path::new(folder.path()).join("a.toml").exists());
        ended.stderr.clone()
    };
    let port = free_port().to_string();
    let told = [
        error(&["old.yaml"]),
        error(&["empty.yaml"]),
        error(&["nothing.har"]),
        error(&["http://192.0.2.1/"]),
        error(&["empty.yaml", "--name", "b"]),
        error(&[&format!("http://127.0.0.1:{port}/")]).replace(&port, "PORT"),
    ];
    assert_snapshot!(told.concat());
}

#[test]
fn an_upload_in_chunks_is_verified_and_loaded() {
    let shop = Shop::new();
    let contract = r#"format = "1.1"
name = "shop"
title = "an upload"
[[request]]
name = "upload"
method = "POST"
path = "/shop/items"
body = '{"name":"{{bytes:40000}}"}'
chunked = true
[request.response]
status = 200
json = '{"name":"{{any:string}}","text":"received"}'
"#;
    fs::write(shop.folder.path().join("shop.toml"), contract).unwrap();
    let requests = ["--only", "upload", "-c", "2", "-n", "200", "--max-interference", "100%"];
    let loaded = shop.tare(&[&["load", "--contract", "shop", &shop.url][..], &requests].concat());
    assert!(matches!(loaded.code(), Some(0 | 4)) && loaded.stdout.contains("200 requests"), "{loaded}");
    let checks = "[checks]\nnot-found = \"skip\"\nwrong-method = \"skip\"\n";
    fs::write(shop.folder.path().join("shop.toml"), format!("{contract}{checks}")).unwrap();
    shop.tare(&["verify", "shop"]).expect(0);
}
