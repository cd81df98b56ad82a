//! `tare adopt`: makes a service from an entry of another benchmark. It only reads and writes files.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use tare_import::adopt::{self, AdoptWish, Adopted, Note};

use crate::{
    exit::Outcome,
    output::{paint, print, print_json},
};

/// The folder of adopted services, in the form that `--catalogue` accepts.
const FOLDER: &str = "adopted";

/// Make a service of an entry of HttpArena or of FrameworkBenchmarks
///
/// Tare reads the entry's metadata and its Dockerfile, and makes a folder with a manifest, a README and a copy of the entry, which
/// `tare build` builds without a container engine. Nothing of the entry is run now. What could not be carried over (versions of base
/// images, fixed ports, data, certificates, settings of the kernel) is printed, and stands in both files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare adopt ~/HttpArena/frameworks/hyper                   makes adopted/rust/hyper-httparena
  tare verify ./adopted/rust/hyper-httparena                builds it, and asks what the entry has to answer
  tare adopt ~/FrameworkBenchmarks/frameworks/Go/fiber      an entry of TechEmpower
  tare adopt ~/FrameworkBenchmarks/frameworks/Go/gin --test scratch   another test of the entry
  tare adopt ~/HttpArena/frameworks/nginx --container podman          builds and runs its image
  tare adopt ~/HttpArena/frameworks/hyper --dry-run         the manifest and the list, and nothing is written

Exit codes: 0 the service is written, 1 usage error, or the entry cannot be built without a container engine.")]
pub(crate) struct Args {
    /// The entry's folder: with meta.json (HttpArena), benchmark_config.json or config.toml (TechEmpower)
    #[arg(value_name = "DIR")]
    entry: PathBuf,
    /// The service's name [default: the entry's, with its suite]
    #[arg(long)]
    name: Option<String>,
    /// Which of the entry's tests, if it is one of TechEmpower [default: its default test]
    #[arg(long, value_name = "TEST")]
    test: Option<String>,
    /// Write the service to FOLDER/LANGUAGE/NAME
    #[arg(long, value_name = "FOLDER", default_value = FOLDER)]
    into: PathBuf,
    /// Build the entry's image and run it in a container, in place of building without one
    #[arg(long, value_enum)]
    container: Option<Engine>,
    /// Print the manifest and what could not be carried over, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Engines that need no daemon and no root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    Podman,
}

/// The JSON output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Said<'a> {
    name: &'a str,
    language: &'a str,
    suite: &'static str,
    entry: &'a str,
    framework: &'a str,
    contract: Option<&'static str>,
    licence: &'a str,
    /// The only port that the entry listens on; `None` if Tare chooses the port.
    port: Option<u16>,
    folder: &'a Path,
    written: bool,
    notes: &'a [Note],
    manifest: &'a str,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let container = args.container == Some(Engine::Podman);
    let wish = AdoptWish { name: args.name.as_deref(), test: args.test.as_deref(), container };
    let adopted = adopt::adopt(&args.entry, &wish).with_context(|| args.entry.display().to_string())?;
    let folder = match args.dry_run {
        true => adopted.folder(&args.into),
        false => adopted.write(&args.into)?,
    };
    let manifest = adopted.manifest();
    match args.json {
        true => print_json(&Said {
            name: &adopted.name,
            language: &adopted.language,
            suite: adopted.suite.name(),
            entry: &adopted.entry,
            framework: &adopted.framework,
            contract: adopted.contract,
            licence: &adopted.licence,
            port: adopted.port,
            folder: &folder,
            written: !args.dry_run,
            notes: &adopted.notes,
            manifest: &manifest,
        })?,
        false => print(&words(&adopted, &folder, args.dry_run.then_some(manifest.as_str())))?,
    }
    Ok(Outcome::Fine)
}

fn words(adopted: &Adopted, folder: &Path, manifest: Option<&str>) -> String {
    let Adopted { name, entry, licence, notes, .. } = adopted;
    let mut text = manifest.map_or_else(String::new, |manifest| format!("{manifest}\n"));
    text += &format!("{name}: the entry {entry} of {}\n", adopted.suite.name());
    text += &format!("  licence of its repository: {licence}\n");
    text += &match adopted.contract {
        Some(contract) => format!("  contract: {contract}\n"),
        None => "  contract: none, for it does not answer all that one asks\n".to_owned(),
    };
    for (title, is_lost) in [("not carried over", true), ("worth knowing", false)] {
        let lines = notes.iter().filter(|note| note.is_lost == is_lost);
        let lines: String = lines.map(|Note { what, why, .. }| format!("    {what}: {why}\n")).collect();
        if !lines.is_empty() {
            text += &format!("  {}:\n{lines}", if is_lost { paint("33", title) } else { title.to_owned() });
        }
    }
    let place = shown(folder);
    match manifest {
        Some(_) => text + &format!("would write {place}\n"),
        None => text + &format!("wrote {place}: next, tare verify {place}\n"),
    }
}

/// The folder with a slash, so that it is a valid service argument.
fn shown(folder: &Path) -> String {
    let is_relative = folder.is_relative() && !folder.starts_with(".") && !folder.starts_with("..");
    format!("{}{}", if is_relative { "./" } else { "" }, folder.display())
}
