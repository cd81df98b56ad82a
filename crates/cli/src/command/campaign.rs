//! What every command that begins a campaign is told alike: its randomness, its folder, its form.

use std::path::PathBuf;

use crate::output::Format;

/// The words that such commands share.
#[derive(Debug, clap::Args)]
pub struct Words {
    /// Orders the rows and fills the holes; a secret one is drawn where it is not given
    #[arg(long)]
    seed: Option<u64>,
    /// Where to keep the run; a folder of its own in `runs/` where it is not given
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Show the plan and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The form of what is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

impl Words {
    /// The seed that was given, or one that nobody could have known.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(tare_host::seed::draw)
    }

    /// The form that was asked for, either way.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}
