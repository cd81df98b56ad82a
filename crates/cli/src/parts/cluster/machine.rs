//! The instrument on a node: its certificate, which is made if there is no valid one.

use std::path::Path;

use serde_json::Value;
use tare_cluster::{BatchHead, Selftest};
use tare_selftest::Certificate;

/// The stored certificate of a machine, if it is recent enough and has the required trials.
pub(super) fn good(head: &BatchHead, stored: Option<Value>, now: jiff::Timestamp) -> Option<Certificate> {
    let certificate: Certificate = serde_json::from_value(stored?).ok()?;
    let is_young = is_young(&certificate, now, head.certificate_days);
    (is_young && has_trials(&certificate, &head.selftest)).then_some(certificate)
}

fn is_young(certificate: &Certificate, now: jiff::Timestamp, days: u32) -> bool {
    let began = certificate.began.parse::<jiff::Timestamp>();
    let age_max = jiff::SignedDuration::from_hours(24 * i64::from(days));
    began.is_ok_and(|began| now.duration_since(began) <= age_max)
}

fn has_trials(certificate: &Certificate, selftest: &Selftest) -> bool {
    let has = |name: &str| certificate.trials.iter().any(|trial| trial.name == name);
    let has_all = |quick: bool| tare_selftest::trials(quick).iter().all(|trial| has(trial.name));
    match selftest {
        Selftest::None => true,
        Selftest::Quick => has_all(true),
        Selftest::Full => !certificate.quick && has_all(false),
        Selftest::Only(names) => names.iter().all(|name| has(name)),
    }
}

/// The arguments of the command that makes a certificate in `folder`; `None` if none is required.
pub(super) fn words(selftest: &Selftest, folder: &Path) -> Option<Vec<String>> {
    let form = match selftest {
        Selftest::None => return None,
        Selftest::Quick => vec!["--quick".to_owned()],
        Selftest::Full => Vec::new(),
        Selftest::Only(names) => vec!["--quick".to_owned(), "--only".to_owned(), names.join(",")],
    };
    let out = ["--out".to_owned(), folder.display().to_string()];
    Some([&["selftest".to_owned()][..], &form, &out].concat())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn certificate(quick: bool, trials: &[&str]) -> Certificate {
        let trial = |name: &&str| {
            let (done, must, outcome) = ("it ran", "nothing is wrong", "seen");
            json!({ "name": name, "done": done, "must": must, "took_ns": 1, "outcome": outcome, "found": "", "figures": {} })
        };
        let trials: Vec<_> = trials.iter().map(trial).collect();
        let environment = serde_json::to_value(tare_host::environment::Environment::default()).unwrap();
        serde_json::from_value(json!({
            "format": "1.0", "tare": "0.1.0", "began": "2026-01-02T00:00:00Z", "took_ns": 1, "quick": quick, "seed": 1,
            "environment": environment, "pinning": { "server": [0], "generator": [1] }, "trials": trials,
        }))
        .unwrap()
    }

    #[test]
    fn a_certificate_is_good_for_some_days() {
        let certificate = certificate(true, &[]);
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        assert!(is_young(&certificate, at("2026-01-09T00:00:00Z"), 7));
        assert!(!is_young(&certificate, at("2026-01-09T00:00:01Z"), 7));
        assert!(
            is_young(&certificate, at("2026-01-01T00:00:00Z"), 0),
            "the clock of the other machine may be ahead"
        );
    }

    #[test]
    fn a_certificate_must_have_the_trials_that_are_asked_for() {
        let all: Vec<&str> = tare_selftest::trials(true).iter().map(|trial| trial.name).collect();
        let (quick, full, few) =
            (certificate(true, &all), certificate(false, &all), certificate(true, &all[..1]));
        let only = Selftest::Only(vec![all[0].to_owned()]);
        let of = |certificate: &Certificate| {
            [&Selftest::None, &Selftest::Quick, &Selftest::Full, &only]
                .map(|form| has_trials(certificate, form))
        };
        assert_eq!(of(&quick), [true, true, false, true]);
        assert_eq!(of(&full), [true, true, true, true]);
        assert_eq!(of(&few), [true, false, false, true]);
        assert_eq!(of(&certificate(true, &[])), [true, false, false, false]);
    }

    #[test]
    fn a_selftest_is_a_command() {
        let words = |form: &Selftest| words(form, Path::new("/tmp/s")).map(|words| words.join(" "));
        assert_eq!(words(&Selftest::None), None);
        assert_eq!(words(&Selftest::Full).as_deref(), Some("selftest --out /tmp/s"));
        let only = Selftest::Only(vec!["honest".to_owned(), "cache".to_owned()]);
        assert_eq!(words(&only).as_deref(), Some("selftest --quick --only honest,cache --out /tmp/s"));
    }
}
