//! Rule for manifests: the code of a crate names each crate that its Cargo.toml asks for.
//!
//! Works on words: a dependency counts as used if its name stands as a word in a Rust file of the crate, in a comment too.
//! services/ are not crates of this workspace, and Cargo itself finds what is missing.

use super::{File, Finding, text::has_word};

/// Packages whose crate has another name.
const NAMES: [(&str, &str); 1] = [("rustls-webpki", "webpki")];

/// One finding for each dependency that no code names.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let manifests = files.iter().filter(|file| file.name() == "Cargo.toml" && is_ours(&file.path));
    manifests.flat_map(|manifest| unused(manifest, files)).collect()
}

fn is_ours(path: &str) -> bool {
    let folders: Vec<&str> = path.split('/').collect();
    matches!(folders[..], ["crates" | "parts" | "dev", _, _] | ["xtask", _])
}

fn unused(manifest: &File, files: &[File]) -> Vec<Finding> {
    let folder = manifest.path.trim_end_matches("Cargo.toml");
    let code: Vec<&str> = files
        .iter()
        .filter(|file| file.extension() == "rs" && file.path.starts_with(folder))
        .map(|file| file.text.as_str())
        .collect();
    let is_named = |name: &str| code.iter().any(|text| has_word(text, name));
    dependencies(&manifest.text)
        // A crate asks for itself to give its tests a feature.
        .filter(|(_, package)| !manifest.text.contains(&format!("\nname = \"{package}\"\n")))
        .filter(|(_, package)| {
            let other = NAMES.iter().find(|(known, _)| known == package).map(|(_, name)| *name);
            !is_named(&other.map_or_else(|| package.replace('-', "_"), str::to_owned))
        })
        .map(|(line, package)| {
            let what = format!("no code of this crate names {package}");
            Finding::new(&manifest.path, line, what, "remove the dependency")
        })
        .collect()
}

/// The packages of `[dependencies]`, `[dev-dependencies]` and `[build-dependencies]`, with their lines.
fn dependencies(manifest: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_inside = false;
    manifest.lines().enumerate().filter_map(move |(index, line)| {
        if let Some(heading) = line.strip_prefix('[') {
            is_inside = line.ends_with("dependencies]");
            let (_, table) = heading.split_once("dependencies.")?;
            return Some((index + 1, table.trim_end_matches(']')));
        }
        let name =
            line.split(['.', ' ', '=']).next().filter(|name| !name.is_empty() && !name.starts_with('#'))?;
        is_inside.then_some((index + 1, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_no_code_names_is_found_with_its_line() {
        let manifest = "[package]\nname = \"tare-a\"\n[dependencies]\nserde.workspace = true\n# Why.\n\
            rustls-webpki = \"1\"\nserde_json = \"1\"\n[dev-dependencies]\nquick-junit.workspace = true\n";
        let files = File::all(&[
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/src/lib.rs", "use serde::Serialize;\nuse webpki::Error;\nlet my_quick_junit = 1;\n"),
            ("crates/b/src/lib.rs", "use serde_json::Value;\n"),
            ("crates/b/Cargo.toml", "[dependencies.serde_json]\nversion = \"1\"\n[dev-dependencies.toml]\n"),
            ("services/rust/hyper/Cargo.toml", "[dependencies]\nhyper = \"1\"\n"),
        ]);
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "crates/a/Cargo.toml:7: no code of this crate names serde_json (remove the dependency)",
                "crates/a/Cargo.toml:9: no code of this crate names quick-junit (remove the dependency)",
                "crates/b/Cargo.toml:3: no code of this crate names toml (remove the dependency)",
            ]
        );
    }
}
