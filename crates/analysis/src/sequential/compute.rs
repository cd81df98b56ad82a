//! From the records of a sequential experiment to its report.

use super::{
    CellReport, PointReport, SequentialReport, check,
    rounds::{Round, sound},
};
use crate::{
    estimate::{UnitEstimate, middle},
    findings::{Finding, RowIssue, RunIssue, SlowLink},
    interleaved::notes::{damaged, noisy_host, share_taken},
};
use tare_bench::{
    folder::StoredRun,
    plan::{LoadSpec, Plan, PlannedRow, Point},
    record::{Record, ending},
    sample::{LinkUsage, LoadResult, Sample, SampleOutcome},
};
use tare_host::process::CpuUnknown;

/// Users with think times count as at their ceiling if they wait for less than this share of the time.
const WAITING_SHARE_MAX: f64 = 0.1;

/// The report of a run folder that was read.
pub fn compute(stored: &StoredRun) -> SequentialReport {
    let plan = &stored.header.plan;
    let cells: Vec<&Sample> = samples(stored).collect();
    let mut points: Vec<PointReport> =
        (0..plan.points.len()).map(|point| point_report(plan, point, &cells)).collect();
    relate_to_reference(plan, &mut points);
    let elapsed_ns = stored.records.iter().rev().find_map(|record| match record {
        Record::Ended(ended) => Some(ended.elapsed_ns),
        _ => None,
    });
    let mut report = SequentialReport {
        experiment: plan.experiment.clone(),
        title: plan.title.clone(),
        layout: plan.publication.layout,
        published: plan.publication.figures.clone(),
        began: stored.header.began.clone(),
        scale: plan.publication.scale,
        ending: ending(&stored.records).map(|(reason, _)| reason),
        elapsed_ns: elapsed_ns.unwrap_or(0),
        cells: (cells.len(), plan.samples()),
        rows: plan.rows.clone(),
        points,
        claims: Vec::new(),
        findings: issues(stored).into_iter().map(Finding::of_run).collect(),
    };
    report.claims = check::evaluate(&report, &plan.publication.checks);
    report
}

/// Samples with valid indices.
fn samples(stored: &StoredRun) -> impl Iterator<Item = &Sample> {
    let plan = &stored.header.plan;
    let samples = stored.records.iter().filter_map(Record::sample);
    samples.filter(|sample| sample.point < plan.points.len() && sample.row < plan.rows.len())
}

fn point_report(plan: &Plan, place: usize, cells: &[&Sample]) -> PointReport {
    let point = &plan.points[place];
    let members = plan.members_at(point);
    let of_row = |row: usize| {
        let own = cells.iter().filter(|sample| sample.point == place && sample.row == row);
        cell_report(plan, point, row, &own.copied().collect::<Vec<_>>())
    };
    PointReport { point: point.clone(), cells: members.map(of_row).collect() }
}

fn cell_report(plan: &Plan, point: &Point, row: usize, samples: &[&Sample]) -> CellReport {
    let ended = samples.iter().filter(|sample| sample.is_measured());
    let by_round: Vec<Round> = ended.map(|sample| Round::of(plan, sample)).collect();
    let some = |what: fn(&SampleOutcome) -> Option<String>| {
        let with = samples.iter().find_map(|sample| what(&sample.outcome))?;
        let times = samples.iter().filter(|sample| what(&sample.outcome).is_some()).count();
        Some(match samples.len() {
            1 => with,
            all => format!("{with} ({times} of {all} rounds)"),
        })
    };
    let of = |rounds: &[&Round], value: &dyn Fn(&Sample) -> Option<f64>| {
        UnitEstimate::of(&rounds.iter().filter_map(|round| value(&round.sample)).collect::<Vec<f64>>())
    };
    let (every, sound) = (by_round.iter().collect::<Vec<_>>(), sound(&by_round));
    let hung = some(|outcome| match outcome {
        SampleOutcome::Hung(hung) => Some(hung.to_string()),
        _ => None,
    });
    let ends_by_number = point.load.requests().is_some();
    // If no round counts, the row's reason is shown beside it, with the invalid rounds.
    let shown = if sound.is_empty() { &every } else { &sound };
    let times: Vec<f64> = shown.iter().map(|round| principal(&round.sample, ends_by_number)).collect();
    let is_whole = hung.is_none();
    CellReport {
        row,
        rounds: by_round.len(),
        per_second: of(&sound, &|sample| Some(sample.load.per_second())).filter(|_| is_whole),
        of_reference: None,
        makespan_ns: of(&sound, &|sample| Some(sample.load.elapsed_ns as f64))
            .filter(|_| ends_by_number && is_whole),
        cpu_ns_per_request: of(&every, &|sample| sample.cost()?.per_request()),
        typical: middle(&times).map(|place| shown[place].sample.clone()),
        hung,
        failed: some(|outcome| match outcome {
            SampleOutcome::Failed { reason } => Some(reason.clone()),
            _ => None,
        }),
        load_bound: load_bound(point, &sound).filter(|_| plan.rows[row].known_failure.is_none()),
        invalid: invalid(&by_round),
        failures: failures(&by_round),
        by_round,
    }
}

/// The first reason why rounds are invalid, wrong answers before all others, and their number.
fn invalid(by_round: &[Round]) -> Option<RowIssue> {
    let all = || by_round.iter().filter_map(|round| round.invalid.clone());
    let first = all().min_by_key(|issue| !matches!(issue, RowIssue::WrongAnswers { .. }))?;
    Some(match by_round.len() {
        1 => first,
        rounds => RowIssue::RoundsInvalid { invalid: all().count(), rounds, first: Box::new(first) },
    })
}

/// Wrong and missing answers over all rounds.
fn failures(by_round: &[Round]) -> Option<RowIssue> {
    let loads = || by_round.iter().map(|round| &round.sample.load);
    let sum = |of: fn(&LoadResult) -> u64| loads().map(of).sum::<u64>();
    let (failed, sent) = (sum(LoadResult::failures), sum(|load| load.sent));
    let first = || loads().find_map(|load| load.first_failure.clone());
    (failed > 0).then(|| RowIssue::SomeFailed { failed, sent, first: first() })
}

/// The sort key for the rounds of a cell.
fn principal(sample: &Sample, ends_by_number: bool) -> f64 {
    if ends_by_number { sample.load.elapsed_ns as f64 } else { sample.load.per_second() }
}

/// Little's law: N users with think time Z send N / (Z + R) requests per second; a short R hardly matters.
fn load_bound(point: &Point, rounds: &[&Round]) -> Option<RowIssue> {
    let LoadSpec::Closed { connections, think_ns: Some((least, most)), .. } = point.load else {
        return None;
    };
    let think_ns = (least as f64 + most as f64) / 2.0;
    let waited: Vec<f64> = rounds.iter().map(|round| round.sample.load.latency.ns_mean).collect();
    let mean_ns = waited.iter().sum::<f64>() / waited.len().max(1) as f64;
    let share = mean_ns / (mean_ns + think_ns);
    let ceiling = connections as f64 * 1e9 / think_ns;
    (!rounds.is_empty() && share < WAITING_SHARE_MAX).then_some(RowIssue::LoadBound {
        users: connections,
        ceiling_per_second: ceiling,
        waited_share: share,
    })
}

fn relate_to_reference(plan: &Plan, points: &mut [PointReport]) {
    let Some(reference) = &plan.reference else { return };
    let Some(row) = plan.rows.iter().position(|row| row.label == *reference) else { return };
    let series = |cell: &CellReport| -> Vec<(usize, f64)> {
        let sound = sound(&cell.by_round).into_iter();
        sound.map(|round| (round.sample.round, round.sample.load.per_second())).collect()
    };
    for point in points {
        let Some(base) = point.cell(row).filter(|cell| cell.per_second.is_some()).map(series) else {
            continue;
        };
        for cell in point.cells.iter_mut().filter(|cell| cell.per_second.is_some()) {
            cell.of_reference = UnitEstimate::of_ratio(&series(cell), &base);
        }
    }
}

/// The slow links and their behaviour.
fn slow_link(stored: &StoredRun) -> Option<RunIssue> {
    let measured = samples(stored).filter(|sample| sample.is_measured());
    let links: Vec<&LinkUsage> = measured.filter_map(|sample| sample.host.link.as_ref()).collect();
    let first = links.first()?;
    let sum = |of: fn(&LinkUsage) -> u64| links.iter().map(|link| of(link)).sum::<u64>();
    let packets = sum(|link| link.packets).max(1);
    let cpu_ns = || sum(|link| link.cpu_ns.unwrap_or(0)) as f64;
    let late: Vec<f64> = links.iter().map(|link| link.late_ns_p99 as f64).collect();
    Some(RunIssue::SlowLink(SlowLink {
        kind: first.kind.clone(),
        cpu_ns_per_packet: first.cpu_ns.map(|_| cpu_ns() / packets as f64),
        packets,
        lost: sum(|link| link.lost),
        dropped: sum(|link| link.dropped),
        late_ns_p99: middle(&late).map_or(0.0, |place| late[place]),
    }))
}

/// One issue per row.
fn served_by_others(stored: &StoredRun) -> Vec<RunIssue> {
    let of_row = |(place, row): (usize, &PlannedRow)| {
        let owner = samples(stored)
            .filter(|sample| sample.row == place)
            .find_map(|sample| sample.host.cpu_unknown.clone());
        match owner? {
            CpuUnknown::ServedBy(owner) => Some(RunIssue::ServedByOther { row: row.label.clone(), owner }),
            // Published experiments start all of their services, so other unknown CPU time has no issue here.
            CpuUnknown::Unseen(_) | CpuUnknown::Unwaited(_) => None,
        }
    };
    stored.header.plan.rows.iter().enumerate().filter_map(of_row).collect()
}

fn issues(stored: &StoredRun) -> Vec<RunIssue> {
    let plan = &stored.header.plan;
    let measured = samples(stored).filter(|sample| sample.is_measured());
    let taken = measured.filter_map(|sample| Some((sample.host.foreign_cpu_ns?, sample.load.elapsed_ns)));
    let mut issues = Vec::from_iter(noisy_host(share_taken(&plan.pinning, taken)));
    issues.extend(
        (plan.publication.scale != 1.0).then_some(RunIssue::Scaled { scale: plan.publication.scale }),
    );
    let other = plan.points.iter().find(|point| point.load != *point.published());
    issues.extend(other.map(|point| RunIssue::OtherLoad {
        here: point.load.describe(),
        published: point.published().describe(),
    }));
    issues.extend((!plan.pinning.apart()).then_some(RunIssue::SharedCpus));
    let cpus = plan.pinning.generator.len();
    let threads = plan.points.iter().map(|point| point.load.connections().threads).max().unwrap_or(0);
    issues.extend((threads > cpus).then_some(RunIssue::GeneratorShared { threads, cpus }));
    let others = plan.rows.iter().filter_map(|row| Some((row.label.clone(), row.threads?)));
    issues.extend(others.map(|(row, threads)| RunIssue::OtherThreads { row, threads }));
    issues.extend(served_by_others(stored));
    issues.extend(slow_link(stored));
    issues.extend(damaged(&stored.damage));
    issues
}
