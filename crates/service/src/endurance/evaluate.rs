//! Evaluates the numbers of a load and describes the result in words. Pure: numbers in, an outcome out.

use std::time::Duration;

use tare_load::{Failure, Tally};

use crate::drive::kinds;
use crate::verify::CheckOutcome;
use tare_host::process::Stopped;

/// An outcome, and a note on a pass.
type Judged = (CheckOutcome, Option<String>);

/// The target of a load of a known size.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub requests: u64,
    /// Most connections that may be opened; absent if the service may close them.
    pub connections: Option<u64>,
    pub within: Duration,
}

/// Evaluates a load that ends after a number of requests.
pub(super) fn load(tally: &Tally, first: Option<&str>, wanted: &Wanted, elapsed_ns: u64) -> Judged {
    let Tally { answered, connects, .. } = *tally;
    if let Err(error) = tally.reconcile() {
        return fail(error.to_string());
    }
    if let Some(reason) = failures(tally, first) {
        return fail(format!("{answered} of {} requests were answered rightly, {reason}", wanted.requests));
    }
    if let Some(most) = wanted.connections.filter(|most| connects > *most) {
        let (closed, noun) = (connects - most, if most == 1 { "connection" } else { "connections" });
        return fail(format!(
            "closed {closed} of the connections that it had to keep: {answered} answers came over {connects}, not {most} {noun}"
        ));
    }
    if answered < wanted.requests {
        let reason = format!(
            "no error, but only {answered} of {} requests were answered within {:?}",
            wanted.requests, wanted.within
        );
        return (CheckOutcome::Warn(reason), None);
    }
    let time = Duration::from_nanos(elapsed_ns);
    let over = if connects == 1 { String::new() } else { format!(" over {connects} connections") };
    (CheckOutcome::Pass, Some(format!("{answered} answers{over} in {time:.1?}")))
}

/// Evaluates a load during which SIGTERM was sent: `before` was counted until then, `all` until the end.
/// Connections broken later are no failure; a wrong answer always is.
pub(super) fn sigterm(before: &Tally, all: &Tally, first: Option<&str>, stopped: &Stopped) -> Judged {
    if let Some(reason) = failures(before, first) {
        return fail(format!("before SIGTERM came, {reason}"));
    }
    if before.answered == 0 {
        return fail("no request was answered before SIGTERM came".to_owned());
    }
    let Some(took) = stopped.cleanly() else {
        return fail(format!("under load it {stopped}"));
    };
    let wrong = [Failure::Mismatch, Failure::Malformed, Failure::MissingValue];
    let wrong: u64 = wrong.into_iter().map(|kind| all.failed.get(kind)).sum();
    if wrong > 0 {
        return fail(format!("{wrong} wrong answers while it ended{}", told(first)));
    }
    let lost = all.failed.total() + all.in_flight;
    let lost = if lost == 0 { String::new() } else { format!(", {lost} requests were cut off") };
    (CheckOutcome::Pass, Some(format!("ended in {took:.1?}; {} right answers{lost}", all.answered)))
}

fn fail(reason: String) -> Judged {
    (CheckOutcome::Fail(reason), None)
}

/// The failures in words, if there are any.
fn failures(tally: &Tally, first: Option<&str>) -> Option<String> {
    let mut said = Vec::new();
    if tally.failed.total() > 0 {
        said.push(format!("{} failed ({})", tally.failed.total(), kinds(&tally.failed)));
    }
    if tally.connection_failed.total() > 0 {
        let (count, kinds) = (tally.connection_failed.total(), kinds(&tally.connection_failed));
        said.push(format!("{count} connections failed ({kinds})"));
    }
    (!said.is_empty()).then(|| said.join(", ") + &told(first))
}

fn told(first: Option<&str>) -> String {
    first.map(|first| format!("; the first: {first}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tare_host::process::Exit;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn tally(answered: u64, connects: u64, failed: &[Failure]) -> Tally {
        let sent = answered + failed.len() as u64;
        let mut tally = Tally { sent, answered, connects, ..Tally::default() };
        failed.iter().for_each(|kind| tally.failed.add(*kind));
        tally
    }

    fn judged(tally: &Tally, connections: Option<u64>) -> (&'static str, String) {
        let wanted = Wanted { requests: 10, connections, within: Duration::from_secs(30) };
        said(load(tally, Some("reset at \"a\""), &wanted, SECOND))
    }

    fn said((outcome, note): Judged) -> (&'static str, String) {
        let word = outcome.word();
        match outcome {
            CheckOutcome::Fail(reason) | CheckOutcome::Warn(reason) | CheckOutcome::Skipped(reason) => {
                (word, reason)
            }
            CheckOutcome::Pass => (word, note.unwrap_or_default()),
        }
    }

    #[test]
    fn a_load_passes_only_whole_and_over_the_connections_it_began_with() {
        let text = |text: &str| text.to_owned();
        assert_eq!(judged(&tally(10, 1, &[]), Some(1)), ("pass", text("10 answers in 1.0s")));
        assert_eq!(judged(&tally(10, 4, &[]), None), ("pass", text("10 answers over 4 connections in 1.0s")));
        assert_eq!(
            judged(&tally(10, 3, &[]), Some(1)),
            (
                "FAIL",
                text(
                    "closed 2 of the connections that it had to keep: 10 answers came over 3, not 1 connection"
                )
            )
        );
        assert_eq!(
            judged(&tally(8, 2, &[Failure::Reset, Failure::Status]), Some(1)),
            (
                "FAIL",
                text(
                    "8 of 10 requests were answered rightly, 2 failed (1 reset, 1 status); the first: reset at \"a\""
                )
            )
        );
    }

    #[test]
    fn slowness_is_a_warning_and_loss_is_not() {
        let (word, reason) = judged(&tally(3, 1, &[]), Some(1));
        assert_eq!(
            (word, reason.as_str()),
            ("warn", "no error, but only 3 of 10 requests were answered within 30s")
        );
        let mut refused = tally(3, 1, &[]);
        refused.connection_failed.add(Failure::Refused);
        assert_eq!(judged(&refused, None).0, "FAIL");
        let mut lost = tally(3, 1, &[]);
        lost.sent = 5;
        assert!(judged(&lost, None).1.starts_with("requests do not add up"));
    }

    #[test]
    fn after_sigterm_connections_may_break_and_answers_may_not_be_wrong() {
        let clean = |status| Stopped::Clean { status, took: Duration::from_millis(7) };
        let ended = |before: &Tally, all: &Tally, status| said(sigterm(before, all, None, &clean(status)));
        let good = tally(5, 1, &[]);
        let cut = tally(9, 1, &[Failure::Reset, Failure::ClosedMidResponse, Failure::Status]);
        assert_eq!(
            ended(&good, &cut, Exit::Status(0)),
            ("pass", "ended in 7.0ms; 9 right answers, 3 requests were cut off".to_owned())
        );
        assert_eq!(ended(&cut, &cut, Exit::Status(0)).0, "FAIL");
        assert_eq!(ended(&tally(0, 1, &[]), &good, Exit::Status(0)).0, "FAIL");
        assert_eq!(ended(&good, &tally(9, 1, &[Failure::Mismatch]), Exit::Status(0)).0, "FAIL");
        // One rule for verify, run and endure: the default effect of SIGTERM is right.
        for status in [Exit::Status(143), Exit::Signal(15)] {
            assert_eq!(ended(&good, &good, status).0, "pass");
        }
        assert_eq!(
            ended(&good, &good, Exit::Status(1)),
            ("FAIL", "under load it ended 7ms after SIGTERM: exit status 1".to_owned())
        );
        let late = Stopped::StoppedLate { grace: Duration::from_secs(3), stderr_tail: String::new() };
        assert!(
            said(sigterm(&good, &good, None, &late)).1.starts_with("under load it did not end within 3s")
        );
    }
}
