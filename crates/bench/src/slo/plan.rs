//! What a search for capacity will do, made before anything is started: an ordinary plan of a run, and beside it in
//! `slo.json` what is looked for.

use std::{fs, path::Path, time::Duration};

use serde::{Deserialize, Serialize};

use super::Slo;
use crate::{
    experiment::{LoadSetting, Point},
    run::{
        folder::FolderError,
        plan::{GROUP_MAX, LatencyPlan, Plan, PlannedRow},
        until::Until,
    },
};
use tare_host::cpus::Pinning;
use tare_service::{catalogue::Row, settings::ServiceSettings};

/// The version of `slo.json`.
pub const FORMAT: &str = "1.0";
/// A window is this many times as long as the longest time of the SLO: a rate that is a share of 1/100 above what a service
/// can do takes that long to fill its queue.
const WINDOW_PER_LIMIT: u64 = 100;
const WINDOW_NS_MIN: u64 = 500_000_000;
const WINDOW_NS_MAX: u64 = 10_000_000_000;
/// The closed loops from which a search takes its bearings.
const CLOSED_SLICE_NS: u64 = 200_000_000;
const CLOSED_SLICES: usize = 4;

/// `slo.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SloPlan {
    /// [`FORMAT`].
    pub format: String,
    /// What has to hold.
    pub slo: Slo,
    /// Windows of a search that count; as many again may be void.
    pub windows: usize,
    /// A window with more schedule lag (its 99th percentile) is void.
    pub lag_ns_max: u64,
    /// The rate that every row must hold; absent if only the highest is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
}

/// What is to be done, in words of the command line.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Name of the contract.
    pub contract: String,
    /// Connections, of which an open loop takes as many as it needs.
    pub load: LoadSetting,
    /// The settings that services are given.
    pub service_settings: ServiceSettings,
    /// Fresh starts of every service.
    pub starts: usize,
    /// Windows of one search.
    pub windows: usize,
    /// Length of one; a hundred times the longest time of the SLO, from 0.5 s to 10 s, by default.
    pub window: Option<Duration>,
    /// Load on a fresh process before anything counts.
    pub warm_up: Duration,
    /// The most of it, for a service that a pilot finds not steady before.
    pub warm_up_max: Duration,
    /// A window in which the generator is later than this (at the 99th percentile) is void.
    pub lag_max: Duration,
    /// Determines the order of rows and the values of placeholders.
    pub seed: u64,
}

impl SloPlan {
    /// What is looked for, and the run that does it.
    pub fn new(slo: Slo, setting: &Setting, rows: &[Row], pinning: Pinning) -> (SloPlan, Plan) {
        let ns = |duration: Duration| duration.as_nanos() as u64;
        let longest = slo.limits_ns().into_iter().max().unwrap_or(0);
        let usual = longest.saturating_mul(WINDOW_PER_LIMIT).clamp(WINDOW_NS_MIN, WINDOW_NS_MAX);
        let plan = Plan {
            experiment: "slo".to_owned(),
            title: format!("capacity under {slo}"),
            question: format!("What is the highest rate at which each service holds {slo}?"),
            contract: setting.contract.clone(),
            // Nothing is related to anything: a row that is left alone goes on alone.
            reference: String::new(),
            seed: setting.seed,
            loads: vec![setting.load.clone()],
            service_settings: setting.service_settings.clone(),
            budget_ns: 0,
            until: Until::Budget,
            slice_ns: CLOSED_SLICE_NS,
            slices_per_block: CLOSED_SLICES,
            warm_up_ns: ns(setting.warm_up),
            warm_up_ns_max: Some(ns(setting.warm_up_max)).filter(|longest| *longest > ns(setting.warm_up)),
            group_max: GROUP_MAX,
            blocks_per_start_max: 1,
            latency: Some(LatencyPlan {
                points: vec![Point::Searched],
                slice_ns: setting.window.map_or(usual, ns),
                // As many again may be void.
                slices_per_block: 2 * setting.windows,
            }),
            blocks_min: setting.starts,
            blocks_max: setting.starts,
            pinning,
            rows: rows.iter().map(PlannedRow::new).collect(),
        };
        let format = FORMAT.to_owned();
        let lag_ns_max = ns(setting.lag_max);
        (SloPlan { format, slo, windows: setting.windows, lag_ns_max, at_least: None }, plan)
    }

    /// Writes it into a run folder.
    pub fn keep(&self, run: &Path) -> Result<(), FolderError> {
        let path = run.join("slo.json");
        let text = serde_json::to_string_pretty(self).map(|text| text + "\n");
        let written = text.map_err(Into::into).and_then(|text| fs::write(&path, text));
        written.map_err(|source| FolderError::Io { path, source })
    }

    /// Reads that of a run folder; absent if the run was no search.
    pub fn read(run: &Path) -> Result<Option<SloPlan>, FolderError> {
        let path = run.join("slo.json");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|source| FolderError::Io { path: path.clone(), source })?,
        };
        let not_a_run = |reason: String| FolderError::NotARun { path: run.to_owned(), reason };
        let plan: SloPlan =
            serde_json::from_str(&text).map_err(|error| not_a_run(format!("slo.json: {error}")))?;
        match plan.format.as_str() {
            FORMAT => Ok(Some(plan)),
            found => Err(FolderError::Format { path, found: found.to_owned() }),
        }
    }
}
