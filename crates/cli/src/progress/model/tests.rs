use insta::assert_snapshot;
use tare_bench::{
    experiment::Rate,
    fixture,
    plan::{
        Excluded, Exclusion, Order,
        until::{ALPHA, Gate, Metric, looks},
    },
    record::{Block, EndedRun, Ending, Failed, Latency, Pilot, Started, StoppedService},
    slo::Slo,
};
use tare_host::environment::Environment;

use super::*;
use crate::progress::view::tests::drawn;

const LEFT: Duration = Duration::from_secs(60);

fn header(labels: &[&str]) -> Header {
    let plan = fixture::at_points(fixture::plan(labels), |point| point.rounds = 4);
    let plan = fixture::in_blocks(plan, |blocks| (blocks.min, blocks.budget_ns) = (6, 120_000_000_000));
    let plan = Plan {
        experiment: "tiny".to_owned(),
        title: "Tiny".to_owned(),
        question: "Which?".to_owned(),
        ..plan
    };
    Header::new("0.1.0", "2026-01-02T03:04:05Z".to_owned(), plan, Environment::default())
}

fn begins(block: usize, rows: &[(&str, f64)]) -> Record {
    let (order, elapsed_ns) = ((0..rows.len()).collect(), block as u64 * 4_000_000_000);
    Record::Block(Block { block, order, elapsed_ns, ..Block::default() })
}

fn started(block: usize, row: usize) -> Record {
    Record::Started(Started { block, row, start_up_ns: Some(3_000_000) })
}

/// A slice of a service that is `level` times as fast as the reference, and slightly faster in each block.
fn slice(block: usize, round: usize, row: usize, level: f64) -> Sample {
    let wobble = 1.0 + 0.02 * ((block * 7 + ROWS[row].0.len() * 3 + round) % 5) as f64;
    let answered = (10_000.0 * level * wobble) as u64;
    Sample { block, round, row, ..fixture::slice(answered) }
}

fn sample(sample: Sample) -> Record {
    Record::Sample(Box::new(sample))
}

fn stopped(block: usize, row: usize) -> Record {
    let latency = vec![Some(Latency { p50_ns: 300_000, p99_ns: 600_000, ..Latency::default() })];
    Record::Stopped(StoppedService {
        block,
        row,
        rss_bytes_peak: Some(4 << 20),
        latency,
        ..StoppedService::default()
    })
}

fn block(number: usize, rows: &[(&str, f64)]) -> Vec<Record> {
    let mut records = vec![begins(number, rows)];
    records.extend((0..rows.len()).map(|row| started(number, row)));
    for round in 0..4 {
        let slices = rows.iter().enumerate().map(|(row, (_, level))| slice(number, round, row, *level));
        records.extend(slices.map(sample));
    }
    records.extend((0..rows.len()).map(|row| stopped(number, row)));
    records
}

fn record(model: &mut Model, records: impl IntoIterator<Item = Record>) {
    records.into_iter().for_each(|record| model.on_record(&record, LEFT));
}

fn cell<'v>(view: &'v View, name: &str, key: &str) -> &'v Value {
    let row = view.table.rows.iter().find(|row| row[0].text() == Some(name)).unwrap();
    &row[view.table.place(key).unwrap()]
}

fn state<'v>(view: &'v View, name: &str) -> &'v str {
    cell(view, name, "state").text().unwrap_or_default()
}

const ROWS: [(&str, f64); 3] = [("raw", 1.0), ("fast", 0.9), ("slow", 0.4)];

#[test]
fn what_is_being_done_is_said() {
    let mut head = header(&["raw", "fast", "slow", "gone"]);
    head.plan.blocks_mut().warm_up_ns_max = Some(9_000_000_000);
    let reason = "not found: swiftc".to_owned();
    head.plan.rows[3].excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
    let mut model = Model::new(&head, &[]);
    let view = |model: &Model| model.view(Duration::from_secs(7));
    assert_eq!(view(&model).place, "finding how long each warms up, 1 of 3: raw");
    assert_eq!(state(&view(&model), "raw"), "warming up");
    assert_eq!(state(&view(&model), "gone"), "left out");

    let pilot = Pilot {
        row: 0,
        window_ns: 1,
        answered: vec![1],
        server_cpu_ns: vec![1],
        start_ns: 0,
        steady_after_ns: Some(1_500_000_000),
        ..Pilot::default()
    };
    record(&mut model, [Record::Pilot(pilot)]);
    assert_eq!(view(&model).place, "finding how long each warms up, 2 of 3: fast");
    assert_eq!(state(&view(&model), "raw"), "steady after 1.5 s");

    record(&mut model, [begins(0, &ROWS), started(0, 0)]);
    assert_eq!(view(&model).place, format!("block 1 of about {}, warming up fast", model.blocks));
    assert_eq!((state(&view(&model), "raw"), state(&view(&model), "slow")), ("ready", ""));

    record(&mut model, [started(0, 1), started(0, 2)]);
    assert!(view(&model).place.ends_with(", all are warm"));
    record(&mut model, [sample(slice(0, 2, 2, 1.0))]);
    assert!(view(&model).place.ends_with(", round 3: slow"));
    assert_eq!(state(&view(&model), "slow"), "measuring");

    let reason = "was killed".to_owned();
    record(&mut model, [Record::Failed(Failed { block: 0, row: 2, reason })]);
    assert_eq!(state(&view(&model), "slow"), "failed");
    assert_eq!(cell(&view(&model), "slow", "reason").text(), Some("block 1: was killed"));
    assert_eq!(view(&model).remarks, ["slow: was killed"]);
    record(&mut model, [stopped(0, 0)]);
    assert!(view(&model).place.ends_with(", stopping"));
}

#[test]
fn blocks_to_come_are_told_by_those_that_were() {
    let head = header(&["raw", "fast", "slow"]);
    let mut model = Model::new(&head, &[]);
    (0..3).for_each(|number| record(&mut model, block(number, &ROWS)));
    // A block took 4 s, and 60 s are left.
    model.on_record(&begins(3, &ROWS), LEFT);
    assert_eq!(model.blocks, 3 + 15);
    model.on_record(&begins(4, &ROWS), Duration::ZERO);
    assert_eq!(model.blocks, 6, "the fewest");
}

#[test]
fn the_table_is_that_of_the_end() {
    let head = header(&["raw", "fast", "slow"]);
    let records: Vec<Record> = (0..7).flat_map(|number| block(number, &ROWS)).collect();
    let mut model = Model::new(&head, &records);
    let reason = Ending::Interrupted;
    record(&mut model, [Record::Ended(EndedRun { reason, elapsed_ns: 28_000_000_000 })]);
    record(&mut model, [begins(7, &ROWS), started(7, 0)]);
    let view = model.view(Duration::from_secs(7));
    assert_eq!(view.elapsed, Duration::from_secs(24 + 7), "what was before counts");
    assert_snapshot!(drawn(&view, 100, 8));
    assert_eq!(view.interest, [Interest::InBlock, Interest::Now, Interest::InBlock]);
    let shown = |key: &str| view.table.values(key).cloned().collect::<Vec<_>>();
    let whole = interim(&model.stored, 0).table;
    for key in ["label", "throughput_ratio", "throughput_ratio_low", "ranks"] {
        assert_eq!(shown(key), whole.values(key).cloned().collect::<Vec<_>>(), "{key}");
    }
}

#[test]
fn without_a_throughput_it_is_cpu_time_that_is_shown() {
    let generator_bound = |record: Record| match record {
        Record::Sample(mut slice) => {
            (slice.host.server_cpu_ns, slice.host.generator_cpu_ns) = (50_000_000, 100_000_000);
            Record::Sample(slice)
        }
        record => record,
    };
    let records: Vec<Record> = (0..7).flat_map(|number| block(number, &ROWS)).map(generator_bound).collect();
    let head = header(&["raw", "fast", "slow"]);
    let model = Model::new(&head, &records);
    let view = model.view(Duration::ZERO);
    assert_eq!(cell(&view, "fast", "throughput_ratio"), &Value::None);
    assert!(matches!(cell(&view, "fast", "cpu_ratio"), Value::Number(_)), "{:?}", view.table);
    assert!(view.remarks[0].contains("generator-bound"), "{:?}", view.remarks);
}

#[test]
fn a_comparison_is_effects_and_bounds_at_the_last_look() {
    let mut head = header(&["raw", "fast"]);
    let metrics = vec![Metric::Throughput, Metric::Cpu];
    let candidate = "fast".to_owned();
    head.plan.until = Until::Gate(Gate { candidate, delta: 0.03, metrics, looks: looks(40), alpha: ALPHA });
    let rows = [("raw", 1.0), ("fast", 0.99)];
    let mut model = Model::new(&head, &block(0, &rows));
    let view = model.view(Duration::ZERO);
    assert!(view.place.ends_with("; next look after block 12"), "{}", view.place);
    assert_eq!(view.answer, "the first look is after 12 blocks, and nothing is said before it");
    (1..12).for_each(|number| record(&mut model, block(number, &rows)));
    record(&mut model, [begins(12, &rows)]);
    model.compute();
    assert_snapshot!(drawn(&model.view(LEFT), 100, 9));
}

#[test]
fn a_search_is_the_rates_between_which_it_is() {
    let mut head = header(&["raw", "fast"]);
    head.plan = fixture::with_rates(head.plan, &[Rate::Searched], 28);
    let slo = Slo::parse(["p99=10ms"]).unwrap();
    head.plan.until = Until::Search(tare_bench::slo::SloPlan {
        slo,
        windows: 14,
        windows_expected: None,
        lag_ns_max: 1_000_000,
        at_least: None,
    });
    let rows = [("raw", 1.0), ("fast", 0.5)];
    let mut model = Model::new(&head, &[]);
    record(&mut model, block(0, &rows));
    let window = |offered_per_second: f64, good: u64| {
        let answered = offered_per_second as u64;
        let mut window = slice(0, 0, 0, 1.0);
        (window.point, window.load.offered_per_second) = (1, Some(offered_per_second));
        (window.load.sent, window.load.answered) = (answered, answered);
        window.load.within = vec![answered * good / 100];
        sample(window)
    };
    record(&mut model, [window(70_000.0, 100), window(84_000.0, 100), window(100_800.0, 10)]);
    let view = model.view(LEFT);
    assert_eq!(state(&view, "raw"), "window 3: 84.0 k .. 101 k");
    assert_eq!(state(&view, "fast"), "");
    assert!(view.place.ends_with(" at 101 k/s: raw"), "{}", view.place);
    assert_snapshot!(drawn(&view, 100, 6));
}

#[test]
fn a_new_remark_stands_before_those_that_were_there() {
    let head = header(&["raw", "fast"]);
    let complains = |number: usize, row: usize, complaint: &str| {
        let mut records = block(number, &[("raw", 1.0), ("fast", 0.9)]);
        for record in &mut records {
            if let Record::Stopped(stopped) = record
                && stopped.row == row
            {
                stopped.unclean_stop = Some(complaint.to_owned());
            }
        }
        records
    };
    let mut model = Model::new(&head, &complains(0, 0, "first"));
    assert_eq!(model.view(LEFT).remarks, ["raw: first"]);
    record(&mut model, complains(1, 1, "second"));
    model.compute();
    assert_eq!(model.view(LEFT).remarks, ["fast: second", "raw: first"]);
}

#[test]
fn samples_one_by_one_are_counted_and_those_without_figures_are_named() {
    let mut head = header(&["raw", "fast"]);
    head.plan.order = Order::Sequential;
    let mut model = Model::new(&head, &[]);
    assert_eq!(model.view(LEFT).place, "starting");
    let slot = |round, row| Slot { block: 0, round, point: 0, row };
    model.begin(slot(0, 0), 0, LEFT);
    let place = model.view(LEFT).place;
    assert!(place.starts_with("sample 1 of 8, round 1: raw, "), "{place}");

    let measured = sample(slice(0, 0, 0, 1.0));
    model.on_record(&measured, LEFT);
    assert!(model.has_more_to_compute(&measured), "each sample is a run of its own");
    let failed = SampleOutcome::Failed { reason: "was killed".to_owned() };
    record(&mut model, [sample(Sample { outcome: failed, ..slice(0, 0, 1, 1.0) })]);
    model.begin(slot(1, 0), 2, Duration::ZERO);
    model.compute();
    let view = model.view(LEFT);
    assert!(view.place.starts_with("sample 3 of 8, round 2: raw, "), "{}", view.place);
    assert_eq!((state(&view, "raw"), state(&view, "fast")), ("measuring", "failed"));
    assert_eq!(view.left, Duration::ZERO);
}
