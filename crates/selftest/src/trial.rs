//! The list of trials.

use std::time::Duration;

use tare_load::Protocol;

use super::{
    action::{Action, LoadDisturbance, LoadRun, RAW_SOCKET, SUBJECT, TWIN, WEIGHTS},
    evaluate::{self, Evaluation, Evidence, Found},
};

/// A fault that the instrument must detect, or a difference that it must not report.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Short, stable, unique.
    pub name: &'static str,
    /// The action, as the certificate prints it.
    pub done: String,
    pub must: String,
    /// Approximate maximum duration; zero if it shares the action of the previous trial.
    pub lasts: Duration,
    pub action: Action,
    find: fn(&Evidence) -> Found,
}

impl Trial {
    fn new(
        name: &'static str,
        done: &str,
        must: &str,
        lasts_s: u64,
        action: Action,
        find: fn(&Evidence) -> Found,
    ) -> Trial {
        let lasts = Duration::from_secs(lasts_s);
        Trial { name, done: done.to_owned(), must: must.to_owned(), lasts, action, find }
    }

    pub(crate) fn evaluate(&self, evidence: &Evidence) -> Evaluation {
        (self.find)(evidence).unwrap_or_else(|evaluation| evaluation)
    }
}

/// All trials in order of execution. The short form has fewer blocks, and so a larger weight to detect.
pub fn trials(quick: bool) -> Vec<Trial> {
    let mut all = vec![honest()];
    all.extend(scales(quick));
    all.push(linear(quick));
    all.push(stall(quick));
    all.extend(faults());
    all.extend(streams());
    all.push(slow_handshake());
    all.extend(shortages());
    all
}

fn honest() -> Trial {
    Trial::new(
        "honest",
        "the reference is proved against its contract",
        "nothing is wrong with it",
        1,
        Action::Proofs { contract: "hello", faults: vec![""] },
        evaluate::honest,
    )
}

/// Two trials with one load run, which ends at the planned look that detects the slower server.
fn scales(quick: bool) -> [Trial; 2] {
    let (percent, blocks, budget_s, slices) = if quick { (10, 10, 30, 3) } else { (3, 40, 130, 6) };
    let rows =
        vec![(RAW_SOCKET, String::new()), (TWIN, String::new()), (SUBJECT, format!("slower={percent}%"))];
    let load = LoadRun {
        contract: "hello",
        rows,
        blocks: (10, blocks),
        budget: Duration::from_secs(budget_s),
        slices: (slices, Duration::from_millis(100)),
        warm_up: Duration::from_millis(400),
        ..LoadRun::of_one("")
    };
    let action = Action::Load(load);
    [
        Trial::new(
            "twins",
            "one program is measured under two names",
            "the two are not separated, the intervals contain 1, and no request fails",
            budget_s,
            action.clone(),
            evaluate::twins,
        ),
        Trial::new(
            "slower",
            &format!(
                "a third server spends about {percent}% more CPU time on each request, and counts what it spends"
            ),
            "the comparison is FAIL by CPU per request, with an interval about what was spent, and the table ranks it lower",
            0,
            action,
            evaluate::slower,
        ),
    ]
}

/// Known weights in one run, each of which must be measured correctly.
fn linear(quick: bool) -> Trial {
    let (blocks, slices, lasts_s) = if quick { (6, 3, 25) } else { (12, 6, 75) };
    let weighted = WEIGHTS.iter().map(|(label, weight)| (*label, format!("slower={}%", weight * 100.0)));
    let load = LoadRun {
        rows: std::iter::once((RAW_SOCKET, String::new())).chain(weighted).collect(),
        blocks: (blocks, blocks),
        slices: (slices, Duration::from_millis(100)),
        warm_up: Duration::from_millis(400),
        ..LoadRun::of_one("")
    };
    Trial::new(
        "linear",
        "servers spend about 1, 3, 10, 30 and 100% more CPU time on each request, and count what they spend",
        "each weight is read as what was spent, within a twentieth of it or within the interval",
        lasts_s,
        Action::Load(load),
        evaluate::linear,
    )
}

fn stall(quick: bool) -> Trial {
    let open_s = if quick { 4 } else { 8 };
    let load = LoadRun {
        slices: (1, Duration::from_secs(1)),
        open: Some((1_000, Duration::from_secs(open_s))),
        ..LoadRun::of_one("stall=200ms/1s")
    };
    Trial::new(
        "stall",
        "a server stalls for 200 ms of every second, under an open loop of 1,000 requests/s",
        "p99 is 190 ms and p90 is 100 ms, as arithmetic gives",
        open_s + 3,
        Action::Load(load),
        evaluate::stall,
    )
}

fn faults() -> Vec<Trial> {
    [caches(), wrong_lengths(), closes()].into_iter().flatten().collect()
}

/// One block of a server with a fault.
fn loaded(fault: &str) -> Action {
    Action::Load(LoadRun::of_one(fault))
}

fn caches() -> [Trial; 2] {
    let late = LoadRun { contract: "selftest", ..LoadRun::of_one("caches=1000") };
    [
        Trial::new(
            "cache",
            "a server answers the first request correctly, and sends that answer to every later request",
            "verification before the load fails",
            1,
            Action::Proofs { contract: "selftest", faults: vec!["caches"] },
            evaluate::cache,
        ),
        Trial::new(
            "late-cache",
            "a server does so from its 1,001st request on, after verification",
            "the load finds it: the row has no figures",
            3,
            Action::Load(late),
            evaluate::late_cache,
        ),
    ]
}

fn wrong_lengths() -> [Trial; 2] {
    [
        Trial::new(
            "wrong-length",
            "a server sends one byte more than its Content-Length says",
            "verification before the load fails",
            6,
            Action::Proofs { contract: "hello", faults: vec!["wrong-length"] },
            evaluate::wrong_length,
        ),
        Trial::new(
            "some-wrong-lengths",
            "a server does so once in a hundred answers",
            "the load finds it: the row has no figures",
            3,
            loaded("wrong-length=1%"),
            evaluate::some_wrong_lengths,
        ),
    ]
}

fn closes() -> [Trial; 2] {
    [
        Trial::new(
            "dropper",
            "a server closes 1% of its connections without an answer",
            "1% of the requests fail, and the row is marked as failing",
            3,
            loaded("drops=1%"),
            evaluate::dropper,
        ),
        Trial::new(
            "slow-close",
            "a server announces that it closes the connection but keeps it open; another one closes it",
            "the check connection-close fails for the first one only",
            8,
            Action::Proofs { contract: "hello", faults: vec!["closes", "slow-close"] },
            evaluate::slow_close,
        ),
    ]
}

/// Faults in single HTTP/2 streams, with 8 streams on each of 8 connections.
fn streams() -> [Trial; 3] {
    let loaded = |fault: &str, slices: usize, slice_ms| {
        let slices = (slices, Duration::from_millis(slice_ms));
        Action::Load(LoadRun { protocol: Protocol::H2c, streams: 8, slices, ..LoadRun::of_one(fault) })
    };
    [
        Trial::new(
            "wrong-stream",
            "a server sends another byte in the body of one of a thousand streams of HTTP/2",
            "0.1% of the requests fail, and the row has no figures",
            3,
            loaded("wrong-body=0.1%", 3, 200),
            evaluate::wrong_stream,
        ),
        Trial::new(
            "mixed-up-streams",
            "a server sends one of a hundred answers on a stream of HTTP/2 that was answered before",
            "it is found as a frame on a closed stream, and the row has no figures",
            3,
            loaded("mixed-up=1%", 3, 200),
            evaluate::mixed_up_streams,
        ),
        Trial::new(
            "stalled-stream",
            "a server never answers one of a thousand streams of HTTP/2, and answers the others of the connection",
            "the others are answered, those streams are counted as unanswered, and the row has no figures",
            18,
            loaded("unanswered=0.1%", 6, 100),
            evaluate::stalled_stream,
        ),
    ]
}

fn slow_handshake() -> Trial {
    let load = LoadRun {
        protocol: Protocol::Http1Tls,
        requests_per_connection: Some(1),
        slices: (3, Duration::from_millis(400)),
        ..LoadRun::of_one("slow-handshake=50ms")
    };
    Trial::new(
        "slow-handshake",
        "a server waits for 50 ms before each TLS handshake, and each request has a connection of its own",
        "the time to connect is 50 ms and more, and the time of a request is not",
        4,
        Action::Load(load),
        evaluate::slow_handshake,
    )
}

fn shortages() -> Vec<Trial> {
    let disturbed = |disturbance, blocks, slice_ms| {
        let slices = (5, Duration::from_millis(slice_ms));
        Action::Load(LoadRun { disturbance, blocks: (blocks, blocks), slices, ..LoadRun::of_one("") })
    };
    vec![
        Trial::new(
            "throttled",
            "a server has half a CPU",
            "it is busy half of the time, and its throughput is not reported as its capacity",
            3,
            disturbed(LoadDisturbance::HalfACpu, 1, 100),
            evaluate::throttled,
        ),
        Trial::new(
            "spinner",
            "another program works on the generator's CPU in every second round",
            "its CPU time counts as interference: these rounds are left out of the figures, and no others",
            8,
            disturbed(LoadDisturbance::Spinner, 3, 250),
            evaluate::spinner,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_the_same_trials_and_the_short_one_is_shorter() {
        let (quick, full) = (trials(true), trials(false));
        let names = |trials: &[Trial]| trials.iter().map(|trial| trial.name).collect::<Vec<_>>();
        assert_eq!(names(&quick), names(&full));
        let lasts = |trials: &[Trial]| trials.iter().map(|trial| trial.lasts).sum::<Duration>();
        assert!(lasts(&quick) < lasts(&full) / 2);
        let mut unique = names(&full);
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), full.len());
    }

    #[test]
    fn a_trial_takes_time_unless_it_shares_the_evidence_of_the_one_before() {
        for pair in trials(false).windows(2) {
            assert_eq!(pair[1].lasts.is_zero(), pair[0].action == pair[1].action, "{}", pair[1].name);
        }
    }

    #[test]
    fn every_trial_says_what_is_done_and_what_must_be_seen() {
        for trial in trials(false) {
            for text in [trial.done.as_str(), trial.must.as_str()] {
                assert!(
                    text.len() > 10 && !text.ends_with('.') && !text.contains('\n'),
                    "{}: {text:?}",
                    trial.name
                );
            }
            assert!(trial.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", trial.name);
        }
    }

    #[test]
    fn a_load_run_does_not_end_before_its_fewest_blocks() {
        for trial in [trials(true), trials(false)].concat() {
            let Action::Load(load) = &trial.action else { continue };
            let (fewest, most) = load.blocks;
            assert!(fewest >= 1 && fewest <= most, "{}", trial.name);
            let (count, slice) = load.slices;
            assert!(
                count >= 1 && slice >= Duration::from_millis(100),
                "{}: too short for the CPU counters",
                trial.name
            );
            let block = slice * count as u32 * load.rows.len() as u32;
            assert!(
                trial.lasts.is_zero() || trial.lasts >= block * fewest as u32,
                "{}: {:?}",
                trial.name,
                trial.lasts
            );
        }
    }
}
