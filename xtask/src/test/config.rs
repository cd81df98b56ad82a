//! `dev/tests.toml`: which tests measure, which run only in `make test-all`, and which begin first.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

const FILE: &str = "dev/tests.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub(super) later: Later,
    #[serde(rename = "group")]
    groups: Vec<Group>,
    /// Name prefixes of long tests, the longest test first.
    first: Vec<String>,
    /// Programs whose tests share an expensive setup, and run in one process.
    shared: Vec<String>,
    /// Name prefixes of tests that mostly wait for a clock.
    waits: Vec<String>,
}

/// Tests that `make test` does not run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Later {
    /// Packages that are not even compiled.
    pub(super) packages: Vec<String>,
    tests: Vec<String>,
    /// Exceptions from `tests`.
    but: Vec<String>,
}

/// Tests of a group run one at a time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: String,
    /// They run alone, after all other tests.
    #[serde(default)]
    pub(super) alone: bool,
    tests: Vec<String>,
}

fn matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| name.starts_with(pattern))
}

impl Config {
    pub(super) fn read(root: &Path) -> Result<Config> {
        let text = fs::read_to_string(root.join(FILE)).context(FILE)?;
        toml::from_str(&text).context(FILE)
    }

    pub(super) fn is_later(&self, name: &str) -> bool {
        let of_later = |package: &String| name.split("::").next() == Some(package);
        self.later.packages.iter().any(of_later)
            || (matches(&self.later.tests, name) && !matches(&self.later.but, name))
    }

    pub(super) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| matches(&group.tests, name))
    }

    /// Whether a test mostly waits. One of a group does not count as such.
    pub(super) fn waits(&self, name: &str) -> bool {
        matches(&self.waits, name)
    }

    pub(super) fn is_shared(&self, binary: &str) -> bool {
        self.shared.iter().any(|shared| shared == binary)
    }

    /// Position of a test among those that begin first.
    pub(super) fn place(&self, name: &str) -> usize {
        let place = self.first.iter().position(|pattern| name.starts_with(pattern));
        place.unwrap_or(self.first.len())
    }

    /// Fails if a pattern matches no test: a renamed test would lose its settings.
    pub(super) fn check<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        let groups = self.groups.iter().flat_map(|group| &group.tests);
        let patterns =
            groups.chain(&self.later.tests).chain(&self.later.but).chain(&self.first).chain(&self.waits);
        let is_used = |pattern: &str| names.clone().any(|name| name.starts_with(pattern));
        let unused: Vec<&String> =
            patterns.filter(|pattern| !self.is_of_later_package(pattern) && !is_used(pattern)).collect();
        ensure!(unused.is_empty(), "{FILE}: no test has a name that begins with {unused:?}");
        Ok(())
    }

    fn is_of_later_package(&self, pattern: &str) -> bool {
        self.later.packages.iter().any(|package| pattern.split("::").next() == Some(package))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let text = "
            first = ['a::long']
            shared = ['a::forms']
            waits = ['b::slow']
            [later]
            packages = ['lab']
            tests = ['a::e2e::', 'b::slow']
            but = ['a::e2e::readme::']
            [[group]]
            name = 'measures'
            tests = ['a::e2e::slo::', 'lab::speed']
        ";
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_name_belongs_to_the_patterns_that_it_begins_with() {
        let config = config();
        for (name, is_later) in [
            ("a::e2e::slo::statuses", true),
            ("a::e2e::readme::slo", false),
            ("a::unit", false),
            ("lab::x", true),
            ("laboratory::x", false),
        ] {
            assert_eq!(config.is_later(name), is_later, "{name}");
        }
        let group = |name: &str| config.group(name).map(|group| group.name.as_str());
        assert_eq!((group("a::e2e::slo::statuses"), group("a::e2e::list")), (Some("measures"), None));
        assert!(config.place("a::long_one") < config.place("a::short"));
    }

    #[test]
    fn a_pattern_of_no_test_is_an_error() {
        let names = ["a::long", "a::e2e::slo::x", "a::e2e::readme::y", "b::slow"];
        config().check(names.into_iter()).unwrap();
        let error = config().check(names.into_iter().skip(1)).unwrap_err().to_string();
        assert_eq!(error, "dev/tests.toml: no test has a name that begins with [\"a::long\"]");
    }
}
