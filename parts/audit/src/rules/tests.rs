use proptest::prelude::*;

use super::*;
use crate::{
    doubt::{DoubtWeight, Rule},
    published::{Checks, Counts, Mislabelled, PublishedLatency, PublishedLoad, Source, Timing},
};

const CALLED_P999: Mislabelled =
    Mislabelled { called: 0.999, is: Statistic::Quantile(0.99), shown_by: "a file" };

/// A consistent row: 10 ms at 6,400/s on 64 connections.
fn sound() -> AuditRow {
    AuditRow {
        name: "a".to_owned(),
        test: "hello".to_owned(),
        load: PublishedLoad { slots: Some(64.0), ..PublishedLoad::default() },
        per_second: Some(6_400.0),
        counted: CountedRequests::Answered,
        counts: Some(Counts { succeeded: 64_000.0, ..Counts::default() }),
        checks: None,
        elapsed_s: Some(10.0),
        latency: PublishedLatency {
            ns_min: Some(1e6),
            ns_mean: Some(10e6),
            ns_max: Some(90e6),
            quantiles_ns: vec![(0.5, 9e6), (0.99, 30e6)],
            step_ns: 10_000.0,
        },
        timing: Timing::Measured,
        mislabelled: None,
        cpus_used: Some(1.98),
        cpus: Some(2.0),
        has_interval: false,
    }
}

/// The numbers of successes, error statuses and missing answers.
fn counts(succeeded: f64, refused: f64, unanswered: f64) -> Option<Counts> {
    Some(Counts { succeeded, refused, unanswered, ..Counts::default() })
}

fn published(rows: Vec<AuditRow>) -> Published {
    Published { source: Source::HttpArena, rows, unread: 0 }
}

fn found(rows: Vec<AuditRow>) -> Vec<Rule> {
    audit(&published(rows)).findings.iter().map(|finding| finding.doubt.rule()).collect()
}

#[test]
fn nothing_is_said_where_everything_agrees() {
    assert_eq!(found(vec![sound()]), []);
}

#[test]
fn each_contradiction_in_a_row_breaks_its_rule_and_no_other() {
    let latency = |change: fn(&mut PublishedLatency)| {
        let mut row = sound();
        change(&mut row.latency);
        row
    };
    let cases = [
        (latency(|latency| latency.ns_min = Some(-1.0)), Rule::Sign),
        (latency(|latency| latency.quantiles_ns[0].1 = 31e6), Rule::Order),
        (latency(|latency| latency.ns_max = Some(29e6)), Rule::Order),
        (latency(|latency| latency.quantiles_ns[1].1 = 10e6), Rule::MeanAsQuantile),
        (AuditRow { mislabelled: Some(CALLED_P999), ..sound() }, Rule::Label),
        (
            AuditRow { load: PublishedLoad { slots: Some(60.0), ..PublishedLoad::default() }, ..sound() },
            Rule::LittleAbove,
        ),
        (
            AuditRow { load: PublishedLoad { slots: Some(80.0), ..PublishedLoad::default() }, ..sound() },
            Rule::LittleBelow,
        ),
        (AuditRow { cpus_used: Some(2.1), ..sound() }, Rule::CpuTime),
        (AuditRow { counts: counts(50_000.0, 0.0, 0.0), ..sound() }, Rule::Count),
        (AuditRow { counts: counts(63_360.0, 640.0, 0.0), ..sound() }, Rule::Failures),
        (AuditRow { counts: counts(64_000.0, 0.0, 640.0), ..sound() }, Rule::Failures),
        (AuditRow { checks: Some(Checks { failed: 1.0, of: 100.0 }), ..sound() }, Rule::Failures),
    ];
    for (row, rule) in cases {
        assert_eq!(found(vec![row.clone()]), [rule], "{row:?}");
    }
}

#[test]
fn a_label_is_doubted_with_the_figure_that_it_is_on() {
    let mut row = AuditRow { mislabelled: Some(CALLED_P999), ..sound() };
    let doubt = audit(&published(vec![row.clone()])).findings.remove(0).doubt;
    assert_eq!(doubt, AuditIssue::QuantileMislabelled { label: CALLED_P999, ns: 30e6 });
    row.latency.quantiles_ns.clear();
    assert_eq!(found(vec![row]), [], "there is nothing to be called so");
}

#[test]
fn clients_that_pause_or_reconnect_may_have_less_in_flight_and_never_more() {
    let row = |slots: f64, thinks: bool| AuditRow {
        load: PublishedLoad { slots: Some(slots), thinks, reconnects: !thinks, ..PublishedLoad::default() },
        ..sound()
    };
    for thinks in [false, true] {
        assert_eq!(found(vec![row(640.0, thinks)]), []);
        assert_eq!(found(vec![row(6.4, thinks)]), [Rule::LittleAbove]);
    }
}

#[test]
fn what_was_counted_as_under_way_explains_a_lack_and_no_excess() {
    let row = |slots: f64, under_way: f64| AuditRow {
        load: PublishedLoad { slots: Some(slots), under_way: Some(under_way), ..PublishedLoad::default() },
        ..sound()
    };
    assert_eq!(found(vec![row(80.0, 64.0)]), []);
    assert_eq!(found(vec![row(80.0, 75.0)]), [Rule::LittleBelow]);
    assert_eq!(found(vec![row(60.0, 64.0)]), [Rule::LittleAbove], "no more than the connections");
}

#[test]
fn a_share_that_failed_is_said_whether_the_rate_counts_it_or_not_and_needs_no_time() {
    let row = |counted, per_second| AuditRow {
        counted,
        per_second: Some(per_second),
        counts: counts(32_000.0, 32_000.0, 0.0),
        load: PublishedLoad::default(),
        ..sound()
    };
    assert_eq!(found(vec![row(CountedRequests::Succeeded, 3_200.0)]), [Rule::Failures], "the rate is right");
    assert_eq!(found(vec![row(CountedRequests::Answered, 6_400.0)]), [Rule::Failures]);
    let without_a_time =
        AuditRow { elapsed_s: None, per_second: None, ..row(CountedRequests::Answered, 0.0) };
    assert_eq!(found(vec![without_a_time]), [Rule::Failures]);
    let broken_off = Counts { succeeded: 500.0, broken_off: 64.0, ..Counts::default() };
    let short = AuditRow { counts: Some(broken_off), elapsed_s: None, ..sound() };
    assert_eq!(found(vec![short]), [], "what the tool broke off at its end did not fail");
}

#[test]
fn littles_law_is_no_contradiction_where_mean_and_rate_are_not_of_the_same_requests() {
    let row = |timing| AuditRow {
        timing,
        load: PublishedLoad { slots: Some(40.0), ..PublishedLoad::default() },
        ..sound()
    };
    let weight = |timing| audit(&published(vec![row(timing)])).weight();
    assert_eq!(weight(Timing::Measured), Some(DoubtWeight::CannotBeTrue));
    for timing in [Timing::Corrected, Timing::FromSchedule, Timing::RateSampled] {
        assert_eq!(weight(timing), Some(DoubtWeight::NotShown), "{timing:?}");
    }
}

#[test]
fn figures_with_few_digits_break_no_rule_by_their_rounding() {
    let of = |step_ns: f64, ns_mean: f64, p99: f64| {
        let latency = PublishedLatency {
            ns_mean: Some(ns_mean),
            quantiles_ns: vec![(0.99, p99)],
            step_ns,
            ..PublishedLatency::default()
        };
        found(vec![AuditRow { latency, load: PublishedLoad::default(), ..sound() }])
    };
    assert_eq!(of(1e6, 12e6, 12e6), [], "12 ms and 12 ms, by whole milliseconds");
    assert_eq!(of(1e4, 12e6, 12e6), [Rule::MeanAsQuantile]);
    let loaded = |slots: f64| {
        let latency = PublishedLatency { ns_mean: Some(10e6), step_ns: 1e6, ..PublishedLatency::default() };
        found(vec![AuditRow {
            latency,
            load: PublishedLoad { slots: Some(slots), ..PublishedLoad::default() },
            ..sound()
        }])
    };
    // 9 to 11 ms at 6,400/s are 57.6 to 70.4 requests.
    assert_eq!((loaded(58.0), loaded(77.0)), (vec![], vec![]));
    assert_eq!((loaded(52.0), loaded(90.0)), (vec![Rule::LittleAbove], vec![Rule::LittleBelow]));
}

#[test]
fn neighbours_in_a_histogram_are_in_order() {
    let latency = PublishedLatency {
        ns_max: Some(4.680e6),
        quantiles_ns: vec![(0.999, 4.683e6)],
        ..PublishedLatency::default()
    };
    assert_eq!(found(vec![AuditRow { latency, load: PublishedLoad::default(), ..sound() }]), []);
}

#[test]
fn a_server_with_cpus_to_spare_is_doubted_at_the_top_alone() {
    let row = |name: &str, per_second: f64| AuditRow {
        name: name.to_owned(),
        per_second: Some(per_second),
        counts: None,
        load: PublishedLoad::default(),
        cpus_used: Some(1.0),
        has_interval: true,
        ..sound()
    };
    let audit = audit(&published(vec![row("a", 1000.0), row("b", 950.0), row("c", 500.0)]));
    let about: Vec<&DoubtSubject> = audit.findings.iter().map(|finding| &finding.about).collect();
    assert_eq!(about, [&DoubtSubject::Row(0), &DoubtSubject::Row(1)]);
    assert_eq!(audit.count(Rule::IdleServer), 2);
    assert_eq!(found(vec![row("a", 1000.0)]), [], "one row is at no top");
}

#[test]
fn many_rows_at_one_rate_are_a_ceiling_where_nothing_says_that_the_servers_were_busy() {
    let row = |place: usize, cpus_used: Option<f64>| AuditRow {
        name: format!("s{place}"),
        per_second: Some(1000.0 - place as f64),
        counts: None,
        load: PublishedLoad::default(),
        cpus_used,
        has_interval: true,
        ..sound()
    };
    assert_eq!(found((0..10).map(|place| row(place, None)).collect()), [Rule::Ceiling]);
    assert_eq!(found((0..9).map(|place| row(place, None)).collect()), []);
    assert_eq!(found((0..10).map(|place| row(place, Some(2.0))).collect()), [], "they were busy");
}

#[test]
fn runs_of_one_server_are_compared_and_ranks_by_one_figure_are_doubted() {
    let at = |name: &str, factor: f64| AuditRow {
        name: name.to_owned(),
        per_second: Some(6_400.0 * factor),
        counts: None,
        load: PublishedLoad::default(),
        ..sound()
    };
    assert_eq!(found(vec![at("a", 1.0), at("a", 1.05)]), []);
    assert_eq!(found(vec![at("a", 1.0), at("a", 1.2)]), [Rule::Repetition]);
    assert_eq!(found(vec![at("a", 1.0), at("b", 1.2)]), [Rule::Spread]);
}

#[test]
fn where_a_rate_was_asked_for_nothing_follows_from_it() {
    let row = |place: u32| AuditRow {
        name: format!("s{}", place % 12),
        per_second: Some(f64::from(place + 1) * 1000.0),
        counts: None,
        load: PublishedLoad { slots: Some(640.0), paced: true, ..PublishedLoad::default() },
        cpus_used: None,
        ..sound()
    };
    assert_eq!(found((0..24).map(row).collect()), [], "rows, runs and tests");
}

#[test]
fn outputs_of_a_tool_are_no_table() {
    let row = |name: &str, per_second: f64| AuditRow {
        name: name.to_owned(),
        per_second: Some(per_second),
        counts: None,
        load: PublishedLoad::default(),
        ..sound()
    };
    let rows = vec![row("a", 1000.0), row("b", 990.0)];
    let tool = audit(&Published { source: Source::Ab, rows: rows.clone(), unread: 0 });
    assert_eq!((tool.findings.len(), found(rows)), (0, vec![Rule::Spread]));
}

#[test]
fn runs_with_other_connections_are_not_runs_of_one_load() {
    let at = |connections: f64, per_second: f64| AuditRow {
        per_second: Some(per_second),
        counts: None,
        load: PublishedLoad { slots: Some(connections), thinks: true, ..PublishedLoad::default() },
        latency: PublishedLatency::default(),
        ..sound()
    };
    assert_eq!(found(vec![at(1.0, 900.0), at(64.0, 6_400.0)]), []);
    assert_eq!(found(vec![at(64.0, 900.0), at(64.0, 6_400.0)]), [Rule::Repetition]);
}

#[test]
fn every_rule_is_in_the_list_once_and_the_grave_ones_come_first() {
    let weights = Rule::ALL.map(Rule::weight);
    assert!(weights.is_sorted());
    assert_eq!(weights.iter().filter(|weight| **weight == DoubtWeight::CannotBeTrue).count(), 4);
}

proptest! {
    /// Closed loops that obey Little's law are never reported, despite figures with three digits.
    #[test]
    fn rounding_breaks_no_law(connections in 1_u32..5000, mean_us in 1_u32..1_000_000) {
        let ns_mean = f64::from(mean_us) * 1e3;
        let per_second = f64::from(connections) / ns_mean * 1e9;
        let rounded = |number: f64| {
            let scale = 10_f64.powf(number.log10().floor() - 2.0);
            (number / scale).round() * scale
        };
        let row = AuditRow {
            load: PublishedLoad { slots: Some(f64::from(connections)), ..PublishedLoad::default() },
            per_second: Some(rounded(per_second)),
            counts: None,
            latency: PublishedLatency { ns_mean: Some(rounded(ns_mean)), ..PublishedLatency::default() },
            ..sound()
        };
        prop_assert_eq!(found(vec![row]), []);
    }
}
