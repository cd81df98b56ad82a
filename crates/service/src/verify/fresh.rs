//! The check `fresh`: answers depend on the request, for all values of its placeholders.

use rand_chacha::ChaCha8Rng;

use super::CheckId;
use super::bench::{Asked, Bench, Standard};
use super::evaluate::evaluate;
use super::transcript::{CheckResult, Failure, Tried};
use tare_contract::{LABEL_LENGTH_MAX, PlaceholderKind, Request};

/// The ends of the range, and values between them to detect and name a service that supports one length only.
const LABEL_LENGTHS: [usize; 6] = [1, 2, 3, 8, 16, LABEL_LENGTH_MAX];
/// Number of times that each request is filled.
const ROUNDS: usize = 8;

pub(super) fn fresh(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::Fresh);
    let contract = bench.contract;
    let mut results = Vec::new();
    let is_asked = |request: &&Request| request.has_placeholders() && contract.is_asked_alone(request);
    for request in contract.requests.iter().filter(is_asked) {
        let Some(tried) = one(bench, request, &mut rng) else {
            let reason = "the request is never answered rightly";
            results.push(CheckResult::skipped(CheckId::Fresh, &request.name, reason));
            continue;
        };
        if let Err(failure) = &tried {
            hold_to_less(bench, request, failure);
        }
        results.push(CheckResult::of(CheckId::Fresh, &request.name, tried));
    }
    match results.is_empty() {
        true => vec![CheckResult::skipped(CheckId::Fresh, "", "no request of the contract has placeholders")],
        false => results,
    }
}

/// Other checks accept any answer if only some values give a right one, and skip unanswered requests.
fn hold_to_less(bench: &mut Bench<'_>, request: &Request, failure: &Failure) {
    bench.answered.retain(|(answered, _)| answered.name != request.name || failure.answer.is_some());
    let same = bench.answered.iter_mut().find(|(answered, _)| answered.name == request.name);
    if let Some((_, standard)) = same {
        *standard = Standard::Any;
    }
}

/// Absent if no answer to the request is right.
fn one<'c>(bench: &mut Bench<'c>, request: &'c Request, rng: &mut ChaCha8Rng) -> Option<Tried> {
    let is_right = bench.is_right(request);
    if request.ask.placeholders().any(|placeholder| placeholder.kind == PlaceholderKind::Label) {
        match lengths(bench, request, rng) {
            Lengths::Right => {}
            Lengths::Wrong if !is_right => return None,
            Lengths::Wrong => {}
            Lengths::Mixed(failure) => return Some(Err(failure)),
        }
    }
    if !is_right {
        return None;
    }
    let rounds = (1..=ROUNDS).try_for_each(|round| {
        let asked = Asked::new(request, rng, None);
        let place = format!("filled anew, round {round} of {ROUNDS}");
        ask(bench, &asked).map(drop).map_err(|failure| failure.within(&place))
    });
    Some(rounds.map(|()| None))
}

/// As [`Bench::ask_alone`], but recognises an earlier right answer.
fn ask(bench: &mut Bench<'_>, asked: &Asked<'_>) -> Tried {
    let mut talk = bench.open()?;
    talk.send(&asked.filled.bytes(&bench.host));
    let response =
        talk.answer(asked.is_head()).map_err(|trouble| Failure::new(trouble.to_string(), &talk))?;
    let Err(reason) = asked.evaluate(&response) else { return Ok(None) };
    let earlier = bench.expected.iter().any(|(name, expected)| {
        *name == asked.request.name && evaluate(&response, &asked.request.answer, expected).is_ok()
    });
    let reason = match earlier {
        true => format!("the answer to an earlier request came again, as from a cache: {reason}"),
        false => reason,
    };
    Err(Failure::of_answer(reason, &talk, response))
}

enum Lengths {
    Right,
    Wrong,
    Mixed(Failure),
}

/// Tries labels of several lengths, and names the lengths with a wrong answer.
fn lengths<'c>(bench: &mut Bench<'c>, request: &'c Request, rng: &mut ChaCha8Rng) -> Lengths {
    let mut right = Vec::new();
    let mut wrong = Vec::new();
    let mut first: Option<Failure> = None;
    for length in LABEL_LENGTHS {
        let asked = Asked::new(request, rng, Some(length));
        match ask(bench, &asked) {
            Ok(_) => right.push(length.to_string()),
            Err(failure) => {
                wrong.push(length.to_string());
                first.get_or_insert(failure);
            }
        }
    }
    match first {
        None => Lengths::Right,
        Some(_) if right.is_empty() => Lengths::Wrong,
        Some(failure) => {
            let (right, wrong) = (right.join(", "), wrong.join(", "));
            let place = format!(
                "labels of 1 to {LABEL_LENGTH_MAX} characters are allowed; those of {right} are answered rightly, \
                 those of {wrong} wrongly"
            );
            Lengths::Mixed(failure.within(&place))
        }
    }
}
