use std::{fs, os::unix::fs::symlink, process::Command};

use super::{fixture::git, *};

fn repository() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "--quiet", "--initial-branch=main"]);
    fs::create_dir(root.path().join("shop")).unwrap();
    fs::write(root.path().join("shop/server.js"), "one").unwrap();
    git(root.path(), &["add", "."]);
    git(root.path(), &["commit", "--quiet", "-m", "one"]);
    root
}

/// Runs every kind of git command that Tare uses.
fn ask_all(folder: &Path) {
    let Ok(repository) = Repository::around(folder) else { return };
    for words in [
        &["rev-parse", "--verify", "HEAD"][..],
        &["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"],
        &["log", "-1", "--format=%H %s", "HEAD"],
        &["ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD"],
        &["merge-base", "HEAD", "HEAD"],
        &["cat-file", "-e", "0123456789012345678901234567890123456789"],
    ] {
        let _an_answer_or_an_error = repository.ask(words);
    }
}

#[test]
fn nothing_that_a_configuration_names_is_run() {
    let root = repository();
    let marks = tempfile::tempdir().unwrap();
    let trap = |name: &str| format!("sh -c 'echo {name} >> {}/ran; false'", marks.path().display());
    for (name, value) in [
        ("core.fsmonitor", trap("fsmonitor")),
        ("core.pager", trap("pager")),
        ("core.sshCommand", trap("ssh")),
        ("core.editor", trap("editor")),
        ("core.askPass", trap("askpass")),
        ("core.gitProxy", trap("proxy")),
        ("core.hooksPath", root.path().join("hooks").display().to_string()),
        ("core.alternateRefsCommand", trap("alternates")),
        ("credential.helper", format!("!{}", trap("credential"))),
        ("diff.external", trap("diff")),
        ("diff.t.textconv", trap("textconv")),
        ("filter.f.clean", trap("clean")),
        ("filter.f.smudge", trap("smudge")),
        ("filter.p.process", trap("process")),
        ("filter.f.required", "true".to_owned()),
        ("gpg.program", trap("gpg")),
        ("log.showSignature", "true".to_owned()),
        ("pager.log", trap("pager.log")),
        ("alias.status", format!("!{}", trap("alias"))),
        ("protocol.ext.allow", "always".to_owned()),
        ("remote.origin.url", format!("ext::{}", trap("ext"))),
        ("remote.origin.uploadpack", trap("uploadpack")),
        ("remote.origin.promisor", "true".to_owned()),
        ("remote.origin.partialclonefilter", "blob:none".to_owned()),
        ("extensions.partialClone", "origin".to_owned()),
        ("include.path", "more".to_owned()),
        ("trace2.eventTarget", marks.path().join("trace").display().to_string()),
    ] {
        git(root.path(), &["config", name, &value]);
    }
    fs::write(root.path().join(".git/more"), format!("[core]\n\tfsmonitor = {:?}\n", trap("included")))
        .unwrap();
    fs::write(root.path().join("shop/.gitattributes"), "* filter=f diff=t\nx filter=p\n").unwrap();
    for hook in ["fsmonitor-watchman", "post-index-change", "reference-transaction", "post-checkout"] {
        for folder in ["hooks", ".git/hooks"] {
            let path = root.path().join(folder).join(hook);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("#!/bin/sh\n{}\n", trap("hook"))).unwrap();
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
    // Content and time differ from the index, so git would have to run the filter.
    fs::write(root.path().join("shop/server.js"), "two").unwrap();
    ask_all(&root.path().join("shop"));
    assert!(!marks.path().join("ran").exists(), "{}", fs::read_to_string(marks.path().join("ran")).unwrap());
    assert!(!marks.path().join("trace").exists());

    // Ordinary git does run the command, so the trap works.
    let mut plain = Command::new("git");
    plain.arg("-C").arg(root.path()).args(["status", "--porcelain"]).output().unwrap();
    assert!(marks.path().join("ran").exists(), "plain git runs what the configuration names");
}

#[test]
fn a_bare_repository_in_a_folder_is_none() {
    let outer = repository();
    let inner = outer.path().join("shop");
    let marks = tempfile::tempdir().unwrap();
    for folder in ["objects", "refs"] {
        fs::create_dir(inner.join(folder)).unwrap();
    }
    fs::write(inner.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch {}/ran; false\"\n",
        marks.path().display()
    );
    fs::write(inner.join("config"), config).unwrap();
    let found = Repository::around(&inner).unwrap();
    assert_eq!(found.top, outer.path().canonicalize().unwrap(), "the one around it");
    assert_eq!(found.path, Path::new("shop"));
    ask_all(&inner);
    assert!(!marks.path().join("ran").exists());
}

#[test]
fn a_link_is_followed_only_where_both_ends_know_each_other() {
    let (victim, attack) = (repository(), tempfile::tempdir().unwrap());
    let mark = attack.path().join(".git");
    fs::write(&mark, format!("gitdir: {}\n", victim.path().join(".git").display())).unwrap();
    let error = Repository::around(attack.path()).unwrap_err();
    assert!(matches!(error, GitError::LeadsElsewhere { .. }), "{error}");
    fs::remove_file(&mark).unwrap();
    symlink(victim.path().join(".git"), &mark).unwrap();
    let error = Repository::around(attack.path()).unwrap_err();
    assert!(matches!(error, GitError::Odd { .. }), "{error}");
    fs::remove_file(&mark).unwrap();
    fs::write(&mark, "nothing\n").unwrap();
    assert!(matches!(Repository::around(attack.path()), Err(GitError::Odd { .. })));

    // A second work tree of the same repository.
    let other = attack.path().join("tree");
    git(victim.path(), &["worktree", "add", "--quiet", "-b", "topic", &other.display().to_string()]);
    let linked = Repository::around(&other).unwrap();
    assert_eq!(linked.ask(&["rev-parse", "--abbrev-ref", "HEAD"]).unwrap(), "topic");
    let moved = attack.path().join("moved");
    fs::create_dir(&moved).unwrap();
    fs::copy(other.join(".git"), moved.join(".git")).unwrap();
    let error = Repository::around(&moved).unwrap_err();
    assert!(matches!(error, GitError::LeadsElsewhere { .. }), "{error}");
}

#[test]
fn objects_of_other_repositories_and_odd_files_are_refused() {
    let (root, other) = (repository(), repository());
    let alternates = root.path().join(".git/objects/info/alternates");
    fs::create_dir_all(alternates.parent().unwrap()).unwrap();
    fs::write(&alternates, other.path().join(".git/objects").display().to_string()).unwrap();
    let error = Repository::around(root.path()).unwrap_err();
    assert!(error.to_string().contains("`git repack -a -d` brings them in"), "{error}");
    fs::remove_file(&alternates).unwrap();
    let head = root.path().join(".git/HEAD");
    fs::remove_file(&head).unwrap();
    symlink("/dev/zero", &head).unwrap();
    assert!(matches!(Repository::around(root.path()), Err(GitError::Odd { .. })));
}

#[test]
fn what_the_user_configured_is_not_obeyed_and_the_remote_is_read() {
    let root = repository();
    git(root.path(), &["config", "remote.origin.url", "git@github.com:o/r.git"]);
    git(root.path(), &["config", "url.ext::sh.insteadOf", "git@github.com:"]);
    let repository = Repository::around(root.path()).unwrap();
    assert_eq!(repository.remote.as_deref(), Some("git@github.com:o/r.git"));
    let listed = repository.ask(&["config", "--list", "--show-origin"]).unwrap();
    assert!(
        listed.lines().all(|line| line.starts_with("file:config") || line.contains("tare-git-")),
        "{listed}"
    );
    let error = repository.ask(&["rev-parse", "--verify", "nothing"]).unwrap_err().to_string();
    assert!(error.contains("`git rev-parse --verify nothing` failed in"), "{error}");
}

#[test]
fn a_repository_of_sha_256_is_read() {
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "--quiet", "--object-format=sha256"]);
    git(root.path(), &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    let repository = Repository::around(root.path()).unwrap();
    assert_eq!(repository.format, ObjectFormat::Sha256);
    assert_eq!(repository.ask(&["rev-parse", "HEAD"]).unwrap().len(), 64);
}
