//! Collects the figures for other tools from a stored run. Invalid figures are left out for all formats.

use std::collections::BTreeMap;

use tare_analysis::{
    analysis::{Analysis, Answer},
    capacity::{SloReport, SloRow},
    estimate::UnitEstimate,
    interleaved::{OpenLatency, RatioBound, RowReport, RowState},
    loads::AtLoad,
    series,
    status::Status,
};
use tare_bench::{folder::StoredRun, metric::Metric, plan::Plan};

use super::{
    BlockLevels, ExportSubject, LeftOut, Level,
    measure::{
        BACKING_CPU, BACKING_MEMORY, CAPACITY, CPU, CPU_RATIO, ExportedMeasure, KERNEL_CPU, LATENCY_P50,
        LATENCY_P99, PEAK_MEMORY, START_UP, THROUGHPUT, THROUGHPUT_RATIO, TOTAL_CPU, USER_CPU,
    },
};

/// The measures that have a value in each block.
static OF_BLOCKS: [(&ExportedMeasure, Metric); 4] = [
    (&CPU, Metric::Cpu),
    (&THROUGHPUT, Metric::Throughput),
    (&LATENCY_P99, Metric::P99),
    (&PEAK_MEMORY, Metric::Rss),
];

/// `None` for a published experiment.
pub(super) fn gathered(run: &StoredRun) -> Option<(Vec<ExportSubject>, Status, Vec<LeftOut>)> {
    let analysis = Analysis::of(run);
    let (subjects, left_out) = match &analysis.answer {
        Answer::Tables(loads) | Answer::Comparison(_, loads) => of_loads(run, loads),
        Answer::Capacity(report) => of_capacity(run, report),
        Answer::Claims(_) => return None,
    };
    Some((subjects, analysis.status, left_out))
}

fn of_loads(run: &StoredRun, loads: &[AtLoad]) -> (Vec<ExportSubject>, Vec<LeftOut>) {
    let (mut subjects, mut left_out) = (Vec::new(), Vec::new());
    for at in loads {
        let kept = run.at_load(at.place);
        let load = (loads.len() > 1).then(|| at.load.label());
        for row in &at.report.rows {
            left_out
                .extend(reason(row).map(|reason| LeftOut { row: named(&row.label, load.as_ref()), reason }));
            if row.state == RowState::Measured {
                subjects.push(closed_loop(&kept, row, load.clone()));
                subjects.extend(row.latency_open.iter().filter_map(|at| open_loop(&kept, row, at)));
            }
        }
    }
    subjects.retain(|subject| !subject.levels.is_empty());
    (subjects, left_out)
}

fn named(row: &str, load: Option<&String>) -> String {
    load.map_or_else(|| row.to_owned(), |load| format!("{row} at {load}"))
}

/// Why a row has no figures, or no throughput.
fn reason(row: &RowReport) -> Option<String> {
    let reason = row.reason()?;
    match row.state {
        RowState::Measured => Some(format!("no throughput: {reason}")),
        _ => Some(reason),
    }
}

fn subject(run: &StoredRun, row: (&str, Option<&String>), load: Option<String>) -> ExportSubject {
    let plan = &run.header.plan;
    let (service, version) = row;
    let place = plan.rows.iter().position(|planned| planned.label == service);
    ExportSubject {
        service: service.to_owned(),
        version: version.cloned(),
        contract: plan.contract().to_owned(),
        load,
        threads: place.map_or(1, |place| plan.service_settings(place, 0).threads),
        levels: Vec::new(),
        blocks: BTreeMap::new(),
    }
}

fn closed_loop(run: &StoredRun, row: &RowReport, load: Option<String>) -> ExportSubject {
    // A ratio that is only a bound is no figure.
    let ratio = row.ratio.filter(|_| row.throughput_bound == RatioBound::Exact);
    let modes = row.cpu_ns_by_mode().map(|modes| modes.map(UnitEstimate::known));
    let backing = row.backing.as_ref();
    let found = [
        (&CPU, row.cpu_ns_per_request),
        (&CPU_RATIO, row.cpu_ratio),
        (&USER_CPU, modes.map(|[user, _]| user)),
        (&KERNEL_CPU, modes.map(|[_, kernel]| kernel)),
        (&BACKING_CPU, backing.map(|of| of.cpu_ns_per_request)),
        (&TOTAL_CPU, backing.and_then(|of| of.total_cpu_ns_per_request)),
        (&THROUGHPUT, row.requests_per_second),
        (&THROUGHPUT_RATIO, ratio),
        (&LATENCY_P50, row.latency_ns_p50),
        (&LATENCY_P99, row.latency_ns_p99),
        (&PEAK_MEMORY, row.rss_bytes_peak),
        (&BACKING_MEMORY, backing.and_then(|of| of.rss_bytes)),
        (&START_UP, row.start_up_ns),
    ];
    let levels = levels(found);
    let blocks = blocks(run, &row.label, &levels);
    ExportSubject { levels, blocks, ..subject(run, (&row.label, row.version.as_ref()), load) }
}

/// `None` if the figure is in doubt, or a lower bound.
fn open_loop(run: &StoredRun, row: &RowReport, at: &OpenLatency) -> Option<ExportSubject> {
    let is_known = at.doubt.is_none() && !at.at_least;
    let cost = row.cost_at_rates.iter().find(|cost| cost.rate == at.point);
    let found = [
        (&CPU, cost.map(|cost| cost.cpu_ns_per_request)),
        (&CPU_RATIO, cost.and_then(|cost| cost.cpu_ratio)),
        (&BACKING_CPU, cost.and_then(|cost| cost.backing_cpu_ns_per_request)),
        (&LATENCY_P50, at.p50_ns),
        (&LATENCY_P99, at.p99_ns),
    ];
    let of = subject(run, (&row.label, row.version.as_ref()), Some(at.point.clone()));
    is_known.then(|| ExportSubject { levels: levels(found), ..of })
}

/// The levels without missing and infinite values; an infinite bound of an interval is dropped.
fn levels<const N: usize>(found: [(&'static ExportedMeasure, Option<UnitEstimate>); N]) -> Vec<Level> {
    let finite = |end: Option<f64>| end.filter(|end| end.is_finite());
    let level = |(measure, estimate): (&'static ExportedMeasure, Option<UnitEstimate>)| {
        let estimate = estimate.filter(|estimate| estimate.value.is_finite())?;
        let (low, high) = (finite(estimate.low), finite(estimate.high));
        Some(Level { measure, estimate: UnitEstimate { low, high, ..estimate } })
    };
    found.into_iter().filter_map(level).collect()
}

/// The blocks of a row, with the measures for which the row has a valid level.
fn blocks(run: &StoredRun, label: &str, levels: &[Level]) -> BTreeMap<usize, BlockLevels> {
    let plan = &run.header.plan;
    // Without the open loops, whose latency would be taken for that of a block.
    let plan = Plan { points: plan.points[..1].to_vec(), ..plan.clone() };
    let answers = series::answers(&plan, &run.records, label);
    let mut blocks: BTreeMap<usize, BlockLevels> = answers
        .into_iter()
        .map(|(block, answers)| (block, BlockLevels { answers, values: Vec::new() }))
        .collect();
    let is_valid = |measure: &ExportedMeasure| levels.iter().any(|level| level.measure == measure);
    for (measure, metric) in OF_BLOCKS.iter().filter(|(measure, _)| is_valid(measure)) {
        for (block, value) in series::of(&plan, &run.records, label, *metric) {
            blocks.entry(block).or_default().values.push((*measure, value));
        }
    }
    blocks.retain(|_, block| block.answers > 0 && !block.values.is_empty());
    blocks
}

fn of_capacity(run: &StoredRun, report: &SloReport) -> (Vec<ExportSubject>, Vec<LeftOut>) {
    let (mut subjects, mut left_out) = (Vec::new(), Vec::new());
    for row in &report.rows {
        // The highest rate that was tried is no capacity.
        let capacity = row.capacity.filter(|_| row.state == RowState::Measured && row.bound.is_none());
        let levels = levels([(&CAPACITY, capacity)]);
        if levels.is_empty() {
            left_out.push(LeftOut { row: row.label.clone(), reason: why_none(row) });
        } else {
            let of = subject(run, (&row.label, row.version.as_ref()), Some(report.slo.clone()));
            subjects.push(ExportSubject { levels, ..of });
        }
    }
    (subjects, left_out)
}

fn why_none(row: &SloRow) -> String {
    row.reason().unwrap_or_else(|| "every rate held that was tried: the capacity is higher".to_owned())
}

#[cfg(test)]
mod tests {
    use tare_bench::record::Record;

    use super::*;
    use crate::gather::fixture;

    fn of(run: &StoredRun) -> (Vec<ExportSubject>, Vec<LeftOut>) {
        let (subjects, _, left_out) = gathered(run).unwrap();
        (subjects, left_out)
    }

    fn names(subject: &ExportSubject) -> Vec<&str> {
        subject.levels.iter().map(|level| level.measure.name).collect()
    }

    #[test]
    fn what_failed_or_took_no_part_is_left_out_with_its_reason() {
        let (subjects, left_out) = of(&fixture::kept(8));
        let services: Vec<&str> = subjects.iter().map(|subject| subject.service.as_str()).collect();
        assert!(!services.contains(&"dying") && !services.contains(&"absent"), "{services:?}");
        let left_out: Vec<String> = left_out.iter().map(ToString::to_string).collect();
        assert!(left_out.iter().any(|reason| reason.starts_with("dying: ")), "{left_out:?}");
        assert!(
            left_out.iter().any(|reason| reason.starts_with("absent: not on this machine")),
            "{left_out:?}"
        );
    }

    #[test]
    fn a_database_has_measures_and_each_is_there_once() {
        let measures = |run: &StoredRun| -> Vec<String> {
            let (subjects, _) = of(run);
            let asio = subjects.iter().find(|of| of.service == "asio" && of.load.is_none()).unwrap();
            names(asio).into_iter().map(str::to_owned).collect()
        };
        let [without, with] = [fixture::kept(8), fixture::kept_with_database(8)].map(|run| measures(&run));
        let more: Vec<&String> = with.iter().filter(|name| !without.contains(name)).collect();
        let expected = [
            "user-cpu-per-request",
            "kernel-cpu-per-request",
            "backing-cpu-per-request",
            "total-cpu-per-request",
            "backing-memory",
        ];
        assert_eq!(more, expected);
        assert_eq!(with.len(), without.len() + expected.len());
    }

    #[test]
    fn a_throughput_that_is_not_valid_is_in_no_level_and_in_no_block() {
        let mut run = fixture::kept(8);
        let axum = run.header.plan.rows.iter().position(|row| row.label == "axum").unwrap();
        for record in &mut run.records {
            if let Record::Sample(sample) = record
                && sample.row == axum
            {
                let window_ns = sample.load.window_ns;
                (sample.host.server_cpu_ns, sample.host.generator_cpu_ns) = (window_ns / 2, window_ns);
            }
        }
        let (subjects, left_out) = of(&run);
        let axum = subjects.iter().find(|of| of.service == "axum" && of.load.is_none()).unwrap();
        assert!(!names(axum).contains(&"throughput") && names(axum).contains(&"cpu-per-request"), "{axum:?}");
        let measures = axum.blocks.values().flat_map(|block| &block.values);
        assert!(measures.clone().all(|(measure, _)| measure.name != "throughput"));
        assert!(measures.count() > 0);
        assert!(left_out.iter().any(|of| of.row == "axum" && of.reason.starts_with("no throughput: ")));
    }

    #[test]
    fn a_block_has_the_values_that_the_tables_are_made_of() {
        let (subjects, _) = of(&fixture::kept(8));
        let asio = subjects.iter().find(|of| of.service == "asio" && of.load.is_none()).unwrap();
        assert_eq!(asio.blocks.len(), 8);
        for measure in [&CPU, &THROUGHPUT] {
            let level = asio.levels.iter().find(|level| level.measure == measure).unwrap().estimate.value;
            let values = asio.blocks.values().flat_map(|block| &block.values);
            let logs: Vec<f64> =
                values.filter(|(of, _)| *of == measure).map(|(_, value)| value.ln()).collect();
            let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            assert!((mean / level - 1.0).abs() < 1e-9, "{}: {mean} and {level}", measure.name);
        }
    }

    #[test]
    fn what_is_not_finite_is_no_level() {
        let end = |value| {
            Some(UnitEstimate { low: Some(f64::NEG_INFINITY), high: Some(2.0), ..UnitEstimate::known(value) })
        };
        let found = levels([(&CPU, end(1.0)), (&THROUGHPUT, end(f64::NAN)), (&START_UP, None)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].estimate.low, found[0].estimate.high), (None, Some(2.0)));
    }
}
