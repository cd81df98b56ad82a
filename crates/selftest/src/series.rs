//! From the records of a trial's campaign to the few series that its judge looks at. Pure.

use tare_stats::{Looks, RatioEstimate, log_ratios, sequential::Decision};

use tare_bench::run::{
    campaign::Judge,
    record::{Record, Slice},
};

/// The closed loops of a row.
pub fn closed<'a>(records: &'a [Record], row: &'a str) -> impl Iterator<Item = &'a Slice> {
    records.iter().filter_map(move |record| match record {
        Record::Slice(slice) if slice.row == row && slice.open.is_none() => Some(slice),
        _ => None,
    })
}

/// Sums over slices.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Requests.
    pub sent: u64,
    /// Right answers.
    pub answered: u64,
    /// Requests and connections without a right answer.
    pub wrong: u64,
    /// Right answers within the window.
    pub in_window: u64,
    /// Length of the windows.
    pub window_ns: u64,
    /// With their drains.
    pub elapsed_ns: u64,
    /// CPU time of the service.
    pub server_ns: u64,
    /// CPU time of the generator.
    pub generator_ns: u64,
    /// CPU time of others; none where a slice does not know.
    pub foreign_ns: Option<i64>,
}

/// Adds slices up.
pub fn sums<'a>(slices: impl Iterator<Item = &'a Slice>) -> Sums {
    let none = Sums { foreign_ns: Some(0), ..Sums::default() };
    slices.fold(none, |sums, slice| Sums {
        sent: sums.sent + slice.sent,
        answered: sums.answered + slice.answered,
        wrong: sums.wrong
            + slice.failed.values().chain(slice.connection_failed.values()).sum::<u64>()
            + slice.in_flight,
        in_window: sums.in_window + slice.answered_in_window,
        window_ns: sums.window_ns + slice.window_ns,
        elapsed_ns: sums.elapsed_ns + slice.elapsed_ns,
        server_ns: sums.server_ns + slice.server_cpu_ns,
        generator_ns: sums.generator_ns + slice.generator_cpu_ns,
        foreign_ns: sums.foreign_ns.zip(slice.foreign_cpu_ns).map(|(all, more)| all + more),
    })
}

/// What of a block is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// CPU time of the service for each right answer.
    CpuPerRequest,
    /// Right answers a second.
    Throughput,
}

impl Metric {
    fn of(self, sums: &Sums) -> Option<f64> {
        let value = match self {
            Metric::CpuPerRequest => sums.server_ns as f64 / sums.answered as f64,
            Metric::Throughput => sums.in_window as f64 / sums.window_ns as f64,
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }
}

/// ln(subject / reference) for each block that both have finished.
pub fn differences(records: &[Record], subject: &str, reference: &str, metric: Metric) -> Vec<f64> {
    let has_stopped = |block: usize, row: &str| {
        records.iter().any(|record| {
            matches!(record, Record::Stopped(stopped) if stopped.block == block && stopped.row == row)
        })
    };
    let blocks = records.iter().filter_map(|record| match record {
        Record::Block { block, .. } => Some(*block),
        _ => None,
    });
    let value = |block: usize, row: &str| {
        let slices = closed(records, row).filter(|slice| slice.block == block);
        has_stopped(block, row).then(|| metric.of(&sums(slices))).flatten()
    };
    let pairs = blocks.filter_map(|block| Some((value(block, subject)?, value(block, reference)?)));
    let (subject, reference): (Vec<f64>, Vec<f64>) = pairs.unzip();
    log_ratios(&subject, &reference).unwrap_or_default()
}

/// The ratio at the latest planned look, and whether it is separated from 1. None before there is a block.
pub fn look(differences: &[f64]) -> Option<(RatioEstimate, bool)> {
    let progress = Looks::standard().decide(differences).ok()?;
    let is_separated = matches!(progress.decision, Decision::Separated { .. });
    Some((progress.estimate.into(), is_separated))
}

/// Ends a campaign at the planned look that finds the subject to differ from the reference; never where there is none.
#[derive(Debug, Default)]
pub struct UntilFound {
    records: Vec<Record>,
    rows: Option<(&'static str, &'static str)>,
}

impl UntilFound {
    /// `rows` are the subject and the reference.
    pub fn new(rows: Option<(&'static str, &'static str)>) -> UntilFound {
        UntilFound { records: Vec::new(), rows }
    }
}

impl Judge for UntilFound {
    fn heard(&mut self, record: &Record) {
        if self.rows.is_some() {
            self.records.push(record.clone());
        }
    }

    fn is_decided(&mut self) -> bool {
        self.rows.is_some_and(|(subject, reference)| {
            let differences = differences(&self.records, subject, reference, Metric::CpuPerRequest);
            look(&differences).is_some_and(|(_, is_separated)| is_separated)
        })
    }
}
