//! The file of a series: sequential experiments, one after another.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tare_base::document::{self, DocumentError};

use super::FORMAT;

/// Several sequential experiments, one after another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Series {
    #[serde(rename = "format")]
    _format: String,
    pub title: String,
    #[serde(rename = "experiment")]
    pub members: Vec<Member>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Member {
    pub file: PathBuf,
    /// The default scale of its experiments.
    pub scale: f64,
}

impl Series {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or has a mistake; the error names the line.
    pub fn load(path: &Path) -> Result<Series, DocumentError> {
        let text = document::read(path)?;
        let series: Series = document::parse(path, &text, FORMAT)?;
        let wrong = series.members.iter().find(|member| !(member.scale > 0.0 && member.scale <= 1.0));
        match wrong {
            None => Ok(series),
            Some(member) => {
                let message = format!("\"scale\" is {}; it must be more than 0 and at most 1", member.scale);
                Err(DocumentError::at(path, &text, &format!("\"{}\"", member.file.display()), message))
            }
        }
    }
}
