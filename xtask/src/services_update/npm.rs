//! Node: `npm view`. The newest version is the default one, with the tag `latest`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::{Answer, client, version};

/// What `npm view NAME version time --json` prints.
#[derive(Debug, Deserialize)]
struct View {
    version: String,
    time: BTreeMap<String, String>,
}

pub(super) fn ask(folder: &Path, name: &str) -> Result<Answer> {
    let lock = fs::read_to_string(folder.join("package-lock.json")).context("it has no package-lock.json")?;
    let used = used(&lock, name).with_context(|| format!("package-lock.json has no {name}"))?;
    // npm retries for minutes, then answers from its cache, and reports that only at this log level.
    let now = ["--prefer-online", "--fetch-retries=1", "--fetch-retry-mintimeout=2000", "--loglevel=http"];
    let question = ["npm", "view", name, "version", "time", "--json"];
    let printed = client::run(folder, &[&question[..], &now].concat())?;
    ensure!(!printed.stderr.contains("(cache stale)"), "npm could not reach its registry");
    let view: View = serde_json::from_str(&printed.stdout).context("npm printed another shape of JSON")?;
    ensure!(!view.version.contains('-'), "its tag latest is a pre-release, {}", view.version);
    let date = view.time.get(&view.version).and_then(|time| version::day(time));
    Ok(Answer { used, newest: view.version, date, lock: None })
}

/// The version of the package, or of the one it installs: deno's binary is @deno/PLATFORM.
fn used(lock: &str, name: &str) -> Option<String> {
    let lock: Value = serde_json::from_str(lock).ok()?;
    let packages = lock.get("packages")?.as_object()?;
    let platforms = format!("node_modules/@{name}/");
    let of_platform =
        || packages.iter().find(|(path, _)| path.starts_with(&platforms)).map(|(_, found)| found);
    let package = packages.get(&format!("node_modules/{name}")).or_else(of_platform)?;
    Some(package.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_is_the_package_at_the_top_of_the_tree() {
        let lock = r#"{"packages": {
            "": {"dependencies": {"koa": "3.3.0"}},
            "node_modules/@koa/router": {"version": "15.7.0"},
            "node_modules/a/node_modules/koa": {"version": "2.0.0"},
            "node_modules/koa": {"version": "3.3.0"}}}"#;
        assert_eq!(used(lock, "koa").as_deref(), Some("3.3.0"));
        assert_eq!(used(lock, "@koa/router").as_deref(), Some("15.7.0"));
        assert_eq!(used(lock, "a"), None);
        assert_eq!(used("", "a"), None);
    }

    #[test]
    fn a_platform_stands_for_the_package_that_would_install_it() {
        let lock = r#"{"packages": {"node_modules/@deno/linux-x64-glibc": {"version": "2.9.6"}}}"#;
        assert_eq!(used(lock, "deno").as_deref(), Some("2.9.6"));
    }

    #[test]
    fn the_date_is_that_of_the_version() {
        let printed = r#"{"version": "3.3.0", "time": {
            "3.3.0": "2026-11-03T01:28:58+00:00", "modified": "2026-11-04T00:00:00.000Z"}}"#;
        let view: View = serde_json::from_str(printed).unwrap();
        assert_eq!(version::day(&view.time[&view.version]).unwrap().to_string(), "2026-11-03");
    }
}
