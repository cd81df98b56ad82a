//! Runs the steps of a build in order, with one log.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use super::{BuildError, Site};
use crate::{
    build::BuildCost,
    catalogue::{Service, Step},
};
use tare_host::process::{self, Ended, Exit, Launch, ProgramLimits};

/// Time limit of a step. The longest known one (a first build of a Go framework) takes some minutes.
const STEP_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Limit of the log. The longest known ones have some MB.
const LOG_BYTES_MAX: u64 = 1 << 30;
/// Number of lines searched for the last non-empty one.
const LINES_LOOKED_AT: usize = 20;

/// Replaces an earlier log by an empty one.
pub(super) fn begin(log: &Path) -> Result<(), BuildError> {
    File::create(log).map(drop).map_err(|source| BuildError::Record { path: log.to_owned(), source })
}

/// Runs all steps of `service` in its folder, logs to `log`, and adds to `cost`.
pub(super) fn run(
    service: &Service,
    log: &Path,
    site: &Site<'_>,
    cost: &mut BuildCost,
) -> Result<(), BuildError> {
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
    let limits = ProgramLimits { time: STEP_LIMIT, output_bytes: LOG_BYTES_MAX, interrupt: site.interrupt };
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

/// The last non-empty line of a log of any length.
fn last_line(log: &Path) -> String {
    let end = process::tail(log, LINES_LOOKED_AT);
    end.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim().to_owned()
}
