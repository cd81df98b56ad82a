//! `cargo xtask`: the development tasks of the project. A table of contents; each command has its own file.
//!
//! It depends on the layout of the repository, not on what Tare does.
#![warn(unreachable_pub)]

mod chaos;
mod cluster;
mod findings;
mod new_service;
mod services;
mod services_update;
mod test;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Chores of the project
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Take small measurements that meet faults at random instants, and check what must hold: `cargo xtask chaos --minutes 60`
    Chaos(chaos::Arguments),
    /// Start a cluster from nothing on this machine, to try `tare cluster submit`: `cargo xtask cluster up kubernetes`
    Cluster(cluster::Arguments),
    /// Put the tables of the stored runs of published experiments into their pages in docs/published/
    Findings(findings::Arguments),
    /// Make the skeleton of a service in services/LANGUAGE/NAME
    NewService(new_service::Arguments),
    /// Ask each ecosystem what is newer than what the services pin, and write services/releases.toml
    ServicesUpdate,
    /// Compile and lint everything once, and run the tests, each as a process: `cargo xtask test --all`
    Test(test::Arguments),
    /// Check the style of every file that git tracks or would track; exit 1 if anything is found
    Tidy,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = root().and_then(|root| match arguments.command {
        Command::Chaos(arguments) => chaos::run(&root, &arguments),
        Command::Cluster(arguments) => cluster::run(&root, &arguments),
        Command::Findings(arguments) => findings::run(&root, &arguments),
        Command::NewService(arguments) => new_service::run(&root, &arguments),
        Command::ServicesUpdate => services_update::run(&root),
        Command::Test(arguments) => test::run(&root, &arguments),
        Command::Tidy => tidy::run(&root),
    });
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// The top folder of the repository, from a variable that Cargo sets: it works from any folder.
fn root() -> Result<PathBuf> {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let xtask = xtask.context("CARGO_MANIFEST_DIR is not set: run this as `cargo xtask`")?;
    Ok(xtask.parent().context("xtask has no parent folder")?.to_owned())
}
