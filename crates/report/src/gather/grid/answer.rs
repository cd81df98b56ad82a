//! The answer of a published experiment in a sentence: how its claims fared, and who is fastest here.

use tare_lab::{
    grid::{plan::Offered, record::Ending},
    published::{CellReport, PUBLISHED, PointReport, Verdict},
    report::figures::{rate, time, times},
};

use super::{Grid, load};

/// One sentence, or two.
pub fn answer(grid: &Grid) -> String {
    let (done, all) = grid.report.cells;
    let mut answer = match grid.report.ending {
        Some(Ending::Complete) => String::new(),
        Some(Ending::Interrupted) => format!("Interrupted after {done} of {all} cells. "),
        None => format!("Cut off after {done} of {all} cells. "),
    };
    let figures = grid.report.points.iter().flat_map(|point| &point.cells).any(|cell| cell.rounds > 0);
    if !figures {
        return answer + &nothing(grid);
    }
    answer += &claims(grid);
    if let Some(fastest) = fastest(grid) {
        answer += &fastest;
    }
    answer.trim_end().to_owned()
}

fn nothing(grid: &Grid) -> String {
    let entries = grid.entries(|_| true);
    let reason = entries.iter().find_map(|entry| Some(format!("{}: {}", entry.label(), entry.remarks()?)));
    match reason {
        Some(reason) => format!("No service has a figure. The first reason: {reason}"),
        None => "No service has a figure yet.".to_owned(),
    }
}

fn claims(grid: &Grid) -> String {
    let verdicts: Vec<Verdict> = grid.report.claims.iter().map(|claim| claim.verdict).collect();
    let scale = match grid.report.scale {
        1.0 => String::new(),
        scale => format!(" at scale {scale}"),
    };
    tally(&verdicts).map_or(String::new(), |tally| format!("{tally}{scale}. "))
}

/// `Of 5 claims 1 holds, 3 do not, and 1 cannot be told`; none where there is no claim.
pub fn tally(verdicts: &[Verdict]) -> Option<String> {
    let with = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let mut parts = vec![match with(Verdict::Confirmed) {
        0 => "none holds".to_owned(),
        1 => "1 holds".to_owned(),
        many => format!("{many} hold"),
    }];
    match with(Verdict::Refuted) {
        0 => {}
        1 => parts.push("1 does not".to_owned()),
        many => parts.push(format!("{many} do not")),
    }
    match with(Verdict::CannotBeTold) {
        0 => {}
        untold => parts.push(format!("{untold} cannot be told")),
    }
    let told = match parts.as_slice() {
        [first, second, third] => format!("{first}, {second}, and {third}"),
        parts => parts.join(" and "),
    };
    (!verdicts.is_empty()).then(|| format!("Of {} claims {told}", verdicts.len()))
}

/// Of batches: who has the shortest time at most loads. Of others: who answers most where the load leaves it a choice.
fn fastest(grid: &Grid) -> Option<String> {
    if grid.is_of_batches() {
        return shortest(grid);
    }
    let is_free = |point: &&PointReport| {
        matches!(point.point.offered, Offered::Closed { .. } | Offered::Sessions { .. })
    };
    let measured = |point: &PointReport| -> Vec<usize> {
        // One that is wrong is not compared by how fast it is.
        let own = point.cells.iter().filter(|cell| cell.per_second.is_some());
        own.map(|cell| cell.row).filter(|row| grid.report.rows[*row].complaint.is_none()).collect()
    };
    let is_bound = |point: &PointReport| point.cells.iter().any(|cell| cell.load_bound.is_some());
    let points = || grid.report.points.iter().filter(is_free).filter(|point| measured(point).len() > 1);
    let point = points().find(|point| !is_bound(point));
    let Some(point) = point else {
        return points().next().map(|_| "The load and not the services set the rate.".to_owned());
    };
    let mut rows = measured(point);
    let of = |row: &usize| point.cell(*row).and_then(|cell| cell.per_second);
    rows.sort_by(|a, b| {
        of(b)
            .map(|rate| rate.value)
            .partial_cmp(&of(a).map(|rate| rate.value))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let (first, second) = (of(&rows[0])?, of(&rows[1])?);
    let (label, other) = (&grid.report.rows[rows[0]].label, &grid.report.rows[rows[1]].label);
    let beside = match first.interval.zip(second.interval) {
        Some((first, second)) if first.0 <= second.1 => format!("not told apart from {other}"),
        Some(_) => format!("{} the rate of {other}", times(first.value / second.value)),
        None => format!("{} the rate of {other} (one round each)", times(first.value / second.value)),
    };
    let part = match point.point.part.as_str() {
        PUBLISHED => String::new(),
        part => format!(" in \"{part}\", which was not published"),
    };
    Some(format!("Fastest here{part}: {label} with {}/s, {beside}.", rate(first.value)))
}

fn shortest(grid: &Grid) -> Option<String> {
    let best = |point: &PointReport| -> Option<usize> {
        let timed = |cell: &CellReport| Some((cell.makespan_ns?.value, cell.row));
        let times = point.cells.iter().filter_map(timed);
        times.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
    };
    let winners: Vec<usize> = grid.report.points.iter().filter_map(best).collect();
    let wins = |row: &usize| winners.iter().filter(|winner| *winner == row).count();
    let most = (0..grid.report.rows.len()).max_by_key(|row| (wins(row), std::cmp::Reverse(*row)))?;
    let label = &grid.report.rows[most].label;
    if winners.is_empty() {
        return None;
    }
    let loads = winners.len();
    let stuck = grid.report.points.iter().flat_map(|point| &point.cells).filter(|cell| cell.stuck.is_some());
    let mut stuck: Vec<usize> = stuck.map(|cell| cell.row).collect();
    stuck.dedup();
    stuck.sort_unstable();
    stuck.dedup();
    let stuck: Vec<&str> = stuck.into_iter().map(|row| grid.report.rows[row].label.as_str()).collect();
    let stuck =
        if stuck.is_empty() { String::new() } else { format!(" Stuck at some: {}.", stuck.join(", ")) };
    Some(match loads {
        1 => {
            let point = grid.report.points.iter().find(|point| best(point).is_some())?;
            let took = point.cell(most)?.makespan_ns?.value;
            format!("Shortest time here at {}: {label} with {}.{stuck}", load(&point.point), time(took))
        }
        _ => format!("Shortest time here: {label}, at {} of {loads} loads.{stuck}", wins(&most)),
    })
}
