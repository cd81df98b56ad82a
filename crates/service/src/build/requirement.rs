//! Whether a service's toolchains and libraries are on this machine, and what would bring them.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::catalogue::{Requirement, Service};
use tare_host::process::Asked;

/// Some compile a line of C++, and on a machine that builds meanwhile.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// A requirement that this machine does not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub command: String,
    /// Not found, its exit status, or too old.
    pub reason: String,
    /// Debian packages that bring it.
    pub debian: Vec<String>,
    pub hint: Option<String>,
}

impl Missing {
    /// The command that mends it, where there is one.
    pub(crate) fn remedy(&self) -> Option<String> {
        (!self.debian.is_empty()).then(|| format!("apt-get install {}", self.debian.join(" ")))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not on this machine: \"{}\" {}", self.command, self.reason)?;
        if let Some(remedy) = self.remedy() {
            write!(f, "; `{remedy}`")?;
        }
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// What every requirement of `service` printed, joined: it belongs to the build's content.
///
/// # Errors
/// The first requirement that this machine does not meet.
pub fn check(service: &Service) -> Result<String, Missing> {
    all_met(&service.requires, &service.folder)
}

fn all_met(requirements: &[Requirement], folder: &Path) -> Result<String, Missing> {
    requirements.iter().map(|requirement| probe(requirement, folder)).collect()
}

fn probe(requirement: &Requirement, folder: &Path) -> Result<String, Missing> {
    let missing = |reason: String| Missing {
        command: requirement.command.join(" "),
        reason,
        debian: requirement.debian.clone(),
        hint: requirement.hint.clone(),
    };
    let (program, arguments) =
        requirement.command.split_first().ok_or_else(|| missing("is empty".to_owned()))?;
    let program = match program.contains('/') {
        true => folder.join(program),
        false => PathBuf::from(program),
    };
    let output = Asked::put(Command::new(program).args(arguments).current_dir(folder), ANSWER_WITHIN)
        .and_then(Asked::answer)
        .map_err(|error| missing(format!("cannot run: {error}")))?;
    if !output.status.success() {
        return Err(missing(format!("ended with {}", output.status)));
    }
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if let Some(least) = &requirement.at_least
        && first_version(&text) < first_version(least)
    {
        let found = first_version(&text).map_or("no version".to_owned(), |parts| {
            parts.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
        });
        return Err(missing(format!("says {found}, and {least} or newer is needed")));
    }
    Ok(text)
}

/// The first dotted number in a text, or the first number where none is dotted: `go version go1.26.8 linux/amd64` holds
/// 1.26.8, and the first release of a JDK calls itself `javac 21`.
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

    fn requirement(command: &[&str], at_least: Option<&str>) -> Requirement {
        Requirement {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            debian: vec!["some-package".to_owned()],
            at_least: at_least.map(str::to_owned),
            hint: Some("or build it".to_owned()),
        }
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
    fn what_is_missing_says_what_brings_it() {
        let text = |command: &[&str], at_least| {
            all_met(&[requirement(command, at_least)], Path::new("/")).unwrap_err().to_string()
        };
        assert_eq!(
            text(&["no-such-tool", "--version"], None),
            "not on this machine: \"no-such-tool --version\" cannot run: No such file or directory (os error 2); \
             `apt-get install some-package` (or build it)"
        );
        assert!(text(&["false"], None).contains("ended with exit status: 1"));
        assert!(
            text(&["echo", "javac 11.0.20"], Some("17")).contains("says 11.0.20, and 17 or newer is needed")
        );
        assert!(text(&["echo", "v1.9.4"], Some("1.24")).contains("says 1.9.4, and 1.24 or newer is needed"));
        assert_eq!(
            all_met(&[requirement(&["echo", "v1.24.0"], Some("1.24"))], Path::new("/")),
            Ok("v1.24.0\n".to_owned())
        );
    }

    #[test]
    fn a_requirement_that_is_met_adds_its_output_to_the_content() {
        let requirements =
            [requirement(&["echo", "one"], None), requirement(&["sh", "-c", "echo two >&2"], None)];
        assert_eq!(all_met(&requirements, Path::new("/")), Ok("one\ntwo\n".to_owned()));
        let failing = [requirement(&["false"], None), requirement(&["no-such-tool"], None)];
        assert_eq!(all_met(&failing, Path::new("/")).unwrap_err().command, "false", "the first is reported");
        assert_eq!(all_met(&[requirement(&[], None)], Path::new("/")).unwrap_err().reason, "is empty");
    }

    #[test]
    fn a_program_with_a_slash_is_one_of_the_service() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("check");
        std::fs::write(&program, "#!/bin/sh\npwd\n").unwrap();
        std::process::Command::new("chmod").arg("+x").arg(&program).status().unwrap();
        let printed = all_met(&[requirement(&["./check"], None)], folder.path()).unwrap();
        assert_eq!(Path::new(printed.trim()).canonicalize().unwrap(), folder.path().canonicalize().unwrap());
    }

    #[test]
    fn output_without_a_version_is_too_old() {
        let error = all_met(&[requirement(&["echo", "dev"], Some("1.2"))], Path::new("/")).unwrap_err();
        assert_eq!(error.reason, "says no version, and 1.2 or newer is needed");
        let bare = Missing { debian: Vec::new(), hint: None, ..error };
        assert_eq!(
            bare.to_string(),
            "not on this machine: \"echo dev\" says no version, and 1.2 or newer is needed"
        );
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
