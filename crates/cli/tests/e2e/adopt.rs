//! Adopts entries of other benchmarks as services, then builds and verifies them like all others.

use std::fs;

use crate::support::{Workspace, real_root};

fn entry(path: &str) -> String {
    real_root().join("parts/import/src/adopt/fixtures").join(path).display().to_string()
}

#[test]
fn an_entry_is_adopted_built_and_proved() {
    let workspace = Workspace::new(&[]);
    let ended = workspace.tare(&["adopt", &entry("arena/frameworks/minute")]).expect(0);
    assert!(ended.stdout.contains("licence of its repository: MIT (LICENSE)"), "{ended}");
    assert!(
        ended.stdout.contains("wrote ./adopted/python/minute-httparena: next, tare verify ./adopted"),
        "{ended}"
    );
    let service = workspace.root().join("adopted/python/minute-httparena");
    assert!(service.join("entry/app.py").is_file() && service.join("README.md").is_file());

    let proved = workspace.tare(&["verify", "./adopted/python/minute-httparena"]).expect(0);
    assert!(proved.stdout.contains("1 passed, 0 failed"), "{proved}");

    let again = workspace.tare(&["adopt", &entry("arena/frameworks/minute")]).expect(1);
    assert!(again.stderr.contains("it is there already"), "{again}");
}

#[test]
fn what_would_be_made_is_shown_and_nothing_is_written() {
    let workspace = Workspace::new(&[]);
    let cobble = entry("techempower/frameworks/Go/cobble");
    let ended = workspace.tare(&["adopt", &cobble, "--dry-run"]).expect(0);
    assert!(
        ended.stdout.contains("[[build]]")
            && ended.stdout.contains("would write ./adopted/go/cobble-techempower"),
        "{ended}"
    );
    let json = workspace.tare(&["adopt", &cobble, "--test", "fork", "--dry-run", "--json"]).expect(0).json();
    assert_eq!((&json["contract"], &json["written"]), (&"techempower".into(), &false.into()), "{json}");
    assert_eq!(json["name"], "cobble-fork-techempower");
    assert!(json["notes"].as_array().unwrap().iter().any(|note| note["is-lost"] == true));
    let blocked = workspace.tare(&["adopt", &cobble, "--test", "library"]).expect(1);
    assert!(
        blocked.stderr.contains("`make install`: it would install into this machine's own system"),
        "{blocked}"
    );
    assert!(!workspace.root().join("adopted").exists());
}

#[test]
fn where_podman_is_not_its_package_is_named() {
    let podman = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .any(|folder| folder.join("podman").exists());
    let workspace = Workspace::new(&[]);
    let ended = workspace.tare(&["adopt", &entry("arena/frameworks/minute"), "--container", "podman"]);
    match podman {
        true => {
            let manifest = workspace.root().join("adopted/python/minute-httparena/service.toml");
            assert!(fs::read_to_string(manifest).unwrap().contains("\"podman\", \"build\""), "{ended}");
        }
        false => {
            let ended = ended.expect(1);
            assert!(ended.stderr.contains("Debian's package podman brings it"), "{ended}");
        }
    }
}
