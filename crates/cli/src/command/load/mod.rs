//! `tare load`: loads any HTTP server of this machine, without a catalogue of services.
//!
//! [`args`] parses options. [`target`], [`request`] and [`expect`] determine the server, the requests and the
//! correct answers; [`plan`] fills in the rest. This module runs them, and [`output`] prints the result.

mod args;
mod calibrate;
mod course;
pub(crate) mod descriptors;
mod dry;
mod events;
pub(crate) mod expect;
pub(crate) mod finding;
mod foreign;
mod machine;
pub(crate) mod output;
mod own_cpus;
pub(crate) mod plan;
pub(crate) mod protocol;
pub(crate) mod request;
mod silence;
#[cfg(test)]
mod tests;
mod words;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tare_base::units::several;

use anyhow::{Context, bail, ensure};
use tare_analysis::{
    behaviour::answers::{self, AnswerWindow},
    level,
};
use tare_base::{Endpoint, Route};
use tare_bench::folder::about::quoted;
use tare_host::signals;
use tare_load::{
    Exchange, ExchangePool, Generator, GeneratorSettings, Limits, Load, RunReport, Schedule, evaluate,
    generator::verdict::shortfall,
};
use tare_service::client::{Channel, Trusts};

use args::TransportArgs;
pub(crate) use args::{AFTER_HELP, AFTER_LONG_HELP, Args, LONG_ABOUT};
use course::ServerMemory;
use expect::{Learned, Rules, Server};
use finding::LoadFinding;
pub(crate) use foreign::advise;
use machine::{Before, MachineUse};
use output::{FromAgents, Recorded, Recorder};
use plan::Plan;
use protocol::Spoken;
use request::RequestSpec;
use silence::Silence;

use super::target::{
    self, unanswered,
    url::{self, Url},
};
use crate::{exit::Outcome, output::print, workspace::Global};

/// A smaller shortfall of the rate is within the noise at the window's edges.
const SHORTFALL_NOTED: f64 = 0.01;
/// The note for -k.
pub(crate) const UNCHECKED_CERTIFICATE: &str =
    "the certificate was not checked (-k): the answers are of a server that is not known";

/// What a part does if agents send the load.
pub(crate) type ByAgents = fn(&Job, &Global, &Args) -> anyhow::Result<Outcome>;

pub(crate) fn run(global: &Global, args: Args, by_agents: ByAgents) -> anyhow::Result<Outcome> {
    if args.calibrate {
        return calibrate::run(global, args.output.json, args.output.quiet);
    }
    let job = Job::new(global, &args)?;
    if args.dry_run {
        return print(&dry::text(&job)).map(|()| Outcome::Fine);
    }
    if !args.agents.agents.is_empty() {
        return by_agents(&job, global, &args);
    }
    job.execute(&args)
}

/// Everything that is known before anything is sent.
#[derive(Debug)]
pub(crate) struct Job {
    pub url: String,
    /// The URL without its path.
    origin: String,
    method: String,
    endpoints: Vec<Endpoint>,
    pub exchanges: Vec<Exchange>,
    pub contract: Option<String>,
    pub rules: Rules,
    pub spoken: Spoken,
    pub plan: Plan,
    pub seed: u64,
}

/// A finished load, as every form of the output needs it.
#[derive(Debug)]
pub(crate) struct LoadResult<'a> {
    /// The URL as given by the user.
    pub url: &'a str,
    /// The requests: `GET /`, or `contract rest (7 requests)`.
    pub what: String,
    /// The same with the server: `GET http://127.0.0.1/`.
    pub asked: String,
    /// The check of responses, in words.
    pub check: String,
    pub settings: &'a GeneratorSettings,
    pub load: &'a Load,
    /// Notes, each one sentence: why this driver, what was not reached.
    pub notes: Vec<String>,
    /// Warnings, each one sentence: the load may not be the intended one.
    pub warnings: Vec<String>,
    pub report: &'a RunReport,
    pub findings: Vec<LoadFinding>,
    pub limits: Limits,
    pub interference_share_max: f64,
    /// The CPU time of other programs, if it is known.
    pub machine: Option<MachineUse>,
    pub started_at: jiff::Timestamp,
    /// Answers per second in each interval.
    pub rates_per_s: Vec<f64>,
    /// The command line that repeats the load, with its seed.
    pub command: String,
    /// The share of the due requests that were not answered within the load.
    pub shortfall: f64,
    /// What several generators add, if they sent the load.
    pub several: Option<FromAgents>,
}

impl Job {
    pub(crate) fn new(global: &Global, args: &Args) -> anyhow::Result<Job> {
        let mut urls = args.urls.clone();
        urls.extend(args.request.url_file.as_deref().map(url::read).transpose()?.unwrap_or_default());
        if let Some(address) = args.group.service {
            urls.iter_mut().for_each(|url| url.move_to(address));
        }
        let first = urls.first().context("no URL")?;
        if let Some(other) = urls.iter().find(|url| !url.is_beside(first)) {
            anyhow::bail!("{first} and {other} are on two servers: load one at a time");
        }
        let spec = spec(args)?;
        let (transport, checking) = (&args.transport, &args.checking);
        // Agents resolve the address of the server themselves.
        let endpoints = match args.agents.agents.is_empty() && !args.group.is_given {
            true => {
                let unix = transport.socket.of_one()?;
                target::endpoints(first, unix, transport.i_may_load.as_deref())?
            }
            false => Vec::new(),
        };
        target::check_sources(transport.source.as_deref().unwrap_or_default(), &endpoints)?;
        let seed = args.pace.seed.unwrap_or_else(tare_host::seed::draw);
        Ok(Job {
            url: first.to_string(),
            origin: first.origin(),
            endpoints,
            exchanges: exchanges(global, args, &spec, &urls, seed)?,
            method: spec.method().to_owned(),
            contract: args.request.contract.clone(),
            rules: Rules {
                no_check: checking.no_check,
                status: checking.expect_status,
                body: checking.expect_body.as_deref().map(request::body).transpose()?,
            },
            spoken: args.protocol.spoken(first)?,
            plan: Plan::new(&args.pace, transport, checking)?,
            seed,
        })
    }

    /// The requests in a few words.
    pub(crate) fn what(&self) -> String {
        let names = self.names();
        match &self.contract {
            Some(name) => format!("contract {name} ({})", several(names.len(), "request")),
            None if names.len() == 1 => self.exchanges[0].name.clone(),
            None => format!("{} and {} more", self.exchanges[0].name, names.len() - 1),
        }
    }

    /// The request with its server, without repeating a path.
    pub(crate) fn asked(&self) -> String {
        match (&self.contract, self.names().len()) {
            (None, 1) => format!("{} {}", self.method, self.url),
            _ => format!("{} at {}", self.what(), self.origin),
        }
    }

    /// The distinct names of its requests; variants by placeholders share one name.
    fn names(&self) -> BTreeSet<&str> {
        self.exchanges.iter().map(|exchange| exchange.name.as_str()).collect()
    }

    /// Whether placeholders make several variants of a request.
    fn varies(&self) -> bool {
        let requests: BTreeSet<&[u8]> =
            self.exchanges.iter().map(|exchange| exchange.request.as_slice()).collect();
        self.names().len() < requests.len()
    }

    /// Learns from the server before the load; returns the expected responses.
    fn learn(
        &mut self,
        settings: &GeneratorSettings,
        args: &Args,
        interrupt: &Arc<AtomicBool>,
    ) -> anyhow::Result<Learned> {
        if args.events.events {
            let wanted = events::Wanted::new(&args.events, &self.rules);
            return events::learn(settings, &mut self.exchanges, &wanted, &self.plan.load, interrupt);
        }
        let trusts = self.spoken.tls.clone().map_or(Trusts::Nothing, Trusts::Own);
        let channel = Channel { protocol: self.spoken.protocol, trusts };
        let mut server = Server::new(&settings.route.target, &channel, self.plan.load.response_timeout);
        match &self.contract {
            Some(name) if !self.rules.no_check => expect::confirm(&mut server, name, &self.exchanges),
            _ => expect::learn(&mut server, &mut self.exchanges, &self.rules),
        }
    }

    fn settings(&self, target: Endpoint, transport: &TransportArgs) -> GeneratorSettings {
        let route = Route { sources: transport.source.clone().unwrap_or_default(), ..target.into() };
        GeneratorSettings {
            cpus: transport.cpus.clone().unwrap_or_default(),
            driver: transport.driver,
            protocol: self.spoken.protocol,
            streams: self.spoken.streams,
            tls: self.spoken.tls.clone(),
            ..GeneratorSettings::new(route, self.plan.connections, self.seed)
        }
    }

    fn execute(mut self, args: &Args) -> anyhow::Result<Outcome> {
        descriptors::ensure_for(self.plan.connections.total)?;
        let (output, transport) = (&args.output, &args.transport);
        let mut recorder = Recorder::new(output.quiet, output.format(), &output.exports, &self.plan.load)?;
        let interrupt = signals::listen()?;
        let target = target::reachable(&self.endpoints, self.plan.load.connect_timeout)?;
        let (what, asked) = (self.what(), self.asked());
        let endpoint = target.clone();
        let polls = own_cpus::poll_on_them(&mut self.plan, args, &endpoint);
        let settings = self.settings(target, transport);
        let Learned { check, mut warnings } = self.learn(&settings, args, &interrupt)?;
        let pool = Arc::new(ExchangePool::new(std::mem::take(&mut self.exchanges)));
        let mut generator = Generator::new(settings.clone(), pool)?;
        let (opened, patience) = self.plan.opening();
        let why = |error| unanswered::of_open(error, settings.protocol, settings.tls.as_deref());
        generator.open(opened, patience).map_err(why)?;
        self.plan.warm_up(&mut generator, &interrupt)?;
        let load = &self.plan.load;
        let started_at = jiff::Timestamp::now();
        recorder.begin(started_at)?;
        let is_endless = load.stop.quota().is_some() && args.pace.duration.is_none();
        let mut silence = is_endless.then(Silence::default);
        let before = Before::take(&endpoint);
        let mut memory = ServerMemory::default();
        let report = generator.run_watched(load, &interrupt, &mut |interval| {
            recorder.on_interval(interval);
            memory.add(interval, before.rss_bytes());
            if silence.as_mut().is_some_and(|silence| silence.is_over_with(interval)) {
                interrupt.store(true, Ordering::Relaxed);
            }
        })?;
        let machine = before.since();
        let recorded = recorder.finish(&report);
        report.total.tally.reconcile()?;
        let limits = Limits { error_share_max: args.checking.max_errors, ..Limits::default() };
        let interference_share_max = args.checking.max_interference;
        let findings = findings(&report, &limits, machine.clone(), interference_share_max);
        let outcome = if findings.is_empty() { Outcome::Fine } else { Outcome::MeasurementInvalid };
        warnings.extend(expect::unasked_redirect(&report.total.statuses, load.check));
        let short = shortfall(&report, load);
        let mut notes = notes(&report, load, short);
        let unchecked = args.protocol.spoken.insecure.then(|| UNCHECKED_CERTIFICATE.to_owned());
        let more = [unchecked, polls, silence.and_then(|silence| silence.note()), memory.note()];
        notes.extend(more.into_iter().flatten());
        notes.extend(over_time(&recorded, load));
        let result = LoadResult {
            url: &self.url,
            what,
            asked,
            check,
            settings: &settings,
            load,
            notes,
            warnings,
            report: &report,
            findings,
            limits,
            interference_share_max,
            machine,
            started_at,
            rates_per_s: recorded.rates_per_s,
            command: command(std::env::args(), args.pace.seed.is_none().then_some(self.seed)),
            shortfall: short,
            several: None,
        };
        output::print(&result, output.format(), output.latency)?;
        recorded.written?;
        Ok(outcome)
    }
}

fn spec(args: &Args) -> anyhow::Result<RequestSpec> {
    let request = &args.request;
    Ok(RequestSpec {
        method: request.method.clone(),
        headers: request.headers.clone(),
        body: request.data.as_deref().map(request::body).transpose()?,
    })
}

fn exchanges(
    global: &Global,
    args: &Args,
    spec: &RequestSpec,
    urls: &[Url],
    seed: u64,
) -> anyhow::Result<Vec<Exchange>> {
    let (request, first) = (&args.request, &urls[0]);
    if let Some(name) = &request.contract {
        ensure!(urls.len() == 1, "--contract sets the requests: give one URL, that of the server");
        let path = &first.path;
        ensure!(path == "/", "--contract sets the paths: leave {path} out of the URL");
        let workspace = global.open()?;
        let contract = request::narrowed(workspace.contract(name)?, &request.only)?;
        if let Some(variable) = contract.missing_variable() {
            bail!(
                "the contract \"{name}\" sends the variable {variable}, which is not set, or holds a control character"
            );
        }
        if let Some(table) = contract.tables().find(|table| table.is_made() && args.pace.seed.is_none()) {
            bail!(
                "the rows of \"{}\" are made from the seed, and the service needs the same: write them by `tare data {name} \
                 --seed 1`, start the service with them, and add --seed 1",
                table.name()
            );
        }
        return Ok(request::of_contract(&contract, seed, first));
    }
    if request.no_placeholders {
        return Ok(urls.iter().map(|url| spec.exchange(url)).collect());
    }
    spec.exchanges(urls, seed)
}

/// Notes on the load that the figures do not show.
pub(crate) fn notes(report: &RunReport, load: &Load, short: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(reason) = &report.driver.reason {
        notes.push(format!("the driver is {}: {reason}", report.driver.kind.name()));
    }
    if short > SHORTFALL_NOTED && !report.interrupted {
        notes.push(format!(
            "{:.1}% of the requests that were due in the window were not answered in it: the server does not keep up \
             with the rate",
            short * 100.0
        ));
    }
    if !load.check {
        notes.push("responses were not compared with anything: a fast error counts as an answer".to_owned());
    }
    notes
}

/// Every reason to distrust the figures.
fn findings(
    report: &RunReport,
    limits: &Limits,
    machine: Option<MachineUse>,
    interference_share_max: f64,
) -> Vec<LoadFinding> {
    let interference = machine.and_then(|machine| machine.interference(interference_share_max));
    let doubts = evaluate(report, limits).into_iter().map(LoadFinding::Engine);
    doubts.chain(interference.map(LoadFinding::Machine)).collect()
}

/// Findings in the intervals that totals and percentiles do not show. For an open loop that is failures only.
pub(crate) fn over_time(recorded: &Recorded, load: &Load) -> Vec<String> {
    let failures = recorded.failures.note().into_iter();
    let (Schedule::Closed { .. }, Some(interval)) = (&load.schedule, load.interval) else {
        return failures.collect();
    };
    let steps = level_steps(&recorded.rates_per_s, interval);
    failures.chain(steps).chain(not_in_time(&recorded.windows, interval)).collect()
}

/// Changes of the rate. Closed loops only: in an open loop the schedule sets the rate.
fn level_steps(rates_per_s: &[f64], interval: Duration) -> impl Iterator<Item = String> {
    let note = move |step: level::LevelStep| {
        let after = interval.as_secs_f64() * step.at as f64;
        format!(
            "after {after:.0} s the rate {step}: the rate of the whole load is of neither (`--series` has them)"
        )
    };
    level::steps(rates_per_s).into_iter().map(note)
}

/// Stalls and late answers. Closed loops only: in an open loop the percentiles include them.
fn not_in_time(windows: &[AnswerWindow], interval: Duration) -> impl Iterator<Item = String> {
    let unit = format!("intervals of {} s", interval.as_secs_f64());
    let stalls = answers::stalls(windows, &[]).map(|found| found.text(&unit));
    let late = answers::late(windows).map(|found| found.text(&unit));
    let unless = "unless other programs took its CPU";
    stalls.into_iter().chain(late).map(move |note| format!("{note} ({unless})"))
}

/// Parses `--cpus`, for agents too.
pub(crate) fn cpu_list(text: &str) -> anyhow::Result<Vec<usize>> {
    words::cpus(text)
}

/// The command line that repeats the load.
pub(crate) fn command(words: impl Iterator<Item = String>, seed: Option<u64>) -> String {
    let seed = seed.map(|seed| format!("--seed {seed}"));
    let words = ["tare".to_owned()].into_iter().chain(words.skip(1).map(|word| quoted(&word))).chain(seed);
    words.collect::<Vec<_>>().join(" ")
}
