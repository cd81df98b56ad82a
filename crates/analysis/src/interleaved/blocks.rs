//! The records of one row by block, from counted rounds: the input of every figure of the row.

use std::collections::BTreeMap;

use super::{
    rounds::{Moment, Rounds},
    uncounted,
};
use crate::validity::COST_NS_MIN;
use tare_bench::{
    folder::StoredRun,
    metric::{self, Metric},
    plan::Plan,
    record::{Record, Started, StoppedService},
    sample::{RequestCost, Sample},
};

/// The records of one row in one block.
#[derive(Default)]
pub(crate) struct Block<'a> {
    /// Counted closed loops.
    pub slices: Vec<&'a Sample>,
    /// The effect of the moment on each of them.
    pub moments: Vec<Moment>,
    /// Slices of dropped rounds; their failures count nevertheless.
    pub dropped: Vec<&'a Sample>,
    pub open: Vec<&'a Sample>,
    pub started: Option<&'a Started>,
    /// The block in which its process was started, possibly an earlier one.
    pub process: usize,
    pub stopped: Option<&'a StoppedService>,
    /// Some of the row's CPU time is unknown.
    pub is_uncounted: bool,
}

impl<'a> Block<'a> {
    /// All slices, open and closed, including those of dropped rounds.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a Sample> {
        self.slices.iter().chain(&self.dropped).chain(&self.open).copied()
    }

    pub(crate) fn sum(&self, value: impl Fn(&Sample) -> u64) -> f64 {
        self.slices.iter().map(|slice| value(slice)).sum::<u64>() as f64
    }

    /// Throughput, adjusted to average moments of the block.
    pub(crate) fn requests_per_second(&self) -> f64 {
        let slices = self.slices.iter().zip(&self.moments);
        let answered =
            slices.map(|(slice, at)| slice.load.answered_in_window as f64 * (-at.throughput).exp());
        metric::per_second(answered.sum(), self.sum(Sample::answering_ns))
    }

    /// CPU time per request; absent if it is incomplete, or too small for a service.
    pub(crate) fn cpu_ns_per_request(&self) -> Option<f64> {
        self.possible(self.cost(Sample::cost, |moment| moment.cost))
    }

    /// The same at one rate, for all requests of its open loops.
    pub(crate) fn cpu_ns_per_request_at(&self, point: usize) -> Option<f64> {
        self.possible(self.cost_at(point, Sample::cost))
    }

    fn possible(&self, cost: Option<RequestCost>) -> Option<f64> {
        cost.filter(|_| !self.is_uncounted)?.per_request().filter(|ns| *ns >= COST_NS_MIN)
    }

    /// The cost over counted slices, adjusted to average moments of the block.
    pub(crate) fn cost(
        &self,
        of: impl Fn(&Sample) -> Option<RequestCost>,
        moment: impl Fn(&Moment) -> f64,
    ) -> Option<RequestCost> {
        let adjusted = |(slice, at): (&&Sample, &Moment)| {
            let RequestCost { cpu_ns, answered } = of(slice)?;
            Some(RequestCost { cpu_ns, answered: answered * moment(at).exp() })
        };
        self.slices.iter().zip(&self.moments).map(adjusted).sum()
    }

    /// The cost over its open loops at one rate.
    pub(crate) fn cost_at(
        &self,
        point: usize,
        of: impl Fn(&Sample) -> Option<RequestCost>,
    ) -> Option<RequestCost> {
        self.open.iter().filter(|slice| slice.point == point).map(|slice| of(slice)).sum()
    }

    /// CPU time of the backing per answer; absent without a backing.
    pub(crate) fn backing_cpu_ns_per_request(&self) -> Option<f64> {
        self.cost(Sample::backing_cost, |moment| moment.backing)?.per_request()
    }

    /// CPU time of service and backing per answer; absent if either is.
    pub(crate) fn total_cpu_ns_per_request(&self) -> Option<f64> {
        Some(self.cpu_ns_per_request()? + self.backing_cpu_ns_per_request()?)
    }

    /// A metric by which rows are ranked; absent for all others.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Throughput => metric::figure(self.requests_per_second()),
            Metric::Cpu => self.cpu_ns_per_request(),
            Metric::CpuWithDatabase => self.total_cpu_ns_per_request(),
            _ => None,
        }
    }

    /// A latency quantile at a point of the plan; absent if it was not stored or has too few requests. In a closed loop of a
    /// server with ballast each answer waits for the ballast of those before it, so that is no figure of the server.
    pub(crate) fn latency_ns(&self, point: usize, probability: f64) -> Option<f64> {
        if self.slices.iter().any(|slice| slice.point == point && slice.host.ballast.is_some()) {
            return None;
        }
        Some(self.stopped?.latency_at(point)?.ns_at(probability, self.timed(point))? as f64)
    }

    /// Requests at a point of the plan with a known latency or waiting time.
    pub(crate) fn timed(&self, point: usize) -> u64 {
        self.all().filter(|slice| slice.point == point).map(|slice| slice.load.timed()).sum()
    }

    pub(crate) fn start_up_ns(&self) -> Option<u64> {
        self.started?.start_up_ns
    }

    /// Interrupts and softirq on the service's CPUs; absent if a slice lacks CPU accounting.
    pub(crate) fn softirq_ns(&self) -> Option<f64> {
        let times = self.slices.iter().map(|slice| Some(slice.host.accounting?.server.softirq_ns));
        times.sum::<Option<u64>>().map(|ns| ns as f64)
    }
}

/// The blocks of one row with at least one complete round, by number.
pub(crate) type Blocks<'a> = BTreeMap<usize, Block<'a>>;

/// The blocks of all rows, in the order of the plan.
pub(crate) fn of_rows(stored: &StoredRun) -> Vec<Blocks<'_>> {
    in_rounds(stored, &Rounds::of(&stored.header.plan, &stored.records))
}

/// The same in rounds that are known.
pub(super) fn in_rounds<'a>(stored: &'a StoredRun, rounds: &Rounds) -> Vec<Blocks<'a>> {
    (0..stored.header.plan.rows.len()).map(|row| blocks_of(&stored.records, rounds, row)).collect()
}

/// The blocks of the row with this label.
pub(crate) fn of_label<'a>(plan: &Plan, records: &'a [Record], label: &str) -> Blocks<'a> {
    let place = plan.rows.iter().position(|row| row.label == label);
    place.map(|row| blocks_of(records, &Rounds::of(plan, records), row)).unwrap_or_default()
}

pub(super) fn blocks_of<'a>(records: &'a [Record], rounds: &Rounds, row: usize) -> Blocks<'a> {
    let mut blocks = Blocks::new();
    let mut process = None;
    for record in records {
        match record {
            Record::Started(started) if started.row == row => {
                process = Some(started.block);
                blocks.entry(started.block).or_default().started = Some(started);
            }
            Record::Sample(slice) if slice.row == row => {
                let block = blocks.entry(slice.block).or_default();
                block.process = process.unwrap_or(slice.block);
                if slice.is_open() {
                    block.open.push(slice);
                } else if rounds.counts(slice) {
                    block.slices.push(slice);
                    block.moments.push(rounds.moment(slice));
                } else if rounds.is_whole(slice) {
                    block.dropped.push(slice);
                }
            }
            Record::Stopped(stopped) if stopped.row == row => {
                blocks.entry(stopped.block).or_default().stopped = Some(stopped);
            }
            _ => {}
        }
    }
    blocks.retain(|_, block| !block.slices.is_empty());
    let is_uncounted = uncounted::why(records, row).is_some();
    blocks.values_mut().for_each(|block| block.is_uncounted = is_uncounted);
    blocks
}

#[cfg(test)]
mod tests {
    use super::super::{compute, tests::kept_with};
    use tare_bench::{record::Record, sample::BallastTime};

    /// Half of what the reference spent, and half of its time, is ballast.
    #[test]
    fn ballast_is_in_no_figure() {
        let mut stored = kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 6);
        let before = compute(&stored);
        for record in &mut stored.records {
            let Record::Sample(slice) = record else { continue };
            if slice.row == 0 {
                let (cpu_ns, window_ns) = (slice.host.server_cpu_ns / 2, slice.load.window_ns / 2);
                slice.host.ballast = Some(BallastTime { cpu_ns, window_ns });
            }
        }
        let after = compute(&stored);
        let ratio = |of: fn(&super::super::RowReport) -> Option<crate::estimate::UnitEstimate>| {
            of(&after.rows[0]).unwrap().value / of(&before.rows[0]).unwrap().value
        };
        assert_eq!(before.rows[0].label, "raw-socket");
        assert!((ratio(|row| row.cpu_ns_per_request) - 0.5).abs() < 1e-3);
        assert!((ratio(|row| row.requests_per_second) - 2.0).abs() < 1e-3);
        let cpu = |report: &super::super::Report| report.rows[1].cpu_ratio.unwrap().value;
        assert!((cpu(&after) / cpu(&before) - 2.0).abs() < 1e-3);
        assert!(before.rows[0].latency_ns_p99.is_some() && after.rows[0].latency_ns_p99.is_none());
        assert!(after.rows[1].latency_ns_p99.is_some());
    }
}
