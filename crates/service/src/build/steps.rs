//! Runs the steps of a build, one after the other, into one log.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use super::{BuildError, Site};
use crate::{
    build::Cost,
    catalogue::{Service, Step},
};
use tare_host::process::{self, Ended, Exit, Launch, Limits};

/// How long one step may take. The longest known (a first build of a Go framework) takes some minutes.
const STEP_LIMIT: Duration = Duration::from_secs(30 * 60);

/// What all steps of a build may print. The longest known print some MB.
const LOG_BYTES_MAX: u64 = 1 << 30;
/// Empty lines at the end of a log say nothing.
const LINES_LOOKED_AT: usize = 20;

/// An empty log in the place of that of an earlier build.
pub(super) fn begin(log: &Path) -> Result<(), BuildError> {
    File::create(log).map(drop).map_err(|source| BuildError::Record { path: log.to_owned(), source })
}

/// All steps of `service` in its place; what they print goes to `log`, what they cost is added.
pub(super) fn run(service: &Service, log: &Path, site: &Site<'_>, cost: &mut Cost) -> Result<(), BuildError> {
    for step in &service.build {
        let timed = || {
            let began = Instant::now();
            (run_step(service, step, log, site), began.elapsed())
        };
        let ((cpu, took), bytes) = match step.network {
            true => site.network.alone(timed),
            false => (timed(), Some(0)),
        };
        cost.cpu_seconds += cpu?.as_secs_f64();
        cost.seconds += took.as_secs_f64();
        cost.download_bytes = cost.download_bytes.zip(bytes).map(|(earlier, now)| earlier + now);
    }
    Ok(())
}

fn run_step(service: &Service, step: &Step, log: &Path, site: &Site<'_>) -> Result<Duration, BuildError> {
    let line = step.command.join(" ");
    say(log, &line).map_err(|source| BuildError::Record { path: log.to_owned(), source })?;
    let failed = |status: String| BuildError::Step {
        step: line.clone(),
        status,
        last_line: last_line(log),
        log: log.to_owned(),
    };
    let (env, unset) = service.step_environment();
    let launch = Launch {
        name: service.name.clone(),
        command: step.command.clone(),
        dir: service.place.to_path_buf(),
        env,
        unset,
        stdout: log.to_owned(),
        stderr: log.to_owned(),
        append: true,
        ..Launch::default()
    };
    let limits = Limits { time: STEP_LIMIT, output_bytes: LOG_BYTES_MAX, interrupt: site.interrupt };
    let job =
        process::run_to_end(&launch, site.supervisor, limits).map_err(|error| failed(error.to_string()))?;
    match job.ended {
        Ended::Itself(Exit::Status(0)) => Ok(job.cpu),
        Ended::Itself(exit) => Err(failed(exit.to_string())),
        Ended::TooLong => Err(failed(format!("stopped after {} s", STEP_LIMIT.as_secs()))),
        Ended::TooMuch => Err(failed(format!("stopped after {LOG_BYTES_MAX} bytes of output"))),
        Ended::Interrupted => Err(BuildError::Interrupted),
    }
}

fn say(log: &Path, line: &str) -> io::Result<()> {
    writeln!(File::options().append(true).open(log)?, "$ {line}")
}

/// Of a log of any length.
fn last_line(log: &Path) -> String {
    let end = process::tail(log, LINES_LOOKED_AT);
    end.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim().to_owned()
}
