//! Runs that are spread over machines: `tare plan`, `submit`, `status`, `cancel` and `collect`, and `job`, which a node runs. What
//! engines are and what lies in the store is in the crate `cluster`.

pub(crate) mod cancel;
pub(crate) mod collect;
pub(crate) mod job;
mod listen;
mod machine;
mod outbox;
pub(crate) mod plan;
mod report;
pub(crate) mod status;
pub(crate) mod submit;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tare_cluster::{Batch, EngineError, EngineState, engine};

use crate::output::{Format, print, print_json};

/// The batch that a command is about, and how its result is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct BatchOptions {
    /// The folder of the batch, which `tare submit` prints
    batch: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

impl BatchOptions {
    fn open(&self) -> anyhow::Result<Batch> {
        Ok(Batch::open(&self.batch)?)
    }

    fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }

    /// Prints a value as it is asked for.
    fn print(&self, value: &impl serde::Serialize, table: impl FnOnce() -> String) -> anyhow::Result<()> {
        if self.is_json() { print_json(value) } else { print(&table()) }
    }
}

/// What the engine of a batch knows of its jobs.
fn states(batch: &Batch) -> Result<BTreeMap<usize, EngineState>, EngineError> {
    engine(batch.head.engine).states(batch)
}

/// As another process finds it.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
