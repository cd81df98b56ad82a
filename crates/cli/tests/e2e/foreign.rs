//! Run folders, manifests and programs of others: their text is shown but not interpreted; endless files are
//! not read.

use std::{fs, os::unix::fs::symlink, path::Path};

use crate::support::{Ended, Workspace, manifest, real_root};

/// JSON and TOML escapes that clear a screen, rename a window, and reverse a line.
const HOSTILE: &str = r"\u001b[2J\u001b]0;x\u0007\u202ey";

/// Checks for terminal sequences and characters that reverse a line.
fn assert_harmless(text: &str, what: &str) {
    let obeyed = |c: &char| (c.is_control() && !"\n\t\r".contains(*c)) || *c == '\u{202e}';
    let found: Vec<char> = text.chars().filter(obeyed).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
}

/// A copy of a stored run in a folder of its own.
fn copy(workspace: &Workspace, name: &str) -> std::path::PathBuf {
    let (from, to) = (real_root().join("record/simple-web-server-2019"), workspace.root().join(name));
    fs::create_dir_all(&to).unwrap();
    for file in ["run.json", "journal.ndjson"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
    to
}

fn show(workspace: &Workspace, run: &Path, words: &[&str]) -> Ended {
    workspace.tare(&[&["show", run.to_str().unwrap()], words].concat())
}

#[test]
fn no_form_of_a_run_has_what_a_terminal_obeys() {
    let workspace = Workspace::new(&[]);
    let run = copy(&workspace, "run");
    let head = fs::read_to_string(run.join("run.json")).unwrap();
    let title = head.lines().find(|line| line.trim_start().starts_with("\"title\": \"")).unwrap();
    let hostile = title.replace("\"title\": \"", &format!("\"title\": \"{HOSTILE}"));
    fs::write(run.join("run.json"), head.replacen(title, &hostile, 1)).unwrap();
    let failed = format!("{{\"failed\":{{\"block\":0,\"row\":0,\"reason\":\"{HOSTILE}\"}}}}\n");
    let journal = fs::read_to_string(run.join("journal.ndjson")).unwrap();
    fs::write(run.join("journal.ndjson"), failed + &journal).unwrap();
    for words in [&[][..], &["--format", "markdown"], &["--json"]] {
        let shown = show(&workspace, &run, words);
        assert!(shown.stdout.contains("u{1b}") && shown.stdout.contains("u{202e}"), "{shown}");
        assert_harmless(&shown.stdout, "show");
        assert_harmless(&shown.stderr, "show");
    }
    for form in ["html", "csv", "json", "junit", "markdown"] {
        let out = workspace.root().join("out");
        let words = ["report", run.to_str().unwrap(), "--format", form, "--out", out.to_str().unwrap()];
        let reported = workspace.tare(&words);
        let files = if out.is_dir() {
            fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect()
        } else {
            vec![out.clone()]
        };
        assert!(!files.is_empty(), "{reported}");
        for file in files {
            assert_harmless(&fs::read_to_string(&file).unwrap(), form);
        }
        if out.is_dir() { fs::remove_dir_all(&out).unwrap() } else { fs::remove_file(&out).unwrap() }
    }
}

#[test]
fn a_name_of_a_folder_and_a_title_of_a_manifest_are_shown_and_not_obeyed() {
    let workspace = Workspace::new(&[]);
    workspace.service("odd", &manifest("odd", "correct").replace("\"none\"", &format!("\"{HOSTILE}\"")));
    let told = workspace.tare(&["show", "\u{1b}[2J\u{202e}"]).expect(1);
    assert!(told.stderr.contains("\\u001b[2J\\u202e"), "{told}");
    assert_harmless(&told.stderr, "the error");
    let list = workspace.tare(&["list"]).expect(0);
    assert!(list.stdout.contains("u{1b}[2J"), "{list}");
    assert_harmless(&list.stdout, "the list");
    let json = workspace.tare(&["list", "--json"]).expect(0);
    assert_harmless(&json.stdout, "the list as JSON");
    assert!(
        json.json().as_array().unwrap().iter().any(|line| {
            line["framework"].as_str().is_some_and(|framework| framework.contains('\u{202e}'))
        })
    );
}

#[test]
fn what_is_no_file_or_has_no_end_is_refused_at_once() {
    let workspace = Workspace::new(&[]);
    let made = |name: &str, file: &str, make: &dyn Fn(&Path)| {
        let run = copy(&workspace, name);
        fs::remove_file(run.join(file)).unwrap();
        make(&run.join(file));
        run
    };
    let fifo = |path: &Path| {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
    };
    let zero = |path: &Path| symlink("/dev/zero", path).unwrap();
    for (name, file, make) in [
        ("head-fifo", "run.json", &fifo as &dyn Fn(&Path)),
        ("head-zero", "run.json", &zero),
        ("journal-fifo", "journal.ndjson", &fifo),
        ("journal-zero", "journal.ndjson", &zero),
    ] {
        let run = made(name, file, make);
        let told = show(&workspace, &run, &[]).expect(1);
        assert!(told.stderr.contains("it is no regular file"), "{name}: {told}");
    }
}
