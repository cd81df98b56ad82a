//! Rule for names: type names are unique within a crate's own code.
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

/// One finding for each repeated declaration of a name in a crate.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut first: BTreeMap<(&str, String), String> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files {
        let Some(owner) = owner(&file.path) else { continue };
        for (line, name) in declared(&file.text).filter(|(_, name)| !ALLOWED.contains(&(owner, name))) {
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

/// The types that a source declares outside of its tests, with their lines.
fn declared(source: &str) -> impl Iterator<Item = (usize, String)> {
    let names: Vec<_> =
        code(source).lines().enumerate().filter_map(|(at, line)| Some((at + 1, name(line)?))).collect();
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
    fn an_exception_is_for_one_name_of_one_crate() {
        assert!(ALLOWED.contains(&("crates/cli", "Args")));
        let twice = |name: &str| {
            found(&[("crates/load/src/a.rs", &format!("struct {name};\nstruct {name};\n"))]).len()
        };
        assert_eq!((twice("Args"), twice("Event")), (1, 1));
    }
}
