//! From records to figures.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};
use tare_load::units::several;

use tare_stats::{Looks, summary};

use super::{
    Report, RowReport, State, backing,
    blocks::{Block, Blocks, blocks_of},
    bound, equal_rate, latency,
    levels::{self, level},
    notes,
    ranks::Ranks,
    relation::relate_to_reference,
    role::{self, Role},
    rounds::Rounds,
    spent, starts,
    twin::Twin,
    uncounted,
};
use crate::accounting::CpuAccounting;
use crate::behaviour::{
    answers::{self, Window},
    memory, thaw,
};
use crate::faults::{self, Fault};
use crate::findings::{Finding, RowIssue, RunIssue, detect};
use crate::validity::{RowLimits, Shares};
use tare_bench::{
    folder::StoredRun,
    plan::Plan,
    record::{Record, ending},
    sample::{Failure, Sample},
};
use tare_service::catalogue::Style;

/// The report of a run as far as it got. With looks, intervals and ranks are those of the last one.
pub fn compute(stored: &StoredRun) -> Report {
    compute_with(stored, stored.header.plan.until.planned().as_ref(), &RowLimits::default())
}

/// The same with given looks and thresholds. Interim analyses may have ended the run, so intervals and ranks
/// are those of the last look reached. They hold simultaneously with those of earlier looks.
pub(super) fn compute_with(stored: &StoredRun, looks: Option<&Looks>, limits: &RowLimits) -> Report {
    let plan = &stored.header.plan;
    let mut failures = BTreeMap::new();
    for record in &stored.records {
        if let Record::Failed(failed) = record {
            let reason = || format!("block {}: {}", failed.block + 1, failed.reason);
            failures.entry(failed.row).or_insert_with(reason);
        }
    }
    let ended = ending(&stored.records);
    let elapsed_ns = ended.map(|(_, elapsed_ns)| elapsed_ns);
    let rounds = Rounds::of(plan, &stored.records);
    let place = plan.rows.iter().position(|row| row.label == plan.reference());
    let reference = place.map_or_else(Blocks::new, |place| blocks_of(&stored.records, &rounds, place));
    let mut rows: Vec<(RowReport, Blocks)> = Vec::new();
    for row in 0..plan.rows.len() {
        let blocks = blocks_of(&stored.records, &rounds, row);
        rows.push((row_report(stored, row, &blocks, failures.get(&row), limits), blocks));
    }
    relate_to_reference(&mut rows, plan.reference(), &reference, looks);
    equal_rate::fill_in(&mut rows, plan, &reference, looks);
    relate_to_a_doubtful_reference(&mut rows, plan.reference());
    bound::classify(&mut rows, plan.reference());
    levels::relate(&mut rows, plan.reference());
    rows.iter_mut().for_each(|(row, _)| backing::relate(row));
    let twin = Twin::take(plan, &mut rows);
    role::assign(&mut rows, plan);
    let ranks = Ranks::of(plan, &rows, looks);
    let rows = in_order(rows, plan, ranks.as_ref());
    let interference = notes::interference_share(plan, &stored.records);
    let accounting = CpuAccounting::of(plan, &stored.records);
    let mut findings = notes::of_run(stored, &rounds, interference, reference.len(), looks);
    let blocks = reference.len().max(rows.iter().map(|row| row.blocks).max().unwrap_or(0));
    findings.extend(spent::no_block(stored, blocks).map(RunIssue::NoBlock));
    findings.extend(twin.as_ref().and_then(Twin::issue));
    findings.extend(accounting.map(RunIssue::CpuTime));
    findings.extend(starts::kept(rows.iter()));
    findings.extend(starts::cut_short(stored));
    Report {
        reference: plan.reference().to_owned(),
        blocks,
        elapsed_ns,
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

/// References first, then ranked rows by rank, then the others.
fn in_order(mut rows: Vec<(RowReport, Blocks)>, plan: &Plan, ranks: Option<&Ranks>) -> Vec<RowReport> {
    let order = |row: &RowReport| rank(row, plan.reference());
    rows.sort_by(|(a, _), (b, _)| order(b).partial_cmp(&order(a)).unwrap_or(Ordering::Equal));
    let mut rows: Vec<RowReport> = rows.into_iter().map(|(row, _)| row).collect();
    let place = |row: &RowReport| ranks.and_then(|ranks| ranks.place(&row.label));
    let are_known = ranks.is_some_and(Ranks::are_known);
    for row in &mut rows {
        let place = place(row).map(|(_, place)| place).filter(|_| are_known);
        row.ranks = place.map(|place| [place.rank_best, place.rank_worst]);
    }
    let is_reference = |row: &RowReport| row.role == Role::Reference && row.state == State::Measured;
    rows.sort_by_key(|row| (!is_reference(row), place(row).map_or(usize::MAX, |(index, _)| index)));
    rows
}

/// The sort key: the paired cost ratio, which varies less than the cost, then cost or rate.
fn rank(row: &RowReport, reference: &str) -> (bool, f64, f64) {
    let per_cpu_second = |cost: f64| 1.0 / cost;
    let ratio = row.times_cpu(reference).map_or(0.0, per_cpu_second);
    let rate = row.cpu_ns_per_request.map(|cost| per_cpu_second(cost.value));
    let rate = rate.or(row.requests_per_second.map(|rate| rate.value));
    (row.state == State::Measured, ratio, rate.unwrap_or(0.0))
}

fn row_report(
    stored: &StoredRun,
    place: usize,
    blocks: &Blocks,
    failure: Option<&String>,
    limits: &RowLimits,
) -> RowReport {
    let row = &stored.header.plan.rows[place];
    let (sent, failed) = totals(blocks);
    let state = match wrong_answers(stored, place) {
        Some(issue) if row.excluded.is_none() && failure.is_none() && !faults::is_active(Fault::Validity) => {
            State::Invalid(Finding::of_row(&row.label, issue))
        }
        _ => state(row, blocks, failure, (sent, &failed), stored.header.plan.load().connections, limits),
    };
    let mut report = RowReport {
        state,
        sent,
        failed,
        findings: unclean_stops(&row.label, blocks),
        blocks: blocks.len(),
        starts: starts::count(blocks),
        ..RowReport::of(row)
    };
    if let Some(pilot) = starts::pilot(&stored.records, place) {
        report.steady_after_ns = pilot.steady_after_ns;
        report.add(starts::unsteady(pilot));
    }
    if report.state == State::Measured {
        report.add(starts::warming(blocks));
        report.add(starts::failed_in_warm_up(&stored.records, place));
        report.add(some_failed(&report, blocks, stored.header.plan.load().connections));
        report.add(answers_in_time(stored, place, blocks));
        report.add(memory::growth(&stored.records, place).map(RowIssue::MemoryGrowth));
        fill_in(&mut report, stored, blocks);
        classify_throughput(&mut report, stored, place, blocks, limits);
    }
    report
}

/// A single wrong answer is enough, also in incomplete blocks, pilots and warm-ups.
pub(crate) fn wrong_answers(stored: &StoredRun, row: usize) -> Option<RowIssue> {
    let loads = stored.records.iter().filter_map(|record| record.answers_of(row));
    detect::wrong_answers(loads, Failure::is_wrong_answer)
}

fn totals(blocks: &Blocks) -> (u64, BTreeMap<String, u64>) {
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    let mut sent = 0;
    for slice in blocks.values().flat_map(Block::all) {
        let load = &slice.load;
        sent += load.sent;
        for (class, count) in load.failed.iter() {
            *failed.entry(class.to_string()).or_default() += count;
        }
        for (class, count) in load.connection_failed.iter() {
            *failed.entry(format!("connection {class}")).or_default() += count;
        }
        if load.in_flight > 0 {
            *failed.entry("unanswered".to_owned()).or_default() += load.in_flight;
        }
    }
    (sent, failed)
}

fn state(
    row: &tare_bench::plan::PlannedRow,
    blocks: &Blocks,
    failure: Option<&String>,
    (sent, failed): (u64, &BTreeMap<String, u64>),
    connections: usize,
    limits: &RowLimits,
) -> State {
    if let Some(reason) = &row.excluded {
        return State::Excluded(reason.clone());
    }
    if let Some(reason) = failure {
        return State::Failed(reason.clone());
    }
    if blocks.is_empty() {
        return State::Unmeasured;
    }
    if faults::is_active(Fault::Validity) {
        return State::Measured;
    }
    let first = blocks.values().flat_map(Block::all).find_map(|slice| slice.load.first_failure.as_ref());
    let counts = || blocks.values().flat_map(|block| block.slices.iter().copied());
    let invalid = |issue| State::Invalid(Finding::of_row(&row.label, issue));
    let failing = || {
        let issue = detect::failing(sent, failed, first, limits)?;
        let closed = thaw::closed(blocks.values().flat_map(Block::all), connections);
        Some(closed.map_or(issue, RowIssue::ClosedAtThaw))
    };
    if let Some(issue) = failing().or_else(|| detect::inconsistent(counts())) {
        return invalid(issue);
    }
    if blocks.values().any(|block| block.sum(|slice| slice.load.answered) == 0.0) {
        return invalid(RowIssue::NoProgress);
    }
    State::Measured
}

/// Missing answers that are too few to invalidate the row. Connections closed during a freeze do not count,
/// because they are replaced before a window.
fn some_failed(report: &RowReport, blocks: &Blocks, connections: usize) -> Option<RowIssue> {
    let failed: u64 = report.failed.values().sum();
    if let Some(closed) = thaw::closed(blocks.values().flat_map(Block::all), connections) {
        return Some(RowIssue::ClosedAtThaw(closed));
    }
    let first = blocks.values().flat_map(Block::all).find_map(|slice| slice.load.first_failure.clone());
    (failed > 0).then_some(RowIssue::SomeFailed { failed, sent: report.sent, first })
}

/// Stalls, and requests with very late answers.
fn answers_in_time(stored: &StoredRun, row: usize, blocks: &Blocks) -> impl Iterator<Item = RowIssue> {
    let pinning = stored.header.plan.pinning_of(row);
    let slices = || blocks.values().flat_map(|block| &block.slices);
    let windows: Vec<Window> = slices().filter_map(|slice| Window::of(slice, pinning)).collect();
    let before: Vec<Window> = slices().filter_map(|slice| Window::before(slice, pinning)).collect();
    let stalls = answers::stalls(&windows, &before).map(RowIssue::Stalls);
    stalls.into_iter().chain(answers::late(&windows).map(RowIssue::LateAnswers))
}

/// The ways in which its processes stopped uncleanly, without duplicates.
fn unclean_stops(row: &str, blocks: &Blocks) -> Vec<Finding> {
    let all =
        blocks.values().filter_map(|block| block.stopped.and_then(|stopped| stopped.unclean_stop.clone()));
    let all: BTreeSet<String> = all.collect();
    all.into_iter().map(|what| Finding::of_row(row, RowIssue::UncleanStop { what })).collect()
}

impl RowReport {
    pub(super) fn add(&mut self, issues: impl IntoIterator<Item = RowIssue>) {
        let label = &self.label;
        self.findings.extend(issues.into_iter().map(|issue| Finding::of_row(label, issue)));
    }
}

fn fill_in(report: &mut RowReport, stored: &StoredRun, blocks: &Blocks) {
    let plan = &stored.header.plan;
    let median = |values: Vec<f64>| summary::median(&values).ok();
    let of = |value: &dyn Fn(&Block) -> Option<f64>| median(blocks.values().filter_map(value).collect());
    report.requests_per_second = level(|block| Some(block.requests_per_second()), blocks);
    // No cost if most of the blocks have none.
    let costs = blocks.values().filter_map(Block::cpu_ns_per_request).count();
    let has_cost = 2 * costs >= blocks.len();
    report.cpu_ns_per_request = level(|block| block.cpu_ns_per_request(), blocks).filter(|_| has_cost);
    report.backing = backing::compute(blocks);
    report.latency_ns_p50 = level(|block| block.latency_ns(0, 0.5), blocks);
    report.latency_ns_p99 = level(|block| block.latency_ns(0, 0.99), blocks);
    report.latency_open = latency::compute(plan, &report.label, blocks);
    report.rss_bytes_peak = level(|block| Some(block.stopped?.rss_bytes_peak? as f64), blocks);
    report.start_up_ns = level(|block| Some(block.start_up_ns()? as f64), blocks);
    let answered = |block: &Block| block.sum(|slice| slice.load.answered);
    let bytes = |block: &Block| block.sum(|slice| slice.load.bytes_sent + slice.load.bytes_received);
    report.bytes_per_request = of(&|block| Some(bytes(block) / answered(block)));
    report.context_switches_per_request = of(&|block| {
        let switches = block.slices.iter().map(|slice| slice.host.context_switches).sum::<Option<u64>>()?;
        Some(switches as f64 / answered(block))
    });
    if let Some(apart) = stored.header.environment.irq_time_apart {
        let with_softirq = |block: &Block| {
            let softirq_ns = block.softirq_ns().map(|ns| if apart { ns } else { 0.0 })?;
            Some(block.cpu_ns_per_request()? + softirq_ns / answered(block))
        };
        report.cpu_ns_per_request_with_softirq =
            level(with_softirq, blocks).filter(|_| has_cost).map(|found| found.value);
    }
}

/// Decides whether the throughput is the service's own, and computes where its time went.
fn classify_throughput(
    report: &mut RowReport,
    stored: &StoredRun,
    row: usize,
    blocks: &Blocks,
    limits: &RowLimits,
) {
    let plan = &stored.header.plan;
    let (pinning, threads) = (plan.pinning_of(row), plan.service_settings(row, 0).threads);
    let slices: Vec<&Sample> = blocks.values().flat_map(|block| block.slices.iter().copied()).collect();
    let shares = Shares::of(&slices, pinning, threads);
    report.server_cpu_share = Some(shares.server);
    report.busy_cpu_share = shares.with_backing.map(|_| shares.busy());
    report.generator_cpu_share = Some(shares.generator);
    report.interference_share = shares.interference;
    report.steal_share = shares.stolen;
    report.throttled_share = shares.throttled;
    report.cpu_pressure_share = shares.pressure;
    let server_cpus = pinning.server.len() as f64;
    let elapsed_ns: f64 = blocks.values().map(|block| block.sum(|slice| slice.load.elapsed_ns)).sum();
    report.softirq_share =
        blocks.values().map(Block::softirq_ns).sum::<Option<f64>>().map(|ns| ns / elapsed_ns / server_cpus);
    if report.cpu_ns_per_request.is_none() {
        report.add(uncounted::why(&stored.records, row).or_else(|| impossible_cost(blocks)));
        (report.server_cpu_share, report.busy_cpu_share) = (None, None);
        if !faults::is_active(Fault::Validity) {
            let issue = detect::throughput_without_cpu(&shares, limits);
            report.throughput_finding = issue.map(|issue| Finding::of_row(&report.label, issue));
        }
        return;
    }
    if faults::is_active(Fault::Validity) {
        return;
    }
    let placements = blocks.values().filter_map(|block| block.stopped?.placement.as_ref());
    // Tare gave a running server neither CPUs nor a number of threads.
    let is_running = plan.rows[row].is_running();
    let strayed =
        || detect::placement(placements, pinning).or_else(|| detect::more_threads(&shares, pinning, threads));
    let strayed = if is_running { None } else { strayed() };
    // A service that is a plain command was not given `THREADS`.
    if strayed.is_none() && !matches!(plan.rows[row].style, Style::Own | Style::Running) {
        report.add(detect::threads_at_work(&shares, threads));
    }
    let issue = strayed.or_else(|| detect::throughput(&shares, limits));
    report.throughput_finding = issue.map(|issue| Finding::of_row(&report.label, issue));
    if report.throughput_finding.is_none() {
        report.add(detect::not_server_bound(&shares, plan.points[0].service_settings.delay_ms, limits));
    }
}

/// An impossible cost of a row whose CPU time was discarded.
fn impossible_cost(blocks: &Blocks) -> Option<RowIssue> {
    let counted = |block: &Block| block.cost(Sample::cost, |moment| moment.cost)?.per_request();
    let costs: Vec<f64> = blocks.values().filter_map(counted).collect();
    let cpu_ns_per_request = summary::median(&costs).ok()?;
    Some(RowIssue::ImpossibleCost { cpu_ns_per_request })
}

/// Without a valid reference there are no throughput ratios.
fn relate_to_a_doubtful_reference(rows: &mut [(RowReport, Blocks)], reference: &str) {
    let reference = rows.iter().find(|(row, _)| row.label == reference);
    let doubt = reference.and_then(|(row, _)| row.throughput_finding.clone());
    for (row, _) in rows {
        if row.throughput_finding.is_some() || doubt.is_some() {
            row.ratio = None;
        }
        if row.throughput_finding.is_some() {
            row.requests_per_second = None;
        }
    }
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
