use super::*;
use crate::{
    experiment::{Knobs, LoadSetting},
    run::{
        cpus::Pinning,
        folder::{Header, Kept},
        plan::{Plan, PlannedRow},
        record::{Latency, Record, Slice, Started, Stopped},
    },
};

fn row(label: &str, style: Style) -> PlannedRow {
    PlannedRow {
        label: label.to_owned(),
        service: label.to_owned(),
        title: None,
        language: "rust".to_owned(),
        framework: label.to_owned(),
        licence: "MIT".to_owned(),
        style,
        settings: Vec::new(),
        version: Some("1.2.3".to_owned()),
        content: None,
        excluded: None,
    }
}

/// Eight blocks of two slices; `half` is served at half the pivot's rate for twice its CPU.
fn kept() -> Kept {
    let mut absent = row("absent", Style::Framework);
    let reason = "not on this machine: \"ghc --version\" cannot run; `apt-get install ghc`".to_owned();
    absent.excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
    let plan = Plan {
        experiment: "quick".to_owned(),
        title: "Quick".to_owned(),
        question: "What does it cost?".to_owned(),
        contract: "hello".to_owned(),
        pivot: "pivot".to_owned(),
        seed: 42,
        load: LoadSetting { connections: 64, threads: 1 },
        knobs: Knobs { threads: 1, delay_ms: 0 },
        budget_ns: 60_000_000_000,
        slice_ns: 100_000_000,
        slices_per_block: 2,
        warm_up_ns: 0,
        warm_up_ns_max: None,
        group_max: 12,
        latency: None,
        blocks_min: 6,
        blocks_max: 8,
        pinning: Pinning { server: vec![0], generator: vec![1] },
        rows: ["pivot", "half", "dying", "wrong"]
            .map(|label| row(label, if label == "pivot" { Style::Pivot } else { Style::Framework }))
            .into_iter()
            .chain([absent])
            .collect(),
    };
    let environment = Environment {
        system: "Debian".to_owned(),
        cpu: "a <fast> CPU".to_owned(),
        cpus: 2,
        kernel: "Linux 6".to_owned(),
        ..Environment::default()
    };
    let header = Header {
        format: "1.0".to_owned(),
        tare: "0.1.0".to_owned(),
        began: "2026-01-02T03:04:05Z".to_owned(),
        plan,
        environment,
    };
    let records = (0..8)
        .flat_map(block_of)
        .chain([Record::Ended { reason: Ending::BlocksMax, elapsed_ns: 5_000_000_000 }]);
    Kept { header, records: records.collect(), damage: Vec::new() }
}

fn block_of(block: usize) -> Vec<Record> {
    let noise = 1000 + 10 * block as u64;
    let mut records = vec![Record::Block {
        block,
        order: ["pivot", "half", "wrong"].map(str::to_owned).to_vec(),
        elapsed_ns: 0,
    }];
    for (label, answered, cpu_share) in
        [("pivot", 20 * noise, 99), ("half", 10 * noise, 98), ("wrong", 10 * noise, 99)]
    {
        records.push(Record::Started(Started { block, row: label.to_owned(), start_up_ns: 3_000_000 }));
        for round in 0..2 {
            let failed =
                if label == "wrong" { [("mismatch".to_owned(), 500)].into() } else { BTreeMap::new() };
            records.push(Record::Slice(Slice {
                block,
                round,
                row: label.to_owned(),
                window_ns: 100_000_000,
                elapsed_ns: 100_000_000,
                sent: answered,
                answered,
                answered_in_window: answered,
                failed,
                server_cpu_ns: cpu_share * 1_000_000,
                generator_cpu_ns: 60_000_000,
                ..Slice::default()
            }));
        }
        let latency = Latency {
            p50_ns: 310_000,
            p90_ns: 400_000,
            p99_ns: 1_240_000,
            p999_ns: 2_000_000,
            max_ns: 3_000_000,
            at_least: false,
        };
        records.push(Record::Stopped(Stopped {
            block,
            row: label.to_owned(),
            rss_bytes_peak: Some(4 << 20),
            context_switches: Some(10),
            latency: Some(latency),
            latency_open: Vec::new(),
            complaint: None,
        }));
    }
    if block == 2 {
        let reason = "was killed by signal 9 in a slice".to_owned();
        records.push(Record::Failed { block, row: "dying".to_owned(), reason });
    }
    records
}

fn find<'a>(report: &'a Report, label: &str) -> &'a RowReport {
    report.rows.iter().find(|row| row.label == label).unwrap()
}

#[test]
fn the_ratio_is_paired_by_block_and_holds_the_truth() {
    let report = compute(&kept());
    let ratio = find(&report, "half").ratio.clone().unwrap();
    assert!(
        (ratio.ratio - 0.5).abs() < 1e-9 && ratio.low.unwrap() <= 0.5 && ratio.high.unwrap() >= 0.5,
        "{ratio:?}"
    );
    let cpu = find(&report, "half").cpu_ratio.clone().unwrap();
    assert!((cpu.ratio - 98.0 / 49.5).abs() < 1e-6, "{cpu:?}");
    assert_eq!(report.blocks, 8);
}

#[test]
fn a_row_without_a_valid_figure_has_a_reason() {
    let report = compute(&kept());
    assert_eq!(
        find(&report, "dying").state,
        State::Failed("block 3: was killed by signal 9 in a slice".to_owned())
    );
    assert!(
        matches!(&find(&report, "wrong").state, State::Invalid(reason) if reason.contains("mismatch 8000"))
    );
    assert!(matches!(find(&report, "absent").state, State::Excluded(_)));
    assert_eq!(find(&report, "wrong").requests_per_second, None);
    assert!(report.some_service_failed() && report.some_measurement_is_invalid());
}

#[test]
fn a_generator_that_is_the_slower_one_gives_no_throughput() {
    let mut kept = kept();
    for record in &mut kept.records {
        if let Record::Slice(slice) = record
            && slice.row == "half"
        {
            (slice.server_cpu_ns, slice.generator_cpu_ns) = (50_000_000, 99_000_000);
        }
    }
    let report = compute(&kept);
    let half = find(&report, "half");
    assert_eq!((half.requests_per_second, half.ratio.clone()), (None, None));
    assert!(half.throughput_doubt.as_ref().unwrap().starts_with("generator-bound"));
    assert!(half.cpu_ratio.is_some(), "CPU per request does not depend on who waits");
}

#[test]
fn a_block_that_was_cut_off_counts_as_far_as_its_rounds_are_whole() {
    let mut kept = kept();
    let last_block = kept.records.iter().rposition(|record| matches!(record, Record::Block { .. })).unwrap();
    let is_late =
        |record: &Record| matches!(record, Record::Slice(slice) if slice.block == 7 && slice.round == 1);
    let one_round =
        |record: &Record| !is_late(record) && !matches!(record, Record::Stopped(Stopped { block: 7, .. }));
    kept.records.pop();
    kept.records.retain(one_round);
    let report = compute(&kept);
    assert_eq!((report.blocks, find(&report, "half").blocks), (8, 8));
    assert_eq!(find(&report, "half").ratio.as_ref().unwrap().n, 8);
    assert!(
        report.notes.iter().any(|note| note.starts_with("1 of 8 blocks were cut off")),
        "{:?}",
        report.notes
    );

    kept.records.truncate(last_block + 3);
    assert_eq!(compute(&kept).blocks, 7, "no round is whole");
}

#[test]
fn the_table_as_text() {
    insta::assert_snapshot!(text(&compute(&kept()), false, None));
}

#[test]
fn a_narrow_terminal_gets_fewer_columns() {
    let report = compute(&kept());
    for width in [60, 80, 100, 120, 140] {
        let table = text(&report, false, Some(width));
        let widest =
            table.lines().filter(|line| line.starts_with("half  ")).map(|line| line.chars().count()).max();
        assert!(widest.unwrap() <= width.max(70), "{width}: {table}");
        assert!(table.contains("95% interval") && table.contains("CPU/req"), "{table}");
    }
}

#[test]
fn too_few_blocks_are_said_once() {
    let mut kept = kept();
    let fourth =
        kept.records.iter().position(|record| matches!(record, Record::Block { block: 3, .. })).unwrap();
    kept.records.truncate(fourth);
    let report = compute(&kept);
    assert_eq!(find(&report, "half").ratio.as_ref().unwrap().low, None);
    assert_eq!(
        report.notes.iter().filter(|note| note.contains("3 blocks are too few")).count(),
        1,
        "{:?}",
        report.notes
    );
    assert!(!find(&report, "half").warnings.iter().any(|warning| warning.contains("too few")));
}

#[test]
fn others_on_the_machine_are_told_of() {
    let mut kept = kept();
    for record in &mut kept.records {
        if let Record::Slice(slice) = record {
            slice.foreign_cpu_ns = Some(20_000_000);
        }
    }
    let report = compute(&kept);
    assert_eq!(report.foreign_cpu_share, Some(0.1));
    assert!(report.notes[0].starts_with("machine-noisy: others took 10%"), "{:?}", report.notes);
}

#[test]
fn the_table_as_markdown() {
    insta::assert_snapshot!(markdown(&compute(&kept())));
}
