//! `threads` in the tables of a load and of the services.

use serde::Deserialize;

/// `THREADS` as in the file.
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
    /// The number for the settings of a load or service; the first one of a list.
    pub(super) fn first(&self) -> usize {
        match self {
            ThreadsFile::One(number) => *number,
            ThreadsFile::Many(numbers) => numbers.first().copied().unwrap_or(0),
            ThreadsFile::Word(_) => 1,
        }
    }
}
