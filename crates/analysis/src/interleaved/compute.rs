//! From records to the report of a run.

use std::cmp::Ordering;

use tare_bench::{folder::StoredRun, plan::Plan, record::ending};
use tare_load::units::several;
use tare_stats::Looks;

use super::{
    Report, State,
    blocks::{Blocks, blocks_of},
    latency, notes,
    ranks::Ranks,
    relation,
    role::{self, Role},
    rounds::Rounds,
    row::{OwnRow, RowReport},
    spent, starts,
    twin::Twin,
};
use crate::{
    accounting::CpuAccounting,
    findings::{Finding, RunIssue},
    validity::RowLimits,
};

/// The report of a run as far as it got. With looks, intervals and ranks are those of the last one.
pub fn compute(stored: &StoredRun) -> Report {
    compute_with(stored, stored.header.plan.until.planned().as_ref(), &RowLimits::default())
}

/// The same with given looks and thresholds. Interim analyses may have ended the run, so intervals and ranks
/// are those of the last look reached. They hold simultaneously with those of earlier looks.
pub(super) fn compute_with(stored: &StoredRun, looks: Option<&Looks>, limits: &RowLimits) -> Report {
    let plan = &stored.header.plan;
    let ended = ending(&stored.records);
    let rounds = Rounds::of(plan, &stored.records);
    let blocks: Vec<Blocks> =
        (0..plan.rows.len()).map(|row| blocks_of(&stored.records, &rounds, row)).collect();
    let reference = plan.rows.iter().position(|row| row.label == plan.reference());
    let reference_blocks = reference.map_or(0, |place| blocks[place].len());
    let (twins, rows): (Vec<_>, Vec<_>) =
        rows(stored, &blocks, looks, limits).into_iter().partition(|(row, _)| plan.is_twin(&row.label));
    let twin = twins.into_iter().next().map(|(row, _)| Twin::of(plan, row));
    let ranks = Ranks::of(plan, &rows, looks);
    let rows = in_order(rows, plan, ranks.as_ref());
    let interference = notes::interference_share(plan, &stored.records);
    let accounting = CpuAccounting::of(plan, &stored.records);
    let mut findings = notes::of_run(stored, &rounds, interference, reference_blocks, looks);
    let blocks = reference_blocks.max(rows.iter().map(|row| row.blocks).max().unwrap_or(0));
    findings.extend(spent::no_block(stored, blocks).map(RunIssue::NoBlock));
    findings.extend(twin.as_ref().and_then(Twin::issue));
    findings.extend(accounting.map(RunIssue::CpuTime));
    findings.extend(starts::kept(rows.iter()));
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
    let roles = role::roles(plan, &own);
    let ratios = relation::to_reference(&own, reference, looks);
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
    let is_reference = |row: &RowReport| row.role == Role::Reference && row.state == State::Measured;
    rows.sort_by_key(|row| (!is_reference(row), place(row).map_or(usize::MAX, |(index, _)| index)));
    rows
}

/// The sort key: the paired cost ratio, which varies less than the cost, then cost or rate.
fn rank(row: &RowReport, reference: &str) -> (bool, f64, f64) {
    let per_cpu_second = |cost: f64| 1.0 / cost;
    let ratio = row.cost_of(reference).map_or(0.0, |ratio| per_cpu_second(ratio.value));
    let rate = row.cpu_ns_per_request.map(|cost| per_cpu_second(cost.value));
    let rate = rate.or(row.requests_per_second.map(|rate| rate.value));
    (row.state == State::Measured, ratio, rate.unwrap_or(0.0))
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
mod tests {
    use super::super::tests::kept_with;
    use super::load_text;
    use tare_bench::{
        fixture::at_points,
        plan::{LoadSpec, Plan},
    };

    fn text(connections: usize, threads: usize) -> String {
        let plan: Plan = kept_with(&[("raw-socket", 1.0)], 1).header.plan;
        let plan = at_points(plan, |point| {
            let duration_ns = point.load.duration_ns();
            point.load = LoadSpec::Closed { connections, threads, duration_ns, think_ns: None };
        });
        load_text(&plan, 2)
    }

    #[test]
    fn connections_and_threads_are_counted() {
        assert!(
            text(64, 1).starts_with("closed loop, 64 connections, 1 generator thread; slices "),
            "{}",
            text(64, 1)
        );
        assert!(
            text(1, 2).starts_with("closed loop, 1 connection, 2 generator threads; slices "),
            "{}",
            text(1, 2)
        );
    }
}
