use super::*;
use crate::{Action, trials};
use tare_analysis::interleaved::{
    RowState,
    slices::{Disposition, slices},
};
use tare_bench::sample::{Failure, HostUsage, LoadResult, Sample};
use tare_bench::{
    folder::Header,
    plan::Plan,
    record::{Block, Failed, Latency, Record, StoppedService},
};
use tare_host::{cpus::Pinning, environment::Environment};
use tare_service::catalogue::{Catalogue, RawSocket, Row};

/// The load run of the named trial, with these records.
fn evidence(name: &str, records: Vec<Record>) -> Evidence {
    let trial = trials(false).into_iter().find(|trial| trial.name == name).unwrap();
    let Action::Load(load) = &trial.action else { panic!("{name} loads nothing") };
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("services")).unwrap();
    let service = Catalogue::load(root.path(), &[], RawSocket::default()).unwrap().services.remove(0);
    let rows: Vec<Row> = (load.rows.iter())
        .map(|(label, _)| Row { label: (*label).to_owned(), service: service.clone() })
        .collect();
    let experiment = load.experiment(name, &trial.done).unwrap();
    let pinning = Pinning { server: vec![0], generator: vec![1] };
    let plan = Plan { until: load.until(), ..Plan::interleaved(&experiment, &rows, 1, pinning) };
    let header = Header::new("", String::new(), plan, Environment::default());
    let kept = StoredRun { header, records, damage: Vec::new(), in_progress: false };
    let cost_ns = load.rows.iter().filter_map(|(label, fault)| {
        let share = fault.strip_prefix("slower=")?.strip_suffix('%')?.parse::<f64>().unwrap() / 100.0;
        // Exactly the requested work, relative to a request of the reference in these tests.
        let each_ns = (share * reference_ns(name) * 1000.0) as u64;
        Some((*label, Ok(Added { requests: 1000, ns: each_ns })))
    });
    let made = TrialResult { how: Some("for this test".to_owned()), added: cost_ns.collect() };
    Evidence::Run(Box::new(Analysed::new(kept, made)))
}

fn evaluated(name: &str, records: Vec<Record>) -> Evaluation {
    evaluated_with(name, evidence(name, records))
}

fn evaluated_with(name: &str, evidence: Evidence) -> Evaluation {
    let trial = trials(false).into_iter().find(|trial| trial.name == name).unwrap();
    trial.evaluate(&evidence)
}

/// Cost of a request of the reference: 10,000 of them in the CPU time of [`slice`] and of [`weights`].
fn reference_ns(trial: &str) -> f64 {
    if trial == "linear" { 5_000.0 } else { 9_900.0 }
}

/// A block in which each row has one slice, and ends.
fn block(block: usize, rows: &[Sample]) -> Vec<Record> {
    let order = (0..rows.len()).collect();
    let mut records = vec![Record::Block(Block { block, order, ..Block::default() })];
    for (row, slice) in rows.iter().enumerate() {
        records.push(Record::Sample(Box::new(Sample { block, row, ..slice.clone() })));
        records.push(Record::Stopped(StoppedService { block, row, ..StoppedService::default() }));
    }
    records
}

/// A tenth of a second with 10,000 answers, both CPUs busy.
fn slice() -> Sample {
    costing(99_000_000, 80_000_000, Some(0))
}

/// The same at these costs.
fn costing(server_cpu_ns: u64, generator_cpu_ns: u64, foreign_cpu_ns: Option<i64>) -> Sample {
    let load = LoadResult {
        window_ns: 100_000_000,
        elapsed_ns: 100_000_000,
        sent: 10_000,
        answered: 10_000,
        answered_in_window: 10_000,
        ..LoadResult::default()
    };
    let host = HostUsage { server_cpu_ns, generator_cpu_ns, foreign_cpu_ns, ..HostUsage::default() };
    Sample { load, host, ..Sample::default() }
}

/// Twelve blocks, enough for the first look, in which the subject costs `percent` more, plus or minus 0.1%.
fn scales(percent: f64, wrong: u64) -> Vec<Record> {
    let scaled = |times: f64| {
        let mut slice = costing((99e6 * times) as u64, 80_000_000, Some(0));
        slice.load.answered_in_window = (10_000.0 / times) as u64;
        slice
    };
    let twin = |index: usize| {
        let mut twin = scaled(1.0 + 0.001 * (index % 3) as f64 - 0.001);
        twin.load.failed = [(Failure::Reset, wrong)].into_iter().collect();
        twin.load.answered_in_window = 10_000 + 10 * (index as u64 % 3) - 10;
        twin
    };
    let subject = |index: usize| scaled(1.0 + percent / 100.0 + 0.0001 * index as f64);
    (0..12).flat_map(|index| block(index, &[slice(), twin(index), subject(index)])).collect()
}

#[test]
fn the_scales_show_what_was_added_and_nothing_else() {
    let of = |name, percent, wrong| evaluated(name, scales(percent, wrong)).outcome;
    assert_eq!((of("twins", 3.0, 0), of("slower", 3.0, 0)), (TrialOutcome::Seen, TrialOutcome::Seen));
    assert_eq!(of("twins", 3.0, 1), TrialOutcome::NotSeen, "a request failed");
    assert_eq!(of("slower", 9.0, 0), TrialOutcome::NotSeen, "three times what was added");
    assert_eq!(of("slower", -3.0, 0), TrialOutcome::NotSeen, "on the wrong side");
    let few = scales(3.0, 0)[..7 * 4].to_vec();
    for (name, lacking) in [
        ("slower", "CPU per request by the reference has no interval after 4 blocks"),
        ("twins", "CPU per request of the twin by the reference has no interval after 4 blocks"),
    ] {
        let found = evaluated(name, few.clone());
        assert_eq!((found.outcome, found.found.as_str()), (TrialOutcome::NotDecided, lacking));
    }
}

/// Twelve blocks in which each weight is measured as this function of it, plus or minus 0.1%.
fn weights(read: impl Fn(f64) -> f64) -> Vec<Record> {
    let blocks = (0..12).map(|index| {
        let wobble = 1.0 + 0.001 * (index % 3) as f64 - 0.001;
        let row = |weight| costing((50e6 * wobble * (1.0 + read(weight))) as u64, 80_000_000, Some(0));
        let weighted = crate::action::WEIGHTS.map(|(_, weight)| row(weight));
        block(index, &[&[costing(50_000_000, 80_000_000, Some(0))], weighted.as_slice()].concat())
    });
    blocks.flatten().collect()
}

#[test]
fn a_scale_that_is_not_linear_is_noticed() {
    let of = |read: fn(f64) -> f64| evaluated("linear", weights(read)).outcome;
    assert_eq!(of(|weight| weight), TrialOutcome::Seen);
    assert_eq!(of(|weight| 1.04 * weight), TrialOutcome::Seen, "within a twentieth");
    assert_eq!(of(|weight| 1.08 * weight), TrialOutcome::NotSeen, "every weight a little too heavy");
    assert_eq!(of(|weight| 1.25 * weight), TrialOutcome::NotSeen, "every weight too heavy");
    assert_eq!(
        of(|weight| if weight < 0.2 { weight + 0.05 } else { weight }),
        TrialOutcome::NotSeen,
        "a step"
    );
    assert_eq!(of(|weight| if weight > 0.5 { 0.7 } else { weight }), TrialOutcome::NotSeen, "a saturation");
    let found = evaluated("linear", weights(|weight| weight)).found;
    assert!(found.contains("100.0% as 2.00"), "{found}");
}

/// Evidence in which the servers report other added work than requested.
fn having_added(name: &str, records: Vec<Record>, added: impl Fn() -> io::Result<Added>) -> Evidence {
    let Evidence::Run(mut run) = evidence(name, records) else { panic!("{name} loads nothing") };
    run.made.added.values_mut().for_each(|of_row| *of_row = added());
    Evidence::Run(run)
}

#[test]
fn a_weight_is_what_the_server_spent_and_not_what_it_was_asked_for() {
    // The server should add 3% of 9,900 ns, and added 7%.
    let spent = || Ok(Added { requests: 2, ns: 1_386 });
    let of = |percent| evaluated_with("slower", having_added("slower", scales(percent, 0), spent));
    assert_eq!(of(7.0).outcome, TrialOutcome::Seen);
    assert!(of(7.0).found.contains("with 7.0% added"), "{}", of(7.0).found);
    assert_eq!(of(3.0).outcome, TrialOutcome::NotSeen, "it is read as what was asked for");
}

#[test]
fn a_weight_that_nobody_counted_decides_nothing() {
    for (added, why) in [
        (Err(io::ErrorKind::NotFound.into()), "entity not found"),
        (Ok(Added::default()), "it was not calibrated before it ended"),
    ] as [(io::Result<Added>, &str); 2]
    {
        let added = || added.as_ref().copied().map_err(|error| error.kind().into());
        for (name, records) in [("slower", scales(3.0, 0)), ("linear", weights(|weight| weight))] {
            let found = evaluated_with(name, having_added(name, records, added));
            assert_eq!(found.outcome, TrialOutcome::NotDecided, "{}", found.found);
            assert!(found.found.ends_with(why), "{}", found.found);
        }
    }
}

#[test]
fn a_row_that_did_not_start_is_named() {
    let failed = |name: &str| {
        let (row, reason) = (if name == "slower" { 2 } else { 0 }, "no such file".to_owned());
        vec![Record::Failed(Failed { block: 0, row, reason })]
    };
    for name in ["slower", "stall", "dropper", "throttled", "spinner"] {
        let found = evaluated(name, failed(name));
        assert_eq!(
            (found.outcome, found.found.as_str()),
            (TrialOutcome::NotDecided, "subject: block 1: no such file"),
            "{name}"
        );
    }
}

/// A closed loop, an open one, and the latency of both.
fn stalled(p90_ms: u64, p99_ms: u64, foreign_ns: i64) -> Vec<Record> {
    let latency = Latency { p90_ns: p90_ms * 1_000_000, p99_ns: p99_ms * 1_000_000, ..Latency::default() };
    let closed = costing(99_000_000, 80_000_000, Some(foreign_ns));
    let mut open = Sample { point: 1, ..closed.clone() };
    (open.load.offered_per_second, open.load.schedule_lag_ns_p99) = (Some(1000.0), Some(20_000));
    let mut records = block(0, &[closed]);
    records.insert(2, Record::Sample(Box::new(open)));
    records.pop();
    let closed = Latency { p50_ns: 300_000, p99_ns: 900_000, ..Latency::default() };
    let latency = vec![Some(closed), Some(latency)];
    records.push(Record::Stopped(StoppedService { latency, ..StoppedService::default() }));
    records
}

#[test]
fn a_stall_is_where_arithmetic_puts_it() {
    let of = |p90, p99, foreign_ns| evaluated("stall", stalled(p90, p99, foreign_ns)).outcome;
    assert_eq!(of(100, 190, 0), TrialOutcome::Seen);
    assert_eq!(of(1, 1, 0), TrialOutcome::NotSeen, "omitted");
    assert_eq!(of(100, 900, 0), TrialOutcome::NotSeen, "more than the stall");
    assert_eq!(of(100, 900, 150_000_000), TrialOutcome::NotTried, "others held it up");
}

fn one_in(wrong: u64) -> Vec<Record> {
    let mut slice = slice();
    slice.load.answered = 10_000 - wrong;
    slice.load.failed = [(Failure::ClosedBeforeResponse, wrong)].into_iter().collect();
    block(0, &[slice])
}

#[test]
fn failures_are_seen_by_their_share_and_by_the_row_that_has_no_figures() {
    let of = |name, wrong: u64| evaluated(name, one_in(wrong)).outcome;
    assert_eq!((of("dropper", 100), of("dropper", 0)), (TrialOutcome::Seen, TrialOutcome::NotSeen));
    assert_eq!(of("dropper", 300), TrialOutcome::NotSeen, "more than were dropped");
    assert_eq!((of("late-cache", 9_990), of("late-cache", 100)), (TrialOutcome::Seen, TrialOutcome::NotSeen));
}

/// One block of a server that used this CPU time of 100 ms.
fn busy(server_cpu_ns: u64, generator_cpu_ns: u64, foreign_ns: i64) -> Vec<Record> {
    block(0, &[costing(server_cpu_ns, generator_cpu_ns, Some(foreign_ns))])
}

#[test]
fn half_a_cpu_is_not_taken_for_a_whole_one() {
    let of = |server, generator, foreign| evaluated("throttled", busy(server, generator, foreign)).outcome;
    assert_eq!(of(50_000_000, 40_000_000, 0), TrialOutcome::Seen);
    assert_eq!(of(99_000_000, 40_000_000, 0), TrialOutcome::NotSeen);
    assert_eq!(of(20_000_000, 40_000_000, 150_000_000), TrialOutcome::NotTried);
}

/// Three blocks of five rounds, of which the second and the fourth have a spinner.
fn spun(before: Option<i64>, with: Option<i64>) -> Vec<Record> {
    let rounds = |block: usize| {
        let slice = move |round: usize| {
            let foreign_cpu_ns = if round % 2 == 1 { with } else { before };
            let slice = costing(99_000_000, 80_000_000, foreign_cpu_ns);
            Record::Sample(Box::new(Sample { block, round, ..slice }))
        };
        let begins = [Record::Block(Block { block, order: vec![0], ..Block::default() })];
        let ends = [Record::Stopped(StoppedService { block, ..StoppedService::default() })];
        begins.into_iter().chain((0..5).map(slice)).chain(ends)
    };
    (0..3).flat_map(rounds).collect()
}

#[test]
fn rounds_with_a_spinner_are_left_out_and_no_others() {
    let of = |before, with| evaluated("spinner", spun(before, with)).outcome;
    assert_eq!(of(Some(2_000_000), Some(60_000_000)), TrialOutcome::Seen);
    assert_eq!(of(Some(2_000_000), Some(3_000_000)), TrialOutcome::NotSeen);
    assert_eq!(of(Some(100_000_000), Some(150_000_000)), TrialOutcome::NotTried, "too busy");
    assert_eq!(of(None, Some(60_000_000)), TrialOutcome::NotTried);
}

/// The evaluation of a trial whose analysis had this mistake in its report.
fn mistaken(trial: &str, records: Vec<Record>, mistake: impl Fn(&mut Report)) -> TrialOutcome {
    assert_eq!(evaluated(trial, records.clone()).outcome, TrialOutcome::Seen, "{trial}, nothing broken");
    let mut evidence = evidence(trial, records);
    let Evidence::Run(run) = &mut evidence else { panic!("{trial} loads nothing") };
    mistake(&mut run.report);
    evaluated_with(trial, evidence).outcome
}

/// The certificate fails if a part of the table's code is broken: each part has its own trial.
#[test]
fn a_broken_analysis_is_noticed() {
    // Ranks in which the twin is separated, and the slower server is not.
    let exchanged = scales(3.0, 0).into_iter().map(|record| match record {
        Record::Sample(slice) if slice.row > 0 => {
            Record::Sample(Box::new(Sample { row: 3 - slice.row, ..*slice }))
        }
        other => other,
    });
    let Evidence::Run(exchanged) = evidence("twins", exchanged.collect()) else { panic!("it loads") };
    let ranks = |report: &mut Report| report.ranks = exchanged.report.ranks.clone();
    let valid = |report: &mut Report| {
        for row in &mut report.rows {
            (row.state, row.throughput_finding) = (RowState::Measured, None);
            row.findings.clear();
        }
    };
    assert_eq!(mistaken("twins", scales(3.0, 0), ranks), TrialOutcome::NotSeen, "all are separated");
    assert_eq!(mistaken("slower", scales(3.0, 0), ranks), TrialOutcome::NotSeen, "none is separated");
    assert_eq!(mistaken("dropper", one_in(100), valid), TrialOutcome::NotSeen, "every row is valid");
    assert_eq!(mistaken("throttled", busy(50_000_000, 40_000_000, 0), valid), TrialOutcome::NotSeen);
    let Evidence::Run(run) = evidence("spinner", spun(Some(2_000_000), Some(60_000_000))) else {
        panic!("it loads")
    };
    let mut all = slices(&run.kept);
    assert_eq!(runs::left_out(&all, 2).unwrap().outcome, TrialOutcome::Seen);
    all.iter_mut().for_each(|slice| slice.disposition = Disposition::Counts);
    assert_eq!(runs::left_out(&all, 2).unwrap().outcome, TrialOutcome::NotSeen, "every round counts");
}

#[test]
fn a_proof_must_fail_at_what_is_wrong() {
    use tare_service::verify::{CheckId, CheckOutcome, CheckResult};
    let result =
        |check, outcome| CheckResult { check, request: String::new(), outcome, note: None, wire: None };
    let proof = |check, fails: bool| {
        let outcome = if fails { CheckOutcome::Fail("why".to_owned()) } else { CheckOutcome::Pass };
        Ok(Transcript { contract: String::new(), checks: vec![result(check, outcome)] })
    };
    let of = |find: fn(&Evidence) -> Found, proofs| match find(&Evidence::Proofs(proofs)) {
        Ok(evaluation) | Err(evaluation) => evaluation.outcome,
    };
    assert_eq!(of(honest, vec![proof(CheckId::Head, false)]), TrialOutcome::Seen);
    assert_eq!(of(honest, vec![proof(CheckId::Head, true)]), TrialOutcome::NotSeen);
    assert_eq!(of(cache, vec![proof(CheckId::Fresh, true)]), TrialOutcome::Seen);
    assert_eq!(of(cache, vec![proof(CheckId::Head, true)]), TrialOutcome::NotSeen, "for another reason");
    assert_eq!(of(wrong_length, vec![Err("not ready".to_owned())]), TrialOutcome::NotDecided);
    let closes = |honest, slow| {
        let proofs = [honest, slow].map(|fails| proof(CheckId::ConnectionClose, fails));
        of(slow_close, proofs.into())
    };
    assert_eq!(closes(false, true), TrialOutcome::Seen);
    assert_eq!((closes(true, true), closes(false, false)), (TrialOutcome::NotSeen, TrialOutcome::NotSeen));
}

/// No trial detects anything in empty evidence.
#[test]
fn no_trial_sees_anything_in_nothing() {
    for trial in [trials(true), trials(false)].concat() {
        let nothing = match &trial.action {
            Action::Proofs { .. } => Evidence::Proofs(Vec::new()),
            Action::Load(_) => evidence(trial.name, Vec::new()),
        };
        let found = trial.evaluate(&nothing);
        assert_ne!(found.outcome, TrialOutcome::Seen, "{}: {}", trial.name, found.found);
        assert!(!found.found.is_empty(), "{}", trial.name);
    }
}

#[test]
fn evidence_of_the_other_kind_is_none() {
    for trial in trials(false) {
        let (other, found) = match &trial.action {
            Action::Proofs { .. } => (evidence("dropper", one_in(100)), "there was no proof"),
            Action::Load(_) => (Evidence::Proofs(Vec::new()), "nothing was loaded"),
        };
        let evaluation = trial.evaluate(&other);
        assert_eq!(
            (evaluation.outcome, evaluation.found.as_str()),
            (TrialOutcome::NotDecided, found),
            "{}",
            trial.name
        );
    }
}

#[test]
fn a_share_of_failures_has_two_limits() {
    let of = |name, wrong| evaluated(name, one_in(wrong)).outcome == TrialOutcome::Seen;
    for (name, least, most) in [("dropper", 70, 130), ("late-cache", 5_000, 10_000)] {
        assert!(of(name, least) && of(name, most), "{name}: both limits belong to it");
        assert!(!of(name, least - 10), "{name}: too few");
    }
    assert!(!of("dropper", 140), "too many");
}

#[test]
fn a_long_answer_is_quoted_in_part() {
    let quote = |failure: &str| {
        let mut records = one_in(100);
        let Record::Sample(sample) = &mut records[1] else { panic!("the second record is the slice") };
        sample.load.first_failure = Some(failure.to_owned());
        evaluated("dropper", records).found
    };
    let (short, long) = (quote("a"), quote(&"long ".repeat(200)));
    assert!(short.starts_with("1.00% of 10000 requests failed; "), "{short}");
    assert!(long.len() < 250, "{}: {long}", long.len());
}

#[test]
fn figures_are_named_with_their_units_and_match_the_sentence() {
    let stall = evaluated("stall", stalled(100, 190, 0));
    let is_near = |name: &str, ms: f64| (stall.figures[name] - ms).abs() < 1e-6;
    assert!(is_near("p90_ms", 100.0) && is_near("p99_ms", 190.0), "{:?}", stall.figures);
    assert!(stall.found.starts_with("p99 190.0 ms, p90 100.0 ms"), "{}", stall.found);
    let dropper = evaluated("dropper", one_in(100));
    assert_eq!(dropper.figures["failure_share"], 0.01);
    let slower = evaluated("slower", scales(3.0, 0));
    let (low, ratio, high) =
        (slower.figures["cpu_ratio_low"], slower.figures["cpu_ratio"], slower.figures["cpu_ratio_high"]);
    assert!(low <= ratio && ratio <= high && (1.02..1.04).contains(&ratio), "{low} {ratio} {high}");
    assert_eq!(slower.figures["blocks"], 12.0);
}

#[test]
fn a_wrong_answer_of_the_other_server_is_no_slow_close() {
    use tare_service::verify::{CheckId, CheckOutcome, CheckResult};
    let proof = |check| {
        let outcome = CheckOutcome::Fail("why".to_owned());
        let result = CheckResult { check, request: String::new(), outcome, note: None, wire: None };
        Ok(Transcript { contract: String::new(), checks: vec![result] })
    };
    let of = |proofs| slow_close(&Evidence::Proofs(proofs)).unwrap_or_else(|evaluation| evaluation);
    assert_eq!(of(vec![proof(CheckId::Head), proof(CheckId::ConnectionClose)]).outcome, TrialOutcome::Seen);
    assert_eq!(of(vec![proof(CheckId::Head), proof(CheckId::Head)]).outcome, TrialOutcome::NotSeen);
    let alone = of(vec![proof(CheckId::ConnectionClose)]);
    assert_eq!((alone.outcome, alone.found.as_str()), (TrialOutcome::NotDecided, "there was no proof"));
    let unready = of(vec![Err("not ready".to_owned()), proof(CheckId::ConnectionClose)]);
    assert_eq!((unready.outcome, unready.found.as_str()), (TrialOutcome::NotDecided, "not ready"));
}

#[test]
fn a_shortage_cannot_be_tried_on_a_single_cpu() {
    let trial = trials(false).into_iter().find(|trial| trial.name == "throttled").unwrap();
    let mut both = evidence("throttled", busy(50_000_000, 40_000_000, 0));
    assert_eq!(trial.evaluate(&both).outcome, TrialOutcome::Seen);
    let Evidence::Run(run) = &mut both else { panic!("a load run leaves a run") };
    run.kept.header.plan.pinning = Pinning { server: vec![0], generator: vec![0] };
    let found = trial.evaluate(&both);
    assert_eq!(found.outcome, TrialOutcome::NotTried);
    assert_eq!(found.found, "services and generator share one CPU, so each limits the other");
}

#[test]
fn an_evaluation_is_what_it_was_made_of() {
    let found = Evaluation::of(false, "so".to_owned(), [("a_ms", 1.5)]);
    assert_eq!(
        (found.outcome, found.found.as_str(), found.figures["a_ms"]),
        (TrialOutcome::NotSeen, "so", 1.5)
    );
    let untried = Evaluation::not_tried("no CPU");
    assert_eq!((untried.outcome, untried.figures.len()), (TrialOutcome::NotTried, 0));
}
