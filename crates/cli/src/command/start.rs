//! The options of every command that starts a run: its randomness, its folder, its output.

use std::path::PathBuf;

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
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

impl StartOptions {
    /// The given seed, or one that no service can know beforehand.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(tare_host::seed::draw)
    }

    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}
