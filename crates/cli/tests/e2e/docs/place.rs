//! The folder in which commands of documents run: a repository with everything that they name.

use std::{
    env, fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::fences::Fence;
use crate::support::{USUAL, free_port, git, manifest, real_root, within};

/// Parts of this repository that commands use.
const PARTS: [&str; 9] =
    ["services", "contracts", "experiments", "figures", "scripts", "docs", "Cargo.toml", "crates", "parts"];
/// Stored runs, by their names in documents.
const RUNS: [&str; 10] = [
    "RUN",
    "runs/A",
    "runs/B",
    "runs/C",
    "runs/gate",
    ".tare/runs/OLD",
    ".tare/runs/NEW",
    ".tare/runs/gate",
    "record/restinio-2017",
    "record/quick",
];
/// Machines with collected runs.
const COLLECTED: [&str; 2] = ["node-1", "node-2"];
const PROJECT: &str = "format = \"1.0\"\ncatalogue = \"services\"\ncontracts = [\"contracts\", \"items.toml\"]\nexperiments = [\"experiments\"]\n\
    [service.shop]\ncommand = \"node server.js\"\ncontracts = []\n\
    [gate.shop]\nservice = \"shop\"\nbase = \"origin/main\"\nget = [\"/items/1\"]\n";

const SERVER: &str = include_str!("server.js");

const MACHINES: &str = "format = \"1.0\"\n[[class]]\nname = \"x86\"\ncpus = 2\n\
    kubernetes = { image = \"tare:dev\" }\n";

pub struct Place {
    folder: TempDir,
    /// Builds and revisions, which are outside of the repository.
    cache: TempDir,
    server: Child,
    port: u16,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for part in PARTS {
            symlink(real_root().join(part), root.join(part)).unwrap();
        }
        for (name, text) in [
            ("tare.toml", PROJECT),
            ("server.js", SERVER),
            ("a.js", SERVER),
            ("b.js", SERVER),
            ("old.js", SERVER),
            ("new.js", SERVER),
            ("package.json", "{\"dependencies\": {\"express\": \"5.1.0\"}}"),
            ("openapi.yaml", include_str!("openapi.yaml")),
            ("session.har", include_str!("session.har")),
            ("items.toml", include_str!("items.toml")),
            ("machines.toml", MACHINES),
            ("urls.txt", "http://127.0.0.1:8080/items/1\nhttp://127.0.0.1:8080/items/2\n"),
            ("mine/service.toml", &manifest("mine", "correct")),
            ("my-service/service.toml", &manifest("my-service", "correct")),
            ("bin/tare", include_str!("tare.sh")),
            ("bin/make", include_str!("make.sh")),
            // A plan only checks that the program exists.
            ("bin/uvicorn", "#!/bin/sh\nexit 1\n"),
        ] {
            write(&root.join(name), text);
        }
        let programs = ["bin/tare", "bin/make", "bin/uvicorn"].map(|name| root.join(name));
        programs
            .iter()
            .for_each(|path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap());
        for (place, name) in RUNS.into_iter().enumerate() {
            let kept = if name.ends_with("restinio-2017") { "restinio-2017" } else { "quick" };
            copy(&real_root().join("record").join(kept), &root.join(name));
            began_at_another_time(&root.join(name).join("run.json"), place);
        }
        for (place, name) in COLLECTED.into_iter().enumerate() {
            let run = root.join("collected").join(name).join("run");
            copy(&real_root().join("record/quick"), &run);
            began_at_another_time(&run.join("run.json"), place);
            write(
                &root.join("collected").join(name).join("job.json"),
                &format!("{{\"machine\": \"{name}\"}}"),
            );
        }
        fs::create_dir_all(root.join("home")).unwrap();
        symlink(real_root(), root.join("home/tare")).unwrap();
        repository(root);
        let port = free_port();
        let mut server = Command::new("node");
        server.arg("server.js").current_dir(root).env("PORT", port.to_string()).stdout(Stdio::null());
        let server = server.spawn().unwrap();
        assert!(within(USUAL, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()));
        Place { folder, cache: tempfile::tempdir().unwrap(), server, port }
    }

    /// Runs a whole fence; the error contains its first failing line, and the output of that line.
    pub fn run(&self, fence: &Fence) -> Result<(), String> {
        let root = self.folder.path();
        let there = format!("127.0.0.1:{}", self.port);
        let shown = ["127.0.0.1:8080", "127.0.0.1:3000", "127.0.0.1:3001"];
        let text = shown.iter().fold(fence.text.clone(), |text, shown| text.replace(shown, &there));
        let urls = fs::read_to_string(root.join("urls.txt")).unwrap();
        write(&root.join("urls.txt"), &urls.replace("127.0.0.1:8080", &there));
        let script = format!("set -u\ntrap 'echo \"failed: $BASH_COMMAND\" >&2' ERR\nset -eE\n{text}\n");
        let mut bash = Command::new("bash");
        bash.arg("-c").arg(script).current_dir(root).stdin(Stdio::null());
        bash.env("PATH", path(root)).env("PLACE", root).env("ROOT", real_root());
        bash.env("TARE", env!("CARGO_BIN_EXE_tare"))
            .env("TARE_HOME", self.cache.path())
            .env("TARE_NO_WHY", "1");
        bash.env("TARE_TRUST", "1");
        bash.env("HOME", root.join("home")).env_remove("TARE_ROOT");
        let ended = bash.output().unwrap();
        match ended.status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&ended.stderr).into_owned();
                Err(format!("{}:{}: {}\n{said}", fence.file, fence.line, ended.status))
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _it_may_have_ended = self.server.kill();
        let _ = self.server.wait();
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Copies the folder, because commands may write into a run folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => fs::copy(entry.path(), to).map(drop).unwrap(),
        }
    }
}

/// Changes the start time, so that the runs differ.
fn began_at_another_time(header: &Path, place: usize) {
    let mut run: serde_json::Value = serde_json::from_str(&fs::read_to_string(header).unwrap()).unwrap();
    run["began"] = format!("2026-01-02T03:04:0{place}Z").into();
    fs::write(header, run.to_string()).unwrap();
}

/// Makes two commits: `main` with its remote, and one more at HEAD.
fn repository(root: &Path) {
    let git = |words: &[&str]| git(root, words);
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "server.js", "a.js", "my-service", "mine"]);
    git(&["commit", "--quiet", "-m", "a shop"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(&["tag", "v1.2"]);
    git(&["checkout", "--quiet", "-b", "topic"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "a change"]);
}

/// `PATH`, with the commands of documents first.
fn path(root: &Path) -> std::ffi::OsString {
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths([root.join("bin")].into_iter().chain(env::split_paths(&rest))).unwrap()
}
