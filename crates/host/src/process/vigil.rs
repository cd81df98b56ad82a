//! Watches a service during the wait for it: the results of the probes so far, and who receives the reason.

use std::{
    collections::HashSet,
    fmt,
    mem::Discriminant,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::hindrance::{NotReadyReason, Probed};

/// A probe that runs longer than this was not refused. Its result is known only when it ends.
const SILENT_AFTER: Duration = Duration::from_millis(500);

/// Time for which a service may answer wrongly while it starts.
const WRONG_MAX: Duration = Duration::from_secs(10);

/// The results of the probes so far.
#[derive(Debug)]
pub(super) struct ReadinessWatch(Mutex<Asking>);

#[derive(Debug, Clone)]
struct Asking {
    found: Probed,
    /// Start of the first probe in the current series of equal results.
    since: Instant,
    /// Start of the probe that is running; absent if none is.
    asked: Option<Instant>,
}

impl ReadinessWatch {
    pub(super) fn begin(now: Instant) -> ReadinessWatch {
        ReadinessWatch(Mutex::new(Asking { found: Probed::Refused, since: now, asked: None }))
    }

    pub(super) fn ask(&self, now: Instant) {
        self.asking().asked = Some(now);
    }

    /// Records the result of the running probe.
    pub(super) fn note(&self, found: &Probed) {
        let mut asking = self.asking();
        let asked = asking.asked.take();
        // Wrong answers may differ each time, and partial answers grow: both still count as the same result.
        let is_still_wrong = matches!(
            (found, &asking.found),
            (Probed::Wrong(_), Probed::Wrong(_)) | (Probed::Unfinished(_), Probed::Unfinished(_))
        );
        if *found != asking.found && !is_still_wrong {
            asking.since = asked.unwrap_or(asking.since);
        }
        asking.found.clone_from(found);
    }

    /// The last result, and for how long it has been the same.
    pub(super) fn met(&self, now: Instant) -> (Probed, Duration) {
        let Asking { found, since, asked } = self.asking().clone();
        let out = asked.map(|asked| now.saturating_duration_since(asked));
        let is_known = matches!(found, Probed::Silent | Probed::Unfinished(_));
        match out.filter(|out| *out >= SILENT_AFTER && !is_known) {
            Some(out) => (Probed::Unfinished(None), out),
            None => (found, now.saturating_duration_since(since)),
        }
    }

    /// Whether it has answered wrongly for longer than a start takes: the answer or the expectation is wrong.
    pub(super) fn is_wrong_for_good(&self, now: Instant) -> bool {
        matches!(self.met(now), (Probed::Wrong(_), lasts) if lasts >= WRONG_MAX)
    }

    fn asking(&self) -> MutexGuard<'_, Asking> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Tell = dyn Fn(&str) + Send + Sync;
/// Pairs of a service and a kind of reason.
type Told = HashSet<(String, Discriminant<NotReadyReason>)>;

/// Receives the reasons why services are not ready: each kind once for each service, whatever the restarts.
#[derive(Clone, Default)]
pub struct Notices {
    tell: Option<Arc<Tell>>,
    told: Arc<Mutex<Told>>,
}

impl Notices {
    /// `tell` receives one line at a time.
    pub fn to(tell: impl Fn(&str) + Send + Sync + 'static) -> Notices {
        Notices { tell: Some(Arc::new(tell)), ..Notices::default() }
    }

    /// Reports why a service is not ready, and when the wait for it ends.
    pub(super) fn say(&self, service: &str, hindrance: &NotReadyReason, timeout: Duration) {
        let Some(tell) = &self.tell else { return };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert((service.to_owned(), std::mem::discriminant(hindrance))) {
            tell(&format!("{service}: {hindrance}; waiting until {timeout:?} after its start"));
        }
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notices").field("told", &self.told).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_wrong_for_good_is_waited_for_no_longer() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let vigil = ReadinessWatch::begin(begun);
        for second in 0..10 {
            assert!(!vigil.is_wrong_for_good(at(second * 1_000)));
            vigil.ask(at(second * 1_000));
            vigil.note(&Probed::Wrong(format!("says {second}")));
        }
        assert!(vigil.is_wrong_for_good(at(10_000)), "however differently");
        vigil.ask(at(10_100));
        vigil.note(&Probed::Unfit("answers with status 503".to_owned()));
        assert!(!vigil.is_wrong_for_good(at(60_000)));
    }

    #[test]
    fn what_is_met_lasts_from_the_first_question_that_met_it() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let vigil = ReadinessWatch::begin(begun);
        let met = |ms| {
            let (found, lasts) = vigil.met(at(ms));
            (found, lasts.as_millis())
        };
        assert_eq!(met(5), (Probed::Refused, 5));
        let starting = Probed::Unfit("answers with status 503".to_owned());
        for ms in [100, 200, 300] {
            vigil.ask(at(ms));
            vigil.note(&starting);
        }
        assert_eq!(met(400), (starting.clone(), 300));
        // The result of a running probe is unknown until it ends.
        vigil.ask(at(1_000));
        let out = Probed::Unfinished(None);
        assert_eq!((met(1_100), met(1_600)), ((starting, 1_000), (out, 600)));
        vigil.note(&Probed::Silent);
        vigil.ask(at(3_000));
        assert_eq!(met(4_000), (Probed::Silent, 3_000));
        let part = |bytes: u32| Probed::Unfinished(Some(format!("gives no answer ({bytes} bytes came)")));
        for (ms, bytes) in [(5_000, 40), (7_000, 41)] {
            vigil.ask(at(ms));
            vigil.note(&part(bytes));
        }
        vigil.ask(at(9_000));
        assert_eq!(met(10_000), (part(41), 5_000));
    }

    #[test]
    fn each_kind_of_reason_is_told_once_of_each_service() {
        let said = Arc::new(Mutex::new(Vec::new()));
        let notices = Notices::to({
            let said = Arc::clone(&said);
            move |line| said.lock().unwrap().push(line.to_owned())
        });
        let asked = tare_base::Endpoint::from(std::net::SocketAddr::from(([127, 0, 0, 1], 81)));
        let silent =
            |seconds| NotReadyReason::Silent { asked: asked.clone(), lasts: Duration::from_secs(seconds) };
        let timeout = Duration::from_secs(60);
        notices.say("a", &silent(1), timeout);
        notices.clone().say("a", &silent(2), timeout);
        notices.say("b", &silent(1), timeout);
        notices.say("a", &NotReadyReason::Hidden, timeout);
        let said = said.lock().unwrap();
        let line = "a: it listens at 127.0.0.1:81, and has answered nothing for 1.0 s; waiting until 60s after its start";
        assert_eq!((said.len(), said[0].as_str()), (3, line));
        Notices::default().say("a", &NotReadyReason::Hidden, timeout);
    }
}
