//! `tare doctor`: missing tools and kernel features of this machine, with the commands that fix them.

mod toolchains;

use std::collections::BTreeSet;

use anyhow::ensure;
use serde::Serialize;
use tare_bench::experiment::ExperimentFile;
use tare_host::{
    cpus,
    environment::Environment,
    machine::{self, MachineFinding},
    signals, threads,
};
use tare_service::{
    build::{self, BuildError, Site},
    catalogue::Row,
    workspace::Workspace,
};

use super::run::{before, find};
use crate::{
    exit::Outcome,
    output::{paint, print_either},
    workspace::{self, Global},
};

/// What installs toolchains. The hints of manifests name it too.
const INSTALL: &str = "--install";

/// Check this machine, and print the commands that mend it
///
/// Prints the machine, what the kernel allows (cgroups, namespaces, io_uring, a slow link), the services that cannot be built
/// here, and what must be built. "less" marks what Tare can do without, and says what is lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare doctor                  check this machine, and the requirements of every service
  tare doctor quick            only what the services of this experiment need, and how long their builds took
  tare doctor quick --install  install what is missing for them: packages of Debian, and newer toolchains below TARE_HOME
  tare doctor --json           the same for a program
  tare doctor --dry-run        the commands by which services would ask for what they need, and run none of them

Exit codes: 0 every service can be built here, 1 something is missing.")]
pub(crate) struct Args {
    /// Services, groups such as `group:go`, or experiments such as `quick` [default: every service]
    words: Vec<String>,
    /// Install what is missing for the services that Tare brings. Asks for the rights of root by sudo, where it has none
    #[arg(long)]
    install: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "install")]
    json: bool,
    /// Print the commands by which services would ask for what they need, and run none of them
    #[arg(long, conflicts_with = "install")]
    dry_run: bool,
}

#[derive(Serialize)]
struct Report {
    environment: Environment,
    kernel: Vec<MachineFinding>,
    services: Vec<ServiceFinding>,
    /// Commands that install what is missing.
    fix: Vec<String>,
    /// What their packages take, as far as apt-get says.
    #[serde(skip_serializing_if = "Option::is_none")]
    download_bytes: Option<u64>,
    /// What must be built, in words.
    #[serde(skip)]
    builds: String,
}

#[derive(Serialize)]
struct ServiceFinding {
    service: String,
    missing: String,
    /// Whether `--install` brings it.
    #[serde(skip)]
    can_be_installed: bool,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let (workspace, rows) = asked(global, &args.words)?;
    workspace::print_broken(&workspace);
    if args.dry_run {
        let planned = planned(&rows);
        print_either(args.json, &planned, || planned.iter().map(|line| format!("{line}\n")).collect())?;
        return Ok(Outcome::Fine);
    }
    if args.install {
        return toolchains::install(global, &rows);
    }
    let (services, packages) = missing(&workspace, &rows)?;
    let mut kernel = machine::examine(&cpus::available());
    let environment = Environment::read(None);
    // This comes last: it may enter a user namespace, which would change the results of the other checks.
    kernel.push(machine::enter_and_try_slow_link());
    let report = Report {
        fix: fix(&args.words, &services, &packages),
        download_bytes: toolchains::download_bytes(&packages),
        builds: before::of(rows.iter(), &workspace),
        environment,
        kernel,
        services,
    };
    print_either(args.json, &report, || text(&report))?;
    let complete =
        report.services.is_empty() && (!args.words.is_empty() || workspace.catalogue.broken.is_empty());
    Ok(if complete { Outcome::Fine } else { Outcome::SetUp })
}

/// The rows of these words, each of which may also be the name of an experiment.
fn asked(global: &Global, words: &[String]) -> anyhow::Result<(Workspace, Vec<Row>)> {
    let mut services: Vec<String> = Vec::new();
    for word in words {
        match find::named(global, word)? {
            Some(path) => services.extend(ExperimentFile::load(&path)?.services(&path)?),
            None => services.push(word.clone()),
        }
    }
    // Two experiments may have the same service.
    let mut seen = BTreeSet::new();
    services.retain(|service| seen.insert(service.clone()));
    let workspace = global.open_with(&services)?;
    let rows = workspace.select(&services)?;
    Ok((workspace, rows))
}

/// Each service that cannot be built, and the packages of Debian that it lacks.
fn missing(workspace: &Workspace, rows: &[Row]) -> anyhow::Result<(Vec<ServiceFinding>, BTreeSet<String>)> {
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor(workspace, rows.iter().map(|row| &row.service))?;
    let site = Site::new(&supervisor, &interrupt);
    let (mut services, mut packages) = (Vec::new(), BTreeSet::new());
    // Some ask a compiler or a virtual machine, for seconds.
    let checked =
        threads::map(cpus::available().len(), rows, |row| build::check_requirements(&row.service, &site));
    for (row, checked) in rows.iter().zip(checked) {
        ensure!(!matches!(checked, Err(BuildError::Interrupted)), "interrupted");
        if let Err(BuildError::Missing(missing)) = checked {
            packages.extend(missing.debian.clone());
            let hint = missing.hint.as_deref().unwrap_or_default();
            services.push(ServiceFinding {
                service: row.service.id.clone(),
                can_be_installed: !missing.debian.is_empty() || hint.contains(INSTALL),
                missing: missing.to_string(),
            });
        }
    }
    Ok((services, packages))
}

/// The commands that install what is missing. The line of a service names what none of them installs.
fn fix(words: &[String], services: &[ServiceFinding], packages: &BTreeSet<String>) -> Vec<String> {
    let mut fix = Vec::new();
    if services.iter().any(|service| service.can_be_installed) {
        let command = std::iter::once("tare doctor").chain(words.iter().map(String::as_str)).chain([INSTALL]);
        fix.push(command.collect::<Vec<_>>().join(" "));
    }
    if !packages.is_empty() {
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        fix.push(format!("apt-get install {}", packages.join(" ")));
    }
    fix
}

/// The distinct commands of the services' requirement checks. Those that fetch a source are included, though
/// only a build runs them: nothing else shows what comes over the network.
fn planned(rows: &[Row]) -> BTreeSet<String> {
    let required = rows.iter().flat_map(|row| &row.service.requires);
    let fetched = rows.iter().flat_map(|row| &row.service.sources);
    let required = required.map(|requirement| requirement.command.join(" "));
    required.chain(fetched.map(|source| source.command().join(" "))).collect()
}

fn text(report: &Report) -> String {
    let environment = &report.environment;
    let mut out = format!("{}\n", paint("1", "machine"));
    out += &format!("  {}, {}\n", environment.system, environment.kernel);
    let gibibytes = environment.memory_bytes as f64 / (1u64 << 30) as f64;
    out += &format!(
        "  {} CPUs ({}), {gibibytes:.1} GiB of memory, load {}\n",
        environment.cpus, environment.cpu, environment.load_average
    );
    out += &format!("\n{}\n", paint("1", "kernel"));
    for finding in &report.kernel {
        let mark = if finding.good { paint("32", "ok  ") } else { paint("33", "less") };
        out += &format!("  {mark} {:<18} {}\n", finding.subject, finding.text);
        if let Some(remedy) = &finding.remedy {
            out += &format!("       {:<18} fix: {remedy}\n", "");
        }
    }
    out += &format!("\n{}\n", paint("1", "services"));
    if report.services.is_empty() {
        out += &format!("  {} every service can be built here\n", paint("32", "ok  "));
    }
    for service in &report.services {
        out += &format!("  {} {:<18} {}\n", paint("31", "no  "), service.service, service.missing);
    }
    if !report.fix.is_empty() {
        out += &format!("\n{}\n", paint("1", "fix"));
        out += &report.fix.iter().map(|command| format!("  {command}\n")).collect::<String>();
        if let Some(bytes) = report.download_bytes {
            out += &format!("  the packages are {:.0} MB to fetch\n", bytes as f64 / 1e6);
        }
    }
    out += &format!("\n{}\n", paint("1", "builds"));
    out += &report.builds.lines().map(|line| format!("  {line}\n")).collect::<String>();
    out
}
