//! The checks about what a service must refuse: `not-found`, `wrong-method` and `bad-input`.

use rand_chacha::ChaCha8Rng;
use tare_load::http1::Response;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::judge::status_and_body;
use super::talk::Talk;
use super::transcript::{CheckResult, Failure, Tried};
use crate::contract::{Ask, Filled, Template, Values};

pub(super) fn not_found(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::NotFound);
    let mut one = |path: &str| {
        // Long labels, so that no path of the contract is met by chance.
        let path = Template::parse(path).expect("a template of this file");
        let ask = Ask { method: String::from("GET"), path, headers: Vec::new(), body: None };
        let filled = ask.fill(&mut Values::new(&mut rng, Some(16)));
        let tried =
            refused(bench, &filled, "status 404 for a path that the contract does not know", |status| {
                status == 404
            });
        CheckResult::of(CheckId::NotFound, format!("GET {}", filled.target), tried.map(|_| None))
    };
    ["/tare-{{label}}", "/tare-{{label}}/{{label}}"].into_iter().map(&mut one).collect()
}

pub(super) fn wrong_method(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::WrongMethod);
    let mut seen: Vec<String> = Vec::new();
    let mut results = Vec::new();
    for request in bench.sound_load() {
        let path = |ask: &Ask| ask.path.to_string().split('?').next().unwrap_or_default().to_owned();
        let own = path(&request.ask);
        if seen.contains(&own) {
            continue;
        }
        let known = |method: &str| {
            let mut same = bench.contract.requests.iter().filter(|other| path(&other.ask) == own);
            same.any(|other| other.ask.method == method)
        };
        let unknown = ["DELETE", "PUT", "PATCH"].into_iter().find(|method| !known(method));
        seen.push(own);
        let Some(method) = unknown else { continue };
        results.push(one_wrong_method(bench, Asked::any(request, &mut rng).filled, method));
    }
    results
}

fn one_wrong_method(bench: &mut Bench<'_>, mut filled: Filled, method: &str) -> CheckResult {
    filled.method = method.to_owned();
    filled.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    filled.body = None;
    let tried =
        refused(bench, &filled, "status 405 or 404 for a method that the contract does not know", |status| {
            matches!(status, 405 | 404)
        });
    CheckResult::of(CheckId::WrongMethod, format!("{method} {}", filled.target), tried.map(|_| None))
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

/// Sends `filled` on a connection of its own; the status that comes must be `allowed`.
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
    Err(Failure::new(format!("expected {expected}, got {}", status_and_body(&response)), &talk))
}

/// After a refusal a valid request is answered: on the same connection if the service kept it, else on a new one.
fn works_on(bench: &mut Bench<'_>, mut talk: Talk, refusal: &Response, rng: &mut ChaCha8Rng) -> Tried {
    let Some(request) = bench.sound_load().into_iter().next() else { return Ok(None) };
    let asked = Asked::any(request, rng);
    if !refusal.keep_alive || bench.options.closes_connections {
        let alone = bench.ask_alone(&asked);
        return alone.map(|_| None).map_err(|failure| failure.within("a right request after the refusal"));
    }
    // Not forgotten by `begin`: the refusal explains the failure that may follow.
    talk.send(&asked.filled.bytes(&bench.host));
    let answer = asked.right_answer(&mut talk);
    answer.map(|_| None).map_err(|failure| {
        failure.within("refused without \"Connection: close\"; a right request on the same connection then")
    })
}
