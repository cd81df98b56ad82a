//! Checks of requests that a service must reject: `not-found`, `wrong-method` and `bad-input`.

use rand_chacha::ChaCha8Rng;
use tare_load::http1::Response;

use super::CheckId;
use super::bench::Bench;
use super::evaluate::{evaluate, status_and_body};
use super::talk::Talk;
use super::transcript::{CheckResult, Failure, Tried};
use super::unknown::{self, path};
use tare_contract::{Ask, BodyFraming, Filled, Request, Template, Values};

pub(super) fn not_found(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::NotFound);
    let anywhere = ["/tare-{{label}}", "/tare-{{label}}/{{label}}"].map(|path| {
        let path = Template::parse(path).expect("a template of this file");
        let ask = Ask {
            method: String::from("GET"),
            path,
            headers: Vec::new(),
            body: None,
            framing: BodyFraming::Length,
        };
        // Long labels, so that no path of the contract matches by chance.
        ask.fill(&mut Values::new(&mut rng, Some(16)))
    });
    let beside = unknown::paths_beside(bench.contract, &mut rng);
    let mut results = Vec::new();
    for filled in anywhere {
        let tried = unknown_path(bench, &filled);
        let tried = tried.map_err(|failure| name_what_answers_all(bench, failure, &mut rng));
        results.push(CheckResult::of(CheckId::NotFound, format!("GET {}", filled.target), tried));
    }
    for filled in beside {
        let tried = unknown_path(bench, &filled);
        let name = format!("{} {}", filled.method, filled.target);
        results.push(CheckResult::of(CheckId::NotFound, name, tried));
    }
    results
}

/// A server that rejects a method on every path may do so before it checks the path.
fn unknown_path(bench: &mut Bench<'_>, filled: &Filled) -> Tried {
    let expected = "status 404 for a path that the contract does not know";
    let by_method = filled.method != "GET";
    refused(bench, filled, expected, |status| status == 404 || (by_method && status == 405)).map(|_| None)
}

/// Adds a hint if the server answers everything alike: without a router it is right only as a reference.
fn name_what_answers_all(bench: &Bench<'_>, mut failure: Failure, rng: &mut ChaCha8Rng) -> Failure {
    let Some(answer) = &failure.answer else { return failure };
    let is_answer_to = |request: &&&Request| {
        let expected = request.fill(rng, None).1;
        bench.is_right(request) && evaluate(answer, &request.answer, &expected).is_ok()
    };
    if let Some(request) = bench.load().iter().find(is_answer_to) {
        failure.reason += &format!(
            ", as to \"{}\": it answers everything alike. If it is meant to have no router, its manifest says \
             style = \"raw-socket\"",
            request.name
        );
    }
    failure
}

pub(super) fn wrong_method(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::WrongMethod);
    let asked = unknown::methods(bench.contract, &mut rng);
    let mut one = |filled: Filled| {
        let expected = "status 405 or 404 for a method that the contract does not know";
        let tried = refused(bench, &filled, expected, |status| matches!(status, 405 | 404));
        let name = format!("{} {}", filled.method, path(&filled.target));
        CheckResult::of(CheckId::WrongMethod, name, tried.map(|_| None))
    };
    asked.into_iter().map(&mut one).collect()
}

pub(super) fn bad_input(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::BadInput);
    let contract = bench.contract;
    if contract.bad.is_empty() {
        return vec![CheckResult::skipped(CheckId::BadInput, "", "the contract has no [[bad]] request")];
    }
    let mut results = Vec::new();
    for bad in &contract.bad {
        let filled = bad.ask.fill(&mut Values::new(&mut rng, None));
        let tried = refused(bench, &filled, "a status of the class 4xx for wrong input", |status| {
            (400..500).contains(&status)
        })
        .and_then(|(talk, response)| works_on(bench, talk, &response, &mut rng));
        results.push(CheckResult::of(CheckId::BadInput, &bad.name, tried));
    }
    results
}

/// Sends `filled` on a new connection; the status must be `allowed`.
fn refused(
    bench: &mut Bench<'_>,
    filled: &Filled,
    expected: &str,
    allowed: impl Fn(u16) -> bool,
) -> Result<(Talk, Response), Failure> {
    let mut talk = bench.open()?;
    talk.send(&filled.bytes(&bench.host));
    let response = talk
        .answer(filled.method == "HEAD")
        .map_err(|trouble| Failure::new(format!("expected {expected}: {trouble}"), &talk))?;
    if allowed(response.status) {
        return Ok((talk, response));
    }
    Err(Failure::of_answer(
        format!("expected {expected}, got {}", status_and_body(&response)),
        &talk,
        response,
    ))
}

/// A valid request must be answered after a rejection: on the same connection if it is still open.
fn works_on(bench: &mut Bench<'_>, mut talk: Talk, refusal: &Response, rng: &mut ChaCha8Rng) -> Tried {
    let Some(request) = bench.first() else { return Ok(None) };
    let asked = bench.any(request, rng);
    if !refusal.keep_alive || bench.options.closes_connections {
        let alone = bench.ask_alone(&asked);
        return alone.map(|_| None).map_err(|failure| failure.within("a right request after the refusal"));
    }
    // The transcript keeps the rejection, which may explain the following failure.
    talk.send(&asked.filled.bytes(&bench.host));
    let answer = asked.right_answer(&mut talk);
    answer.map(|_| None).map_err(|failure| {
        failure.within("refused without \"Connection: close\"; a right request on the same connection then")
    })
}
