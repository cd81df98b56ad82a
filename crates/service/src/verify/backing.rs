//! The check `backing`: each answer causes the statements and upstream requests that the contract states, and
//! values that it claims to have stored are stored. The caller that started the backing services runs it.

use std::time::Duration;

use tare_base::Endpoint;
use tare_load::exchange::{ExpectedBody, Flight, Judged};
use tare_load::http1::Response;

use super::bench::{Asked, Bench};
use super::transcript::{CheckResult, Failure, Tried};
use super::{CheckId, VerifyOptions, weigh};
use crate::backing::{Backing, BackingCounts};
use tare_contract::{CheckLevel, Contract, Request};

/// Requests of each kind: two equal ones to detect any cache, and a different one.
const TIMES: u64 = 3;

/// Pause between two readings of the counts.
const PAUSE: Duration = Duration::from_millis(10);
/// Unchanged readings after which the counts are final: on a busy machine one pause is not enough.
const PAUSES_QUIET: usize = 3;
/// Limit of pauses, since a service may query its database all the time.
const PAUSES_MAX: usize = 40;

/// One result for each request with stated counts or with changes.
pub(crate) fn backing(
    contract: &Contract,
    target: &Endpoint,
    options: &VerifyOptions,
    backing: &mut Backing,
) -> Vec<CheckResult> {
    if backing.is_none() {
        return Vec::new();
    }
    if contract.level(CheckId::Backing) == CheckLevel::Skip {
        return vec![CheckResult::skipped(CheckId::Backing, "", "the contract says skip")];
    }
    let mut bench = Bench::new(contract, target, options);
    let asks_it = |request: &&Request| {
        contract.is_asked_alone(request)
            && (request.statements.is_some() || contract.backing.upstream.is_some())
    };
    let requests = contract.requests.iter().filter(asks_it).collect();
    let results = bench.each(CheckId::Backing, requests, |bench, request, rng| {
        let (asked, other) = (bench.any(request, rng), bench.any(request, rng));
        one_request(bench, request, [&asked, &asked, &other], backing)
    });
    results.into_iter().map(|result| weigh(result, contract, options)).collect()
}

fn one_request(
    bench: &mut Bench<'_>,
    request: &Request,
    all: [&Asked<'_>; TIMES as usize],
    backing: &mut Backing,
) -> Tried {
    bench.contract.forget_changes();
    settled(backing)?;
    for (turn, asked) in (1..).zip(all) {
        let (_, response) = bench.ask_alone(asked)?;
        note(asked, &response, turn);
    }
    let counts = settled(backing)?;
    let stored = backing.not_stored(request).map_err(|error| Failure::without_wire(error.to_string()))?;
    let wrong = wrong_counts(request, &counts).into_iter().chain(stored).collect::<Vec<_>>().join("; ");
    if wrong.is_empty() { Ok(None) } else { Err(Failure::without_wire(wrong)) }
}

/// The counts, once they no longer change. A statement is counted when its cursor is closed, possibly after
/// the answer, so zero at first proves nothing.
fn settled(backing: &mut Backing) -> Result<BackingCounts, Failure> {
    let mut sum = BackingCounts::default();
    let mut quiet = 0;
    for _ in 0..PAUSES_MAX {
        let before = sum;
        sum += backing.take_counts().map_err(|error| Failure::without_wire(error.to_string()))?;
        quiet = if before == sum { quiet + 1 } else { 0 };
        if quiet == PAUSES_QUIET {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(sum)
}

/// Makes the judge record the stored values that an answer claims. Answers and requests alternate.
fn note(asked: &Asked<'_>, response: &Response, turn: u64) {
    if let ExpectedBody::Judged(Judged(judge)) = &asked.expected.body {
        let flight = Flight { sent_ns: 2 * turn, answered_ns: 2 * turn + 1 };
        // Whether the answer is right was checked before.
        judge.is_right(&response.body, flight);
    }
}

/// Descriptions of wrong counts.
fn wrong_counts(request: &Request, counts: &BackingCounts) -> Vec<String> {
    let statements = request.statements.unwrap_or_default();
    let table = [
        ("queries", statements.reads.map(u64::from), counts.reads),
        ("rows read", statements.rows_read.map(u64::from), counts.rows_read),
        ("rows written", statements.rows_written.map(u64::from), counts.rows_written),
        ("requests to the server behind it", counts.upstream_requests.map(|_| 1), counts.upstream_requests),
    ];
    let wrong = |(what, each, got): (&str, Option<u64>, Option<u64>)| {
        let (each, got) = (each?, got?);
        (each * TIMES != got)
            .then(|| format!("{TIMES} answers take {} {what}, and {got} were counted", each * TIMES))
    };
    table.into_iter().filter_map(wrong).collect()
}
