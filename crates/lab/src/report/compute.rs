//! Records in, figures out.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use tare_stats::{DEFAULT_CONFIDENCE, Warning, paired_log_ratio, signed_rank, summary};

use super::{FAILURE_SHARE_MAX, FORMAT, Ratio, Report, RowReport, State, latency};
use crate::run::{
    folder::Kept,
    plan::{Plan, PlannedRow},
    record::{Open, Record, Slice, Started, Stopped},
};

/// A row of which the service's CPUs were busy for less than this share, while the generator's were busy for more, says
/// how fast the generator is, and not how fast the service is.
const BUSY_SHARE: f64 = 0.9;

/// More than this share of the measured CPUs for others, and the reader is told.
const FOREIGN_SHARE: f64 = 0.05;

/// All that one row did in one block.
#[derive(Default)]
pub(super) struct Block<'a> {
    /// The closed loops.
    slices: Vec<&'a Slice>,
    /// The open ones.
    pub open: Vec<(&'a Open, &'a Slice)>,
    started: Option<&'a Started>,
    pub stopped: Option<&'a Stopped>,
}

impl<'a> Block<'a> {
    /// Slices of both kinds.
    fn all(&self) -> impl Iterator<Item = &'a Slice> {
        self.slices.iter().copied().chain(self.open.iter().map(|(_, slice)| *slice))
    }

    fn sum(&self, value: impl Fn(&Slice) -> u64) -> f64 {
        self.slices.iter().map(|slice| value(slice)).sum::<u64>() as f64
    }

    fn requests_per_second(&self) -> f64 {
        self.sum(|slice| slice.answered_in_window) / self.sum(|slice| slice.window_ns) * 1e9
    }

    fn cpu_ns_per_request(&self) -> f64 {
        self.sum(|slice| slice.server_cpu_ns) / self.sum(|slice| slice.answered)
    }
}

/// The blocks of one row, by number; only those with a whole round.
pub(super) type Blocks<'a> = BTreeMap<usize, Block<'a>>;

/// The report of a run as far as it got.
pub fn compute(kept: &Kept) -> Report {
    let plan = &kept.header.plan;
    let mut failures = BTreeMap::new();
    let mut ended = None;
    for record in &kept.records {
        match record {
            Record::Failed { block, row, reason } => {
                failures.entry(row.as_str()).or_insert_with(|| format!("block {}: {reason}", block + 1));
            }
            Record::Ended { reason, elapsed_ns } => ended = Some((*reason, *elapsed_ns)),
            _ => {}
        }
    }
    let rounds = whole_rounds(&kept.records);
    let blocks_of = |label: &str| blocks_of(&kept.records, &rounds, label);
    let pivot = blocks_of(&plan.pivot);
    let mut rows: Vec<RowReport> = plan
        .rows
        .iter()
        .map(|row| row_report(plan, row, &blocks_of(&row.label), &pivot, &failures))
        .collect();
    relate_to_a_doubtful_pivot(&mut rows, &plan.pivot);
    let foreign = foreign_cpu_share(plan, &kept.records);
    rows.sort_by(|a, b| rank(b, &plan.pivot).partial_cmp(&rank(a, &plan.pivot)).unwrap_or(Ordering::Equal));
    Report {
        format: FORMAT,
        experiment: plan.experiment.clone(),
        title: plan.title.clone(),
        question: plan.question.clone(),
        began: kept.header.began.clone(),
        seed: plan.seed,
        pivot: plan.pivot.clone(),
        blocks: pivot.len().max(rows.iter().map(|row| row.blocks).max().unwrap_or(0)),
        elapsed_ns: ended.map(|(_, elapsed_ns)| elapsed_ns),
        ending: ended.map(|(reason, _)| reason),
        load: load_text(plan),
        foreign_cpu_share: foreign,
        notes: notes(plan, kept, &rounds, foreign),
        rows,
        environment: kept.header.environment.clone(),
    }
}

/// Rows stand in the order of their paired ratio, which is steadier than their rate; those that have none follow by
/// rate or CPU, and those without any figure come last.
fn rank(row: &RowReport, pivot: &str) -> (bool, f64, f64) {
    let rate = row.requests_per_second.or(row.cpu_ns_per_request.map(|cpu| 1e9 / cpu));
    (row.state == State::Measured, row.times_throughput(pivot).unwrap_or(0.0), rate.unwrap_or(0.0))
}

/// How many rounds of each block are whole: every row that has not failed has its slice in them. A block that was cut off
/// counts as far as that, since what cut it off had no regard for its figures.
fn whole_rounds(records: &[Record]) -> BTreeMap<usize, usize> {
    let mut failed = BTreeSet::new();
    let mut slices: BTreeMap<usize, BTreeMap<&str, usize>> = BTreeMap::new();
    for record in records {
        match record {
            Record::Failed { row, .. } => drop(failed.insert(row.as_str())),
            Record::Block { block, order, .. } => {
                let rows = slices.entry(*block).or_default();
                rows.extend(order.iter().map(|row| (row.as_str(), 0)));
            }
            Record::Slice(slice) if slice.open.is_none() => {
                *slices.entry(slice.block).or_default().entry(&slice.row).or_default() += 1;
            }
            _ => {}
        }
    }
    let fewest = |rows: BTreeMap<&str, usize>| {
        rows.into_iter().filter(|(row, _)| !failed.contains(row)).map(|(_, slices)| slices).min().unwrap_or(0)
    };
    slices.into_iter().map(|(block, rows)| (block, fewest(rows))).collect()
}

fn blocks_of<'a>(records: &'a [Record], rounds: &BTreeMap<usize, usize>, label: &str) -> Blocks<'a> {
    let mut blocks = Blocks::new();
    for record in records {
        match record {
            Record::Started(started) if started.row == label => {
                blocks.entry(started.block).or_default().started = Some(started);
            }
            Record::Slice(slice) if slice.row == label => {
                let block = blocks.entry(slice.block).or_default();
                match &slice.open {
                    Some(open) => block.open.push((open, slice)),
                    None if slice.round < rounds[&slice.block] => block.slices.push(slice),
                    None => {}
                }
            }
            Record::Stopped(stopped) if stopped.row == label => {
                blocks.entry(stopped.block).or_default().stopped = Some(stopped);
            }
            _ => {}
        }
    }
    blocks.retain(|_, block| !block.slices.is_empty());
    blocks
}

fn row_report(
    plan: &Plan,
    row: &PlannedRow,
    blocks: &Blocks,
    pivot: &Blocks,
    failures: &BTreeMap<&str, String>,
) -> RowReport {
    let (sent, failed) = totals(blocks);
    let state = state(row, blocks, failures.get(row.label.as_str()), sent, &failed);
    let mut report = RowReport {
        label: row.label.clone(),
        language: row.language.clone(),
        framework: row.framework.clone(),
        title: row.title.clone(),
        style: row.style,
        version: row.version.clone(),
        blocks: blocks.len(),
        requests_per_second: None,
        throughput_doubt: None,
        ratio: None,
        cpu_ns_per_request: None,
        cpu_ratio: None,
        server_cpu_share: None,
        generator_cpu_share: None,
        latency_ns_p50: None,
        latency_ns_p99: None,
        latency_open: Vec::new(),
        rss_bytes_peak: None,
        start_up_ns: None,
        sent,
        failed,
        warnings: complaints(blocks),
        state,
    };
    if report.state == State::Measured {
        fill_in(&mut report, plan, blocks, pivot);
    }
    report
}

fn totals(blocks: &Blocks) -> (u64, BTreeMap<String, u64>) {
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    let mut sent = 0;
    for slice in blocks.values().flat_map(Block::all) {
        sent += slice.sent;
        for (class, count) in &slice.failed {
            *failed.entry(class.clone()).or_default() += count;
        }
        for (class, count) in &slice.connection_failed {
            *failed.entry(format!("connection {class}")).or_default() += count;
        }
        if slice.in_flight > 0 {
            *failed.entry("unanswered".to_owned()).or_default() += slice.in_flight;
        }
    }
    (sent, failed)
}

fn state(
    row: &PlannedRow,
    blocks: &Blocks,
    failure: Option<&String>,
    sent: u64,
    failed: &BTreeMap<String, u64>,
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
    let failures: u64 = failed.values().sum();
    if failures as f64 > sent as f64 * FAILURE_SHARE_MAX {
        let classes: Vec<String> = failed.iter().map(|(class, count)| format!("{class} {count}")).collect();
        let sample = blocks.values().flat_map(Block::all).find_map(|slice| slice.first_failure.as_ref());
        let sample = sample.map(|sample| format!("; the first: {sample}")).unwrap_or_default();
        return State::Invalid(format!(
            "erroring: {failures} of {sent} requests: {}{sample}",
            classes.join(", ")
        ));
    }
    if blocks.values().any(|block| block.sum(|slice| slice.answered) == 0.0) {
        return State::Invalid("stalled: a whole block without an answer".to_owned());
    }
    State::Measured
}

fn complaints(blocks: &Blocks) -> Vec<String> {
    let mut all: Vec<String> = blocks
        .values()
        .filter_map(|block| block.stopped.and_then(|stopped| stopped.complaint.clone()))
        .collect();
    all.sort();
    all.dedup();
    all
}

fn fill_in(report: &mut RowReport, plan: &Plan, blocks: &Blocks, pivot: &Blocks) {
    let median = |values: Vec<f64>| summary::median(&values).ok();
    let of = |value: &dyn Fn(&Block) -> Option<f64>| median(blocks.values().filter_map(value).collect());
    report.requests_per_second = of(&|block| Some(block.requests_per_second()));
    report.cpu_ns_per_request = of(&|block| Some(block.cpu_ns_per_request())).filter(|cpu| *cpu > 0.0);
    report.latency_ns_p50 = of(&|block| Some(block.stopped?.latency?.p50_ns as f64));
    report.latency_ns_p99 = of(&|block| Some(block.stopped?.latency?.p99_ns as f64));
    report.latency_open = latency::compute(plan, blocks);
    report.rss_bytes_peak = of(&|block| Some(block.stopped?.rss_bytes_peak? as f64));
    report.start_up_ns = of(&|block| Some(block.started?.start_up_ns as f64));
    let share = |cpu: &dyn Fn(&Slice) -> u64, cpus: usize| {
        let all: f64 = blocks.values().map(|block| block.sum(|slice| cpu(slice))).sum();
        let time: f64 = blocks.values().map(|block| block.sum(|slice| slice.elapsed_ns)).sum();
        all / time / cpus.max(1) as f64
    };
    let server = share(&|slice| slice.server_cpu_ns, plan.pinning.server.len().min(plan.knobs.threads));
    let generator = share(&|slice| slice.generator_cpu_ns, plan.pinning.generator.len());
    report.server_cpu_share = Some(server);
    report.generator_cpu_share = Some(generator);
    if report.cpu_ns_per_request.is_some() && server < BUSY_SHARE && generator > BUSY_SHARE {
        report.throughput_doubt = Some(format!(
            "generator-bound: the generator was busy {:.0}% of the time and the service {:.0}%",
            generator * 100.0,
            server * 100.0
        ));
    }
    if report.label != plan.pivot {
        let mut warnings = Vec::new();
        report.ratio =
            relate(blocks, pivot, |block| block.requests_per_second(), "throughput", &mut warnings);
        report.cpu_ratio =
            relate(blocks, pivot, |block| block.cpu_ns_per_request(), "CPU per request", &mut warnings);
        report.warnings.extend(warnings);
    }
}

/// The ratio over the blocks in which both were measured.
fn relate(
    blocks: &Blocks,
    pivot: &Blocks,
    value: impl Fn(&Block) -> f64,
    name: &str,
    warnings: &mut Vec<String>,
) -> Option<Ratio> {
    let pairs = blocks.iter().filter_map(|(number, block)| Some((value(block), value(pivot.get(number)?))));
    let (subject, base): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let estimate = paired_log_ratio(&subject, &base).ok()?;
    // That there are too few blocks is true of every row at once: a note says it, once.
    let own = estimate.warnings.iter().filter(|warning| !matches!(warning, Warning::TooFewBlocks { .. }));
    warnings.extend(own.map(|warning| format!("{name}: {warning}")));
    Some(Ratio {
        ratio: estimate.ratio,
        low: estimate.low,
        high: estimate.high,
        confidence_attained: estimate.confidence_attained,
        n: estimate.n,
    })
}

/// Without a pivot's throughput there is nothing to relate a throughput to.
fn relate_to_a_doubtful_pivot(rows: &mut [RowReport], pivot: &str) {
    let doubt = rows.iter().find(|row| row.label == pivot).and_then(|row| row.throughput_doubt.clone());
    for row in rows {
        if row.throughput_doubt.is_some() || doubt.is_some() {
            row.ratio = None;
        }
        if row.throughput_doubt.is_some() {
            row.requests_per_second = None;
        }
    }
}

fn load_text(plan: &Plan) -> String {
    format!(
        "closed loop, {} connections, {} generator thread(s); service: THREADS={} DELAY_MS={}; slices of {} ms, {} a block{}",
        plan.load.connections,
        plan.load.threads,
        plan.knobs.threads,
        plan.knobs.delay_ms,
        plan.slice_ns / 1_000_000,
        plan.slices_per_block,
        latency::load_text(plan)
    )
}

fn foreign_cpu_share(plan: &Plan, records: &[Record]) -> Option<f64> {
    let (mut foreign_ns, mut all_ns) = (0.0, 0.0);
    for record in records {
        if let Record::Slice(Slice { foreign_cpu_ns: Some(ns), elapsed_ns, .. }) = record {
            foreign_ns += *ns as f64;
            all_ns += *elapsed_ns as f64 * plan.pinning.all().len() as f64;
        }
    }
    (all_ns > 0.0).then(|| (foreign_ns / all_ns).max(0.0))
}

fn notes(plan: &Plan, kept: &Kept, rounds: &BTreeMap<usize, usize>, foreign: Option<f64>) -> Vec<String> {
    let mut notes = kept.damage.clone();
    if let Some(share) = foreign.filter(|share| *share > FOREIGN_SHARE) {
        notes.push(format!(
            "machine-noisy: others took {:.0}% of the measured CPUs: trust CPU per request more than throughput, or run \
             again on a quiet machine",
            share * 100.0
        ));
    }
    if !plan.pinning.apart() {
        notes
            .push("services and generator share one CPU: throughput says what both cost together".to_owned());
    }
    if !kept.records.iter().any(|record| matches!(record, Record::Ended { .. })) {
        notes.push("the run has no end: it was cut off, or it is still going on".to_owned());
    }
    let pivot = blocks_of(&kept.records, rounds, &plan.pivot).len();
    if let Some(needed) =
        signed_rank::least_n(DEFAULT_CONFIDENCE).filter(|needed| (1..*needed).contains(&pivot))
    {
        notes.push(Warning::TooFewBlocks { n: pivot, needed }.to_string());
    }
    let cut = rounds.values().filter(|rounds| **rounds < plan.slices_per_block).count();
    if cut > 0 && pivot > 0 {
        let begun = rounds.len();
        notes
            .push(format!("{cut} of {begun} blocks were cut off: they count with the rounds that are whole"));
    }
    notes
}
