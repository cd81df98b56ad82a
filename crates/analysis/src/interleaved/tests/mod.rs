mod cpu_usage;
mod discarded;
mod moments;

use super::*;
use crate::estimate::UnitEstimate;
use crate::{
    checks,
    findings::{Finding, RowIssue, RunIssue},
    validity::RowLimits,
    verdict::Verdict,
};
use tare_bench::sample::{Failure, HostUsage, Sample};
use tare_bench::{
    experiment::Rate,
    fixture,
    folder::{Header, StoredRun},
    plan::{Excluded, Exclusion, LoadSpec, Plan, PlannedRow},
    record::{Block, EndedRun, Ending, Failed, Latency, Record, Started, StoppedService},
};
use tare_host::environment::Environment;
use tare_service::catalogue::Style;

fn row(label: &str, style: Style) -> PlannedRow {
    PlannedRow { framework: label.to_owned(), style, content: None, ..fixture::row(label) }
}

/// Eight blocks of two slices; `half` is served at half the reference's rate for twice its CPU.
fn kept() -> StoredRun {
    let mut absent = row("absent", Style::Framework);
    let reason = "not on this machine: \"ghc --version\" cannot run; `apt-get install ghc`".to_owned();
    absent.excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
    let style = |label| if label == "raw-socket" { Style::RawSocket } else { Style::Framework };
    let rows = ["raw-socket", "half", "dying", "wrong"].map(|label| row(label, style(label)));
    let plan = fixture::of_rows(rows.into_iter().chain([absent]).collect());
    let plan = fixture::at_points(plan, |point| point.rounds = 2);
    let plan = fixture::in_blocks(plan, |blocks| {
        (blocks.min, blocks.max, blocks.budget_ns) = (6, 8, 60_000_000_000);
    });
    let plan = Plan {
        experiment: "quick".to_owned(),
        title: "Quick".to_owned(),
        question: "What does it cost?".to_owned(),
        ..plan
    };
    let environment = Environment {
        system: "Debian".to_owned(),
        cpu: "a <fast> CPU".to_owned(),
        cpus: 2,
        kernel: "Linux 6".to_owned(),
        ..Environment::default()
    };
    let header = Header::new("0.1.0", "2026-01-02T03:04:05Z".to_owned(), plan, environment);
    let records = (0..8)
        .flat_map(block_of)
        .chain([Record::Ended(EndedRun { reason: Ending::BlocksMax, elapsed_ns: 5_000_000_000 })]);
    StoredRun { header, records: records.collect(), damage: Vec::new(), in_progress: false }
}

/// Indices of rows.
const HALF: usize = 1;
const DYING: usize = 2;
const WRONG: usize = 3;

fn block_of(block: usize) -> Vec<Record> {
    let noise = 1000 + 10 * block as u64;
    let mut records = vec![Record::Block(Block { block, order: vec![0, HALF, WRONG], ..Block::default() })];
    for (row, answered, cpu_share) in [(0, 20 * noise, 99), (HALF, 10 * noise, 98), (WRONG, 10 * noise, 99)] {
        records.push(Record::Started(Started { block, row, start_up_ns: Some(3_000_000) }));
        for round in 0..2 {
            let mut slice = Sample { block, round, row, ..slice_of(answered, cpu_share) };
            if row == WRONG {
                slice.load.failed = [(Failure::Mismatch, 500)].into_iter().collect();
            }
            records.push(Record::Sample(Box::new(slice)));
        }
        records.push(Record::Stopped(StoppedService { block, row, ..stopped() }));
    }
    if block == 2 {
        let reason = "was killed by signal 9 in a slice".to_owned();
        records.push(Record::Failed(Failed { block, row: DYING, reason }));
    }
    records
}

/// Rows at these shares of the reference's rate, each with a little noise of its own.
pub(super) fn kept_with(rows: &[(&str, f64)], blocks: usize) -> StoredRun {
    let mut stored = kept();
    let style = |label: &str| if label == "raw-socket" { Style::RawSocket } else { Style::Framework };
    stored.header.plan.rows = rows.iter().map(|(label, _)| row(label, style(label))).collect();
    stored.records.clear();
    for block in 0..blocks {
        let (order, elapsed_ns) = ((0..rows.len()).collect(), block as u64 * 2_000_000_000);
        stored.records.push(Record::Block(Block { block, order, elapsed_ns, ..Block::default() }));
        for (row, (_, share)) in rows.iter().enumerate() {
            let wobble = (block * 37 + row * 53 + block * block * (row + 3)) % 61;
            let answered = (20_000.0 * share * (1.0 + 0.02 * (wobble as f64 / 61.0 - 0.5))) as u64;
            let slices = (0..2).map(|round| Sample { block, round, row, ..slice_of(answered, 98) });
            stored.records.extend(slices.map(|slice| Record::Sample(Box::new(slice))));
            stored.records.push(Record::Stopped(StoppedService { block, row, ..stopped() }));
        }
    }
    let elapsed_ns = blocks as u64 * 2_000_000_000;
    stored.records.push(Record::Ended(EndedRun { reason: Ending::BlocksMax, elapsed_ns }));
    stored
}

fn slice_of(answered: u64, cpu_share: u64) -> Sample {
    let slice = fixture::slice(answered);
    let host = HostUsage { server_cpu_ns: cpu_share * 1_000_000, ..slice.host };
    Sample { host, ..slice }
}

fn stopped() -> StoppedService {
    let latency = Latency {
        p50_ns: 310_000,
        p90_ns: 400_000,
        p99_ns: 1_240_000,
        p999_ns: 2_000_000,
        max_ns: 3_000_000,
        at_least: false,
    };
    StoppedService {
        rss_bytes_peak: Some(4 << 20),
        context_switches: Some(10),
        latency: vec![Some(latency)],
        ..StoppedService::default()
    }
}

pub(super) fn find<'a>(report: &'a Report, label: &str) -> &'a RowReport {
    report.rows.iter().find(|row| row.label == label).unwrap()
}

#[test]
fn the_ratio_is_paired_by_block_and_holds_the_truth() {
    let report = compute(&kept());
    let ratio = find(&report, "half").ratio.unwrap();
    assert!(
        (ratio.value - 0.5).abs() < 1e-9 && ratio.low.unwrap() <= 0.5 && ratio.high.unwrap() >= 0.5,
        "{ratio:?}"
    );
    let cpu = find(&report, "half").cpu_ratio.unwrap();
    assert!((cpu.value - 98.0 / 49.5).abs() < 1e-6, "{cpu:?}");
    assert_eq!(report.blocks, 8);
}

#[test]
fn a_row_without_a_valid_figure_has_a_reason() {
    let report = compute(&kept());
    assert_eq!(
        find(&report, "dying").state,
        RowState::Failed("block 3: was killed by signal 9 in a slice".to_owned())
    );
    assert!(
        matches!(&find(&report, "wrong").state, RowState::Invalid(found) if found.to_string().contains("mismatch 8000"))
    );
    assert!(matches!(find(&report, "absent").state, RowState::Excluded(_)));
    assert_eq!(find(&report, "wrong").requests_per_second, None);
    assert_eq!(checks::verdict(&checks::of_table(&report)), Verdict::ServiceFailed);
    assert_eq!(find(&report, "wrong").verdict(), Verdict::Invalid);
}

#[test]
fn a_generator_that_is_the_slower_one_gives_no_throughput() {
    let mut stored = kept();
    for record in &mut stored.records {
        if let Record::Sample(slice) = record
            && slice.row == HALF
        {
            (slice.host.server_cpu_ns, slice.host.generator_cpu_ns) = (50_000_000, 99_000_000);
        }
    }
    let report = compute(&stored);
    let half = find(&report, "half");
    assert_eq!((half.requests_per_second, half.ratio), (None, None));
    assert_eq!(half.throughput_finding.as_ref().map(Finding::code), Some("generator-bound"));
    assert!(half.cpu_ratio.is_some(), "CPU per request does not depend on who waits");
}

#[test]
fn a_block_that_was_cut_off_counts_as_far_as_its_rounds_are_whole() {
    let mut stored = kept();
    let last_block = stored.records.iter().rposition(|record| matches!(record, Record::Block(_))).unwrap();
    let is_late =
        |record: &Record| matches!(record, Record::Sample(slice) if slice.block == 7 && slice.round == 1);
    let one_round = |record: &Record| {
        !is_late(record) && !matches!(record, Record::Stopped(StoppedService { block: 7, .. }))
    };
    stored.records.pop();
    stored.records.retain(one_round);
    let report = compute(&stored);
    assert_eq!((report.blocks, find(&report, "half").blocks), (8, 8));
    assert_eq!(find(&report, "half").ratio.as_ref().unwrap().n, 8);
    let expected = Finding::of_run(RunIssue::BlocksCut { cut: 1, begun: 8 });
    assert!(report.findings.contains(&expected), "{:?}", report.findings);

    stored.records.truncate(last_block + 3);
    assert_eq!(compute(&stored).blocks, 7, "no round is whole");
}

/// One line per row, with the figures of a table.
fn figures(report: &Report) -> String {
    let ratio = |ratio: &Option<UnitEstimate>| {
        ratio.as_ref().map(|ratio| format!("{:.4} {:?} {:?}", ratio.value, ratio.low, ratio.high))
    };
    let row = |row: &RowReport| {
        format!(
            "{}: {:?}, ranks {:?}, {:?}/s ({:?}), {:?} ns ({:?}), failed {:?}",
            row.label,
            row.state,
            row.ranks,
            row.requests_per_second.map(|found| found.value),
            ratio(&row.ratio),
            row.cpu_ns_per_request.map(|found| found.value),
            ratio(&row.cpu_ratio),
            row.failed
        )
    };
    report.rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_row_has_its_figures_or_its_reason() {
    insta::assert_snapshot!(figures(&compute(&kept())));
}

#[test]
fn too_few_blocks_are_said_once() {
    let mut stored = kept();
    let second = stored
        .records
        .iter()
        .position(|record| matches!(record, Record::Block(Block { block: 1, .. })))
        .unwrap();
    stored.records.truncate(second);
    let report = compute(&stored);
    assert_eq!(find(&report, "half").ratio.as_ref().unwrap().low, None);
    let too_few = Finding::of_run(RunIssue::TooFewBlocks { blocks: 1, needed: 2 });
    assert_eq!(report.findings.iter().filter(|found| **found == too_few).count(), 1, "{:?}", report.findings);
    let half = &find(&report, "half").findings;
    assert!(!half.iter().any(|found| found.to_string().contains("too few")), "{half:?}");
    let ranks = report.ranks.as_ref().unwrap();
    assert!(ranks.lines()[0].starts_with("no ranks yet: 1 block is too few for an interval"));
    assert!(!ranks.are_known() && find(&report, "half").ranks.is_none());
}

#[test]
fn others_on_the_machine_are_reported() {
    let mut stored = kept();
    for record in &mut stored.records {
        if let Record::Sample(slice) = record {
            slice.host.foreign_cpu_ns = Some(20_000_000);
        }
    }
    let report = compute(&stored);
    assert_eq!(report.interference_share, Some(0.1));
    assert_eq!(report.findings[0], Finding::of_run(RunIssue::NoisyHost { share: 0.1 }));
}

pub(super) fn each_slice(stored: &mut StoredRun, change: impl Fn(&mut Sample)) {
    for record in &mut stored.records {
        if let Record::Sample(slice) = record {
            change(slice);
        }
    }
}

#[test]
fn a_disturbed_slice_takes_its_round_from_all_rows() {
    let mut stored = kept();
    let before = compute(&stored);
    each_slice(&mut stored, |slice| {
        if (slice.block, slice.round, slice.row) == (3, 1, HALF) {
            (slice.host.foreign_cpu_ns, slice.load.answered_in_window) = (Some(90_000_000), 17);
        }
    });
    let report = compute(&stored);
    let dropped = Dropped { rounds: 1, of_rounds: 16, slices_taken: 1, ..Dropped::default() };
    assert_eq!(report.dropped, dropped);
    for row in ["half", "raw-socket"] {
        assert_eq!(find(&report, row).requests_per_second, find(&before, row).requests_per_second, "{row}");
        assert_eq!(find(&report, row).blocks, 8, "{row}");
        assert_eq!(find(&report, row).sent, find(&before, row).sent, "what was sent was sent");
    }
    assert_eq!(find(&report, "half").ratio, find(&before, "half").ratio);
    let note = "1 of 16 rounds were dropped for all rows: in 1 slice other programs ran on the measured CPUs";
    assert!(report.findings.iter().any(|found| found.to_string() == note), "{:?}", report.findings);
}

#[test]
fn a_block_is_never_dropped() {
    let mut stored = kept();
    each_slice(&mut stored, |slice| {
        if slice.block == 3 {
            (slice.host.foreign_cpu_ns, slice.load.answered_in_window) = (Some(90_000_000), 17);
        }
    });
    let report = compute(&stored);
    assert_eq!(report.dropped, Dropped { of_rounds: 16, blocks_disturbed: 1, ..Dropped::default() });
    assert_eq!(find(&report, "half").ratio.as_ref().unwrap().n, 8);
}

/// Another program constantly uses the CPUs: CPU per request stays valid, throughput does not.
#[test]
fn a_spinner_takes_throughput_and_leaves_cpu() {
    let mut stored = kept();
    each_slice(&mut stored, |slice| {
        (slice.host.foreign_cpu_ns, slice.host.server_cpu_ns) =
            (Some(50_000_000), slice.host.server_cpu_ns / 2);
        (slice.load.answered, slice.load.answered_in_window) =
            (slice.load.answered / 2, slice.load.answered_in_window / 2);
        slice.load.sent /= 2;
    });
    let report = compute(&stored);
    let half = find(&report, "half");
    assert_eq!((half.requests_per_second, half.ratio.is_none()), (None, true));
    let doubt = half.throughput_finding.as_ref().and_then(Finding::row_issue);
    assert!(matches!(doubt, Some(RowIssue::Interference { share: 0.25, .. })), "{doubt:?}");
    assert!((half.cpu_ratio.as_ref().unwrap().value - 98.0 / 49.5).abs() < 1e-3);
    assert_eq!(half.verdict(), Verdict::Invalid);
}

#[test]
fn counts_that_cannot_be_true_take_the_row() {
    let mut stored = kept();
    each_slice(&mut stored, |slice| {
        let off = if slice.row == HALF { 2 } else { 1 };
        slice.load.service_time_ns_mean = 300_000;
        slice.load.in_flight_ns = slice.load.answered * 300_000 * off;
    });
    let report = compute(&stored);
    let state = &find(&report, "half").state;
    assert!(matches!(state, RowState::Invalid(found) if found.code() == "inconsistent"), "{state:?}");
    assert_eq!(find(&report, "raw-socket").state, RowState::Measured);
}

#[test]
fn latency_that_is_the_generators_own_is_not_shown() {
    let mut stored = kept();
    let block = 0;
    stored.header.plan = fixture::with_rates(stored.header.plan, &[Rate::PerSecond(500.0)], 1);
    for (row, lag_ns_p99) in [(0, 80_000), (HALF, 3_000_000)] {
        let mut slice = Sample { block, point: 1, row, ..slice_of(500, 20) };
        let load = &mut slice.load;
        (load.offered_per_second, load.schedule_lag_ns_p99) = (Some(500.0), Some(lag_ns_p99));
        stored.records.push(Record::Sample(Box::new(slice)));
    }

    for record in &mut stored.records {
        if let Record::Stopped(stopped) = record {
            stopped.latency.push(Some(Latency { p99_ns: 777_000, ..Latency::default() }));
        }
    }
    let report = compute(&stored);
    let latency = |row: &str| find(&report, row).latency_open[0].clone();
    let good = latency("raw-socket");
    let p99_ns = good.p99_ns.unwrap().value;
    assert!((p99_ns - 777_000.0).abs() < 1.0 && good.doubt.is_none(), "{good:?}");
    let doubt = latency("half").doubt.unwrap().to_string();
    assert!(doubt.starts_with("latency at 500/s: late: in half of the slices"), "{doubt}");
}

/// Wake-ups cost both rows 5 µs more per request, a larger share of the cheaper one.
#[test]
fn the_cost_at_an_equal_rate_is_related_to_the_references() {
    let mut stored = kept();
    let rates = [Rate::PerSecond(500.0), Rate::OfCapacity(0.5)];
    stored.header.plan = fixture::with_rates(stored.header.plan, &rates, 1);
    let open = |record: &Record| {
        let Record::Stopped(stopped) = record else { return Vec::new() };
        let costs = [(0, 10_000), (HALF, 15_000)];
        let cost = costs.into_iter().filter(|(row, _)| *row == stopped.row);
        let slices = cost.flat_map(|cost| [1, 2].map(|point| (cost, point)));
        let record = |((row, cpu_ns), point)| {
            let mut slice = Sample { block: stopped.block, point, row, ..slice_of(50, 20) };
            slice.load.offered_per_second = Some(500.0);
            slice.host.server_cpu_ns = cpu_ns * slice.load.answered;
            Record::Sample(Box::new(slice))
        };
        slices.map(record).collect()
    };
    stored.records =
        stored.records.iter().flat_map(|record| [open(record), vec![record.clone()]].concat()).collect();
    let report = compute(&stored);
    let [own, half] = ["raw-socket", "half"].map(|row| find(&report, row).cost_at_rates.clone());
    assert_eq!((own.len(), half.len()), (1, 1), "a share of its own capacity is no rate for all: {half:?}");
    assert_eq!((own[0].rate.as_str(), own[0].cpu_ratio), ("500/s", None));
    assert!((own[0].cpu_ns_per_request.value - 10_000.0).abs() < 1e-6);
    let ratio = half[0].cpu_ratio.unwrap();
    assert!((ratio.value - 1.5).abs() < 1e-9 && ratio.n == 8, "{ratio:?}");
}

#[test]
fn a_service_that_was_not_warm_is_named() {
    let mut stored = kept();
    let warnings = |stored: &StoredRun| {
        let all = find(&compute(stored), "half").findings.clone();
        all.into_iter().filter(|found| found.code() == "still-warming").collect::<Vec<Finding>>()
    };
    assert_eq!(warnings(&stored), []);
    each_slice(&mut stored, |slice| {
        if slice.row == HALF && slice.round == 0 {
            slice.load.answered = slice.load.answered * 8 / 10;
        }
    });
    let found = warnings(&stored);
    let issue = found.first().and_then(Finding::row_issue);
    assert!(
        matches!(issue, Some(RowIssue::StillWarming { more_share }) if (more_share - 0.25).abs() < 1e-3),
        "{found:?}"
    );
    // Only the first block shows the start-up of a process that lasts.
    for record in &mut stored.records {
        if let Record::Started(started) = record
            && started.row == HALF
        {
            started.block = 0;
        }
    }
    assert_eq!(warnings(&stored), [], "one block is too few");
}

/// One wrong answer in 165,600, in a slice of a block that was cut off.
#[test]
fn a_row_with_one_wrong_answer_has_no_figures() {
    let mut stored = kept();
    let mut slice = Sample { block: 8, row: HALF, ..slice_of(10_000, 99) };
    slice.load.failed = [(Failure::ClosedMidResponse, 1)].into_iter().collect();
    slice.load.first_failure = Some("closed-mid-response at \"hello\"".to_owned());
    let last = stored.records.len() - 1;
    stored.records.insert(last, Record::Sample(Box::new(slice)));
    let report = compute(&stored);
    let half = find(&report, "half");
    assert_eq!(
        (half.verdict(), half.requests_per_second, half.cpu_ns_per_request),
        (Verdict::Invalid, None, None)
    );
    let reason = half.reason().unwrap();
    assert!(reason.starts_with("wrong answers: 1 of "), "{reason}");
    assert!(
        reason.ends_with("closed-mid-response 1; the first: closed-mid-response at \"hello\""),
        "{reason}"
    );

    // If it also failed, that is the reason, and the wrong answer stands beside it.
    stored.records.push(Record::Failed(Failed {
        block: 8,
        row: HALF,
        reason: "wrong after the load".to_owned(),
    }));
    let report = compute(&stored);
    let half = find(&report, "half");
    assert_eq!(
        (half.verdict(), half.reason().as_deref()),
        (Verdict::ServiceFailed, Some("block 9: wrong after the load"))
    );
    let told: Vec<String> = half.findings.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|finding| finding.contains("wrong answers: 1 of ")), "{told:?}");
}

/// One reset in some ten thousand requests keeps the figures valid, and is reported.
#[test]
fn a_reset_that_is_allowed_is_a_finding_with_its_sample() {
    let mut stored = kept();
    each_slice(&mut stored, |slice| {
        if (slice.row, slice.block, slice.round) == (HALF, 3, 1) {
            slice.load.failed = [(Failure::Reset, 1)].into_iter().collect();
            slice.load.first_failure = Some("reset at \"hello\"".to_owned());
        }
    });
    let report = compute(&stored);
    let half = find(&report, "half");
    let found = half.findings.iter().find(|found| found.code() == "some-failed").unwrap();
    let expected = format!("1 of {} requests failed; the first: reset at \"hello\"", half.sent);
    assert_eq!((found.to_string(), half.verdict()), (expected, Verdict::Pass));
    assert!(find(&report, "raw-socket").findings.iter().all(|found| found.code() != "some-failed"));
}

/// Stored runs contain no verdict: a run is classified by today's thresholds when it is read.
#[test]
fn a_changed_threshold_changes_the_verdict_of_a_stored_run() {
    let mut stored = kept();
    each_slice(&mut stored, |slice| {
        slice.host.throttled_ns = Some(500_000);
        slice.load.failed = [(Failure::Reset, slice.load.failed.total())].into_iter().collect();
    });
    let journal = serde_json::to_string(&stored.records).unwrap();
    stored.records = serde_json::from_str(&journal).unwrap();
    let at = |limits: RowLimits| compute_with(&stored, None, &limits);

    let today = at(RowLimits::default());
    assert_eq!(
        (find(&today, "wrong").verdict(), find(&today, "half").verdict()),
        (Verdict::Invalid, Verdict::Pass)
    );
    let lax = at(RowLimits { failure_share_max: 0.1, ..RowLimits::default() });
    assert_eq!(find(&lax, "wrong").verdict(), Verdict::Pass);
    let strict = at(RowLimits { throttled_share_max: 0.001, ..RowLimits::default() });
    assert_eq!(find(&strict, "half").verdict(), Verdict::Invalid);
    assert_eq!(serde_json::to_string(&stored.records).unwrap(), journal);
}

/// The words about a closed loop.
fn load_words(connections: usize, threads: usize) -> String {
    let plan: Plan = kept_with(&[("raw-socket", 1.0)], 1).header.plan;
    let plan = fixture::at_points(plan, |point| {
        let duration_ns = point.load.duration_ns();
        point.load = LoadSpec::Closed { connections, threads, duration_ns, think_ns: None };
    });
    load_text(&plan, 2)
}

#[test]
fn connections_and_threads_are_counted() {
    assert!(
        load_words(64, 1).starts_with("closed loop, 64 connections, 1 generator thread; slices "),
        "{}",
        load_words(64, 1)
    );
    assert!(
        load_words(1, 2).starts_with("closed loop, 1 connection, 2 generator threads; slices "),
        "{}",
        load_words(1, 2)
    );
}
