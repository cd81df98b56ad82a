//! Building services: requirements first, then the steps, cached by the content of the folder and of the toolchain.
//! Everything a build prints is kept in a log. Starts no service, except for the `[version]` command.

mod content;
mod requirement;
mod stamp;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

pub use requirement::{Missing, check as check_requirements};
pub use stamp::Stamp;

use crate::catalogue::Service;

/// How long one build step may take. The longest known (a first build of a Go framework) takes some minutes.
const STEP_LIMIT: Duration = Duration::from_secs(30 * 60);
/// How long the `[version]` command may take.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// Where builds are recorded: `ROOT/.tare/builds/`.
#[derive(Debug, Clone)]
pub struct Builder {
    records: PathBuf,
}

/// A service that is ready to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The receipt: what the framework in the build says its version is.
    pub version: String,
    /// Seconds the build took when it was made.
    pub build_seconds: f64,
    /// True where nothing had changed since an earlier build.
    pub cached: bool,
    /// BLAKE3 of the folder's files and of what the toolchain says of itself.
    pub content: String,
}

/// Why a service cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A toolchain or a library is not on this machine.
    #[error("{0}")]
    Missing(Missing),
    /// A step ended with a failure.
    #[error("build step \"{step}\" failed ({status}): {last_line}; all of it: {}", log.display())]
    Step {
        /// The command.
        step: String,
        /// How it ended.
        status: String,
        /// The last line it printed.
        last_line: String,
        /// The whole output.
        log: PathBuf,
    },
    /// The build ran, but its receipt cannot be had.
    #[error("version command \"{command}\" {reason}")]
    Version {
        /// The command.
        command: String,
        /// What was wrong.
        reason: String,
    },
    /// The record of builds cannot be kept.
    #[error("{}: {source}", path.display())]
    Record {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Builder {
    /// Keeps its records below `root`.
    pub fn new(root: &Path) -> Builder {
        Builder { records: root.join(".tare").join("builds") }
    }

    /// The log of the last build of a service.
    pub fn log(&self, service: &Service) -> PathBuf {
        self.records.join(format!("{}.log", service.name))
    }

    /// What the last good build of this service recorded, whether or not it is still current.
    pub fn last(&self, service: &Service) -> Option<Stamp> {
        stamp::read(&self.stamp_path(service))
    }

    /// Builds `service`, or finds that nothing has changed. `force` builds all the same.
    pub fn build(&self, service: &Service, force: bool) -> Result<Built, BuildError> {
        let toolchain = requirement::check(&service.requires).map_err(BuildError::Missing)?;
        let _lock = self.lock(service)?;
        let content = content::hash(&service.folder, service.build.is_empty(), &toolchain)
            .map_err(|source| BuildError::Record { path: service.folder.clone(), source })?;
        if !force
            && let Some(stamp) = self.last(service).filter(|stamp| stamp.content == content)
            && let Ok(version) = version(service)
        {
            return Ok(Built { version, build_seconds: stamp.build_seconds, cached: true, content });
        }
        let began = Instant::now();
        self.run_steps(service)?;
        let build_seconds = began.elapsed().as_secs_f64();
        let version = version(service)?;
        let stamp = Stamp { content: content.clone(), build_seconds, version: version.clone() };
        let path = self.stamp_path(service);
        stamp::write(&path, &stamp).map_err(|source| BuildError::Record { path, source })?;
        Ok(Built { version, build_seconds, cached: false, content })
    }

    fn stamp_path(&self, service: &Service) -> PathBuf {
        self.records.join(format!("{}.json", service.name))
    }

    /// Two commands that build one service at the same time would trip over each other's files.
    fn lock(&self, service: &Service) -> Result<File, BuildError> {
        let path = self.records.join(format!("{}.lock", service.name));
        let take = || {
            fs::create_dir_all(&self.records)?;
            let file = File::create(&path)?;
            file.lock()?;
            Ok(file)
        };
        take().map_err(|source| BuildError::Record { path: path.clone(), source })
    }

    fn run_steps(&self, service: &Service) -> Result<(), BuildError> {
        let log = self.log(service);
        let record = |source| BuildError::Record { path: log.clone(), source };
        let mut output = File::create(&log).map_err(record)?;
        for step in &service.build {
            use std::io::Write;
            writeln!(output, "$ {}", step.command.join(" ")).map_err(record)?;
            let status = run_step(service, &step.command, &output, STEP_LIMIT);
            if status.as_deref() != Ok("exit status: 0") {
                let (Ok(status) | Err(status)) = status;
                let last_line = last_line(&log);
                return Err(BuildError::Step { step: step.command.join(" "), status, last_line, log });
            }
        }
        Ok(())
    }
}

/// `Err` where the step could not even run.
fn run_step(service: &Service, step: &[String], output: &File, limit: Duration) -> Result<String, String> {
    let mut command = command(&service.folder, step);
    let clone = || output.try_clone().map(Stdio::from).map_err(|error| error.to_string());
    command.stdin(Stdio::null()).stdout(clone()?).stderr(clone()?);
    let mut child = command.spawn().map_err(|error| format!("cannot run \"{}\": {error}", step[0]))?;
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.to_string()),
            Ok(None) if began.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("stopped after {} s", limit.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// A first word with a slash is relative to the folder, another is looked up on PATH.
fn command(folder: &Path, words: &[String]) -> Command {
    let program = match words[0].contains('/') {
        true => folder.join(&words[0]),
        false => PathBuf::from(&words[0]),
    };
    let mut command = Command::new(program);
    command.args(&words[1..]).current_dir(folder);
    command
}

/// The receipt, read from the build itself.
fn version(service: &Service) -> Result<String, BuildError> {
    let wrong = |reason: String| BuildError::Version { command: service.version_command.join(" "), reason };
    let mut command = command(&service.folder, &service.version_command);
    command.envs(&service.env).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| wrong(format!("cannot run: {error}")))?;
    let began = Instant::now();
    while child.try_wait().map_err(|error| wrong(error.to_string()))?.is_none() {
        if began.elapsed() > VERSION_LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return Err(wrong(format!("did not end within {} s", VERSION_LIMIT.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match text.lines().count() {
        _ if !output.status.success() => Err(wrong(format!("ended with {}", output.status))),
        1 => Ok(text),
        lines => Err(wrong(format!("printed {lines} lines; it must print the version and nothing else"))),
    }
}

fn last_line(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim().to_owned()
}

#[cfg(test)]
mod tests;
