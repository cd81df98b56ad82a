//! Layout rules: public libraries are documented, and services are complete and named like their folder.
//!
//! It reads two keys of a manifest. The catalogue of `crates/service` checks the rest.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Finding};

const DENY: &str = "#![deny(missing_docs)]";
/// Libraries for other projects. Elsewhere comments are optional.
const DOCUMENTED: [&str; 2] = ["crates/load/src/lib.rs", "crates/stats/src/lib.rs"];
const SKELETON: &str = concat!("FILL", "-IN");

/// All rules over the repository.
pub(super) fn check(paths: &BTreeSet<String>, files: &[File]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = files.iter().filter_map(undocumented).collect();
    let mut languages: BTreeMap<&str, &str> = BTreeMap::new();
    for (language, name) in service_folders(paths) {
        let folder = format!("services/{language}/{name}");
        for needed in ["service.toml", "README.md"] {
            let path = format!("{folder}/{needed}");
            if !paths.contains(&path) {
                findings.push(Finding::new(
                    &path,
                    1,
                    "is missing",
                    "cargo xtask new-service shows what it holds",
                ));
            }
        }
        if let Some(other) = languages.insert(name, language) {
            let what = format!("the name '{name}' is that of services/{other}/{name} too");
            let fix = "names are unique over all languages";
            findings.push(Finding::new(&format!("{folder}/service.toml"), 1, what, fix));
        }
        let inside = |file: &&File| file.path.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
        for file in files.iter().filter(inside) {
            match &file.path[folder.len() + 1..] {
                "service.toml" => {
                    findings.extend(misnamed(file, language, name));
                    findings.extend(skeleton(file));
                }
                "README.md" => findings.extend(skeleton(file)),
                _ => {}
            }
        }
    }
    findings
}

fn undocumented(file: &File) -> Option<Finding> {
    let denied = || file.text.lines().any(|line| line.trim() == DENY);
    (DOCUMENTED.contains(&file.path.as_str()) && !denied())
        .then(|| Finding::new(&file.path, 1, format!("lacks `{DENY}`"), "add it below the head comment"))
}

/// (language, name) of every folder services/LANGUAGE/NAME that holds a file.
fn service_folders(paths: &BTreeSet<String>) -> BTreeSet<(&str, &str)> {
    let folder = |path: &'_ String| -> Option<(usize, usize)> {
        let rest = path.strip_prefix("services/")?;
        let language = rest.find('/')?;
        let name = rest[language + 1..].find('/')?;
        Some((language, name))
    };
    let split = |path| {
        folder(path).map(|(language, name)| {
            let rest = &path["services/".len()..];
            (&rest[..language], &rest[language + 1..language + 1 + name])
        })
    };
    paths.iter().filter_map(split).collect()
}

fn misnamed(file: &File, language: &str, name: &str) -> Vec<Finding> {
    let table: toml::Table = match file.text.parse() {
        Ok(table) => table,
        Err(error) => {
            let what = format!("no valid TOML: {}", toml::de::Error::message(&error));
            return vec![Finding::new(&file.path, 1, what, "docs/reference/service.md shows the format")];
        }
    };
    let mut findings = Vec::new();
    for (key, expected) in [("name", name), ("language", language)] {
        let found = table.get(key).and_then(toml::Value::as_str);
        if found != Some(expected) {
            let line = file.text.lines().position(|line| line.starts_with(key)).map_or(1, |index| index + 1);
            let what = match found {
                Some(found) => format!("{key} is '{found}', but the folder says '{expected}'"),
                None => format!("{key} is not given, the folder says '{expected}'"),
            };
            findings.push(Finding::new(&file.path, line, what, "the folder is services/LANGUAGE/NAME"));
        }
    }
    findings
}

/// Unfinished lines of the skeleton.
fn skeleton(file: &File) -> Vec<Finding> {
    let left = file.text.lines().enumerate().filter(|(_, line)| line.contains(SKELETON));
    left.map(|(index, _)| {
        let what = format!("`{SKELETON}` of the skeleton");
        Finding::new(&file.path, index + 1, what, "fill it in, or delete the line")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "format = \"1.0\"\nname = \"mux\"\nlanguage = \"go\"\n";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files =
            files.iter().map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() });
        let files: Vec<File> = files.collect();
        let paths = files.iter().map(|file| file.path.clone()).collect();
        check(&paths, &files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_service_is_fine() {
        let files = [("services/go/mux/service.toml", GOOD), ("services/go/mux/README.md", "# mux\n")];
        assert_eq!(found(&files), [] as [&str; 0]);
        assert_eq!(found(&[("services/README.md", ""), ("services/cpp/.clang-format", "")]), [] as [&str; 0]);
    }

    #[test]
    fn what_a_service_lacks_is_named() {
        let found = found(&[("services/go/mux/src/deep/main.go", "")]);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("services/go/mux/service.toml:1: is missing"), "{found:?}");
        assert!(found[1].starts_with("services/go/mux/README.md:1: is missing"), "{found:?}");
    }

    #[test]
    fn manifests_are_named_as_their_folder() {
        let files = [("services/rust/axum/service.toml", GOOD), ("services/rust/axum/README.md", "")];
        let found_names = found(&files);
        assert!(found_names[0].contains(":2: name is 'mux', but the folder says 'axum'"), "{found_names:?}");
        assert!(
            found_names[1].contains(":3: language is 'go', but the folder says 'rust'"),
            "{found_names:?}"
        );
        let broken = found(&[("services/go/mux/service.toml", "name = "), ("services/go/mux/README.md", "")]);
        assert!(broken[0].contains("no valid TOML"), "{broken:?}");
        let empty = found(&[("services/go/mux/service.toml", ""), ("services/go/mux/README.md", "")]);
        assert!(empty[0].contains("name is not given"), "{empty:?}");
    }

    #[test]
    fn names_are_unique_over_all_languages() {
        let node = GOOD.replace("\"go\"", "\"node\"");
        let found = found(&[
            ("services/go/mux/service.toml", GOOD),
            ("services/go/mux/README.md", ""),
            ("services/node/mux/service.toml", &node),
            ("services/node/mux/README.md", ""),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("is that of services/go/mux too"), "{found:?}");
    }

    #[test]
    fn a_skeleton_is_not_finished() {
        let readme = format!("# mux\n{SKELETON}: x\n");
        let found = found(&[("services/go/mux/service.toml", GOOD), ("services/go/mux/README.md", &readme)]);
        assert!(found[0].starts_with("services/go/mux/README.md:2:"), "{found:?}");
    }

    #[test]
    fn libraries_deny_missing_documentation() {
        assert_eq!(found(&[("crates/load/src/lib.rs", "//! .\n#![deny(missing_docs)]\n")]), [] as [&str; 0]);
        assert!(
            found(&[("crates/load/src/lib.rs", "//! .\n")])[0].starts_with("crates/load/src/lib.rs:1: lacks")
        );
        assert_eq!(found(&[("crates/cli/src/main.rs", ""), ("crates/host/src/lib.rs", "")]), [] as [&str; 0]);
    }
}
