//! One process of a service, loaded in slices, and its state between them.

use std::{
    fmt,
    net::Ipv4Addr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow, ensure};
use tare_contract::Contract;
use tare_host::{
    cpus::Pinning,
    process::{RunningService, Sandbox, Supervisor},
};
use tare_load::{Connections, Generator, Load, Schedule, Stop, Waiting};
use tare_service::{
    catalogue::Service,
    drive::{self, RESPONSE_TIMEOUT},
    launch::{self, LaunchSettings},
    probe::Readiness,
    prove::GRACE,
    settings::ServiceSettings,
};

const CONNECTIONS: usize = 64;
/// How long answers may take after the end of a slice.
const DRAIN: Duration = Duration::from_secs(1);

fn cpu_ns(process: &RunningService) -> anyhow::Result<u64> {
    process.cpu_ns()?.context("CPU time")
}

/// The state of a service between two slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Regime {
    /// No pause: the next slice follows at once.
    Continuous,
    /// The service is idle, but may run.
    Idle,
    /// The service is frozen, as in an interleaved experiment.
    Frozen,
}

impl Regime {
    pub(crate) const ALL: [Regime; 3] = [Regime::Continuous, Regime::Idle, Regime::Frozen];
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Regime::Continuous => "continuous",
            Regime::Idle => "idle gaps",
            Regime::Frozen => "frozen gaps",
        })
    }
}

/// The measurement of each process.
pub(crate) struct Trial<'a> {
    pub(crate) service: &'a Service,
    pub(crate) contract: &'a Contract,
    pub(crate) pinning: &'a Pinning,
    pub(crate) slices: usize,
    pub(crate) slice: Duration,
    pub(crate) gap: Duration,
    pub(crate) folder: &'a Path,
    pub(crate) supervisor: &'a Supervisor,
    pub(crate) interrupt: &'a Arc<AtomicBool>,
}

impl Trial<'_> {
    /// CPU time per request in the second half of the slices of a fresh process. Time between slices is not
    /// counted.
    pub(crate) fn cost_ns(&self, regime: Regime) -> anyhow::Result<f64> {
        let settings = LaunchSettings {
            contract: self.contract,
            service_settings: &ServiceSettings::of_threads(1),
            cpus: &self.pinning.server,
            seed: 1,
            readiness: Readiness::AnswersRightly,
            port: None,
            serve_on: Ipv4Addr::LOCALHOST,
            sandbox: &Sandbox::default(),
        };
        let ready = launch::launch(self.service, &settings, self.supervisor, self.folder, "service")?;
        let connections = Connections { total: CONNECTIONS, threads: 1 };
        let mut generator = drive::generator(
            self.contract,
            &ready.host,
            ready.address.clone(),
            connections,
            &self.pinning.generator,
            1,
        )?;
        let found = self.load(regime, &ready.process, &mut generator);
        generator.close();
        ready.process.stop(GRACE);
        found
    }

    fn load(
        &self,
        regime: Regime,
        process: &RunningService,
        generator: &mut Generator,
    ) -> anyhow::Result<f64> {
        let load = Load {
            waiting: Waiting::Poll,
            ..Load::new(Schedule::SATURATE, Stop::after(self.slice, DRAIN), RESPONSE_TIMEOUT)
        };
        let (mut spent_ns, mut answered) = (0, 0);
        for slice in 0..self.slices {
            let before_ns = cpu_ns(process)?;
            let report = generator.run(&load, self.interrupt)?;
            ensure!(!self.interrupt.load(Ordering::Relaxed), "interrupted");
            if slice >= self.slices / 2 {
                spent_ns += cpu_ns(process)?.saturating_sub(before_ns);
                answered += report.total.tally.answered;
            }
            if let Some(sample) = &report.first_failure {
                return Err(anyhow!("wrong under load: {}", drive::describe(sample)));
            }
            self.pause(regime, process)?;
        }
        ensure!(answered > 0, "no answer");
        Ok(spent_ns as f64 / answered as f64)
    }

    fn pause(&self, regime: Regime, process: &RunningService) -> anyhow::Result<()> {
        match regime {
            Regime::Continuous => {}
            Regime::Idle => thread::sleep(self.gap),
            Regime::Frozen => {
                process.freeze()?;
                thread::sleep(self.gap);
                process.thaw()?;
            }
        }
        Ok(())
    }
}
