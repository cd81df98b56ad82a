//! Checkouts: small ones of fake services for one test, and the real one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{Ended, Fake, Running, checkout, fake, start};

const MANIFEST: &str = r#"format    = "1.0"
name      = "NAME"
language  = "fake"
framework = "none"
url       = "https://example.org"
licence   = "MIT"
contracts = ["hello", "rest", "strings", "api", "bare"]
style     = "framework"
[version]
command = ["PROGRAM", "--version"]
[run]
command       = ["PROGRAM"]
ready-timeout = "10s"
env           = { FAKE = "MODE", ROW = "NAME" }
arguments     = { bare = ["--bare"] }
"#;

/// One connection: the generator and the service alternate, so neither is busy all the time. No row is
/// rejected as generator-bound, even in builds without optimisation.
const EXPERIMENT: &str = r#"format   = "1.0"
title    = "Tiny"
question = "Does it run?"
contract = "hello"
reference    = "raw-socket"
twin     = false
services = [SERVICES]
[load]
connections = 1
threads     = 1
[service]
threads = 1
[schedule]
budget           = "0s"
slice            = "30ms"
slices-per-block = 2
warm-up          = "50ms"
blocks-min       = BLOCKS
blocks-max       = BLOCKS
"#;

const PROJECT: &str = "format = \"1.0\"\ncatalogue = \"services\"\ncontracts = [\"contracts\"]\n";

/// The root of this repository.
pub fn real_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The manifest of a fake service.
pub fn manifest(name: &str, mode: &str) -> String {
    let program = fake::PROGRAM.to_str().unwrap();
    MANIFEST.replace("NAME", name).replace("MODE", mode).replace("PROGRAM", program)
}

/// The manifest of a service of real work with this cheat.
pub fn cheating(cheat: &str, contracts: &[&str]) -> String {
    let program = fake::CHEATING.to_str().unwrap();
    let manifest = MANIFEST.replace("NAME", cheat).replace("FAKE = \"MODE\"", &format!("CHEAT = {cheat:?}"));
    let declared = format!("contracts = {contracts:?}");
    let of_fake = r#"contracts = ["hello", "rest", "strings", "api", "bare"]"#;
    let without_bare = manifest.replace("arguments     = { bare = [\"--bare\"] }\n", "");
    without_bare.replace(of_fake, &declared).replace("PROGRAM", program)
}

pub fn experiment(services: &[&str], blocks: usize) -> String {
    let quoted: Vec<String> = services.iter().map(|name| format!("{name:?}")).collect();
    EXPERIMENT.replace("SERVICES", &quoted.join(", ")).replace("BLOCKS", &blocks.to_string())
}

/// A checkout of fake services with the real contracts.
pub struct Workspace {
    root: PathBuf,
    _folder: TempDir,
}

impl Workspace {
    /// With services of these names and modes.
    pub fn new(services: &[(&str, &str)]) -> Workspace {
        let (folder, root) = checkout("checkout");
        let workspace = Workspace { root, _folder: folder };
        for entry in fs::read_dir(real_root().join("contracts")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            workspace.write(&format!("contracts/{name}"), &fs::read_to_string(&path).unwrap());
        }
        fs::create_dir(workspace.root().join("services")).unwrap();
        workspace.write("tare.toml", PROJECT);
        for (name, mode) in services {
            workspace.service(name, &manifest(name, mode));
        }
        workspace
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, and the folders it needs.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds a service, or replaces it.
    pub fn service(&self, name: &str, manifest: &str) {
        self.write(&format!("services/fake/{name}/service.toml"), manifest);
    }

    pub fn start(&self, words: &[&str]) -> Running {
        start(self.root(), words)
    }

    pub fn tare(&self, words: &[&str]) -> Ended {
        self.start(words).end()
    }

    /// Runs `tare load` in it against a service, with these words.
    pub fn load(&self, fake: &Fake, words: &str) -> Ended {
        let words: Vec<&str> = ["load", &fake.url].into_iter().chain(words.split(' ')).collect();
        self.tare(&words)
    }

    /// The folder of its only run.
    pub fn run(&self) -> PathBuf {
        let runs: Vec<_> = fs::read_dir(self.root().join(".tare/runs")).unwrap().collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].as_ref().unwrap().path()
    }

    /// Replaces the checkout's path by ROOT.
    pub fn redact(&self, text: &str) -> String {
        text.replace(self.root().to_str().unwrap(), "ROOT")
    }
}

/// A document of a run folder without its checksum, for a test that changes it.
pub fn unsealed(path: &Path) -> String {
    let sealed = fs::read(path).unwrap();
    String::from_utf8(tare_host::seal::DOCUMENT.unseal(&sealed).unwrap().into_owned()).unwrap()
}

/// The complete records of a run so far, each with its "kind" and row "label"; empty without a run.
pub fn journal(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("journal.ndjson")).unwrap_or_default();
    let head = fs::read_to_string(run.join("run.json")).unwrap_or_default();
    let head: Value = serde_json::from_str(&head).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| record(&head["plan"]["rows"], line)).collect()
}

fn record(rows: &Value, line: &str) -> Value {
    let line: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
    let (kind, mut record) = line.into_iter().next().unwrap();
    if let Some(row) = record["row"].as_u64() {
        let row = &rows[row as usize];
        record["label"] = row.get("planned").unwrap_or(row)["label"].clone();
    }
    record["kind"] = kind.into();
    record
}

/// Checks that sent = answered + failed + in flight.
#[track_caller]
pub fn every_request_is_accounted_for(records: &[Value], count: usize) {
    let slices: Vec<&Value> = records.iter().filter(|record| record["kind"] == "sample").collect();
    assert_eq!(slices.len(), count);
    for slice in slices {
        let slice = &slice["load"];
        let count = |name: &str| slice[name].as_u64().unwrap();
        let failed: u64 = slice["failed"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!(count("sent"), count("answered") + failed + count("in_flight"), "{slice}");
        assert!(count("answered") > 0, "{slice}");
    }
}

/// The rows of a table of a document, by column keys.
#[track_caller]
pub fn rows(document: &Value, section: &str) -> Vec<Value> {
    let sections = document["sections"].as_array().unwrap_or_else(|| panic!("no document: {document}"));
    let found = sections.iter().find(|found| found["id"] == section);
    let table = &found.unwrap_or_else(|| panic!("no section {section:?}: {document}"))["table"];
    let keys = table["columns"].as_array().unwrap().iter().map(|column| column["key"].as_str().unwrap());
    let keys: Vec<&str> = keys.collect();
    let row = |row: &Value| {
        let cells = row.as_array().unwrap().iter().cloned();
        keys.iter().map(|key| (*key).to_owned()).zip(cells).collect::<serde_json::Map<_, _>>().into()
    };
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

/// A row of the main table of a document.
#[track_caller]
pub fn row(document: &Value, label: &str) -> Value {
    let main = if document["kind"] == "capacity" { "capacity" } else { "ranks" };
    let rows = rows(document, main);
    let found = rows.iter().find(|row| row["label"] == label).cloned();
    found.unwrap_or_else(|| panic!("no row {label:?}: {rows:?}"))
}

/// The state of a row of a document: `measured`, `failed`, ...
#[track_caller]
pub fn state(document: &Value, label: &str) -> String {
    state_of(&row(document, label))
}

/// The state of a row. On a busy machine its throughput may be invalid: a row with a cost counts as measured.
pub fn state_of(row: &Value) -> String {
    match row["state"].as_str().unwrap() {
        "invalid" if row["cpu_ns_per_request"].is_number() => "measured".to_owned(),
        state => state.to_owned(),
    }
}

/// A fact about the run as a whole, such as `Took`.
#[track_caller]
pub fn fact(document: &Value, label: &str) -> String {
    let facts = document["facts"].as_array().unwrap();
    let fact = facts.iter().find(|fact| fact["label"] == label);
    fact.unwrap_or_else(|| panic!("no fact {label:?}: {facts:?}"))["text"].as_str().unwrap().to_owned()
}
