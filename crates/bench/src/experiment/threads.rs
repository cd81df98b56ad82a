//! `threads` as it stands in the tables of a load and of the services.

use serde::Deserialize;

/// `THREADS` as the file says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "\"threads\" must be a number, or a list of numbers such as [1, 2, 4] (of the generator also \"left\")"
)]
pub(super) enum ThreadsFile {
    One(usize),
    Many(Vec<usize>),
    Word(String),
}

impl ThreadsFile {
    /// What stands in the settings of a load or a service: of a list the first number.
    pub(super) fn first(&self) -> usize {
        match self {
            ThreadsFile::One(number) => *number,
            ThreadsFile::Many(numbers) => numbers.first().copied().unwrap_or(0),
            ThreadsFile::Word(_) => 1,
        }
    }
}
