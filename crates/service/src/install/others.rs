//! Packages of Go, Java, Rust, Ruby and PHP.

use std::{fs, path::Path};

use super::{InFolder, online};

pub(super) const CARGO_LOCK: &str = "Cargo.lock";
pub(super) const GEMFILE_LOCK: &str = "Gemfile.lock";

/// Go's module cache is content-addressed: the step only fills it before the service starts.
pub(crate) fn of_go(folder: &Path) -> Option<InFolder> {
    let module = fs::read_to_string(folder.join("go.mod")).ok()?;
    let requires = module.lines().any(|line| line.trim_start().starts_with("require"));
    let is_vendored = folder.join("vendor/modules.txt").is_file();
    (requires && !is_vendored).then(|| InFolder::new("go.mod", vec![online("go mod download")]))
}

/// Maven and Gradle fetch dependencies when they compile, so the step packages the service.
pub(super) fn of_java(folder: &Path) -> Option<InFolder> {
    of_maven(folder).or_else(|| of_gradle(folder))
}

pub(crate) fn of_maven(folder: &Path) -> Option<InFolder> {
    let has = |name: &str| folder.join(name).is_file();
    let maven = if has("mvnw") { "./mvnw" } else { "mvn" };
    let package = format!("{maven} --batch-mode --quiet -DskipTests package");
    has("pom.xml").then(|| InFolder::new("pom.xml", vec![online(&package)]))
}

pub(crate) fn of_gradle(folder: &Path) -> Option<InFolder> {
    let has = |name: &str| folder.join(name).is_file();
    let script = ["build.gradle.kts", "build.gradle"].into_iter().find(|name| has(name))?;
    let gradle = if has("gradlew") { "./gradlew" } else { "gradle" };
    let text = fs::read_to_string(folder.join(script)).unwrap_or_default();
    let task = if text.contains("org.springframework.boot") { "bootJar" } else { "build" };
    Some(InFolder::new(script, vec![online(&format!("{gradle} --quiet {task}"))]))
}

/// Crates are compiled with the service, so the step builds it, with the lock file if there is one.
pub(crate) fn of_rust(folder: &Path, is_release: bool) -> Option<InFolder> {
    let has = |name: &str| folder.join(name).is_file();
    let release = if is_release { " --release" } else { "" };
    let (lock, locked) = if has(CARGO_LOCK) { (CARGO_LOCK, " --locked") } else { ("Cargo.toml", "") };
    has("Cargo.toml").then(|| InFolder::new(lock, vec![online(&format!("cargo build{release}{locked}"))]))
}

pub(super) fn unlocked_rust(folder: &Path) -> Option<(&'static str, &'static str)> {
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok()?;
    let packages = manifest.get("dependencies").and_then(toml::Value::as_table);
    packages.is_some_and(|packages| !packages.is_empty()).then_some(("Cargo.toml", "cargo build --release"))
}

/// If there is a lock file, installs into the tree: the default folder is shared by all trees.
pub(crate) fn of_ruby(folder: &Path) -> Option<InFolder> {
    const INSTALL: &str = "bundle install --quiet";
    let has = |name: &str| folder.join(name).is_file();
    if has(GEMFILE_LOCK) {
        let configure = ["path vendor/bundle", "frozen true"]
            .map(|what| super::offline(&format!("bundle config set --local {what}")));
        return Some(InFolder::new(GEMFILE_LOCK, configure.into_iter().chain([online(INSTALL)]).collect()));
    }
    has("Gemfile").then(|| InFolder::new("Gemfile", vec![online(INSTALL)]))
}

pub(super) fn unlocked_ruby(folder: &Path) -> Option<(&'static str, &'static str)> {
    const INSTALL: &str = "bundle config set --local path vendor/bundle && bundle install";
    folder.join("Gemfile").is_file().then_some(("Gemfile", INSTALL))
}

pub(crate) fn of_php(folder: &Path) -> Option<InFolder> {
    const LOCK: &str = "composer.lock";
    let install = || vec![online("composer install --no-interaction --no-progress")];
    folder.join(LOCK).is_file().then(|| InFolder::new(LOCK, install()))
}

pub(super) fn unlocked_php(folder: &Path) -> Option<(&'static str, &'static str)> {
    const FILE: &str = "composer.json";
    let text = fs::read_to_string(folder.join(FILE)).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    // PHP itself and its extensions are not packages.
    let mut packages = package["require"].as_object()?.keys();
    packages.any(|name| name.contains('/')).then_some((FILE, "composer install"))
}
