//! Runs on many machines: `tare plan`, `submit`, `status`, `cancel` and `collect`, and `job`, which a node
//! runs. The crate `cluster` has the engines and the store.

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

    /// Prints a value in the chosen format.
    fn print(&self, value: &impl serde::Serialize, table: impl FnOnce() -> String) -> anyhow::Result<()> {
        if self.is_json() { print_json(value) } else { print(&table()) }
    }
}

/// The engine's states of the jobs of a batch.
fn states(batch: &Batch) -> Result<BTreeMap<usize, EngineState>, EngineError> {
    engine(batch.head.engine).states(batch)
}

/// The path in a form that is valid for other processes.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
