//! The version that the framework in a build reports. It is read from the build itself.

use std::{fs, path::Path, time::Duration};

use super::{BuildError, Site};
use crate::catalogue::Service;
use tare_host::process::{self, Ended, Exit, Launch, Limits};

/// How long the `[version]` command may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Digits of the content that stand for the version of a service that has no `[version]` command.
const HASH_DIGITS: usize = 8;

/// What the build of `content` is a version of: what its `[version]` command says, or the beginning of the content's hash.
pub(super) fn of(
    service: &Service,
    content: &str,
    output: &Path,
    site: &Site<'_>,
) -> Result<String, BuildError> {
    match service.version.command.is_empty() {
        true => Ok(content[..HASH_DIGITS.min(content.len())].to_owned()),
        false => read(service, output, site),
    }
}

/// Runs the `[version]` command; what it prints goes through the file `output`.
fn read(service: &Service, output: &Path, site: &Site<'_>) -> Result<String, BuildError> {
    let wrong = |reason: String| BuildError::Version { command: service.version.command.join(" "), reason };
    let launch = Launch {
        name: service.name.clone(),
        command: service.version.command.clone(),
        dir: service.place.to_path_buf(),
        env: service.run.env.clone().into_iter().collect(),
        stdout: output.to_owned(),
        stderr: "/dev/null".into(),
        ..Launch::default()
    };
    let limits = Limits { time: LIMIT, interrupt: site.interrupt };
    let job =
        process::run_to_end(&launch, site.supervisor, limits).map_err(|error| wrong(error.to_string()))?;
    match job.ended {
        Ended::Itself(Exit::Status(0)) => {}
        Ended::Itself(exit) => return Err(wrong(format!("ended with {exit}"))),
        Ended::TooLong => return Err(wrong(format!("did not end within {} s", LIMIT.as_secs()))),
        Ended::Interrupted => return Err(BuildError::Interrupted),
    }
    let text = fs::read(output).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    match text.lines().count() {
        1 => Ok(text),
        lines => Err(wrong(format!("printed {lines} lines; it must print the version and nothing else"))),
    }
}
