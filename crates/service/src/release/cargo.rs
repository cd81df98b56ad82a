//! Cargo: `cargo add` sets a direct dependency in `Cargo.toml` and keeps its features; `cargo update
//! --precise` sets the locked version of an indirect one.

use std::fs;

use super::{ReleaseError, Service, Step, from_registry, needs, no_build};

pub(super) const FILE: &str = "Cargo.toml";

pub(super) fn build(service: &Service, name: &str, version: &str) -> Result<Vec<Step>, ReleaseError> {
    let path = needs(service, FILE, "cargo")?;
    if service.build.is_empty() {
        return Err(no_build(service, ""));
    }
    let unreadable = |reason: String| ReleaseError::Unreadable { path: path.clone(), reason };
    let text = fs::read_to_string(&path).map_err(|error| unreadable(error.to_string()))?;
    let manifest: toml::Table =
        text.parse().map_err(|error: toml::de::Error| unreadable(error.to_string()))?;
    let is_asked_for = manifest.get("dependencies").is_some_and(|asked| asked.get(name).is_some());
    let set = match is_asked_for {
        true => vec![
            from_registry(&["cargo", "add", "--quiet", &format!("{name}@={version}")]),
            // Updates the lock file with as few changes as possible: later steps may require it.
            from_registry(&["cargo", "fetch"]),
        ],
        false => vec![from_registry(&["cargo", "update", name, "--precise", version])],
    };
    Ok([set, service.build.clone()].concat())
}
