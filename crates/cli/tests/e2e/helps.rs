//! The examples of every help work with the program alone, or report what they need.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::support::{Ended, checkout, git, helps, manifest, start_under};

/// The heading of examples that work in a clone of the repository.
const IN_A_CLONE: &str = "Examples in a clone of the repository of Tare:";
/// Commands with a `--dry-run`.
const DRY: [&str; 7] = ["init", "run", "compare", "slo", "history", "bisect", "load"];
/// Commands that only print.
const PRINT: [&str; 2] = ["list", "catalogue"];
/// Messages about something missing that an example needs.
const SAYS: [&str; 4] = [
    "ca.pem cannot be read",
    "start the server first",
    "there is no such folder",
    "no bisection that can be resumed",
];

/// An example line of a help.
struct Example {
    line: String,
    is_in_a_clone: bool,
}

impl Example {
    /// The words after `tare`, split like a shell. The description of a command follows two spaces.
    fn words(&self) -> Vec<String> {
        let command = self.line.trim().split("  ").next().unwrap().replace("URL", "http://127.0.0.1:9/");
        shlex::split(&command).unwrap().into_iter().skip(1).collect()
    }
}

/// The examples of every help.
fn examples() -> Vec<Example> {
    helps().iter().flat_map(|(_, text)| of_help(text)).collect()
}

fn of_help(text: &str) -> Vec<Example> {
    let mut is_in_a_clone = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.ends_with(':') && !line.starts_with(' ') {
            is_in_a_clone = line == IN_A_CLONE;
        }
        let is_continued = line.strip_prefix("  ").is_some_and(|rest| !rest.starts_with([' ', '-']));
        if line.starts_with("  tare ") && !line.contains("COMMAND") {
            found.push(Example { line: line.to_owned(), is_in_a_clone });
        } else if let Some(before) = found.last_mut().filter(|_| is_continued) {
            before.line += &format!(" {}", line.trim());
        }
    }
    found
}

/// A user's repository as in the examples: scripts, a folder with a manifest, tags, and a file with a service
/// and a gate. Its interpreter exists, but does nothing.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let (folder, root) = checkout("mine");
    let file = |name: &str, text: &str| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for script in ["server.js", "a.js", "b.js", "app/server.js"] {
        file(script, "");
    }
    file("app/package.json", "{\"scripts\":{\"start\":\"node server.js\"}}");
    file(
        "package.json",
        "{\"dependencies\":{\"express\":\"4.21.2\"},\"scripts\":{\"start\":\"node server.js\"}}",
    );
    file("package-lock.json", "{\"lockfileVersion\":3,\"packages\":{}}");
    file("order.json", "{}");
    file("urls.txt", "http://127.0.0.1:9/\n");
    for name in ["mine", "other"] {
        file(&format!("{name}/service.toml"), &manifest(name, "correct"));
    }
    file(
        "tare.toml",
        "format = \"1.0\"\n[service.shop]\ncommand = \"node server.js\"\n[gate.shop]\nservice = \"shop\"\nbase = \"main\"\n\
         get = [\"/\"]\n",
    );
    git(&root, &["init", "-q", "-b", "main"]);
    for number in 0..42_usize {
        file("number", &number.to_string());
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "change"]);
        if let Some(tag) = ["v1.0", "v1.1", "v1.2"].get(number.wrapping_sub(34)) {
            git(&root, &["tag", tag]);
        }
    }
    let node = folder.path().join("bin/node");
    fs::create_dir(node.parent().unwrap()).unwrap();
    fs::write(&node, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, root)
}

/// Runs with the programs of the folder `bin` before all others.
fn tare(bin: &Path, folder: &Path, words: &[&str]) -> Ended {
    let path = format!("PATH={}:{}", bin.display(), std::env::var("PATH").unwrap());
    start_under(&["env", &path], folder, words).end()
}

#[test]
fn what_only_a_clone_has_stands_under_its_heading() {
    let examples = examples();
    assert!(examples.len() > 80, "only {} examples were found", examples.len());
    for example in &examples {
        let has = example.words().iter().any(|word| word.starts_with("record/"));
        assert_eq!(has, example.is_in_a_clone, "{}", example.line);
    }
}

/// The examples are run in a way that starts nothing.
#[test]
fn every_example_is_understood_by_the_program_alone() {
    let (_folder, root) = repository();
    let mut count = 0;
    for example in examples().iter().filter(|example| !example.is_in_a_clone) {
        let words = example.words();
        let command = words.first().map(String::as_str).unwrap_or_default();
        let is_dry = DRY.contains(&command);
        // A generator on another machine is contacted at once, and a measured footprint needs a build.
        let not_here = ["--agents", "--engine", "--calibrate", "--measure", "mine"];
        let is_tried =
            is_dry || (PRINT.contains(&command) && words.iter().all(|word| !word.starts_with("--cat")));
        if !is_tried || words.iter().any(|word| not_here.contains(&word.as_str())) {
            continue;
        }
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_resumed = words.contains(&"--resume");
        words.extend((is_dry && !words.contains(&"--dry-run") && !is_resumed).then_some("--dry-run"));
        // A repository that is set up is not set up again.
        let place = if command == "init" { root.join("app") } else { root.clone() };
        let ended = tare(&root.with_file_name("bin"), &place, &words);
        let says = SAYS.iter().any(|text| ended.stderr.contains(text));
        assert!(ended.code() == Some(0) || (ended.code() == Some(1) && says), "{}\n{ended}", example.line);
        count += 1;
    }
    assert!(count > 25, "only {count} examples were tried");
}

#[test]
fn without_a_clone_its_examples_say_that_they_need_one() {
    let folder = tempfile::tempdir().unwrap();
    for example in examples().iter().filter(|example| example.is_in_a_clone) {
        let words = example.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = tare(folder.path(), folder.path(), &words).expect(1);
        assert!(ended.stderr.contains("there is no such folder"), "{}\n{ended}", example.line);
        assert_eq!(ended.stdout, "", "{}", example.line);
    }
}
