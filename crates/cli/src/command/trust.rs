//! `tare trust`: the repositories whose commands may run here.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use crate::{exit::Outcome, output::print_either, trust::commands, workspace::Global};

/// Allow the commands that the files of a repository name: Tare asks once for each, before it runs any
///
/// A `service.toml` and a `tare.toml` say which commands build and start services, and ask what a machine has. They run with your
/// rights. So nothing of a repository that you only look at is run: `list`, `show`, `report` and `serve` read its files. The first
/// command that would run something asks, on a terminal, and fails elsewhere. What you type yourself, such as
/// `tare compare 'CMD_A' 'CMD_B'`, needs no permission. `--trust` or `TARE_TRUST=1` allows everything for one command, as in CI.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare trust --show      which commands would be run?
  tare trust             allow them
  tare trust --list      the repositories that are allowed
  tare trust --remove    ask again from now on

Exit codes: 0 fine, 1 usage error, or the list cannot be written.")]
pub(crate) struct Args {
    /// The repository, or any folder: it covers what is below it [default: the repository of the current folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print the commands that the files of the current repository name, and allow nothing
    #[arg(long, conflicts_with_all = ["folder", "list", "remove"])]
    show: bool,
    /// Print the folders that are allowed
    #[arg(long, conflicts_with_all = ["folder", "remove"])]
    list: bool,
    /// Allow it no longer
    #[arg(long)]
    remove: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Changed {
    folder: PathBuf,
    allowed: bool,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let workspace = global.open()?;
    if args.show {
        let commands = commands(&workspace.catalogue.services);
        print_either(args.json, &commands, || commands.iter().map(|line| format!("{line}\n")).collect())?;
        return Ok(Outcome::Fine);
    }
    let mut trust = workspace.trust();
    if args.list {
        let folders: Vec<&Path> = trust.folders().collect();
        print_either(args.json, &folders, || {
            folders.iter().map(|folder| format!("{}\n", folder.display())).collect()
        })?;
        return Ok(Outcome::Fine);
    }
    let folder = args.folder.clone().unwrap_or_else(|| workspace.root.clone());
    let wrote = match args.remove {
        true => trust.remove(&folder).map(|was_there| match was_there {
            true => "is allowed no longer",
            false => "was not allowed",
        }),
        false => trust.add(&folder).map(|()| "may run its commands"),
    };
    let said = wrote.with_context(|| folder.display().to_string())?;
    let changed = Changed { folder, allowed: !args.remove };
    print_either(args.json, &changed, || format!("{}: {said}\n", changed.folder.display()))?;
    Ok(Outcome::Fine)
}
