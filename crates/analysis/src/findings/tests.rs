use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proptest::prelude::*;
use tare_bench::metric::Metric;
use tare_bench::plan::RunningServer;
use tare_host::process::{Priority, Process, Unseen, Unwaited};
use tare_stats::Warning;

use super::*;
use crate::{
    accounting::CpuTotals,
    agents::{DiscardedSlices, UnequalAgents},
    validity::Dropped,
};

/// One issue of each kind.
fn of_rows() -> Vec<RowIssue> {
    [of_places_and_answers(), of_rates_and_samples()].concat()
}

fn of_places_and_answers() -> Vec<RowIssue> {
    let first = Some("GET /: 500 instead of 200".to_owned());
    vec![
        RowIssue::Throttled { share: 0.125 },
        RowIssue::Interference { share: 0.25, server_share: 0.7, pressure_share: Some(0.4) },
        RowIssue::GeneratorBound { generator_share: 0.99, server_share: Some(0.45) },
        RowIssue::GeneratorBound { generator_share: 0.99, server_share: None },
        RowIssue::CpuUnknown(Unseen::OtherHost),
        RowIssue::CpuUnknown(Unseen::OtherNetwork),
        RowIssue::CpuUnknown(Unseen::OtherUser),
        RowIssue::CpuEnded(Unwaited::Seen(Process { pid: 812, command: "burn".to_owned() })),
        RowIssue::CpuEnded(Unwaited::Unseen),
        RowIssue::CpuElsewhere {
            process: Some(Process { pid: 813, command: "php-fpm".to_owned() }),
            others_ns_per_request: 1.9e6,
            own_ns_per_request: 1.2e5,
        },
        RowIssue::CpuElsewhere { process: None, others_ns_per_request: 1.9e6, own_ns_per_request: 1.2e5 },
        RowIssue::LinkBound { unread: 0, busy_share: 0.95 },
        RowIssue::LinkBound { unread: 12, busy_share: 0.5 },
        RowIssue::NotServerBound { server_share: 0.6 },
        RowIssue::NeitherSaturated { server_share: 0.6, reference_share: 0.8 },
        RowIssue::LeftCpus {
            threads: 3,
            of: 4,
            name: "worker".to_owned(),
            given: vec![0],
            may_use: vec![0, 1],
            ran_on: vec![1],
        },
        RowIssue::OtherPriority {
            threads: 1,
            of: 1,
            name: "server".to_owned(),
            given: Priority::default(),
            found: Priority { nice: -19, policy: 0 },
        },
        RowIssue::MoreThreads { busy_cpus: 1.8, threads: 1 },
        RowIssue::ThreadsAtWork { at_work: 3.9, threads: 1 },
        RowIssue::FailedInWarmUp { failed: 64, by_class: [("reset".to_owned(), 64)].into(), processes: 1 },
        RowIssue::TooFewRequests { percentile: 99.0, requests: 120.0, needed: 299 },
        RowIssue::ImpossibleCost { cpu_ns_per_request: 42.0 },
        RowIssue::LoadBound { users: 40, ceiling_per_second: 400.0, waited_share: 0.013 },
        RowIssue::WrongAnswers {
            wrong: 1,
            sent: 1_000_000,
            by_class: BTreeMap::from([("mismatch".to_owned(), 1)]),
            first: first.clone(),
        },
        RowIssue::Failing {
            failed: 3,
            sent: 1_000,
            by_class: BTreeMap::from([("reset".to_owned(), 2), ("response-timeout".to_owned(), 1)]),
            first: Some("reset at \"hello\"".to_owned()),
        },
        RowIssue::SomeFailed { failed: 1, sent: 100_000, first },
    ]
}

fn of_rates_and_samples() -> Vec<RowIssue> {
    vec![
        RowIssue::NoAnswer,
        RowIssue::NoProgress,
        RowIssue::Inconsistent { counted: 16.0, by_law: 12.5 },
        RowIssue::LateGenerator { load: Some("80%".to_owned()), lag_ns: 2.25e6 },
        RowIssue::LateGenerator { load: None, lag_ns: 2.25e6 },
        RowIssue::LowerBounds,
        RowIssue::NeverSteady { load_seconds: 10.0 },
        RowIssue::SteadyUnknown { load_seconds: 60.0, taken_seconds: 42.0 },
        RowIssue::StillWarming { more_share: 0.081 },
        RowIssue::UncleanStop { what: "did not stop on SIGTERM within 5 s".to_owned() },
        RowIssue::Sample { metric: Some(Metric::Cpu), warning: Warning::Outlier { index: 3, mads: 12.0 } },
        RowIssue::Sample { metric: None, warning: Warning::Drift { rises: true, p: 0.001 } },
        RowIssue::LateStarts { late: 4, starts: 6 },
        RowIssue::AllRatesHeld { held: 2, starts: 6, generator_was_late: false },
        RowIssue::AllRatesHeld { held: 2, starts: 6, generator_was_late: true },
        RowIssue::NoRateHeld { held_none: 1, starts: 6 },
        RowIssue::ShortWindow { due: 80.0, needed: 1_000 },
        RowIssue::NotMeasured,
        RowIssue::RoundsInvalid {
            invalid: 2,
            rounds: 3,
            first: Box::new(RowIssue::Throttled { share: 0.125 }),
        },
    ]
}

fn running() -> Vec<RunningRow> {
    let process = Process { pid: 4711, command: "node".to_owned() };
    let seen = RunningServer {
        address: "127.0.0.1:3000".to_owned(),
        processes: vec![process],
        cgroup: None,
        cpus: vec![0, 1],
        unseen: None,
        tls: None,
    };
    let in_cgroup = RunningServer { cgroup: Some("/sys/fs/cgroup/shop".into()), ..seen.clone() };
    let hidden = RunningServer {
        processes: Vec::new(),
        cpus: Vec::new(),
        unseen: Some(Unseen::OtherUser),
        ..seen.clone()
    };
    let row = |port: u16, server| RunningRow { row: format!("http://127.0.0.1:{port}"), server };
    vec![row(3000, seen), row(3001, in_cgroup), row(3002, hidden)]
}

fn of_runs() -> Vec<RunIssue> {
    let accounting = CpuTotals {
        all_ns: 1_000,
        server_ns: 400,
        generator_ns: 300,
        others_ns: 10,
        idle_ns: 280,
        steal_ns: 10,
        tolerance_share: 0.02,
        ..CpuTotals::default()
    };
    let off = CpuTotals { residual_share: -0.05, residual_share_generator: -0.05, ..accounting };
    let dropped =
        Dropped { rounds: 3, of_rounds: 40, slices_taken: 2, slices_stolen: 1, ..Dropped::default() };
    let kept = KeptProcesses { row: "spring-boot".to_owned(), starts: 2, blocks: 8 };
    let link = SlowLink {
        kind: "a delay of 50 ms".to_owned(),
        cpu_ns_per_packet: Some(1_500.0),
        packets: 9_000,
        lost: 12,
        dropped: 0,
        late_ns_p99: 80_000.0,
    };
    vec![
        RunIssue::Damaged { what: "record 7 cannot be read".to_owned() },
        RunIssue::PilotsCutShort { rows: vec!["hyper".to_owned(), "axum".to_owned()], needed_seconds: 1.2 },
        RunIssue::NoisyHost { share: 0.1 },
        RunIssue::SharedCpus,
        RunIssue::AlreadyRunning { rows: running() },
        RunIssue::Unfinished { in_progress: true },
        RunIssue::Unfinished { in_progress: false },
        RunIssue::NoBlock(NoBlock {
            elapsed_seconds: 14.2,
            pilots_seconds: 9.1,
            pilots: vec![PilotLoad { row: "hyper".to_owned(), load_seconds: 4.0, silent_seconds: 2.0 }],
            slices: 3,
            is_interrupted: false,
        }),
        RunIssue::TooFewBlocks { blocks: 3, needed: 6 },
        RunIssue::InterimAnalyses { blocks: vec![12, 16, 40] },
        RunIssue::UnplannedLooks,
        RunIssue::AfterTheLook { look: 12, later: 2 },
        RunIssue::SlicesDropped(dropped),
        RunIssue::SlicesDiscarded(discarded(0)),
        RunIssue::SlicesDiscarded(discarded(2)),
        RunIssue::UnequalAgents(UnequalAgents {
            slices: 3,
            of: 24,
            first: "tails: 2.1% of the latencies of a:1 lie above the p99 of all agents".to_owned(),
        }),
        RunIssue::BlocksDisturbed { blocks: 2 },
        RunIssue::BlocksCut { cut: 1, begun: 8 },
        RunIssue::CpuTime(accounting),
        RunIssue::CpuTime(off),
        RunIssue::CpuTime(CpuTotals { residual_share_generator: 0.0, ..off }),
        RunIssue::ProcessesKept { rows: vec![kept] },
        RunIssue::Scaled { scale: 0.1 },
        RunIssue::OtherLoad { here: "64 connections".to_owned(), published: "512 connections".to_owned() },
        RunIssue::GeneratorShared { threads: 4, cpus: 1 },
        RunIssue::OtherThreads { row: "node-http".to_owned(), threads: 1 },
        RunIssue::SlowLink(link.clone()),
        RunIssue::SlowLink(SlowLink { cpu_ns_per_packet: None, ..link }),
    ]
}

fn discarded(lost: usize) -> DiscardedSlices {
    let by_row = [("go".to_owned(), 1), ("hyper".to_owned(), 3)].into();
    DiscardedSlices { slices: 4, of: 120, lost, by_row, first: "agent: b:2 is not valid: late".to_owned() }
}

fn all() -> Vec<Finding> {
    let of_rows = of_rows().into_iter().map(|issue| Finding::of_row("hyper", issue));
    of_rows.chain(of_runs().into_iter().map(Finding::of_run)).collect()
}

#[test]
fn each_has_its_sentence() {
    let lines = all().into_iter().map(|found| format!("{:?} {}: {found}", found.severity(), found.code()));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

const MESSAGES: &str = "# Messages and fixes\n\n\
    What Tare says about figures, what it means for them, and what to do. This page is written by a test, and not by hand: after a\n\
    change of a message run `INSTA_UPDATE=always cargo test -p tare-analysis findings`.\n\n\
    **Invalid**: there is no such figure. **Warning**: the figure is valid and may mislead. **Note**: how it was obtained.\n\n\
    | message, with figures of an example | | what to do |\n|---|---|---|\n";

#[test]
fn the_page_of_messages_has_each_with_what_to_do() {
    let row = |found: Finding| {
        let text = found.to_string().replace('|', "\\|");
        format!("| {text} | {:?} | {} |\n", found.severity(), found.remedy().unwrap_or("Nothing."))
    };
    assert!(all().iter().all(|found| found.severity() == Severity::Note || found.remedy().is_some()));
    let page = format!("{MESSAGES}{}", all().into_iter().map(row).collect::<String>());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/messages.md");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, &page).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == page, "docs/reference/messages.md is out of date: its third line says what to run");
}

#[test]
fn the_code_is_that_of_the_data() {
    let mut codes = BTreeSet::new();
    for found in all() {
        let written = serde_json::to_value(&found).unwrap();
        assert_eq!(written["code"], found.code(), "{written}");
        assert_eq!(written["text"], found.to_string(), "{written}");
        codes.insert(found.code());
    }
    assert_eq!(codes.len(), 35 + 24, "one of each kind is among them: {codes:?}");
}

#[test]
fn a_finding_is_data_for_programs() {
    let found = Finding::of_row(
        "hyper",
        RowIssue::GeneratorBound { generator_share: 0.99, server_share: Some(0.45) },
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn sentences_that_stand_alone_begin_with_their_scope() {
    let found = Finding::of_row("hyper", RowIssue::NoAnswer);
    assert_eq!(found.scoped(), "hyper: no answer at all");
    let cell = Scope::Cell { row: "hyper".to_owned(), load: "64 connections".to_owned() };
    assert_eq!(Finding { scope: cell, ..found.clone() }.scoped(), "hyper, 64 connections: no answer at all");
    let pair = Scope::Pair("a".to_owned(), "b".to_owned());
    assert_eq!(Finding { scope: pair, ..found }.scoped(), "a and b: no answer at all");
    assert_eq!(Finding::of_run(RunIssue::SharedCpus).scoped(), RunIssue::SharedCpus.to_string());
}

#[test]
fn sentences_begin_in_lower_case_and_have_no_full_stop() {
    for found in all() {
        let text = found.to_string();
        let is_plain = text.starts_with("CPU") || !text.starts_with(char::is_uppercase);
        assert!(is_plain && !text.ends_with('.') && !text.contains("  "), "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_share_makes_a_sentence(share in 0.0..1.0_f64, other in 0.0..1.0_f64) {
        let issue = RowIssue::Interference { share, server_share: other, pressure_share: None };
        let text = issue.to_string();
        prop_assert!(text.contains(&format!("{:.0}%", share * 100.0)), "{}", text);
    }
}
