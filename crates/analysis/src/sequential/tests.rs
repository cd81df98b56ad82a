use crate::estimate::UnitEstimate;
use crate::verdict::{Question, Verdict};

use super::{
    fixture::{kept, measured},
    *,
};
use tare_bench::{
    fixture::published::ALL,
    sample::{Failure, Hung, LoadResult, SampleOutcome},
};

fn report(name: &str, scale: f64) -> SequentialReport {
    compute(&kept(name, scale, measured))
}

/// `holds for 12 s instead of 600 s`.
fn verdict_text(claim: &ClaimReport) -> String {
    let reach = claim.measured_for.as_ref().map_or(String::new(), |reach| format!(" for {reach}"));
    format!("{}{reach}", claim.stated.verdict.word(Question::Claim))
}

/// `; direction: holds`.
fn direction(judged: Option<Judgement>) -> String {
    judged.map_or(String::new(), |judged| format!("; direction: {}", judged.verdict.word(Question::Claim)))
}

/// One line for each claim, each of its checks, and each cell.
fn words(report: &SequentialReport) -> String {
    let claims = report.claims.iter().flat_map(|claim| {
        let head = format!("{}{}: {}", verdict_text(claim), direction(claim.direction), claim.text);
        let check = |check: &CheckReport| format!("  {}: {}: {}", check.verdict, check.what(), check.found());
        std::iter::once(head).chain(claim.checks.iter().map(check))
    });
    let cells = report.points.iter().flat_map(|point| point.cells.iter().map(move |cell| (point, cell)));
    let cells = cells.map(|(point, cell)| cell_words(report, point, cell));
    claims.chain(cells).collect::<Vec<_>>().join("\n")
}

fn cell_words(report: &SequentialReport, point: &PointReport, cell: &CellReport) -> String {
    let found =
        |found: Option<UnitEstimate>| found.map_or("-".to_owned(), |found| format!("{:.4e}", found.value));
    let issues = [&cell.invalid, &cell.failures, &cell.load_bound].into_iter().flatten();
    let reasons = [&cell.hung, &cell.failed].into_iter().flatten().cloned();
    let reasons = reasons.chain(issues.map(ToString::to_string));
    format!(
        "{}{}: {}/s, {} of the reference, makespan {}{}",
        report.rows[cell.row].label,
        place(&point.point),
        found(cell.per_second),
        found(cell.of_reference),
        found(cell.makespan_ns),
        reasons.map(|reason| format!("; {reason}")).collect::<String>()
    )
}

#[test]
fn each_claim_has_its_checks_and_each_cell_its_figures() {
    for name in ALL {
        let report = report(name, 1.0);
        insta::assert_snapshot!(name, words(&report));
        assert!(report.is_complete());
    }
}

/// Services that hang, fail or answer incorrectly, and one that is measured despite a known failure.
#[test]
fn what_has_no_figure_has_its_reason() {
    let hung = kept("rest-cpp-2020", 0.1, |plan, cell| {
        let (point, row) = (&plan.points[cell.point], plan.rows[cell.row].label.as_str());
        let outcome = match row {
            "cpprestsdk:waiting" if point.service_settings.threads < 10 => {
                let silent_ns = Some(5_000_000_000);
                SampleOutcome::Hung(Hung { silent_ns, requests: 100, threads: 4, ..Hung::default() })
            }
            "pistache" if cell.round == 0 => {
                SampleOutcome::Failed { reason: "exit status 7 during the load".to_owned() }
            }
            _ => SampleOutcome::Measured,
        };
        Sample { outcome, ..measured(plan, cell) }
    });
    insta::assert_snapshot!("rest-cpp-2020-with-failures", words(&compute(&hung)));
    let mut sessions = kept("simple-web-server-2019", 0.01, |plan, cell| {
        let mut sample = measured(plan, cell);
        if cell.row == 0 {
            let load = &mut sample.load;
            (load.answered, load.answered_in_window, load.connects) = (200, 200, 200);
            load.failed = [(Failure::ClosedBeforeResponse, 200)].into_iter().collect();
        }
        sample
    });
    sessions.header.plan.rows[0].known_failure =
        Some("closed the connection after 1 of 200 requests".to_owned());
    insta::assert_snapshot!("simple-web-server-2019-as-published", words(&compute(&sessions)));
}

#[test]
fn a_load_that_is_its_own_ceiling_is_called_so() {
    let report = report("languages-2018", 0.1);
    let cell = |part: &str, row: usize| {
        let point = report.points.iter().find(|point| point.point.part == part).unwrap();
        point.cell(row).unwrap().load_bound.clone()
    };
    let found = cell("published", 0).unwrap();
    assert!(
        matches!(found, RowIssue::LoadBound { users: 40, ceiling_per_second, .. } if ceiling_per_second == 400.0),
        "{found}"
    );
    assert_eq!(cell("published", 6), None, "it lets its users wait for a tenth of the time");
    assert_eq!(cell("saturation", 0), None);
}

#[test]
fn half_a_grid_has_claims_of_that_half() {
    let mut kept = kept("rest-cpp-2020", 0.1, measured);
    kept.records.truncate(kept.records.len() / 2);
    let report = compute(&kept);
    assert_eq!((report.ending, report.is_complete()), (None, false));
    assert!(
        report.claims.iter().all(|claim| claim.stated.verdict != Verdict::Pass || !claim.checks.is_empty())
    );
}

#[test]
fn a_rate_that_is_not_the_services_is_none() {
    let noisy = |rounds: usize| {
        let kept = kept("restinio-2017", 0.1, |plan, cell| {
            let mut sample = measured(plan, cell);
            if cell.round < rounds {
                sample.host.foreign_cpu_ns = Some(sample.load.elapsed_ns as i64);
            }
            sample
        });
        compute(&kept).points[0].cells[1].clone()
    };
    let rounds = |cell: &CellReport| cell.of_reference.map(|estimate| estimate.n);
    assert_eq!([rounds(&noisy(0)), rounds(&noisy(2)), rounds(&noisy(4))], [Some(6), Some(4), None]);
    let invalid = noisy(2).invalid.unwrap();
    let RowIssue::RoundsInvalid { invalid: 2, rounds: 6, first } = &invalid else { panic!("{invalid}") };
    assert_eq!(first.code(), "interference");
    assert!(noisy(4).cpu_ns_per_request.is_some(), "its CPU time is its own all the same");
}

/// Latencies come from a round that counts, if there is one.
#[test]
fn what_stands_beside_a_rate_is_of_a_round_that_counts() {
    let kept = kept("restinio-2017", 0.1, |plan, cell| {
        let mut sample = measured(plan, cell);
        if cell.round < 3 {
            sample.host.generator_cpu_ns = sample.load.elapsed_ns;
            sample.load.latency.ns_mean = 1e12;
        }
        sample
    });
    for cell in &compute(&kept).points[0].cells {
        let typical = cell.typical.as_ref();
        assert!(typical.is_none_or(|sample| sample.load.latency.ns_mean < 1e12), "{:?}", cell.invalid);
    }
}

#[test]
fn a_request_that_was_never_answered_is_a_failure() {
    let hung = |in_flight: u64| {
        let kept = kept("abstract-2018", 0.1, |plan, cell| {
            let sample = measured(plan, cell);
            let load = LoadResult { in_flight, ..sample.load };
            Sample { load, ..sample }
        });
        let report = compute(&kept);
        let claims = report.claims.iter().flat_map(|claim| &claim.checks);
        claims
            .filter(|check| matches!(check.found, CheckedFigure::Failures { .. }))
            .map(|check| check.verdict)
            .collect::<Vec<_>>()
    };
    assert!(hung(0).contains(&Verdict::Pass) && !hung(0).contains(&Verdict::Fail));
    assert!(hung(1).contains(&Verdict::Fail) && !hung(1).contains(&Verdict::Pass));
}

/// Twelve seconds do not show that no request fails in ten minutes.
#[test]
fn a_verdict_says_for_what_time_or_number_it_was_found() {
    let verdicts = |name: &str, scale: f64| {
        let report = report(name, scale);
        report.claims.iter().map(verdict_text).collect::<Vec<String>>()
    };
    assert_eq!(verdicts("abstract-2018", 1.0), ["inconclusive", "inconclusive", "holds"]);
    let expected = ["inconclusive", "inconclusive", "holds for 12 s instead of 600 s"];
    assert_eq!(verdicts("abstract-2018", 0.02), expected);
    let users = verdicts("languages-2018", 0.15);
    assert!(users.iter().any(|verdict| verdict == "does not hold for 9 s instead of 60 s"), "{users:?}");
    let batches = verdicts("rest-cpp-2020", 0.01);
    let reach = "for 10 messages instead of 1000, 2 messages instead of 200";
    assert!(batches.iter().any(|verdict| verdict.ends_with(reach)), "{batches:?}");
    assert!(batches.iter().any(|verdict| verdict == "inconclusive"), "{batches:?}");
}

/// A service that answers only half of its requests finishes earlier, and must not count as the fastest.
#[test]
fn a_service_that_fails_half_of_its_requests_has_no_makespan() {
    let kept = kept("rest-cpp-2020", 0.1, |plan, cell| {
        let mut sample = measured(plan, cell);
        let load = &mut sample.load;
        if plan.rows[cell.row].label == "pistache" {
            (load.answered, load.elapsed_ns) = (load.sent / 2, load.elapsed_ns / 2);
            load.failed = [(Failure::Reset, load.sent - load.answered)].into_iter().collect();
            load.first_failure = Some("reset at \"echo\"".to_owned());
        }
        if plan.rows[cell.row].label == "restinio" && cell.round == 0 {
            (load.answered, load.answered_in_window, load.sent) = (0, 0, 0);
        }
        sample
    });
    let report = compute(&kept);
    let cell = |label: &str| {
        let row = report.rows.iter().position(|row| row.label == label).unwrap();
        report.points[0].cell(row).unwrap()
    };
    assert_eq!(cell("pistache").makespan_ns, None);
    let found = cell("pistache").invalid.clone().unwrap();
    let RowIssue::RoundsInvalid { invalid: 3, rounds: 3, first } = found else { panic!("{found}") };
    assert!(matches!(*first, RowIssue::Failing { failed: 500, sent: 1000, first: Some(_), .. }), "{first}");
    assert_eq!(cell("restinio").makespan_ns.map(|estimate| estimate.n), Some(2));
    let first = Box::new(RowIssue::NoAnswer);
    let expected = RowIssue::RoundsInvalid { invalid: 1, rounds: 3, first };
    assert_eq!(cell("restinio").invalid, Some(expected));
    let claims = report.claims.iter().flat_map(|claim| &claim.checks);
    let of_pistache = claims.filter(|check| check.row == "pistache");
    assert!(of_pistache.into_iter().all(|check| check.verdict == Verdict::Inconclusive));
}
