//! Packages of the command: an archive, a Debian package and a wheel, each installed and used in an empty
//! place.

use std::{fs, path::Path, process::Command};

use tare_host::fixture::has_program;

use crate::support::real_root;

/// The program of this test without symbols, because it is packed three times.
fn stripped(folder: &Path) -> String {
    let path = folder.join("tare");
    let done = Command::new("objcopy").arg("--strip-all").arg(env!("CARGO_BIN_EXE_tare")).arg(&path).status();
    assert!(done.unwrap().success());
    path.to_str().unwrap().to_owned()
}

/// A debug build is several times as large as a release, and xz compresses for a minute.
const QUICKLY: [(&str, &str); 1] = [("DPKG_DEB_COMPRESSOR_LEVEL", "0")];

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
    assert_eq!(built.len(), 3, "{built:?}");
}
