//! PyPI: what `requirements.in` asks for, what `requirements.txt` pins, and what of it lies in `.venv` (distributions
//! for other systems do not, and pip and setuptools are there without being asked for).

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Dependencies, Package, code, size};
use crate::catalogue::Service;

/// Classifiers that mean one licence; "BSD License" and "Apache Software License" do not.
const CLASSIFIER: &str = "License :: OSI Approved :: ";

pub(super) fn read(service: &Service) -> Package {
    look(&service.folder, &service.place, service.package.as_ref().map(|package| package.name()))
}

/// `place` is where it was built.
fn look(folder: &Path, place: &Path, package: Option<&str>) -> Package {
    let pinned = names(&folder.join("requirements.txt")).unwrap_or_default();
    let direct = names(&folder.join("requirements.in")).map(|names| names.len());
    let Some(site) = site_packages(place) else {
        return Package { dependencies: Dependencies { direct, total: None }, ..Package::default() };
    };
    let installed: Vec<Distribution> =
        distributions(&site).into_iter().filter(|found| pinned.contains(&found.name)).collect();
    let package = package.map(canonical);
    let framework = installed.iter().find(|found| package.as_ref() == Some(&found.name));
    let libraries: u64 = installed.iter().map(|found| found.bytes(&site)).sum();
    let sources: u64 = code::sources(folder).iter().map(|(path, _)| size::of(path)).sum();
    Package {
        licence: framework.and_then(Distribution::licence),
        dependencies: Dependencies { direct, total: Some(installed.len()) },
        artefact_bytes: Some(libraries + sources),
    }
}

/// One folder `NAME-VERSION.dist-info`.
struct Distribution {
    name: String,
    info: PathBuf,
}

impl Distribution {
    /// The files that its record lists, without the bytecode that Python makes by itself.
    fn bytes(&self, site: &Path) -> u64 {
        let record = fs::read_to_string(self.info.join("RECORD")).unwrap_or_default();
        let file = |line: &str| line.rsplitn(3, ',').nth(2).map(|path| path.trim_matches('"').to_owned());
        let files = record.lines().filter_map(file).filter(|path| !path.contains("__pycache__/"));
        files.map(|path| size::of(&site.join(path))).sum()
    }

    /// The expression, else the old field, else the classifier.
    fn licence(&self) -> Option<String> {
        let metadata = fs::read_to_string(self.info.join("METADATA")).ok()?;
        let head = metadata.split("\n\n").next().unwrap_or_default();
        let fields = |name: &'static str| {
            let values = head.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(": "));
            values.map(str::trim).filter(|value| !value.is_empty())
        };
        let classifier = || fields("Classifier").find_map(|value| value.strip_prefix(CLASSIFIER));
        let stated = fields("License-Expression").next().or_else(|| fields("License").next());
        stated.or_else(classifier).map(str::to_owned)
    }
}

fn distributions(site: &Path) -> Vec<Distribution> {
    let entries = fs::read_dir(site).into_iter().flatten().flatten();
    let distribution = |info: PathBuf| {
        let stem = info.file_name()?.to_str()?.strip_suffix(".dist-info")?;
        let name = canonical(stem.rsplit_once('-')?.0);
        Some(Distribution { name, info })
    };
    entries.filter_map(|entry| distribution(entry.path())).collect()
}

/// `.venv/lib/python3.11/site-packages`.
fn site_packages(folder: &Path) -> Option<PathBuf> {
    let pythons = fs::read_dir(folder.join(".venv").join("lib")).ok()?.flatten();
    pythons.map(|entry| entry.path().join("site-packages")).find(|path| path.is_dir())
}

/// The canonical names of a requirements file's lines: `flask==3.1.3 ; python_version < "4" \` is flask.
fn names(path: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(path).ok()?;
    let named = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_alphanumeric()));
    let name = |line: &str| {
        let other = |letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter));
        canonical(line.split(other).next().unwrap_or_default())
    };
    Some(named.map(name).collect())
}

/// One form of the many in which a name may be written.
fn canonical(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn only_what_is_pinned_and_installed_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write(folder.path(), name, text);
        write(".gitignore", ".venv\n");
        write("requirements.in", "# why\nFlask==3.1.3\nuvloop; sys_platform != 'win32'\n");
        let pins = "flask==3.1.3 \\\n    --hash=sha256:0 \\\n    # via\nuvloop[x]>=1\ncolorama==1 ; sys_platform == 'win32'\n";
        write("requirements.txt", pins);
        write("app.py", "x = 1\n");
        let unbuilt = look(folder.path(), folder.path(), Some("flask"));
        assert_eq!(unbuilt.dependencies, Dependencies { direct: Some(2), total: None });

        let site = ".venv/lib/python3.11/site-packages";
        let head = "Name: Flask\nLicense-Expression: BSD-3-Clause\nLicense-File: L\n\nLicense: none\n";
        write(&format!("{site}/Flask-3.1.3.dist-info/METADATA"), head);
        write(&format!("{site}/flask/a.py"), "12345");
        write(&format!("{site}/flask/__pycache__/a.pyc"), "1234567");
        let record = "flask/a.py,sha256=x,5\nflask/__pycache__/a.pyc,,\n\"flask/gone,1.py\",,\n";
        write(&format!("{site}/Flask-3.1.3.dist-info/RECORD"), record);
        write(&format!("{site}/uvloop-0.22.dist-info/METADATA"), "");
        write(&format!("{site}/pip-23.0.dist-info/METADATA"), "");
        let found = look(folder.path(), folder.path(), Some("flask"));
        assert_eq!(found.dependencies, Dependencies { direct: Some(2), total: Some(2) });
        assert_eq!(found.licence.as_deref(), Some("BSD-3-Clause"));
        assert_eq!(found.artefact_bytes, Some(6 + 5));
    }

    #[test]
    fn an_old_field_and_a_classifier_are_read_where_there_is_no_expression() {
        let folder = tempfile::tempdir().unwrap();
        let licence = |metadata: &str| {
            write(folder.path(), "METADATA", metadata);
            let info = folder.path().to_owned();
            Distribution { name: String::new(), info }.licence().unwrap_or_default()
        };
        assert_eq!(licence("License: MIT\nClassifier: License :: OSI Approved :: BSD License\n"), "MIT");
        assert_eq!(licence("License:\nClassifier: License :: OSI Approved :: MIT License\n"), "MIT License");
        assert_eq!(licence("Name: x\n"), "");
    }

    proptest! {
        #[test]
        fn every_spelling_of_a_name_is_one(parts in proptest::collection::vec("[a-zA-Z0-9]{1,6}", 1..4), separator in "[-_.]{1,3}") {
            let spelled = parts.join(&separator);
            prop_assert_eq!(canonical(&spelled), parts.join("-").to_lowercase());
            prop_assert_eq!(canonical(&canonical(&spelled)), canonical(&spelled));
        }

        #[test]
        fn a_requirement_is_named_before_its_version(
            name in "[a-z][a-z0-9-]{0,8}[a-z]",
            rest in "(==1.2|>=3 ; python_version < \"4\"|\\[extra\\]==1| \\\\)?",
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("requirements.txt");
            fs::write(&path, format!("# via x\n--index y\n{name}{rest}\n    --hash=sha256:0\n")).unwrap();
            prop_assert_eq!(names(&path), Some(vec![canonical(&name)]));
        }
    }
}
