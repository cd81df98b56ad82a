//! The question of a bisection, stored in the folder of its runs, so that it can be resumed.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tare_bench::metric::Metric;

use crate::{
    command::load_options::LoadOptions,
    output::{json, write_in},
};

const FILE: &str = "asked.json";
/// The version of the file.
const FORMAT: &str = "1.0";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredQuestion {
    pub format: String,
    pub good: String,
    pub bad: String,
    pub service: String,
    pub metric: Metric,
    pub contract: Option<String>,
    pub budget_ns: Option<u64>,
    #[serde(flatten)]
    pub load: LoadOptions,
    /// The build command of each commit, if the user gave one.
    #[serde(default)]
    pub build: Option<String>,
    /// Whether the contract was learned: it is in the same folder.
    pub is_learned: bool,
    pub service_folder: PathBuf,
    /// The commits from GOOD to BAD: the revisions may name other commits by now.
    pub commits: Vec<String>,
}

impl StoredQuestion {
    pub(super) fn format() -> String {
        FORMAT.to_owned()
    }

    pub(super) fn is_in(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        write_in(folder, FILE, json(self)?.as_bytes())
    }

    pub(super) fn read(folder: &Path) -> anyhow::Result<StoredQuestion> {
        let path = folder.join(FILE);
        let named = || path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{}: no bisection that can be resumed", folder.display()))?;
        let stored: StoredQuestion = serde_json::from_str(&text).with_context(named)?;
        ensure!(stored.format.starts_with("1."), "{}: has format {}, and not 1.x", named(), stored.format);
        Ok(stored)
    }

    /// Checks that the commits and the service are those of the stored question.
    pub(super) fn check(&self, service_folder: &Path, commits: &[String]) -> anyhow::Result<()> {
        ensure!(
            self.service_folder == service_folder,
            "the bisection is of the service in {}: resume it in the folder where it was begun",
            self.service_folder.display()
        );
        ensure!(
            self.commits == commits,
            "{} and {} mean other commits than when the bisection began: begin a new one",
            self.good,
            self.bad
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> StoredQuestion {
        StoredQuestion {
            format: StoredQuestion::format(),
            good: "v1".to_owned(),
            bad: "HEAD".to_owned(),
            service: "node server.js".to_owned(),
            metric: Metric::Cpu,
            contract: None,
            budget_ns: Some(90_000_000_000),
            load: LoadOptions::new(Some(16), None),
            build: Some("npm ci".to_owned()),
            is_learned: true,
            service_folder: PathBuf::from("/shop"),
            commits: vec!["a".to_owned(), "b".to_owned()],
        }
    }

    #[test]
    fn what_was_asked_for_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!StoredQuestion::is_in(folder.path()));
        let error = StoredQuestion::read(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("no bisection that can be resumed"), "{error}");
        stored().write(folder.path()).unwrap();
        assert_eq!(StoredQuestion::read(folder.path()).unwrap(), stored());
        let newer = StoredQuestion { format: "2.0".to_owned(), ..stored() };
        newer.write(folder.path()).unwrap();
        assert!(StoredQuestion::read(folder.path()).is_err());
    }

    #[test]
    fn another_question_is_not_resumed() {
        let commits = |names: [&str; 2]| names.map(str::to_owned);
        let check = |folder: &str, names| {
            stored().check(Path::new(folder), &commits(names)).map_err(|error| error.to_string())
        };
        assert_eq!(check("/shop", ["a", "b"]), Ok(()));
        assert!(check("/other", ["a", "b"]).unwrap_err().contains("of the service in /shop"));
        assert!(check("/shop", ["a", "c"]).unwrap_err().contains("v1 and HEAD mean other commits"));
    }
}
