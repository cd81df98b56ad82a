//! Computes a row of a run: its own figures, then its ratios to the reference.

use std::collections::{BTreeMap, BTreeSet};

use tare_bench::{folder::StoredRun, metric::Metric, plan::PlannedRow, sample::Sample};
use tare_host::cpus::Pinning;
use tare_service::catalogue::Style;
use tare_stats::{Looks, RatioEstimate, Warning, summary};

use super::{
    BackingCost, BackingKind, CostAtRate, OpenLatency, RatioBound, Role, RowState, backing,
    blocks::{Block, Blocks, blocks_of},
    bound, equal_rate, latency,
    relation::{level, related, related_level},
    role,
    rounds::Rounds,
    starts,
    state::{self, Counts},
    uncounted,
};
use crate::{
    behaviour::{
        answers::{self, AnswerWindow},
        cost, memory, thaw,
    },
    estimate::UnitEstimate,
    findings::{Finding, RowIssue, detect},
    validity::{COST_NS_MIN, RowLimits, Shares},
    verdict::Verdict,
};

#[derive(Debug, Clone, Default)]
pub struct RowReport {
    pub label: String,
    pub language: String,
    pub framework: String,
    pub title: Option<String>,
    pub style: Style,
    pub version: Option<String>,
    pub state: RowState,
    pub role: Role,
    /// The best and the worst rank that it may have.
    pub ranks: Option<[usize; 2]>,
    pub blocks: usize,
    /// Processes that measured them; fewer than blocks if some lasted for several.
    pub starts: usize,
    /// Load time until CPU per request was steady, from the pilot. Absent if it never was.
    pub steady_after_ns: Option<u64>,
    /// Answers per second within the window, as a geometric mean over blocks, like all levels here. Divided
    /// by the reference's it gives the ratio.
    pub requests_per_second: Option<UnitEstimate>,
    /// Why a measured row has no throughput.
    pub throughput_finding: Option<Finding>,
    /// Throughput divided by the reference's, paired by block.
    pub ratio: Option<UnitEstimate>,
    /// What the ratio implies about capacities.
    pub throughput_bound: RatioBound,
    /// The ratio extrapolated to saturation by the busy shares; absent if both were saturated.
    pub ratio_if_busy: Option<f64>,
    /// CPU time of the service's processes per answer. Divided by the reference's it gives the ratio.
    pub cpu_ns_per_request: Option<UnitEstimate>,
    /// The same plus all softirq on the service's CPUs; absent if unknown.
    pub cpu_ns_per_request_with_softirq: Option<f64>,
    /// CPU time per answer divided by the reference's.
    pub cpu_ratio: Option<UnitEstimate>,
    /// The cost of the service's backing; absent without one.
    pub backing: Option<BackingCost>,
    /// Where the time of the CPUs went; absent without figures.
    pub usage: Option<Shares>,
    /// Bytes on the wire per answer, both ways.
    pub bytes_per_request: Option<f64>,
    /// Voluntary and involuntary switches of the service's threads; the median of the blocks.
    pub context_switches_per_request: Option<f64>,
    /// Mean of the processes' medians.
    pub latency_ns_p50: Option<UnitEstimate>,
    /// Mean of the processes' 99th percentiles.
    pub latency_ns_p99: Option<UnitEstimate>,
    /// Latency in the open loops, in the order of the plan's rates.
    pub latency_open: Vec<OpenLatency>,
    /// The cost per request at the rates common to all rows.
    pub cost_at_rates: Vec<CostAtRate>,
    /// Peak resident memory; the mean of the processes.
    pub rss_bytes_peak: Option<UnitEstimate>,
    /// From `exec` to the first correct answer; the mean of the starts.
    pub start_up_ns: Option<UnitEstimate>,
    /// Requests sent in all complete blocks.
    pub sent: u64,
    /// Wrong and missing answers, by class.
    pub failed: BTreeMap<String, u64>,
    pub findings: Vec<Finding>,
}

static NO_BLOCKS: Blocks<'static> = Blocks::new();

/// What a row is without the others.
pub(super) struct OwnRow<'a> {
    pub planned: &'a PlannedRow,
    place: usize,
    pub blocks: &'a Blocks<'a>,
    /// Its blocks if the row was measured, else none.
    pub measured: &'a Blocks<'a>,
    pub state: RowState,
    counts: Counts,
    pub cpu_ns_per_request: Option<UnitEstimate>,
    pub throughput: OwnThroughput,
    pub cost_at_rates: Vec<CostAtRate>,
}

/// The throughput of a row, with what decides whether it is the service's own.
#[derive(Default)]
pub(super) struct OwnThroughput {
    /// Absent if it is not the service's own.
    requests_per_second: Option<UnitEstimate>,
    /// Why it is not.
    doubt: Option<RowIssue>,
    pub usage: Option<Shares>,
    /// What else the CPU time shows.
    pub issues: Vec<RowIssue>,
}

impl<'a> OwnRow<'a> {
    pub(super) fn of(
        stored: &'a StoredRun,
        place: usize,
        blocks: &'a Blocks<'a>,
        limits: &RowLimits,
    ) -> OwnRow<'a> {
        let plan = &stored.header.plan;
        let counts = Counts::of(blocks);
        let state = state::of(stored, place, blocks, &counts, limits);
        let measured = if state == RowState::Measured { blocks } else { &NO_BLOCKS };
        let cost = level(|block| block.cpu_ns_per_request(), measured).filter(|_| has_cost(measured));
        OwnRow {
            planned: &plan.rows[place],
            place,
            blocks,
            measured,
            counts,
            cpu_ns_per_request: cost,
            throughput: match state {
                RowState::Measured => OwnThroughput::of(stored, place, blocks, cost.is_some(), limits),
                _ => OwnThroughput::default(),
            },
            cost_at_rates: equal_rate::own_costs(plan, measured),
            state,
        }
    }

    /// Findings of its own blocks, before those of its CPU time.
    fn issues(&self, stored: &StoredRun) -> Vec<RowIssue> {
        let (plan, records, blocks) = (&stored.header.plan, &stored.records, self.blocks);
        let mut issues: Vec<RowIssue> = unclean_stops(blocks).collect();
        issues.extend(starts::pilot(records, self.place).and_then(starts::unsteady));
        // Another failure is the reason, and what was wrong under load stands beside it.
        if matches!(self.state, RowState::Failed(_)) {
            issues.extend(state::wrong_answers(stored, self.place));
        }
        if self.state == RowState::Measured {
            issues.extend(starts::warming(blocks));
            issues.extend(starts::failed_in_warm_up(records, self.place));
            issues.extend(some_failed(&self.counts, blocks, plan.load().connections));
            issues.extend(answers_in_time(plan.pinning_of(self.place), blocks));
            issues.extend(memory::growth(records, self.place).map(RowIssue::MemoryGrowth));
        }
        issues
    }
}

impl OwnThroughput {
    fn of(
        stored: &StoredRun,
        row: usize,
        blocks: &Blocks,
        has_cost: bool,
        limits: &RowLimits,
    ) -> OwnThroughput {
        let plan = &stored.header.plan;
        let (pinning, threads) = (plan.pinning_of(row), plan.service_settings(row, 0).threads);
        let slices: Vec<&Sample> = blocks.values().flat_map(|block| block.slices.iter().copied()).collect();
        let shares = Shares::of(&slices, pinning, threads);
        let mut issues = Vec::new();
        let doubt = match has_cost {
            true => {
                // Tare gave a running server neither CPUs nor a number of threads.
                let placements = blocks.values().filter_map(|block| block.stopped?.placement.as_ref());
                let strayed = || detect::placement(placements, pinning);
                let strayed = || strayed().or_else(|| detect::more_threads(&shares, pinning, threads));
                let strayed = if plan.rows[row].is_running() { None } else { strayed() };
                // A service that is a plain command was not given `THREADS`.
                if strayed.is_none() && !matches!(plan.rows[row].style, Style::Own | Style::Running) {
                    issues.extend(detect::threads_at_work(&shares, threads));
                }
                let doubt = strayed.or_else(|| detect::throughput(&shares, limits));
                if doubt.is_none() {
                    let delay_ms = plan.points[0].service_settings.delay_ms;
                    issues.extend(detect::not_server_bound(&shares, delay_ms, limits));
                }
                doubt
            }
            false => {
                issues.extend(uncounted::why(&stored.records, row).or_else(|| impossible_cost(blocks)));
                detect::throughput_without_cpu(&shares, limits)
            }
        };
        let level = level(|block| Some(block.requests_per_second()), blocks);
        OwnThroughput {
            requests_per_second: level.filter(|_| doubt.is_none()),
            doubt,
            usage: Some(shares),
            issues,
        }
    }
}

/// Whether a row has a cost: at least half of its blocks have one.
fn has_cost(blocks: &Blocks) -> bool {
    let with = blocks.values().filter(|block| block.cpu_ns_per_request().is_some()).count();
    2 * with >= blocks.len()
}

/// An impossible cost of a row whose CPU time was discarded.
fn impossible_cost(blocks: &Blocks) -> Option<RowIssue> {
    let counted = |block: &Block| block.cost(Sample::cost, |moment| moment.cost)?.per_request();
    let cpu_ns_per_request = median(blocks, |block| counted(block).filter(|ns| *ns < COST_NS_MIN))?;
    Some(RowIssue::ImpossibleCost { cpu_ns_per_request })
}

/// Missing answers that are too few to invalidate the row. Connections closed during a freeze do not count,
/// because they are replaced before a window.
fn some_failed(counts: &Counts, blocks: &Blocks, connections: usize) -> Option<RowIssue> {
    let failed: u64 = counts.failed.values().sum();
    if let Some(closed) = thaw::closed(blocks.values().flat_map(Block::all), connections) {
        return Some(RowIssue::ClosedAtThaw(closed));
    }
    let first = blocks.values().flat_map(Block::all).find_map(|slice| slice.load.first_failure.clone());
    (failed > 0).then_some(RowIssue::SomeFailed { failed, sent: counts.sent, first })
}

/// Stalls, and requests with very late answers.
fn answers_in_time(pinning: &Pinning, blocks: &Blocks) -> impl Iterator<Item = RowIssue> {
    let slices = || blocks.values().flat_map(|block| &block.slices);
    let windows: Vec<AnswerWindow> = slices().filter_map(|slice| AnswerWindow::of(slice, pinning)).collect();
    let before: Vec<AnswerWindow> =
        slices().filter_map(|slice| AnswerWindow::before(slice, pinning)).collect();
    let stalls = answers::stalls(&windows, &before).map(RowIssue::Stalls);
    stalls.into_iter().chain(answers::late(&windows).map(RowIssue::LateAnswers))
}

/// The ways in which its processes stopped uncleanly, without duplicates.
fn unclean_stops(blocks: &Blocks) -> impl Iterator<Item = RowIssue> {
    let all =
        blocks.values().filter_map(|block| block.stopped.and_then(|stopped| stopped.unclean_stop.clone()));
    let all: BTreeSet<String> = all.collect();
    all.into_iter().map(|what| RowIssue::UncleanStop { what })
}

impl RowReport {
    /// The row, related to the reference.
    pub(super) fn of(
        stored: &StoredRun,
        own: &OwnRow,
        role: Role,
        ratios: Ratios,
        reference: Option<&OwnRow>,
        looks: Option<&Looks>,
    ) -> RowReport {
        let (planned, plan, blocks) = (own.planned, &stored.header.plan, own.measured);
        let doubted = |row: &OwnRow| row.throughput.doubt.is_some();
        let is_doubtful = doubted(own) || reference.is_some_and(doubted);
        let unsaturated = |row: &OwnRow| bound::unsaturated(&row.throughput.issues);
        let bounded = bound::classify(
            ratios.throughput.filter(|_| !is_doubtful),
            [unsaturated(own), reference.and_then(unsaturated)],
            own.cpu_ns_per_request.and(own.throughput.usage).map(|usage| usage.busy()),
        );
        let other = reference.filter(|reference| reference.planned.label != planned.label);
        let base = other.map(|other| (&other.cost_at_rates[..], other.blocks));
        let related = |level: fn(&OwnRow) -> Option<UnitEstimate>, ratio| {
            related_level(level(own), reference.and_then(level), ratio)
        };
        let cost = related(|row| row.cpu_ns_per_request, ratios.cpu);
        let finding = |issue| Finding::of_row(&planned.label, issue);
        let issues = own.issues(stored).into_iter().chain(own.throughput.issues.iter().cloned());
        let issues = issues.chain(ratios.issues).chain(bounded.issue);
        RowReport {
            label: planned.label.clone(),
            language: planned.language.clone(),
            framework: planned.framework.clone(),
            title: planned.title.clone(),
            style: planned.style,
            version: planned.version.clone(),
            state: own.state.clone(),
            role,
            ranks: None,
            blocks: own.blocks.len(),
            starts: starts::count(own.blocks),
            steady_after_ns: starts::pilot(&stored.records, own.place)
                .and_then(|pilot| pilot.steady_after_ns),
            requests_per_second: related(|row| row.throughput.requests_per_second, bounded.ratio),
            throughput_finding: own.throughput.doubt.clone().map(finding),
            ratio: bounded.ratio,
            throughput_bound: bounded.bound,
            ratio_if_busy: bounded.if_busy,
            cpu_ns_per_request: cost,
            cpu_ns_per_request_with_softirq: with_softirq(stored, blocks)
                .zip(cost.zip(own.cpu_ns_per_request))
                .map(|(with, (related, own))| with.value * (related.value / own.value)),
            cpu_ratio: ratios.cpu,
            backing: backing::compute(blocks).map(|backing| backing.beside(cost, ratios.total_cpu)),
            usage: own.throughput.usage,
            bytes_per_request: median(blocks, |block| {
                let bytes = block.sum(|slice| slice.load.bytes_sent + slice.load.bytes_received);
                Some(bytes / answered(block))
            }),
            context_switches_per_request: median(blocks, |block| {
                let switches = block.slices.iter().map(|slice| slice.host.context_switches);
                Some(switches.sum::<Option<u64>>()? as f64 / answered(block))
            }),
            latency_ns_p50: level(|block| block.latency_ns(0, 0.5), blocks),
            latency_ns_p99: level(|block| block.latency_ns(0, 0.99), blocks),
            latency_open: latency::compute(plan, &planned.label, blocks),
            cost_at_rates: equal_rate::related((&own.cost_at_rates, blocks), base, looks),
            rss_bytes_peak: level(|block| Some(block.stopped?.rss_bytes_peak? as f64), blocks),
            start_up_ns: level(|block| Some(block.start_up_ns()? as f64), blocks),
            sent: own.counts.sent,
            failed: own.counts.failed.clone(),
            findings: issues.map(finding).collect(),
        }
    }

    /// Whether it has valid figures.
    pub fn verdict(&self) -> Verdict {
        match &self.state {
            RowState::Measured if self.throughput_finding.is_some() => Verdict::Invalid,
            state => state.verdict(),
        }
    }

    /// Why it has no figures, or no throughput.
    pub fn reason(&self) -> Option<String> {
        self.state.reason().or_else(|| self.throughput_finding.as_ref().map(ToString::to_string))
    }

    /// CPU time of the service per correct answer in user mode and in the kernel: its figure, split by ticks.
    pub fn cpu_ns_by_mode(&self) -> Option<[f64; 2]> {
        let (cpu_ns, kernel) = (self.cpu_ns_per_request?.value, self.backing.as_ref()?.kernel?.share);
        Some([cpu_ns * (1.0 - kernel), cpu_ns * kernel])
    }

    /// Whether its cost was still changing at the end of its warm-up.
    pub fn is_unsteady(&self) -> bool {
        let is_it = |issue: &RowIssue| matches!(issue, RowIssue::NeverSteady { .. });
        self.findings.iter().filter_map(Finding::row_issue).any(is_it)
    }

    /// Whether the run measures this row's cost. Raw sockets and the reference are yardsticks, even if they
    /// are ranked for lack of other rows.
    pub fn is_asked_for(&self, reference: &str) -> bool {
        role::is_asked_for(self.style, &self.label, reference)
    }

    /// Busy share of the service's CPUs, if it is too small for a capacity.
    pub(super) fn unsaturated(&self) -> Option<f64> {
        bound::unsaturated(self.findings.iter().filter_map(Finding::row_issue))
    }

    /// The share of time in which the service kept its CPUs busy.
    pub fn server_cpu_share(&self) -> Option<f64> {
        self.usage.filter(|_| self.cpu_ns_per_request.is_some()).map(|usage| usage.server)
    }

    /// The same including a backing on these CPUs; absent without one.
    pub fn busy_cpu_share(&self) -> Option<f64> {
        let usage = self.server_cpu_share().and(self.usage).filter(|usage| usage.with_backing.is_some());
        usage.map(|usage| usage.busy())
    }

    /// Throughput divided by the reference's; 1 for the reference itself if its throughput is valid.
    pub fn throughput_of(&self, reference: &str) -> Option<UnitEstimate> {
        self.ratio.or(self
            .requests_per_second
            .filter(|_| self.label == reference)
            .map(|_| UnitEstimate::known(1.0)))
    }

    /// The ratio to the reference in a metric that ranks are made of.
    pub fn ratio_by(&self, metric: Metric) -> Option<UnitEstimate> {
        match metric {
            Metric::Throughput => self.ratio,
            Metric::CpuWithDatabase => self.database()?.total_cpu_ratio,
            _ => self.cpu_ratio,
        }
    }

    /// The cost of its database; absent if it has none.
    pub fn database(&self) -> Option<&BackingCost> {
        self.backing.as_ref().filter(|backing| backing.kind == BackingKind::Database)
    }

    /// CPU per request with the database's, divided by the reference's; 1 for the reference itself.
    pub fn total_cost_of(&self, reference: &str) -> Option<UnitEstimate> {
        let database = self.database()?;
        let own = || database.total_cpu_ns_per_request.filter(|_| self.label == reference);
        database.total_cpu_ratio.or_else(|| own().map(|_| UnitEstimate::known(1.0)))
    }

    /// CPU per request divided by the reference's; 1 for the reference itself.
    pub fn cost_of(&self, reference: &str) -> Option<UnitEstimate> {
        self.cpu_ratio
            .or(self.cpu_ns_per_request.filter(|_| self.label == reference).map(|_| UnitEstimate::known(1.0)))
    }
}

fn answered(block: &Block) -> f64 {
    block.sum(|slice| slice.load.answered)
}

fn median(blocks: &Blocks, value: impl Fn(&Block) -> Option<f64>) -> Option<f64> {
    summary::median(&blocks.values().filter_map(value).collect::<Vec<f64>>()).ok()
}

/// The cost with all softirq on the service's CPUs; absent if the kernel does not count it.
fn with_softirq(stored: &StoredRun, blocks: &Blocks) -> Option<UnitEstimate> {
    let is_apart = stored.header.environment.irq_time_apart?;
    let with_softirq = |block: &Block| {
        let softirq_ns = block.softirq_ns().map(|ns| if is_apart { ns } else { 0.0 })?;
        Some(block.cpu_ns_per_request()? + softirq_ns / answered(block))
    };
    level(with_softirq, blocks)
}

/// A row divided by the reference. The reference itself has no ratios.
#[derive(Debug, Default)]
pub(super) struct Ratios {
    pub throughput: Option<UnitEstimate>,
    pub cpu: Option<UnitEstimate>,
    /// That of service and backing together.
    pub total_cpu: Option<UnitEstimate>,
    pub issues: Vec<RowIssue>,
}

/// The ratios of each row, in order.
pub(super) fn to_reference(
    rows: &[OwnRow],
    reference: Option<&OwnRow>,
    looks: Option<&Looks>,
) -> Vec<Ratios> {
    let Some(reference) = reference else { return rows.iter().map(|_| Ratios::default()).collect() };
    let is_other = |row: &OwnRow| row.planned.label != reference.planned.label;
    let blocks: Vec<Option<&Blocks>> = rows.iter().map(|row| is_other(row).then_some(row.measured)).collect();
    let of = |metric| related(&blocks, reference.blocks, metric, looks);
    let both = of(Metric::Throughput).into_iter().zip(of(Metric::Cpu)).map(<[_; 2]>::from);
    let all = both.zip(of(Metric::CpuWithDatabase));
    type Found = ([Option<RatioEstimate>; 2], Option<RatioEstimate>);
    let ratios = |(blocks, ([throughput, cpu], total_cpu)): (&Option<&Blocks>, Found)| {
        let step = blocks.and_then(|blocks| cost::step(&starts::courses(blocks, reference.blocks)));
        let issues = warnings(Metric::Throughput, throughput.as_ref());
        let issues = issues.chain(warnings(Metric::Cpu, cpu.as_ref())).chain(step.map(RowIssue::CostStep));
        Ratios {
            issues: issues.collect(),
            throughput: throughput.as_ref().map(UnitEstimate::from),
            cpu: cpu.as_ref().map(UnitEstimate::from),
            total_cpu: total_cpu.as_ref().map(UnitEstimate::from),
        }
    };
    blocks.iter().zip(all).map(ratios).collect()
}

fn warnings(metric: Metric, found: Option<&RatioEstimate>) -> impl Iterator<Item = RowIssue> {
    let warnings = found.into_iter().flat_map(|found| found.warnings.clone());
    // Too few blocks affect all rows alike: one finding of the run covers it.
    let own = warnings.filter(|warning| !matches!(warning, Warning::TooFewBlocks { .. }));
    own.map(move |warning| RowIssue::Sample { metric: Some(metric), warning })
}

/// A row of the table, with its blocks.
pub(super) struct TableRow<'a> {
    pub planned: &'a PlannedRow,
    pub row: &'a RowReport,
    pub blocks: Blocks<'a>,
}

/// These rows, as far as they were measured.
pub(super) fn measured<'a>(
    stored: &'a StoredRun,
    rows: impl IntoIterator<Item = &'a RowReport>,
) -> Vec<TableRow<'a>> {
    let plan = &stored.header.plan;
    let rounds = Rounds::of(plan, &stored.records);
    let of = |row: &'a RowReport| {
        let place = plan.rows.iter().position(|planned| planned.label == row.label)?;
        let blocks = blocks_of(&stored.records, &rounds, place);
        (row.state == RowState::Measured).then_some(TableRow { planned: &plan.rows[place], row, blocks })
    };
    rows.into_iter().filter_map(of).collect()
}
