//! `services/releases.toml`: the newest release of each framework, as found by `cargo xtask services-update`.
//! The file is in git, so that lists need no network. Without it no release is known.

use std::path::Path;

use packageurl::PackageUrl;
use serde::Deserialize;

use tare_base::document::{self, DocumentError};
use tare_service::footprint::Release;

/// The supported version of the format.
const FORMAT: &str = "1.0";

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Releases {
    #[serde(rename = "format")]
    _format: String,
    #[serde(default)]
    release: Vec<Release>,
}

impl Releases {
    /// Reads `ROOT/services/releases.toml`. Without the file no release is known.
    ///
    /// # Errors
    /// The file cannot be read or is not valid.
    pub(super) fn load(root: &Path) -> Result<Releases, DocumentError> {
        let path = root.join("services").join("releases.toml");
        if !path.exists() {
            return Ok(Releases::default());
        }
        document::parse(&path, &document::read(&path)?, FORMAT)
    }

    pub(super) fn of(&self, package: &PackageUrl) -> Option<&Release> {
        let name = package.to_string();
        self.release.iter().find(|release| release.package == name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn load(text: &str) -> Result<Releases, String> {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("services")).unwrap();
        fs::write(root.path().join("services/releases.toml"), text).unwrap();
        Releases::load(root.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_release_is_found_by_its_package() {
        let text = "format = \"1.0\"\n[[release]]\npackage = \"pkg:npm/@scope/web\"\nused = \"1.0\"\nnewest = \"1.1\"\n\
            newest-date = \"2026-04-14\"\nasked = \"2026-11-21\"\n[[release]]\npackage = \"pkg:cargo/axum\"\n\
            used = \"0.8.9\"\nnewest = \"0.8.9\"\nasked = \"2026-11-21\"\n";
        let releases = load(text).unwrap();
        let of = |package: &str| releases.of(&package.parse().unwrap()).cloned();
        assert_eq!(of("pkg:npm/%40scope/web").unwrap().newest_date.unwrap().to_string(), "2026-04-14");
        assert_eq!(of("pkg:cargo/axum").unwrap().newest_date, None);
        let kept = serde_json::to_value(of("pkg:npm/%40scope/web").unwrap()).unwrap();
        assert_eq!(kept["newest_date"], "2026-04-14");
        assert_eq!(serde_json::from_value::<Release>(kept).unwrap(), of("pkg:npm/%40scope/web").unwrap());
        assert_eq!(of("pkg:cargo/hyper"), None);
    }

    #[test]
    fn no_file_is_no_mistake_and_a_wrong_one_is() {
        let nowhere = tempfile::tempdir().unwrap();
        assert!(Releases::load(nowhere.path()).is_ok());
        assert!(
            load("format = \"1.0\"\n[[release]]\nnewset = \"1\"\n")
                .unwrap_err()
                .contains("did you mean \"newest\"?")
        );
        assert!(load("").unwrap_err().contains("needs the key format"));
        let date = "format = \"1.0\"\n[[release]]\npackage = \"pkg:cargo/a\"\nused = \"1\"\nnewest = \"1\"\nasked = \"soon\"\n";
        assert!(load(date).unwrap_err().contains("services/releases.toml:6:"));
    }
}
