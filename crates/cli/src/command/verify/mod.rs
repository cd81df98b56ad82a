//! `tare verify`: verifies services against their contracts; or shows what they send (`wire`), or what they endure
//! (`endure`). It measures nothing.
//!
//! All three share the command line, the choice of services and contracts, and the loop over the services.

mod endure;
mod proof;
mod wire;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::Serialize;
use tare_host::process::Supervisor;
use tare_service::{
    build::{BuildError, Site},
    catalogue::Row,
    contract::{CheckId, Contract},
    endurance::Stage,
    prove::Proof,
    settings::ServiceSettings,
};

use crate::{
    exit::Outcome,
    output::{paint, print, print_json},
    progress::Progress,
    workspace::{self, Global},
};
use tare_host::signals;
use tare_service::workspace::Workspace;

/// Verify services against their contracts: every request, connection and bad input they must handle
///
/// Builds each service, starts it and sends the requests of its contracts, with values that it cannot know beforehand. A
/// failure shows the bytes that were sent and received. `tare run` does the same before it measures.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare verify hyper                       one service, all its contracts
  tare verify group:go --contract rest    some services, one contract
  tare verify hyper --endure              bad input, long connections, SIGTERM under load
  tare verify hyper axum --wire           the headers and bytes that they send
  tare verify --explain                   what each check does

Exit codes: 0 every contract is honoured, 1 usage or a service was not built, 2 a service failed its contract, \
130 or 143 interrupted.")]
pub struct Args {
    /// Services, groups such as `group:go`, or folders such as `./mine` (with a slash) [default: all services]
    services: Vec<String>,
    /// Only these contracts [default: all that a service declares]
    #[arg(long, value_delimiter = ',')]
    contract: Vec<String>,
    /// Seed of the values in requests [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// `THREADS` of the services
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Start the services on this port [default: any free one]
    #[arg(long)]
    port: Option<u16>,
    /// Verify the most demanding contract, then send bad input 25 times, 10,000 requests on one connection, requests on 64
    /// connections, and SIGTERM under load
    #[arg(long)]
    endure: bool,
    /// Verify nothing; print the headers and the number of bytes that each service sends
    #[arg(long, conflicts_with_all = ["endure", "all", "explain"])]
    wire: bool,
    /// Print every check, not only failures and warnings
    #[arg(long, short)]
    all: bool,
    /// Print what each check does, and stop
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.explain {
        print(&explanation())?;
        return Ok(Outcome::Fine);
    }
    let workspace = global.open_with(&args.services)?;
    let mut rows = workspace::select(&workspace, &args.services)?;
    if args.services.is_empty() {
        leave_out_known_failures(&mut rows);
    }
    for name in &args.contract {
        workspace.contract(name)?;
    }
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor()?;
    let session = Session {
        workspace: &workspace,
        supervisor: &supervisor,
        site: Site::new(&supervisor, &interrupt),
        args: &args,
        service_settings: ServiceSettings { threads: args.threads.into(), delay_ms: 0 },
        seed: args.seed.unwrap_or_else(tare_host::seed::draw),
        folder: workspace.root.join(".tare").join("verify"),
        interrupt: Arc::clone(&interrupt),
    };
    let outcome = match (args.wire, args.endure) {
        (true, _) => session.each(&rows, &wire::Wire),
        (_, true) => session.each(&rows, &endure::Endure),
        _ => session.each(&rows, &proof::Prove),
    }?;
    Ok(workspace::outcome_of_all(&workspace, &args.services, outcome))
}

/// A service with a known failure fails on purpose, so `tare verify` without a name leaves it out.
fn leave_out_known_failures(rows: &mut Vec<Row>) {
    for row in rows.iter() {
        if let Some(mistake) = &row.service.mistake {
            anstream::eprintln!(
                "{} {} (known failure): it {mistake}; name it to verify it",
                paint("33", "left out"),
                row.label
            );
        }
    }
    rows.retain(|row| row.service.mistake.is_none());
}

/// What is done with a service, and how it is printed.
trait Work {
    /// What was found about one service under one contract.
    type Verdict: Serialize;

    /// Which of a service's contracts it is about.
    fn contracts<'c>(&self, asked: Vec<&'c Contract>) -> Vec<&'c Contract> {
        asked
    }

    /// What there is to say of a service that is not built.
    fn absent(&self, row: &Row, contract: &Contract, absence: Absence) -> Self::Verdict;

    /// Starts the service and looks.
    fn look(&self, session: &Session, row: &Row, contract: &Contract) -> Self::Verdict;

    /// For people, at once; nothing if it is printed at the end.
    fn text(&self, session: &Session, verdict: &Self::Verdict) -> String;

    /// For people, at the end.
    fn summary(&self, session: &Session, verdicts: &[Self::Verdict]) -> String;

    /// For the exit status.
    fn outcome(&self, verdicts: &[Self::Verdict]) -> Outcome;
}

/// Why there is nothing to start.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
enum Absence {
    NotBuilt { reason: String },
    Missing { reason: String },
}

struct Session<'a> {
    workspace: &'a Workspace,
    supervisor: &'a Supervisor,
    site: Site<'a>,
    args: &'a Args,
    service_settings: ServiceSettings,
    seed: u64,
    folder: PathBuf,
    interrupt: Arc<AtomicBool>,
}

impl Session<'_> {
    fn each<W: Work>(&self, rows: &[Row], work: &W) -> anyhow::Result<Outcome> {
        let progress = Progress::new(false);
        let mut verdicts = Vec::new();
        for row in rows {
            if self.interrupt.load(Ordering::Relaxed) {
                break;
            }
            progress.say(&format!("verifying {}", row.label));
            for verdict in self.one(row, work) {
                if !self.args.json {
                    progress.suspend(|| print(&work.text(self, &verdict)))?;
                }
                verdicts.push(verdict);
            }
        }
        progress.finish();
        if self.args.json {
            print_json(&verdicts)?;
        } else {
            print(&work.summary(self, &verdicts))?;
        }
        Ok(work.outcome(&verdicts))
    }

    fn one<W: Work>(&self, row: &Row, work: &W) -> Vec<W::Verdict> {
        let asked = |name: &&String| self.args.contract.is_empty() || self.args.contract.contains(name);
        let names = row.service.contracts.iter().filter(asked);
        let contracts = work.contracts(names.filter_map(|name| self.workspace.contracts.get(name)).collect());
        let built = self.workspace.builder().build(&row.service, &self.site, false);
        let built = built.map_err(|error| Absence::of(&error));
        let placed =
            built.map(|built| Row { label: row.label.clone(), service: row.service.at(built.place) });
        let verdict = |contract: &Contract| match &placed {
            Err(absence) => work.absent(row, contract, absence.clone()),
            Ok(placed) => work.look(self, placed, contract),
        };
        contracts.into_iter().map(verdict).collect()
    }

    fn proof(&self) -> Proof<'_> {
        Proof { service_settings: &self.service_settings, seed: self.seed, port: self.args.port }
    }

    /// Where the output of a row goes.
    fn folder(&self, row: &Row) -> PathBuf {
        self.folder.join(tare_service::catalogue::file_name(&row.label))
    }
}

/// The beginning of each line about a service.
fn head(service: &str, contract: &str, word: &str, rest: &str) -> String {
    format!("{service:<24} {contract:<8} {word} {rest}\n")
}

impl Absence {
    fn of(error: &BuildError) -> Absence {
        match error {
            BuildError::Missing(_) => Absence::Missing { reason: error.to_string() },
            _ => Absence::NotBuilt { reason: error.to_string() },
        }
    }

    fn text(&self, service: &str, contract: &str) -> String {
        match self {
            Absence::NotBuilt { reason } => head(service, contract, &paint("31", "not built"), reason),
            Absence::Missing { reason } => head(service, contract, &paint("33", "missing"), reason),
        }
    }
}

fn explanation() -> String {
    let one = |name: &str, does: &str, proves: &str| {
        format!("{}\n  does:   {does}\n  proves: {proves}\n", paint("1", name))
    };
    let checks = CheckId::ALL.iter().map(|check| check.text());
    let checks: String = checks.map(|text| one(text.name, text.does, text.proves)).collect();
    let stages = Stage::ALL.iter().map(|stage| stage.text());
    let stages: String = stages.map(|text| one(text.name, text.does, text.proves)).collect();
    format!("{checks}\nwith --endure, after these:\n\n{stages}")
}
