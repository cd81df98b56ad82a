//! From the records of a run to the figures of a table, by pure functions. `tare-report` formats them.

mod added;
mod backing;
pub(crate) mod blocks;
mod bound;
mod cores;
mod equal_rate;
mod handshakes;
mod latency;
pub(crate) mod notes;
mod pairs;
mod ranks;
pub(crate) mod relation;
mod role;
pub(crate) mod rounds;
mod row;
pub mod slices;
pub(crate) mod spent;
mod spread;
mod starts;
mod state;
mod twin;
mod uncounted;

pub use added::{AddedCost, added_costs};
pub use backing::{BackingCost, BackingKind, KernelShare};
pub use bound::RatioBound;
pub use cores::{AtThreads, FittedLaw, Scaling, scalings};
pub use equal_rate::CostAtRate;
pub use handshakes::{RowHandshakes, handshakes};
pub use latency::OpenLatency;
pub use pairs::{PairRatios, pair_ratios};
pub use ranks::{AdjacentPair, RankRange, Ranks};
pub use role::Role;
pub use row::RowReport;
pub use spread::spread;
pub use state::RowState;
pub(crate) use state::wrong_answers;
pub use twin::Twin;

pub use crate::{accounting::CpuTotals, figures, validity::Dropped};

use std::cmp::Ordering;

use self::{blocks::Blocks, rounds::Rounds, row::OwnRow};
use crate::{
    findings::{Finding, KeptProcesses, RunIssue},
    validity::RowLimits,
};
use tare_base::units::several;
use tare_bench::{
    folder::StoredRun,
    plan::Plan,
    record::{Ending, ending},
};
use tare_stats::Looks;

#[derive(Debug, Clone)]
pub struct Report {
    /// Label of the row that is 100%.
    pub reference: String,
    pub blocks: usize,
    /// Wall time of the run; absent if it was cut off.
    pub elapsed_ns: Option<u64>,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    pub load: String,
    /// The share of the measured CPUs that other programs took, on this machine or in other guests.
    pub interference_share: Option<f64>,
    /// Slices left out because of disturbances.
    pub dropped: Dropped,
    /// CPU accounting of the run; absent if no slice has it.
    pub cpu_accounting: Option<CpuTotals>,
    /// The separated rows and ranks; absent without two rows with figures.
    pub ranks: Option<Ranks>,
    /// The twin of the reference or candidate; absent without one.
    pub twin: Option<Twin>,
    /// References first, then the others from best to worst; rows without figures last. Excludes the twin.
    pub rows: Vec<RowReport>,
    pub findings: Vec<Finding>,
}

/// The report of a run as far as it got. With looks, intervals and ranks are those of the last one.
pub fn compute(stored: &StoredRun) -> Report {
    compute_with(stored, stored.header.plan.until.planned().as_ref(), &RowLimits::default())
}

/// The same with given looks and thresholds. Interim analyses may have ended the run, so intervals and ranks
/// are those of the last look reached. They hold simultaneously with those of earlier looks.
fn compute_with(stored: &StoredRun, looks: Option<&Looks>, limits: &RowLimits) -> Report {
    let plan = &stored.header.plan;
    let ended = ending(&stored.records);
    let rounds = Rounds::of(plan, &stored.records);
    let blocks = blocks::in_rounds(stored, &rounds);
    let reference = plan.rows.iter().position(|row| row.label == plan.reference());
    let reference_blocks = reference.map_or(0, |place| blocks[place].len());
    let (twins, rows): (Vec<_>, Vec<_>) =
        rows(stored, &blocks, looks, limits).into_iter().partition(|(row, _)| plan.is_twin(&row.label));
    let twin = twins.into_iter().next().map(|(row, _)| Twin::of(plan, row));
    let ranks = Ranks::of(plan, &rows, looks);
    let rows = in_order(rows, plan, ranks.as_ref());
    let interference = notes::interference_share(plan, &stored.records);
    let accounting = CpuTotals::of(plan, &stored.records);
    let mut findings = notes::of_run(stored, &rounds, interference, reference_blocks, looks);
    let blocks = reference_blocks.max(rows.iter().map(|row| row.blocks).max().unwrap_or(0));
    findings.extend(spent::no_block(stored, blocks).map(RunIssue::NoBlock));
    findings.extend(twin.as_ref().and_then(Twin::issue));
    findings.extend(accounting.map(RunIssue::CpuTime));
    findings.extend(lasting(&rows));
    findings.extend(starts::cut_short(stored));
    Report {
        reference: plan.reference().to_owned(),
        blocks,
        elapsed_ns: ended.map(|(_, elapsed_ns)| elapsed_ns),
        ending: ended.map(|(reason, _)| reason),
        load: load_text(plan, rounds.planned(plan)),
        interference_share: interference,
        findings: findings.into_iter().map(Finding::of_run).collect(),
        dropped: rounds.dropped,
        cpu_accounting: accounting,
        ranks,
        twin,
        rows,
    }
}

/// All rows in the order of the plan, with their blocks.
fn rows<'a>(
    stored: &'a StoredRun,
    blocks: &'a [Blocks<'a>],
    looks: Option<&Looks>,
    limits: &RowLimits,
) -> Vec<(RowReport, &'a Blocks<'a>)> {
    let plan = &stored.header.plan;
    let own = blocks.iter().enumerate().map(|(place, blocks)| OwnRow::of(stored, place, blocks, limits));
    let own: Vec<OwnRow> = own.collect();
    let reference = own.iter().find(|row| row.planned.label == plan.reference());
    let measured: Vec<bool> = own.iter().map(|row| row.state == RowState::Measured).collect();
    let roles = role::roles(plan, &measured);
    let ratios = row::to_reference(&own, reference, looks);
    let related = |((own, role), ratios): ((&OwnRow<'a>, Role), _)| {
        (RowReport::of(stored, own, role, ratios, reference, looks), own.blocks)
    };
    own.iter().zip(roles).zip(ratios).map(related).collect()
}

/// References first, then ranked rows by rank, then the others.
fn in_order(rows: Vec<(RowReport, &Blocks)>, plan: &Plan, ranks: Option<&Ranks>) -> Vec<RowReport> {
    let place = |row: &RowReport| ranks.and_then(|ranks| ranks.place(&row.label));
    let are_known = ranks.is_some_and(Ranks::are_known);
    let ranked = |(row, _): (RowReport, &Blocks)| {
        let place = place(&row).map(|(_, place)| place).filter(|_| are_known);
        RowReport { ranks: place.map(|place| [place.rank_best, place.rank_worst]), ..row }
    };
    let mut rows: Vec<RowReport> = rows.into_iter().map(ranked).collect();
    let order = |row: &RowReport| rank(row, plan.reference());
    rows.sort_by(|a, b| order(b).partial_cmp(&order(a)).unwrap_or(Ordering::Equal));
    let is_reference = |row: &RowReport| row.role == Role::Reference && row.state == RowState::Measured;
    rows.sort_by_key(|row| (!is_reference(row), place(row).map_or(usize::MAX, |(index, _)| index)));
    rows
}

/// The sort key: the paired cost ratio, which varies less than the cost, then cost or rate.
fn rank(row: &RowReport, reference: &str) -> (bool, f64, f64) {
    let per_cpu_second = |cost: f64| 1.0 / cost;
    let ratio = row.cost_of(reference).map_or(0.0, |ratio| per_cpu_second(ratio.value));
    let rate = row.cpu_ns_per_request.map(|cost| per_cpu_second(cost.value));
    let rate = rate.or(row.requests_per_second.map(|rate| rate.value));
    (row.state == RowState::Measured, ratio, rate.unwrap_or(0.0))
}

/// Rows whose intervals count starts, not blocks.
fn lasting(rows: &[RowReport]) -> Option<RunIssue> {
    let lasting = rows.iter().filter(|row| row.state == RowState::Measured && row.starts < row.blocks);
    let stored =
        |row: &RowReport| KeptProcesses { row: row.label.clone(), starts: row.starts, blocks: row.blocks };
    let rows: Vec<KeptProcesses> = lasting.map(stored).collect();
    (!rows.is_empty()).then_some(RunIssue::ProcessesKept { rows })
}

fn load_text(plan: &Plan, slices_per_block: usize) -> String {
    let generator = match plan.threads_planned().is_empty() {
        true => several(plan.load().threads, "generator thread"),
        false => "a generator thread for each of its CPUs".to_owned(),
    };
    let settings = plan.settings_text().map(|text| format!("service: {text}; ")).unwrap_or_default();
    format!(
        "closed loop, {}, {generator}; {settings}slices of {} ms, {} a block{}",
        several(plan.load().connections, "connection"),
        plan.slice_ns() / 1_000_000,
        slices_per_block,
        latency::load_text(plan)
    )
}

#[cfg(test)]
mod tests;
