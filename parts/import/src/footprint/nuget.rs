//! NuGet: the packages in the project file and in the restore. ASP.NET is part of the SDK, so the manifest's
//! licence counts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use roxmltree::Document;
use serde_json::Value;

use super::{Package, size};
use tare_service::{catalogue::Service, footprint::Dependencies};

pub(super) fn read(service: &Service) -> Package {
    let direct = project(&service.folder).and_then(|path| direct(&fs::read_to_string(path).ok()?));
    let assets = ["obj", "build/obj"].map(|folder| service.place.join(folder).join("project.assets.json"));
    let assets = assets.iter().find_map(|path| fs::read(path).ok());
    let total = assets.and_then(|bytes| brought(&serde_json::from_slice(&bytes).ok()?));
    Package {
        licence: None,
        dependencies: Dependencies { direct, total },
        artefact_bytes: published(service).map(|folder| size::tree(&folder)),
    }
}

/// The project file of a folder, if there is one.
pub(super) fn project(folder: &Path) -> Option<PathBuf> {
    let mut files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|kind| kind == "csproj" || kind == "fsproj"))
}

/// The folder of the published program, from the library in the version command, since a script may start it.
fn published(service: &Service) -> Option<PathBuf> {
    let mut words = service.run.command.iter().chain(&service.version.command);
    let program = service.place.join(words.find(|word| word.ends_with(".dll"))?);
    let folder = program.parent().filter(|folder| program.is_file() && *folder != &*service.place)?;
    Some(folder.to_owned())
}

fn direct(project: &str) -> Option<usize> {
    let document = Document::parse(project).ok()?;
    Some(document.descendants().filter(|node| node.tag_name().name() == "PackageReference").count())
}

fn brought(assets: &Value) -> Option<usize> {
    Some(assets["libraries"].as_object()?.values().filter(|library| library["type"] == "package").count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_count_and_the_sdk_does_not() {
        let project = "<Project Sdk=\"Microsoft.NET.Sdk.Web\"><ItemGroup><PackageReference Include=\"A\"/>\
            </ItemGroup></Project>";
        assert_eq!(direct(project), Some(1));
        let assets = serde_json::json!({ "libraries": { "A/1": { "type": "package" }, "own/1": { "type": "project" } } });
        assert_eq!(brought(&assets), Some(1));
        assert_eq!(brought(&Value::Null), None);
    }
}
