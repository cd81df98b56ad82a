//! From the records of a search to its figures. A fresh start is one search and one observation.

mod interval;

use std::collections::BTreeMap;
use tare_base::units::several;

use tare_stats::summary;

use crate::{
    estimate::UnitEstimate,
    findings::{Finding, RowIssue, RunIssue, detect},
    interleaved::{RowState, notes},
    verdict::Verdict,
};
pub use interval::{bias, estimate};
use tare_bench::{
    folder::StoredRun,
    plan::{Plan, PlannedRow},
    record::{Ending, Record, ending},
    sample::Failure,
    schedule::{
        StopRule,
        searches::{SearchStart, SearchWindow, Searches},
    },
    slo::{FoundRate, Search, SloPlan},
};

/// All data of the table.
#[derive(Debug, Clone)]
pub struct SloReport {
    /// The SLO in words.
    pub slo: String,
    /// The percentiles in the SLO.
    pub percents: Vec<f64>,
    /// The rate that every row must hold.
    pub at_least: Option<f64>,
    pub load: String,
    /// Wall time of the run; absent if it was cut off.
    pub elapsed_ns: Option<u64>,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    /// The highest capacity first; rows without one last.
    pub rows: Vec<SloRow>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Default)]
pub struct SloRow {
    pub label: String,
    pub version: Option<String>,
    pub state: RowState,
    /// The highest rate that holds, in requests per second. Also absent if no tried rate held.
    pub capacity: Option<UnitEstimate>,
    /// Whether the capacity is only a bound, because no rate failed or none held.
    pub bound: Option<Bound>,
    /// Capacity as a share of the closed-loop rate, paired by start.
    pub share: Option<UnitEstimate>,
    pub closed_per_second: Option<f64>,
    /// The SLO's percentiles over answered requests at the highest rate that held, as medians over starts. An
    /// entry is absent without a window with enough requests. Empty if no rate held.
    pub latency_ns: Vec<Option<f64>>,
    pub starts: usize,
    /// Counted windows, over all starts.
    pub windows: usize,
    /// Windows with a late generator, over all starts.
    pub discarded: usize,
    pub findings: Vec<Finding>,
}

/// The open side of a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Some start held all tried rates: the capacity may be higher.
    AtLeast,
    /// Most starts held no tried rate: no such rate may exist.
    Below,
}

impl SloRow {
    /// Whether the SLO holds at `per_second`, if given. It passes if the whole interval, including the bias,
    /// is at least as high. It fails if the whole interval is lower or no rate held. Without `per_second`:
    /// whether there are figures; "no rate holds" is one.
    pub fn verdict(&self, per_second: Option<f64>) -> Verdict {
        let (RowState::Measured, Some(per_second)) = (&self.state, per_second) else {
            return self.state.verdict();
        };
        let Some(capacity) = &self.capacity else { return Verdict::Fail };
        match (capacity.low, capacity.high) {
            (Some(low), _) if low >= per_second => Verdict::Pass,
            (_, Some(high)) if high < per_second => Verdict::Fail,
            _ => Verdict::Inconclusive,
        }
    }

    /// Why there is no capacity; absent if there is one.
    pub fn reason(&self) -> Option<String> {
        match &self.state {
            RowState::Measured if self.bound == Some(Bound::Below) => {
                Some("no rate held that was tried, down to a hundredth of its closed loop".to_owned())
            }
            RowState::Unmeasured => {
                Some("no search came to its end: give a longer --budget, or resume it".to_owned())
            }
            state => state.reason(),
        }
    }
}

/// The report of a search as far as it got.
pub fn compute(slo: &SloPlan, stored: &StoredRun) -> SloReport {
    let plan = &stored.header.plan;
    let mut searches = Searches::new(slo);
    let mut failures = BTreeMap::new();
    for record in &stored.records {
        searches.on_record(record);
        if let Record::Failed(failed) = record {
            let reason = || format!("start {}: {}", failed.block + 1, failed.reason);
            failures.entry(failed.row).or_insert_with(reason);
        }
    }
    let ended = ending(&stored.records);
    let starts = |place: usize| searches.of(place).collect::<Vec<&SearchStart>>();
    let limit_ns = slo.slo.limits_ns().into_iter().max().unwrap_or(0);
    let of_row = |(place, row)| {
        let wrong = wrong_answers(stored, place);
        slo_row(slo, row, &starts(place), failures.get(&place), wrong, (limit_ns, window_ns(plan)))
    };
    let mut rows: Vec<SloRow> = plan.rows.iter().enumerate().map(of_row).collect();
    let rank = |row: &SloRow| row.capacity.as_ref().map_or(0.0, |level| level.value);
    rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    SloReport {
        slo: slo.slo.to_string(),
        percents: slo.slo.percents(),
        at_least: slo.at_least,
        load: load_text(plan),
        elapsed_ns: ended.map(|(_, elapsed_ns)| elapsed_ns),
        ending: ended.map(|(reason, _)| reason),
        findings: issues(plan, stored).into_iter().map(Finding::of_run).collect(),
        rows,
    }
}

/// Windows that the searches of a run took per counted one; absent without a finished search.
pub fn windows_taken(stored: &StoredRun) -> Option<f64> {
    let plan = &stored.header.plan;
    let mut searches = Searches::new(plan.slo()?);
    stored.records.iter().for_each(|record| searches.on_record(record));
    let all = (0..plan.rows.len()).flat_map(|row| searches.of(row));
    let ended = all.filter_map(|start| start.search.as_ref()).filter(|search| search.is_over());
    let (counted, discarded) = ended.fold((0, 0), |(counted, discarded), search| {
        (counted + search.counted(), discarded + search.discarded())
    });
    (counted > 0).then(|| (counted + discarded) as f64 / counted as f64)
}

/// Wrong answers at any rate. Error statuses are excluded, because an overloaded service may send them: they
/// count against the rate, like late answers.
fn wrong_answers(stored: &StoredRun, row: usize) -> Option<RowIssue> {
    let is_wrong = |failure: Failure| failure.is_wrong_answer() && failure != Failure::Status;
    detect::wrong_answers(stored.records.iter().filter_map(|record| record.answers_of(row)), is_wrong)
}

fn slo_row(
    slo: &SloPlan,
    row: &PlannedRow,
    starts: &[&SearchStart],
    failure: Option<&String>,
    wrong: Option<RowIssue>,
    times: (u64, u64),
) -> SloRow {
    let is_over = |start: &&SearchStart| start.search.as_ref().is_some_and(|search| search.is_over());
    let starts: Vec<&SearchStart> = starts.iter().copied().filter(is_over).collect();
    let found = starts.iter().filter_map(|start| Some((*start, start.search.as_ref()?.found())));
    let found: Vec<(&SearchStart, FoundRate)> =
        found.filter(|(_, found)| *found != FoundRate::Nothing).collect();
    let count =
        |of: fn(&Search) -> usize| starts.iter().filter_map(|start| start.search.as_ref()).map(of).sum();
    let mut report = SloRow {
        label: row.label.clone(),
        version: row.version.clone(),
        state: state(row, starts.len(), found.len(), failure, wrong),
        starts: found.len(),
        windows: count(Search::counted),
        discarded: count(Search::discarded),
        ..SloRow::default()
    };
    if report.state == RowState::Measured {
        let mut issues = fill_in(&mut report, &found, times);
        issues.extend(too_short(slo, &found));
        report.findings = issues.into_iter().map(|issue| Finding::of_row(&row.label, issue)).collect();
    }
    report
}

fn state(
    row: &PlannedRow,
    starts: usize,
    found: usize,
    failure: Option<&String>,
    wrong: Option<RowIssue>,
) -> RowState {
    let invalid = |issue| RowState::Invalid(Finding::of_row(&row.label, issue));
    if let Some(excluded) = &row.excluded {
        return RowState::Excluded(excluded.clone());
    }
    match (failure, wrong) {
        (Some(reason), _) => RowState::Failed(reason.clone()),
        (None, Some(wrong)) => invalid(wrong),
        (None, None) if starts == 0 => RowState::Unmeasured,
        // The remaining starts would be the quiet ones, which are no fair sample.
        (None, None) if found * 2 < starts => invalid(RowIssue::LateStarts { late: starts - found, starts }),
        (None, None) => RowState::Measured,
    }
}

/// Fills in the figures, and returns the findings about the row.
fn fill_in(
    report: &mut SloRow,
    found: &[(&SearchStart, FoundRate)],
    (limit_ns, window_ns): (u64, u64),
) -> Vec<RowIssue> {
    let mut issues = Vec::new();
    let count = |is: fn(&FoundRate) -> bool| found.iter().filter(|(_, found)| is(found)).count();
    let below = count(|found| matches!(found, FoundRate::Below(_)));
    let at_least = count(|found| matches!(found, FoundRate::AtLeast(_)));
    let closed: Vec<f64> = found.iter().map(|(start, _)| start.capacity_per_second()).collect();
    report.closed_per_second = summary::median(&closed).ok();
    if below * 2 > found.len() {
        report.bound = Some(Bound::Below);
        return issues;
    }
    let by = |relative: bool, bias| {
        let per = closed.iter().map(move |closed| if relative { *closed } else { 1.0 });
        interval::estimate(found.iter().map(|(_, found)| found).zip(per), bias)
    };
    let Some((share, _)) = by(true, 0.0) else { return issues };
    let bias = interval::bias(limit_ns, window_ns, share.value);
    report.share = by(true, bias).map(|(share, _)| share);
    if let Some((capacity, warnings)) = by(false, bias) {
        issues.extend(warnings.into_iter().map(|warning| RowIssue::Sample { metric: None, warning }));
        report.capacity = Some(capacity);
    }
    report.latency_ns = latency_there(found);
    if at_least > 0 {
        report.bound = Some(Bound::AtLeast);
        let bound = found.iter().filter_map(|(start, _)| start.search.as_ref());
        let generator_was_late = bound.filter(|search| search.is_generator_bound()).count() > 0;
        issues.push(RowIssue::AllRatesHeld { held: at_least, starts: found.len(), generator_was_late });
    }
    issues.extend((below > 0).then_some(RowIssue::NoRateHeld { held_none: below, starts: found.len() }));
    issues
}

/// The windows at the highest rate that held.
fn there<'a>((start, found): &(&'a SearchStart, FoundRate)) -> impl Iterator<Item = &'a SearchWindow> {
    let held = match found {
        FoundRate::Between { held, .. } | FoundRate::AtLeast(held) => Some(*held),
        FoundRate::Below(_) | FoundRate::Nothing => None,
    };
    start.windows.iter().filter(move |window| Some(window.per_second) == held)
}

/// The median over starts of the median over their windows.
fn latency_there(found: &[(&SearchStart, FoundRate)]) -> Vec<Option<f64>> {
    let terms = found.iter().flat_map(there).map(|window| window.latency_ns.len()).min().unwrap_or(0);
    let of_start = |found: &(&SearchStart, FoundRate), term: usize| {
        let windows: Vec<f64> =
            there(found).filter_map(|window| Some(window.latency_ns[term]? as f64)).collect();
        summary::median(&windows).ok()
    };
    let of_term = |term| {
        let starts: Vec<f64> = found.iter().filter_map(|found| of_start(found, term)).collect();
        summary::median(&starts).ok()
    };
    (0..terms).map(of_term).collect()
}

/// With fewer requests per window than the percentile needs, a single late request breaks any rate.
fn too_short(slo: &SloPlan, found: &[(&SearchStart, FoundRate)]) -> Option<RowIssue> {
    let due: Vec<f64> = found.iter().flat_map(there).map(|window| window.due as f64).collect();
    let (due, needed) = (summary::median(&due).ok()?, slo.slo.requests_min());
    (due < needed as f64).then_some(RowIssue::ShortWindow { due, needed })
}

/// Length of a window of the open loop.
fn window_ns(plan: &Plan) -> u64 {
    plan.rates().next().map_or(0, |(point, _)| plan.points[point].load.duration_ns())
}

fn load_text(plan: &Plan) -> String {
    let settings = plan.settings_text().map(|text| format!("service: {text}; ")).unwrap_or_default();
    format!(
        "open loop with Poisson arrivals, up to {}, {}; {settings}windows of {} ms",
        several(plan.load().connections, "connection"),
        several(plan.load().threads, "generator thread"),
        window_ns(plan) / 1_000_000
    )
}

fn issues(plan: &Plan, stored: &StoredRun) -> Vec<RunIssue> {
    let mut issues: Vec<RunIssue> = notes::damaged(&stored.damage).collect();
    issues.extend((!plan.pinning.apart()).then_some(RunIssue::SharedCpus));
    issues.extend(notes::already_running(plan));
    issues.extend(notes::unfinished(stored));
    issues
}
