//! A slice that is to be loaded, and the load that came of it, whoever sent it. Values only.

use tare_host::cpus;
use tare_load::{Load, RunReport};

use crate::sample_agents::{DiscardedSlice, FleetSample};

/// A slice that is due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due<'a> {
    pub point: usize,
    /// Varies its requests.
    pub draw: u64,
    pub load: &'a Load,
}

/// A load that is over.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Of all generators as if they were one.
    pub report: RunReport,
    /// What the CPUs of this machine had done when the service was thawed.
    pub begun: Option<cpus::Reading>,
    /// The same when the load was over.
    pub ended: Option<cpus::Reading>,
    /// What generators spent on this machine.
    pub here: GeneratorTime,
    /// Of agents, what each of them did.
    pub by: Option<(FleetSample, Option<DiscardedSlice>)>,
}

/// CPU time of generators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GeneratorTime {
    pub cpu_ns: u64,
    /// The part of it in which they polled and nothing had come.
    pub polled_ns: u64,
}

impl GeneratorTime {
    pub(super) fn of(report: &RunReport) -> GeneratorTime {
        GeneratorTime { cpu_ns: report.generator_cpu_ns, polled_ns: report.generator_polled_ns }
    }

    pub(super) fn and(self, other: GeneratorTime) -> GeneratorTime {
        GeneratorTime { cpu_ns: self.cpu_ns + other.cpu_ns, polled_ns: self.polled_ns + other.polled_ns }
    }
}

impl Loaded {
    /// Why it has no figures; absent if it has.
    pub(super) fn discarded(&self) -> Option<DiscardedSlice> {
        self.by.as_ref()?.1.clone()
    }

    pub(super) fn fleet_sample(self) -> Option<FleetSample> {
        self.by.map(|(sample, _)| sample)
    }
}
