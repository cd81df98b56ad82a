//! `tare load`: a load on any HTTP server of this machine, without a catalogue of services around it.
//!
//! [`args`] reads words, [`target`], [`request`] and [`expect`] find out what is sent whereto and what is right,
//! [`plan`] makes values of the rest; here they are executed in order. What is said about it is [`output`]'s.

mod args;
mod calibrate;
mod descriptors;
mod dry;
mod expect;
pub mod output;
mod plan;
mod request;
mod result;
mod silence;
mod target;
#[cfg(test)]
mod tests;
mod url;
mod words;
use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::{Context, ensure};
use tare_bench::run::about::quoted;
use tare_load::{
    Endpoint, Exchange, ExchangePool, Generator, Limits, Load, Route, RunReport, Settings, evaluate,
    generator::verdict::shortfall,
};

pub use args::Args;
use args::TransportArgs;
use expect::{Rules, Server};
use output::Live;
use plan::{Plan, Wish};
use request::Shape;
use result::LoadResult;
use silence::Silence;
use url::Url;

use crate::{exit::Outcome, workspace::Global};
use tare_host::signals;

/// A server that falls short of the rate by less is within the noise of the window's edges.
const SHORTFALL_TOLD: f64 = 0.01;
/// A server accepts at least so fast.
const CONNECTS_PER_MS: u32 = 1;

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.calibrate {
        return calibrate::run(global, args.output.json, args.output.quiet);
    }
    let job = Job::new(global, &args)?;
    if args.dry_run {
        dry::print(&job)?;
        return Ok(Outcome::Fine);
    }
    job.carry_out(&args)
}

/// Everything that is known before anything is sent.
#[derive(Debug)]
struct Job {
    url: String,
    endpoints: Vec<Endpoint>,
    exchanges: Vec<Exchange>,
    contract: Option<String>,
    rules: Rules,
    plan: Plan,
    seed: u64,
}

impl Job {
    fn new(global: &Global, args: &Args) -> anyhow::Result<Job> {
        let first = args.urls.first().context("no URL")?;
        if let Some(other) = args.urls.iter().find(|url| !url.is_beside(first)) {
            anyhow::bail!("{first} and {other} are on two servers: load one at a time");
        }
        let transport = &args.transport;
        let endpoints = target::endpoints(first, transport.unix.as_deref(), transport.i_may_load.as_deref())?;
        target::check_sources(transport.source.as_deref().unwrap_or_default(), &endpoints)?;
        let check = !args.checking.no_check;
        let wish = Wish { pace: &args.pace, transport, response_timeout: args.checking.timeout, check };
        let seed = args.pace.seed.unwrap_or_else(tare_host::seed::draw);
        Ok(Job {
            url: first.to_string(),
            endpoints,
            exchanges: exchanges(global, args, first, seed)?,
            contract: args.request.contract.clone(),
            rules: Rules {
                no_check: args.checking.no_check,
                status: args.checking.expect_status,
                body: args.checking.expect_body.as_deref().map(request::body).transpose()?,
            },
            plan: Plan::new(&wish)?,
            seed,
        })
    }

    /// What is asked, in a few words.
    fn what(&self) -> String {
        match (&self.contract, self.exchanges.as_slice()) {
            (Some(name), exchanges) => {
                let names: BTreeSet<&str> = exchanges.iter().map(|exchange| exchange.name.as_str()).collect();
                format!("contract {name} ({} requests)", names.len())
            }
            (None, [one]) => one.name.clone(),
            (None, several) => format!("{} and {} more", several[0].name, several.len() - 1),
        }
    }

    /// Asks the server before the load, and says what its responses will be compared with.
    fn find_out(&mut self, target: &Endpoint, patience: Duration) -> anyhow::Result<String> {
        let mut server = Server { endpoint: target, patience };
        match &self.contract {
            Some(name) if !self.rules.no_check => expect::confirm(&mut server, name, &self.exchanges),
            _ => expect::learn(&mut server, &mut self.exchanges, &self.rules),
        }
    }

    fn settings(&self, target: Endpoint, transport: &TransportArgs) -> Settings {
        Settings {
            route: Route { sources: transport.source.clone().unwrap_or_default(), ..target.into() },
            connections: self.plan.connections,
            cpus: transport.cpus.clone().unwrap_or_default(),
            driver: transport.driver,
            seed: self.seed,
        }
    }

    fn carry_out(mut self, args: &Args) -> anyhow::Result<Outcome> {
        descriptors::ensure_for(self.plan.connections.total)?;
        let output = &args.output;
        let mut live = Live::new(output.quiet, output.format(), &output.exports, &self.plan.load)?;
        let interrupt = signals::listen()?;
        let transport = &args.transport;
        let target = target::reachable(&self.endpoints, transport.connect_timeout)?;
        let check = self.find_out(&target, args.checking.timeout)?;
        let what = self.what();
        let settings = self.settings(target, transport);
        let pool = Arc::new(ExchangePool::new(std::mem::take(&mut self.exchanges)));
        let mut generator = Generator::new(settings.clone(), pool)?;
        open(&mut generator, &self.plan, transport.connect_timeout)?;
        if let Some(warm_up) = &self.plan.warm_up {
            generator.run(warm_up, &interrupt)?;
            ensure!(!interrupt.load(Ordering::Relaxed), "interrupted in the warm-up: nothing was measured");
        }
        let load = &self.plan.load;
        let started_at = jiff::Timestamp::now();
        live.begin(started_at)?;
        let is_endless = load.stop.quota().is_some() && args.pace.duration.is_none();
        let mut silence = is_endless.then(Silence::default);
        let report = generator.run_watched(load, &interrupt, &mut |interval| {
            live.tell(interval);
            if silence.as_mut().is_some_and(|silence| silence.is_over_with(interval)) {
                interrupt.store(true, Ordering::Relaxed);
            }
        })?;
        let told = live.finish(&report);
        report.total.tally.reconcile()?;
        let limits = Limits { error_share_max: args.checking.max_errors, ..Limits::default() };
        let doubts = evaluate(&report, &limits);
        let outcome = if doubts.is_empty() { Outcome::Fine } else { Outcome::MeasurementInvalid };
        let result = LoadResult {
            url: &self.url,
            what,
            check,
            settings: &settings,
            load,
            notes: notes(&report, load)
                .into_iter()
                .chain(silence.and_then(|silence| silence.note()))
                .collect(),
            report: &report,
            doubts,
            limits,
            started_at,
            rates_per_s: told.rates_per_s,
            command: command(std::env::args(), args.pace.seed.is_none().then_some(self.seed)),
        };
        output::print(&result, output.format(), output.latency)?;
        told.written?;
        Ok(outcome)
    }
}

fn exchanges(global: &Global, args: &Args, first: &Url, seed: u64) -> anyhow::Result<Vec<Exchange>> {
    let request = &args.request;
    if let Some(name) = &request.contract {
        ensure!(args.urls.len() == 1, "--contract says what is asked: give one URL, that of the server");
        ensure!(
            first.path == "/",
            "--contract says which paths are asked, and the URL names {}: leave it out",
            first.path
        );
        let workspace = global.open()?;
        let contract = request::narrowed(workspace.contract(name)?, &request.only)?;
        return Ok(request::of_contract(&contract, seed, first));
    }
    let shape = Shape {
        method: request.method.clone(),
        headers: request.headers.clone(),
        body: request.data.as_deref().map(request::body).transpose()?,
    };
    Ok(args.urls.iter().map(|url| shape.exchange(url)).collect())
}

/// Opens what is kept open.
fn open(generator: &mut Generator, plan: &Plan, connect_timeout: Duration) -> anyhow::Result<()> {
    let count = if plan.opens_before() { plan.connections.total } else { 0 };
    let all = connect_timeout + Duration::from_millis(1) * (count as u32 / CONNECTS_PER_MS);
    generator.open(count, all)?;
    Ok(())
}

/// What a reader should know and could not see.
fn notes(report: &RunReport, load: &Load) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(reason) = &report.driver.reason {
        notes.push(format!("the driver is {}: {reason}", report.driver.kind.name()));
    }
    let short = shortfall(report, load);
    if short > SHORTFALL_TOLD && !report.interrupted {
        notes.push(format!(
            "{:.1}% of what was due in the window was not answered in it: the server does not keep up with the rate",
            short * 100.0
        ));
    }
    if !load.check {
        notes.push("responses were not compared with anything: a fast error counts as an answer".to_owned());
    }
    notes
}

/// The command line that does the same again.
fn command(words: impl Iterator<Item = String>, seed: Option<u64>) -> String {
    let own = std::iter::once("tare".to_owned());
    let seed = seed.map(|seed| format!("--seed {seed}"));
    let words = own.chain(words.skip(1).map(|word| quoted(&word))).chain(seed);
    words.collect::<Vec<_>>().join(" ")
}
