//! `cargo xtask chaos`: builds Tare and `dev/chaos` in release form, and starts the latter.

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, ensure};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What `tare-chaos` takes: `--minutes N`, `--seed S`, `--trials N`, `--only NAME`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--release", "--locked", "-p", "tare-http", "-p", "tare-chaos"];
    let built = Command::new(cargo).args(build).current_dir(root).status().context("cargo")?;
    ensure!(built.success(), "the build failed");
    let chaos = root.join("target/release/tare-chaos");
    let ended = Command::new(chaos).args(&arguments.options).current_dir(root).status()?;
    Ok(if ended.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
