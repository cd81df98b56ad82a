//! The exported measures: each has its names, its unit and its direction, declared once for all formats.

use tare_stats::Better;

#[derive(Debug, PartialEq, Eq)]
pub struct ExportedMeasure {
    /// A unique and stable name in kebab case: `cpu-per-request`.
    pub name: &'static str,
    /// The name for people: `CPU per request`.
    pub title: &'static str,
    pub quantity: Quantity,
    pub better: Better,
    /// The unit in the Go benchmark format; `None` if blocks have no values of their own.
    pub go_unit: Option<&'static str>,
    pub help: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    Nanoseconds,
    Bytes,
    RequestsPerSecond,
    /// The value divided by that of the reference, paired by block.
    Ratio,
}

impl Quantity {
    /// The unit in the header of a column, and after a value.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Nanoseconds => "ns",
            Quantity::Bytes => "bytes",
            Quantity::RequestsPerSecond => "requests/s",
            Quantity::Ratio => "ratio",
        }
    }

    /// The base unit of OpenMetrics, which is the suffix of a name, and `value` in that unit.
    pub(crate) fn in_base_unit(self, value: f64) -> (&'static str, f64) {
        match self {
            Quantity::Nanoseconds => ("seconds", value / 1e9),
            Quantity::Bytes => ("bytes", value),
            Quantity::RequestsPerSecond => ("requests_per_second", value),
            Quantity::Ratio => ("ratio", value),
        }
    }
}

pub(super) static CPU: ExportedMeasure = ExportedMeasure {
    name: "cpu-per-request",
    title: "CPU per request",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: Some("CPU-ns/op"),
    help: "CPU time of the service's processes for each answer.",
};

pub(super) static CPU_RATIO: ExportedMeasure = ExportedMeasure {
    name: "cpu-per-request-ratio",
    title: "CPU per request / reference",
    quantity: Quantity::Ratio,
    better: Better::Lower,
    go_unit: None,
    help: "CPU time for each answer, divided by that of the reference in the same blocks.",
};

pub(super) static USER_CPU: ExportedMeasure = ExportedMeasure {
    name: "user-cpu-per-request",
    title: "CPU per request, user mode",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: None,
    help: "CPU time per request of a service that works with a database or the like: its part in user mode, by ticks.",
};

pub(super) static KERNEL_CPU: ExportedMeasure = ExportedMeasure {
    name: "kernel-cpu-per-request",
    title: "CPU per request, kernel",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: None,
    help: "CPU time per request of a service that works with a database or the like: its part in the kernel, by ticks.",
};

pub(super) static BACKING_CPU: ExportedMeasure = ExportedMeasure {
    name: "backing-cpu-per-request",
    title: "Backing CPU per request",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: None,
    help: "CPU time of what the service works with, such as a database, for each answer.",
};

pub(super) static TOTAL_CPU: ExportedMeasure = ExportedMeasure {
    name: "total-cpu-per-request",
    title: "CPU per request with backing",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: None,
    help: "CPU time of the service and of what it works with for each answer.",
};

pub(super) static BACKING_MEMORY: ExportedMeasure = ExportedMeasure {
    name: "backing-memory",
    title: "Backing RSS",
    quantity: Quantity::Bytes,
    better: Better::Lower,
    go_unit: None,
    help: "The most resident memory, after a slice, of what the service works with.",
};

pub(super) static THROUGHPUT: ExportedMeasure = ExportedMeasure {
    name: "throughput",
    title: "Throughput",
    quantity: Quantity::RequestsPerSecond,
    better: Better::Higher,
    go_unit: Some("req/s"),
    help: "Right answers per second in a closed loop.",
};

pub(super) static THROUGHPUT_RATIO: ExportedMeasure = ExportedMeasure {
    name: "throughput-ratio",
    title: "Throughput / reference",
    quantity: Quantity::Ratio,
    better: Better::Higher,
    go_unit: None,
    help: "Throughput, divided by that of the reference in the same blocks.",
};

pub(super) static LATENCY_P50: ExportedMeasure = ExportedMeasure {
    name: "latency-p50",
    title: "Latency p50",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: None,
    help: "Median latency.",
};

pub(super) static LATENCY_P99: ExportedMeasure = ExportedMeasure {
    name: "latency-p99",
    title: "Latency p99",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: Some("p99-ns"),
    help: "99th percentile of latency.",
};

pub(super) static PEAK_MEMORY: ExportedMeasure = ExportedMeasure {
    name: "peak-memory",
    title: "Peak RSS",
    quantity: Quantity::Bytes,
    better: Better::Lower,
    go_unit: Some("RSS-B"),
    help: "Peak resident memory of the service's processes.",
};

pub(super) static START_UP: ExportedMeasure = ExportedMeasure {
    name: "start-up",
    title: "Start-up",
    quantity: Quantity::Nanoseconds,
    better: Better::Lower,
    go_unit: None,
    help: "Time from exec to the first right answer.",
};

pub(super) static CAPACITY: ExportedMeasure = ExportedMeasure {
    name: "capacity",
    title: "Capacity",
    quantity: Quantity::RequestsPerSecond,
    better: Better::Higher,
    go_unit: None,
    help: "The highest rate that holds the SLO.",
};

/// All measures, in the order of the formats.
pub static MEASURES: [&ExportedMeasure; 14] = [
    &CPU,
    &CPU_RATIO,
    &USER_CPU,
    &KERNEL_CPU,
    &BACKING_CPU,
    &TOTAL_CPU,
    &THROUGHPUT,
    &THROUGHPUT_RATIO,
    &LATENCY_P50,
    &LATENCY_P99,
    &PEAK_MEMORY,
    &BACKING_MEMORY,
    &START_UP,
    &CAPACITY,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_name_is_one_measures_and_a_slug_that_bencher_takes() {
        let names: BTreeSet<&str> = MEASURES.iter().map(|measure| measure.name).collect();
        assert_eq!(names.len(), MEASURES.len());
        let is_slug = |name: &str| {
            let parts = || name.split('-');
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            name.len() <= 64 && parts().all(|part| !part.is_empty() && part.bytes().all(is_plain))
        };
        assert!(names.iter().all(|name| is_slug(name)), "{names:?}");
    }

    #[test]
    fn a_unit_of_go_is_one_measures() {
        let units: Vec<&str> = MEASURES.iter().filter_map(|measure| measure.go_unit).collect();
        assert_eq!(units.iter().collect::<BTreeSet<_>>().len(), units.len());
    }
}
