//! The version of the framework in a build: a command that reads it from the resolved packages, if the entry
//! names the framework's package.

use super::{port::PortSource, shell, stage::TOOLS};

/// The command of `[version]`. `framework` is the name in the metadata, `folders` are the service's folders
/// in which the build ran. `fallback` is printed if the version is not found.
pub(super) fn command(
    language: &str,
    framework: &[String],
    manifests: &[PortSource],
    folders: &[String],
    fallback: &str,
) -> Vec<String> {
    let all = |file: &str, names: fn(&str) -> Vec<String>| packages(manifests, file, framework, names);
    let read = match language {
        "rust" => all("Cargo.toml", of_cargo).map(|names| of_cargo_lock(&names, folders)),
        "go" => all("go.mod", of_go).map(|names| of_go_module(&names, folders)),
        "python" => all("requirements", of_requirements).map(|names| {
            let name = &names[0];
            format!(
                "{TOOLS}/bin/python3 -c 'from importlib.metadata import version; print(version(\"{name}\"))'"
            )
        }),
        "node" => all("package.json", of_npm).map(|names| of_node_module(&names[0], folders)),
        _ => None,
    };
    match read {
        Some(read) => super::stage::sh(&format!("v=\"$({read})\"; echo \"${{v:-{fallback}}}\"")),
        None => vec!["echo".to_owned(), fallback.to_owned()],
    }
}

/// The entry's packages with the name of the framework. Go has one module for each major version; one of them
/// is built.
fn packages(
    manifests: &[PortSource],
    file: &str,
    framework: &[String],
    names: fn(&str) -> Vec<String>,
) -> Option<Vec<String>> {
    let is_file =
        |source: &&PortSource| source.name.rsplit('/').next().is_some_and(|name| name.starts_with(file));
    let all: Vec<String> = manifests.iter().filter(is_file).flat_map(|source| names(&source.text)).collect();
    let simple = |name: &str| -> String {
        let name: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        name.trim_end_matches("js").to_owned()
    };
    let last = |name: &str| {
        let parts = name.rsplit('/').find(|part| !is_major(part)).unwrap_or(name);
        simple(parts)
    };
    let is_plain = |name: &&String| name.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-".contains(c));
    let wanted: Vec<String> =
        framework.iter().map(|name| last(name)).filter(|name| !name.is_empty()).collect();
    let mut exact: Vec<String> =
        all.iter().filter(|name| is_plain(name) && wanted.contains(&last(name))).cloned().collect();
    exact.dedup();
    // For example, `actix` is the package `actix-web`.
    let is_web =
        |name: &&String| wanted.iter().any(|wanted| last(name).strip_prefix(wanted.as_str()) == Some("web"));
    let web = || all.iter().find(|name| is_plain(name) && is_web(name)).map(|name| vec![name.clone()]);
    if exact.is_empty() { web() } else { Some(exact) }
}

/// Whether a part of a Go module's path is a major version such as `v5`.
fn is_major(part: &str) -> bool {
    part.strip_prefix('v')
        .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

fn of_cargo(text: &str) -> Vec<String> {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    let dependencies = table.get("dependencies").and_then(toml::Value::as_table);
    dependencies.into_iter().flat_map(toml::Table::keys).cloned().collect()
}

fn of_go(text: &str) -> Vec<String> {
    let words = |line: &str| {
        line.trim().trim_start_matches("require ").split(' ').next().unwrap_or_default().to_owned()
    };
    text.lines().map(words).filter(|name| name.contains('.') && name.contains('/')).collect()
}

fn of_requirements(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let end = line.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)).unwrap_or(line.len());
        line[..end].to_owned()
    };
    text.lines().map(str::trim).map(name).filter(|name| !name.is_empty() && !name.starts_with('-')).collect()
}

fn of_npm(text: &str) -> Vec<String> {
    let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    package["dependencies"].as_object().into_iter().flat_map(serde_json::Map::keys).cloned().collect()
}

fn quoted(folders: &[String], file: &str) -> String {
    let all: Vec<String> = folders.iter().map(|folder| shell::quoted(&format!("{folder}/{file}"))).collect();
    all.join(" ")
}

fn of_cargo_lock(names: &[String], folders: &[String]) -> String {
    let locks = quoted(folders, "Cargo.lock");
    let name = &names[0];
    format!(
        "cat {locks} 2>/dev/null | sed -n '/^name = \"{name}\"$/{{n;s/^version = \"\\(.*\\)\"$/\\1/p;}}' | head -n 1"
    )
}

/// Go writes the resolved version into `go.mod`.
fn of_go_module(names: &[String], folders: &[String]) -> String {
    let modules = quoted(folders, "go.mod");
    let of = |name: &String| {
        let name = name.replace('.', "[.]").replace('/', "[/]");
        format!(" -e 's/^\\(require\\)\\{{0,1\\}}[[:space:]]*{name} v\\([^[:space:]]*\\).*/\\2/p'")
    };
    let all: String = names.iter().map(of).collect();
    format!("cat {modules} 2>/dev/null | sed -n{all} | head -n 1")
}

fn of_node_module(name: &str, folders: &[String]) -> String {
    let packages = quoted(folders, &format!("node_modules/{name}/package.json"));
    format!("cat {packages} 2>/dev/null | sed -n 's/^ *\"version\": *\"\\([^\"]*\\)\".*/\\1/p' | head -n 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framework_is_the_package_of_its_name() {
        let found = |language: &str, file: &str, text: &str, framework: &str| {
            let source = PortSource { name: file.to_owned(), text: text.to_owned() };
            command(language, &[framework.to_owned()], &[source], &["stages/build/app".to_owned()], "entry-1")
                .join(" ")
        };
        let cargo = "[dependencies]\nactix-web = \"4\"\nactix-rt = \"1\"\n";
        assert!(found("rust", "Cargo.toml", cargo, "actix").contains("/^name = \"actix-web\"$/"));
        let go = "module a\n\nrequire (\n\tgithub.com/gofiber/fiber/v2 v2.52.9\n)\n";
        assert!(found("go", "src/go.mod", go, "fiber").contains("github[.]com[/]gofiber[/]fiber[/]v2 v"));
        assert!(
            found("python", "requirements.txt", "FastAPI[standard]==1\nuvicorn\n", "fastapi")
                .contains("version(\"FastAPI\")")
        );
        assert!(
            found("node", "package.json", "{\"dependencies\":{\"express\":\"5\"}}", "Express.js")
                .contains("node_modules/express/")
        );
        assert_eq!(found("rust", "Cargo.toml", "[dependencies]\nlibc = \"1\"", "mine"), "echo entry-1");
    }
}
