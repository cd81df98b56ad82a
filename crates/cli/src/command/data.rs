//! `tare data`: the rows of a contract's tables for a seed, for services that Tare does not start.

use std::io::{self, Write};

use anyhow::{Context, bail};
use tare_base::spelling::suggestion;
use tare_contract::{Contract, DataTable};

use crate::{exit::Outcome, workspace::Global};

/// Print a table of a contract as CSV
///
/// Requests are drawn from its rows, which a seed determines. A service that Tare starts finds them by itself, in the file that
/// the variable DATA_NAME names. One that you start needs the
/// rows of the seed that you give to `tare load` or `tare verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare data shop --seed 1                         the only table of the contract shop
  tare data shop items --seed 1 > items.csv       one of several

Exit status:
  0    printed
  1    the command, or a file, is wrong")]
pub(crate) struct Args {
    /// The contract
    contract: String,
    /// The table, where the contract has several
    table: Option<String>,
    /// The seed of the rows
    #[arg(long)]
    seed: u64,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let contract = global.open()?.contract(&args.contract)?.with_rows_of(args.seed);
    let table = table(&contract, args.table.as_deref())?;
    let mut csv = Vec::new();
    table.write(&mut csv).context("cannot write CSV")?;
    io::stdout().write_all(&csv).context("cannot write to stdout")?;
    Ok(Outcome::Fine)
}

fn table<'c>(contract: &'c Contract, name: Option<&str>) -> anyhow::Result<&'c DataTable> {
    let all: Vec<&DataTable> = contract.tables().collect();
    let names = || all.iter().map(|table| table.name());
    match (name, all.as_slice()) {
        (_, []) => bail!("the contract \"{}\" has no table", contract.name),
        (None, [only]) => Ok(only),
        (None, _) => bail!("name one of its tables: {}", names().collect::<Vec<_>>().join(", ")),
        (Some(name), _) => all.iter().find(|table| table.name() == name).copied().with_context(|| {
            format!("the contract \"{}\" has no table \"{name}\"{}", contract.name, suggestion(name, names()))
        }),
    }
}
