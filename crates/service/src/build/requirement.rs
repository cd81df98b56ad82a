//! Checks that a service's toolchains and libraries are installed, by running its commands.

use std::{path::Path, time::Duration};

use super::{BuildError, Missing, Site};
use crate::{
    catalogue::{Requirement, Service},
    git,
};
use tare_host::process::{self, Ended, Exit, Launch, ProgramLimits, StartFailure};

/// Time limit: some commands compile C++, on a machine that builds meanwhile.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// Limit of output; version texts have some thousands of bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Debian's lists of the files of installed packages.
const DPKG: &str = "/var/lib/dpkg/info";

/// The joined output of all requirements of `service`, which is part of the build's content hash.
///
/// # Errors
/// The first unmet requirement, or an interrupt.
pub fn check(service: &Service, site: &Site<'_>) -> Result<String, BuildError> {
    if !service.sources.is_empty() {
        // git's output is not part of the hash: every version fetches the same files.
        probe(service, &git(), site)?;
    }
    service.requires.iter().map(|requirement| probe(service, requirement, site)).collect()
}

/// The requirement of a `[[source]]`.
fn git() -> Requirement {
    Requirement {
        command: [git::PROGRAM, "--version"].map(str::to_owned).to_vec(),
        debian: vec![git::PROGRAM.to_owned()],
        at_least: None,
        hint: Some("it fetches what a [[source]] names".to_owned()),
    }
}

fn probe(service: &Service, requirement: &Requirement, site: &Site<'_>) -> Result<String, BuildError> {
    let brought_by = |reason: String, debian: Vec<String>| {
        let (command, hint) = (requirement.command.join(" "), requirement.hint.clone());
        BuildError::Missing(Missing { command, reason, debian, hint })
    };
    let missing = |reason| brought_by(reason, requirement.debian.clone());
    let too_old = |reason| {
        let others = requirement.debian.iter().filter(|package| !is_installed(Path::new(DPKG), package));
        brought_by(reason, others.cloned().collect())
    };
    let ask = || answer(service, requirement, site, &missing);
    let answer = site.answers.of(service, &requirement.command, ask)?;
    met(requirement, answer).map_err(too_old)
}

/// What the command of a requirement prints.
fn answer(
    service: &Service,
    requirement: &Requirement,
    site: &Site<'_>,
    missing: &dyn Fn(String) -> BuildError,
) -> Result<String, BuildError> {
    let (env, unset) = service.step_environment();
    let launch = Launch {
        name: service.name.clone(),
        command: requirement.command.clone(),
        dir: service.folder.clone(),
        env,
        unset,
        ..Launch::default()
    };
    let limits =
        ProgramLimits { time: ANSWER_WITHIN, output_bytes: ANSWER_BYTES_MAX, interrupt: site.interrupt };
    let answer = process::answer(&launch, site.supervisor, limits)
        .map_err(|error| missing(format!("cannot run: {}", why_not(&error.why))))?;
    match answer.ended {
        Ended::Itself(Exit::Status(0)) => Ok(answer.stdout + &answer.stderr),
        Ended::Itself(exit) => Err(missing(format!("ended with {exit}"))),
        Ended::TooLong => Err(missing(format!("did not end within {} s", ANSWER_WITHIN.as_secs()))),
        Ended::TooMuch => Err(missing(format!("printed more than {ANSWER_BYTES_MAX} bytes"))),
        Ended::Interrupted => Err(BuildError::Interrupted),
    }
}

/// If a package is installed but too old, installing it again does not help: Debian 12 has no newer Node.
fn is_installed(dpkg: &Path, package: &str) -> bool {
    let architectures = ["", ":amd64", ":arm64"];
    architectures.iter().any(|architecture| dpkg.join(format!("{package}{architecture}.list")).exists())
}

/// For a missing program the searched folders are not shown.
fn why_not(failure: &StartFailure) -> String {
    match failure {
        StartFailure::Missing { .. } => "there is no such program".to_owned(),
        StartFailure::NoCommand => "it is empty".to_owned(),
        other => other.to_string(),
    }
}

/// `text` if its version is new enough, else the reason.
fn met(requirement: &Requirement, text: String) -> Result<String, String> {
    if let Some(least) = &requirement.at_least
        && first_version(&text) < first_version(least)
    {
        let found = first_version(&text).map_or("no version".to_owned(), |parts| {
            parts.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
        });
        return Err(format!("says {found}, and {least} or newer is needed"));
    }
    Ok(text)
}

/// The first dotted number in a text, or else its first number. `go version go1.26.8 linux/amd64` gives
/// 1.26.8; the first release of a JDK prints `javac 21`.
fn first_version(text: &str) -> Option<Vec<u64>> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let versions: Vec<Vec<u64>> =
        words.filter_map(|word| word.split('.').map(|part| part.parse().ok()).collect()).collect();
    versions.iter().find(|parts| parts.len() > 1).or(versions.first()).cloned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn requirement(at_least: Option<&str>) -> Requirement {
        let at_least = at_least.map(str::to_owned);
        Requirement { command: vec!["tool".to_owned()], debian: Vec::new(), at_least, hint: None }
    }

    #[test]
    fn versions_are_found_in_what_tools_print() {
        assert_eq!(first_version("go version go1.26.8 linux/amd64"), Some(vec![1, 26, 8]));
        assert_eq!(first_version("v20.20.2\n"), Some(vec![20, 20, 2]));
        assert_eq!(first_version("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), Some(vec![1, 95, 0]));
        assert_eq!(first_version("openjdk 21 2023-09-19"), Some(vec![21]));
        assert_eq!(first_version("no number"), None);
    }

    #[test]
    fn a_package_is_installed_if_its_files_are_listed() {
        let dpkg = tempfile::tempdir().unwrap();
        for name in ["nodejs.list", "libpq-dev:amd64.list", "npm.md5sums"] {
            std::fs::write(dpkg.path().join(name), "").unwrap();
        }
        assert_eq!(
            ["nodejs", "libpq-dev", "npm"].map(|name| is_installed(dpkg.path(), name)),
            [true, true, false]
        );
        assert!(!is_installed(&dpkg.path().join("none"), "nodejs"));
    }

    #[test]
    fn what_is_too_old_or_has_no_version_is_not_met() {
        let met = |text: &str, least: Option<&str>| met(&requirement(least), text.to_owned());
        assert_eq!(met("javac 11.0.20", Some("17")).unwrap_err(), "says 11.0.20, and 17 or newer is needed");
        assert_eq!(met("v1.9.4", Some("1.24")).unwrap_err(), "says 1.9.4, and 1.24 or newer is needed");
        assert_eq!(met("dev", Some("1.2")).unwrap_err(), "says no version, and 1.2 or newer is needed");
        assert_eq!(met("v1.24.0\n", Some("1.24")), Ok("v1.24.0\n".to_owned()));
        assert_eq!(met("anything", None), Ok("anything".to_owned()));
    }

    proptest! {
        #[test]
        fn versions_are_compared_by_number(
            one in proptest::collection::vec(0_u64..200, 2..5),
            other in proptest::collection::vec(0_u64..200, 2..5),
        ) {
            let print = |parts: &[u64]| parts.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
            let version = |parts: &[u64]| first_version(&format!("tool v{} (x86_64, 2024)", print(parts)));
            prop_assert_eq!(version(&one), Some(one.clone()));
            prop_assert_eq!(version(&one) < version(&other), one < other);
        }

        #[test]
        fn no_output_of_a_tool_is_too_much(text in "([0-9]{0,30}|[.]|[a-zé \n-]){0,40}") {
            let _any = first_version(&text);
        }
    }
}
