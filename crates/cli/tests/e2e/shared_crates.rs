//! Services in Rust that share crates: built by Cargo, from a crate of a git repository on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ended, Running, USUAL, Workspace, git, home, manifest, send, start_under, within};

struct Bench {
    workspace: Workspace,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(services: &[&str]) -> Bench {
        let (workspace, folder) = (Workspace::new(&[]), tempfile::tempdir().unwrap());
        let bench = Bench { workspace, folder };
        let common = bench.common();
        fs::create_dir_all(common.join("src")).unwrap();
        fs::write(common.join("Cargo.toml"), package("common", "")).unwrap();
        fs::write(common.join("src/lib.rs"), "pub fn text() -> &'static str { \"common 1\" }\n").unwrap();
        git(&common, &["init", "--quiet"]);
        git(&common, &["add", "--all"]);
        git(&common, &["commit", "--quiet", "--message", "x"]);
        services.iter().for_each(|name| bench.service(name, "1"));
        bench
    }

    fn common(&self) -> PathBuf {
        self.folder.path().join("common")
    }

    fn cargo_home(&self) -> PathBuf {
        self.folder.path().join("cargo")
    }

    /// A service whose program prints the text of the common crate, and `text`.
    fn service(&self, name: &str, text: &str) {
        let steps = "[[build]]\ncommand = [\"cargo\", \"fetch\", \"--locked\"]\nnetwork = true\n\
            [[build]]\ncommand = [\"cargo\", \"build\", \"--release\", \"--frozen\"]\nshares = \"cargo\"\n[run]";
        let version = format!("[\"./target/release/{name}\", \"--version\"]");
        let mut lines: Vec<String> =
            manifest(name, "correct").replace("[run]", steps).lines().map(str::to_owned).collect();
        let place = lines.iter().position(|line| line == "[version]").unwrap();
        lines[place + 1] = format!("command = {version}");
        self.workspace.service(name, &lines.join("\n"));
        let folder = self.workspace.root().join("services/fake").join(name);
        let dependency = format!("common = {{ git = \"file://{}\" }}\n", self.common().display());
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("Cargo.toml", &(package(name, &dependency) + "[workspace]\n"));
        write(".gitignore", "target\n");
        let main = format!("fn main() {{ println!(\"{{}}, {name} {text}\", common::text()); }}\n");
        write("src/main.rs", &main);
        if !folder.join("Cargo.lock").exists() {
            let mut cargo = Command::new("cargo");
            cargo.args(["generate-lockfile", "--quiet"]).env("CARGO_HOME", self.cargo_home());
            assert!(cargo.current_dir(&folder).status().unwrap().success());
        }
    }

    fn start(&self, words: &[&str]) -> Running {
        let words = [&["build", "--json"], words].concat();
        let cargo_home = format!("CARGO_HOME={}", self.cargo_home().display());
        start_under(&["env", &cargo_home], self.workspace.root(), &words)
    }

    fn build(&self, words: &[&str]) -> Ended {
        self.start(words).end_within(USUAL * 4).expect(0)
    }

    fn shared(&self) -> PathBuf {
        let mut folders = fs::read_dir(home(self.workspace.root()).join("shared")).unwrap();
        let folder = folders.next().unwrap().unwrap().path();
        assert!(folders.next().is_none(), "one compiler, one repository");
        folder
    }
}

fn package(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{dependencies}"
    )
}

/// The version that a build reports, and the number of shared crates that it compiled.
fn result(line: &Value) -> (&str, Option<u64>) {
    (line["version"].as_str().unwrap(), line["cost"]["shared"]["crates"].as_u64())
}

#[test]
fn a_crate_is_compiled_once_and_each_service_has_its_own_code() {
    let bench = Bench::new(&["one", "two"]);
    let built = bench.build(&["one"]).json();
    assert_eq!(result(&built[0]), ("common 1, one 1", Some(1)));
    assert!(built[0]["cost"]["shared"]["cpu_seconds"].as_f64() <= built[0]["cost"]["cpu_seconds"].as_f64());
    assert_eq!(result(&bench.build(&["two"]).json()[0]), ("common 1, two 1", Some(0)), "the crate is there");
    // Cargo compares times of files: what was written at once must not be taken for what was compiled before.
    bench.service("one", "2");
    let again = bench.build(&["one"]).json();
    assert_eq!(result(&again[0]), ("common 1, one 2", Some(0)));

    let names = |folder: &Path| -> Vec<String> {
        let entries =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries.filter(|name| !name.starts_with('.')).collect()
    };
    let product = Path::new(again[0]["folder"].as_str().unwrap()).join("target/release");
    assert_eq!(names(&product), ["one"], "a product, and no list of what it was made from");
    let kept = names(&bench.shared().join("target/release/.fingerprint"));
    assert!(kept.len() == 1 && kept[0].starts_with("common-"), "{kept:?}");

    assert_eq!(result(&bench.build(&["one", "--force", "--unshared"]).json()[0]), ("common 1, one 2", None));

    let cache = |option: &str| bench.workspace.tare(&["cache", option, "--json"]).expect(0).json();
    let of = |report: &Value, kind: &str| {
        let entries = report["entries"].as_array().unwrap().clone();
        entries.into_iter().filter(|entry| entry["kind"] == kind).count()
    };
    let report = cache("--prune=1");
    assert_eq!(
        (of(&report, "builds"), of(&report, "shared-crates"), report["removed"].as_u64()),
        (3, 1, Some(0))
    );
    assert_eq!(cache("--prune=0")["removed"], 4);
    assert_eq!(result(&bench.build(&["two"]).json()[0]), ("common 1, two 1", Some(1)));
}

#[test]
fn after_kill_9_a_folder_is_compiled_anew() {
    let bench = Bench::new(&["one"]);
    // A build script of the service holds the step up, after the common crate may have been compiled.
    let folder = bench.workspace.root().join("services/fake/one");
    let go = bench.folder.path().join("go");
    let script = format!(
        "fn main() {{ while !std::path::Path::new({go:?}).exists() {{ std::thread::sleep(std::time::Duration::from_millis(20)); }} }}"
    );
    fs::write(folder.join("build.rs"), script).unwrap();
    let tare = bench.start(&["one"]);
    let mark = || bench.shared().join("building").exists();
    let begun = || home(bench.workspace.root()).join("shared").is_dir();
    assert!(within(USUAL, || begun() && mark() && bench.shared().join("target/release").is_dir()));
    fs::write(bench.shared().join("target/release/broken"), "").unwrap();
    send(tare.pid(), Signal::KILL);
    assert_eq!(tare.end().code(), None);
    assert!(mark());
    fs::write(&go, "").unwrap();
    assert_eq!(result(&bench.build(&["one"]).json()[0]), ("common 1, one 1", Some(1)));
    assert!(!mark() && !bench.shared().join("target/release/broken").exists());
}
