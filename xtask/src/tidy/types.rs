//! Rule for names: type names are unique within a crate's own code, and public ones over all crates that users
//! compile.
//!
//! It reads beginnings of lines: `struct`, `enum` and `trait`, with or without `pub`. Tests, benches,
//! examples and separate programs are excluded, because they are not read together with the crate. Limits:
//! declarations in macros are not seen, and aliases (`type`) may repeat on purpose, such as an associated
//! `Output`.

use std::collections::BTreeMap;

use super::{File, Finding, circles::code};

/// Names that a crate may repeat, with the reason.
const ALLOWED: [(&str, &str); 1] = [
    // The arguments of each command, in its module: clap's convention.
    ("crates/cli", "Args"),
];

/// Public names that two crates may share, with the reason.
const SHARED: [(&str, &str); 1] = [(
    "Verdict",
    "of one test in `stats`, where it is `equivalence::Verdict`, and of a whole run in `analysis`",
)];

/// One finding for each repeated declaration of a name in a crate, or of a public name over crates.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = within_a_crate(files);
    findings.extend(over_crates(files));
    findings
}

fn over_crates(files: &[File]) -> Vec<Finding> {
    let mut first: BTreeMap<String, (&str, String)> = BTreeMap::new();
    let mut findings = Vec::new();
    let of_users = files.iter().filter(|file| !file.path.starts_with("dev/"));
    for file in of_users {
        let Some(owner) = owner(&file.path) else { continue };
        let is_shared = |name: &str| SHARED.iter().any(|(shared, _)| *shared == name);
        for (line, name) in declared(&file.text, is_public).filter(|(_, name)| !is_shared(name)) {
            let here = (owner, format!("{}:{line}", file.path));
            match first.get(&name) {
                Some((other, there)) if *other != owner => {
                    findings.push(twice(&file.path, line, &name, there))
                }
                Some(_) => {}
                None => drop(first.insert(name, here)),
            }
        }
    }
    findings
}

fn is_public(line: &str) -> bool {
    line.trim_start().starts_with("pub ")
}

fn within_a_crate(files: &[File]) -> Vec<Finding> {
    let mut first: BTreeMap<(&str, String), String> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files {
        let Some(owner) = owner(&file.path) else { continue };
        for (line, name) in
            declared(&file.text, |_| true).filter(|(_, name)| !ALLOWED.contains(&(owner, name)))
        {
            let here = format!("{}:{line}", file.path);
            match first.get(&(owner, name.clone())) {
                Some(there) => findings.push(twice(&file.path, line, &name, there)),
                None => drop(first.insert((owner, name), here)),
            }
        }
    }
    findings
}

fn twice(path: &str, line: usize, name: &str, there: &str) -> Finding {
    let what = format!("type '{name}' is also declared at {there}");
    Finding::new(path, line, what, "name each for what distinguishes it")
}

/// The crate folder of a file, if it belongs to the crate's own code.
fn owner(path: &str) -> Option<&str> {
    let (folder, inside) = path.split_once("/src/")?;
    let mut parts = inside.strip_suffix(".rs")?.split('/');
    let is_apart = inside.starts_with("bin/") || parts.any(|part| part == "tests" || part == "fixture");
    let is_crate = ["crates/", "parts/", "dev/"].iter().any(|above| folder.starts_with(above));
    (is_crate && !is_apart).then_some(folder)
}

/// The types that a source declares outside of its tests in `wanted` lines, with the numbers of these.
fn declared(source: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (usize, String)> {
    let code = code(source);
    let lines = code.lines().enumerate().filter(|(_, line)| wanted(line));
    let names: Vec<_> = lines.filter_map(|(at, line)| Some((at + 1, name(line)?))).collect();
    names.into_iter()
}

fn name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub") || *word == "unsafe");
    matches!(words.next()?, "struct" | "enum" | "trait").then_some(())?;
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&File::all(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_twice_in_a_crate_is_found_whatever_it_stands_for() {
        let found = found(&[
            ("crates/host/src/a.rs", "pub(crate) struct Way<T>(T);\n\npub enum Other {\n"),
            ("crates/host/src/b/c.rs", "\n    unsafe trait Way {}\nstruct Ways;\n"),
        ]);
        let fix = "name each for what distinguishes it";
        assert_eq!(
            found,
            [format!(
                "crates/host/src/b/c.rs:2: type 'Way' is also declared at crates/host/src/a.rs:1 ({fix})"
            )]
        );
    }

    #[test]
    fn a_name_twice_in_one_file_is_found() {
        assert_eq!(found(&[("dev/replay/src/lib.rs", "struct A;\nmod m {\n    struct A;\n}\n")]).len(), 1);
    }

    #[test]
    fn other_crates_tests_programs_and_comments_repeat_no_name() {
        let files = [
            (
                "crates/host/src/a.rs",
                "struct Way;\n// struct Way;\n#[cfg(test)]\nmod tests {\n    struct Way;\n}\n",
            ),
            ("crates/load/src/a.rs", "struct Way;\n"),
            ("crates/host/src/tests.rs", "struct Way;\n"),
            ("crates/host/src/a/tests/server.rs", "struct Way;\n"),
            ("crates/host/src/bin/other.rs", "struct Way;\n"),
            ("crates/host/examples/other.rs", "struct Way;\n"),
            ("crates/host/src/b.rs", "type Way = u8;\nlet structure = enumerate(Way);\n"),
        ];
        assert_eq!(found(&files), [] as [&str; 0]);
    }

    #[test]
    fn a_public_name_in_two_crates_is_found() {
        let both =
            |first: &str, second: &str| found(&[("crates/a/src/x.rs", first), (second, "pub enum Way {}\n")]);
        let twice = both("pub struct Way;\n", "parts/b/src/y.rs");
        assert_eq!(
            twice,
            ["parts/b/src/y.rs:1: type 'Way' is also declared at crates/a/src/x.rs:1 (name each for what \
              distinguishes it)"]
        );
        assert_eq!(both("pub(crate) struct Way;\n", "parts/b/src/y.rs"), [] as [&str; 0]);
        assert_eq!(both("pub struct Way;\n", "dev/b/src/y.rs"), [] as [&str; 0], "users do not compile it");
    }

    #[test]
    fn an_exception_is_for_one_name_of_one_crate() {
        assert!(ALLOWED.contains(&("crates/cli", "Args")));
        let twice = |name: &str| {
            found(&[("crates/load/src/a.rs", &format!("struct {name};\nstruct {name};\n"))]).len()
        };
        assert_eq!((twice("Args"), twice("Event")), (1, 1));
    }
}
