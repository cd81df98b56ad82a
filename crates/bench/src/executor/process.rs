//! A service from its launch to its stop.

use std::{fs, net::Ipv4Addr, time::Duration};

use tare_base::whole;
use tare_base::{Clock, Monotonic, Route};
use tare_contract::{CheckId, Contract};
use tare_host::{
    process::{CpuTime, CpuUnknown, Priority, Stopped as End, Throttle},
    seal,
};
use tare_load::{Connections, Failures, Generator, Measures, RunReport};
use tare_service::{
    drive::{self, LoadWay},
    launch::{self, LaunchSettings, Ready},
    probe::Readiness,
    prove::{CHECKS_AFTER_LOAD, GRACE, verify_options},
    verify,
};

use super::{
    Bench,
    account::Account,
    ballast::{BallastCount, carried_by},
    network::Network,
};
use crate::{
    experiment::ConnectionUse,
    folder,
    record::{KeptHandshakes, Latency, StoppedService},
    sample::{AskedOfLoad, LoadResult, Placement, UnmeasuredLoads},
    schedule::{Executor, ExecutorError, RowFailure, Slot},
};

/// Time limit for opening connections before the load, without a link.
const OPENING: Duration = Duration::from_secs(10);
/// The check that is repeated after the load of a sequential experiment. Checks of a moving `Date` take
/// seconds, which are too long for a short sample.
const CHECK_OF_ONE_SAMPLE: [CheckId; 1] = [CheckId::Response];

/// CPU time of a service up to now, or why it is unknown.
pub(super) type Counted = Result<CpuTime, CpuUnknown>;

/// A running service, and its generator.
#[derive(Debug)]
pub(super) struct Running {
    pub slot: Slot,
    /// Stem of its file names.
    pub stem: String,
    pub network: Network,
    pub ready: Ready,
    pub throttle: Throttle,
    pub ballast: Option<BallastCount>,
    /// Has the connections of one load.
    pub generator: Generator,
    /// End of the last load over these connections.
    pub asked_ns: u64,
    /// In the order of the plan's points.
    pub latency: Vec<Measures>,
    /// It no longer answers and receives no more requests.
    pub is_hung: bool,
    /// Backing usage, expected and counted.
    pub account: Account,
    /// The previous load left requests without an answer: the service may still work on them, and change its
    /// database.
    pub has_work_left: bool,
    /// The first load outside of its samples with wrong answers.
    pub wrong_aside: Option<Box<LoadResult>>,
    /// Requests that failed during the warm-up.
    pub failed_in_warm_up: Failures,
    /// Why its CPU time is unknown, if so.
    pub cpu_unknown: Option<CpuUnknown>,
    /// It had its first warm-up. A silence before is no stall, because it may still be loading code.
    pub is_warm: bool,
    /// Unmeasured loads since its last slice.
    pub aside: Option<UnmeasuredLoads>,
    pub handshakes: HandshakeCount,
}

/// The handshakes with a service, summed over its generators, each of which counts its own.
#[derive(Debug, Default)]
pub(super) struct HandshakeCount {
    earlier: KeptHandshakes,
    current: Option<KeptHandshakes>,
}

impl HandshakeCount {
    pub(super) fn take_in(&mut self, report: &RunReport) {
        if let Some(handshakes) = &report.handshakes {
            self.current = Some(KeptHandshakes::from(handshakes));
        }
    }

    /// Keeps the counts of the generator before another one replaces it.
    pub(super) fn begin_anew(&mut self) {
        if let Some(current) = self.current.take() {
            self.earlier.add(&current);
        }
    }

    /// Absent without TLS.
    fn all(mut self) -> Option<KeptHandshakes> {
        self.begin_anew();
        (self.earlier != KeptHandshakes::default()).then_some(self.earlier)
    }
}

/// The result of a pilot: a loaded and frozen process.
#[derive(Debug)]
pub(super) struct Piloted {
    pub running: Running,
    pub loaded_ns: u64,
}

impl Running {
    /// CPU time of the service so far, or why it is unknown.
    pub(super) fn cpu_time(&self) -> Result<Counted, ExecutorError> {
        match &self.cpu_unknown {
            Some(why) => Ok(Err(why.clone())),
            None => Ok(self.ready.process.cpu_time()?),
        }
    }

    /// CPU time of the service since `before`, or why it is unknown.
    pub(super) fn cpu_ns_since(&self, before: &Counted) -> Result<Result<u64, CpuUnknown>, ExecutorError> {
        let before = match before {
            Ok(before) => before,
            Err(why) => return Ok(Err(why.clone())),
        };
        Ok(self.cpu_time()?.and_then(|now| now.since(before)))
    }

    /// The end of a message about missing answers, if a process of the service is stopped.
    pub(super) fn stands_still(&self) -> String {
        let stopped = self.ready.process.stopped();
        stopped.map(|process| format!("; {process} stands still, as after SIGSTOP")).unwrap_or_default()
    }

    /// Records each finished load. Returns whether the previous load left work.
    pub(super) fn asked(&mut self, contract: &Contract, report: &RunReport) -> bool {
        let others = without_right_answer(report);
        self.account.asked(contract, &report.answered_by_name, others);
        std::mem::replace(&mut self.has_work_left, others > 0)
    }

    /// Records an unmeasured load: missing answers are ignored, wrong ones are kept.
    pub(super) fn not_measured(&mut self, contract: &Contract, report: &RunReport) {
        self.asked(contract, report);
        self.note_wrong(report);
    }

    /// Records a load with unknown counts, which ends the comparison of database use.
    pub(super) fn asked_unknown(&mut self) {
        self.account.forget();
        self.has_work_left = true;
    }

    /// Keeps the first load outside of the samples with wrong answers.
    pub(super) fn note_wrong(&mut self, report: &RunReport) {
        if self.wrong_aside.is_none() {
            let load = LoadResult::of(report, &AskedOfLoad::default());
            self.wrong_aside = (load.wrong_answers() > 0).then(|| Box::new(load));
        }
    }
}

/// Requests whose effect on a database is unknown.
pub(super) fn without_right_answer(report: &RunReport) -> u64 {
    let tally = &report.total.tally;
    tally.failed.total() + tally.in_flight
}

impl Bench<'_> {
    /// Stem of its file names.
    pub(super) fn stem(&self, slot: Slot) -> String {
        match self.plan.is_sequential() {
            true => format!("round-{:02}-point-{:03}", slot.round, slot.point),
            false => format!("block-{:03}", slot.block),
        }
    }

    /// A fresh process without any load.
    pub(super) fn launch(&self, slot: Slot, stem: &str) -> Result<Running, ExecutorError> {
        let (plan, seed) = (self.plan, self.seed(slot));
        let row = &plan.rows[slot.row];
        let network = Network::create(plan, slot, seed)?;
        let settings = LaunchSettings {
            contract: &self.contracts[slot.point],
            service_settings: &plan.service_settings(slot.row, slot.point),
            cpus: &plan.pinning_of(slot.row).server,
            seed,
            // A known-failing row need not answer correctly.
            readiness: match row.known_failure {
                None => Readiness::AnswersRightly,
                Some(_) => Readiness::Speaks,
            },
            port: None,
            serve_on: plan.agents.as_ref().map_or(Ipv4Addr::LOCALHOST, |agents| agents.serve_on),
            sandbox: &self.sandbox,
        };
        let folder = folder::service_folder(&self.run, &row.label);
        let ballast = row.ballast_ns.map(|ns_each| BallastCount::new(ns_each, &folder, stem)).transpose()?;
        let service = carried_by(&self.services[slot.row], ballast.as_ref());
        let mut ready = network
            .at_the_service(|| launch::launch(&service, &settings, self.supervisor, &folder, stem))??;
        // Requests until readiness belong to no load.
        network
            .at_the_service(|| ready.backing.take_counts())?
            .map_err(|error| RowFailure(error.to_string()))?;
        let generator = self.generator(&ready, &network, slot.row, slot.point, seed)?;
        let throttle = ready.process.pid().map(Throttle::of).unwrap_or_default();
        let latency = vec![Measures::default(); plan.points.len()];
        let asked_ns = Monotonic.now_ns();
        let cpu_unknown = network.at_the_service(|| ready.process.cpu_unknown())?;
        let mut running = Running {
            slot,
            stem: stem.to_owned(),
            network,
            ready,
            throttle,
            ballast,
            generator,
            asked_ns,
            latency,
            is_hung: false,
            account: Account::default(),
            has_work_left: false,
            wrong_aside: None,
            failed_in_warm_up: Failures::default(),
            cpu_unknown,
            is_warm: false,
            aside: None,
            handshakes: HandshakeCount::default(),
        };
        // Processes that a running server starts are counted from the warm-up on.
        running.cpu_time()?.ok();
        self.open(&mut running, slot.point)?;
        Ok(running)
    }

    /// A generator without open connections.
    pub(super) fn generator(
        &self,
        ready: &Ready,
        network: &Network,
        row: usize,
        point: usize,
        seed: u64,
    ) -> Result<Generator, ExecutorError> {
        let mut route = Route::from(ready.address.clone());
        route.namespace = network.of_clients();
        let (channel, planned) = (&self.services[row].channel(), &self.plan.points[point]);
        let ConnectionUse { streams, resumes, .. } = planned.connection_use;
        let Connections { total, threads } = self.plan.connections_of(row, point);
        let total = planned.connection_use.connections(total, channel.protocol);
        let connections = Connections { total, threads };
        let (contract, cpus) = (&self.contracts[point], &self.plan.pinning_of(row).generator);
        let way = LoadWay { host: &ready.host, channel, streams, resumes };
        Ok(drive::generator_in(contract, &way, route, connections, cpus, seed)?)
    }

    /// Opens all connections before a sequential load, unless opening is measured.
    fn open(&self, running: &mut Running, point: usize) -> Result<(), ExecutorError> {
        let point = &self.plan.points[point];
        if !self.plan.is_sequential() || !point.load.opens_before() {
            return Ok(());
        }
        let patience = OPENING + 20 * Duration::from_nanos(point.rtt_ns());
        Ok(running.generator.open(point.load.connections().total, patience)?)
    }

    pub(super) fn alive(&self, running: &Running, when: &str) -> Result<(), ExecutorError> {
        drive::death(&running.ready.process, when).map_or(Ok(()), |death| Err(RowFailure(death).into()))
    }

    pub(super) fn finish(&self, mut running: Running, block: usize) -> Result<StoppedService, ExecutorError> {
        let process = &running.ready.process;
        let placement = Priority::own().map(|given| Placement { given, groups: process.thread_groups() });
        running.ready.thaw()?;
        self.still_right(&running)?;
        let facts = StoppedService {
            rss_bytes_peak: Some(process.rss_bytes_peak()).filter(|bytes| *bytes > 0),
            context_switches: process.context_switches(),
            latency: running.latency.iter().map(latency).collect(),
            backing: running.ready.backing.describe(),
            placement,
            wrong_aside: running.wrong_aside.take(),
            failed_in_warm_up: running.failed_in_warm_up,
            handshakes: std::mem::take(&mut running.handshakes).all(),
            ..StoppedService::default()
        };
        if !self.plan.is_sequential() {
            self.keep_histograms(&running, block)?;
        }
        running.generator.close();
        let (row, stem) = (running.slot.row, running.stem);
        let ready = running.ready;
        let end = running.network.at_the_service(|| ready.process.stop(GRACE))?;
        self.drop_silent_logs(row, &stem);
        match end {
            End::ExitedBefore { .. } | End::Unstoppable { .. } => Err(RowFailure(end.to_string()).into()),
            end if end.is_clean() => Ok(facts),
            end => Ok(StoppedService { unclean_stop: Some(end.to_string()), ..facts }),
        }
    }

    /// A service that answers incorrectly after the load has no figures.
    fn still_right(&self, running: &Running) -> Result<(), ExecutorError> {
        let Slot { row, point, .. } = running.slot;
        if self.interrupted() || running.is_hung || self.plan.rows[row].known_failure.is_some() {
            return Ok(());
        }
        self.alive(running, "after the load")?;
        let mut options = verify_options(&self.services[row], self.seed(running.slot));
        options.allow(Duration::from_millis(self.plan.points[point].service_settings.delay_ms));
        let checks: &[CheckId] =
            if self.plan.is_sequential() { &CHECK_OF_ONE_SAMPLE } else { &CHECKS_AFTER_LOAD };
        let contract = &self.contracts[point];
        let transcript = running
            .network
            .at_the_service(|| verify::verify_only(contract, &running.ready.address, &options, checks))?;
        match transcript.reason() {
            _ if self.interrupted() => Ok(()),
            None => Ok(()),
            Some(reason) => {
                let stands_still = running.stands_still();
                Err(RowFailure(format!("wrong after the load: {reason}{stands_still}")).into())
            }
        }
    }

    /// One histogram file per point.
    fn keep_histograms(&self, running: &Running, block: usize) -> Result<(), ExecutorError> {
        for (point, measures) in self.plan.point_labels().into_iter().zip(&running.latency) {
            let label = &self.plan.rows[running.slot.row].label;
            let path = folder::histogram_path(&self.run, label, block, point);
            let folder = path.parent().unwrap_or(&self.run);
            fs::create_dir_all(folder)
                .and_then(|()| whole::write(&path, seal::LAST_LINE.seal(measures.latency.serialize())))
                .map_err(|error| ExecutorError::of_instrument(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// Removes empty logs, which hundreds of processes leave.
    fn drop_silent_logs(&self, row: usize, stem: &str) {
        let folder = folder::service_folder(&self.run, &self.plan.rows[row].label);
        for kind in ["stdout", "stderr"] {
            let path = folder.join(format!("{stem}.{kind}"));
            if fs::metadata(&path).is_ok_and(|file| file.len() == 0) {
                // A leftover file is harmless.
                let _gone = fs::remove_file(path);
            }
        }
    }
}

fn latency(measures: &Measures) -> Option<Latency> {
    let of = |q| measures.quantile(q).ns;
    (measures.latency.count() + measures.unanswered.count() > 0).then(|| Latency {
        p50_ns: of(0.5),
        p90_ns: of(0.9),
        p99_ns: of(0.99),
        p999_ns: of(0.999),
        max_ns: of(1.0),
        at_least: measures.unanswered.count() > 0,
    })
}
