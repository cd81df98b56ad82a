//! From the records of a grid to what is told of it.

use super::{
    CellReport, FORMAT, PointReport, Report, RowReport, check,
    estimate::{Estimate, middle},
    rounds::sound,
};
use crate::report::{
    figures::time,
    notes::{machine_noisy, share_taken},
};
use tare_bench::{
    grid::{
        plan::{GridPlan, GridPlanRow, Offered, Point},
        record::{CellRecord, Ending, Figures, LinkFigures, Outcome, Record},
    },
    run::folder::Kept,
};

/// Users that think are at their ceiling where they wait for less than this share of their time.
const WAITING_SHARE_MAX: f64 = 0.1;

/// The report of a run folder that was read.
pub fn compute(kept: &Kept<GridPlan, Record>) -> Report {
    let plan = &kept.header.plan;
    let cells: Vec<&CellRecord> = kept.records.iter().filter_map(cell_of).collect();
    let mut points: Vec<PointReport> =
        (0..plan.points.len()).map(|point| point_report(plan, point, &cells)).collect();
    relate_to_reference(plan, &mut points);
    let endings = kept.records.iter().filter_map(|record| match record {
        Record::Ended { reason, elapsed_ns } => Some((*reason, *elapsed_ns)),
        Record::Cell(_) => None,
    });
    let endings: Vec<(Ending, u64)> = endings.collect();
    let ended = matches!(kept.records.last(), Some(Record::Ended { .. }));
    let mut report = Report {
        format: FORMAT,
        experiment: plan.experiment.clone(),
        title: plan.title.clone(),
        question: plan.question.clone(),
        layout: plan.layout,
        published: plan.published.clone(),
        began: kept.header.began.clone(),
        scale: plan.scale,
        seed: plan.seed,
        cpus: plan.cpus,
        ending: endings.last().map(|(reason, _)| *reason).filter(|_| ended),
        elapsed_ns: endings.iter().map(|(_, elapsed_ns)| elapsed_ns).sum(),
        cells: (cells.len(), plan.cells()),
        rows: plan.rows.iter().map(row_report).collect(),
        points,
        claims: Vec::new(),
        notes: notes(kept),
        environment: kept.header.environment.clone(),
    };
    report.claims = check::judge(&report, &plan.checks);
    report
}

fn cell_of(record: &Record) -> Option<&CellRecord> {
    match record {
        Record::Cell(record) => Some(record),
        Record::Ended { .. } => None,
    }
}

fn row_report(row: &GridPlanRow) -> RowReport {
    RowReport {
        label: row.planned.label.clone(),
        published: row.published.clone(),
        version: row.planned.version.clone(),
        licence: row.planned.licence.clone(),
        excluded: row.planned.excluded.clone(),
        complaint: row.complaint.clone(),
        counted: row.counted.clone(),
    }
}

fn point_report(plan: &GridPlan, place: usize, cells: &[&CellRecord]) -> PointReport {
    let point = &plan.points[place];
    let members = plan.members(point);
    let of_row = |row: usize| {
        let own = cells.iter().filter(|record| record.cell.point == place && record.cell.row == row);
        cell_report(plan, point, row, &own.copied().collect::<Vec<_>>())
    };
    PointReport { point: point.clone(), cells: members.map(of_row).collect() }
}

fn cell_report(plan: &GridPlan, point: &Point, row: usize, records: &[&CellRecord]) -> CellReport {
    let ended =
        records.iter().filter_map(|record| Some((record.cell.round, record.outcome.figures()?.clone())));
    let by_round: Vec<(usize, Figures)> = ended.collect();
    let some = |what: fn(&Outcome) -> Option<&String>| {
        let with = records.iter().find_map(|record| what(&record.outcome))?;
        let times = records.iter().filter(|record| what(&record.outcome).is_some()).count();
        Some(if records.len() > 1 {
            format!("{with} ({times} of {} rounds)", records.len())
        } else {
            with.clone()
        })
    };
    let of = |rounds: &[&(usize, Figures)], value: &dyn Fn(&Figures) -> Option<f64>| {
        Estimate::of(&rounds.iter().filter_map(|(_, figures)| value(figures)).collect::<Vec<f64>>())
    };
    let (every, sound) = (by_round.iter().collect::<Vec<_>>(), sound(&by_round));
    let stuck = some(|outcome| match outcome {
        Outcome::Stuck { evidence, .. } => Some(evidence),
        _ => None,
    });
    let ends_by_number = point.offered.requests().is_some();
    // Where no round counts the row's reason stands beside it, and what went wrong is worth showing.
    let shown = if sound.is_empty() { &every } else { &sound };
    let times: Vec<f64> = shown.iter().map(|(_, figures)| principal(figures, ends_by_number)).collect();
    let is_whole = stuck.is_none();
    CellReport {
        row,
        rounds: by_round.len(),
        per_second: of(&sound, &|figures| Some(figures.per_second())).filter(|_| is_whole),
        of_reference: None,
        makespan_ns: of(&sound, &|figures| Some(figures.elapsed_ns as f64))
            .filter(|_| ends_by_number && is_whole),
        cpu_ns_per_request: of(&every, &Figures::cpu_ns_per_request),
        typical: middle(&times).map(|place| shown[place].1.clone()),
        stuck,
        failed: some(|outcome| match outcome {
            Outcome::Failed(reason) => Some(reason),
            _ => None,
        }),
        load_bound: load_bound(point, &sound).filter(|_| plan.rows[row].complaint.is_none()),
        trouble: trouble(&by_round),
        failures: failures(&by_round),
        by_round,
    }
}

/// The first reason why rounds tell nothing of it, and how many they are.
fn trouble(by_round: &[(usize, Figures)]) -> Option<String> {
    let troubled = || by_round.iter().filter_map(|(_, figures)| figures.trouble());
    let first = troubled().next()?;
    Some(match by_round.len() {
        1 => first,
        all => format!("{} of {all} rounds, the first: {first}", troubled().count()),
    })
}

/// Wrong and missing answers of all rounds, in a sentence.
fn failures(by_round: &[(usize, Figures)]) -> Option<String> {
    let sum = |of: fn(&Figures) -> u64| by_round.iter().map(|(_, figures)| of(figures)).sum::<u64>();
    let (failed, sent) = (sum(Figures::failures), sum(|figures| figures.sent));
    let first = by_round.iter().find_map(|(_, figures)| figures.first_failure.as_ref());
    let first = first.map_or(String::new(), |first| format!(", the first: {first}"));
    (failed > 0).then(|| format!("{failed} of {sent} requests failed{first}"))
}

/// What the rounds of a cell are put in order by.
fn principal(figures: &Figures, ends_by_number: bool) -> f64 {
    if ends_by_number { figures.elapsed_ns as f64 } else { figures.per_second() }
}

/// By Little's law N users who think for Z send N / (Z + R) requests a second: with a short R the service has no say in it.
fn load_bound(point: &Point, rounds: &[&(usize, Figures)]) -> Option<String> {
    let Offered::Closed { connections, think_ns: Some((least, most)), .. } = point.offered else {
        return None;
    };
    let think_ns = (least as f64 + most as f64) / 2.0;
    let waited: Vec<f64> = rounds.iter().map(|(_, figures)| figures.latency.ns_mean).collect();
    let mean_ns = waited.iter().sum::<f64>() / waited.len().max(1) as f64;
    let share = mean_ns / (mean_ns + think_ns);
    let ceiling = connections as f64 * 1e9 / think_ns;
    (!rounds.is_empty() && share < WAITING_SHARE_MAX).then(|| {
        let waited = share * 100.0;
        let ceiling = format!("{connections} users who think cannot pass {ceiling:.0}/s on average");
        format!("load-bound: {ceiling}, and they waited for {waited:.1}% of the time")
    })
}

fn relate_to_reference(plan: &GridPlan, points: &mut [PointReport]) {
    let Some(reference) = &plan.reference else { return };
    let Some(row) = plan.rows.iter().position(|row| row.planned.label == *reference) else { return };
    let series = |cell: &CellReport| -> Vec<(usize, f64)> {
        sound(&cell.by_round).into_iter().map(|(round, figures)| (*round, figures.per_second())).collect()
    };
    for point in points {
        let Some(base) = point.cell(row).filter(|cell| cell.per_second.is_some()).map(series) else {
            continue;
        };
        for cell in point.cells.iter_mut().filter(|cell| cell.per_second.is_some()) {
            cell.of_reference = Estimate::of_ratio(&series(cell), &base);
        }
    }
}

/// What each slow link was, and what it cost.
fn link_notes(kept: &Kept<GridPlan, Record>) -> Option<String> {
    let cells = kept.records.iter().filter_map(cell_of).filter_map(|cell| cell.outcome.figures());
    let links: Vec<&LinkFigures> = cells.filter_map(|figures| figures.link.as_ref()).collect();
    let first = links.first()?;
    let sum = |of: fn(&LinkFigures) -> u64| links.iter().map(|link| of(link)).sum::<u64>();
    let packets = sum(|link| link.packets).max(1);
    let cpu = match first.cpu_ns {
        Some(_) => {
            let each = time(sum(|link| link.cpu_ns.unwrap_or(0)) as f64 / packets as f64);
            format!(", took {each} of the generator's CPUs for each packet")
        }
        None => String::new(),
    };
    let late: Vec<f64> = links.iter().map(|link| link.late_ns_p99 as f64).collect();
    let late = time(middle(&late).map_or(0.0, |place| late[place]));
    Some(format!(
        "the slow link is {}{cpu}; {packets} packets, {} lost, {} dropped; 1% came out more than {late} late (median over cells)",
        first.kind,
        sum(|link| link.lost),
        sum(|link| link.dropped)
    ))
}

fn notes(kept: &Kept<GridPlan, Record>) -> Vec<String> {
    let plan = &kept.header.plan;
    let figures = kept.records.iter().filter_map(cell_of).filter_map(|cell| cell.outcome.figures());
    let taken = figures.filter_map(|figures| Some((figures.foreign_cpu_ns?, figures.elapsed_ns)));
    let mut notes = Vec::from_iter(machine_noisy(share_taken(&plan.pinning, taken)));
    if plan.scale != 1.0 {
        notes.push(format!(
            "done at scale {}: times, numbers of messages and of connections are that part of the published ones",
            plan.scale
        ));
    }
    if let Some(point) = plan.points.iter().find(|point| point.offered != point.published) {
        let (here, there) = (point.offered.describe(), point.published.describe());
        notes.push(format!("not the published load: {here}; as published: {there}"));
    }
    if !plan.pinning.apart() {
        notes.push("services and generator shared a CPU: one takes time from the other".to_owned());
    }
    let generated = plan.pinning.generator.len();
    let threads = plan.points.iter().map(|point| point.offered.connections().threads).max().unwrap_or(0);
    if threads > generated {
        notes.push(format!("the generator's {threads} threads, as published, shared {generated} CPU(s)"));
    }
    let others = plan.rows.iter().filter_map(|row| Some((&row.planned.label, row.threads?)));
    notes.extend(others.map(|(label, threads)| format!("{label} was told THREADS={threads} at every point")));
    notes.extend(link_notes(kept));
    notes.extend(kept.damage.iter().cloned());
    notes
}
