//! `tare verify`: proves services against their contracts, without measuring anything; or looks at what they send
//! (`wire`), or at what they endure (`endure`).
//!
//! Here is what all three share: the words of the command line, which services and contracts they mean, and the services
//! one after the other.

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
    endure::Stage,
    knobs::Knobs,
    prove::Proof,
};

use crate::{
    exit::Outcome,
    output::{paint, print, print_json},
    progress::Progress,
    workspace::{self, Global},
};
use tare_host::signals;
use tare_service::workspace::Workspace;

/// Prove services against their contracts: every request, connection and bad input they must handle
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Services, groups such as `group:go`, or folders such as `./mine`, which have a slash; all services where none is named
    services: Vec<String>,
    /// Only these contracts, of those that a service declares
    #[arg(long, value_delimiter = ',')]
    contract: Vec<String>,
    /// Fills the holes of the requests; a secret one is drawn where it is not given
    #[arg(long)]
    seed: Option<u64>,
    /// `THREADS` of the services
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Start the services on this port instead of any free one
    #[arg(long)]
    port: Option<u16>,
    /// After the proof of the contract that asks the most: bad input 25 times, 10000 requests on one connection, 64
    /// connections, SIGTERM under load
    #[arg(long)]
    endure: bool,
    /// No proof, but what each sends: bytes of head and body, and which headers
    #[arg(long, conflicts_with_all = ["endure", "all", "explain"])]
    wire: bool,
    /// Show every check, not only what failed or was warned of
    #[arg(long, short)]
    all: bool,
    /// Say what each check does, and stop
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
        leave_out_mistakes(&mut rows);
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
        knobs: Knobs { threads: args.threads.into(), delay_ms: 0 },
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

/// Who verifies all services asks whether all is well: one that repeats a published mistake is not, and never will be.
fn leave_out_mistakes(rows: &mut Vec<Row>) {
    for row in rows.iter() {
        if let Some(mistake) = &row.service.mistake {
            anstream::eprintln!(
                "{} {}, unless it is named: it {mistake}",
                paint("33", "left out"),
                row.label
            );
        }
    }
    rows.retain(|row| row.service.mistake.is_none());
}

/// What is done with a service, and how it is told.
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

    /// For people, at once; nothing where it is told at the end.
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
    knobs: Knobs,
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
        Proof { knobs: &self.knobs, seed: self.seed, port: self.args.port }
    }

    /// Where the output of a row goes.
    fn folder(&self, row: &Row) -> PathBuf {
        self.folder.join(tare_service::catalogue::file_name(&row.label))
    }
}

/// The begin of each line about a service.
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
