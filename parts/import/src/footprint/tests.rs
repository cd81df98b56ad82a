//! The whole footprint of test services and of this repository's services.

use std::{fs, path::Path};

use tare_service::build::BuildCost;

use super::*;
use tare_contract::Contract;
use tare_service::catalogue::{Catalogue, RawSocket};

const MANIFEST: &str = r#"
format    = "1.0"
name      = "web"
language  = "fake"
framework = "Web"
url       = "https://example.org"
package   = "pkg:npm/web"
licence   = "MIT"
contracts = ["hello"]
style     = "framework"
[version]
command = ["./build/service", "--version"]
[[build]]
command = ["true"]
[run]
command       = ["./build/service"]
ready-timeout = "10s"
"#;

fn service(root: &Path) -> Service {
    let folder = root.join("services/fake/web");
    fs::create_dir_all(folder.join("build")).unwrap();
    fs::write(folder.join(".gitignore"), "build\nnode_modules\n").unwrap();
    fs::write(folder.join("service.toml"), MANIFEST).unwrap();
    fs::write(folder.join("main.js"), "let x = 1;\n").unwrap();
    Catalogue::load(root, &["hello"], RawSocket::default()).unwrap().get("web").unwrap().clone()
}

#[test]
fn a_service_of_no_ecosystem_has_its_manifest_and_its_program() {
    let root = tempfile::tempdir().unwrap();
    let service = service(root.path());
    let read = |stamp| super::read(&service, stamp, &Releases::default(), &Kept::new(root.path()));
    let unbuilt = read(None);
    assert_eq!((unbuilt.artefact_bytes, unbuilt.build, unbuilt.dependencies.total), (None, None, None));
    assert_eq!((unbuilt.licence.spdx.as_str(), unbuilt.licence.source), ("MIT", FootprintSource::Manifest));
    assert_eq!(unbuilt.code.unwrap().lines, 1);

    fs::write(service.folder.join("build/service"), "12345").unwrap();
    let cost = BuildCost { seconds: 1.5, ..BuildCost::default() };
    let (content, version) = ("c".to_owned(), "1.0".to_owned());
    let built = read(Some(&Entry {
        content,
        files: None,
        version,
        cost,
        folder: service.folder.clone(),
        sources: Vec::new(),
    }));
    assert_eq!(built.artefact_bytes, Some(5));
    assert_eq!(built.build, Some(cost));
}

#[test]
fn a_package_that_contradicts_the_manifest_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let service = service(root.path());
    fs::write(service.folder.join("package.json"), "{ \"dependencies\": { \"web\": \"1\" } }").unwrap();
    let package = service.folder.join("node_modules/web");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("package.json"), "{ \"license\": \"ISC\" }").unwrap();
    let licence = read(&service, None, &Releases::default(), &Kept::new(root.path())).licence;
    assert_eq!((licence.spdx.as_str(), licence.source), ("ISC", FootprintSource::Npm));
    assert_eq!(licence.contradiction.unwrap(), "the package says \"ISC\", the manifest \"MIT\"");
}

#[test]
fn the_manifests_of_this_repository_are_valid_and_its_services_have_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let contracts = Contract::load_all(&root.join("contracts")).unwrap();
    let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
    let catalogue = Catalogue::load(&root, &names, RawSocket::default()).unwrap();
    assert!(catalogue.services.len() > 1 && catalogue.broken.is_empty(), "{:?}", catalogue.broken);
    for service in &catalogue.services {
        if service.id != RAW_SOCKET {
            assert!(code::counted(&service.folder).lines > 0, "{}", service.id);
        }
    }
    Releases::load(&root).unwrap();
}
