//! The test programs, compiled with clippy instead of rustc, so that tests and lints take one compilation.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A test program.
#[derive(Debug)]
pub(super) struct Binary {
    /// PACKAGE for unit tests of a library, PACKAGE::bin/NAME of a program, PACKAGE::NAME for others.
    pub(super) id: String,
    pub(super) path: PathBuf,
    /// The folder of its package, where Cargo also runs tests.
    pub(super) folder: PathBuf,
}

pub(super) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether lints are part of the compilation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compiler {
    has_clippy: bool,
}

impl Compiler {
    /// Prints a note if clippy is missing, because Debian has it in a separate package.
    pub(super) fn find(root: &Path) -> Result<Compiler> {
        let asked = Command::new("clippy-driver").arg("--version").current_dir(root).output();
        let has_clippy = asked.is_ok_and(|output| output.status.success());
        if !has_clippy {
            let must = std::env::var_os("TARE_TEST_ALL").is_some_and(|value| value == "1");
            ensure!(!must, "clippy-driver is not here, and TARE_TEST_ALL=1 wants it");
            eprintln!("SKIPPED clippy: it is not here (with rustup: rustup component add clippy)");
        }
        Ok(Compiler { has_clippy })
    }

    /// `cargo test` with clippy instead of rustc, as `cargo clippy -- -D warnings` does for `cargo check`.
    fn cargo_test(self, root: &Path) -> Command {
        let mut command = Command::new(cargo());
        command.args(["test", "--workspace", "--locked"]).current_dir(root);
        if self.has_clippy {
            command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
            command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
        }
        command
    }
}

/// Compiles the workspace without `excluded` packages.
pub(super) fn build(compiler: Compiler, root: &Path, excluded: &[String]) -> Result<Vec<Binary>> {
    let cargo = |targets: &[&str]| {
        let mut cargo = compiler.cargo_test(root);
        cargo.args(["--no-run", "--message-format=json-render-diagnostics"]).args(targets);
        cargo.args(excluded.iter().flat_map(|package| ["--exclude", package.as_str()]));
        cargo
    };
    let mut binaries = compiled(cargo(&[]))?;
    // Benchmarks are separate: `--all-targets` would compile examples as tests, not as programs.
    compiled(cargo(&["--benches"]))?;
    binaries.sort_by(|a: &Binary, b: &Binary| a.id.cmp(&b.id));
    Ok(binaries)
}

/// Runs Cargo, and returns the test programs that it announces.
fn compiled(mut cargo: Command) -> Result<Vec<Binary>> {
    let mut child = cargo.stdout(Stdio::piped()).spawn().context("cargo could not be started")?;
    let stdout = child.stdout.take().expect("it is piped");
    let mut binaries = Vec::new();
    for line in BufReader::new(stdout).lines() {
        let message = serde_json::from_str(&line?).context("a message of cargo")?;
        binaries.extend(binary(&message));
    }
    ensure!(child.wait()?.success(), "the tests could not be compiled");
    Ok(binaries)
}

/// The test program in a message of Cargo, if any.
fn binary(message: &Value) -> Option<Binary> {
    let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let package = package(message["package_id"].as_str()?);
    let name = message["target"]["name"].as_str()?;
    let id = match message["target"]["kind"][0].as_str()? {
        "bin" => format!("{package}::bin/{name}"),
        "test" => format!("{package}::{name}"),
        "lib" => package.to_owned(),
        _ => return None,
    };
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    Some(Binary { id, path: path.into(), folder })
}

/// The name in Cargo's package ID: `path+file:///ROOT/crates/load#tare-load@0.1.0`, or
/// `path+file:///ROOT/xtask#0.1.0` if the folder has the same name.
fn package(id: &str) -> &str {
    let (url, version) = id.split_once('#').unwrap_or((id, ""));
    match version.split_once('@') {
        Some((name, _)) => name,
        None => url.rsplit('/').next().unwrap_or_default(),
    }
}

impl Binary {
    /// The names of its tests.
    pub(super) fn tests(&self) -> Result<Vec<String>> {
        let words = ["--list", "--format", "terse"];
        let output = Command::new(&self.path).args(words).current_dir(&self.folder).output()?;
        ensure!(output.status.success(), "{} --list failed", self.path.display());
        let text = String::from_utf8(output.stdout)?;
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect())
    }
}

/// The documentation examples, which only Cargo can compile and run: the output, and whether all passed.
pub(super) fn doctests(compiler: Compiler, root: &Path) -> Result<(String, bool)> {
    let output = compiler.cargo_test(root).args(["--doc", "--quiet"]).output()?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((text.concat(), output.status.success()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_is_named_by_its_package_and_target() {
        let message = |kind: &str, name: &str, is_test: bool| {
            json!({
                "package_id": "path+file:///checkout/crates/cli#tare-http@0.1.0", "manifest_path": "/checkout/crates/cli/Cargo.toml",
                "target": {"kind": [kind], "name": name}, "profile": {"test": is_test}, "executable": "/checkout/target/x",
            })
        };
        let id = |kind: &str, name: &str| binary(&message(kind, name, true)).map(|binary| binary.id);
        assert_eq!(id("lib", "tare_http").unwrap(), "tare-http");
        assert_eq!(id("bin", "tare").unwrap(), "tare-http::bin/tare");
        assert_eq!(id("test", "e2e").unwrap(), "tare-http::e2e");
        assert!(id("bench", "accuracy").is_none(), "benchmarks are compiled, and not run");
        assert!(binary(&message("bin", "tare", false)).is_none());
        assert_eq!(binary(&message("lib", "x", true)).unwrap().folder, Path::new("/checkout/crates/cli"));
        assert_eq!(package("path+file:///checkout/xtask#0.1.0"), "xtask");
    }
}
