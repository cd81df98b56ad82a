//! Experiment files, as users write them. Resolves names; starts nothing.

mod connection_use;
mod cores;
mod interleaved;
mod latency;
mod load;
mod rate;
pub(crate) mod sequential;
mod series;
mod threads;

use std::path::Path;

use tare_base::document::{self, DocumentError};

pub use connection_use::ConnectionUse;
pub use cores::{Cores, GeneratorThreads};
pub use interleaved::{Experiment, ScheduleSetting};
pub use latency::LatencySetting;
pub use load::LoadSetting;
pub use rate::Rate;
pub use sequential::{LOCAL, Layout, PUBLISHED, RowEntry, SWEEP, SequentialExperiment};
pub use series::Series;

/// The version of the experiment format that this program reads.
const FORMAT: &str = "1.0";

/// The content of an experiment file.
#[derive(Debug, Clone)]
pub enum ExperimentFile {
    Interleaved(Box<Experiment>),
    Sequential(Box<SequentialExperiment>),
    Series(Series),
}

impl ExperimentFile {
    /// Reads the file; a key that only one kind has determines the kind.
    ///
    /// # Errors
    /// If it cannot be read, or has a mistake; the error names the line.
    pub fn load(path: &Path) -> Result<ExperimentFile, DocumentError> {
        // The reader reports invalid TOML with its line.
        let keys = document::read(path)?.parse::<toml::Table>().unwrap_or_default();
        Ok(match () {
            () if keys.contains_key("part") => {
                ExperimentFile::Sequential(Box::new(SequentialExperiment::load(path)?))
            }
            () if keys.contains_key("experiment") => ExperimentFile::Series(Series::load(path)?),
            () => ExperimentFile::Interleaved(Box::new(Experiment::load(path)?)),
        })
    }

    /// The services that the file at `path` names, as it names them, each once.
    ///
    /// # Errors
    /// An experiment of a series cannot be read.
    pub fn services(&self, path: &Path) -> Result<Vec<String>, DocumentError> {
        let of_rows = |one: &SequentialExperiment| one.rows.iter().map(|row| row.service.clone()).collect();
        let mut all: Vec<String> = match self {
            ExperimentFile::Interleaved(one) => {
                one.services.iter().chain([&one.reference]).cloned().collect()
            }
            ExperimentFile::Sequential(one) => of_rows(one),
            ExperimentFile::Series(series) => {
                let beside = path.parent().unwrap_or(Path::new("."));
                let members = series.members.iter().map(|member| {
                    SequentialExperiment::load(&beside.join(&member.file)).map(|one| of_rows(&one))
                });
                members.collect::<Result<Vec<Vec<String>>, _>>()?.concat()
            }
        };
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|service| seen.insert(service.clone()));
        Ok(all)
    }
}

/// Default name of the experiment in a file.
fn name_of(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::published::root;

    fn load(name: &str) -> ExperimentFile {
        ExperimentFile::load(&root().join("experiments").join(name)).unwrap()
    }

    #[test]
    fn every_file_of_this_repository_is_of_one_kind() {
        for entry in std::fs::read_dir(root().join("experiments")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let found = ExperimentFile::load(&path).unwrap();
                assert!(matches!(found, ExperimentFile::Interleaved(_)), "{}", path.display());
            }
        }
        assert!(matches!(load("published/restinio-2017.toml"), ExperimentFile::Sequential(_)));
        let ExperimentFile::Series(series) = load("published/all.toml") else { panic!("a series") };
        assert_eq!(series.members.len(), crate::fixture::published::ALL.len());
    }

    #[test]
    fn a_file_of_no_kind_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let error = |text: &str| {
            std::fs::write(&path, text).unwrap();
            ExperimentFile::load(&path).unwrap_err().to_string()
        };
        let empty = error("format = \"1.0\"\n");
        assert!(empty.contains("mine.toml") && empty.contains("missing"), "{empty}");
        assert!(error("format = \"1.0\"\ntitle = ").contains("mine.toml:2"));
        assert!(error("format = \"2.0\"\n").contains("\"2.0\""));
        let gone = ExperimentFile::load(&folder.path().join("gone.toml")).unwrap_err().to_string();
        assert!(gone.contains("gone.toml"), "{gone}");
    }
}
