//! Packages that a manifest includes by path. Outside the tree all revisions would share them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use super::InstallError;

/// A manifest's name, and a function that finds the paths in its text.
type Reader = (&'static str, fn(&str) -> Vec<String>);
const READERS: [Reader; 13] = [
    ("package.json", of_package),
    ("pnpm-workspace.yaml", of_workspace),
    ("go.mod", of_go),
    ("go.work", of_go),
    ("Cargo.toml", of_toml),
    ("pyproject.toml", of_toml),
    ("Pipfile", of_toml),
    ("requirements.txt", of_requirements),
    ("pom.xml", of_maven),
    ("settings.gradle", of_gradle),
    ("settings.gradle.kts", of_gradle),
    ("Gemfile", of_gemfile),
    ("composer.json", of_composer),
];

/// Checks the manifests in the folder `within` and above it, and all that they include by path.
///
/// # Errors
/// A path leads out of the tree.
pub fn check(tree: &Path, within: &Path) -> Result<(), InstallError> {
    let mut folders: Vec<PathBuf> = within.ancestors().map(Path::to_owned).collect();
    let mut seen: BTreeSet<PathBuf> = folders.iter().cloned().collect();
    while let Some(folder) = folders.pop() {
        for (name, paths) in READERS {
            let file = folder.join(name);
            let Ok(text) = fs::read_to_string(tree.join(&file)) else { continue };
            for path in paths(&text) {
                let Some(inner) = inside(&folder, &path) else {
                    return Err(InstallError::Outside { file, path });
                };
                if tree.join(&inner).is_dir() && seen.insert(inner.clone()) {
                    folders.push(inner);
                }
            }
        }
    }
    Ok(())
}

/// The path relative to the tree; absent if it leads out.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut found = folder.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir if !found.pop() => return None,
            Component::RootDir | Component::Prefix(_) => return None,
            Component::Normal(name) => found.push(name),
            Component::ParentDir | Component::CurDir => {}
        }
    }
    Some(found)
}

/// Finds `file:../lib`, `link:../lib`, `portal:../lib`, and workspaces.
fn of_package(text: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let keys = ["dependencies", "devDependencies", "optionalDependencies", "resolutions", "overrides"];
    let versions = keys.iter().filter_map(|key| package[key].as_object()).flat_map(|all| all.values());
    let of_scheme = |value: &Value| {
        let text = value.as_str()?;
        let path = ["file:", "link:", "portal:"].iter().find_map(|scheme| text.strip_prefix(scheme))?;
        Some(path.to_owned())
    };
    let members = match &package["workspaces"] {
        Value::Object(workspaces) => workspaces.get("packages").cloned().unwrap_or_default(),
        members => members.clone(),
    };
    let members = members.as_array().cloned().unwrap_or_default();
    let members = members.into_iter().filter_map(|member| member.as_str().map(str::to_owned));
    versions.filter_map(of_scheme).chain(members).collect()
}

fn of_workspace(text: &str) -> Vec<String> {
    let item = |line: &str| Some(unquoted(line.trim().strip_prefix("- ")?).to_owned());
    text.lines().filter_map(item).filter(|path| !path.starts_with('!')).collect()
}

/// Finds `replace a => ../b` and a workspace's `use ../b`, also in blocks.
fn of_go(text: &str) -> Vec<String> {
    let is_path = |word: &&str| word.starts_with("./") || word.starts_with("../") || word.starts_with('/');
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words = code.flat_map(|line| line.split_whitespace().map(unquoted));
    words.filter(|word| is_path(word) || *word == "..").map(str::to_owned).collect()
}

/// Finds `path = "../lib"` of a dependency, workspace members, and `file:` URLs.
fn of_toml(text: &str) -> Vec<String> {
    fn walk(value: &toml::Value, is_of_packages: bool, found: &mut Vec<String>) {
        match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    match value.as_str() {
                        Some(path) if key == "path" && is_of_packages => found.push(path.to_owned()),
                        _ => {
                            let names = ["packages", "sources", "patch", "replace", "workspace"];
                            let begins = key.ends_with("dependencies") || names.contains(&key.as_str());
                            walk(value, is_of_packages || begins, found);
                        }
                    }
                }
            }
            toml::Value::Array(all) => all.iter().for_each(|value| walk(value, is_of_packages, found)),
            toml::Value::String(text) => {
                let of_url = text.split_once("file://").map(|(_, path)| path.to_owned());
                // Workspace members are plain strings among others.
                let of_member = Some(text.clone()).filter(|text| is_of_packages && text.starts_with("../"));
                found.extend(of_url.or(of_member));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Ok(table) = text.parse::<toml::Table>() {
        walk(&toml::Value::Table(table), false, &mut found);
    }
    found
}

/// Finds `-e ../lib`, `-r ../other.txt`, `../lib`, and `file:` URLs.
fn of_requirements(text: &str) -> Vec<String> {
    const OPTIONS: [&str; 8] =
        ["-e", "--editable", "-r", "--requirement", "-c", "--constraint", "-f", "--find-links"];
    let path = |line: &str| {
        let line = line.split(" #").next().unwrap_or_default().trim();
        let of_option = OPTIONS.iter().find_map(|option| {
            let rest = line.strip_prefix(option)?;
            rest.starts_with([' ', '=']).then(|| rest.trim_start_matches([' ', '=']))
        });
        let word = of_option.unwrap_or(line);
        let of_url = word.split_once("file://").map(|(_, path)| path);
        let is_path = word.starts_with(['.', '/']) || (of_option.is_some() && !word.contains("://"));
        of_url.or(is_path.then_some(word)).map(|path| path.split('[').next().unwrap_or_default().to_owned())
    };
    text.lines().filter_map(path).collect()
}

/// Finds modules, the parent, and system-scope archives.
fn of_maven(text: &str) -> Vec<String> {
    let of_element = |name: &str| -> Vec<String> {
        let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
        let elements = text.split(&begin).skip(1).filter_map(|rest| rest.split(&end).next());
        elements
            .map(|path| path.trim().replace("${project.basedir}/", "").replace("${basedir}/", ""))
            .collect()
    };
    ["module", "relativePath", "systemPath"]
        .into_iter()
        .flat_map(of_element)
        .filter(|path| !path.contains("${"))
        .collect()
}

/// Finds `includeBuild("../lib")`.
fn of_gradle(text: &str) -> Vec<String> {
    let calls = text.split("includeBuild").skip(1);
    calls.filter_map(|rest| rest.split(['"', '\'']).nth(1)).map(str::to_owned).collect()
}

/// Finds `path: "../lib"` and `:path => "../lib"`.
fn of_gemfile(text: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let code = line.trim_start();
        let rest = code.split_once("path:").or_else(|| code.split_once(":path =>")).map(|(_, rest)| rest)?;
        (!code.starts_with('#')).then(|| rest.split(['"', '\'']).nth(1).map(str::to_owned)).flatten()
    };
    text.lines().filter_map(of_line).collect()
}

fn of_composer(text: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let all = match &package["repositories"] {
        Value::Object(named) => named.values().cloned().collect(),
        Value::Array(all) => all.clone(),
        _ => Vec::new(),
    };
    let of_path = all.iter().filter(|repository| repository["type"] == "path");
    of_path.filter_map(|repository| repository["url"].as_str().map(str::to_owned)).collect()
}

fn unquoted(word: &str) -> &str {
    word.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    fn checked(files: &[(&str, &str)], within: &str) -> Result<(), String> {
        check(tree(files).path(), Path::new(within)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_path_that_leads_out_of_the_tree_is_refused_by_name() {
        for (file, text, path) in [
            ("package.json", r#"{"dependencies": {"lib": "file:../lib"}}"#, "../lib"),
            ("package.json", r#"{"dependencies": {"lib": "link:/srv/lib"}}"#, "/srv/lib"),
            ("package.json", r#"{"workspaces": ["../*"]}"#, "../*"),
            ("pnpm-workspace.yaml", "packages:\n  - '../lib'\n", "../lib"),
            ("go.mod", "module a\nreplace b v1.0.0 => ../b // here\n", "../b"),
            ("go.work", "go 1.26\nuse (\n\t.\n\t../b\n)\n", "../b"),
            ("Cargo.toml", "[dependencies]\nb = { path = \"../b\" }\n", "../b"),
            ("Cargo.toml", "[target.'cfg(unix)'.dependencies.b]\npath = \"/srv/b\"\n", "/srv/b"),
            ("Cargo.toml", "[patch.crates-io]\nb = { path = \"../b\" }\n", "../b"),
            ("Cargo.toml", "[workspace]\nmembers = [\"../b\"]\n", "../b"),
            ("pyproject.toml", "[tool.uv.sources]\nb = { path = \"../b\", editable = true }\n", "../b"),
            ("pyproject.toml", "[tool.poetry.dependencies]\nb = { path = \"../b\" }\n", "../b"),
            ("pyproject.toml", "[project]\ndependencies = [\"b @ file:///srv/b\"]\n", "/srv/b"),
            ("requirements.txt", "flask==3\n-e ../b[x]\n", "../b"),
            ("requirements.txt", "b @ file:///srv/b.whl\n", "/srv/b.whl"),
            ("requirements.txt", "../b\n", "../b"),
            (
                "pom.xml",
                "<parent><relativePath>../parent/pom.xml</relativePath></parent>",
                "../parent/pom.xml",
            ),
            ("pom.xml", "<systemPath>/srv/b.jar</systemPath>", "/srv/b.jar"),
            ("settings.gradle.kts", "includeBuild(\"../b\")", "../b"),
            ("Gemfile", "gem 'b', path: '../b'\n", "../b"),
            ("composer.json", r#"{"repositories": [{"type": "path", "url": "../b"}]}"#, "../b"),
        ] {
            let refused = checked(&[(file, text)], "").unwrap_err();
            let wanted = format!("{file} takes \"{path}\", which lies outside of the repository");
            assert!(refused.starts_with(&wanted), "{refused}");
        }
    }

    #[test]
    fn what_lies_in_the_tree_may_be_taken_and_is_looked_at_too() {
        let files = [
            ("services/shop/Cargo.toml", "[dependencies]\nlib = { path = \"../../lib\" }\nx = \"1\"\n"),
            (
                "services/shop/requirements.txt",
                "-r ../../all.txt\nflask==3\n--index-url https://example.org\n",
            ),
            ("services/shop/go.mod", "module a\nrequire github.com/b/c v1.0.0\nreplace b => ../../lib\n"),
            ("lib/Cargo.toml", "[[bin]]\nname = \"x\"\npath = \"../x.rs\"\n"),
        ];
        assert_eq!(checked(&files, "services/shop"), Ok(()));
        let further = [&files[..], &[("lib/go.mod", "module l\nreplace d => ../../d\n")]].concat();
        let refused = checked(&further, "services/shop").unwrap_err();
        assert!(refused.starts_with("lib/go.mod takes \"../../d\""), "{refused}");
        assert!(
            checked(&[("go.work", "use ../b\n"), ("a/go.mod", "module a\n")], "a").is_err(),
            "above it too"
        );
    }
}
