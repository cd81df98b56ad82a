//! A load from several generators: the jobs of the agents, and one result from theirs.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail, ensure};
use tare_agent::{
    Control, FleetReport, LearnedByAgent, Prepared, Token,
    control::{PollTimes, RunPlan},
    job::Requests,
    merge::AgentRow,
    window::marks,
};
use tare_base::Endpoint;
use tare_load::{GeneratorSettings, Limits, evaluate, generator::verdict::shortfall};

use super::{finding, jobs, several, token::version};
use crate::{
    command::load::{
        Args, Job, LoadResult, UNCHECKED_CERTIFICATE, command, expect,
        finding::LoadFinding,
        notes,
        output::{self, Recorder},
        over_time,
    },
    exit::Outcome,
    workspace::Global,
};

/// The rest of `tare load`, if agents send the load.
pub(in crate::parts::cluster) fn execute(
    job: &Job,
    global: &Global,
    args: &Args,
    token: &Token,
    interrupt: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let output = &args.output;
    let mut recorder = Recorder::new(output.quiet, output.format(), &output.exports, &job.plan.load)?;
    let mut control = Control::connect(&args.agents.agents, token, &version(), PollTimes::default())?;
    let marks_ns = marks(job.plan.load.stop.window().as_nanos() as u64);
    let mut jobs = jobs::jobs(job, global, args, &control, &marks_ns)?;
    let lesson = control.learn(&jobs[0], interrupt)?;
    let prepared = enter(&lesson, &mut jobs).and_then(|()| Ok(control.prepare(&jobs, interrupt)?))?;
    ensure_one_server(&control, &prepared)?;
    let limits = Limits { error_share_max: args.checking.max_errors, ..Limits::default() };
    let plan = RunPlan {
        window_ns: jobs[0].load.window_ns,
        drain_ns: jobs[0].load.drain_ns,
        warm_up_ns: jobs[0].warm_up_ns,
        marks_ns,
        limits,
    };
    let mut started_at = jiff::Timestamp::now();
    let fleet = run(&mut control, &plan, interrupt, &mut recorder, &mut started_at)?;
    control.end();
    ensure!(
        !fleet.total.interrupted || fleet.total.total.tally.sent > 0,
        "interrupted before the load: nothing was measured"
    );
    finish(job, args, Finished { fleet, lesson, prepared, limits, recorder, started_at })
}

/// Gives all agents the correct answers that the first agent learned.
fn enter(lesson: &LearnedByAgent, jobs: &mut [tare_agent::Job]) -> anyhow::Result<()> {
    for job in jobs {
        if let Requests::Listed(listed) = &mut job.requests {
            ensure!(listed.len() == lesson.right.len(), "an agent learned of other requests than were sent");
            listed.iter_mut().zip(&lesson.right).for_each(|(one, right)| one.right = right.clone());
        }
    }
    Ok(())
}

/// Fails if the agents would load different servers: 127.0.0.1 is another server on each machine.
fn ensure_one_server(control: &Control, prepared: &[Prepared]) -> anyhow::Result<()> {
    let agents: Vec<_> = control.agents().zip(prepared).collect();
    let ((first, about), one) = agents.first().context("no agent")?;
    for ((address, other), prepared) in &agents {
        let is_same = about.machine == other.machine || !(one.is_loopback || prepared.is_loopback);
        ensure!(
            is_same,
            "{} is another server for the agent at {address} than for that at {first}: name the server by an address that all \
             machines reach",
            prepared.endpoint
        );
    }
    Ok(())
}

fn run(
    control: &mut Control,
    plan: &RunPlan,
    interrupt: &AtomicBool,
    recorder: &mut Recorder,
    started_at: &mut jiff::Timestamp,
) -> anyhow::Result<FleetReport> {
    let mut begun = Ok(());
    let recorder = std::cell::RefCell::new(recorder);
    let mut began = |_start_ns: u64| {
        *started_at = jiff::Timestamp::now();
        begun = recorder.borrow_mut().begin(*started_at);
    };
    let report = control
        .run(plan, interrupt, &mut began, &mut |interval| recorder.borrow_mut().on_interval(interval))?;
    begun?;
    Ok(report)
}

struct Finished {
    fleet: FleetReport,
    lesson: LearnedByAgent,
    prepared: Vec<Prepared>,
    limits: Limits,
    recorder: Recorder,
    started_at: jiff::Timestamp,
}

fn finish(job: &Job, args: &Args, finished: Finished) -> anyhow::Result<Outcome> {
    let Finished {
        fleet,
        lesson: LearnedByAgent { check, mut warnings, .. },
        prepared,
        limits,
        recorder,
        started_at,
    } = finished;
    let (load, report) = (&job.plan.load, &fleet.total);
    let recorded = recorder.finish(report);
    report.total.tally.reconcile()?;
    let engine = evaluate(report, &limits).into_iter().map(LoadFinding::Engine);
    let findings: Vec<LoadFinding> = engine.chain(fleet.findings.iter().map(finding)).collect();
    let outcome = if findings.is_empty() { Outcome::Fine } else { Outcome::MeasurementInvalid };
    warnings.extend(expect::unasked_redirect(&report.total.statuses, load.check));
    let short = shortfall_of_all(&fleet, job);
    let mut notes = notes(report, load, short);
    notes.extend(args.protocol.spoken.insecure.then(|| UNCHECKED_CERTIFICATE.to_owned()));
    notes.extend(over_time(&recorded, load));
    let settings = settings(job, &prepared, fleet.rows.len())?;
    let result = LoadResult {
        url: &job.url,
        what: job.what(),
        asked: job.asked(),
        check,
        settings: &settings,
        load,
        notes,
        warnings,
        report,
        findings,
        limits,
        interference_share_max: args.checking.max_interference,
        machine: None,
        started_at,
        rates_per_s: recorded.rates_per_s,
        command: command(std::env::args(), args.pace.seed.is_none().then_some(job.seed)),
        shortfall: short,
        several: Some(several(&fleet, load)),
    };
    output::print(&result, args.output.format(), args.output.latency)?;
    recorded.written?;
    Ok(outcome)
}

/// The shortfall of the whole load, which is longer than the counted window.
fn shortfall_of_all(fleet: &FleetReport, job: &Job) -> f64 {
    let mut whole = fleet.total.clone();
    let own = |row: &AgentRow| row.report.total.tally.answered_in_window;
    whole.total.tally.answered_in_window = fleet.rows.iter().map(own).sum();
    shortfall(&whole, &job.plan.load)
}

/// The settings of all agents together.
fn settings(job: &Job, prepared: &[Prepared], generators: usize) -> anyhow::Result<GeneratorSettings> {
    let endpoint = &prepared.first().context("no agent")?.endpoint;
    let Ok(address) = endpoint.parse() else { bail!("an agent loads {endpoint}, which is no address") };
    let mut connections = job.plan.connections;
    connections.threads *= generators;
    Ok(GeneratorSettings {
        protocol: job.spoken.protocol,
        streams: job.spoken.streams,
        ..GeneratorSettings::new(Endpoint::Tcp(address).into(), connections, job.seed)
    })
}
