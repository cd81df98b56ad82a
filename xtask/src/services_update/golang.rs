//! Go: `go list -m MODULE@latest`, which skips pre-releases and retracted versions.
//!
//! Another major version is another module (`/v5`, `/v6`), so it is not reported.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Answer, client, version};

/// The relevant fields of `go list`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Latest {
    version: String,
    time: Option<String>,
}

pub(super) fn ask(folder: &Path, module: &str) -> Result<Answer> {
    let go_mod = fs::read_to_string(folder.join("go.mod")).context("it has no go.mod")?;
    let used = used(&go_mod, module).with_context(|| format!("go.mod has no {module}"))?;
    let printed = client::run(folder, &["go", "list", "-m", "-json", &format!("{module}@latest")])?;
    let latest: Latest = serde_json::from_str(&printed.stdout).context("go printed another shape of JSON")?;
    // Optional: an unavailable module of the graph must not hide the framework's answer.
    let all = client::run(folder, &["go", "list", "-m", "-u", "all"]).ok();
    Ok(Answer {
        used: plain(used),
        newest: plain(&latest.version),
        date: latest.time.as_deref().and_then(version::day),
        lock: all.map(|all| behind(&all.stdout, &go_mod, module)),
    })
}

/// Removes the `v` that only Go writes.
fn plain(version: &str) -> String {
    version.strip_prefix('v').unwrap_or(version).to_owned()
}

/// (module, version) of every requirement.
fn required(go_mod: &str) -> impl Iterator<Item = (&str, &str)> {
    go_mod.lines().filter_map(|line| {
        let line = line.trim();
        let mut words = line.strip_prefix("require ").unwrap_or(line).split_whitespace();
        let (module, version) = (words.next()?, words.next()?);
        version.starts_with('v').then_some((module, version))
    })
}

fn used<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    required(go_mod).find(|(required, _)| *required == module).map(|(_, version)| version)
}

/// Other modules of go.mod with newer versions, which `go list -m -u` prints in brackets.
fn behind(all: &str, go_mod: &str, module: &str) -> usize {
    let locked: BTreeSet<&str> = required(go_mod).map(|(required, _)| required).collect();
    let newer = all.lines().filter(|line| line.contains('['));
    let newer = newer.filter_map(|line| line.split_whitespace().next());
    newer.filter(|newer| *newer != module && locked.contains(newer)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GO_MOD: &str = "module tare/gin\n\ngo 1.25.0\n\nrequire github.com/gin-gonic/gin v1.12.0\n\n\
        require (\n\tgithub.com/goccy/go-json v0.10.5 // indirect\n\tgolang.org/x/net v0.51.0 // indirect\n)\n";

    #[test]
    fn requirements_stand_alone_or_in_a_block() {
        assert_eq!(used(GO_MOD, "github.com/gin-gonic/gin").map(plain).as_deref(), Some("1.12.0"));
        assert_eq!(used(GO_MOD, "golang.org/x/net"), Some("v0.51.0"));
        assert_eq!(used(GO_MOD, "tare/gin"), None);
    }

    #[test]
    fn only_what_is_in_go_mod_counts_as_locked() {
        let all = "tare/gin\ngithub.com/davecgh/go-spew v1.1.0 [v1.1.1]\ngithub.com/gin-gonic/gin v1.12.0 [v1.13.0]\n\
            github.com/goccy/go-json v0.10.5\ngolang.org/x/net v0.51.0 [v0.62.0]\n";
        assert_eq!(behind(all, GO_MOD, "github.com/gin-gonic/gin"), 1);
    }

    #[test]
    fn the_answer_has_a_version_and_a_time() {
        let json =
            "{\n\t\"Path\": \"x\",\n\t\"Version\": \"v1.12.0\",\n\t\"Time\": \"2026-02-28T10:10:09Z\"\n}\n";
        let latest: Latest = serde_json::from_str(json).unwrap();
        assert_eq!((latest.version.as_str(), latest.time.is_some()), ("v1.12.0", true));
        let without: Latest = serde_json::from_str("{\"Version\": \"v1.0.0\"}").unwrap();
        assert_eq!(without.time, None);
    }
}
