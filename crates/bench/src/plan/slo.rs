//! The plan of a search for capacity: an interleaved experiment with an open loop whose rate the search sets.

use std::{path::PathBuf, time::Duration};

use tare_host::cpus::Pinning;
use tare_service::{catalogue::Row, settings::ServiceSettings};

use super::{Blocks, GROUP_MAX, Order, Plan, PlannedRow, until::Until};
use crate::{
    experiment::{Experiment, LatencySetting, LoadSetting, Rate, ScheduleSetting},
    slo::{Slo, SloPlan},
};

/// A window has this multiple of the SLO's longest limit: a rate 1% above the capacity needs that long to
/// fill the queue of a service.
const WINDOW_PER_LIMIT: u32 = 100;
const WINDOW_MIN: Duration = Duration::from_millis(500);
const WINDOW_MAX: Duration = Duration::from_secs(10);
/// The closed loops that give a search its first estimate.
const CLOSED_SLICE: Duration = Duration::from_millis(200);
const CLOSED_SLICES: usize = 4;

/// Settings of a search, from the command line.
#[derive(Debug, Clone)]
pub struct SearchSetting {
    pub slo: Slo,
    pub at_least: Option<f64>,
    pub contract: String,
    /// Connections; an open loop uses as many of them as it needs.
    pub load: LoadSetting,
    pub service_settings: ServiceSettings,
    pub starts: usize,
    pub windows: usize,
    /// Duration of a window. Default: a hundred times the longest limit of the SLO, from 0.5 s to 10 s.
    pub window: Option<Duration>,
    /// Warm-up load on a fresh process.
    pub warm_up: Duration,
    /// The longest warm-up, for a service that a pilot does not find steady earlier.
    pub warm_up_max: Duration,
    /// A window is discarded if the generator's p99 schedule lag exceeds this.
    pub lag_max: Duration,
}

impl Plan {
    /// Plans a search over `rows`; the rows are not built yet.
    pub fn search(setting: &SearchSetting, rows: &[Row], seed: u64, pinning: Pinning) -> Plan {
        let plan = Plan::interleaved(&setting.experiment(), rows, seed, pinning);
        let rows = rows.iter().map(PlannedRow::new).collect();
        let blocks = Blocks { group_max: GROUP_MAX, per_start_max: 1, ..plan.blocks().clone() };
        let slo = SloPlan {
            slo: setting.slo.clone(),
            windows: setting.windows,
            windows_expected: None,
            lag_ns_max: setting.lag_max.as_nanos() as u64,
            at_least: setting.at_least,
        };
        // Rows have no reference, so a row continues even if all others fail.
        Plan { reference: None, order: Order::Interleaved(blocks), until: Until::Search(slo), rows, ..plan }
    }

    /// The plan of a search, with the mean number of windows that stored searches took per counted window.
    #[must_use]
    pub fn with_windows_taken(mut self, per_window: f64) -> Plan {
        if let Until::Search(slo) = &mut self.until {
            let taken = (slo.windows as f64 * per_window.clamp(1.0, 2.0)).round() as usize;
            slo.windows_expected = Some(taken);
        }
        self
    }

    /// The SLO of a search; absent in other plans.
    pub fn slo(&self) -> Option<&SloPlan> {
        match &self.until {
            Until::Search(slo) => Some(slo),
            _ => None,
        }
    }
}

impl SearchSetting {
    fn experiment(&self) -> Experiment {
        let slo = &self.slo;
        let longest = Duration::from_nanos(slo.limits_ns().into_iter().max().unwrap_or(0));
        let usual = longest.saturating_mul(WINDOW_PER_LIMIT).clamp(WINDOW_MIN, WINDOW_MAX);
        Experiment {
            name: "slo".to_owned(),
            title: format!("capacity under {slo}"),
            question: format!("What is the highest rate at which each service holds {slo}?"),
            contract: self.contract.clone(),
            services: Vec::new(),
            protocols: vec![tare_load::Protocol::Http1],
            reference: String::new(),
            twin: false,
            loads: vec![self.load.clone()],
            service_settings: self.service_settings.clone(),
            cores: None,
            schedule: ScheduleSetting {
                budget: Duration::ZERO,
                slice: CLOSED_SLICE,
                slices_per_block: Some(CLOSED_SLICES),
                warm_up: self.warm_up,
                warm_up_max: Some(self.warm_up_max).filter(|longest| *longest > self.warm_up),
                blocks_min: self.starts,
                blocks_max: self.starts,
            },
            latency: Some(LatencySetting {
                rates: vec![Rate::Searched],
                slice: self.window.unwrap_or(usual),
                // Up to half of the windows may be discarded.
                slices_per_block: 2 * self.windows,
            }),
            path: PathBuf::new(),
            text: String::new(),
        }
    }
}
