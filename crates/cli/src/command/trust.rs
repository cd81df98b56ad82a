//! `tare trust`: the repositories whose commands may run on this machine.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use serde::Serialize;
use tare_service::workspace::{NamedCommand, Root, Workspace};

use crate::{exit::Outcome, output::print_either, trust, workspace::Global};

/// Allow the commands that the files of a repository name
///
/// A `service.toml` and a `tare.toml` say which commands build and start services, and ask what a machine has. They run with your
/// rights. So nothing of a repository that you only look at is run: `list` (without `--footprint`), `show`, `report` and `serve` read
/// its files. The first command that would run something asks, on a terminal, and fails elsewhere. What is allowed is each command,
/// with its variables and its folder: what a pull or another revision changes is asked for again, as a difference. What you type
/// yourself, such as `tare compare 'CMD_A' 'CMD_B'`, needs no permission. `--trust` or `TARE_TRUST=1` allows everything for one
/// command, as in CI.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare trust --show      which commands would be run?
  tare trust             allow them
  tare trust --list      the repositories that are allowed
  tare trust --remove    ask again from now on

Exit codes: 0 fine, 1 usage error, or the list cannot be written.")]
pub(crate) struct Args {
    /// The repository, or the folder of one service [default: the repository of the current folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print the commands that its files name, with their variables, and allow nothing
    #[arg(long, conflicts_with_all = ["list", "remove"])]
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
    if args.show {
        let workspace = of_folder(global, args.folder.as_deref())?;
        let named = workspace.named_commands(&workspace.catalogue.services);
        let commands: Vec<&NamedCommand> = named.values().flatten().collect();
        print_either(args.json, &commands, || {
            commands.iter().map(|command| trust::line(command) + "\n").collect()
        })?;
        return Ok(Outcome::Fine);
    }
    if args.list {
        let trust = global.open()?.trust();
        let folders: Vec<&Path> = trust.folders().collect();
        print_either(args.json, &folders, || {
            folders.iter().map(|folder| format!("{}\n", folder.display())).collect()
        })?;
        return Ok(Outcome::Fine);
    }
    let (folder, said) = if args.remove { forbid(global, args)? } else { allow(global, args)? };
    let changed = Changed { folder, allowed: !args.remove };
    print_either(args.json, &changed, || format!("{}: {said}\n", changed.folder.display()))?;
    Ok(Outcome::Fine)
}

fn forbid(global: &Global, args: &Args) -> anyhow::Result<(PathBuf, String)> {
    let workspace = global.open()?;
    let folder = args.folder.clone().unwrap_or_else(|| workspace.root.clone());
    let was_there = workspace.trust().remove(&folder).with_context(|| folder.display().to_string())?;
    let said = if was_there { "is allowed no longer" } else { "was not allowed" };
    Ok((folder, said.to_owned()))
}

/// Allows the commands that the files of the folder name now.
fn allow(global: &Global, args: &Args) -> anyhow::Result<(PathBuf, String)> {
    let workspace = of_folder(global, args.folder.as_deref())?;
    let folder = args.folder.clone().unwrap_or_else(|| workspace.root.clone());
    let named = workspace.named_commands(&workspace.catalogue.services);
    ensure!(!named.is_empty(), "{}: no file of it names a command that Tare would run", folder.display());
    let count: usize = named.values().map(BTreeSet::len).sum();
    let mut trust = workspace.trust();
    for (folder, commands) in named {
        trust.allow(&folder, commands).with_context(|| folder.display().to_string())?;
    }
    Ok((folder, format!("may run the {count} commands that its files name now")))
}

/// A repository, or one service in a folder of its own.
fn of_folder(global: &Global, folder: Option<&Path>) -> anyhow::Result<Workspace> {
    let Some(folder) = folder else { return global.open() };
    if folder.join("service.toml").is_file() {
        let path = std::path::absolute(folder).with_context(|| folder.display().to_string())?;
        return global.open_with(&[path.display().to_string()]);
    }
    global.open_at(&Root::find(Some(folder))?)
}
