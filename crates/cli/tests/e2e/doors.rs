//! An untrusted repository: before its user allows it, none of its commands run, and nothing is written
//! outside of it.

use std::{fs, os::unix::fs::symlink, path::Path};

use crate::support::{Ended, Workspace, checkout, git, manifest, start_under};

/// Runs without `TARE_TRUST`, which the other tests set.
fn tare(folder: &Path, words: &[&str]) -> Ended {
    start_under(&["env", "-u", "TARE_TRUST"], folder, words).end()
}

/// A repository with two commits of a service.
fn repository() -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.service("honest", &manifest("honest", "correct"));
    git(workspace.root(), &["init", "--quiet", "-b", "main"]);
    for text in ["one", "two"] {
        workspace.write("services/fake/honest/text", text);
        git(workspace.root(), &["add", "."]);
        git(workspace.root(), &["commit", "--quiet", "-m", text]);
    }
    workspace
}

/// Commands that only read a repository and its revisions.
const LOOKS: [&[&str]; 6] = [
    &["compare", "honest", "--revisions", "HEAD~1..HEAD"],
    &["compare", "honest", "--revisions", "HEAD~1...HEAD", "--dry-run"],
    &["bisect", "HEAD~1", "HEAD", "honest"],
    &["history", "honest", "HEAD~1", "HEAD"],
    &["trust", "--show"],
    &["list"],
];

#[test]
fn the_configuration_of_a_repository_is_not_run() {
    let workspace = repository();
    let root = workspace.root();
    let ran = root.join("ran");
    let trap = format!("touch {}; false", ran.display());
    git(root, &["config", "core.fsmonitor", &trap]);
    git(root, &["config", "filter.x.clean", &trap]);
    git(root, &["config", "filter.x.required", "true"]);
    workspace.write(".gitattributes", "* filter=x\n");
    workspace.write("services/fake/honest/text", "changed");
    for words in LOOKS {
        let ended = tare(root, words);
        assert!(!ran.exists(), "{words:?}: {ended}");
    }
    tare(root, LOOKS[0]).expect(1);
}

#[test]
fn a_bare_repository_in_the_folder_of_a_service_is_not_asked() {
    let workspace = repository();
    let (root, ran) = (workspace.root(), workspace.root().join("ran"));
    let shop = root.join("services/fake/honest");
    for folder in ["objects", "refs"] {
        fs::create_dir(shop.join(folder)).unwrap();
    }
    fs::write(shop.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n";
    fs::write(shop.join("config"), format!("{config}fsmonitor = \"touch {}; false\"\n", ran.display()))
        .unwrap();
    for words in LOOKS {
        let ended = tare(root, words);
        assert!(!ran.exists(), "{words:?}: {ended}");
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let elsewhere = tempfile::tempdir().unwrap();
    for way in [".tare", ".tare/runs", ".tare/builds"] {
        let workspace = repository();
        let link = workspace.root().join(way);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        for trust in [&[][..], &["--trust"]] {
            let ended = tare(workspace.root(), &[LOOKS[0], trust].concat()).expect(1);
            assert!(ended.stderr.contains("is a symbolic link, and what Tare writes stays"), "{ended}");
        }
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn what_a_pull_changes_is_asked_for_again() {
    let workspace = repository();
    let root = workspace.root();
    tare(root, &["trust"]).expect(0);
    tare(root, &["verify", "honest", "--contract", "hello"]).expect(0);
    let honest = manifest("honest", "correct");
    workspace.service("honest", &format!("{honest}[[build]]\ncommand = [\"touch\", \"ran\"]\n"));
    let refused = tare(root, &["verify", "honest"]).expect(1);
    assert!(refused.stderr.contains("builds: touch ran"), "{refused}");
    assert!(!root.join("services/fake/honest/ran").exists());
    workspace.service("honest", &honest.replace("FAKE = ", "LD_PRELOAD = \"./evil.so\", FAKE = "));
    let refused = tare(root, &["verify", "honest"]).expect(1);
    assert!(
        refused.stderr.contains("LD_PRELOAD=./evil.so") && refused.stderr.contains("in place of"),
        "{refused}"
    );
    let shown = tare(root, &["trust", "--show"]).expect(0);
    assert!(shown.stdout.contains("LD_PRELOAD=./evil.so "), "{shown}");
}

#[test]
fn a_service_in_a_folder_of_its_own_is_allowed_by_itself() {
    let (_folder, root) = checkout("anywhere");
    fs::create_dir(root.join("shop")).unwrap();
    fs::write(root.join("shop/service.toml"), manifest("shop", "correct")).unwrap();
    let verify = ["verify", "./shop", "--contract", "hello"];
    let refused = tare(&root, &verify).expect(1);
    let shop = root.join("shop").canonicalize().unwrap();
    for words in [&["trust", "--show"][..], &["trust"]] {
        let command = format!("`tare {} {}`", words.join(" "), shop.display());
        assert!(refused.stderr.contains(&command), "{refused}");
        tare(&root, &[words, &[shop.to_str().unwrap()]].concat()).expect(0);
    }
    tare(&root, &verify).expect(0);
    let empty = tare(&root, &["trust", "."]).expect(1);
    assert!(empty.stderr.contains("has no tare.toml"), "{empty}");
}
