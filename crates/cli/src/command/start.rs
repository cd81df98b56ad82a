//! The options of every command that starts a run: its randomness, its folder, its output.

use std::path::PathBuf;

use anyhow::Context;
use tare_bench::plan::Plan;
use tare_host::link::rights;

use crate::output::Format;

#[derive(Debug, clap::Args)]
pub(crate) struct StartOptions {
    /// Seed of the order of rows and of the values in requests [default: random, printed and stored]
    #[arg(long)]
    seed: Option<u64>,
    /// Folder of the run [default: a new one in `.tare/runs/`]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Print the plan and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Refuse if another tare measures on these CPUs; by default wait until it has ended
    #[arg(long)]
    pub no_wait: bool,
    /// Give each service a network and processes of its own: it reaches and sees nothing outside, neither the contracts nor the
    /// run, and only the generator reaches it. Takes root, or namespaces of users
    #[arg(long)]
    isolate: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

impl StartOptions {
    /// Those of a command that has its own forms of output, and no others of these.
    pub(crate) fn plain(no_wait: bool) -> StartOptions {
        let format = Format::Text;
        StartOptions { seed: None, out: None, dry_run: false, no_wait, isolate: false, format, json: false }
    }

    /// The given seed, or a random one that no service can predict.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(tare_host::seed::draw)
    }

    /// Applies these options to the plan, and acquires rights. Call it before the first thread starts.
    pub(crate) fn applied(&self, plan: Plan) -> anyhow::Result<Plan> {
        if self.isolate && !self.dry_run {
            rights::obtain().context("--isolate")?;
        }
        Ok(Plan { isolates: self.isolate, ..plan })
    }

    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}
