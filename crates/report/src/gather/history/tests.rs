//! Comparisons of computed runs.

use insta::assert_snapshot;
use tare_bench::{
    fixture,
    folder::{Header, RunFolder, StoredRun},
    plan::{Excluded, Exclusion, LoadSpec, Plan, PlannedRow},
    record::{Block, EndedRun, Ending, Journal, Latency, Record, Started, StoppedService},
    sample::Sample as Slice,
};
use tare_host::environment::Environment;
use tare_service::catalogue::Style;

use super::*;
use crate::document::{Table, Tone, Value};

/// A row of a run: its name, its rate as a multiple of the usual one, and its build.
type Row<'a> = (&'a str, f64, &'a str);

fn planned(&(label, _, build): &Row) -> PlannedRow {
    PlannedRow {
        framework: label.to_owned(),
        style: if label == "raw-socket" { Style::RawSocket } else { Style::Framework },
        version: Some(build.split('+').next().unwrap_or(build).to_owned()),
        content: Some(format!("content of {build}")),
        ..fixture::row(label)
    }
}

fn plan(rows: &[Row], seed: u64) -> Plan {
    let plan = fixture::of_rows(rows.iter().map(planned).collect());
    let plan = fixture::in_blocks(plan, |blocks| (blocks.min, blocks.budget_ns) = (6, 60_000_000_000));
    Plan {
        experiment: "quick".to_owned(),
        title: "Quick".to_owned(),
        question: "What does it cost?".to_owned(),
        reference: Some("raw-socket".to_owned()),
        twin: None,
        seed,
        ..plan
    }
}

/// A value from -0.5 to 0.5 that differs for each seed, block and use.
fn wobble(seed: u64, block: usize, of: u64) -> f64 {
    let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (block as u64 * 1_000_003 + of * 7_919 + 1);
    for _ in 0..3 {
        word = (word ^ (word >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (word >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// A run of these rows and this many blocks at that time, on a machine at `speed`. All rows of a block share
/// a disturbance of 10%; each has 1% of its own.
fn run(day: u64, speed: f64, rows: &[Row], blocks: usize) -> NamedRun {
    let environment = Environment {
        kernel: "Linux 6.1.0-9-amd64".to_owned(),
        cpu: "a CPU".to_owned(),
        cpus: 2,
        system: "Debian".to_owned(),
        irq_time_apart: Some(false),
        isolation: vec!["cpu time: cgroup v2 cpu.stat in \"/sys/fs/cgroup\"".to_owned()],
        cpu_time: Some("cgroup v2 cpu.stat".to_owned()),
        ..Environment::default()
    };
    let header = Header::new("0.1.0", format!("2026-01-{day:02}T03:04:05Z"), plan(rows, day), environment);
    let mut records = Vec::new();
    for block in 0..blocks {
        let (order, elapsed_ns) = ((0..rows.len()).collect(), block as u64 * 1_000_000_000);
        records.push(Record::Block(Block { block, order, elapsed_ns, ..Block::default() }));
        for (place, (_, level, _)) in rows.iter().enumerate() {
            let own = 1.0 + 0.01 * wobble(day, block, place as u64 + 1);
            records.extend(slice(block, place, speed * level * own * (1.0 + 0.1 * wobble(day, block, 0))));
        }
    }
    records.push(Record::Ended(EndedRun {
        reason: Ending::BlocksMax,
        elapsed_ns: blocks as u64 * 1_000_000_000,
    }));
    NamedRun::of(
        format!("runs/day{day:02}"),
        StoredRun { header, records, damage: Vec::new(), in_progress: false },
    )
}

fn slice(block: usize, row: usize, level: f64) -> [Record; 3] {
    let answered = (10_000.0 * level) as u64;
    let slice = Slice { block, row, ..fixture::slice(answered) };
    let p99_ns = (600_000.0 / level) as u64;
    let stopped = StoppedService {
        block,
        row,
        rss_bytes_peak: Some(4_000_000 + block as u64 * 4096),
        context_switches: Some(100),
        latency: vec![Some(Latency { p50_ns: p99_ns / 2, p99_ns, ..Latency::default() })],
        unclean_stop: None,
        backing: None,
        placement: None,
        wrong_aside: None,
        handshakes: None,
        failed_in_warm_up: tare_bench::sample::Failures::default(),
    };
    let started = Started { block, row, start_up_ns: Some(3_000_000) };
    [Record::Started(started), Record::Sample(Box::new(slice)), Record::Stopped(stopped)]
}

const STEADY: Row = ("steady", 0.8, "1.0+a");
const RAW_SOCKET: Row = ("raw-socket", 1.0, "0.1.0+p");

/// Two runs on one machine, which was slower the second time; `fast` lost 4% with a new build.
fn pair() -> Vec<NamedRun> {
    let gone = ("gone", 0.7, "2.0+a");
    let [calm, still] = [("calm", 0.75, "1.0+a"), ("still", 0.65, "1.0+a")];
    let before = run(1, 1.0, &[RAW_SOCKET, STEADY, ("fast", 0.9, "1.0+a"), gone, calm, still], 12);
    let new = ("new", 0.6, "1.0+a");
    let after = run(2, 0.8, &[RAW_SOCKET, STEADY, ("fast", 0.864, "1.1+b"), new, calm, still], 12);
    vec![before, after]
}

fn of(runs: Vec<NamedRun>) -> Document {
    of_runs(runs, Vec::new()).unwrap().document
}

fn refusal(runs: Vec<NamedRun>) -> String {
    of_runs(runs, Vec::new()).unwrap_err().to_string()
}

fn table<'d>(document: &'d Document, id: &str) -> &'d Table {
    document.sections.iter().find(|section| section.id == id).unwrap().table.as_ref().unwrap()
}

/// A cell of the first row in which these columns have these texts.
fn cell(document: &Document, id: &str, at: &[(&str, &str)], key: &str) -> Value {
    let table = table(document, id);
    let is_it =
        |row: &&Vec<Value>| at.iter().all(|(key, text)| row[table.place(key).unwrap()].text() == Some(text));
    table.rows.iter().find(is_it).unwrap()[table.place(key).unwrap()].clone()
}

fn verdict(document: &Document, row: &str, metric: &str) -> String {
    let found = cell(document, "effects", &[("row", row), ("metric", metric)], "verdict");
    found.text().unwrap().to_owned()
}

/// The whole visible document, as plain text.
fn shown(document: &Document) -> String {
    let mut lines = vec![document.title.clone(), document.question.clone(), document.whole_answer()];
    lines.extend(document.damage.iter().map(|line| format!("damage: {line}")));
    lines.extend(document.notes.iter().map(|line| format!("note: {line}")));
    lines.extend(document.facts.iter().map(|fact| format!("{}: {}", fact.label, fact.text)));
    for section in &document.sections {
        lines.push(format!("\n[{}] {}: {}", section.id, section.title, section.lead));
        lines.extend(section.notes.iter().map(|line| format!("note: {line}")));
        lines.extend(section.charts.iter().map(|chart| format!("chart: {}: {}", chart.title, chart.alt)));
        let Some(table) = &section.table else { continue };
        let seen: Vec<usize> = (0..table.columns.len()).filter(|at| !table.columns[*at].hidden).collect();
        lines.push(seen.iter().map(|at| table.columns[*at].title.as_str()).collect::<Vec<_>>().join(" | "));
        lines.extend(table.rows.iter().map(|row| {
            let cells = seen.iter().map(|at| {
                let (column, value) = (&table.columns[*at], row[*at].show(table.columns[*at].unit));
                let ends = column
                    .interval
                    .as_ref()
                    .map(|ends| ends.each_ref().map(|key| &row[table.place(key).unwrap()]));
                match ends {
                    Some([Value::Number(low), Value::Number(high)]) => {
                        format!("{value} ({} .. {})", column.unit.show(*low), column.unit.show(*high))
                    }
                    _ => value,
                }
            });
            cells.collect::<Vec<_>>().join(" | ").trim_end().to_owned()
        }));
    }
    lines.join("\n")
}

/// Checks that tables are complete, numbers finite, chart columns exist, and the JSON follows its schema.
fn check(document: &Document) {
    let schema = serde_json::from_str(crate::write::json::SCHEMA).unwrap();
    let json = serde_json::to_value(document).unwrap();
    let said = jsonschema::draft202012::validate(&schema, &json);
    assert!(said.is_ok(), "{said:?}");
    for section in &document.sections {
        let Some(table) = &section.table else {
            assert!(section.charts.is_empty() && !section.notes.is_empty(), "{}", section.id);
            continue;
        };
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", section.id);
        assert!(table.rows.iter().flatten().filter_map(Value::number).all(f64::is_finite));
        for chart in &section.charts {
            let keys = [Some(&chart.x), Some(&chart.y), chart.series.as_ref(), chart.n.as_ref()];
            assert!(keys.into_iter().flatten().all(|key| table.place(key).is_some()), "{}", section.id);
            assert!(!chart.alt.is_empty());
        }
    }
}

#[test]
fn run_against_run() {
    let document = of(pair());
    check(&document);
    assert_snapshot!(shown(&document));
}

#[test]
fn a_machine_that_was_slower_moves_nobody_who_did_not_change() {
    let document = of(pair());
    assert_eq!(verdict(&document, "steady", "throughput"), "not shown");
    assert_eq!(verdict(&document, "fast", "throughput"), "slower");
    assert_eq!(verdict(&document, "fast", "CPU/request"), "dearer");
    assert_eq!(verdict(&document, "fast", "peak RSS"), "beside");
    let reason = cell(&document, "effects", &[("row", "gone"), ("metric", "throughput")], "reason");
    assert_eq!(reason, Value::from("B: there is no row \"gone\""));
}

#[test]
fn what_moves_without_a_change_says_how_much_runs_differ() {
    let rows = |same: f64, other: f64, build| [RAW_SOCKET, ("same", same, "1.0+a"), ("other", other, build)];
    let document =
        of(vec![run(1, 1.0, &rows(0.8, 0.5, "1.0+a"), 12), run(2, 1.0, &rows(0.76, 0.49, "1.1+b"), 12)]);
    assert_eq!(verdict(&document, "same", "throughput"), "moved, same build");
    assert_eq!(verdict(&document, "other", "throughput"), "not beyond same builds");
    assert!(document.basis.contains("2 moved as services do whose build is the same"), "{}", document.basis);
    assert!(document.notes.iter().any(|note| note.contains("(same): so much comes from the runs")));
}

/// Two runs with new builds do not show the spread between runs; the reference's twin does.
#[test]
fn new_builds_in_one_run_each_make_runs_differ_and_no_service_slower() {
    let rows = |level: f64, build| [RAW_SOCKET, ("fast", level, build), ("again", 1.0, "0.1.0+p")];
    let pair = |twin: Option<&str>| {
        let run = |day, level, build| {
            let rows = rows(level, build);
            let mut kept = run(day, 1.0, if twin.is_some() { &rows } else { &rows[..2] }, 12).stored;
            kept.header.plan.twin = twin.map(str::to_owned);
            let service = kept.header.plan.rows[0].service.clone();
            kept.header.plan.rows[2..].iter_mut().for_each(|row| row.service = service.clone());
            NamedRun::of(format!("runs/day{day:02}"), kept)
        };
        of(vec![run(1, 0.9, "1.0+a"), run(2, 0.8, "1.1+b")])
    };
    let alone = pair(None);
    assert_eq!(verdict(&alone, "fast", "throughput"), "these runs differ");
    let expected = "Of the one service the throughput of 1 differs. Throughput: fast -11.";
    assert!(alone.whole_answer().starts_with(expected), "{}", alone.whole_answer());
    let twinned = pair(Some("again"));
    assert_eq!(verdict(&twinned, "fast", "throughput"), "slower");
    assert!(table(&twinned, "effects").values("row").all(|row| row.text() != Some("again")));
}

/// A change of a run's plan, and the expected message.
type Tweak = (fn(&mut Plan), &'static str);

fn closed(plan: &mut Plan, connections: usize, threads: usize, slice_ms: u64) {
    let duration_ns = slice_ms * 1_000_000;
    plan.points[0].load = LoadSpec::Closed { connections, threads, duration_ns, think_ns: None };
}

#[test]
fn another_measurement_is_refused_with_both_values() {
    let tweaks: [Tweak; 7] = [
        (|plan| plan.points[0].contract = "rest".to_owned(), "contract: \"hello\" in A, \"rest\" in B"),
        (|plan| closed(plan, 400, 1, 100), "connections: \"64\" in A, \"400\" in B"),
        (|plan| closed(plan, 64, 2, 100), "generator threads: \"1\" in A, \"2\" in B"),
        (|plan| plan.points[0].service_settings.threads = 4, "THREADS of services: \"1\" in A, \"4\" in B"),
        (|plan| plan.points[0].service_settings.delay_ms = 5, "DELAY_MS of services: \"0\" in A, \"5\" in B"),
        (|plan| closed(plan, 64, 1, 500), "length of a slice: \"100 ms\" in A, \"500 ms\" in B"),
        (|plan| plan.pinning.generator = vec![0], "\"1 and 1, apart\" in A, \"1 and 1, shared\" in B"),
    ];
    for (tweak, expected) in tweaks {
        let mut runs = pair();
        tweak(&mut runs[1].stored.header.plan);
        let said = refusal(runs);
        assert!(said.starts_with("the runs are not comparable: ") && said.contains(expected), "{said}");
        assert!(said.contains("A is runs/day01, B is runs/day02"), "{said}");
    }
    let mut runs = pair();
    runs[1].stored.header.plan.reference = Some("steady".to_owned());
    assert!(refusal(runs).contains("reference: \"raw-socket\" in A, \"steady\" in B"));
}

#[test]
fn what_only_may_matter_is_told() {
    let mut runs = pair();
    runs[1].stored.header.tare = "0.2.0".to_owned();
    runs[1].stored.header.plan.points[0].rounds = 4;
    let document = of(runs);
    assert!(document.notes.contains(&"differs: version of Tare: \"0.1.0\" in A, \"0.2.0\" in B".to_owned()));
    assert!(document.notes.contains(&"differs: slices in a block: \"1\" in A, \"4\" in B".to_owned()));
    assert_eq!(verdict(&document, "fast", "throughput"), "slower");
}

#[test]
fn another_way_to_count_cpu_time_leaves_that_metric_out() {
    let mut runs = pair();
    runs[1].stored.header.environment.irq_time_apart = Some(true);
    let document = of(runs);
    assert_eq!(verdict(&document, "fast", "CPU/request"), "not compared");
    assert_eq!(verdict(&document, "fast", "throughput"), "slower");
    let mut runs = pair();
    runs[1].stored.header.environment.irq_time_apart = None;
    assert_eq!(
        verdict(&of(runs), "fast", "CPU/request"),
        "dearer",
        "an old run that kept less is no other machine"
    );
}

#[test]
fn two_machines_are_compared_by_their_references_alone() {
    let mut runs = pair();
    runs[1].stored.header.environment.cpu = "another CPU".to_owned();
    let document = of(runs);
    assert!(document.notes[0].starts_with("the runs are of two machines: only ratios to the reference"));
    assert_eq!(verdict(&document, "fast", "throughput"), "these runs differ");
    assert_eq!(verdict(&document, "fast", "peak RSS"), "not compared");
    // The row that moved most is no measure of the spread between runs, although its own build is the same.
    let mut runs = vec![
        run(1, 1.0, &[RAW_SOCKET, ("same", 1.0, "1.0.0+a")], 8),
        run(2, 1.0, &[RAW_SOCKET, ("same", 0.8, "1.0.0+a")], 8),
    ];
    runs[1].stored.header.environment.cpu = "another CPU".to_owned();
    let document = of(runs);
    assert_eq!(verdict(&document, "same", "throughput"), "these runs differ");
    assert!(document.notes.iter().all(|note| !note.contains("of the same build")), "{:?}", document.notes);
    let mut runs =
        vec![run(1, 1.0, &[RAW_SOCKET], 6), run(2, 1.0, &[RAW_SOCKET], 6), run(3, 1.0, &[RAW_SOCKET], 6)];
    for (run, cpu) in runs.iter_mut().zip(["x", "y", "z"]) {
        run.stored.header.environment.cpu = cpu.to_owned();
    }
    assert!(refusal(runs).contains("they are of 3 machines, and two can be compared"));
}

#[test]
fn the_last_run_is_the_second_of_two_and_the_newest_of_more() {
    let day = |day: u64| run(day, 1.0, &[RAW_SOCKET, STEADY], 6);
    let last = |runs: Vec<NamedRun>| of_runs(runs, Vec::new()).unwrap().last;
    assert_eq!(last(vec![day(2), day(1)]), Path::new("runs/day01"));
    assert_eq!(last(vec![day(2), day(3), day(1)]), Path::new("runs/day03"));
}

#[test]
fn kernels_of_one_minor_version_are_one_machine() {
    let mut runs = pair();
    runs[1].stored.header.environment.kernel = "Linux 6.1.0-10-amd64".to_owned();
    assert!(of(runs).notes.iter().any(|note| note.starts_with("differs: kernel release")));
    let mut runs = pair();
    runs[1].stored.header.environment.kernel = "Linux 6.12.1-amd64".to_owned();
    assert!(of(runs).notes[0].starts_with("the runs are of two machines"));
}

#[test]
fn another_reference_leaves_only_what_stands_beside() {
    let runs = vec![
        run(1, 1.0, &[RAW_SOCKET, STEADY], 8),
        run(2, 1.0, &[("raw-socket", 1.1, "0.2.0+q"), STEADY], 8),
    ];
    let document = of(runs);
    assert_eq!(
        document.whole_answer(),
        "Nothing can be compared. The reason: A: the reference is another program (\"0.1.0\" in A, \"0.2.0\" in B)."
    );
    assert_eq!(verdict(&document, "steady", "peak RSS"), "beside");
    check(&document);
    // The built-in reference is rebuilt with every version of Tare.
    let runs = vec![
        run(1, 1.0, &[RAW_SOCKET, STEADY], 8),
        run(2, 1.0, &[("raw-socket", 1.0, "0.1.0+q"), STEADY], 8),
    ];
    let document = of(runs);
    assert_eq!(verdict(&document, "steady", "throughput"), "not shown");
    assert!(document.notes.iter().any(|note| note.contains("not of one build")), "{:?}", document.notes);
}

#[test]
fn a_figure_that_is_not_valid_in_one_run_is_not_compared() {
    let mut runs = pair();
    for record in &mut runs[1].stored.records {
        if let Record::Sample(slice) = record {
            (slice.host.server_cpu_ns, slice.host.generator_cpu_ns) =
                (slice.load.answered * 5_000, 99_000_000);
        }
    }
    let after = runs.pop().unwrap();
    runs.push(NamedRun::of(after.place, after.stored));
    let document = of(runs);
    assert_eq!(verdict(&document, "fast", "throughput"), "not compared");
    let reason = cell(&document, "effects", &[("row", "fast"), ("metric", "throughput")], "reason");
    assert!(reason.text().unwrap().starts_with("B: fast: generator-bound"), "{reason:?}");
}

#[test]
fn rows_without_figures_say_why() {
    let mut runs = pair();
    let reason = "not on this machine".to_owned();
    let after = runs.pop().unwrap();
    let mut kept = after.stored;
    kept.header.plan.rows[2].excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
    runs.push(NamedRun::of(after.place, kept));
    let reason = cell(&of(runs), "effects", &[("row", "fast"), ("metric", "throughput")], "reason");
    assert_eq!(reason, Value::from("B: fast: not on this machine"));
}

/// A process that was kept for four blocks is one observation.
#[test]
fn starts_count_where_a_process_was_kept() {
    let keep = |run: NamedRun| {
        let mut kept = run.stored;
        kept.records.retain(|record| !matches!(record, Record::Started(started) if started.block % 4 != 0));
        NamedRun::of(run.place, kept)
    };
    let document = of(pair().into_iter().map(keep).collect());
    let of_fast = |key| cell(&document, "effects", &[("row", "fast"), ("metric", "throughput")], key);
    assert_eq!((of_fast("unit"), of_fast("n_before")), (Value::from("starts"), Value::Number(3.0)));
    assert_eq!(verdict(&document, "fast", "throughput"), "slower");
}

/// The p99 of a process that was kept for four blocks covers all four: it is compared with the reference in
/// the same blocks.
#[test]
fn the_p99_of_a_kept_process_is_related_to_all_of_its_blocks() {
    let pair = pair().into_iter().map(|run| {
        let mut kept = run.stored;
        let is_of_fast = |row: usize| kept.header.plan.rows[row].label == "fast";
        let of_fast: Vec<bool> = (0..kept.header.plan.rows.len()).map(is_of_fast).collect();
        kept.records.retain(|record| match record {
            Record::Started(started) => !of_fast[started.row] || started.block % 4 == 0,
            Record::Stopped(stopped) => !of_fast[stopped.row] || stopped.block % 4 == 3,
            _ => true,
        });
        // The reference was four times as slow in the first block of every process.
        for record in &mut kept.records {
            if let Record::Stopped(stopped) = record
                && stopped.row == 0
                && stopped.block % 4 == 0
            {
                stopped.latency.iter_mut().flatten().for_each(|latency| latency.p99_ns *= 16);
            }
        }
        NamedRun::of(run.place, kept)
    });
    let runs: Vec<NamedRun> = pair.collect();
    let document = of(runs);
    let of_fast = |key| cell(&document, "effects", &[("row", "fast"), ("metric", "p99")], key);
    assert_eq!(of_fast("n_before"), Value::Number(3.0), "three processes");
    // The geometric mean of 16, 1, 1, 1 is 2.
    let of_reference = of_fast("before_of_reference").number().unwrap();
    assert!((of_reference * 0.9 * 2.0 - 1.0).abs() < 0.1, "{of_reference}");
}

#[test]
fn too_few_blocks_have_an_effect_and_no_interval() {
    let document = of(vec![run(1, 1.0, &[RAW_SOCKET, STEADY], 3), run(2, 1.0, &[RAW_SOCKET, STEADY], 3)]);
    let of_steady = |key| cell(&document, "effects", &[("row", "steady"), ("metric", "throughput")], key);
    assert!(of_steady("effect").number().is_some() && of_steady("effect_low") == Value::None);
    assert_eq!(
        of_steady("reason"),
        Value::from("too few blocks for an interval: four of each run are the least")
    );
    assert!(document.basis.ends_with("Too little was measured for intervals."), "{}", document.basis);
}

/// `fast` loses 4% with the build of the seventh run.
fn twelve() -> Vec<NamedRun> {
    let rows = |day: u64| {
        let (level, build) = if day < 7 { (0.9, "1.0+a") } else { (0.864, "1.1+b") };
        // Runs differ randomly by a quarter of a percent.
        [
            RAW_SOCKET,
            ("steady", 0.8 * (1.0 + 0.005 * wobble(99, day as usize, 0)), "1.0+a"),
            ("fast", level, build),
        ]
    };
    let speed = |day: u64| 1.0 + 0.2 * wobble(98, day as usize, 0);
    let mut runs: Vec<NamedRun> = (1..=12).map(|day| run(day, speed(day), &rows(day), 8)).collect();
    runs.rotate_left(3);
    runs
}

#[test]
fn a_history_of_runs() {
    let document = of(twelve());
    check(&document);
    assert_snapshot!(shown(&document));
}

#[test]
fn a_history_is_in_the_order_of_time_and_names_the_build_that_changed() {
    let document = of(twelve());
    let of_fast = |key| cell(&document, "effects", &[("row", "fast"), ("metric", "throughput")], key);
    assert_eq!((of_fast("before"), of_fast("after")), (Value::from("#1 .. #6"), Value::from("#7 .. #12")));
    assert_eq!(
        (of_fast("unit"), of_fast("verdict")),
        (Value::from("runs"), Value::Word("slower", Tone::Bad))
    );
    let changed = |key| cell(&document, "changes", &[("row", "fast"), ("metric", "throughput")], key);
    assert_eq!((changed("run"), changed("build")), (Value::from("#7"), Value::from("changed with it")));
    assert!(table(&document, "changes").values("row").all(|row| row.text() == Some("fast")));
}

#[test]
fn a_short_history_says_how_many_runs_it_takes() {
    let runs = (1..=3).map(|day| run(day, 1.0, &[RAW_SOCKET, STEADY], 8)).collect();
    let document = of(runs);
    check(&document);
    let changes = document.sections.iter().find(|section| section.id == "changes").unwrap();
    assert_eq!(
        changes.notes,
        ["3 runs are too few: a change shows among 10 at the least, however great it is"]
    );
    let last = cell(&document, "effects", &[("row", "steady"), ("metric", "throughput")], "after");
    assert_eq!(last, Value::from("#3"), "where no build changed the last run stands against the others");
}

#[test]
fn a_run_is_not_compared_with_itself_nor_alone() {
    let twice = vec![run(1, 1.0, &[RAW_SOCKET, STEADY], 6), run(1, 1.0, &[RAW_SOCKET, STEADY], 6)];
    assert_eq!(refusal(twice), "\"runs/day01\" and \"runs/day01\" are the same run: give two different ones");
    assert_eq!(
        refusal(vec![run(1, 1.0, &[RAW_SOCKET], 6)]),
        "1 of the runs can be compared, and it takes two"
    );
}

fn written(folder: &Path, name: &str, run: &NamedRun) -> PathBuf {
    let path = folder.join(name);
    let mut written = RunFolder::create(&path, &run.stored.header).unwrap();
    run.stored.records.iter().for_each(|record| written.append(record).unwrap());
    path
}

#[test]
fn folders_that_cannot_be_read_are_named_and_the_others_compared() {
    let folder = tempfile::tempdir().unwrap();
    let runs = pair();
    let [one, other] =
        ["one", "other"].map(|name| written(folder.path(), name, &runs[usize::from(name == "other")]));
    let lost = folder.path().join("lost");
    let History { document: found, last } = history(&[one.clone(), other.clone(), lost.clone()]).unwrap();
    assert_eq!(last, other, "the last one that is compared, and not the last one that is named");
    assert!(
        found.damage[0].contains("lost: there is no such folder") && found.damage[0].ends_with(": left out")
    );
    let of_fast = cell(&found, "effects", &[("row", "fast"), ("metric", "throughput")], "effect");
    let same = cell(&of(pair()), "effects", &[("row", "fast"), ("metric", "throughput")], "effect");
    assert_eq!(of_fast, same, "what was read is what was written");
    let said = history(&[one.clone(), lost]).unwrap_err().to_string();
    assert!(said.starts_with("1 of the runs can be compared, and it takes two: "), "{said}");

    let journal = one.join("journal.ndjson");
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &whole[..whole.len() - 5]).unwrap();
    let found = history(&[one, other]).unwrap().document;
    assert!(
        found.damage[0].starts_with("A: journal.ndjson: the last line is not whole"),
        "{:?}",
        found.damage
    );
    assert_eq!(found.status, Status::CutOff);
}
