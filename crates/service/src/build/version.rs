//! The version of the framework in a build, as the build itself reports it.

use std::time::Duration;

use super::{BuildError, Site};
use crate::catalogue::Service;
use tare_host::{
    foreign,
    process::{self, Ended, Exit, Launch, ProgramLimits},
};

/// Time limit of the `[version]` command.
const LIMIT: Duration = Duration::from_secs(20);

/// Limit of its output: a version has one or two words.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// Number of hash digits that serve as the version of a service without a `[version]` command.
const HASH_DIGITS: usize = 8;

/// The version of a build: the output of its `[version]` command, or the beginning of its content hash.
pub(super) fn of(service: &Service, content: &str, site: &Site<'_>) -> Result<String, BuildError> {
    match service.version.command.is_empty() {
        true => Ok(content[..HASH_DIGITS.min(content.len())].to_owned()),
        false => read(service, site),
    }
}

fn read(service: &Service, site: &Site<'_>) -> Result<String, BuildError> {
    let wrong = |reason: String| BuildError::Version { command: service.version.command.join(" "), reason };
    let (env, unset) = service.environment();
    let launch = Launch {
        name: service.name.clone(),
        command: service.version.command.clone(),
        dir: service.place.to_path_buf(),
        env,
        unset,
        ..Launch::default()
    };
    let limits = ProgramLimits { time: LIMIT, output_bytes: OUTPUT_BYTES_MAX, interrupt: site.interrupt };
    let answer =
        process::answer(&launch, site.supervisor, limits).map_err(|error| wrong(error.to_string()))?;
    match answer.ended {
        Ended::Itself(Exit::Status(0)) => {}
        Ended::Itself(exit) => return Err(wrong(format!("ended with {exit}"))),
        Ended::TooLong => return Err(wrong(format!("did not end within {} s", LIMIT.as_secs()))),
        Ended::TooMuch => return Err(wrong(format!("printed more than {OUTPUT_BYTES_MAX} bytes"))),
        Ended::Interrupted => return Err(BuildError::Interrupted),
    }
    let text = foreign::quotable(answer.stdout.trim());
    match text.lines().count() {
        1 => Ok(text),
        lines => Err(wrong(format!("printed {lines} lines; it must print the version and nothing else"))),
    }
}
