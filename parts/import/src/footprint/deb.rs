//! Debian: libraries installed by apt. `[[requires]]` names them; links and class paths show which are in the
//! build. Their licences are in `/usr/share/doc/PACKAGE/copyright`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::{Package, ask::ask, executable, executable_bytes, linked, size};
use tare_service::{
    catalogue::{Requirement, Service},
    footprint::Dependencies,
};

pub(super) fn read(service: &Service) -> Package {
    let own = service.package.as_ref().filter(|package| package.ty() == "deb").map(|package| package.name());
    let direct = asked_for(&service.requires);
    let class_path = class_path(service);
    let files = match (executable(service), &class_path) {
        (Some(program), _) => Some(linked::libraries(&program)),
        (None, Some(entries)) => Some(entries.iter().filter(|path| path.is_file()).cloned().collect()),
        (None, None) => None,
    };
    // Haskell's libraries are linked statically, so the executable does not name them.
    let told = !direct.iter().any(|name| name.starts_with("libghc-"));
    let total = files.filter(|_| told).map(|files| {
        let linked = owners(&files);
        let all: Vec<&String> = linked.union(&direct).collect();
        together(&direct, &linked, &sources(&all)).len()
    });
    let entries = || class_path.map(|entries| entries.iter().map(|path| size::of_any(path)).sum());
    Package {
        licence: own.and_then(licence),
        dependencies: Dependencies { direct: Some(direct.len()), total },
        artefact_bytes: executable_bytes(service).or_else(entries),
    }
}

/// The packages of `[[requires]]` that are not toolchains. A requirement whose command only prints a version
/// is a tool; any other is a library.
fn asked_for(requires: &[Requirement]) -> BTreeSet<String> {
    let is_tool = |requirement: &Requirement| {
        requirement
            .command
            .get(1)
            .is_some_and(|word| ["version", "--version", "-version"].contains(&word.as_str()))
    };
    let libraries = requires.iter().filter(|requirement| !is_tool(requirement));
    libraries.flat_map(|requirement| requirement.debian.iter().cloned()).collect()
}

/// Packages in the build. A headers package and its linked library count once, if they have the same source
/// package. Headers without a library were compiled in.
fn together(
    direct: &BTreeSet<String>,
    linked: &BTreeSet<String>,
    sources: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let source = |name: &String| sources.get(name).unwrap_or(name).clone();
    let of_linked: BTreeSet<String> = linked.iter().map(source).collect();
    let compiled_in =
        direct.iter().filter(|name| !(name.ends_with("-dev") && of_linked.contains(&source(name))));
    linked.iter().chain(compiled_in).cloned().collect()
}

fn owners(files: &[PathBuf]) -> BTreeSet<String> {
    if files.is_empty() {
        return BTreeSet::new();
    }
    let names: BTreeSet<PathBuf> = files.iter().flat_map(|path| names(path)).collect();
    parse_owners(&ask(Path::new("/"), "dpkg-query", ["--search".into()].into_iter().chain(names)))
}

/// The names of a file in Debian's database, which knows only the packaged path: not an alternative's, and
/// with or without the `/usr` of merged systems.
fn names(path: &Path) -> BTreeSet<PathBuf> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let both = |path: PathBuf| match path.strip_prefix("/usr") {
        Ok(rest) => [Path::new("/").join(rest), path],
        Err(_) => [Path::new("/usr").join(path.strip_prefix("/").unwrap_or(&path)), path],
    };
    both(path.to_owned()).into_iter().chain(both(real)).collect()
}

/// Parses lines `PACKAGE[:ARCHITECTURE]: PATH`.
fn parse_owners(text: &str) -> BTreeSet<String> {
    let owner = |line: &str| {
        let (packages, _) = line.split_once(": /")?;
        packages.split([':', ',']).next().filter(|name| !name.contains(' ')).map(str::to_owned)
    };
    text.lines().filter_map(owner).collect()
}

fn sources(packages: &[&String]) -> BTreeMap<String, String> {
    if packages.is_empty() {
        return BTreeMap::new();
    }
    let format = "--showformat=${Package}\t${source:Package}\n".to_owned();
    let words = ["--show".to_owned(), format].into_iter().chain(packages.iter().map(|name| (*name).clone()));
    let text = ask(Path::new("/"), "dpkg-query", words);
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    pairs.map(|(package, source)| (package.to_owned(), source.to_owned())).collect()
}

/// The class path in the argument file of `java @FILE`: folders of the service and jars of the system. Absent
/// if the file or a folder does not exist.
fn class_path(service: &Service) -> Option<Vec<PathBuf>> {
    let file = service.run.command.iter().find_map(|word| word.strip_prefix('@'))?;
    let entries = parse_class_path(&fs::read_to_string(service.folder.join(file)).ok()?)?;
    let paths: Vec<PathBuf> = entries.iter().map(|entry| service.place.join(entry)).collect();
    paths.iter().all(|path| path.exists()).then_some(paths)
}

/// In quotes, a backslash at the end of a line continues it without the next line's leading blanks.
fn parse_class_path(text: &str) -> Option<Vec<String>> {
    let joined = text.split("\\\n").map(str::trim_start).collect::<String>();
    let mut words = joined.split_whitespace();
    let list = words.find(|word| ["-cp", "-classpath", "--class-path"].contains(word)).and(words.next())?;
    Some(list.trim_matches('"').split(':').map(str::to_owned).collect())
}

fn licence(package: &str) -> Option<String> {
    let path = Path::new("/usr/share/doc").join(package).join("copyright");
    parse_copyright(&fs::read_to_string(path).ok()?)
}

/// The first line of `License` in the paragraph for all files, if the file is machine-readable.
fn parse_copyright(text: &str) -> Option<String> {
    let field = |paragraph: &str, name: &str| -> Option<String> {
        let value = paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(value.trim().to_owned())
    };
    let mut paragraphs = text.split("\n\n");
    let all = paragraphs.find(|paragraph| field(paragraph.trim_start(), "Files").as_deref() == Some("*"))?;
    field(all.trim_start(), "License")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_tool_is_no_library() {
        let requirement = |command: &str, debian: &str| Requirement {
            command: command.split(' ').map(str::to_owned).collect(),
            debian: vec![debian.to_owned()],
            at_least: None,
            hint: None,
        };
        let requires = [
            requirement("c++ --version", "g++"),
            requirement("go version", "golang-go"),
            requirement("ghc-pkg field warp version", "libghc-warp-dev"),
            requirement("pkg-config --modversion libpistache", "libpistache-dev"),
            requirement("ruby -rpuma/const -e puts", "puma"),
        ];
        assert_eq!(asked_for(&requires), set(&["libghc-warp-dev", "libpistache-dev", "puma"]));
    }

    #[test]
    fn headers_and_their_library_are_one_and_headers_alone_count() {
        let direct = set(&["libweb-dev", "libjson-dev"]);
        let linked = set(&["libweb1", "libssl3"]);
        let sources =
            [("libweb-dev", "web"), ("libweb1", "web"), ("libssl3", "openssl"), ("libjson-dev", "json")];
        let sources = sources.map(|(package, source)| (package.to_owned(), source.to_owned())).into();
        assert_eq!(together(&direct, &linked, &sources), set(&["libjson-dev", "libssl3", "libweb1"]));
        assert_eq!(together(&direct, &set(&[]), &BTreeMap::new()), direct);
    }

    #[test]
    fn owners_are_named_without_architecture() {
        let text = "libssl3:amd64: /usr/lib/x/libssl.so.3\nlibjetty9-java: /usr/share/java/jetty9-server.jar\n\
            diversion by glx from: /usr/lib/libGL.so\n";
        assert_eq!(parse_owners(text), set(&["libjetty9-java", "libssl3"]));
    }

    #[test]
    fn a_file_may_be_known_by_another_name() {
        let names = names(Path::new("/lib/no-such-file"));
        assert_eq!(names, ["/lib/no-such-file", "/usr/lib/no-such-file"].map(PathBuf::from).into());
    }

    #[test]
    fn a_class_path_goes_over_several_lines() {
        let text = "-cp\n\"src:\\\n build/classes:\\\n /usr/share/java/a.jar\"\n";
        assert_eq!(parse_class_path(text).unwrap(), ["src", "build/classes", "/usr/share/java/a.jar"]);
        assert_eq!(parse_class_path("-Xmx1g"), None);
    }

    #[test]
    fn the_licence_is_that_of_all_files() {
        let text = "Format: 1.0\nLicense: other\n\nFiles: doc/*\nLicense: CC0\n\nFiles: *\nCopyright: 2017 A\n B\n\
            License: EPL-1\n    Eclipse\n .\n\nFiles: debian/*\nLicense: GPL-2+\n";
        assert_eq!(parse_copyright(text).as_deref(), Some("EPL-1"));
        assert_eq!(parse_copyright("This package was debianized by A.\n"), None);
    }

    proptest! {
        #[test]
        fn an_owner_is_the_package_of_its_line(
            package in "[a-z][a-z0-9+.-]{1,12}", architecture in "(:amd64|:all)?", path in "/[a-z/. ]{1,20}",
        ) {
            let text = format!("dpkg-query: no path found\n{package}{architecture}: {path}\n");
            prop_assert_eq!(parse_owners(&text), set(&[&package]));
            let shared = format!("{package}{architecture}, other:i386: {path}\n");
            prop_assert_eq!(parse_owners(&shared), set(&[&package]));
        }

        #[test]
        fn a_class_path_is_split_wherever_its_lines_break(
            entries in proptest::collection::vec("[a-z/.]{1,9}", 1..6), broken in any::<bool>(),
        ) {
            let separator = if broken { ":\\\n   " } else { ":" };
            let text = format!("-Xmx1g\n-cp \"{}\"\nMain\n", entries.join(separator));
            prop_assert_eq!(parse_class_path(&text), Some(entries));
        }

        #[test]
        fn no_text_of_another_program_is_too_much(text in "(Files|License|:|\\*|\n|\n\n| |-cp|\"|\\\\\n|[a-zé]{1,5}){0,30}") {
            let _any = (parse_owners(&text), parse_class_path(&text), parse_copyright(&text));
        }
    }
}
