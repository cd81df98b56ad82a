//! Discovers Rust services: the binary of a package.

use std::path::{Path, PathBuf};

use super::{Guess, text, with_port};
use crate::install;

const FRAMEWORKS: [(&str, &str); 6] = [
    ("axum", "axum"),
    ("actix-web", "Actix Web"),
    ("rocket", "Rocket"),
    ("warp", "warp"),
    ("poem", "Poem"),
    ("hyper", "hyper"),
];

pub(super) fn guesses(folder: &Path) -> Vec<Guess> {
    let manifest = text(folder, "Cargo.toml").and_then(|text| text.parse::<toml::Table>().ok());
    let Some(manifest) = manifest else { return Vec::new() };
    let package =
        manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let binaries = manifest.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
    let named = binaries.filter_map(|binary| binary.get("name").and_then(toml::Value::as_str));
    let names = named.chain(package.filter(|_| folder.join("src/main.rs").is_file()));
    let depends = |name: &str| manifest.get("dependencies").is_some_and(|all| all.get(name).is_some());
    let framework = FRAMEWORKS.iter().find(|(name, _)| depends(name)).map_or("Rust", |(_, name)| name);
    let of_binary = |name: &str| -> Vec<Guess> {
        let build = install::of_rust(folder, true).map(|found| found.steps).unwrap_or_default();
        let commands = with_port(folder, ".rs", &format!("target/release/{name}"));
        let guess = |command| Guess {
            what: framework.to_owned(),
            file: PathBuf::from("Cargo.toml"),
            build: build.clone(),
            command,
        };
        commands.into_iter().map(guess).collect()
    };
    names.flat_map(of_binary).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::guessed;

    #[test]
    fn a_package_has_a_binary_of_its_name() {
        let manifest = "[package]\nname = \"shop\"\n[dependencies]\naxum = \"0.8\"\n";
        assert_eq!(
            guessed(&[("Cargo.toml", manifest), ("src/main.rs", "env::var(\"PORT\")")]),
            ["axum (Cargo.toml): cargo build --release && target/release/shop"]
        );
        assert!(guessed(&[("Cargo.toml", manifest), ("src/lib.rs", "")]).is_empty(), "a library");
    }
}
