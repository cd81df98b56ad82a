//! `tare init`: an unknown repository, and its contents afterwards.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::{Ended, PROGRAM, checkout, start};

fn tare(folder: &Path, words: &[&str]) -> Ended {
    start(folder, words).end()
}

/// A repository that documents how to start its service.
fn repository(mode: &str) -> (tempfile::TempDir, PathBuf) {
    let (folder, root) = checkout("shop");
    let procfile = format!("web: FAKE={mode} {}\n", PROGRAM.display());
    fs::write(root.join("Procfile"), procfile).unwrap();
    (folder, root)
}

#[test]
fn what_does_not_work_is_said_and_nothing_is_written() {
    let (_empty, empty) = checkout("empty");
    let ended = tare(&empty, &["init"]).expect(1);
    assert!(ended.stderr.contains("nothing here says how a service is started"), "{ended}");
    let ended = tare(&empty, &["init", "--command", "no-such-program serve"]).expect(1);
    assert!(ended.stderr.contains("trying `no-such-program serve`\nthat does not work: "), "{ended}");
    assert!(ended.stderr.contains("the service did not answer in any of these ways"), "{ended}");
    let (_folder, repository) = repository("correct");
    let ended = tare(&repository, &["init", "--get", "/nowhere"]).expect(1);
    assert!(ended.stderr.contains("give --get a path that it serves"), "{ended}");
    // Only those paths of a document that the service has are kept.
    let document = "openapi: 3.0.0\ninfo: {title: a, version: '1'}\npaths:\n  /nowhere: {get: {responses: {'200': {description: a}}}}\n  \
                    /: {get: {responses: {'200': {description: a}}}}\n";
    fs::write(repository.join("openapi.yaml"), document).unwrap();
    let ended = tare(&repository, &["init", "--name", "shop", "--no-compare"]).expect(0);
    assert!(
        ended.stderr.contains("left out: ") && ended.stderr.contains("GET /nowhere is answered"),
        "{ended}"
    );
    fs::remove_file(repository.join("tare.toml")).unwrap();
    let ended = tare(&repository, &["init", "--dry-run"]).expect(0);
    assert!(ended.stdout.starts_with("the process \"web\" (Procfile)\n    FAKE=correct "), "{ended}");
    assert!(!repository.join("tare.toml").exists() && !empty.join("tare.toml").exists());
}

/// A service without `/`, but with its own OpenAPI document.
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
    let (_folder, root) = checkout("shop");
    fs::write(root.join("server.js"), SELF_DESCRIBED).unwrap();
    fs::write(root.join("Procfile"), "web: node server.js\n").unwrap();
    let ended = tare(&root, &["init", "--name", "shop", "--no-compare"]).expect(0);
    assert!(ended.stderr.contains("the service's OpenAPI document at /openapi.json says"), "{ended}");
    let contract = fs::read_to_string(root.join("tare/shop.toml")).unwrap();
    assert!(contract.contains("\"/items/7\""), "{contract}");
}
