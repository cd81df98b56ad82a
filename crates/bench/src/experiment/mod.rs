//! Experiment files: what a person writes. Resolves names; starts nothing.

mod interleaved;
mod latency;
mod load;
mod rate;
pub(crate) mod sequential;
mod series;

use std::path::Path;

use tare_service::document::{self, DocumentError};

pub use interleaved::{Experiment, ScheduleSetting};
pub use latency::LatencySetting;
pub use load::LoadSetting;
pub use rate::Rate;
pub use sequential::{LOCAL, Layout, PUBLISHED, RowEntry, SWEEP, SequentialExperiment};
pub use series::Series;

/// The version of the experiment format that this program reads.
const FORMAT: &str = "1.0";

/// What an experiment file holds.
#[derive(Debug, Clone)]
pub enum ExperimentFile {
    Interleaved(Box<Experiment>),
    Sequential(Box<SequentialExperiment>),
    Series(Series),
}

impl ExperimentFile {
    /// Reads the file; what it is shows by a key that only such have.
    ///
    /// # Errors
    /// If it cannot be read, or has a mistake, whose line is named.
    pub fn load(path: &Path) -> Result<ExperimentFile, DocumentError> {
        // What is not TOML is reported by the reader, with its line.
        let keys = document::read(path)?.parse::<toml::Table>().unwrap_or_default();
        Ok(match () {
            () if keys.contains_key("part") => {
                ExperimentFile::Sequential(Box::new(SequentialExperiment::load(path)?))
            }
            () if keys.contains_key("experiment") => ExperimentFile::Series(Series::load(path)?),
            () => ExperimentFile::Interleaved(Box::new(Experiment::load(path)?)),
        })
    }
}
