//! Cargo: `cargo metadata` of the lock file, offline. Counts what is compiled for this machine, without
//! crates that only other systems or tests need.

use std::collections::HashSet;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

use super::{Package, ask::ask, executable_bytes};
use tare_service::{catalogue::Service, footprint::Dependencies};

pub(super) fn read(service: &Service) -> Package {
    let artefact_bytes = executable_bytes(service);
    let Some(metadata) = metadata(service) else { return Package { artefact_bytes, ..Package::default() } };
    let name = service.package.as_ref().map(|package| package.name());
    Package {
        licence: name.and_then(|name| licence(&metadata, name)),
        dependencies: count(&metadata),
        artefact_bytes,
    }
}

/// Absent if cargo has not yet fetched the packages of the lock file.
fn metadata(service: &Service) -> Option<Metadata> {
    let version = ask(&service.folder, "cargo", ["--version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "))?;
    let words = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host];
    MetadataCommand::parse(ask(&service.folder, "cargo", words)).ok()
}

fn licence(metadata: &Metadata, name: &str) -> Option<String> {
    metadata.packages.iter().find(|package| package.name == name)?.license.clone()
}

/// Counts the crates that the service's crate reaches by normal and build dependencies.
fn count(metadata: &Metadata) -> Dependencies {
    let Some(resolve) = &metadata.resolve else { return Dependencies::default() };
    let needs = |id: &PackageId| -> Vec<&PackageId> {
        let node = resolve.nodes.iter().find(|node| node.id == *id);
        let edges = node.into_iter().flat_map(|node| &node.deps);
        let needed = edges.filter(|edge| {
            edge.dep_kinds.is_empty()
                || edge.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development)
        });
        needed.map(|edge| &edge.pkg).collect()
    };
    let Some(root) = &resolve.root else { return Dependencies::default() };
    let direct = needs(root);
    let mut reached: HashSet<&PackageId> = HashSet::new();
    let mut waiting = direct.clone();
    while let Some(id) = waiting.pop() {
        if reached.insert(id) {
            waiting.extend(needs(id));
        }
    }
    Dependencies { direct: Some(direct.len()), total: Some(reached.len()) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn package(name: &str, licence: Value) -> Value {
        json!({ "name": name, "version": "1.0.0", "id": name, "license": licence, "dependencies": [], "targets": [],
            "features": {}, "manifest_path": format!("/{name}/Cargo.toml") })
    }

    fn edge(name: &str, kind: Value) -> Value {
        json!({ "name": name, "pkg": name, "dep_kinds": [{ "kind": kind, "target": null }] })
    }

    fn node(name: &str, deps: Vec<Value>) -> Value {
        json!({ "id": name, "dependencies": [], "deps": deps, "features": [] })
    }

    #[test]
    fn what_is_compiled_counts_and_tests_do_not() {
        let nodes = vec![
            node(
                "service",
                vec![edge("web", Value::Null), edge("test", json!("dev")), edge("build", json!("build"))],
            ),
            node("web", vec![edge("http", Value::Null)]),
            node("http", vec![edge("web", json!("dev"))]),
            node("build", vec![edge("http", Value::Null)]),
            node("test", vec![edge("more", Value::Null)]),
            node("more", vec![]),
        ];
        let packages = vec![package("web", json!("MIT/Apache-2.0")), package("service", Value::Null)];
        let text = json!({ "packages": packages, "workspace_members": [], "target_directory": "/t", "version": 1,
            "workspace_root": "/", "resolve": { "nodes": nodes, "root": "service" } });
        let metadata = MetadataCommand::parse(text.to_string()).unwrap();
        assert_eq!(count(&metadata), Dependencies { direct: Some(2), total: Some(3) });
        assert_eq!(licence(&metadata, "web").as_deref(), Some("MIT/Apache-2.0"));
        assert_eq!(licence(&metadata, "service"), None);
    }
}
