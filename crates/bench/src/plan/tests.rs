//! Plans of every kind, and properties common to all of them.

use std::{collections::BTreeSet, sync::LazyLock};

use proptest::prelude::*;
use tare_host::cpus::Pinning;
use tare_service::{
    catalogue::{Catalogue, RawSocket, Row},
    settings::ServiceSettings,
};

use super::*;
use crate::{
    experiment::{Experiment, LoadSetting, Rate},
    fixture::{self, in_blocks, published},
    schedule::order,
    slo::Slo,
};

const SECOND_NS: u64 = 1_000_000_000;

fn pinning() -> Pinning {
    Pinning { server: vec![0], generator: vec![1] }
}

fn quick() -> Experiment {
    Experiment::load(&published::root().join("experiments/quick.toml")).unwrap()
}

fn search() -> SearchSetting {
    SearchSetting {
        slo: Slo::parse(["p99=10ms"]).unwrap(),
        at_least: Some(2e4),
        contract: "hello".to_owned(),
        load: LoadSetting::new(64, 1),
        service_settings: ServiceSettings::of_threads(2),
        starts: 6,
        windows: 14,
        window: None,
        warm_up: std::time::Duration::from_secs(1),
        warm_up_max: std::time::Duration::from_secs(10),
        lag_max: std::time::Duration::from_millis(1),
    }
}

/// Read once, because properties use the plans hundreds of times.
static PUBLISHED: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    published::ALL.map(|name| published::plan(name, &SequentialOptions::default())).to_vec()
});

/// One plan of each kind.
fn all() -> Vec<Plan> {
    let mut plans = vec![
        Plan::interleaved(&quick(), &[], 1, pinning()),
        Plan::search(&search(), &[], 2, pinning()),
        fixture::compared().plan,
        fixture::under_loads(fixture::plan(&["a", "b"]), &[16, 64, 256]),
    ];
    plans.extend(PUBLISHED.iter().cloned());
    plans
}

#[test]
fn every_kind_is_read_as_it_was_stored() {
    for plan in all() {
        assert_eq!(plan.check(), Ok(()), "{}", plan.experiment);
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan, "{}", plan.experiment);
    }
}

#[test]
fn an_experiment_file_becomes_points_and_blocks() {
    let plan = Plan::interleaved(&quick(), &[], 7, pinning());
    assert_eq!((plan.points.len(), plan.slice_ns()), (1, SECOND_NS / 20));
    assert_eq!((plan.reference(), plan.contract(), plan.seed), ("raw-socket", "hello", 7));
    let blocks = plan.blocks();
    assert_eq!((blocks.min, blocks.max, blocks.budget_ns), (6, 40, 180 * SECOND_NS));
    assert_eq!(blocks.spread, Some(Spread::DEFAULT), "slices are chosen");
    assert!(!plan.is_sequential() && plan.publication == Publication::default());
}

#[test]
fn a_search_is_an_interleaved_experiment_whose_rate_is_searched_for() {
    let plan = Plan::search(&search(), &[], 1, pinning());
    let rates: Vec<(usize, Rate)> = plan.rates().collect();
    assert_eq!(rates, [(1, Rate::Searched)]);
    // A window is a hundred times the limit of the SLO; half of the windows may be discarded.
    assert_eq!((plan.points[1].load.duration_ns(), plan.points[1].rounds), (SECOND_NS, 28));
    assert_eq!((plan.blocks().min, plan.blocks().max, plan.reference.as_deref()), (6, 6, None));
    let slo = plan.slo().unwrap();
    assert_eq!((slo.windows, slo.at_least, slo.lag_ns_max), (14, Some(2e4), 1_000_000));
    assert_eq!(plan.points[0].service_settings.threads, 2);
    assert_eq!(fixture::compared().plan.slo(), None);
}

#[test]
fn a_search_is_expected_to_take_what_stored_ones_took() {
    let plan = Plan::search(&search(), &[], 1, pinning());
    let block_s = |plan: &Plan| plan.block_ns_expected() as f64 / 1e9;
    let more = plan.clone().with_windows_taken(1.5);
    assert_eq!((plan.slo().unwrap().windows_expected(), more.slo().unwrap().windows_expected()), (14, 21));
    let rows = |plan: Plan| Plan { rows: vec![fixture::row("a")], ..plan };
    let (plan, more) = (rows(plan), rows(more));
    assert!((block_s(&more) - block_s(&plan) - 7.0).abs() < 0.1, "seven windows of a second more");
    assert!(plan.expected_ns() > 6 * 14 * SECOND_NS && plan.expected_ns() < 6 * 20 * SECOND_NS);
    assert_eq!(plan.with_windows_taken(9.0).slo().unwrap().windows_expected(), 28, "no more than there are");
}

#[test]
fn settings_are_told_of_services_that_obey_them() {
    let of = |style, threads| {
        let rows = vec![PlannedRow { style, ..fixture::row("a") }];
        let plan = fixture::at_points(fixture::of_rows(rows), |point| {
            point.service_settings = ServiceSettings::of_threads(threads);
        });
        plan.settings_text()
    };
    assert_eq!(of(Style::Framework, 1).as_deref(), Some("THREADS=1 DELAY_MS=0"));
    assert_eq!((of(Style::Own, 1), of(Style::Running, 1)), (None, None));
    assert_eq!(of(Style::Own, 4).as_deref(), Some("THREADS=4"));
}

#[test]
fn the_window_of_a_search_follows_its_slo_within_bounds() {
    let window_ns = |slo: &str| {
        let setting = SearchSetting { slo: Slo::parse([slo]).unwrap(), ..search() };
        Plan::search(&setting, &[], 1, pinning()).points[1].load.duration_ns()
    };
    let all = ["p99=1ms", "p99=20ms", "p50=5s"].map(window_ns);
    assert_eq!(all, [SECOND_NS / 2, 2 * SECOND_NS, 10 * SECOND_NS]);
}

#[test]
fn a_row_may_have_threads_of_its_own() {
    let mut plan = fixture::plan(&["a", "b"]);
    plan.rows[1].threads = Some(40);
    assert_eq!([0, 1].map(|row| plan.service_settings(row, 0).threads), [1, 40]);
}

#[test]
fn who_is_excluded_is_measured_nowhere() {
    let mut plan = published::plan("restinio-2017", &SequentialOptions::default());
    let all = plan.samples();
    let reason = "no compiler".to_owned();
    plan.rows[1].excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
    let points = plan.points.iter().filter(|point| point.rows.contains(&1));
    let lost: usize = points.map(|point| point.rounds).sum();
    assert_eq!(plan.samples(), all - lost);
    assert!(order(&plan).iter().all(|slot| slot.row != 1));
}

/// Rows of one service each, without its folder.
fn rows_of(labels: &[(&str, &str)]) -> Vec<Row> {
    let raw_socket =
        RawSocket { program: "tare".into(), contracts: [("hello".to_owned(), "hello".to_owned())].into() };
    let contracts = published::contracts();
    let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
    let catalogue = Catalogue::load(&published::root(), &names, raw_socket).unwrap();
    let row = |(label, service): &(&str, &str)| Row {
        label: (*label).to_owned(),
        service: catalogue.get(service).unwrap().clone(),
    };
    labels.iter().map(row).collect()
}

#[test]
fn the_reference_has_a_twin_unless_it_was_asked_for_or_is_alone() {
    let of = |labels: &[(&str, &str)]| Plan::twin_of(&rows_of(labels), labels[0].0).map(|row| row.label);
    let raw = ("raw-socket", "raw-socket");
    assert_eq!(of(&[raw, ("hyper", "hyper")]).as_deref(), Some("raw-socket@2"));
    assert_eq!(of(&[("hyper", "hyper"), raw]).as_deref(), Some("hyper@2"));
    assert_eq!((of(&[raw]), of(&[raw, ("raw-socket@2", "raw-socket")])), (None, None));
}

#[test]
fn a_twin_is_of_the_reference_that_was_planned_and_takes_no_place_in_a_block() {
    let labels: Vec<String> = (0..12).map(|row| row.to_string()).chain(["0@2".to_owned()]).collect();
    let plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(plan.groups(), 2, "thirteen rows");
    let mut plan = plan.with_twin("0@2");
    plan.rows[12].service = "0".to_owned();
    assert_eq!(plan.groups(), 1);
    let twins = |plan: &Plan| labels.iter().filter(|label| plan.is_twin(label)).count();
    assert_eq!((twins(&plan), plan.is_twin("0@2"), plan.is_of_reference(0)), (1, true, true));
    for other in ["5", "0@2"] {
        plan.reference = Some(other.to_owned());
        assert_eq!(twins(&plan), 0, "rows are related to {other}");
    }
}

#[test]
fn what_a_plan_relies_on_is_checked_when_it_is_read() {
    let plan = || fixture::plan(&["a", "b"]);
    type Damage = fn(&mut Plan);
    let cases: [(&str, Damage); 3] = [
        ("the plan has no load", |plan| plan.points.clear()),
        ("a point names row 2 of 2", |plan| plan.points[0].rows.push(2)),
        ("a service is given 0 threads", |plan| plan.points[0].service_settings.threads = 0),
    ];
    for (expected, damage) in cases {
        let mut plan = plan();
        damage(&mut plan);
        assert_eq!(plan.check().unwrap_err(), expected);
    }
}

#[test]
fn a_budget_has_room_for_blocks_between_the_fewest_and_the_most() {
    let with = |budget_s: u64| {
        in_blocks(fixture::plan(&["a", "b"]), |blocks| blocks.budget_ns = budget_s * SECOND_NS)
    };
    // A block takes 2 x (0.104 + 0.3) = 0.808 s.
    assert_eq!([0, 28, 60].map(|budget_s| with(budget_s).blocks_expected()), [12, 33, 40]);
    assert_eq!(with(28).expected_ns(), 33 * 808_000_000);
    // Pilots of 5.2 s are part of the budget, which leaves 29 blocks of 1.808 s with longer warm-ups.
    let pilots = in_blocks(with(60), |blocks| blocks.warm_up_ns_max = Some(SECOND_NS));
    assert_eq!((pilots.blocks_expected(), pilots.expected_ns()), (29, 5_200_000_000 + 29 * 1_808_000_000));
}

#[test]
fn a_sequential_experiment_is_one_block_without_a_budget() {
    let plan = published::plan("languages-2018", &SequentialOptions::default());
    assert_eq!((plan.blocks().min, plan.blocks().max, plan.blocks().budget_ns), (1, 1, u64::MAX));
    let points =
        plan.points.iter().map(|point| point.expected_ns() * (point.rows.len() * point.rounds) as u64);
    assert_eq!(plan.expected_ns(), points.sum::<u64>());
}

proptest! {
    #[test]
    fn a_cycle_of_groups_has_every_row_and_the_reference_in_each(
        rows in 1..60_usize,
        group_max in 2..13_usize,
        seed: u64,
        cycle in 0..20_usize,
    ) {
        let labels: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
        let plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
        let plan = in_blocks(Plan { seed, ..plan }, |blocks| blocks.group_max = group_max);
        let groups: Vec<Vec<usize>> =
            (0..plan.groups()).map(|group| plan.group(cycle * plan.groups() + group)).collect();
        let measured: BTreeSet<usize> = groups.iter().flatten().copied().collect();
        prop_assert_eq!(measured.len(), rows);
        prop_assert!(groups.iter().all(|group| group.contains(&0) && group.len() <= group_max.max(1)));
        let others = groups.iter().flatten().filter(|row| **row != 0).count();
        prop_assert_eq!(others, rows - 1, "only the reference is measured twice");
    }

    #[test]
    fn a_service_is_in_one_block_in_all_of_its_protocols(
        services in 2..30_usize,
        protocols in 2..5_usize,
        seed: u64,
        cycle in 0..20_usize,
    ) {
        let all = || (0..services).flat_map(|service| (0..protocols).map(move |protocol| (service, protocol)));
        let labels: Vec<String> = all().map(|(service, protocol)| format!("{service}-{protocol}")).collect();
        let mut plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
        for (row, (service, protocol)) in plan.rows.iter_mut().zip(all()) {
            (row.service, row.protocol) = (service.to_string(), tare_load::Protocol::ALL[protocol]);
        }
        let plan = in_blocks(Plan { seed, ..plan }, |blocks| blocks.group_max = 12);
        let groups: Vec<Vec<usize>> =
            (0..plan.groups()).map(|group| plan.group(cycle * plan.groups() + group)).collect();
        for group in &groups {
            // Every group contains the reference in all protocols, to compare protocols too.
            prop_assert!((0..protocols).all(|row| group.contains(&row)));
            let services: BTreeSet<usize> = group.iter().map(|row| row / protocols).collect();
            prop_assert_eq!(group.len(), services.len() * protocols);
            prop_assert!(group.len() <= 12.max(2 * protocols));
        }
        let others = groups.iter().flatten().filter(|row| **row >= protocols).count();
        prop_assert_eq!(others, (services - 1) * protocols, "each is measured once in a cycle");
    }

    #[test]
    fn the_order_of_a_sequential_experiment_is_a_permutation_of_its_samples(seed: u64, rounds in 1..4_usize) {
        let plan = fixture::at_points(PUBLISHED[0].clone(), |point| point.rounds = rounds);
        let plan = Plan { seed, ..plan };
        let slots = order(&plan);
        prop_assert_eq!(slots.len(), plan.samples());
        prop_assert_eq!(slots.iter().collect::<BTreeSet<_>>().len(), slots.len());
        prop_assert_eq!(order(&plan), slots, "the same seed gives the same order");
    }

    #[test]
    fn no_more_time_is_left_the_longer_a_run_lasts(
        done in 0..50_usize,
        elapsed_s in 0..400_u64,
        later_s in 0..100_u64,
        block_s in 1..9_u64,
    ) {
        let plan = fixture::plan(&["a", "b"]);
        let left_ns = |elapsed_s: u64| plan.left_ns(done, elapsed_s * SECOND_NS, block_s * SECOND_NS);
        prop_assert!(left_ns(elapsed_s + later_s) <= left_ns(elapsed_s));
        let fewest_ns = 12_u64.saturating_sub(done as u64) * block_s * SECOND_NS;
        prop_assert!(left_ns(elapsed_s) >= fewest_ns, "the fewest blocks are measured in any case");
    }

    #[test]
    fn a_scale_never_makes_a_load_longer_nor_empty(scale in 1e-6..=1.0_f64) {
        for plan in PUBLISHED.iter() {
            for point in &plan.points {
                let (whole, part) = (point.load, point.load.scaled(scale, None));
                prop_assert!(part.duration_ns() <= whole.duration_ns());
                prop_assert!(part.requests() <= whole.requests());
                prop_assert!(part.requests().is_none_or(|requests| requests > 0));
                prop_assert_eq!(part.connections().threads, whole.connections().threads);
            }
        }
    }
}
