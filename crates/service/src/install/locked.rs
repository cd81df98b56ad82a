//! The versions in lock files, and the differences between two of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::Value;

/// The versions of each package; a lock file may have several.
type Versions = BTreeMap<String, BTreeSet<String>>;

/// A package with different versions in two lock files; one of them may lack it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageChange {
    pub package: String,
    pub old: Vec<String>,
    pub new: Vec<String>,
}

/// `express 4.19.2 -> 5.3.0`, `qs 6.11.0 -> none`
impl fmt::Display for PackageChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |versions: &[String]| {
            if versions.is_empty() { "none".to_owned() } else { versions.join(" and ") }
        };
        write!(f, "{} {} -> {}", self.package, side(&self.old), side(&self.new))
    }
}

/// The differences between two lock files of one name. Packages in `manifest` come first, then changed
/// versions, then added and removed packages.
pub fn changes(name: &str, old: &str, new: &str, manifest: &str) -> Vec<PackageChange> {
    let [mut old, mut new] = [old, new].map(|text| versions(name, text));
    let packages: BTreeSet<String> = old.keys().chain(new.keys()).cloned().collect();
    let change = |package: String| {
        let [old, new] = [&mut old, &mut new].map(|all| all.remove(&package).unwrap_or_default());
        (old != new).then(|| PackageChange { package, old: Vec::from_iter(old), new: Vec::from_iter(new) })
    };
    let mut found: Vec<PackageChange> = packages.into_iter().filter_map(change).collect();
    let is_named = |package: &str| {
        let word = |c: char| !(c.is_alphanumeric() || "-_.@/:".contains(c));
        manifest.split(word).any(|word| word == package)
    };
    found.sort_by_key(|change| {
        (!is_named(&change.package), change.old.is_empty() || change.new.is_empty(), change.package.clone())
    });
    found
}

fn versions(name: &str, text: &str) -> Versions {
    let pairs = match name {
        "package-lock.json" | "npm-shrinkwrap.json" => of_npm(&json(text)),
        "pnpm-lock.yaml" => of_pnpm(text),
        "yarn.lock" => of_yarn(text),
        "Pipfile.lock" => of_pipenv(&json(text)),
        "composer.lock" => of_composer(&json(text)),
        "requirements.txt" => of_requirements(text),
        "go.mod" => of_go(text),
        "Gemfile.lock" => of_ruby(text),
        "pom.xml" => of_maven(text),
        "build.gradle" | "build.gradle.kts" => of_gradle(text),
        _ => of_toml(text),
    };
    let mut versions = Versions::new();
    for (package, version) in pairs {
        versions.entry(package).or_default().insert(version);
    }
    versions
}

type Pairs = Vec<(String, String)>;

fn pair(package: &str, version: &str) -> (String, String) {
    (package.to_owned(), version.to_owned())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Since version 2 packages are keyed by path, before that by name.
fn of_npm(lock: &Value) -> Pairs {
    let key = if lock["packages"].is_object() { "packages" } else { "dependencies" };
    let all = lock[key].as_object().into_iter().flatten();
    let package = |(place, package): (&String, &Value)| {
        let name = place.rsplit("node_modules/").next().filter(|name| !name.is_empty())?;
        Some(pair(name, package["version"].as_str()?))
    };
    all.filter_map(package).collect()
}

/// Parses `/express@4.19.2(peer@1):` in the section "packages"; in older files `/express/4.19.2:`.
fn of_pnpm(text: &str) -> Pairs {
    let lines = text.lines().skip_while(|line| *line != "packages:").skip(1);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
    let package = |line: &str| {
        let key = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.trim_end_matches(':');
        let key = key.trim_matches('\'').trim_start_matches('/');
        let key = key.split('(').next().unwrap_or(key);
        let at = key.rfind('@').filter(|at| *at > 0).or_else(|| key.rfind('/'))?;
        Some(pair(&key[..at], &key[at + 1..]))
    };
    lines.filter_map(package).collect()
}

/// Parses `"express@npm:^4.17.1, express@^4":` with `version "4.19.2"` below it.
fn of_yarn(text: &str) -> Pairs {
    let mut name = "";
    let mut found = Pairs::new();
    for line in text.lines() {
        if !line.starts_with([' ', '#']) {
            let key = line.trim_start_matches('"');
            let end = key.char_indices().skip(1).find(|(_, c)| *c == '@').map_or(0, |(at, _)| at);
            name = &key[..end];
        } else if let Some(version) = line.strip_prefix("  version").filter(|_| !name.is_empty()) {
            let version = version.trim_start_matches([':', ' ']).trim_matches('"');
            found.extend((!version.is_empty()).then(|| pair(name, version)));
        }
    }
    found
}

fn of_pipenv(lock: &Value) -> Pairs {
    let all = lock["default"].as_object().into_iter().flatten();
    let version = |package: &Value| Some(package["version"].as_str()?.trim_start_matches("==").to_owned());
    all.filter_map(|(name, package)| Some((name.clone(), version(package)?))).collect()
}

fn of_composer(lock: &Value) -> Pairs {
    let all = lock["packages"].as_array().into_iter().flatten();
    all.filter_map(|package| Some(pair(package["name"].as_str()?, package["version"].as_str()?))).collect()
}

fn of_requirements(text: &str) -> Pairs {
    let package = |line: &str| {
        let line = line.split(['#', ';']).next().unwrap_or_default();
        let (name, version) = line.split_once("==")?;
        let version = version.split([' ', '\\', ',']).find(|word| !word.is_empty())?;
        Some((name.split('[').next()?.trim().to_lowercase(), version.to_owned()))
    };
    text.lines().filter_map(package).collect()
}

fn of_go(text: &str) -> Pairs {
    let package = |line: &str| {
        let line = line.trim().trim_start_matches("require").split("//").next()?;
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        (version.starts_with('v') && words.next().is_none()).then(|| pair(name, version))
    };
    text.lines().filter_map(package).collect()
}

/// Parses `    rack (3.0.8)`; lines with more indentation are requirements of a package.
fn of_ruby(text: &str) -> Pairs {
    let package = |line: &str| {
        let line = line.strip_prefix("    ").filter(|line| !line.starts_with(' '))?;
        let (name, version) = line.strip_suffix(')')?.split_once(" (")?;
        Some(pair(name, version))
    };
    text.lines().filter_map(package).collect()
}

/// Artefacts with an explicit version, which may be a property.
fn of_maven(text: &str) -> Pairs {
    let element = |text: &str, name: &str| -> Option<String> {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim().to_owned())
    };
    let value = |version: String| {
        let name = version.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        name.and_then(|name| element(text, name)).unwrap_or(version)
    };
    let all = ["parent", "dependency", "plugin"].into_iter().flat_map(|kind| {
        let end = format!("</{kind}>");
        let parts = text.split(&format!("<{kind}>")).skip(1).collect::<Vec<_>>();
        parts.into_iter().filter_map(move |part| Some(part.split_once(&end)?.0.to_owned()))
    });
    let package = |part: String| {
        let name = element(&part, "artifactId")?;
        let name = element(&part, "groupId").map_or_else(|| name.clone(), |group| format!("{group}:{name}"));
        Some((name, value(element(&part, "version")?)))
    };
    all.filter_map(package).collect()
}

/// Parses words such as `"io.javalin:javalin:6.1.3"`.
fn of_gradle(text: &str) -> Pairs {
    let package = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        let [group, name, version] = parts[..] else { return None };
        let is_plain = |part: &&str| !part.is_empty() && !part.contains(char::is_whitespace);
        parts.iter().all(is_plain).then(|| (format!("{group}:{name}"), version.to_owned()))
    };
    text.split(['"', '\'']).filter_map(package).collect()
}

/// Parses `[[package]]` of cargo, uv and poetry.
fn of_toml(text: &str) -> Pairs {
    let lock: toml::Table = text.parse().unwrap_or_default();
    let all = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let package =
        |package: &toml::Value| Some(pair(package.get("name")?.as_str()?, package.get("version")?.as_str()?));
    all.filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, [old, new]: [&str; 2]) -> String {
        let all = changes(name, old, new, "");
        all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn each_format_names_its_packages_and_versions() {
        let texts = |of: &dyn Fn(&str) -> String| [of("4.19.2"), of("5.3.0")];
        type OfVersion<'a> = &'a dyn Fn(&str) -> String;
        let all: [(&str, &str, OfVersion<'_>); 16] = [
            ("package-lock.json", "express", &|v| {
                format!(
                    r#"{{"packages": {{"": {{"version": "1"}}, "node_modules/express": {{"version": "{v}"}}}}}}"#
                )
            }),
            ("npm-shrinkwrap.json", "@a/b", &|v| {
                format!(r#"{{"dependencies": {{"@a/b": {{"version": "{v}"}}}}}}"#)
            }),
            ("pnpm-lock.yaml", "@a/b", &|v| {
                format!(
                    "lockfileVersion: '9.0'\npackages:\n\n  '@a/b@{v}':\n    resolution: x\nsnapshots:\n  c@1: {{}}\n"
                )
            }),
            ("pnpm-lock.yaml", "express", &|v| {
                format!("packages:\n  /express@{v}(peer@2.0.0):\n    dev: false\n")
            }),
            ("yarn.lock", "express", &|v| {
                format!("# yarn lockfile v1\n\nexpress@^4.17.1:\n  version \"{v}\"\n")
            }),
            ("yarn.lock", "@a/b", &|v| {
                format!("__metadata:\n  version: 8\n\n\"@a/b@npm:^4, @a/b@npm:4\":\n  version: {v}\n")
            }),
            ("Pipfile.lock", "flask", &|v| format!(r#"{{"default": {{"flask": {{"version": "=={v}"}}}}}}"#)),
            ("requirements.txt", "flask", &|v| format!("Flask[async]=={v} ; x \\\n  --hash=sha256:0\n")),
            ("uv.lock", "flask", &|v| {
                format!("version = 1\n[[package]]\nname = \"flask\"\nversion = \"{v}\"\n")
            }),
            ("poetry.lock", "flask", &|v| format!("[[package]]\nname = \"flask\"\nversion = \"{v}\"\n")),
            ("Cargo.lock", "axum", &|v| format!("[[package]]\nname = \"axum\"\nversion = \"{v}\"\n")),
            ("Gemfile.lock", "rack", &|v| format!("GEM\n  specs:\n    rack ({v})\n      base64 (>= 0.1)\n")),
            ("composer.lock", "slim/slim", &|v| {
                format!(r#"{{"packages": [{{"name": "slim/slim", "version": "{v}"}}]}}"#)
            }),
            ("pom.xml", "io.javalin:javalin", &|v| {
                format!(
                    "<properties><j.version>{v}</j.version></properties><dependency><groupId>io.javalin</groupId>\
                     <artifactId>javalin</artifactId><version>${{j.version}}</version></dependency>"
                )
            }),
            ("build.gradle.kts", "io.javalin:javalin", &|v| {
                format!("implementation(\"io.javalin:javalin:{v}\")")
            }),
            ("package-lock.json", "express", &|v| {
                format!(r#"{{"packages": {{"node_modules/a/node_modules/express": {{"version": "{v}"}}}}}}"#)
            }),
        ];
        for (name, package, text) in all {
            let texts = texts(text);
            let wanted = format!("{package} 4.19.2 -> 5.3.0");
            assert_eq!(said(name, [&texts[0], &texts[1]]), wanted, "{name}");
        }
        let go = |v: &str| {
            format!("module a\ngo 1.26\nrequire github.com/b/c v{v}\nrequire (\n\td v1.0.0 // indirect\n)\n")
        };
        assert_eq!(said("go.mod", [&go("1.2.0"), &go("1.3.0")]), "github.com/b/c v1.2.0 -> v1.3.0");
    }

    #[test]
    fn what_the_manifest_names_comes_first_and_what_came_or_went_last() {
        let old = "a==1\nb==1\nflask==2\n";
        let new = "b==2\nc==1\nflask==3\n";
        let all = changes("requirements.txt", old, new, "dependencies = [\"flask\"]");
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(all, ["flask 2 -> 3", "b 1 -> 2", "a 1 -> none", "c none -> 1"]);
        assert_eq!(changes("requirements.txt", old, old, ""), []);
    }

    #[test]
    fn a_file_that_is_none_has_no_packages() {
        for name in [
            "package-lock.json",
            "pnpm-lock.yaml",
            "yarn.lock",
            "uv.lock",
            "pom.xml",
            "go.mod",
            "Gemfile.lock",
        ] {
            assert_eq!(changes(name, "]{ @ \n  version\n(", "", ""), [], "{name}");
        }
    }
}
