//! Packages of the command, each installed and used in an empty place; and what CI servers read to make and to install them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, str};

use serde_json::Value;
use tare_host::fixture::has_program;

use crate::support::real_root;

/// The program of this test without symbols, because it is packed four times.
fn stripped(folder: &Path) -> String {
    let path = folder.join("tare");
    let done = Command::new("objcopy").arg("--strip-all").arg(env!("CARGO_BIN_EXE_tare")).arg(&path).status();
    assert!(done.unwrap().success());
    path.to_str().unwrap().to_owned()
}

/// A debug build is several times as large as a release, and xz compresses for a minute.
const QUICKLY: [(&str, &str); 2] = [("DPKG_DEB_COMPRESSOR_LEVEL", "0"), ("DIST_LEVEL", "1")];

#[test]
fn packages_install_in_an_empty_place() {
    if !["objcopy", "dpkg-deb"].iter().all(|program| has_program("packages", program)) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (binary, dist) = (stripped(folder.path()), folder.path().join("dist"));
    for words in [&["dist.sh", &binary][..], &["dist-test.sh"]] {
        let mut script = Command::new(real_root().join("scripts").join(words[0]));
        let ended = script.args(&words[1..]).env("DIST", &dist).envs(QUICKLY).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let built: Vec<_> = fs::read_dir(&dist).unwrap().flatten().map(|entry| entry.file_name()).collect();
    // The archive, the Debian package, the wheel, two of npm, the bill of materials and the checksums.
    assert_eq!(built.len(), 7, "{built:?}");
}

/// A copy of the scripts, which write beside themselves, and the archive of a release whose program prints `tare released`.
fn released(root: &Path) -> (PathBuf, PathBuf) {
    let (scripts, dist) = (root.join("scripts"), root.join("dist"));
    for folder in [&scripts, &dist, &root.join("tare/bin")] {
        fs::create_dir_all(folder).unwrap();
    }
    for name in ["install.sh", "released.txt"] {
        fs::copy(real_root().join("scripts").join(name), scripts.join(name)).unwrap();
    }
    let program = root.join("tare/bin/tare");
    fs::write(&program, "#!/bin/sh\necho tare released\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let archive = dist.join(format!("tare-http-9.9.9-{}-linux-musl.tar.gz", std::env::consts::ARCH));
    let mut tar = Command::new("tar");
    tar.args(["-czf".as_ref(), archive.as_os_str(), "-C".as_ref(), root.as_os_str()]).arg("tare");
    assert!(tar.status().unwrap().success());
    (scripts.join("install.sh"), archive)
}

fn ran(script: &Path, arguments: &[&str]) -> Output {
    Command::new(script).args(arguments).env_remove("TARE_RELEASE").env_remove("TARE_BUILD").output().unwrap()
}

#[test]
fn the_commit_of_a_release_installs_its_own_binary_and_no_other() {
    if !has_program("installing a release", "curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (script, archive) = released(folder.path());
    let source = || String::from_utf8(ran(&script, &["--source"]).stdout).unwrap();
    let dist = archive.parent().unwrap().to_str().unwrap();
    let installed = folder.path().join("installed");
    let install = || ran(&script, &[installed.to_str().unwrap()]);

    assert_eq!(source(), "build\n", "a commit that is no release is compiled");
    assert!(ran(&script, &["--pin", dist, &format!("file://{dist}")]).status.success());
    assert_eq!(source(), "release\n");
    let good = install();
    assert!(good.status.success(), "{good:?}");
    let program = str::from_utf8(&good.stdout).unwrap().trim_end();
    assert_eq!(Command::new(program).output().unwrap().stdout, b"tare released\n");

    fs::remove_dir_all(&installed).unwrap();
    fs::OpenOptions::new().append(true).open(&archive).unwrap().set_len(64).unwrap();
    let bad = install();
    let error = String::from_utf8(bad.stderr).unwrap();
    assert!(error.contains("is not the file of the release: its checksum is"), "{error}");
    assert_eq!((bad.status.code(), fs::read_dir(&installed).unwrap().count()), (Some(1), 0));
    fs::remove_file(&archive).unwrap();
    assert_eq!(install().status.code(), Some(1), "what cannot be downloaded is not compiled instead");
}

fn yaml(path: &str) -> Value {
    let text = fs::read_to_string(real_root().join(path)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// No job runs for ever, or with more rights than its file names; a newer run takes the place of an older.
#[test]
fn every_job_of_a_workflow_is_bounded() {
    for name in ["ci", "release", "site"] {
        let workflow = yaml(&format!(".github/workflows/{name}.yml"));
        assert_eq!(workflow["permissions"], serde_json::json!({ "contents": "read" }), "{name}");
        assert!(workflow["concurrency"]["group"].is_string(), "{name}");
        for (job, content) in workflow["jobs"].as_object().unwrap() {
            assert!(!content["timeout-minutes"].is_null(), "{name}: {job} has no timeout-minutes");
        }
    }
    for path in [".gitlab-ci.yml", "docs/examples/gitlab-ci.yml"] {
        let jobs = yaml(path);
        for (job, content) in
            jobs.as_object().unwrap().iter().filter(|(_, content)| !content["script"].is_null())
        {
            assert!(
                !content["timeout"].is_null() || path.starts_with("docs"),
                "{path}: {job} has no timeout"
            );
        }
    }
    assert_eq!(yaml("action.yml")["runs"]["using"], "composite");
}
