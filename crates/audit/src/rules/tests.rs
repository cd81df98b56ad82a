use proptest::prelude::*;

use super::*;
use crate::{
    doubt::{Rule, Weight},
    published::{Latency, Load, Mislabelled, Source},
};

const CALLED_P999: Mislabelled = Mislabelled { called: 0.999, is: 0.99, shown_by: "a file" };

/// A row in which everything agrees: 10 ms at 6,400/s on 64 connections.
fn sound() -> Row {
    Row {
        name: "a".to_owned(),
        test: "hello".to_owned(),
        load: Load { slots: Some(64.0), ..Load::default() },
        per_second: Some(6_400.0),
        requests: Some(64_000.0),
        failed: Some(0.0),
        elapsed_s: Some(10.0),
        latency: Latency {
            ns_min: Some(1e6),
            ns_mean: Some(10e6),
            ns_max: Some(90e6),
            quantiles_ns: vec![(0.5, 9e6), (0.99, 30e6)],
        },
        mislabelled: None,
        cpus_used: Some(1.98),
        cpus: Some(2.0),
        has_interval: false,
    }
}

fn published(rows: Vec<Row>) -> Published {
    Published { source: Source::Wrk, rows, unread: 0 }
}

fn found(rows: Vec<Row>) -> Vec<Rule> {
    audit(&published(rows)).findings.iter().map(|finding| finding.doubt.rule()).collect()
}

#[test]
fn nothing_is_said_where_everything_agrees() {
    assert_eq!(found(vec![sound()]), []);
}

#[test]
fn each_contradiction_in_a_row_breaks_its_rule_and_no_other() {
    let latency = |change: fn(&mut Latency)| {
        let mut row = sound();
        change(&mut row.latency);
        row
    };
    let cases = [
        (latency(|latency| latency.ns_min = Some(-1.0)), Rule::Sign),
        (latency(|latency| latency.quantiles_ns[0].1 = 31e6), Rule::Order),
        (latency(|latency| latency.ns_max = Some(29e6)), Rule::Order),
        (latency(|latency| latency.quantiles_ns[1].1 = 10e6), Rule::MeanAsQuantile),
        (Row { mislabelled: Some(CALLED_P999), ..sound() }, Rule::Label),
        (Row { load: Load { slots: Some(60.0), ..Load::default() }, ..sound() }, Rule::LittleAbove),
        (Row { load: Load { slots: Some(80.0), ..Load::default() }, ..sound() }, Rule::LittleBelow),
        (Row { cpus_used: Some(2.1), ..sound() }, Rule::CpuTime),
        (Row { requests: Some(50_000.0), ..sound() }, Rule::Count),
        (Row { failed: Some(640.0), ..sound() }, Rule::Failures),
    ];
    for (row, rule) in cases {
        assert_eq!(found(vec![row.clone()]), [rule], "{row:?}");
    }
}

#[test]
fn a_label_is_doubted_with_the_figure_that_it_is_on() {
    let mut row = Row { mislabelled: Some(CALLED_P999), ..sound() };
    let doubt = audit(&published(vec![row.clone()])).findings.remove(0).doubt;
    assert_eq!(doubt, Doubt::QuantileMislabelled { label: CALLED_P999, ns: 30e6 });
    row.latency.quantiles_ns.clear();
    assert_eq!(found(vec![row]), [], "there is nothing to be called so");
}

#[test]
fn clients_that_pause_or_reconnect_may_have_less_in_flight_and_never_more() {
    let row = |slots: f64, thinks: bool| Row {
        load: Load { slots: Some(slots), thinks, reconnects: !thinks, ..Load::default() },
        ..sound()
    };
    for thinks in [false, true] {
        assert_eq!(found(vec![row(640.0, thinks)]), []);
        assert_eq!(found(vec![row(6.4, thinks)]), [Rule::LittleAbove]);
    }
}

#[test]
fn what_was_counted_as_under_way_explains_a_lack_and_no_excess() {
    let row = |slots: f64, under_way: f64| Row {
        load: Load { slots: Some(slots), under_way: Some(under_way), ..Load::default() },
        ..sound()
    };
    assert_eq!(found(vec![row(80.0, 64.0)]), []);
    assert_eq!(found(vec![row(80.0, 75.0)]), [Rule::LittleBelow]);
    assert_eq!(found(vec![row(60.0, 64.0)]), [Rule::LittleAbove], "no more than the connections");
}

#[test]
fn a_rate_of_what_succeeded_counts_no_failure() {
    let row = Row { failed: Some(32_000.0), per_second: Some(3_200.0), ..sound() };
    let row = Row { load: Load::default(), ..row };
    assert_eq!(found(vec![row]), []);
}

#[test]
fn a_server_with_cpus_to_spare_is_doubted_at_the_top_alone() {
    let row = |name: &str, per_second: f64| Row {
        name: name.to_owned(),
        per_second: Some(per_second),
        requests: None,
        load: Load::default(),
        cpus_used: Some(1.0),
        has_interval: true,
        ..sound()
    };
    let audit = audit(&published(vec![row("a", 1000.0), row("b", 950.0), row("c", 500.0)]));
    let about: Vec<&About> = audit.findings.iter().map(|finding| &finding.about).collect();
    assert_eq!(about, [&About::Row(0), &About::Row(1)]);
    assert_eq!(audit.count(Rule::IdleServer), 2);
    assert_eq!(found(vec![row("a", 1000.0)]), [], "one row is at no top");
}

#[test]
fn many_rows_at_one_rate_are_a_ceiling_where_nothing_says_that_the_servers_were_busy() {
    let row = |place: usize, cpus_used: Option<f64>| Row {
        name: format!("s{place}"),
        per_second: Some(1000.0 - place as f64),
        requests: None,
        load: Load::default(),
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
    let at = |name: &str, factor: f64| Row {
        name: name.to_owned(),
        per_second: Some(6_400.0 * factor),
        requests: None,
        load: Load::default(),
        ..sound()
    };
    assert_eq!(found(vec![at("a", 1.0), at("a", 1.05)]), []);
    assert_eq!(found(vec![at("a", 1.0), at("a", 1.2)]), [Rule::Repetition]);
    assert_eq!(found(vec![at("a", 1.0), at("b", 1.2)]), [Rule::Spread]);
}

#[test]
fn every_rule_is_in_the_list_once_and_the_grave_ones_come_first() {
    let weights = Rule::ALL.map(Rule::weight);
    assert!(weights.is_sorted());
    assert_eq!(weights.iter().filter(|weight| **weight == Weight::CannotBeTrue).count(), 4);
}

proptest! {
    /// Closed loops that obey Little's law are never said to break it, whatever is printed with three digits.
    #[test]
    fn rounding_breaks_no_law(connections in 1_u32..5000, mean_us in 1_u32..1_000_000) {
        let ns_mean = f64::from(mean_us) * 1e3;
        let per_second = f64::from(connections) / ns_mean * 1e9;
        let rounded = |number: f64| {
            let scale = 10_f64.powf(number.log10().floor() - 2.0);
            (number / scale).round() * scale
        };
        let row = Row {
            load: Load { slots: Some(f64::from(connections)), ..Load::default() },
            per_second: Some(rounded(per_second)),
            requests: None,
            latency: Latency { ns_mean: Some(rounded(ns_mean)), ..Latency::default() },
            ..sound()
        };
        prop_assert_eq!(found(vec![row]), []);
    }
}
