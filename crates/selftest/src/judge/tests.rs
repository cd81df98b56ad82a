use super::*;
use crate::{Act, trials};
use tare_bench::run::{
    folder::Header,
    plan::Plan,
    record::{Latency, Slice, Stopped},
};
use tare_host::{cpus::Pinning, environment::Environment};
use tare_service::catalogue::{Catalogue, RawSocket, Row};

/// The named trial's campaign, with records as they might have been.
fn evidence(name: &str, records: Vec<Record>) -> Evidence {
    let trial = trials(false).into_iter().find(|trial| trial.name == name).unwrap();
    let Act::Campaign(campaign) = &trial.act else { panic!("{name} is no campaign") };
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("services")).unwrap();
    let service = Catalogue::load(root.path(), &[], RawSocket::default()).unwrap().services.remove(0);
    let rows: Vec<Row> = (campaign.rows.iter())
        .map(|(label, _)| Row { label: (*label).to_owned(), service: service.clone() })
        .collect();
    let experiment = campaign.experiment(name, &trial.done).unwrap();
    let pinning = Pinning { server: vec![0], generator: vec![1] };
    let header =
        Header::new("", String::new(), Plan::new(&experiment, &rows, 1, pinning), Environment::default());
    Evidence::Campaign {
        kept: Box::new(Kept { header, records, damage: Vec::new(), goes_on: false }),
        how: Some("so".to_owned()),
    }
}

fn judged(name: &str, records: Vec<Record>) -> Judgement {
    let trial = trials(false).into_iter().find(|trial| trial.name == name).unwrap();
    (trial.judge)(&evidence(name, records))
}

/// A block in which each row has one slice, and ends.
fn block(block: usize, rows: &[(&str, Slice)]) -> Vec<Record> {
    let order = rows.iter().map(|(row, _)| (*row).to_owned()).collect();
    let mut records = vec![Record::Block { block, order, elapsed_ns: 0 }];
    for (row, slice) in rows {
        let row = (*row).to_owned();
        records.push(Record::Slice(Slice { block, row: row.clone(), ..slice.clone() }));
        records.push(Record::Stopped(stopped(block, &row)));
    }
    records
}

fn stopped(block: usize, row: &str) -> Stopped {
    Stopped {
        block,
        row: row.to_owned(),
        rss_bytes_peak: None,
        context_switches: None,
        latency: None,
        latency_open: Vec::new(),
        complaint: None,
    }
}

/// A tenth of a second with 10,000 answers, both CPUs busy.
fn slice() -> Slice {
    Slice {
        window_ns: 100_000_000,
        elapsed_ns: 100_000_000,
        sent: 10_000,
        answered: 10_000,
        answered_in_window: 10_000,
        server_cpu_ns: 99_000_000,
        generator_cpu_ns: 80_000_000,
        foreign_cpu_ns: Some(0),
        ..Slice::default()
    }
}

/// Ten blocks in which the subject costs `percent` more, give or take one in a thousand.
fn scales(percent: f64, wrong: u64) -> Vec<Record> {
    let costing = |times: f64| Slice { server_cpu_ns: (99e6 * times) as u64, ..slice() };
    let twin = |index: usize| {
        let mut twin = costing(1.0 + 0.001 * (index % 3) as f64 - 0.001);
        twin.failed.extend((wrong > 0).then(|| ("reset".to_owned(), wrong)));
        Slice { answered_in_window: 10_000 + 10 * (index as u64 % 3) - 10, ..twin }
    };
    let subject = |index: usize| costing(1.0 + percent / 100.0 + 0.0001 * index as f64);
    let rows = |index| [(RAW_SOCKET, slice()), (TWIN, twin(index)), (SUBJECT, subject(index))];
    (0..10).flat_map(|index| block(index, &rows(index))).collect()
}

#[test]
fn the_scales_tell_what_was_added_and_nothing_else() {
    let of = |name, percent, wrong| judged(name, scales(percent, wrong)).outcome;
    assert_eq!((of("twins", 3.0, 0), of("slower", 3.0, 0)), (Outcome::Seen, Outcome::Seen));
    assert_eq!(of("twins", 3.0, 1), Outcome::NotSeen, "a request failed");
    assert_eq!(of("slower", 9.0, 0), Outcome::NotSeen, "three times what was added");
    assert_eq!(of("slower", -3.0, 0), Outcome::NotSeen, "on the wrong side");
    let few = scales(3.0, 0)[..7 * 4].to_vec();
    let found = judged("slower", few.clone());
    assert_eq!(found.outcome, Outcome::NotSeen);
    assert!(found.found.starts_with("not found within 4 blocks"), "{}", found.found);
    assert_eq!(judged("twins", few).outcome, Outcome::NotSeen, "no interval yet");
}

#[test]
fn a_row_that_did_not_start_is_named() {
    let reason = "no such file".to_owned();
    let failed = vec![Record::Failed { block: 0, row: SUBJECT.to_owned(), reason }];
    for name in ["slower", "stall", "dropper", "throttled", "spinner"] {
        let found = judged(name, failed.clone());
        assert_eq!((found.outcome, found.found.as_str()), (Outcome::NotSeen, "subject failed: no such file"));
    }
}

#[test]
fn a_stall_is_where_arithmetic_puts_it() {
    let of = |p90_ms: u64, p99_ms: u64| {
        let open = Latency { p90_ns: p90_ms * 1_000_000, p99_ns: p99_ms * 1_000_000, ..Latency::default() };
        let latency = Some(Latency::default());
        let stopped = Stopped { latency, latency_open: vec![open], ..stopped(0, SUBJECT) };
        judged("stall", vec![Record::Stopped(stopped)]).outcome
    };
    assert_eq!(of(100, 190), Outcome::Seen);
    assert_eq!(of(1, 1), Outcome::NotSeen, "omitted");
    assert_eq!(of(100, 900), Outcome::NotSeen, "more than the stall");
    let mut records = block(0, &[(SUBJECT, Slice { foreign_cpu_ns: Some(150_000_000), ..slice() })]);
    let Some(Record::Stopped(stopped)) = records.last_mut() else { panic!("a block ends") };
    let open = Latency { p99_ns: 900_000_000, ..Latency::default() };
    (stopped.latency, stopped.latency_open) = (Some(Latency::default()), vec![open]);
    assert_eq!(judged("stall", records).outcome, Outcome::NotTried, "others held it up");
}

#[test]
fn failures_are_seen_by_their_share_and_by_the_report() {
    let of = |name, wrong: u64| {
        let mut slice = Slice { answered: 10_000 - wrong, ..slice() };
        slice.failed.insert("closed-before-response".to_owned(), wrong);
        judged(name, block(0, &[(SUBJECT, slice)])).outcome
    };
    assert_eq!((of("dropper", 100), of("dropper", 0)), (Outcome::Seen, Outcome::NotSeen));
    assert_eq!(of("dropper", 300), Outcome::NotSeen, "more than were dropped");
    assert_eq!((of("late-cache", 9_990), of("late-cache", 100)), (Outcome::Seen, Outcome::NotSeen));
}

#[test]
fn half_a_cpu_is_told_from_a_whole_one_and_from_a_slow_generator() {
    let of = |server_ns, generator_ns| {
        let slice = Slice { server_cpu_ns: server_ns, generator_cpu_ns: generator_ns, ..slice() };
        judged("throttled", block(0, &[(SUBJECT, slice)])).outcome
    };
    assert_eq!(of(50_000_000, 40_000_000), Outcome::Seen);
    assert_eq!(of(99_000_000, 40_000_000), Outcome::NotSeen);
    assert_eq!(of(50_000_000, 99_000_000), Outcome::NotSeen);
    let (server_cpu_ns, foreign_cpu_ns) = (20_000_000, Some(150_000_000));
    let crowded = Slice { server_cpu_ns, foreign_cpu_ns, ..slice() };
    assert_eq!(judged("throttled", block(0, &[(SUBJECT, crowded)])).outcome, Outcome::NotTried);
}

#[test]
fn a_spinner_is_told_from_what_was_there_before() {
    let of = |before: Option<i64>, with: Option<i64>| {
        let foreign = |foreign_cpu_ns| Slice { foreign_cpu_ns, ..slice() };
        let mut records = block(0, &[(SUBJECT, foreign(before))]);
        records.extend(block(1, &[(SUBJECT, foreign(with))]));
        judged("spinner", records).outcome
    };
    assert_eq!(of(Some(2_000_000), Some(50_000_000)), Outcome::Seen);
    assert_eq!(of(Some(2_000_000), Some(3_000_000)), Outcome::NotSeen);
    assert_eq!(of(Some(100_000_000), Some(150_000_000)), Outcome::NotTried, "too busy to tell");
    assert_eq!(of(None, Some(50_000_000)), Outcome::NotTried);
}

#[test]
fn a_proof_must_fail_at_what_is_wrong() {
    use tare_service::verify::CheckResult;
    let result =
        |check, outcome| CheckResult { check, request: String::new(), outcome, note: None, wire: None };
    let proof = |check, fails: bool| {
        let outcome = if fails { Checked::Fail("why".to_owned()) } else { Checked::Pass };
        Ok(Transcript { contract: String::new(), checks: vec![result(check, outcome)] })
    };
    let of = |judge: fn(&Evidence) -> Judgement, proofs| judge(&Evidence::Proofs(proofs)).outcome;
    assert_eq!(of(honest, vec![proof(CheckId::Head, false)]), Outcome::Seen);
    assert_eq!(of(honest, vec![proof(CheckId::Head, true)]), Outcome::NotSeen);
    assert_eq!(of(cache, vec![proof(CheckId::Fresh, true)]), Outcome::Seen);
    assert_eq!(of(cache, vec![proof(CheckId::Head, true)]), Outcome::NotSeen, "for another reason");
    assert_eq!(of(wrong_length, vec![Err("not ready".to_owned())]), Outcome::NotSeen);
    let closes = |honest, slow| {
        let proofs = [honest, slow].map(|fails| proof(CheckId::ConnectionClose, fails));
        of(slow_close, proofs.into())
    };
    assert_eq!(closes(false, true), Outcome::Seen);
    assert_eq!((closes(true, true), closes(false, false)), (Outcome::NotSeen, Outcome::NotSeen));
}
