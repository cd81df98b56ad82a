//! `tare verify`: verifies services against their contracts, or prints their raw answers, or tests their
//! endurance. It measures nothing.

mod found;
mod protocols;
mod wire;

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context, bail, ensure};
use tare_contract::{CheckId, Contract, with_tables};
use tare_host::{
    process::{Scratch, Supervisor},
    secrets, signals,
};
use tare_service::{
    build::Site,
    catalogue::{self, Row, file_name},
    certificate::Certificates,
    endurance::{self, Stage},
    prove::{self, Proof},
    settings::ServiceSettings,
    workspace::{Workspace, split},
};

use super::{
    asked::{self, AskedOptions},
    running::{self, RunningOptions},
    target::ensure_served_here,
};
use crate::{
    exit::Outcome,
    output::{look, paint, print, print_json},
    progress::Progress,
    workspace::{self, Global},
};
use found::{Endured, Found, Verified};
use protocols::AskedProtocol;

/// The folder for the output of services, and for files they need.
const FOLDER: &str = "verify";
/// The space for the tables of all contracts.
const TABLES_BYTES: u64 = 512 << 20;

/// Verify that services honour their contracts: answers, connections, bad input
///
/// Builds each service, starts it and sends the requests of its contracts, with values that it cannot know beforehand. A
/// failure is printed with the bytes that were sent and received. `tare run` does the same before it measures.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare verify ./mine                      the service of a folder, all its contracts
  tare verify 'node server.js' --get /    a command: does it answer steadily, and from a fresh start?
  tare verify http://127.0.0.1:3000/      a server that runs already: does it answer steadily?
  tare verify ./mine --protocols all      in each protocol that it offers: TLS, HTTP/2
  tare verify ./mine --serve-on 10.0.0.9  where agents on other machines would ask it
  tare verify ./mine --endure             bad input, long connections, SIGTERM under load
  tare verify --explain                   what each check does
  tare verify group:go --contract rest    some services, one contract
  tare verify hyper axum --wire           the headers and bytes that they send

Exit codes: 0 every contract is honoured, 1 usage error, a service was not built, or nothing was verified, \
2 a service failed its contract, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Services, groups such as `group:go`, folders such as `./mine` (with a slash), commands, or URLs of servers that run already
    /// [default: all services]
    services: Vec<String>,
    /// Only these contracts [default: all that a service declares]
    #[arg(long, value_delimiter = ',')]
    contract: Vec<String>,
    /// Ask each service in these protocols: `http/1.1`, `tls`, `h2`, `h2c`, or `all` that it offers [default: HTTP/1.1, or that of a
    /// name such as `hyper+h2`]
    #[arg(long, value_delimiter = ',', value_parser = protocols::asked)]
    protocols: Vec<AskedProtocol>,
    /// Seed of the values in requests [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Threads of each service (its environment variable THREADS)
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Start the services on this port [default: any free one]
    #[arg(long)]
    port: Option<u16>,
    /// Start the services with SERVE_ON=0.0.0.0 and ask them at this address of this machine, where agents on other machines would
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST, hide_default_value = true)]
    serve_on: Ipv4Addr,
    /// Verify only the most demanding contract, then test endurance: bad input 25 times, 10,000 requests on one connection, 64
    /// connections at once, and SIGTERM under load
    #[arg(long)]
    endure: bool,
    /// Instead of verifying, print the headers and the number of bytes that each service sends
    #[arg(long, conflicts_with_all = ["endure", "all", "explain"])]
    wire: bool,
    #[command(flatten)]
    asked: AskedOptions,
    #[command(flatten)]
    running: RunningOptions,
    /// Print every check, not only failures and warnings
    #[arg(long, short)]
    all: bool,
    /// Instead of verifying, print what each check does
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.explain {
        print(&explanation())?;
        return Ok(Outcome::Fine);
    }
    ensure_served_here(args.serve_on)?;
    let mut workspace = running::open(global, &args.services, &args.running)?;
    let mut rows = workspace::select(&workspace, &args.services)?;
    running::declare(&mut rows, args.contract.iter().map(String::as_str));
    rows = protocols::in_each(rows, &args.protocols);
    refuse_to_end_what_runs(&rows, &args)?;
    leave_out_what_is_not_offered(&mut rows)?;
    learn(&mut workspace, &mut rows, &args)?;
    if args.services.is_empty() {
        leave_out_known_failures(&mut rows);
    }
    name_other_variants(&workspace, &rows, &args.services);
    for name in &args.contract {
        workspace.contract(name)?;
    }
    refuse_what_nobody_declares(&rows, &args)?;
    refuse_other_protocols(&workspace, &rows, &args)?;
    let seed = args.seed.unwrap_or_else(tare_host::seed::draw);
    let interrupt = signals::listen()?;
    catalogue::certify(&mut rows, || Certificates::passing(&workspace.scratch(FOLDER)))?;
    let supervisor = workspace::supervisor(&workspace, rows.iter().map(|row| &row.service))?;
    let progress = Arc::new(Progress::new(false));
    let supervisor = supervisor.telling(progress.notices());
    // A folder of its own: another tare that verifies at the same time has other rows.
    let tables = Scratch::make(supervisor.watchdog(), TABLES_BYTES)?;
    make_tables(&mut workspace, &rows, &args, seed, tables.path())?;
    let verification = Verification {
        workspace: &workspace,
        supervisor: &supervisor,
        progress: &progress,
        site: Site::new(&supervisor, &interrupt),
        args: &args,
        service_settings: ServiceSettings::of_threads(args.threads.into()),
        seed,
        folder: workspace.scratch(FOLDER),
        interrupt: Arc::clone(&interrupt),
    };
    let outcome = verification.run(&rows);
    // Services may print secrets in requests.
    if verification.folder.is_dir() {
        secrets::scrub(&verification.folder).context("cannot remove secrets from what services printed")?;
    }
    let outcome = outcome?;
    Ok(workspace::outcome_of_all(&workspace, &args.services, outcome))
}

/// Makes the tables of the contracts that are verified.
fn make_tables(
    workspace: &mut Workspace,
    rows: &[Row],
    args: &Args,
    seed: u64,
    folder: &Path,
) -> anyhow::Result<()> {
    let declared = rows.iter().flat_map(|row| row.service.contracts.iter().map(String::as_str));
    let is_asked = |name: &&str| args.contract.is_empty() || args.contract.iter().any(|asked| asked == name);
    workspace.contracts = with_tables(&workspace.contracts, declared.filter(is_asked), seed, folder)?;
    Ok(())
}

fn refuse_to_end_what_runs(rows: &[Row], args: &Args) -> anyhow::Result<()> {
    let Some(row) = rows.iter().find(|row| row.service.running.is_some()) else { return Ok(()) };
    ensure!(!args.endure, "--endure ends a service by SIGTERM, but {} was not started by Tare", row.label);
    ensure!(args.port.is_none(), "--port: {} has its port already", row.label);
    ensure!(args.serve_on == Ipv4Addr::LOCALHOST, "--serve-on: {} has its address already", row.label);
    Ok(())
}

/// Learns a contract from the first service, if there is none.
fn learn(workspace: &mut Workspace, rows: &mut [Row], args: &Args) -> anyhow::Result<()> {
    let Some(asked) = args.asked.of(rows, args.contract.first().map(String::as_str))? else { return Ok(()) };
    let settings = ServiceSettings::of_threads(args.threads.into());
    let learned = asked::learn(workspace, rows, &asked, &settings, &workspace.scratch(FOLDER))?;
    rows.iter_mut().for_each(|row| row.service.contracts = vec![learned.contract.name.clone()]);
    workspace.contracts.insert(learned.contract.name.clone(), learned.contract);
    Ok(())
}

/// Removes rows whose service does not offer their protocol: they prove nothing.
fn leave_out_what_is_not_offered(rows: &mut Vec<Row>) -> anyhow::Result<()> {
    for row in rows.iter() {
        let Some(reason) = row.service.why_not_asked() else { continue };
        ensure!(rows.len() > 1, "{}: {reason}", row.label);
        tare_host::message!("{} {}: {reason}", paint("33", "left out"), row.label);
    }
    rows.retain(|row| row.service.why_not_asked().is_none());
    ensure!(!rows.is_empty(), "none of the services offers its protocol");
    Ok(())
}

/// Removes services with a known failure, which fail on purpose, unless they are named.
fn leave_out_known_failures(rows: &mut Vec<Row>) {
    for row in rows.iter() {
        if let Some(mistake) = &row.service.mistake {
            tare_host::message!(
                "{} {} (known failure): it {mistake}; name it to verify it",
                paint("33", "left out"),
                row.label
            );
        }
    }
    rows.retain(|row| row.service.mistake.is_none());
}

/// Prints the other variants of a named service: its proof does not cover them.
fn name_other_variants(workspace: &Workspace, rows: &[Row], words: &[String]) {
    let is_several = |word: &str| word == "all" || word.starts_with("group:");
    if words.iter().flat_map(|words| split(words)).any(is_several) {
        return;
    }
    let is_named = |id: &str| rows.iter().any(|row| row.service.id == id);
    let others = workspace.catalogue.services.iter().filter(|service| service.id != service.name);
    for other in others.filter(|other| is_named(&other.name) && !is_named(&other.id)) {
        tare_host::message!(
            "{} {}: a variant is verified by its own name",
            paint("33", "left out"),
            other.id
        );
    }
}

/// Fails if nothing would be proved: one of `rows` must declare each requested contract, and each named
/// service must declare one of them.
fn refuse_what_nobody_declares(rows: &[Row], args: &Args) -> anyhow::Result<()> {
    let declares = |row: &Row, contract: &String| row.service.contracts.contains(contract);
    for contract in &args.contract {
        let declared = rows.iter().any(|row| declares(row, contract));
        ensure!(declared, "none of the services declares the contract \"{contract}\"");
    }
    let is_named =
        |row: &&Row| args.services.iter().flat_map(|words| split(words)).any(|word| word == row.label);
    for row in rows.iter().filter(is_named) {
        let proves = args.contract.is_empty() || args.contract.iter().any(|contract| declares(row, contract));
        let (label, asked) = (&row.label, args.contract.join("\", \""));
        ensure!(proves, "service \"{label}\" does not declare the contract \"{asked}\"");
    }
    Ok(())
}

/// Fails unless each named contract suits the protocol of some row, and each row has one.
fn refuse_other_protocols(workspace: &Workspace, rows: &[Row], args: &Args) -> anyhow::Result<()> {
    for row in rows {
        let declared = row.service.contracts.iter().filter_map(|name| workspace.contracts.get(name));
        let wanted =
            declared.filter(|contract| args.contract.is_empty() || args.contract.contains(&contract.name));
        let refused: Vec<Option<String>> =
            wanted.map(|contract| contract.why_not_in(row.service.protocol)).collect();
        let may_skip = args.contract.is_empty() && refused.iter().any(Option::is_none);
        if let Some(reason) = refused.into_iter().flatten().next()
            && !may_skip
        {
            bail!("{}: {reason}", row.label);
        }
    }
    Ok(())
}

struct Verification<'a> {
    workspace: &'a Workspace,
    supervisor: &'a Supervisor,
    progress: &'a Progress,
    site: Site<'a>,
    args: &'a Args,
    service_settings: ServiceSettings,
    seed: u64,
    folder: PathBuf,
    interrupt: Arc<AtomicBool>,
}

impl Verification<'_> {
    fn run(&self, rows: &[Row]) -> anyhow::Result<Outcome> {
        let progress = self.progress;
        let mut all = Vec::new();
        for row in rows {
            if self.interrupt.load(Ordering::Relaxed) {
                break;
            }
            progress.say(&format!("verifying {}", row.label));
            // A proof that was interrupted says nothing about the service.
            let whole = |_: &Verified| !self.interrupt.load(Ordering::Relaxed);
            for verified in self.verify(row).take_while(whole) {
                if !self.args.json {
                    progress.suspend(|| print(&verified.text(self.args.all)))?;
                }
                all.push(verified);
            }
        }
        progress.finish();
        match (self.args.json, self.args.wire) {
            (true, _) => print_json(&all)?,
            (false, true) => print(&format!("{}\nseed {}\n", wire::text(&all, look()), self.seed))?,
            (false, false) => print(&found::summary(&all, self.seed))?,
        }
        Ok(found::outcome(&all))
    }

    fn verify(&self, row: &Row) -> impl Iterator<Item = Verified> {
        let built = self.workspace.builder().build(&row.service, &self.site, false);
        let placed =
            built.map(|built| Row { label: row.label.clone(), service: row.service.at(built.place) });
        let verified = move |contract: &Contract| Verified {
            service: row.label.clone(),
            contract: contract.name.clone(),
            found: match &placed {
                Err(error) => Found::not_built(error),
                Ok(placed) if self.args.wire => self.answers(placed, contract),
                Ok(placed) => self.prove(placed, contract),
            },
        };
        self.contracts(row).into_iter().map(verified)
    }

    /// The requested contracts that suit the protocol of the row. Endurance uses only the most demanding one:
    /// the others add nothing.
    fn contracts(&self, row: &Row) -> Vec<&Contract> {
        let asked = |name: &&String| self.args.contract.is_empty() || self.args.contract.contains(name);
        let names = row.service.contracts.iter().filter(asked);
        let known = names.filter_map(|name| self.workspace.contracts.get(name));
        let contracts = known.filter(|contract| contract.why_not_in(row.service.protocol).is_none());
        match self.args.endure {
            true => endurance::richest(contracts).into_iter().collect(),
            false => contracts.collect(),
        }
    }

    fn prove(&self, row: &Row, contract: &Contract) -> Found {
        let folder = self.folder(row);
        let proof = self.proof(&folder);
        match prove::prove(&row.service, contract, &proof) {
            Err(error) => Found::NotStarted { reason: error.to_string() },
            Ok(transcript) if !transcript.passed() => Found::Failed { transcript },
            Ok(transcript) => {
                let endured = self.args.endure.then(|| {
                    endurance::run(&row.service, contract, &proof, &self.interrupt)
                        .map_or_else(|error| Endured::NotEndured(error.to_string()), Endured::Endurance)
                });
                Found::Passed { transcript, endured }
            }
        }
    }

    /// Verifies only that the answers are correct: a whole proof takes longer and adds nothing on headers.
    fn answers(&self, row: &Row, contract: &Contract) -> Found {
        match prove::record_answers(&row.service, contract, &self.proof(&self.folder(row))) {
            Ok(answers) => Found::Answered { answers },
            Err(reason) => Found::NotAnswered { reason },
        }
    }

    fn proof<'a>(&'a self, folder: &'a Path) -> Proof<'a> {
        let Args { port, serve_on, .. } = *self.args;
        let service_settings = &self.service_settings;
        Proof { service_settings, seed: self.seed, port, serve_on, supervisor: self.supervisor, folder }
    }

    fn folder(&self, row: &Row) -> PathBuf {
        self.folder.join(file_name(&row.label))
    }
}

fn explanation() -> String {
    let one = |name: &str, does: &str, proves: &str| {
        format!("{}\n  does:   {does}\n  proves: {proves}\n", paint("1", name))
    };
    let of_check = |check: &CheckId| {
        let text = check.text();
        let does =
            if check.is_of_http1() { format!("over HTTP/1.1: {}", text.does) } else { text.does.into() };
        one(text.name, &does, text.proves)
    };
    let checks: String = CheckId::ALL.iter().map(of_check).collect();
    let stages = Stage::ALL.iter().map(|stage| stage.text());
    let stages: String = stages.map(|text| one(text.name, text.does, text.proves)).collect();
    format!("{checks}\nwith --endure, after these:\n\n{stages}")
}
