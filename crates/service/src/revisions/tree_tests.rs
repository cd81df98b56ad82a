use proptest::prelude::*;

use aws_lc_rs::digest;

use super::*;
use crate::{
    git::fixture::git,
    revisions::{Shelf, hash::hex, take_out},
};

fn write(root: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn repository() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "--quiet", "--initial-branch=main"]);
    root
}

fn commit(root: &Path) -> String {
    git(root, &["add", "--all"]);
    git(root, &["commit", "--quiet", "--allow-empty", "-m", "a commit"]);
    git(root, &["rev-parse", "HEAD"])
}

fn taken(root: &Path, home: &Path) -> PathBuf {
    take_out(root, "HEAD", &Shelf::new(home), None).unwrap().root
}

#[test]
fn files_are_as_they_are_stored_whatever_attributes_say() {
    let (root, home) = (repository(), tempfile::tempdir().unwrap());
    write(root.path(), "version", "$Format:%H$ $Id$\r\n");
    write(root.path(), ".gitattributes", "version export-subst ident eol=crlf\nsecret export-ignore\n");
    write(root.path(), "secret", "x");
    write(root.path(), "sub/program", "#!/bin/sh\n");
    write(root.path(), "sub.txt", "sorts before the folder");
    fs::set_permissions(root.path().join("sub/program"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../version", root.path().join("sub/link")).unwrap();
    commit(root.path());
    let tree = taken(root.path(), home.path());
    let stored = git(root.path(), &["cat-file", "blob", "HEAD:version"]);
    assert_eq!(fs::read_to_string(tree.join("version")).unwrap().trim(), stored);
    assert!(tree.join("secret").is_file());
    assert_eq!(fs::read_link(tree.join("sub/link")).unwrap(), Path::new("../version"));
    assert_eq!(fs::metadata(tree.join("sub/program")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn what_was_changed_since_is_taken_out_anew() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 9] = [
        ("a content", |tree| fs::write(tree.join("a/file"), "evil").unwrap()),
        ("a mode", |tree| {
            fs::set_permissions(tree.join("a/file"), fs::Permissions::from_mode(0o755)).unwrap()
        }),
        ("a file beside", |tree| fs::write(tree.join("a/more"), "").unwrap()),
        ("a folder beside", |tree| fs::create_dir(tree.join("node_modules")).unwrap()),
        ("a hidden file", |tree| fs::write(tree.join(".env"), "A=b").unwrap()),
        ("a file that is missing", |tree| fs::remove_file(tree.join("a/file")).unwrap()),
        ("a link in place of a file", |tree| {
            fs::rename(tree.join("a/file"), tree.join("../kept")).unwrap();
            symlink("../../kept", tree.join("a/file")).unwrap();
        }),
        ("a link in place of a folder", |tree| {
            fs::rename(tree.join("a"), tree.join("../folder")).unwrap();
            symlink("../folder", tree.join("a")).unwrap();
        }),
        ("a link that leads elsewhere", |tree| {
            fs::remove_file(tree.join("link")).unwrap();
            symlink("/etc/passwd", tree.join("link")).unwrap();
        }),
    ];
    let (root, home) = (repository(), tempfile::tempdir().unwrap());
    write(root.path(), "a/file", "honest");
    symlink("a/file", root.path().join("link")).unwrap();
    commit(root.path());
    let tree = taken(root.path(), home.path());
    for (what, change) in changes {
        change(&tree);
        assert_eq!(taken(root.path(), home.path()), tree, "{what}");
        assert_eq!(fs::read_to_string(tree.join("a/file")).unwrap(), "honest", "{what}");
        assert_eq!(fs::read_dir(&tree).unwrap().count(), 2, "{what}");
        assert!(!tree.join("a/more").exists() && !tree.join("a").is_symlink(), "{what}");
    }
}

#[test]
fn a_tree_that_is_in_use_and_was_changed_stays_and_another_is_taken_out() {
    let (root, home) = (repository(), tempfile::tempdir().unwrap());
    write(root.path(), "file", "honest");
    commit(root.path());
    let shelf = Shelf::new(home.path());
    let one = take_out(root.path(), "HEAD", &shelf, None).unwrap();
    fs::write(one.root.join("written-by-a-service"), "").unwrap();
    let two = take_out(root.path(), "HEAD", &shelf, None).unwrap();
    assert_ne!(one.root, two.root);
    assert!(one.root.join("written-by-a-service").exists());
    assert_eq!(fs::read_dir(&two.root).unwrap().count(), 1);
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
    let prune = || shelf.survey(Some(later)).unwrap().iter().filter(|kept| kept.removed).count();
    assert_eq!((shelf.survey(None).unwrap().len(), prune()), (2, 0), "both are in use");
    drop(one);
    assert_eq!((prune(), shelf.survey(None).unwrap().len()), (1, 1));
    assert!(two.root.is_dir());
}

#[test]
fn a_shelf_in_the_repository_is_refused() {
    let root = repository();
    commit(root.path());
    let shelf = Shelf::new(&root.path().join(".tare/home"));
    let error = take_out(root.path(), "HEAD", &shelf, None).unwrap_err().to_string();
    assert!(error.contains("name another folder by --home or TARE_HOME"), "{error}");
}

#[test]
fn submodules_come_along_or_are_named() {
    let (inner, root, home) = (repository(), repository(), tempfile::tempdir().unwrap());
    write(inner.path(), "part", "of another repository");
    commit(inner.path());
    git(root.path(), &["submodule", "--quiet", "add", &inner.path().display().to_string(), "vendor/part"]);
    commit(root.path());
    let tree = taken(root.path(), home.path());
    assert_eq!(fs::read_to_string(tree.join("vendor/part/part")).unwrap(), "of another repository");
    fs::write(tree.join("vendor/part/part"), "evil").unwrap();
    assert_eq!(taken(root.path(), home.path()), tree);
    assert_eq!(fs::read_to_string(tree.join("vendor/part/part")).unwrap(), "of another repository");

    fs::remove_dir_all(root.path().join(".git/modules")).unwrap();
    let error = take_out(root.path(), "HEAD", &Shelf::new(home.path()), None).unwrap_err().to_string();
    assert!(
        error.contains("submodule at \"vendor/part\"") && error.contains("git submodule update --init"),
        "{error}"
    );
}

#[test]
fn large_files_come_along_or_are_named() {
    let (root, home) = (repository(), tempfile::tempdir().unwrap());
    let content = b"large";
    let sha256 = hex(digest::digest(&digest::SHA256, content).as_ref());
    write(root.path(), ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    write(
        root.path(),
        "model.bin",
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize 5\n"),
    );
    // Without git-lfs installed, the committed content is the pointer, as with it.
    commit(root.path());
    let error = take_out(root.path(), "HEAD", &Shelf::new(home.path()), None).unwrap_err().to_string();
    assert!(
        error.contains("keeps \"model.bin\" in Git LFS") && error.contains("git lfs fetch origin"),
        "{error}"
    );
    let stored = root.path().join(".git/lfs/objects").join(&sha256[..2]).join(&sha256[2..4]);
    fs::create_dir_all(&stored).unwrap();
    fs::write(stored.join(&sha256), content).unwrap();
    let tree = taken(root.path(), home.path());
    assert_eq!(fs::read(tree.join("model.bin")).unwrap(), content);
    // A file of the right length with wrong content.
    fs::write(stored.join(&sha256), b"lrage").unwrap();
    fs::write(tree.join("model.bin"), b"lrage").unwrap();
    let error = take_out(root.path(), "HEAD", &Shelf::new(home.path()), None).unwrap_err();
    assert!(matches!(error, RevisionError::NotAsCommitted { .. }), "{error}");
}

/// A commit with one file of this name, which git itself would not add.
fn commit_of_odd_name(root: &Path, name: &str) -> String {
    let blob = git(root, &["hash-object", "-w", "--stdin"]);
    let text = [b"100644 ", name.as_bytes(), &[0]].concat();
    let text: Vec<u8> = text.into_iter().chain(bytes_of_hex(&blob)).collect();
    let file = root.join("tree");
    fs::write(&file, text).unwrap();
    let tree = git(root, &["hash-object", "-w", "-t", "tree", "--literally", &file.display().to_string()]);
    git(root, &["commit-tree", &tree, "-m", "odd"])
}

#[test]
fn a_tree_that_leads_out_of_its_folder_is_refused() {
    for name in ["..", ".", ".git", ".GIT"] {
        let (root, home) = (repository(), tempfile::tempdir().unwrap());
        let commit = commit_of_odd_name(root.path(), name);
        let error = take_out(root.path(), &commit, &Shelf::new(home.path()), None).unwrap_err();
        assert!(matches!(error, RevisionError::Unsafe { .. }), "{name}: {error}");
    }
    for (path, within) in
        [("a/b", true), ("a/../b", false), ("a/.git/config", false), ("/a", false), ("a//b", false)]
    {
        assert_eq!(is_within(Path::new(path)), within, "{path}");
    }
}

#[test]
fn objects_under_a_false_name_are_found() {
    let (root, home) = (repository(), tempfile::tempdir().unwrap());
    write(root.path(), "file", "honest");
    let honest = commit(root.path());
    write(root.path(), "file", "evil");
    let evil = commit(root.path());
    let object = |id: &str| root.path().join(".git/objects").join(&id[..2]).join(&id[2..]);
    let replace = |from: &str, to: &str| {
        fs::remove_file(object(from)).unwrap();
        fs::copy(object(to), object(from)).unwrap();
    };
    replace(&honest, &evil);
    let error = take_out(root.path(), &honest, &Shelf::new(home.path()), None).unwrap_err();
    assert!(matches!(error, RevisionError::FalseHash { .. } | RevisionError::Git(_)), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Tare's hash of a list of files equals git's. No path leads out of the repository.
    #[test]
    fn the_hash_of_a_tree_is_gits(
        paths in proptest::collection::btree_set(r"([a-c][a-c.]?|\.[a-c])(/[a-c-]{1,2}){0,2}", 1..12)
    ) {
        let root = repository();
        for path in &paths {
            let path = root.path().join(path);
            if path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) && !path.is_dir() {
                let _may_be_odd = fs::write(path, "x");
            }
        }
        let commit = commit(root.path());
        let found = Repository::around(root.path()).unwrap();
        prop_assert!(Tree::read(&found, &commit).is_ok());
    }
}
