//! `cargo xtask new-service`: the skeleton of a service, from templates and from the commands of a sibling.
//!
//! It uses names, folders and the headings of a manifest. The catalogue in `crates/service` checks manifests,
//! and refuses the skeleton until it is complete.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::services::{self, Service};

const MANIFEST: &str = include_str!("../templates/service.toml");
const COMMANDS: &str = include_str!("../templates/commands.toml");
const README: &str = include_str!("../templates/README.md");

/// The tables of a sibling that are useful as a start; its settings and variants are not copied.
const COPIED: [&str; 4] = ["[version]", "[[requires]]", "[[build]]", "[run]"];

/// What the user asks for
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of the language: cpp, go, node, python, rust, or a new one
    language: String,
    /// Name of the service, unique over all languages
    name: String,
    /// Sibling of the same language whose commands are copied [default: the first of style "framework"]
    #[arg(long, value_name = "SERVICE")]
    like: Option<String>,
}

/// Writes the skeleton and prints the next steps.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { language, name, like } = arguments;
    check_word("language", language)?;
    check_word("name", name)?;
    let services = services::all(root)?;
    if let Some(taken) = services.iter().find(|service| service.name == *name) {
        bail!(
            "services/{}/{name} has this name already: names are unique over all languages",
            taken.language
        );
    }
    let siblings: Vec<&Service> = services.iter().filter(|service| service.language == *language).collect();
    let sibling = sibling(&siblings, like.as_deref())?;
    let commands = match &sibling {
        Some((service, manifest)) => copied_commands(manifest, &service.name, name),
        None => COMMANDS.to_owned(),
    };
    let manifest = fill(MANIFEST, language, name).replace("{{commands}}\n", &commands);
    // The sibling's tables are copied as text to keep comments; parsing verifies the cut.
    let _: toml::Table =
        manifest.parse().context("the skeleton would be no valid TOML: try another --like")?;

    let folder = root.join("services").join(language).join(name);
    fs::create_dir_all(folder.parent().unwrap_or(root))?;
    fs::create_dir(&folder).with_context(|| format!("cannot create 'services/{language}/{name}'"))?;
    write_new(&folder.join("service.toml"), &manifest)?;
    write_new(&folder.join("README.md"), &fill(README, language, name))?;
    print!("{}", next_steps(language, name, sibling.as_ref().map(|(service, _)| service.name.as_str())));
    Ok(ExitCode::SUCCESS)
}

fn check_word(what: &str, word: &str) -> Result<()> {
    let letters = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let ends = word.starts_with(|c: char| c.is_ascii_lowercase()) && !word.ends_with('-');
    ensure!(
        letters && ends && !word.contains("--"),
        "the {what} '{word}' must be lowercase letters, digits and single hyphens, and begin with a letter"
    );
    Ok(())
}

/// The sibling to copy from: the requested one, else the first plain framework, else the first.
fn sibling<'a>(siblings: &[&'a Service], like: Option<&str>) -> Result<Option<(&'a Service, String)>> {
    if let Some(like) = like {
        let names: Vec<&str> = siblings.iter().map(|service| service.name.as_str()).collect();
        let found = siblings.iter().find(|service| service.name == like).with_context(|| {
            format!("no service '{like}' in this language to copy from: there is [{}]", names.join(", "))
        })?;
        let path = found.folder.join("service.toml");
        let manifest =
            fs::read_to_string(&path).with_context(|| format!("cannot read '{}'", path.display()))?;
        return Ok(Some((found, manifest)));
    }
    let mut first = None;
    for service in siblings {
        // An unfinished folder without a manifest is skipped.
        let Ok(manifest) = fs::read_to_string(service.folder.join("service.toml")) else { continue };
        if style(&manifest).as_deref() == Some("framework") {
            return Ok(Some((service, manifest)));
        }
        first = first.or(Some((*service, manifest)));
    }
    Ok(first)
}

fn style(manifest: &str) -> Option<String> {
    let table: toml::Table = manifest.parse().ok()?;
    Some(table.get("style")?.as_str()?.to_owned())
}

/// The copied tables as text. The program SIBLING-service becomes NAME-service.
fn copied_commands(manifest: &str, sibling: &str, name: &str) -> String {
    let mut commands = format!("# Copied from {sibling}: check each.\n");
    let mut copying = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            copying = COPIED.iter().any(|heading| line.starts_with(heading));
        } else if line.starts_with('#') {
            // An unindented comment belongs to the table below it.
            copying = false;
        }
        if copying {
            commands.push_str(&line.replace(&format!("/{sibling}-service"), &format!("/{name}-service")));
            commands.push('\n');
        }
    }
    commands.truncate(commands.trim_end().len());
    commands + "\n\n"
}

fn fill(template: &str, language: &str, name: &str) -> String {
    template.replace("{{language}}", language).replace("{{name}}", name)
}

fn write_new(path: &Path, text: &str) -> Result<()> {
    let file = fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    file.with_context(|| format!("cannot write '{}'", path.display()))
}

fn next_steps(language: &str, name: &str, sibling: Option<&str>) -> String {
    let commands = match sibling {
        Some(sibling) => format!("the commands are those of {sibling}, as a start"),
        None => format!("the first service in '{language}', so the commands are yours to write"),
    };
    format!(
        "made services/{language}/{name} ({commands})\n\n\
         next:\n\
         1. replace every FILL-IN in service.toml and README.md\n\
         2. write the program and pin its dependencies with the ecosystem's own lock file (docs/reference/service.md)\n\
         3. tare build {name}\n\
         4. tare verify {name}\n\
         5. cargo xtask tidy\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXUM: &str = r#"name = "axum"
style = "framework"

[version]
command = ["./target/release/axum-service", "--version"]

[[requires]]   # the toolchain
command = ["cargo", "--version"]

[run]
command = ["./target/release/axum-service"]

[[setting]]
what = "axum's own"

# about the variant
[[variant]]
name = "x"
"#;

    fn arguments(language: &str, name: &str, like: Option<&str>) -> Arguments {
        Arguments { language: language.into(), name: name.into(), like: like.map(Into::into) }
    }

    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            (
                "services/rust/actix/service.toml",
                "style = \"framework-tuned\"\n[run]\ncommand = [\"actix\"]\n",
            ),
            ("services/rust/axum/service.toml", AXUM),
            ("services/go/empty/main.go", ""),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn manifest(root: &Path, service: &str) -> String {
        fs::read_to_string(root.join("services").join(service).join("service.toml")).unwrap()
    }

    #[test]
    fn names_are_lowercase_words() {
        for good in ["a", "gorilla-mux", "h2o", "drogon2"] {
            assert!(check_word("name", good).is_ok(), "{good}");
        }
        for bad in ["", "Axum", "a_b", "-a", "a-", "a--b", "2fast", "a/b", "..", "a:b", "ä"] {
            assert!(check_word("name", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn copies_the_commands_of_a_framework_and_nothing_else() {
        let root = repository();
        run(root.path(), &arguments("rust", "salvo", None)).unwrap();
        let text = manifest(root.path(), "rust/salvo");
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["name"].as_str(), Some("salvo"));
        assert_eq!(table["language"].as_str(), Some("rust"));
        assert_eq!(table["run"]["command"][0].as_str(), Some("./target/release/salvo-service"));
        assert_eq!(table["requires"].as_array().map(Vec::len), Some(1));
        assert!(
            text.contains("# the toolchain") && !text.contains("axum's own") && !text.contains("variant]]")
        );
        assert!(table["style"].as_str().unwrap().starts_with("FILL-IN"), "the catalogue must refuse it");
    }

    #[test]
    fn copies_from_the_sibling_that_is_asked_for() {
        let root = repository();
        run(root.path(), &arguments("rust", "salvo", Some("actix"))).unwrap();
        assert!(manifest(root.path(), "rust/salvo").contains("command = [\"actix\"]"));
        let error = run(root.path(), &arguments("rust", "warp", Some("gin"))).unwrap_err().to_string();
        assert!(error.contains("'gin'") && error.contains("actix, axum, salvo"), "{error}");
    }

    #[test]
    fn without_a_sibling_there_is_a_skeleton_to_fill_in() {
        let root = repository();
        for (language, name) in [("zig", "zap"), ("go", "gin")] {
            run(root.path(), &arguments(language, name, None)).unwrap();
            let table: toml::Table = manifest(root.path(), &format!("{language}/{name}")).parse().unwrap();
            assert!(table["run"]["command"][0].as_str().unwrap().starts_with("FILL-IN"));
        }
    }

    #[test]
    fn refuses_a_name_that_is_taken_in_any_language_and_overwrites_nothing() {
        let root = repository();
        for language in ["rust", "go"] {
            let error = run(root.path(), &arguments(language, "axum", None)).unwrap_err().to_string();
            assert!(error.contains("services/rust/axum"), "{error}");
        }
        assert_eq!(manifest(root.path(), "rust/axum"), AXUM);
        assert!(run(root.path(), &arguments("go", "empty", None)).is_err());
    }
}
