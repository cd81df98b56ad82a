//! Go modules: `go get` sets the release, and `go mod tidy` updates the checksums. Another major version is
//! another module, which the code would have to import.

use super::{ReleaseError, Service, Step, from_registry, needs, no_build};

pub(super) const FILE: &str = "go.mod";

pub(super) fn build(service: &Service, module: &str, version: &str) -> Result<Vec<Step>, ReleaseError> {
    needs(service, FILE, "go")?;
    if service.build.is_empty() {
        return Err(no_build(service, ""));
    }
    // Only Go writes versions with a v.
    let version = version.strip_prefix('v').unwrap_or(version);
    let get = from_registry(&["go", "get", &format!("{module}@v{version}")]);
    let tidy = from_registry(&["go", "mod", "tidy"]);
    Ok([vec![get, tidy], service.build.clone()].concat())
}
