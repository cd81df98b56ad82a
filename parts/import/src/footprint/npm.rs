//! npm: `package.json`, lock file, and the content of `node_modules`, without packages for other systems.

use std::{fs, path::Path};

use serde_json::Value;

use super::{Package, code, size};
use tare_service::{
    catalogue::{PackageUrl, Service},
    footprint::Dependencies,
};

pub(super) fn read(service: &Service) -> Package {
    look(&service.folder, &service.place, service.package.as_ref())
}

/// `place` is the folder of the build.
fn look(folder: &Path, place: &Path, package: Option<&PackageUrl>) -> Package {
    let direct = json(&folder.join("package.json")).map(|own| members(&own, "dependencies").count());
    let modules = place.join("node_modules");
    let built = direct == Some(0) || modules.is_dir();
    let sources = || code::sources(folder).iter().map(|(path, _)| size::of(path)).sum::<u64>();
    Package {
        licence: package.and_then(|package| licence(&modules, package)),
        dependencies: Dependencies { direct, total: built.then(|| installed(place)) },
        artefact_bytes: built.then(|| sources() + size::tree(&modules)),
    }
}

/// Old packages have an object with `type` instead of a string.
fn licence(modules: &Path, package: &PackageUrl) -> Option<String> {
    let scope = package.namespace().map(|scope| scope.replace("%40", "@")).unwrap_or_default();
    let about = json(&modules.join(scope).join(package.name()).join("package.json"))?;
    let stated = &about["license"];
    stated.as_str().or_else(|| stated["type"].as_str()).map(str::to_owned)
}

/// Number of installed packages that the service needs at run time.
fn installed(folder: &Path) -> usize {
    let Some(lock) = json(&folder.join("package-lock.json")) else { return 0 };
    let needed =
        members(&lock, "packages").filter(|(path, package)| !path.is_empty() && package["dev"] != true);
    needed.filter(|(path, _)| folder.join(path).join("package.json").is_file()).count()
}

fn members<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value[name].as_object().into_iter().flatten()
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_installed_and_needed_to_run_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let package: PackageUrl = "pkg:npm/%40scope/web".parse().unwrap();
        write(".gitignore", "node_modules\n");
        write(
            "package.json",
            r#"{ "dependencies": { "@scope/web": "1", "b": "1" }, "devDependencies": { "c": "1" } }"#,
        );
        write("server.js", "12345678\n");
        let unbuilt = look(folder.path(), folder.path(), Some(&package));
        assert_eq!(unbuilt.dependencies, Dependencies { direct: Some(2), total: None });
        assert_eq!((unbuilt.artefact_bytes, unbuilt.licence), (None, None));

        let lock = r#"{ "packages": { "": {}, "node_modules/@scope/web": {}, "node_modules/b": {},
            "node_modules/b/node_modules/d": {}, "node_modules/c": { "dev": true },
            "node_modules/other-system": { "optional": true } } }"#;
        write("package-lock.json", lock);
        write("node_modules/@scope/web/package.json", r#"{ "license": "ISC" }"#);
        for name in ["b", "b/node_modules/d", "c"] {
            write(&format!("node_modules/{name}/package.json"), "{}");
        }
        let found = look(folder.path(), folder.path(), Some(&package));
        assert_eq!(found.dependencies, Dependencies { direct: Some(2), total: Some(3) });
        assert_eq!(found.licence.as_deref(), Some("ISC"));
        assert_eq!(found.artefact_bytes, Some(9 + 20 + 3 * 2));
    }
}
