use std::path::Path;

use super::*;
use crate::fixture::published::{ALL, contracts, experiment, plan as planned, root};

/// CPUs of the machine that the fixture plans for.
const CPUS: usize = 2;

#[test]
fn every_published_experiment_names_what_there_is() {
    for name in ALL {
        experiment(name).check_contracts(&contracts()).unwrap();
        let plan = planned(name, &SequentialOptions::default());
        assert!(plan.samples() > 0, "{name}");
        let figures = &plan.publication.figures;
        let rows = figures.rows.iter().map(|row| &row.service);
        for published in rows.chain(&figures.services).chain(&figures.unmeasured) {
            let is_there = plan.rows.iter().any(|row| row.published.as_ref() == Some(published));
            assert!(is_there, "{name}: no row for \"{published}\"");
        }
        for row in plan.rows.iter().filter_map(|row| row.published.as_ref()) {
            let is_named = figures.services.contains(row) || figures.unmeasured.contains(row);
            assert!(is_named || figures.row(row).is_some(), "{name}: \"{row}\" was not published");
        }
    }
}

#[test]
fn every_claim_is_asked_for_and_every_check_is_of_a_claim() {
    for name in ALL {
        let plan = planned(name, &SequentialOptions::default());
        let claims: Vec<&str> =
            plan.publication.figures.claims.iter().map(|claim| claim.id.as_str()).collect();
        for check in &plan.publication.checks {
            assert!(claims.contains(&check.claim.as_str()), "{name}: no claim \"{}\"", check.claim);
            let labels = check.but.iter().chain(&check.to).chain([&check.of]).filter(|label| *label != "*");
            for label in labels {
                assert!(plan.rows.iter().any(|row| row.label == *label), "{name}: no row \"{label}\"");
            }
        }
        let asked =
            claims.iter().filter(|claim| plan.publication.checks.iter().any(|check| check.claim == **claim));
        assert_eq!(asked.count(), claims.len(), "{name}");
    }
}

/// 2020: N in {200, 1000} x t in {0, 200} x C in {28, 4} x {local, VPN}, without N = 200 at t = 0.
#[test]
fn the_grid_of_2020_is_whole() {
    let plan = planned("rest-cpp-2020", &SequentialOptions::default());
    let of = |point: &Point| {
        let LoadSpec::Batch { messages, .. } = point.load else { panic!("{point:?}") };
        (messages, point.service_settings.delay_ms, point.link.is_some(), point.service_settings.threads)
    };
    let mut points: Vec<_> =
        plan.points.iter().filter(|point| point.service_settings.threads != CPUS).map(of).collect();
    points.sort_unstable();
    let cells = plan.publication.figures.cells.iter();
    let mut expected: Vec<_> =
        cells.map(|cell| (cell.n, cell.t_ms, cell.environment == "vpn", cell.threads)).collect();
    expected.sort_unstable();
    assert_eq!(points, expected);
}

#[test]
fn a_scale_shortens_what_is_long_and_keeps_what_was_published() {
    let options = SequentialOptions { scale: Some(0.1), ..SequentialOptions::default() };
    let plan = planned("rest-cpp-2020", &options);
    let LoadSpec::Batch { messages, .. } = plan.points[0].load else { panic!() };
    let LoadSpec::Batch { messages: published, .. } = *plan.points[0].published() else { panic!() };
    assert_eq!((messages, published, plan.publication.scale), (100, 1000, 0.1));
    let seconds = |options: &SequentialOptions| match planned("abstract-2018", options).points[0].load {
        LoadSpec::Closed { duration_ns, .. } => duration_ns as f64 / 1e9,
        _ => panic!(),
    };
    let tiny = SequentialOptions { scale: Some(1e-6), ..SequentialOptions::default() };
    let exact = SequentialOptions { duration_ns: Some(2_500_000_000), ..SequentialOptions::default() };
    let all = [seconds(&SequentialOptions::default()), seconds(&options), seconds(&tiny), seconds(&exact)];
    assert_eq!(all, [600.0, 60.0, 1.0, 2.5]);
}

#[test]
fn a_sweep_is_done_instead_and_threads_replace_an_axis() {
    let sweep = planned("restinio-2017", &SequentialOptions { sweep: true, ..SequentialOptions::default() });
    let label = &sweep.rows[sweep.points[0].rows[0]].label;
    assert_eq!((sweep.points.len(), label.as_str()), (48, "asio"));
    let threads = SequentialOptions { threads: vec![3], ..SequentialOptions::default() };
    let plan = planned("rest-cpp-2020", &threads);
    assert!(plan.points.iter().all(|point| point.service_settings.threads == 3));
    assert_eq!(
        planned("abstract-2018", &threads).points[0].service_settings.threads,
        8,
        "it has no axis of them"
    );
}

#[test]
fn deadlines_come_from_the_plan() {
    let plan = planned("rest-cpp-2020", &SequentialOptions::default());
    let is_slow = |point: &&Point| point.part == "slow link" && point.service_settings.threads == 4;
    let slow = plan.points.iter().find(is_slow).unwrap().deadlines();
    let quick = plan.points[0].deadlines();
    // The slowest published service took 369 s there, and the quickest of all points 0.85 s.
    assert!((600e9..1200e9).contains(&(slow.all_ns as f64)), "{slow:?}");
    assert!(quick.all_ns < 60_000_000_000 && quick.silence_ns < 10_000_000_000, "{quick:?}");
    assert!(slow.silence_ns > quick.silence_ns);
}

#[test]
fn a_plan_from_elsewhere_is_looked_at_too() {
    let plan = planned("restinio-2017", &SequentialOptions::default());
    assert_eq!(plan.check(), Ok(()));
    let mut error = plan.clone();
    error.rows[0].threads = Some(0);
    assert_eq!(error.check(), Err("a service is given 0 threads".to_owned()));
    let mut error = plan;
    error.points[0].service_settings.threads = 0;
    assert_eq!(error.check(), Err("a service is given 0 threads".to_owned()));
}

#[test]
fn a_check_of_a_claim_that_was_not_made_names_the_nearest() {
    let path = Path::new("x.toml");
    let right = std::fs::read_to_string(root().join("experiments/published/restinio-2017.toml")).unwrap();
    let experiment =
        SequentialExperiment::parse(path, &right.replacen("claim    = \"timers\"", "claim = \"tiemrs\"", 1))
            .unwrap();
    let figures = Figures::load(&root().join("figures/restinio-2017.toml")).unwrap();
    let error = experiment.check_claims(&figures).unwrap_err().to_string();
    let expected = "figures/restinio-2017.toml has no claim \"tiemrs\"; did you mean \"timers\"?";
    assert!(error.starts_with("x.toml:") && error.ends_with(expected), "{error}");
}

#[test]
fn mistakes_name_the_line_and_the_fix() {
    let path = Path::new("experiments/published/x.toml");
    let right = std::fs::read_to_string(root().join("experiments/published/restinio-2017.toml")).unwrap();
    let error = |from: &str, to: &str| {
        let text = right.replacen(from, to, 1);
        assert_ne!(text, right, "{from}");
        SequentialExperiment::parse(path, &text).unwrap_err().to_string()
    };
    let errors = [
        error("rounds   = 6", "rounds = 0"),
        error("connections = 400", "connections = 0"),
        error("\"percent\"", "\"percents\""),
        error("services = [\"asio\"]", "services = [\"asoi\"]"),
        error("reference    = \"asio\"", "reference = \"aiso\""),
        error("kind = \"closed\"", "kind = \"close\""),
        error("warm-up  =", "warmup ="),
        error("warm-up  = \"500ms\"", "warm-up = \"-3s\""),
        error("threads  = 1", "threads = 0"),
        error("threads   = 40", "threads = 5000"),
        error("at-most = 0.3333", "points = { part = \"pubished\" }\nat-most = 0.3"),
        error("at-most = 0.3333", "points = { link = \"vpn\" }\nat-most = 0.3"),
        error("at-most = 0.3333", ""),
        error("metric  = \"throughput\"\nat-most = 0.3333", ""),
        error("name     = \"sweep\"", "name = \"published\""),
        error("name     = \"sweep\"", "name = \"scan\""),
        error("duration = \"5s\"", "duration = \"5s\", think = [\"3s\", \"1s\"]"),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

/// Durations in a file may exceed the range of nanoseconds: they saturate and do not wrap.
#[test]
fn times_that_are_too_long_are_the_longest() {
    let mut plan = planned("restinio-2017", &SequentialOptions::default());
    let point = &mut plan.points[0];
    point.load = LoadSpec::Batch { producers: 1, messages: 1 << 40 };
    point.service_settings = ServiceSettings { delay_ms: 3_600_000, ..ServiceSettings::of_threads(1) };
    assert_eq!((point.expected_ns(), point.deadlines().all_ns), (u64::MAX, u64::MAX));
    point.load = LoadSpec::Sessions { connections: 1 << 30, calls: 1 << 10 };
    assert_eq!(point.expected_ns(), u64::MAX);
    assert_eq!(plan.expected_ns(), u64::MAX);
}
