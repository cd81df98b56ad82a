//! The watchdog: it outlives a tare that was killed, and kills what that had started. Not for people.

use crate::exit::Outcome;

/// The watchdog; started by tare
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args) -> anyhow::Result<Outcome> {
    tare_host::process::watchdog::main(std::io::stdin(), std::io::stdout());
    Ok(Outcome::Fine)
}
