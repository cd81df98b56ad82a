//! `tare selftest`: tests the instrument on this machine, and stores a certificate.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, ensure};
use tare_bench::{
    record::{Block, Record},
    schedule::Watch,
};
use tare_host::{
    cpus::{self, Pinning},
    environment::Environment,
    seal, signals,
};
use tare_report::document::{ALWAYS, Unit};
use tare_selftest::{
    self, Certificate, Evaluation, SelftestError, Trial, TrialBench, TrialFinding, TrialOutcome, TrialSite,
};
use tare_service::{catalogue, workspace::Workspace};

use crate::{
    command::turn,
    exit::Outcome,
    output::{self, look, paint, print, print_either, table},
    progress::{Progress, duration},
    workspace::{self, Global},
};

/// Test Tare itself: does it find faults that are known?
///
/// One program under two names must not be separated. A server that needs 3% more CPU time must be found slower. A stall must
/// appear in the latencies as arithmetic predicts. A cache, dropped requests, wrong lengths, a slow close, a throttled server
/// and a busy host must each be noticed. The result is a certificate, stored in `.tare/runs/`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare selftest --quick          a minute, with coarser limits
  tare selftest                  all trials
  tare selftest --only slower    one trial
  tare selftest --dry-run        list the trials

Exit codes: 0 every fault was found, 1 usage or set-up error, 4 a fault was not found, \
5 too little came of a trial to tell, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Take at most a minute: the slow server is then 10% slower, not 3%
    #[arg(long)]
    quick: bool,
    /// Only these trials [default: all; --dry-run lists them]
    #[arg(long, value_delimiter = ',', value_name = "TRIAL")]
    only: Vec<String>,
    /// Seed of the order of rows and of the values in requests [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Folder of the certificate [default: a new one in `.tare/runs/`]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print the trials and stop
    #[arg(long)]
    dry_run: bool,
    /// Print the certificate as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let trials = chosen(&args)?;
    if args.dry_run {
        return list(&trials);
    }
    let workspace = global.open()?;
    let began = jiff::Timestamp::now();
    let folder = args.out.clone().unwrap_or_else(|| workspace.new_run("selftest", began));
    ensure!(!folder.exists(), "{}: exists already; choose another folder", folder.display());
    let certificate = certify(&workspace, &args, &trials, began, &folder)?;
    keep(&folder, &certificate)?;
    print_either(args.json, &certificate, || certificate.text())?;
    tare_host::message!("stored in {}", folder.display());
    Ok(match certificate.outcome() {
        TrialOutcome::NotSeen => Outcome::MeasurementInvalid,
        TrialOutcome::NotDecided => Outcome::Inconclusive,
        TrialOutcome::Seen | TrialOutcome::NotTried => Outcome::Fine,
    })
}

/// The named trials; the default is all.
fn chosen(args: &Args) -> anyhow::Result<Vec<Trial>> {
    let all = tare_selftest::trials(args.quick);
    for name in &args.only {
        let nearest = || tare_base::spelling::suggestion(name, all.iter().map(|trial| trial.name));
        ensure!(all.iter().any(|trial| trial.name == name), "unknown trial \"{name}\"{}", nearest());
    }
    let is_chosen = |trial: &Trial| args.only.is_empty() || args.only.iter().any(|name| name == trial.name);
    Ok(all.into_iter().filter(is_chosen).collect())
}

fn list(trials: &[Trial]) -> anyhow::Result<Outcome> {
    let columns = ["trial", "at most", "what happens", "what must be found"];
    let row = |trial: &Trial| {
        let lasts = (!trial.lasts.is_zero()).then(|| duration(trial.lasts));
        [trial.name.into(), lasts.into(), trial.done.as_str().into(), trial.must.as_str().into()]
    };
    let columns = columns.map(|title| (title, Unit::Text, ALWAYS));
    print(&table(columns, trials.iter().map(row).collect(), look()))?;
    Ok(Outcome::Fine)
}

/// Runs the trials in sequence. A trial that cannot run is reported as not tried, and the others run.
fn certify(
    workspace: &Workspace,
    args: &Args,
    trials: &[Trial],
    began: jiff::Timestamp,
    folder: &std::path::Path,
) -> anyhow::Result<Certificate> {
    let reference = workspace.catalogue.get(catalogue::RAW_SOCKET).context("there is no reference")?;
    let supervisor = workspace::supervisor(workspace, [reference])?;
    let environment = Environment::read(Some(supervisor.isolation()));
    let seed = args.seed.unwrap_or_else(tare_host::seed::draw);
    let pinning = Pinning::choose(&cpus::available(), 1, 1);
    let interrupt = signals::listen()?;
    let progress = Progress::new(false);
    let _alone = turn::take(&pinning.all(), false, &interrupt, |text| progress.keep(text))?;
    let mut bench = TrialBench::new(TrialSite {
        reference,
        contracts: &workspace.contracts,
        supervisor: &supervisor,
        folder,
        began: began.to_string(),
        seed,
        pinning: pinning.clone(),
        interrupt,
    })?;
    let left: Duration = trials.iter().map(|trial| trial.lasts).sum();
    progress.keep(&format!("{} trials, at most about {}", trials.len(), duration(left)));
    let mut findings = Vec::new();
    for trial in trials {
        progress.say(&format!("{}: {}", trial.name, trial.done));
        let tried = bench.try_out(trial, &mut TrialProgress { progress: &progress, trial: trial.name });
        let untried =
            |error: SelftestError| TrialFinding::new(trial, 0, Evaluation::not_tried(error.to_string()));
        let finding = tried.unwrap_or_else(untried);
        progress.keep(&line(&finding));
        findings.push(finding);
    }
    progress.finish();
    Ok(Certificate {
        format: tare_selftest::FORMAT.to_owned(),
        tare: env!("CARGO_PKG_VERSION").to_owned(),
        began: began.to_string(),
        took_ns: findings.iter().map(|finding| finding.took_ns).sum(),
        quick: args.quick,
        seed,
        environment,
        pinning,
        trials: findings,
    })
}

/// A trial in progress. Some trials expect a row to fail, so a failure prints no message here.
struct TrialProgress<'a> {
    progress: &'a Progress,
    trial: &'a str,
}

impl Watch for TrialProgress<'_> {
    fn on_record(&mut self, record: &Record, left: Duration) {
        if let Record::Block(Block { block, .. }) = record {
            let left = if left.is_zero() {
                String::new()
            } else {
                format!("; at most about {} left", duration(left))
            };
            self.progress.say(&format!("{}: block {}{left}", self.trial, block + 1));
        }
    }
}

/// The line of a completed trial.
fn line(finding: &TrialFinding) -> String {
    let colour = match finding.evaluation.outcome {
        TrialOutcome::Seen => "32",
        TrialOutcome::NotSeen => "31",
        TrialOutcome::NotDecided | TrialOutcome::NotTried => "33",
    };
    let word = paint(colour, &format!("{:<11}", finding.word()));
    format!("{word}  {}: {}", finding.name, finding.evaluation.found)
}

fn keep(folder: &std::path::Path, certificate: &Certificate) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    output::write_in(folder, "certificate.txt", certificate.text().as_bytes())?;
    output::write_in(folder, "certificate.json", &seal::DOCUMENT.seal(output::json(certificate)?))
}
