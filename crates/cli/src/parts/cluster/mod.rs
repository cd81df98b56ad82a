//! `tare cluster`: runs on many machines. `plan`, `submit`, `status`, `cancel` and `collect`, and `job`, which a node
//! runs. The crate `cluster` has the engines and the store.

pub(crate) mod agent;
pub(crate) mod agents;
mod batch;
mod cancel;
mod collect;
pub(crate) mod job;
mod listen;
pub(crate) mod load;
mod load_args;
mod machine;
mod outbox;
mod plan;
mod report;
mod status;
mod submit;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tare_cluster::{Batch, EngineError, EngineState, engine};

use crate::{
    exit::Outcome,
    output::{Format, print, print_json},
    workspace::Global,
};

/// Run an experiment on many machines: plan, submit, status, cancel and collect
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare cluster plan mine.toml --on machines.toml --output jobs.ndjson     make a job list
  tare cluster submit jobs.ndjson --engine slurm --store store            run it
  tare cluster status store/BATCH                                         how far is it?
  tare cluster collect store/BATCH                                        check what has arrived
  tare load --engine kubernetes --on machines.toml --generators x86:2 --token-file token --service raw-socket http://service:8080/
                                                                          load from two pods a service in a third

Exit codes: 0 fine, 1 usage or set-up error; `tare cluster COMMAND --help` has those of each.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ClusterCommand {
    Plan(plan::Args),
    Submit(submit::Args),
    Status(status::Args),
    Cancel(cancel::Args),
    Collect(collect::Args),
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    match &args.command {
        ClusterCommand::Plan(args) => plan::run(global, args),
        ClusterCommand::Submit(args) => submit::run(global, args),
        ClusterCommand::Status(args) => status::run(args),
        ClusterCommand::Cancel(args) => cancel::run(args),
        ClusterCommand::Collect(args) => collect::run(args),
    }
}

/// The batch that a command is about, and how its result is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct BatchOptions {
    /// The folder of the batch, which `tare cluster submit` prints
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
