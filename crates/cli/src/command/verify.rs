//! `tare verify`: proves services against their contracts, without measuring anything.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tare_lab::{
    build::{BuildError, Site},
    catalogue::{Row, Service},
    contract::{CheckId, Contract},
    experiment::Knobs,
    process::Supervisor,
    run::prepare::{self, Proof},
    verify::{CheckResult, Outcome as Found, Transcript},
};

use crate::{
    exit::Outcome,
    output::{paint, print, print_json},
    progress::Progress,
    signals,
    workspace::{self, Global, Workspace},
};

/// Prove services against their contracts: every request, connection and bad input they must handle
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Services, or groups such as `group:go`; all of them where none is named
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

#[derive(Serialize)]
struct Verdict {
    service: String,
    contract: String,
    #[serde(flatten)]
    result: Result,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
enum Result {
    Passed { transcript: Transcript },
    Failed { transcript: Transcript },
    NotStarted { reason: String },
    NotBuilt { reason: String },
    Missing { reason: String },
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.explain {
        print(&explanation())?;
        return Ok(Outcome::Fine);
    }
    let workspace = Workspace::open(global)?;
    let rows = workspace.select(&args.services)?;
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
        seed: args.seed.unwrap_or_else(workspace::draw_seed),
        folder: workspace.root.join(".tare").join("verify"),
    };
    let progress = Progress::new(false);
    let mut verdicts = Vec::new();
    for row in &rows {
        if interrupt.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        progress.say(&format!("verifying {}", row.label));
        for verdict in session.verify(row) {
            if !args.json {
                progress.suspend(|| print(&text(&verdict, args.all)))?;
            }
            verdicts.push(verdict);
        }
    }
    progress.finish();
    if args.json {
        print_json(&verdicts)?;
    } else {
        print(&summary(&verdicts, session.seed))?;
    }
    Ok(workspace.outcome_of_all(&args.services, outcome(&verdicts)))
}

struct Session<'a> {
    workspace: &'a Workspace,
    supervisor: &'a Supervisor,
    site: Site<'a>,
    args: &'a Args,
    seed: u64,
    folder: PathBuf,
}

impl Session<'_> {
    fn verify(&self, row: &Row) -> Vec<Verdict> {
        let asked = |name: &&String| self.args.contract.is_empty() || self.args.contract.contains(name);
        let contracts: Vec<&Contract> = row
            .service
            .contracts
            .iter()
            .filter(asked)
            .filter_map(|name| self.workspace.contracts.get(name))
            .collect();
        let built = self.workspace.builder().build(&row.service, &self.site, false);
        let folder = self.folder.join(row.label.replace(':', "+"));
        let result = |contract: &Contract| match &built {
            Err(error @ BuildError::Missing(_)) => Result::Missing { reason: error.to_string() },
            Err(error) => Result::NotBuilt { reason: error.to_string() },
            Ok(_) => self.prove(&row.service, contract, &folder),
        };
        let verdict = |contract: &&Contract| Verdict {
            service: row.label.clone(),
            contract: contract.name.clone(),
            result: result(contract),
        };
        contracts.iter().map(verdict).collect()
    }

    fn prove(&self, service: &Service, contract: &Contract, folder: &Path) -> Result {
        let knobs = Knobs { threads: self.args.threads.into(), delay_ms: 0 };
        let proof = Proof { knobs: &knobs, seed: self.seed, port: self.args.port };
        match prepare::prove(service, contract, &proof, self.supervisor, folder) {
            Err(reason) => Result::NotStarted { reason },
            Ok(transcript) if transcript.passed() => Result::Passed { transcript },
            Ok(transcript) => Result::Failed { transcript },
        }
    }
}

fn text(verdict: &Verdict, all: bool) -> String {
    let head =
        |word: String, rest: &str| format!("{:<24} {:<8} {word} {rest}\n", verdict.service, verdict.contract);
    match &verdict.result {
        Result::Passed { transcript } => {
            head(paint("32", "pass"), &transcript.counts()) + &checks(transcript, all)
        }
        Result::Failed { transcript } => {
            head(paint("31", "FAIL"), &transcript.counts()) + &checks(transcript, all)
        }
        Result::NotStarted { reason } => head(paint("31", "FAIL"), reason),
        Result::NotBuilt { reason } => head(paint("31", "not built"), reason),
        Result::Missing { reason } => head(paint("33", "missing"), reason),
    }
}

/// Everything where something failed or all of it was asked for, else only the warnings.
fn checks(transcript: &Transcript, all: bool) -> String {
    if all || !transcript.passed() {
        return transcript.to_string();
    }
    let line = |result: &CheckResult| match &result.outcome {
        Found::Warn(reason) => {
            format!("    {} {} {}: {reason}\n", paint("33", "warn"), result.check, result.request)
        }
        _ => String::new(),
    };
    transcript.checks.iter().map(line).collect()
}

fn summary(verdicts: &[Verdict], seed: u64) -> String {
    let count =
        |wanted: fn(&Result) -> bool| verdicts.iter().filter(|verdict| wanted(&verdict.result)).count();
    let passed = count(|result| matches!(result, Result::Passed { .. }));
    let missing = count(|result| matches!(result, Result::Missing { .. }));
    let failed = verdicts.len() - passed - missing;
    format!("\n{passed} passed, {failed} failed, {missing} not on this machine; seed {seed}\n")
}

fn outcome(verdicts: &[Verdict]) -> Outcome {
    let any = |wanted: fn(&Result) -> bool| verdicts.iter().any(|verdict| wanted(&verdict.result));
    if any(|result| matches!(result, Result::Failed { .. } | Result::NotStarted { .. })) {
        Outcome::ServiceFailed
    } else if any(|result| matches!(result, Result::NotBuilt { .. })) {
        Outcome::SetUp
    } else {
        Outcome::Fine
    }
}

fn explanation() -> String {
    CheckId::ALL
        .iter()
        .map(|check| {
            let text = check.text();
            format!("{}\n  does:   {}\n  proves: {}\n", paint("1", check.name()), text.does, text.proves)
        })
        .collect()
}
