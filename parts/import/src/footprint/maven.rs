//! Maven: the POM names the direct dependencies; the libraries beside or inside the jar are all of them. The
//! framework's licence is in its own POM or a parent's, in Maven's local repository.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use roxmltree::{Document, Node};

use super::{Package, size};
use tare_service::{catalogue::Service, footprint::Dependencies};

/// Most parents of a POM that are read, in case of a cycle.
const PARENTS: usize = 8;

/// `version` is the build's: the repository may hold POMs of several versions.
pub(super) fn read(service: &Service, version: Option<&str>) -> Package {
    let direct = fs::read_to_string(service.folder.join("pom.xml")).ok().and_then(|text| direct(&text));
    let repository = env::home_dir().map(|home| home.join(".m2").join("repository"));
    let licence = || {
        let package = service.package.as_ref()?;
        let pom = Coordinates::new(package.namespace()?, package.name(), version?);
        licence(&repository?, pom)
    };
    let jar = jar(service);
    Package {
        licence: licence(),
        dependencies: Dependencies { direct, total: jar.as_deref().and_then(libraries) },
        artefact_bytes: jar.as_deref().map(|jar| size::of(jar) + size::tree(&beside(jar))),
    }
}

/// The file after `-jar`, if it exists.
fn jar(service: &Service) -> Option<PathBuf> {
    let name = service.run.command.iter().skip_while(|word| *word != "-jar").nth(1)?;
    Some(service.place.join(name)).filter(|path| path.is_file())
}

/// The folder of libraries outside the jar.
fn beside(jar: &Path) -> PathBuf {
    jar.with_file_name("lib")
}

fn libraries(jar: &Path) -> Option<usize> {
    let archive = zip::ZipArchive::new(fs::File::open(jar).ok()?).ok()?;
    let within = archive
        .file_names()
        .flatten()
        .filter(|name| name.contains("-INF/lib/") && name.ends_with(".jar"))
        .count();
    let entries = fs::read_dir(beside(jar)).into_iter().flatten().flatten();
    let outside = entries.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "jar")).count();
    Some(within + outside)
}

/// The project's dependencies without those for tests. An entry that is only managed is not a dependency.
fn direct(pom: &str) -> Option<usize> {
    let document = Document::parse(pom).ok()?;
    let dependencies = child(document.root_element(), "dependencies")?.children().filter(Node::is_element);
    Some(dependencies.filter(|one| text(*one, "scope").as_deref() != Some("test")).count())
}

#[derive(Debug, Clone, PartialEq)]
struct Coordinates {
    group: String,
    artefact: String,
    version: String,
}

impl Coordinates {
    fn new(group: &str, artefact: &str, version: &str) -> Coordinates {
        Coordinates { group: group.to_owned(), artefact: artefact.to_owned(), version: version.to_owned() }
    }

    fn path(&self, repository: &Path) -> PathBuf {
        let Coordinates { group, artefact, version } = self;
        repository
            .join(group.replace('.', "/"))
            .join(artefact)
            .join(version)
            .join(format!("{artefact}-{version}.pom"))
    }
}

fn licence(repository: &Path, mut pom: Coordinates) -> Option<String> {
    for _ in 0..PARENTS {
        let text = fs::read_to_string(pom.path(repository)).ok()?;
        let document = Document::parse(&text).ok()?;
        if let Some(stated) = stated(document.root_element()) {
            return Some(stated);
        }
        pom = parent(document.root_element())?;
    }
    None
}

/// Several licences are alternatives, according to the POM reference.
fn stated(project: Node) -> Option<String> {
    let licences = child(project, "licenses")?.children().filter(|node| is(node, "license"));
    let names: Vec<String> = licences.filter_map(|licence| text(licence, "name")).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => {
            let normal = |name: &String| super::licence::normalise(name).unwrap_or_else(|| name.clone());
            Some(several.iter().map(normal).collect::<Vec<_>>().join(" OR "))
        }
    }
}

fn parent(project: Node) -> Option<Coordinates> {
    let parent = child(project, "parent")?;
    Some(Coordinates::new(&text(parent, "groupId")?, &text(parent, "artifactId")?, &text(parent, "version")?))
}

/// Ignores the namespace, which old POMs lack.
fn is(node: &Node, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| is(child, name))
}

fn text(node: Node, name: &str) -> Option<String> {
    Some(child(node, name)?.text()?.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_managed_or_tested_with_is_no_dependency() {
        let pom = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
            <dependencyManagement><dependencies><dependency/></dependencies></dependencyManagement>
            <dependencies><!-- why --><dependency><artifactId>web</artifactId></dependency>
            <dependency><artifactId>unit</artifactId><scope>test</scope></dependency></dependencies></project>"#;
        assert_eq!(direct(pom), Some(1));
        assert_eq!(direct("<project/>"), None);
    }

    #[test]
    fn a_licence_may_stand_in_the_parent() {
        let repository = tempfile::tempdir().unwrap();
        let write = |pom: &Coordinates, text: &str| {
            let path = pom.path(repository.path());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let (web, all) = (Coordinates::new("org.x", "web", "1"), Coordinates::new("org.x", "all", "1"));
        let parent = "<groupId>org.x</groupId><artifactId>all</artifactId><version>1</version>";
        write(&web, &format!("<project><parent>{parent}</parent></project>"));
        assert_eq!(licence(repository.path(), web.clone()), None);
        let one = "<license><name>Apache License,\n   Version 2.0</name></license>";
        write(&all, &format!("<project><licenses>{one}</licenses></project>"));
        assert_eq!(licence(repository.path(), web.clone()).as_deref(), Some("Apache License, Version 2.0"));
        let other = "<license><name>Eclipse Public License - v 2.0</name></license>";
        write(&all, &format!("<project><licenses>{other}{one}</licenses></project>"));
        assert_eq!(licence(repository.path(), web.clone()).as_deref(), Some("EPL-2.0 OR Apache-2.0"));
        write(&all, &format!("<project><parent>{parent}</parent></project>"));
        assert_eq!(licence(repository.path(), web), None, "a circle ends");
    }

    #[test]
    fn libraries_lie_within_the_jar_or_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let jar = folder.path().join("service.jar");
        let mut writer = zip::ZipWriter::new(fs::File::create(&jar).unwrap());
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for name in ["BOOT-INF/lib/a.jar", "BOOT-INF/lib/b.jar", "BOOT-INF/classes/c.class"] {
            writer.start_file(name, stored).unwrap();
            writer.write_all(b"x").unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(libraries(&jar), Some(2));
        fs::create_dir(folder.path().join("lib")).unwrap();
        fs::write(folder.path().join("lib/d.jar"), "").unwrap();
        fs::write(folder.path().join("lib/notes"), "").unwrap();
        assert_eq!(libraries(&jar), Some(3));
    }
}
