//! git as a supervised build step: logged, without prompts, and without user settings that change files.
//! Settings for addresses and access stay in force: mirrors, proxies, keys.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tare_host::{
    foreign,
    process::{self, Ended, Exit, Launch, ProgramLimits},
};

use crate::build::{BuildError, Site};

/// Time limit of one command: some repositories are large, and some networks slow.
const LIMIT: Duration = Duration::from_secs(30 * 60);
const LOG_BYTES_MAX: u64 = 1 << 30;
/// Longest output that is read.
const SAID_BYTES_MAX: u64 = 1 << 20;

pub(super) struct Git<'a> {
    /// The service that is built.
    pub service: &'a str,
    pub log: &'a Path,
    pub site: &'a Site<'a>,
    pub spent: Spent,
}

/// Time used by the commands.
#[derive(Debug, Default)]
pub(super) struct Spent {
    pub time: Duration,
    pub cpu: Duration,
}

/// Where a command works. All paths are explicit, so that git never uses a surrounding repository.
#[derive(Clone, Copy)]
pub(super) struct Within<'a> {
    pub repository: &'a Path,
    pub tree: &'a Path,
    pub index: &'a Path,
}

/// Why a command failed, unless the whole build must stop.
pub(super) enum Failed {
    /// git's message, beginning with the error if there is one.
    Said(String),
    Build(BuildError),
}

impl From<BuildError> for Failed {
    fn from(error: BuildError) -> Failed {
        Failed::Build(error)
    }
}

impl Git<'_> {
    /// Runs a command; returns what it printed on both outputs.
    pub(super) fn run(&mut self, words: &[&str], within: Within<'_>) -> Result<String, Failed> {
        let unwritten = |source| Failed::Build(BuildError::Record { path: self.log.to_owned(), source });
        let began_at = self.say(words).map_err(unwritten)?;
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let env = [
            ("GIT_DIR", path(within.repository)),
            ("GIT_WORK_TREE", path(within.tree)),
            ("GIT_INDEX_FILE", path(within.index)),
            ("GIT_OBJECT_DIRECTORY", path(&within.repository.join("objects"))),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("GIT_ASKPASS", "true".to_owned()),
            ("SSH_ASKPASS", "true".to_owned()),
            ("LC_ALL", "C".to_owned()),
        ];
        let launch = Launch {
            name: self.service.to_owned(),
            command: crate::git::fetching(words),
            dir: within.tree.to_owned(),
            env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            stdout: self.log.to_owned(),
            stderr: self.log.to_owned(),
            append: true,
            ..Launch::default()
        };
        let limits =
            ProgramLimits { time: LIMIT, output_bytes: LOG_BYTES_MAX, interrupt: self.site.interrupt };
        let began = Instant::now();
        let job = process::run_to_end(&launch, self.site.supervisor, limits)
            .map_err(|error| Failed::Said(error.why.to_string()))?;
        self.spent.time += began.elapsed();
        self.spent.cpu += job.cpu;
        let said = said_since(self.log, began_at).map_err(unwritten)?;
        match job.ended {
            Ended::Itself(Exit::Status(0)) => Ok(said),
            Ended::Itself(exit) => Err(Failed::Said(error_of(&said).unwrap_or_else(|| exit.to_string()))),
            Ended::TooLong => Err(Failed::Said(format!("stopped after {} s", LIMIT.as_secs()))),
            Ended::TooMuch => Err(Failed::Said(format!("stopped after {LOG_BYTES_MAX} bytes of output"))),
            Ended::Interrupted => Err(Failed::Build(BuildError::Interrupted)),
        }
    }

    /// Logs the command without its common options. Returns the offset of its output in the log.
    fn say(&self, words: &[&str]) -> io::Result<u64> {
        let mut log = File::options().append(true).create(true).open(self.log)?;
        writeln!(log, "$ git {}", words.join(" "))?;
        log.metadata().map(|metadata| metadata.len())
    }
}

fn said_since(log: &Path, began_at: u64) -> io::Result<String> {
    let mut log = File::open(log)?;
    log.seek(SeekFrom::Start(began_at))?;
    let mut bytes = Vec::new();
    log.take(SAID_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first error line, without its prefix and the advice after it.
fn error_of(said: &str) -> Option<String> {
    let marked = |line: &str| {
        let found = ["fatal: ", "error: "].iter().find_map(|mark| line.strip_prefix(mark));
        found.map(str::to_owned)
    };
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find_map(marked).or_else(|| lines().next_back().map(str::to_owned));
    line.map(|line| foreign::quotable(line.trim_end_matches(['.', ':'])))
}

/// Whether no part of the path is a link, so that files are written where the path says.
pub(super) fn is_free_of_links(root: &Path, path: &Path) -> bool {
    let mut at = PathBuf::from(root);
    path.components().all(|part| {
        at.push(part);
        !fs::symlink_metadata(&at).is_ok_and(|metadata| metadata.is_symlink())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_counts_and_else_the_last_line() {
        let said =
            "remote: hello\nerror: Server does not allow request for unadvertised object 1a\n\nfatal: too\n";
        assert_eq!(error_of(said).unwrap(), "Server does not allow request for unadvertised object 1a");
        assert_eq!(error_of("one\ntwo \n\n").unwrap(), "two");
        assert_eq!(error_of("\n"), None);
    }
}
