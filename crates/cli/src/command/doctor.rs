//! `tare doctor`: missing tools and kernel features of this machine, with the commands that fix them.

use std::collections::BTreeSet;

use anyhow::ensure;
use serde::Serialize;
use tare_host::{
    cpus,
    environment::Environment,
    machine::{self, MachineFinding},
    signals, threads,
};
use tare_service::{
    build::{self, BuildError, Site},
    catalogue::Catalogue,
    workspace::Workspace,
};

use crate::{
    exit::Outcome,
    output::{paint, print_either},
    workspace::{self, Global},
};

/// Check this machine, and print the commands that mend it
///
/// Prints three parts: the machine, what the kernel allows (cgroups, namespaces, io_uring, a slow link), and the services
/// that cannot be built here. "less" marks what Tare can do without, and says what is lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare doctor            check this machine
  tare doctor --json     the same for a program
  tare doctor --dry-run  the commands by which the repository would ask for what it needs, and run none of them

Exit codes: 0 every service can be built here, 1 something is missing.")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the commands by which services would ask for what they need, and run none of them
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Report {
    environment: Environment,
    kernel: Vec<MachineFinding>,
    services: Vec<ServiceFinding>,
    /// Commands that install what is missing.
    fix: Vec<String>,
}

#[derive(Serialize)]
struct ServiceFinding {
    service: String,
    missing: String,
}

pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let workspace = global.open()?;
    workspace::print_broken(&workspace);
    if args.dry_run {
        let planned = planned(&workspace.catalogue);
        print_either(args.json, &planned, || planned.iter().map(|line| format!("{line}\n")).collect())?;
        return Ok(Outcome::Fine);
    }
    let (services, fix) = missing(&workspace)?;
    let mut kernel = machine::examine(&cpus::available());
    let environment = Environment::read(None);
    // This comes last: it may enter a user namespace, which would change the results of the other checks.
    kernel.push(machine::enter_and_try_slow_link());
    let report = Report { environment, kernel, services, fix };
    print_either(args.json, &report, || text(&report))?;
    let complete = report.services.is_empty() && workspace.catalogue.broken.is_empty();
    Ok(if complete { Outcome::Fine } else { Outcome::SetUp })
}

/// Each service that cannot be built, and the distinct commands that install what is missing.
fn missing(workspace: &Workspace) -> anyhow::Result<(Vec<ServiceFinding>, Vec<String>)> {
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor(workspace, &workspace.catalogue.services)?;
    let site = Site::new(&supervisor, &interrupt);
    let (mut services, mut packages, mut setup) = (Vec::new(), BTreeSet::new(), false);
    let all = &workspace.catalogue.services;
    // Some ask a compiler or a virtual machine, for seconds.
    let checked = threads::map(cpus::available().len(), all, |it| build::check_requirements(it, &site));
    for (service, checked) in all.iter().zip(checked) {
        ensure!(!matches!(checked, Err(BuildError::Interrupted)), "interrupted");
        if let Err(BuildError::Missing(missing)) = checked {
            // The line of a service names what neither a package nor `make setup` installs.
            setup |= !missing.debian.is_empty()
                || missing.hint.as_ref().is_some_and(|hint| hint.contains("make setup"));
            packages.extend(missing.debian.clone());
            services.push(ServiceFinding { service: service.id.clone(), missing: missing.to_string() });
        }
    }
    let mut fix = Vec::new();
    if setup {
        fix.push("make setup".to_owned());
    }
    if !packages.is_empty() {
        fix.push(format!("apt-get install {}", packages.into_iter().collect::<Vec<_>>().join(" ")));
    }
    Ok((services, fix))
}

/// The distinct commands of the services' requirement checks. Those that fetch a source are included, though
/// only a build runs them: nothing else shows what comes over the network.
fn planned(catalogue: &Catalogue) -> BTreeSet<String> {
    let required = catalogue.services.iter().flat_map(|service| &service.requires);
    let fetched = catalogue.services.iter().flat_map(|service| &service.sources);
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
    }
    out
}
