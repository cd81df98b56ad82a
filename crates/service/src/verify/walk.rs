//! The sequences of a contract, in the check `response`. Two sessions walk each at the same time, to detect a
//! service that mixes up sessions or has one token for all.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_load::http1::Response;
use tare_load::sequence::Captured;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::talk::Talk;
use super::transcript::{CheckResult, Failure, Tried};
use tare_contract::{Contract, Request, Sequence};

/// Gives sequences other values than single requests.
const STREAM: u64 = 1 << 32;

/// The checks that run for each request that can be sent alone.
const OF_SINGLE_REQUESTS: [CheckId; 8] = [
    CheckId::Fresh,
    CheckId::Fragments,
    CheckId::RequestForms,
    CheckId::Pipelined,
    CheckId::KeepAlive,
    CheckId::ConnectionClose,
    CheckId::Http10,
    CheckId::Head,
];

/// One of the two sessions.
struct WalkingSession {
    talk: Option<Talk>,
    captured: Captured,
    rng: ChaCha8Rng,
}

/// One result for each step of each sequence.
pub(super) fn sequences(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let contract = bench.contract;
    if bench.options.closes_connections {
        let reason = "the manifest says that it closes each connection, on which a sequence goes on";
        let skipped = |sequence: &Sequence| CheckResult::skipped(CheckId::Response, &sequence.name, reason);
        return contract.sequences.iter().map(skipped).collect();
    }
    let walks = contract.sequences.iter().enumerate();
    walks.flat_map(|(place, sequence)| walk(bench, sequence, STREAM + 2 * place as u64)).collect()
}

fn walk(bench: &mut Bench<'_>, sequence: &Sequence, stream: u64) -> Vec<CheckResult> {
    let session = |stream| {
        let mut rng = ChaCha8Rng::seed_from_u64(bench.options.seed);
        rng.set_stream(stream);
        WalkingSession { talk: None, captured: Captured::new(), rng }
    };
    let mut sessions = [session(stream), session(stream + 1)];
    let steps = bench.contract.steps(sequence);
    let mut results = Vec::new();
    let mut has_failed = false;
    for (place, step) in steps.iter().enumerate() {
        let name = format!("{}: {}", sequence.name, step.name);
        if has_failed {
            let reason = "a step before it failed";
            results.push(CheckResult::skipped(CheckId::Response, &name, reason));
            continue;
        }
        let is_last = place + 1 == steps.len();
        let tried = in_both(bench, &mut sessions, step, is_last);
        has_failed = tried.is_err();
        results.push(CheckResult::of(CheckId::Response, name, tried));
    }
    results
}

fn in_both(
    bench: &mut Bench<'_>,
    sessions: &mut [WalkingSession; 2],
    step: &Request,
    is_last: bool,
) -> Tried {
    for (session, place) in sessions.iter_mut().zip(["first", "second"]) {
        one(bench, session, step, is_last)
            .map_err(|failure| failure.within(&format!("in the {place} of 2 sessions at once")))?;
    }
    Ok(None)
}

fn one(bench: &mut Bench<'_>, session: &mut WalkingSession, step: &Request, is_last: bool) -> Tried {
    let mut talk = match session.talk.take() {
        Some(talk) => talk,
        None => bench.open()?,
    };
    let asked = Asked::of_step(step, &mut session.rng, &session.captured);
    talk.begin();
    talk.send(&asked.filled.bytes(&bench.host));
    let response = asked.right_answer(&mut talk)?;
    taken(step, &response, &mut session.captured).map_err(|reason| Failure::new(reason, &talk))?;
    if !talk.unclaimed().is_empty() {
        let more = talk.unclaimed().len();
        return Err(Failure::new(format!("{more} bytes came after the end of the answer"), &talk));
    }
    if !response.keep_alive && !is_last {
        let reason = "said that it closes the connection, on which the sequence goes on";
        return Err(Failure::new(reason, &talk));
    }
    session.talk = Some(talk);
    Ok(None)
}

fn taken(step: &Request, response: &Response, captured: &mut Captured) -> Result<(), String> {
    step.capture(response, captured).map_err(|missing| format!("expected {missing}"))
}

/// Skipped results for steps that `check` cannot send alone, so that they do not appear to be verified.
pub(super) fn not_asked(check: CheckId, contract: &Contract) -> Vec<CheckResult> {
    if !OF_SINGLE_REQUESTS.contains(&check) {
        return Vec::new();
    }
    let later = contract.requests.iter().filter(|request| !contract.is_asked_alone(request));
    let reason = "cannot be sent without the steps before it; \"response\" asks it in its sequence";
    later.map(|request| CheckResult::skipped(check, &request.name, reason)).collect()
}
