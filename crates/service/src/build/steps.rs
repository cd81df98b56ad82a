//! Runs the steps of a build in order, with one log.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use super::{
    BuildCost, BuildError, Site,
    shared::{self, SharedFolders},
    turns::Turn,
};
use crate::catalogue::{Service, Step, StepShares};
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

/// The steps of one build.
pub(super) struct Steps<'a> {
    pub service: &'a Service,
    pub toolchain: &'a str,
    pub shared: &'a SharedFolders,
    pub log: &'a Path,
    pub site: &'a Site<'a>,
}

impl Steps<'_> {
    /// Runs all steps in the service's folder, and adds to `cost`.
    pub(super) fn run(&self, cost: &mut BuildCost) -> Result<(), BuildError> {
        let last = self.service.build.len().saturating_sub(1);
        for (index, step) in self.service.build.iter().enumerate() {
            // A step that only fetches leaves the CPUs to the builds of others, and does not wait for them.
            let fetches = step.network && index < last;
            match step.shares {
                Some(StepShares::Cargo) => self.run_shared(step, cost)?,
                None => {
                    let _turn = (!fetches).then(|| self.turn()).transpose()?;
                    self.run_step(step, Vec::new(), cost)?;
                }
            }
        }
        Ok(())
    }

    fn turn(&self) -> Result<Turn<'_>, BuildError> {
        self.site.turns.take(self.site.interrupt).ok_or(BuildError::Interrupted)
    }

    /// Runs a step in the target folder of its repository. The turn comes last: whoever waits for a folder holds no other up.
    fn run_shared(&self, step: &Step, cost: &mut BuildCost) -> Result<(), BuildError> {
        let no_store = |error: io::Error| self.no_store(error);
        let taken = match self.site.is_unshared {
            true => None,
            false => self.shared.take(self.service, self.toolchain, self.site.interrupt).map_err(no_store)?,
        };
        let _turn = self.turn()?;
        let Some(folder) = taken else {
            return self.run_step(step, shared::variables_alone(&self.service.place), cost).map(drop);
        };
        for is_last in [false, true] {
            let variables = folder.begin().map_err(no_store)?;
            let cpu = match self.run_step(step, variables, cost) {
                Ok(cpu) => cpu,
                Err(error) => {
                    folder.leave().map_err(no_store)?;
                    return Err(error);
                }
            };
            match folder.cost(cpu.as_secs_f64()).map_err(no_store)? {
                Some(spent) => {
                    cost.add_shared(spent);
                    break;
                }
                // Cargo took something for this service's code that was there: once more, from nothing.
                None if !is_last => folder.empty().map_err(no_store)?,
                None => {}
            }
        }
        folder.finish().map_err(no_store)
    }

    fn no_store(&self, source: io::Error) -> BuildError {
        match source.kind() {
            io::ErrorKind::Interrupted => BuildError::Interrupted,
            _ => BuildError::Store { path: self.shared.folder().to_owned(), source },
        }
    }

    /// Runs a step, adds it to `cost`, and returns its CPU time.
    fn run_step(
        &self,
        step: &Step,
        variables: Vec<(String, String)>,
        cost: &mut BuildCost,
    ) -> Result<Duration, BuildError> {
        let timed = || {
            let began = Instant::now();
            (self.start(step, variables), began.elapsed())
        };
        let ((cpu, took), bytes) = match step.network {
            true => self.site.network.alone(timed),
            false => (timed(), Some(0)),
        };
        let cpu = cpu?;
        cost.cpu_seconds += cpu.as_secs_f64();
        cost.seconds += took.as_secs_f64();
        cost.download_bytes = cost.download_bytes.zip(bytes).map(|(earlier, now)| earlier + now);
        Ok(cpu)
    }

    fn start(&self, step: &Step, variables: Vec<(String, String)>) -> Result<Duration, BuildError> {
        let Steps { service, log, site, .. } = self;
        let line = step.command.join(" ");
        say(log, &line).map_err(|source| BuildError::Record { path: log.to_path_buf(), source })?;
        let failed = |status: String| BuildError::Step {
            step: line.clone(),
            status,
            last_line: last_line(log),
            log: log.to_path_buf(),
        };
        let (env, unset) = service.step_environment();
        let launch = Launch {
            name: service.name.clone(),
            command: step.command.clone(),
            dir: service.place.to_path_buf(),
            env: env.into_iter().chain(variables).collect(),
            unset,
            stdout: log.to_path_buf(),
            stderr: log.to_path_buf(),
            append: true,
            ..Launch::default()
        };
        let limits =
            ProgramLimits { time: STEP_LIMIT, output_bytes: LOG_BYTES_MAX, interrupt: site.interrupt };
        let job = process::run_to_end(&launch, site.supervisor, limits)
            .map_err(|error| failed(error.to_string()))?;
        match job.ended {
            Ended::Itself(Exit::Status(0)) => Ok(job.cpu),
            Ended::Itself(exit) => Err(failed(exit.to_string())),
            Ended::TooLong => Err(failed(format!("stopped after {} s", STEP_LIMIT.as_secs()))),
            Ended::TooMuch => Err(failed(format!("stopped after {LOG_BYTES_MAX} bytes of output"))),
            Ended::Interrupted => Err(BuildError::Interrupted),
        }
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
