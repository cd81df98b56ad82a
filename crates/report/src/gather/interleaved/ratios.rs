//! Throughput and CPU per request, each with its ratio to the reference, for every table that has them.

use tare_analysis::{estimate::Estimate, interleaved::RowReport};

use crate::{
    document::{Column, LAST, Unit},
    gather::columns::Columns,
};

/// The ratio to the reference, which itself is 1 without an interval.
pub(crate) fn throughput_ratio(row: &RowReport, reference: &str) -> Option<Estimate> {
    row.ratio.or_else(|| row.times_throughput(reference).map(Estimate::known))
}

pub(crate) fn cpu_ratio(row: &RowReport, reference: &str) -> Option<Estimate> {
    row.cpu_ratio.or_else(|| row.times_cpu(reference).map(Estimate::known))
}

/// A column with this priority, whose interval is shown beside it if there is room.
pub(crate) fn beside(column: Column, priority: u8) -> Column {
    column.priority(priority).interval_priority(LAST)
}

/// Requests per second, and their ratio.
pub(crate) fn throughput<'a, T>(
    row: impl Fn(&T) -> &'a RowReport + Copy + 'a,
    reference: &'a str,
) -> Columns<'a, T> {
    Columns::new()
        .estimate(Unit::PerSecond, "requests_per_second", "req/s", move |of| row(of).requests_per_second)
        .with(|column| beside(column, 80))
        .help("right answers a second; the mean of the blocks, with a 95% interval")
        .bounded(
            Unit::Share,
            "throughput_ratio",
            "throughput",
            move |of| throughput_ratio(row(of), reference),
            move |of| row(of).throughput_bound,
        )
        .with(|column| column.priority(75).interval_priority(30))
        .help(
            "throughput related to the reference's in the same block, with a 95% interval; of their capacities at least (≥) or at \
             most (≤) that much where one of them was not saturated",
        )
        .share("throughput_ratio_if_busy", "if both were busy", move |of| row(of).ratio_if_busy)
        .priority(28)
        .help("the ratio if the CPUs of both had been busy all the time, by how busy they were; it has no interval")
}

/// CPU time per answer, and its ratio.
pub(crate) fn cpu<'a, T>(
    row: impl Fn(&T) -> &'a RowReport + Copy + 'a,
    reference: &'a str,
) -> Columns<'a, T> {
    Columns::new()
        .estimate(Unit::Times, "cpu_ratio", "CPU of reference", move |of| cpu_ratio(row(of), reference))
        .with(|column: Column| column.interval_priority(85))
        .help("CPU per request related to the reference's in the same block, with a 95% interval")
        .estimate(Unit::Nanoseconds, "cpu_ns_per_request", "CPU/request", move |of| row(of).cpu_ns_per_request)
        .with(|column| column.interval_priority(LAST))
        .help("CPU time of the service's processes for each answer; the mean of the blocks, with a 95% interval")
}

/// The ratio of the cost at the first rate that is the same for all. It is in the data only, because a
/// section of its own shows it.
pub(crate) fn cpu_at_rate<'a, T>(row: impl Fn(&T) -> &'a RowReport + Copy + 'a) -> Columns<'a, T> {
    Columns::new()
        .estimate(Unit::Times, "cpu_ratio_at_rate", "CPU at equal rate", move |of| {
            row(of).cost_at_rates.first()?.cpu_ratio
        })
        .help("CPU per request related to the reference's, both at the same rate and not saturated")
        .all_hidden()
}
