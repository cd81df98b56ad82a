//! The check `fresh`: answers are made from the request, for any values of its placeholders.

use rand_chacha::ChaCha8Rng;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::judge::judge;
use super::transcript::{CheckResult, Failure, Outcome, Tried};
use crate::contract::{Kind, LABEL_LENGTH_MAX, Level, Request};

/// The ends of the range, and enough between them that a service made for one length is found and named.
const LABEL_LENGTHS: [usize; 6] = [1, 2, 3, 8, 16, LABEL_LENGTH_MAX];
/// Times that each request is filled anew.
const ROUNDS: usize = 8;

pub(super) fn fresh(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::Fresh);
    let contract = bench.contract;
    let results: Vec<CheckResult> = (contract.requests.iter())
        .filter(|request| request.has_placeholders())
        .map(|request| one(bench, request, &mut rng))
        .collect();
    let failed = |name: &str| {
        results.iter().any(|result| result.request == name && matches!(result.outcome, Outcome::Fail(_)))
    };
    // Where the contract only warns of it, the other checks must still be made.
    if contract.level(CheckId::Fresh) == Level::Require {
        bench.sound.retain(|request| !failed(&request.name));
    }
    match results.is_empty() {
        true => vec![CheckResult::skipped(CheckId::Fresh, "", "no request of the contract has placeholders")],
        false => results,
    }
}

fn one<'c>(bench: &mut Bench<'c>, request: &'c Request, rng: &mut ChaCha8Rng) -> CheckResult {
    let never_right = "the request is never answered rightly";
    let sound = bench.sound.iter().any(|sound| sound.name == request.name);
    if request.ask.placeholders().any(|placeholder| placeholder.kind == Kind::Label) {
        match lengths(bench, request, rng) {
            Lengths::Right => {}
            Lengths::Wrong if !sound => {
                return CheckResult::skipped(CheckId::Fresh, &request.name, never_right);
            }
            Lengths::Wrong => {}
            Lengths::Mixed(failure) => {
                return CheckResult::of(CheckId::Fresh, &request.name, Err(failure));
            }
        }
    }
    if !sound {
        return CheckResult::skipped(CheckId::Fresh, &request.name, never_right);
    }
    let rounds = (1..=ROUNDS).try_for_each(|round| {
        let asked = Asked::any(request, rng);
        let place = format!("filled anew, round {round} of {ROUNDS}");
        ask(bench, &asked).map(drop).map_err(|failure| failure.within(&place))
    });
    CheckResult::of(CheckId::Fresh, &request.name, rounds.map(|()| None))
}

/// As [`Bench::ask_alone`], but an answer that was right before is called what it is.
fn ask(bench: &mut Bench<'_>, asked: &Asked<'_>) -> Tried {
    let mut talk = bench.open()?;
    talk.send(&asked.filled.bytes(&bench.host));
    let response =
        talk.answer(asked.is_head()).map_err(|trouble| Failure::new(trouble.to_string(), &talk))?;
    let Err(reason) = asked.judge(&response) else { return Ok(None) };
    let earlier = bench.answered.iter().any(|(name, expected)| {
        *name == asked.request.name && judge(&response, &asked.request.answer, expected).is_ok()
    });
    let reason = match earlier {
        true => format!("the answer to an earlier request came again, as from a cache: {reason}"),
        false => reason,
    };
    Err(Failure::new(reason, &talk))
}

enum Lengths {
    Right,
    Wrong,
    Mixed(Failure),
}

/// Tries labels of several lengths and names those that are answered wrongly.
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
