//! One run among several, and its samples: each row in each block, relative to the reference of that block.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use crate::{
    estimate::UnitEstimate,
    interleaved::{
        self, Report, RowReport,
        blocks::{self, Blocks},
    },
    series,
    status::Status,
};
use tare_bench::{
    folder::{self, FolderError, StoredRun},
    metric::Metric,
    plan::{Plan, PlannedRow},
};
use tare_host::environment::Environment;
use tare_stats::{DEFAULT_CONFIDENCE, contrast, summary, two_level};

#[derive(Debug, Clone)]
pub struct NamedRun {
    /// Its name in the document: `A`, `B`, or a number.
    pub name: String,
    pub place: String,
    pub stored: StoredRun,
    pub report: Report,
    /// Its measured values, read once from the records.
    measured: BTreeMap<String, Measured>,
}

/// One row: values by block, for each metric with values.
#[derive(Debug, Clone)]
struct Measured {
    series: BTreeMap<Metric, BTreeMap<usize, f64>>,
    /// The block in which each block's process was started.
    processes: BTreeMap<usize, usize>,
}

/// Natural logarithms, one per block, grouped into starts if a process lasted for several blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowRatios {
    pub starts: Vec<Vec<f64>>,
}

/// Reasons why a folder has no comparable run.
#[derive(Debug, thiserror::Error)]
pub enum RunReadError {
    /// It cannot be read, or holds something else.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It has no comparable blocks.
    #[error(
        "{place}: is a published experiment, whose claims are its comparison: only interleaved experiments are compared run against run"
    )]
    Sequential { place: String },
    #[error(
        "{place}: is a search for capacity, whose rates depend on what it finds: only interleaved experiments are compared run against run"
    )]
    Capacity { place: String },
}

impl NamedRun {
    /// # Errors
    /// If it cannot be read, or has nothing comparable.
    pub fn read(path: &Path) -> Result<NamedRun, RunReadError> {
        let stored = folder::read(path)?;
        let place = path.display().to_string();
        if stored.header.plan.is_sequential() {
            return Err(RunReadError::Sequential { place });
        }
        if stored.header.plan.slo().is_some() {
            return Err(RunReadError::Capacity { place });
        }
        Ok(NamedRun::of(place, stored))
    }

    /// Builds the run from records of any origin.
    pub fn of(place: String, stored: StoredRun) -> NamedRun {
        let first = stored.at_load(0);
        let (report, measured) = (interleaved::compute(&first), measured(&first));
        NamedRun { name: String::new(), place, stored, report, measured }
    }

    /// The run under one of its loads. The first load gives its name and results.
    pub fn at_load(&self, load: usize) -> Cow<'_, NamedRun> {
        if load == 0 {
            return Cow::Borrowed(self);
        }
        let stored = self.stored.at_load(load).into_owned();
        Cow::Owned(NamedRun { name: self.name.clone(), ..NamedRun::of(self.place.clone(), stored) })
    }

    pub fn environment(&self) -> &Environment {
        &self.stored.header.environment
    }

    pub fn plan(&self) -> &Plan {
        &self.stored.header.plan
    }

    pub fn planned(&self, label: &str) -> Option<&PlannedRow> {
        self.plan().rows.iter().find(|row| row.label == label)
    }

    pub fn row(&self, label: &str) -> Option<&RowReport> {
        let twin = self.report.twin.iter().map(|twin| &twin.row);
        self.report.rows.iter().chain(twin).find(|row| row.label == label)
    }

    pub fn status(&self) -> Status {
        Status::of(self.report.ending, self.stored.in_progress)
    }

    /// Identifies the program of a row across runs: the content hash of its build, else the reported version.
    pub fn build(&self, label: &str) -> Option<String> {
        let row = self.planned(label)?;
        row.content.clone().or_else(|| row.version.clone())
    }

    /// The figure itself, as in the run's table.
    pub fn level(&self, label: &str, metric: Metric) -> Option<f64> {
        let row = self.row(label)?;
        match metric {
            Metric::Throughput => row.requests_per_second.map(|found| found.value),
            Metric::Cpu => row.cpu_ns_per_request.map(|found| found.value),
            Metric::P99 => {
                summary::median(&self.series(label, metric).into_values().collect::<Vec<_>>()).ok()
            }
            Metric::Rss => row.rss_bytes_peak.map(|found| found.value),
            _ => None,
        }
    }

    fn series(&self, label: &str, metric: Metric) -> BTreeMap<usize, f64> {
        self.measured.get(label).and_then(|row| row.series.get(&metric)).cloned().unwrap_or_default()
    }

    /// The log ratios of a row in this run.
    ///
    /// # Errors
    /// If there are none, with the reason.
    pub fn ratios(&self, label: &str, metric: Metric) -> Result<RowRatios, String> {
        self.has(label, metric)?;
        let reference = self.plan().reference();
        let own = self.series(label, metric);
        // Memory does not follow the state of the machine, so a ratio would only add the reference's noise.
        if metric == Metric::Rss {
            let ones: BTreeMap<usize, f64> = own.keys().map(|block| (*block, 1.0)).collect();
            return self.parted([label; 2], &shared(&own, &ones), |blocks| by_block(&own, &ones, blocks));
        }
        if label == reference {
            return Err("it is what the others are related to".to_owned());
        }
        self.has(reference, metric)?;
        let (rows, other) = ([label, reference], self.series(reference, metric));
        match metric {
            Metric::P99 => {
                let [one, base] = rows.map(|label| self.measured.get(label).map(|row| &row.processes));
                let blocks = one.zip(base).map(|(one, base)| shared(one, base)).unwrap_or_default();
                self.parted(rows, &blocks, |blocks| by_life(&own, &other, blocks))
            }
            _ => self.parted(rows, &shared(&own, &other), |blocks| by_block(&own, &other, blocks)),
        }
    }

    /// Applies `of` to each group of these blocks that shares no process with the rest.
    fn parted(
        &self,
        rows: [&str; 2],
        blocks: &[usize],
        of: impl Fn(&[usize]) -> Vec<f64>,
    ) -> Result<RowRatios, String> {
        let [one, other] = rows.map(|label| self.processes(label, blocks));
        let parts = two_level::by_start(blocks, &one, &other).map_err(|error| error.to_string())?;
        let starts: Vec<Vec<f64>> =
            parts.iter().map(|blocks| of(blocks)).filter(|start| !start.is_empty()).collect();
        match starts.is_empty() {
            true => Err(format!("{}: no block has this figure", rows[0])),
            false => Ok(RowRatios { starts }),
        }
    }

    /// The block in which the process of each block was started.
    fn processes(&self, label: &str, blocks: &[usize]) -> Vec<usize> {
        let known = self.measured.get(label).map(|row| &row.processes);
        let process = |block: &usize| known.and_then(|known| known.get(block)).copied().unwrap_or(*block);
        blocks.iter().map(process).collect()
    }

    fn has(&self, label: &str, metric: Metric) -> Result<(), String> {
        let Some(row) = self.row(label) else { return Err(format!("there is no row \"{label}\"")) };
        if let Some(reason) = row.state.reason() {
            return Err(format!("{label}: {reason}"));
        }
        match &row.throughput_finding {
            Some(doubt) if metric == Metric::Throughput => Err(doubt.scoped()),
            _ => Ok(()),
        }
    }
}

/// The blocks that both series have.
fn shared<V, W>(one: &BTreeMap<usize, V>, other: &BTreeMap<usize, W>) -> Vec<usize> {
    one.keys().copied().filter(|block| other.contains_key(block)).collect()
}

/// One log ratio per block.
fn by_block(one: &BTreeMap<usize, f64>, other: &BTreeMap<usize, f64>, blocks: &[usize]) -> Vec<f64> {
    blocks.iter().filter_map(|block| Some(one.get(block)?.ln() - other.get(block)?.ln())).collect()
}

/// For a figure constant over a process's life: one log ratio over all blocks of a kept process.
fn by_life(one: &BTreeMap<usize, f64>, other: &BTreeMap<usize, f64>, blocks: &[usize]) -> Vec<f64> {
    let mean = |values: &BTreeMap<usize, f64>| {
        let logs: Vec<f64> = blocks.iter().filter_map(|block| Some(values.get(block)?.ln())).collect();
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    mean(one).zip(mean(other)).map(|(one, other)| one - other).into_iter().collect()
}

/// The values of all rows of a run.
fn measured(stored: &StoredRun) -> BTreeMap<String, Measured> {
    let plan = &stored.header.plan;
    let of_row = |(row, blocks): (&PlannedRow, Blocks)| {
        let series = Metric::COMPARED.map(|metric| (metric, series::of_blocks(plan, &blocks, metric)));
        let processes = blocks.iter().map(|(number, block)| (*number, block.process)).collect();
        (row.label.clone(), Measured { series: series.into(), processes })
    };
    plan.rows.iter().zip(blocks::of_rows(stored)).map(of_row).collect()
}

impl RowRatios {
    /// The ratio with its interval, as in the run's own table.
    pub fn of_reference(&self) -> Option<UnitEstimate> {
        Some(UnitEstimate::exp(&contrast::interval_of_starts(&self.starts, DEFAULT_CONFIDENCE).ok()?))
    }

    /// One value per block, in order.
    pub fn blocks(&self) -> Vec<f64> {
        self.starts.concat()
    }

    /// Whether some process lasted for several blocks.
    pub fn is_shared(&self) -> bool {
        two_level::are_shared(&self.starts)
    }

    /// The independent values within the run: blocks, or the means of starts.
    pub fn units(&self) -> Vec<f64> {
        let mean = |start: &Vec<f64>| start.iter().sum::<f64>() / start.len() as f64;
        self.starts.iter().map(mean).collect()
    }
}
