//! `tare catalogue`: what this program brings, by name; or all of its files, to read or to change.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use serde::Serialize;
use tare_service::catalogue::language_name;

use crate::{
    exit::Outcome,
    output::{paint, print_either},
    workspace::Global,
};

/// Print the names of Tare's services, experiments and contracts, or write them out
///
/// Every command finds them by name. Sources are built below the cache of builds, and their commands need no permission,
/// since they are those of this program. To change one, write the catalogue out and work in that folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare catalogue                 print the names
  tare catalogue mine            write all files into the new folder mine; `cd mine` and `tare list` shows them
  tare --catalogue mine list     the same from elsewhere

Exit codes: 0 fine, 1 the folder is not empty or cannot be written.")]
pub(crate) struct Args {
    /// The folder to write into: a new one, or an empty one
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The names in the catalogue.
#[derive(Serialize)]
struct Names {
    /// By language.
    services: BTreeMap<String, Vec<String>>,
    contracts: Vec<String>,
    experiments: Vec<String>,
    published_experiments: Vec<String>,
}

#[derive(Serialize)]
struct Written {
    folder: PathBuf,
    files: usize,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let bundle = global.bundle()?;
    let Some(folder) = &args.folder else {
        let names = Names::of(bundle.paths().context("the catalogue of this program is damaged")?);
        print_either(args.json, &names, || names.text())?;
        return Ok(Outcome::Fine);
    };
    ensure!(is_free(folder)?, "{}: is not empty", folder.display());
    let written = Written { folder: folder.clone(), files: bundle.unpack_into(folder)?.len() };
    print_either(args.json, &written, || {
        format!("{}: {} files; `tare list` there shows its services\n", folder.display(), written.files)
    })?;
    Ok(Outcome::Fine)
}

/// Whether nothing is there yet.
fn is_free(folder: &Path) -> anyhow::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).context(folder.display().to_string()),
    }
}

impl Names {
    fn of(paths: impl IntoIterator<Item = PathBuf>) -> Names {
        let mut names = Names {
            services: BTreeMap::new(),
            contracts: Vec::new(),
            experiments: Vec::new(),
            published_experiments: Vec::new(),
        };
        for path in paths {
            let path = path.to_string_lossy();
            let parts: Vec<&str> = path.split('/').collect();
            let name = |file: &str| file.strip_suffix(".toml").map(str::to_owned);
            match parts.as_slice() {
                ["services", language, service, "service.toml"] => {
                    names.services.entry((*language).to_owned()).or_default().push((*service).to_owned());
                }
                ["contracts", file] => names.contracts.extend(name(file)),
                ["experiments", file] => names.experiments.extend(name(file)),
                ["experiments", "published", file] => names.published_experiments.extend(name(file)),
                _ => {}
            }
        }
        names
    }

    fn text(&self) -> String {
        let section = |title: &str, ends: &str| format!("{}{ends}\n", paint("1", title));
        let line = |first: &str, names: &[String]| format!("  {first:<10} {}\n", names.join(" "));
        let mut text =
            section("services", ", for `tare compare`, `run`, `verify`, `slo`; each builds what it needs");
        let services = self.services.iter();
        text += &services.map(|(language, names)| line(language_name(language), names)).collect::<String>();
        text += &section("experiments", ", for `tare run`");
        text += &line("of ours", &self.experiments);
        text += &line("published", &self.published_experiments);
        text += &section("contracts", ", for --contract");
        text + &line("", &self.contracts)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, process::Command};

    use super::*;

    /// What git knows of the catalogue, and nothing that builds left there.
    #[test]
    fn all_files_of_the_catalogue_are_packed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let packed =
            ["contracts", "experiments", "figures", "services", "tare.toml", "LICENSE-APACHE", "LICENSE-MIT"];
        let installs = ["dotnet", "env.sh", "go.requirements.txt", "requires.awk", "setup.sh"]
            .map(|name| format!("scripts/{name}"));
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .args(packed)
            .args(installs)
            .current_dir(&root);
        let listed = String::from_utf8(git.output().unwrap().stdout).unwrap();
        let paths = listed.split_terminator('\0').map(PathBuf::from);
        let known: BTreeSet<PathBuf> = paths.filter(|path| root.join(path).exists()).collect();
        assert!(!known.is_empty(), "the tests run in a checkout");
        let home = tempfile::tempdir().unwrap();
        let bundle = tare_service::workspace::PackedCatalogue::new(crate::workspace::CATALOGUE, home.path());
        let packed = bundle.paths().unwrap();
        assert_eq!(packed.symmetric_difference(&known).collect::<Vec<_>>(), Vec::<&PathBuf>::new());
        assert!(crate::workspace::CATALOGUE.len() < 1_500_000, "{} bytes", crate::workspace::CATALOGUE.len());
    }

    #[test]
    fn names_are_those_of_files() {
        let paths = [
            "services/go/gin/service.toml",
            "services/go/gin/main.go",
            "contracts/rest.toml",
            "contracts/api/a.csv",
            "experiments/quick.toml",
            "experiments/published/x-2018.toml",
        ];
        insta::assert_snapshot!(Names::of(paths.map(PathBuf::from)).text());
    }
}
