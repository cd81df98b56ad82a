//! A slice before and after its load, from any generator. Values only.

use tare_host::cpus;
use tare_load::{Load, RunReport};

use crate::sample_agents::{DiscardedSlice, FleetSample};

/// A slice that is to be loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due<'a> {
    pub point: usize,
    /// Varies its requests.
    pub draw: u64,
    pub load: &'a Load,
}

/// A finished load.
#[derive(Debug)]
pub(super) struct Loaded {
    /// The sum over all generators.
    pub report: RunReport,
    /// CPU counters of this machine when the service was thawed.
    pub begun: Option<cpus::Reading>,
    /// The same at the end of the load.
    pub ended: Option<cpus::Reading>,
    /// CPU time of the generators on this machine.
    pub here: GeneratorTime,
    /// With agents: the report of each, and the reason if the slice is discarded.
    pub by: Option<(FleetSample, Option<DiscardedSlice>)>,
}

/// CPU time of generators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GeneratorTime {
    pub cpu_ns: u64,
    /// The part of it spent polling without result.
    pub polled_ns: u64,
}

impl GeneratorTime {
    #[must_use]
    pub fn of(report: &RunReport) -> GeneratorTime {
        GeneratorTime { cpu_ns: report.generator_cpu_ns, polled_ns: report.generator_polled_ns }
    }

    #[must_use]
    pub fn and(self, other: GeneratorTime) -> GeneratorTime {
        GeneratorTime { cpu_ns: self.cpu_ns + other.cpu_ns, polled_ns: self.polled_ns + other.polled_ns }
    }
}

impl Loaded {
    /// Why the slice has no figures; absent if it has figures.
    pub(super) fn discarded(&self) -> Option<DiscardedSlice> {
        self.by.as_ref()?.1.clone()
    }

    pub(super) fn fleet_sample(self) -> Option<FleetSample> {
        self.by.map(|(sample, _)| sample)
    }
}
