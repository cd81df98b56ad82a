//! Runs trials: starts, verifies and loads servers with the code used for services, and stores all results.

use std::{
    collections::BTreeMap,
    fs, io,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    action::{Action, LoadDisturbance, LoadRun},
    certificate::TrialFinding,
    disturb::{HalfACpu, Meanwhile},
    evaluate::{Analysed, Evaluation, Evidence, TrialResult},
    trial::Trial,
};
use tare_analysis::stop::PlannedRule;
use tare_base::document::DocumentError;
use tare_base::{Clock, Monotonic};
use tare_bench::{
    executor,
    folder::{self, FolderError, Header, RunFolder},
    plan::Plan,
    schedule::{self, Parts, Watch},
};
use tare_contract::{Contract, ContractError};
use tare_host::{cpus::Pinning, environment::Environment, process::Supervisor};
use tare_reference::{Added, faults::Fault};
use tare_service::{
    catalogue::{self, Row, Run, Service, Style},
    certificate::{CertificateError, Certificates},
    launch::LaunchError,
    prove::Proof,
    settings::ServiceSettings,
};

const CONTRACT: &str = include_str!("selftest.toml");

/// Why a trial could not run. An undetected fault is a result, not an error.
#[derive(Debug, thiserror::Error)]
pub enum SelftestError {
    #[error(transparent)]
    Contract(#[from] ContractError),
    #[error(transparent)]
    Experiment(#[from] DocumentError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Bench(#[from] executor::BenchError),
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    #[error(transparent)]
    CutOff(#[from] schedule::CutOff),
    #[error("there is no contract \"{0}\"")]
    NoContract(String),
    #[error("{}: {source}", path.display())]
    Keep { path: PathBuf, source: io::Error },
}

/// What trials need of the machine and the workspace.
#[derive(Debug)]
pub struct TrialSite<'a> {
    /// The built-in reference, which implements all faults.
    pub reference: &'a Service,
    pub contracts: &'a BTreeMap<String, Contract>,
    pub supervisor: &'a Supervisor,
    pub folder: &'a Path,
    pub began: String,
    /// Determines the order of rows and the values of placeholders.
    pub seed: u64,
    /// CPUs of services and generator.
    pub pinning: Pinning,
    /// Whether the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
}

/// Runs trials, and keeps the evidence of the last one.
#[derive(Debug)]
pub struct TrialBench<'a> {
    site: TrialSite<'a>,
    own_contract: Contract,
    last: Option<(Action, Evidence)>,
}

impl<'a> TrialBench<'a> {
    /// A bench without evidence.
    ///
    /// # Errors
    /// If the built-in contract is invalid.
    pub fn new(site: TrialSite<'a>) -> Result<TrialBench<'a>, SelftestError> {
        let own_contract = Contract::parse(CONTRACT, Path::new("selftest.toml"))?;
        Ok(TrialBench { site, own_contract, last: None })
    }

    /// Runs a trial. If it shares the action of the previous trial, it evaluates the same evidence.
    ///
    /// # Errors
    /// If the contract is missing, the experiment is invalid, or the evidence cannot be stored.
    pub fn try_out(&mut self, trial: &Trial, watch: &mut impl Watch) -> Result<TrialFinding, SelftestError> {
        let began_ns = Monotonic.now_ns();
        let interrupted = || Evaluation::not_tried("interrupted");
        if self.last.as_ref().is_none_or(|(action, _)| *action != trial.action) {
            if self.interrupted() {
                return Ok(TrialFinding::new(trial, 0, interrupted()));
            }
            let evidence = match &trial.action {
                Action::Proofs { contract, faults } => self.prove(trial.name, contract, faults)?,
                Action::Load(load) => self.load(trial, load, watch)?,
            };
            self.last = Some((trial.action.clone(), evidence));
        }
        let took_ns = Monotonic.now_ns() - began_ns;
        // Incomplete evidence proves nothing.
        let evaluation = match &self.last {
            Some((_, evidence)) if !self.interrupted() => trial.evaluate(evidence),
            _ => interrupted(),
        };
        Ok(TrialFinding::new(trial, took_ns, evaluation))
    }

    fn interrupted(&self) -> bool {
        self.site.interrupt.load(Ordering::Relaxed)
    }

    fn contract(&self, name: &str) -> Result<&Contract, SelftestError> {
        let kept = self.site.contracts.get(name);
        let own = (self.own_contract.name == name).then_some(&self.own_contract);
        kept.or(own).ok_or_else(|| SelftestError::NoContract(name.to_owned()))
    }

    /// The raw-socket server with a fault. A variant that closes connections parses requests, so its
    /// connections are verified like a framework's.
    fn service(&self, label: &str, contract: &str, fault: &str) -> Service {
        let mut command = self.site.reference.run.command.clone();
        command.extend(["--contract".to_owned(), "hello".to_owned()]);
        if !fault.is_empty() {
            command.extend(["--misbehave".to_owned(), fault.to_owned()]);
        }
        let style =
            if fault.ends_with("close") || fault == "closes" { Style::Platform } else { Style::RawSocket };
        let id = format!("selftest-{label}");
        Service {
            name: id.clone(),
            id,
            run: Run { command, arguments: BTreeMap::new(), ..self.site.reference.run.clone() },
            contracts: vec![contract.to_owned()],
            style,
            ..self.site.reference.clone()
        }
    }

    fn prove(&self, name: &str, contract: &str, faults: &[&str]) -> Result<Evidence, SelftestError> {
        let contract = self.contract(contract)?;
        let service_settings = ServiceSettings::of_threads(1);
        let mut proofs = Vec::new();
        for (index, fault) in faults.iter().enumerate() {
            let folder = self.site.folder.join(name).join(index.to_string());
            let service = self.service(name, &contract.name, fault);
            let proof = Proof {
                service_settings: &service_settings,
                seed: self.site.seed,
                port: None,
                serve_on: Ipv4Addr::LOCALHOST,
                supervisor: self.site.supervisor,
                folder: &folder,
            };
            let proved = tare_service::prove::prove(&service, contract, &proof);
            keep_transcript(&folder, &proved)
                .map_err(|source| SelftestError::Keep { path: folder, source })?;
            proofs.push(proved.map_err(|error| error.to_string()));
        }
        Ok(Evidence::Proofs(proofs))
    }

    fn load(&self, trial: &Trial, load: &LoadRun, watch: &mut impl Watch) -> Result<Evidence, SelftestError> {
        let half = (load.disturbance == LoadDisturbance::HalfACpu).then(HalfACpu::new);
        let fault = |named: &str| half.as_ref().map_or_else(|| named.to_owned(), HalfACpu::fault);
        let run = self.site.folder.join(trial.name);
        // A slower server reports the added work when it ends.
        let counts = self.site.folder.join(format!("{}-added", trial.name));
        let count = |label: &str| counts.join(label);
        let is_slower = |named: &str| matches!(named.parse(), Ok(Fault::Slower(_)));
        let slower: Vec<&'static str> =
            load.rows.iter().filter(|(_, named)| is_slower(named)).map(|(label, _)| *label).collect();
        if !slower.is_empty() {
            let kept = fs::create_dir_all(&counts);
            kept.map_err(|source| SelftestError::Keep { path: counts.clone(), source })?;
        }
        let row = |(label, named): &(&'static str, String)| {
            let mut service = self.service(label, load.contract, &fault(named)).asked_in(load.protocol);
            if slower.contains(label) {
                let file = count(label).display().to_string();
                service.run.command.extend(["--added".to_owned(), file]);
            }
            Row { label: (*label).to_owned(), service }
        };
        let mut rows: Vec<Row> = load.rows.iter().map(row).collect();
        catalogue::certify(&mut rows, || Certificates::passing(self.site.folder))?;
        let experiment = load.experiment(trial.name, &trial.done)?;
        let plan = Plan::interleaved(&experiment, &rows, self.site.seed, self.site.pinning.clone());
        let header = self.header(Plan { until: load.until(), ..plan });
        let mut journal = RunFolder::create(&run, &header)?;
        let services = rows.into_iter().map(|row| row.service).collect();
        let contract = self.contract(load.contract)?;
        let contracts = BTreeMap::from([(contract.name.clone(), contract.clone())]);
        let interrupt = Arc::clone(&self.site.interrupt);
        let mut executor =
            executor::Bench::new(&header.plan, services, &contracts, self.site.supervisor, &run, interrupt)?;
        let mut stop_rule = PlannedRule::of(&header);
        let mut watch = Meanwhile::new(watch, load.disturbance, &self.site.pinning.generator);
        let parts = Parts {
            executor: &mut executor,
            journal: &mut journal,
            watch: &mut watch,
            stop_rule: &mut stop_rule,
        };
        let ended = schedule::run(&header.plan, parts, &[]);
        drop(watch);
        ended?;
        let added = slower.into_iter().map(|label| (label, Added::read(&count(label)))).collect();
        let made = TrialResult { how: half.map(|half| half.how()), added };
        Ok(Evidence::Run(Box::new(Analysed::new(folder::read(&run)?, made))))
    }

    fn header(&self, mut plan: Plan) -> Header {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        plan.rows.iter_mut().for_each(|row| row.version = Some(version.clone()));
        let environment = Environment::read(Some(self.site.supervisor.isolation()));
        Header::new(&version, self.site.began.clone(), plan, environment)
    }
}

fn keep_transcript(
    folder: &Path,
    proved: &Result<tare_service::verify::Transcript, LaunchError>,
) -> io::Result<()> {
    let Ok(transcript) = proved else { return Ok(()) };
    fs::write(folder.join("transcript.json"), serde_json::to_string_pretty(transcript)? + "\n")
}
