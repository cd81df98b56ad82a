//! Scalability: each service relative to itself with the fewest threads, and the universal scalability law.

use tare_bench::{folder::StoredRun, metric::Metric};
use tare_load::Protocol;
use tare_stats::{
    DEFAULT_CONFIDENCE,
    scalability::{Law, Misfit, Peak, ScalabilityError, scalability},
};

use super::{Report, RowReport, RowState, blocks, relation::relate, row::TableRow};
use crate::{estimate::UnitEstimate, verdict::Verdict};

/// A service over its numbers of threads.
#[derive(Debug, Clone)]
pub struct Scaling {
    /// Name of its rows without the number of threads.
    pub service: String,
    pub language: String,
    /// In ascending order, including excluded rows.
    pub points: Vec<AtThreads>,
    /// The law over points with a valid throughput, or the reason for its absence.
    pub law: Result<FittedLaw, ScalabilityError>,
}

/// A service with one number of threads.
#[derive(Debug, Clone)]
pub struct AtThreads {
    pub label: String,
    pub threads: usize,
    /// Threads of the generator; absent for an excluded row.
    pub generator_threads: Option<usize>,
    pub state: RowState,
    /// Whether its figures are valid.
    pub verdict: Verdict,
    /// Why it has no figures, or no throughput.
    pub reason: Option<String>,
    pub requests_per_second: Option<UnitEstimate>,
    pub cpu_ns_per_request: Option<UnitEstimate>,
    /// Throughput divided by its own with the fewest threads, paired by block.
    pub speed_up: Option<UnitEstimate>,
    /// The speed-up divided by the ratio of thread numbers.
    pub efficiency: Option<UnitEstimate>,
    /// CPU per request divided by its own with the fewest threads, paired by block.
    pub cpu_to_first: Option<UnitEstimate>,
    pub server_cpu_share: Option<f64>,
    pub blocks: usize,
}

/// The law that fits the points of a service best.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedLaw {
    pub law: Law,
    /// Throughput of one thread.
    pub lambda: UnitEstimate,
    /// Contention.
    pub sigma: UnitEstimate,
    /// Coherence.
    pub kappa: UnitEstimate,
    pub peak: Peak,
    pub misfit: Misfit,
    /// The numbers of threads in the fit.
    pub threads: Vec<usize>,
    /// Number of independent parts of the run behind its intervals.
    pub parts: usize,
}

impl FittedLaw {
    /// Shares of thread time with `n` threads: useful work, contention and coherence. They add up to 1.
    pub fn shares(&self, n: usize) -> [f64; 3] {
        let n = n as f64;
        let parts = [1.0, self.law.sigma * (n - 1.0), self.law.kappa * n * (n - 1.0)];
        let all: f64 = parts.iter().sum();
        parts.map(|part| part / all)
    }

    /// The largest number of threads in the fit.
    pub fn most(&self) -> usize {
        self.threads.iter().copied().max().unwrap_or(1)
    }
}

/// A row with the number of its threads.
type Point<'a> = (usize, TableRow<'a>);

/// One entry per service, in the order of the plan; empty for a run with one number of threads.
pub fn scalings(stored: &StoredRun, report: &Report) -> Vec<Scaling> {
    let plan = &stored.header.plan;
    if plan.threads_planned().is_empty() {
        return Vec::new();
    }
    let mut services: Vec<(&str, Protocol)> = Vec::new();
    let mut found: Vec<Vec<Point>> = Vec::new();
    for ((place, planned), blocks) in plan.rows.iter().enumerate().zip(blocks::of_rows(stored)) {
        // The twin is not a row of the report.
        let row = report.rows.iter().find(|row| row.label == planned.label);
        let (Some(threads), Some(row)) = (planned.threads, row) else { continue };
        let point = (threads, TableRow { planned, row, blocks });
        let service = (plan.word(place), planned.protocol);
        match services.iter().position(|other| *other == service) {
            Some(place) => found[place].push(point),
            None => {
                services.push(service);
                found.push(vec![point]);
            }
        }
    }
    let of = |((word, _), mut points): (&(&str, Protocol), Vec<Point>)| {
        points.sort_by_key(|(threads, _)| *threads);
        Scaling {
            service: (*word).to_owned(),
            language: points[0].1.planned.language.clone(),
            law: law_of(&points),
            points: points.iter().map(|point| at_threads(point, &points[0], stored)).collect(),
        }
    };
    services.iter().zip(found).map(of).collect()
}

fn at_threads((threads, point): &Point, (fewest, first): &Point, stored: &StoredRun) -> AtThreads {
    let row = point.row;
    let looks = stored.header.plan.until.planned();
    let related = |metric: Metric, figure: fn(&RowReport) -> Option<UnitEstimate>| {
        let are_valid = figure(row).is_some() && figure(first.row).is_some();
        match are_valid {
            true if threads == fewest => Some(UnitEstimate::known(1.0)),
            true => relate(&point.blocks, &first.blocks, metric, looks.as_ref()),
            false => None,
        }
    };
    let speed_up = related(Metric::Throughput, |row| row.requests_per_second);
    let times = *threads as f64 / *fewest as f64;
    AtThreads {
        label: row.label.clone(),
        threads: *threads,
        generator_threads: point.planned.pinning.as_ref().map(|pinning| pinning.generator.len()),
        state: row.state.clone(),
        verdict: row.verdict(),
        reason: row.reason(),
        requests_per_second: row.requests_per_second,
        cpu_ns_per_request: row.cpu_ns_per_request,
        speed_up,
        efficiency: speed_up.map(|speed_up| speed_up.over(times)),
        cpu_to_first: related(Metric::Cpu, |row| row.cpu_ns_per_request),
        server_cpu_share: row.server_cpu_share(),
        blocks: row.blocks,
    }
}

/// Fits the points with valid throughput, over their common blocks.
fn law_of(points: &[Point]) -> Result<FittedLaw, ScalabilityError> {
    let is_valid = |(_, point): &&Point| {
        point.row.state == RowState::Measured && point.row.requests_per_second.is_some()
    };
    let points: Vec<&Point> = points.iter().filter(is_valid).collect();
    let threads: Vec<f64> = points.iter().map(|(threads, _)| *threads as f64).collect();
    let values = parts_of(&points);
    let found = scalability(&threads, &values, DEFAULT_CONFIDENCE)?;
    Ok(FittedLaw {
        law: found.law,
        lambda: UnitEstimate::plain(&found.lambda),
        sigma: UnitEstimate::plain(&found.sigma),
        kappa: UnitEstimate::plain(&found.kappa),
        peak: found.peak,
        misfit: found.misfit,
        threads: points.iter().map(|(threads, _)| *threads).collect(),
        parts: values.first().map_or(0, Vec::len),
    })
}

/// Throughput of each point in each independent part of the run, as a geometric mean over blocks. Blocks of
/// one process are dependent, so a new part begins where every point has a new process.
fn parts_of(points: &[&Point]) -> Vec<Vec<f64>> {
    let Some(first) = points.first() else { return Vec::new() };
    let is_common = |number: &&usize| points.iter().all(|(_, point)| point.blocks.contains_key(number));
    let common: Vec<usize> = first.1.blocks.keys().filter(is_common).copied().collect();
    let is_new = |pair: &[usize]| {
        points.iter().all(|(_, point)| point.blocks[&pair[0]].process != point.blocks[&pair[1]].process)
    };
    let mut parts: Vec<Vec<usize>> = common.first().map(|number| vec![*number]).into_iter().collect();
    for pair in common.windows(2) {
        match parts.last_mut() {
            Some(last) if !is_new(pair) => last.push(pair[1]),
            _ => parts.push(vec![pair[1]]),
        }
    }
    let of = |(_, point): &&Point| {
        let mean = |part: &Vec<usize>| {
            let logs = part.iter().map(|number| point.blocks[number].requests_per_second().ln());
            (logs.sum::<f64>() / part.len() as f64).exp()
        };
        parts.iter().map(mean).collect()
    };
    points.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{compute, tests::kept_with};
    use super::*;
    use tare_bench::{
        plan::{Excluded, Exclusion, cores_label},
        record::Record,
    };
    use tare_host::cpus::Pinning;

    const TRUTH: Law = Law { lambda: 1.0, sigma: 0.05, kappa: 0.004 };

    /// A service that follows a known law for these numbers of threads, with all of its CPUs busy.
    fn kept(rows: &[(&str, usize)], blocks: usize) -> StoredRun {
        let labels: Vec<String> = rows.iter().map(|(word, threads)| cores_label(word, *threads)).collect();
        let shares = rows.iter().map(|(_, threads)| TRUTH.at(*threads as f64));
        let rows_of: Vec<(&str, f64)> = labels.iter().map(String::as_str).zip(shares).collect();
        let mut stored = kept_with(&rows_of, blocks);
        let plan = &mut stored.header.plan;
        plan.reference = Some(labels[0].clone());
        for (row, (word, threads)) in plan.rows.iter_mut().zip(rows) {
            (row.service, row.threads) = ((*word).to_owned(), Some(*threads));
            let generator = (64 - threads..64).collect();
            row.pinning = Some(Pinning { server: (0..*threads).collect(), generator });
        }
        for record in &mut stored.records {
            if let Record::Sample(sample) = record {
                let threads = rows[sample.row].1 as u64;
                sample.host.server_cpu_ns *= threads;
                sample.host.generator_cpu_ns *= threads;
            }
        }
        stored
    }

    fn found(stored: &StoredRun) -> Vec<Scaling> {
        scalings(stored, &compute(stored))
    }

    const TO_16: [(&str, usize); 5] = [("one", 1), ("one", 2), ("one", 4), ("one", 8), ("one", 16)];

    #[test]
    fn speed_up_efficiency_and_the_law_are_those_of_the_service() {
        let found = found(&kept(&TO_16, 12));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.service.as_str(), one.points.len()), ("one", 5));
        for point in &one.points[1..] {
            let truth = TRUTH.at(point.threads as f64);
            let (low, high) = point.speed_up.unwrap().interval().unwrap();
            assert!(low < truth && truth < high && high / low < 1.05, "{point:?}");
            let efficiency = point.efficiency.unwrap();
            assert!((efficiency.value * point.threads as f64 / truth - 1.0).abs() < 0.02, "{efficiency:?}");
            assert_eq!(point.generator_threads, Some(point.threads));
            assert!(point.server_cpu_share.unwrap() < 1.0 + 1e-9, "of its own CPUs: {point:?}");
        }
        assert_eq!(one.points[0].speed_up, Some(UnitEstimate::known(1.0)));
        let law = one.law.as_ref().unwrap();
        for (estimate, truth) in [(law.sigma, TRUTH.sigma), (law.kappa, TRUTH.kappa)] {
            let (low, high) = estimate.interval().unwrap();
            assert!(low <= truth && truth <= high, "{estimate:?}");
        }
        assert!(matches!(law.peak, Peak::At { n, .. } if (n - TRUTH.peak().unwrap()).abs() < 2.0), "{law:?}");
        assert_eq!((law.most(), law.parts, law.threads.len()), (16, 12, 5));
        let [work, waits, agrees] = law.shares(16);
        assert!((work + waits + agrees - 1.0).abs() < 1e-12 && waits > agrees * 0.5);
    }

    #[test]
    fn what_is_not_valid_is_no_point_of_the_law() {
        let mut stored = kept(&TO_16, 12);
        for record in &mut stored.records {
            if let Record::Sample(sample) = record
                && sample.row == 4
            {
                // The generator was the limit.
                sample.host.server_cpu_ns /= 2;
                sample.host.generator_cpu_ns = 16 * 100_000_000;
            }
        }
        let found = found(&stored);
        let last = found[0].points.last().unwrap();
        assert_eq!((last.requests_per_second, last.speed_up), (None, None));
        assert!(last.reason.is_some() && last.cpu_to_first.is_some(), "{last:?}");
        assert_eq!(found[0].law.as_ref().unwrap().threads, [1, 2, 4, 8]);
    }

    #[test]
    fn too_few_points_have_no_law_and_say_so() {
        let mut stored = kept(&[("one", 1), ("one", 2), ("two", 1), ("two", 2)], 8);
        let reason = "2 threads of the service and 2 of the generator need 4 CPUs".to_owned();
        let plan = &mut stored.header.plan;
        plan.rows[3].excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason: reason.clone() });
        plan.rows[3].pinning = None;
        let found = found(&stored);
        let names: Vec<&str> = found.iter().map(|scaling| scaling.service.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        let errors: Vec<&ScalabilityError> =
            found.iter().map(|scaling| scaling.law.as_ref().unwrap_err()).collect();
        assert_eq!(*errors[0], ScalabilityError::TooFewPoints { found: 2, needed: 4 });
        assert_eq!(*errors[1], ScalabilityError::TooFewPoints { found: 1, needed: 4 });
        let out = &found[1].points[1];
        assert_eq!((out.reason.as_ref(), out.generator_threads), (Some(&reason), None));
    }

    #[test]
    fn blocks_of_one_process_are_one_part() {
        let mut stored = kept(&TO_16[..4], 12);
        // The process of the first row lasts for two blocks.
        let starts = |block: usize, row| tare_bench::record::Started { block, row, start_up_ns: None };
        let started = (0..12).flat_map(|block| {
            (0..4).filter(move |row| *row > 0 || block % 2 == 0).map(move |row| (block, row))
        });
        let mut records = Vec::new();
        let starts: Vec<_> = started.map(|(block, row)| starts(block, row)).collect();
        for record in stored.records {
            let block = match &record {
                Record::Block(block) => Some(block.block),
                _ => None,
            };
            records.push(record);
            let of_block = starts.iter().filter(|started| Some(started.block) == block);
            records.extend(of_block.map(|started| Record::Started(started.clone())));
        }
        stored.records = records;
        let found = found(&stored);
        assert_eq!(found[0].law.as_ref().unwrap().parts, 6);
    }

    #[test]
    fn a_run_with_one_number_of_threads_has_none() {
        assert!(found(&kept_with(&[("raw-socket", 1.0), ("one", 0.5)], 4)).is_empty());
    }
}
