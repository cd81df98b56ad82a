//! `tare init`: a repository that Tare has never seen, and what it has afterwards.

use std::{fs, path::Path};

use crate::support::{Ended, PROGRAM, start};

fn tare(folder: &Path, words: &[&str]) -> Ended {
    start(folder, words).end()
}

/// A repository whose service is started as its authors wrote it down.
fn repository(mode: &str) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("shop").tempdir().unwrap();
    let procfile = format!("web: FAKE={mode} {}\n", PROGRAM.display());
    fs::write(folder.path().join("Procfile"), procfile).unwrap();
    folder
}

#[test]
fn what_does_not_work_is_said_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let ended = tare(folder.path(), &["init"]).expect(1);
    assert!(ended.stderr.contains("nothing here says how a service is started"), "{ended}");
    let ended = tare(folder.path(), &["init", "--command", "no-such-program serve"]).expect(1);
    assert!(ended.stderr.contains("trying `no-such-program serve`\nthat does not work: "), "{ended}");
    assert!(ended.stderr.contains("the service did not answer in any of these ways"), "{ended}");
    let repository = repository("correct");
    let ended = tare(repository.path(), &["init", "--get", "/nowhere"]).expect(1);
    assert!(ended.stderr.contains("give --get a path that it serves"), "{ended}");
    // Of a document only what the service has is asked for.
    let document = "openapi: 3.0.0\ninfo: {title: a, version: '1'}\npaths:\n  /nowhere: {get: {responses: {'200': {description: a}}}}\n  \
                    /: {get: {responses: {'200': {description: a}}}}\n";
    fs::write(repository.path().join("openapi.yaml"), document).unwrap();
    let ended = tare(repository.path(), &["init", "--name", "shop", "--no-compare"]).expect(0);
    assert!(
        ended.stderr.contains("left out: ") && ended.stderr.contains("GET /nowhere is answered"),
        "{ended}"
    );
    fs::remove_file(repository.path().join("tare.toml")).unwrap();
    let ended = tare(repository.path(), &["init", "--dry-run"]).expect(0);
    assert!(ended.stdout.starts_with("the process \"web\" (Procfile)\n    FAKE=correct "), "{ended}");
    assert!(!repository.path().join("tare.toml").exists() && !folder.path().join("tare.toml").exists());
}

/// A service that has no `/`, and an OpenAPI document of itself.
const SELF_DESCRIBED: &str = r#"
const document = { openapi: "3.0.0", info: { title: "shop", version: "1" }, paths: {
  "/items/{id}": { get: { parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" }, example: 7 }],
    responses: { 200: { description: "one" } } } } } };
require("http").createServer((request, response) => {
  const found = { "/openapi.json": document, "/items/7": { id: 7 } }[request.url];
  response.writeHead(found ? 200 : 404, { "Content-Type": "application/json" });
  response.end(JSON.stringify(found ?? {}));
}).listen(process.env.PORT, "127.0.0.1");
"#;

#[test]
fn a_service_that_describes_itself_is_asked_what_to_ask() {
    if !tare_host::fixture::has_program("a service that describes itself", "node") {
        return;
    }
    let folder = tempfile::Builder::new().prefix("shop").tempdir().unwrap();
    fs::write(folder.path().join("server.js"), SELF_DESCRIBED).unwrap();
    fs::write(folder.path().join("Procfile"), "web: node server.js\n").unwrap();
    let ended = tare(folder.path(), &["init", "--name", "shop", "--no-compare"]).expect(0);
    assert!(ended.stderr.contains("the service's OpenAPI document at /openapi.json says"), "{ended}");
    let contract = fs::read_to_string(folder.path().join("tare/shop.toml")).unwrap();
    assert!(contract.contains("\"/items/7\""), "{contract}");
}
