//! The plan: the complete list of what an experiment does, made before anything starts and stored in
//! `run.json`. Every experiment is points (a load, service settings, a link) by rows, in an order, until
//! something ends it. Comparisons, searches and published benchmarks differ only in values.

mod agents;
mod blocks;
mod cores;
mod division;
mod interleaved;
mod load;
mod loads;
mod name;
mod point;
mod row;
mod sequential;
mod slo;
mod twin;
pub mod until;
mod versions;

use serde::{Deserialize, Serialize};
use tare_host::cpus::Pinning;
use tare_service::{catalogue::Style, settings::ServiceSettings};

pub use agents::{NotForAgents, PlannedAgents};
pub use blocks::Blocks;
pub(crate) use blocks::START_NS;
use blocks::{BLOCKS_PER_START_MAX, GROUP_MAX};
pub use cores::{CoresRow, MachineCpus, label as cores_label};
pub use division::Spread;
pub(crate) use division::{BlockCosts, Division};
pub(crate) use load::Deadlines;
pub use load::LoadSpec;
pub use name::{messages_published, place, point_name};
pub use point::{NamedLink, Point};
pub use row::{Counted, Excluded, Exclusion, PlannedRow, RunningServer};
pub use sequential::SequentialOptions;
pub use slo::SearchSetting;
pub use until::Until;

use crate::{
    experiment::Layout,
    figures::{FigureCheck, Figures},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub experiment: String,
    pub title: String,
    pub question: String,
    /// Label of the row that is 100%; absent if rows have no reference.
    pub reference: Option<String>,
    /// Label of the twin, a second row of the same build; absent without one, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// Whether the rows are versions of one service, oldest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub are_versions: bool,
    /// Determines the order of samples and the values of placeholders.
    pub seed: u64,
    /// CPUs of the service and of the generator; over several cores, those of the largest row.
    pub pinning: Pinning,
    /// Whether each service has its own network namespace, with a loopback of its own. `false` in older runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolates: bool,
    /// The agents that send the load; absent if the generator of this machine does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<PlannedAgents>,
    pub order: Order,
    /// The stopping rule, beside the number of blocks.
    #[serde(default)]
    pub until: Until,
    pub rows: Vec<PlannedRow>,
    /// At least one.
    pub points: Vec<Point>,
    /// Empty without a published counterpart.
    #[serde(default, skip_serializing_if = "Publication::is_none")]
    pub publication: Publication,
}

/// The order of samples in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Blocks: one process per row, then short slices of all rows at all points in random order.
    Interleaved(Blocks),
    /// A fresh process per sample, with one whole load, as published. The rounds are independent.
    Sequential,
}

/// The published figures of an experiment, and which part of it is repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    pub figures: Figures,
    pub layout: Layout,
    /// What to check about each published claim.
    pub checks: Vec<FigureCheck>,
    /// The repeated part of the published time, messages and connections.
    pub scale: f64,
}

impl Default for Publication {
    fn default() -> Publication {
        Publication { figures: Figures::default(), layout: Layout::Percent, checks: Vec::new(), scale: 1.0 }
    }
}

impl Publication {
    fn is_none(&self) -> bool {
        *self == Publication::default()
    }
}

impl Plan {
    pub fn is_sequential(&self) -> bool {
        self.order == Order::Sequential
    }

    /// Its division into blocks.
    pub fn blocks(&self) -> &Blocks {
        match &self.order {
            Order::Interleaved(blocks) => blocks,
            Order::Sequential => &Blocks::ONE,
        }
    }

    /// Label of the row that is 100%; empty without one.
    pub fn reference(&self) -> &str {
        self.reference.as_deref().unwrap_or_default()
    }

    /// How long the reference spins at each request, beside its work; absent if it does not.
    pub fn reference_ballast_ns(&self) -> Option<u64> {
        self.rows.iter().find(|row| self.is_reference(&row.label))?.ballast_ns
    }

    /// The only contract of an interleaved experiment.
    pub fn contract(&self) -> &str {
        &self.points[0].contract
    }

    /// Whether this row is the one that is 100%.
    pub fn is_reference(&self, label: &str) -> bool {
        self.reference.as_deref() == Some(label)
    }

    /// The settings for the service of a row at a point.
    pub fn service_settings(&self, row: usize, point: usize) -> ServiceSettings {
        let settings = &self.points[point].service_settings;
        ServiceSettings { threads: self.rows[row].threads.unwrap_or(settings.threads), ..settings.clone() }
    }

    /// The service settings at its first point, in words. Only services with a manifest obey them. For a
    /// command of the user or a running server they are omitted, unless the user asked for unusual ones.
    pub fn settings_text(&self) -> Option<String> {
        let settings = &self.points[0].service_settings;
        let declares = |row: &PlannedRow| {
            matches!(row.style, Style::Platform | Style::Framework | Style::FrameworkTuned)
        };
        let is_declared = self.rows.iter().any(declares);
        let threads = match self.threads_planned().as_slice() {
            [] => (is_declared || settings.threads != 1).then(|| settings.threads.to_string()),
            numbers => Some(numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
        };
        let delay =
            (is_declared || settings.delay_ms != 0).then(|| format!("DELAY_MS={}", settings.delay_ms));
        let words: Vec<String> =
            threads.map(|threads| format!("THREADS={threads}")).into_iter().chain(delay).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(|row| self.rows[*row].excluded.is_none())
    }

    /// Places of the rows that take part at a point.
    pub fn members_at<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = usize> + 'a {
        point.rows.iter().copied().filter(|row| self.rows[*row].excluded.is_none())
    }

    pub fn rounds(&self) -> usize {
        self.points.iter().map(|point| point.rounds).max().unwrap_or(0)
    }

    /// Number of samples in a block.
    pub fn samples(&self) -> usize {
        self.points.iter().map(|point| self.members_at(point).count() * point.rounds).sum()
    }

    /// Expected duration before the pilots; a stopping rule may end the run earlier.
    pub fn expected_ns(&self) -> u64 {
        match &self.order {
            Order::Interleaved(_) => self.blocks_ns_expected(),
            Order::Sequential => {
                let of = |point: &Point| {
                    let cells = self.members_at(point).count() * point.rounds;
                    point.expected_ns().saturating_mul(cells as u64)
                };
                self.points.iter().map(of).fold(0, u64::saturating_add)
            }
        }
    }

    /// Checks a plan that was read from a file, so that its users can rely on its indices.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.points.is_empty() {
            return Err("the plan has no load".to_owned());
        }
        let unknown = self.points.iter().flat_map(|point| &point.rows).find(|row| **row >= self.rows.len());
        if let Some(row) = unknown {
            return Err(format!("a point names row {row} of {}", self.rows.len()));
        }
        let of_points = self.points.iter().map(|point| point.service_settings.threads);
        if of_points.chain(self.rows.iter().filter_map(|row| row.threads)).any(|threads| threads == 0) {
            return Err("a service is given 0 threads".to_owned());
        }
        let is_short = |pinning: &Pinning| pinning.server.is_empty() || pinning.generator.is_empty();
        if let Some(row) = self.rows.iter().find(|row| row.pinning.as_ref().is_some_and(is_short)) {
            return Err(format!("{} or its generator is given no CPU", row.label));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
