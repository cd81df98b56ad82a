//! The package of a service: the key `package` of its manifest.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use packageurl::PackageUrl;

use crate::services::Service;

/// A service, and the package that determines its releases.
#[derive(Debug)]
pub(super) struct Pinned {
    pub name: String,
    pub folder: PathBuf,
    /// Absent where the framework comes with its language
    pub package: Option<PackageUrl<'static>>,
}

/// Reads the manifest.
pub(super) fn read(service: &Service) -> Result<Pinned> {
    let path = service.folder.join("service.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read '{}'", path.display()))?;
    let package = package(&text).with_context(|| path.display().to_string())?;
    Ok(Pinned { name: service.name.clone(), folder: service.folder.clone(), package })
}

fn package(manifest: &str) -> Result<Option<PackageUrl<'static>>> {
    let table: toml::Table = manifest.parse()?;
    let Some(value) = table.get("package") else { return Ok(None) };
    let text = value.as_str().context("package is no string")?;
    Ok(Some(text.parse().with_context(|| format!("package '{text}' is no package URL"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_a_url_or_absent() {
        let some = package("name = \"koa\"\npackage = \"pkg:npm/koa\"\n").unwrap();
        assert_eq!(some.unwrap().to_string(), "pkg:npm/koa");
        assert!(package("name = \"net-http\"\n").unwrap().is_none());
        for bad in ["package = 3", "package = \"koa\"", "package = "] {
            assert!(package(bad).is_err(), "{bad}");
        }
    }
}
