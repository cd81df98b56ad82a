//! `tare doctor`: what this machine lacks and what its kernel allows, with the command that mends it.

use std::collections::BTreeSet;

use serde::Serialize;
use tare_crosscheck::Tool;
use tare_host::{
    cpus,
    environment::Environment,
    machine::{self, Finding},
};
use tare_service::catalogue::Catalogue;

use crate::{
    exit::Outcome,
    output::{paint, print, print_json},
    workspace::{Global, Workspace},
};

/// Show what is missing on this machine, what its kernel allows, and the commands that mend it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    environment: Environment,
    kernel: Vec<Finding>,
    /// The generators of `tare crosscheck`.
    tools: Vec<ToolFinding>,
    services: Vec<ServiceFinding>,
    mend: Vec<String>,
}

#[derive(Serialize)]
struct ToolFinding {
    tool: Tool,
    /// None where it is not here.
    version: Option<String>,
    install: &'static str,
}

#[derive(Serialize)]
struct ServiceFinding {
    service: String,
    missing: String,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let workspace = Workspace::open(global)?;
    workspace.tell_broken();
    let (services, mend) = missing(&workspace.catalogue);
    let mut kernel = machine::examine(&cpus::available());
    let found = Tool::find(&Tool::ALL, &workspace.root);
    let tools = Tool::ALL.map(|tool| ToolFinding {
        tool,
        version: found.iter().find(|found| found.tool == tool).map(|found| found.version.clone()),
        install: tool.install(),
    });
    let isolation = Vec::new();
    let environment = Environment::read(isolation);
    // Last: nothing that was asked before may depend on the user namespace that it may enter.
    kernel.push(machine::enter_and_try_slow_link());
    let report = Report { environment, kernel, tools: tools.into(), services, mend };
    match args.json {
        true => print_json(&report)?,
        false => print(&text(&report))?,
    }
    let complete = report.services.is_empty() && workspace.catalogue.broken.is_empty();
    Ok(if complete { Outcome::Fine } else { Outcome::SetUp })
}

/// Each service that cannot be built, and the commands that would bring what is missing, each once.
fn missing(catalogue: &Catalogue) -> (Vec<ServiceFinding>, Vec<String>) {
    let (mut services, mut packages, mut setup) = (Vec::new(), BTreeSet::new(), false);
    for service in &catalogue.services {
        if let Err(missing) = tare_service::build::check_requirements(service) {
            // What neither a package nor the set-up brings, the service's own line says.
            setup |= !missing.debian.is_empty()
                || missing.hint.as_ref().is_some_and(|hint| hint.contains("make setup"));
            packages.extend(missing.debian.clone());
            services.push(ServiceFinding { service: service.id.clone(), missing: missing.to_string() });
        }
    }
    let mut mend = Vec::new();
    if setup {
        mend.push("make setup".to_owned());
    }
    if !packages.is_empty() {
        mend.push(format!("apt-get install {}", packages.into_iter().collect::<Vec<_>>().join(" ")));
    }
    (services, mend)
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
            out += &format!("       {:<18} mend: {remedy}\n", "");
        }
    }
    out += &format!("\n{}\n", paint("1", "second opinions"));
    for ToolFinding { tool, version, install } in &report.tools {
        out += &match version {
            Some(version) => {
                let version = if version.is_empty() { "tells no version" } else { version.as_str() };
                format!("  {} {:<18} {version}\n", paint("32", "ok  "), tool.name())
            }
            None => format!("  {} {:<18} missing; mend: {install}\n", paint("33", "less"), tool.name()),
        };
    }
    out += &format!("\n{}\n", paint("1", "services"));
    if report.services.is_empty() {
        out += &format!("  {} every service can be built here\n", paint("32", "ok  "));
    }
    for service in &report.services {
        out += &format!("  {} {:<18} {}\n", paint("31", "no  "), service.service, service.missing);
    }
    if !report.mend.is_empty() {
        out += &format!("\n{}\n", paint("1", "mend"));
        out += &report.mend.iter().map(|command| format!("  {command}\n")).collect::<String>();
    }
    out
}
