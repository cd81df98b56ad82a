//! The result of a selftest: every trial with its figures, and the machine.

use serde::{Deserialize, Serialize};

use super::{
    evaluate::{Evaluation, TrialOutcome},
    trial::Trial,
};
use tare_host::{cpus::Pinning, environment::Environment};

/// The version of the JSON that a certificate is written as.
pub const FORMAT: &str = "1.0";

/// The state of the instrument on this machine at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    pub tare: String,
    /// When it began, RFC 3339, UTC.
    pub began: String,
    pub took_ns: u64,
    /// Whether it is the short form.
    pub quick: bool,
    /// Determines the order of rows and the values of placeholders.
    pub seed: u64,
    pub environment: Environment,
    /// CPUs of services and of the generator.
    pub pinning: Pinning,
    /// In the order of execution.
    pub trials: Vec<TrialFinding>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialFinding {
    pub name: String,
    pub done: String,
    pub must: String,
    /// About zero if it shares the action of the previous trial.
    pub took_ns: u64,
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

impl TrialFinding {
    pub fn new(trial: &Trial, took_ns: u64, evaluation: Evaluation) -> TrialFinding {
        let (name, done, must) = (trial.name.to_owned(), trial.done.clone(), trial.must.clone());
        TrialFinding { name, done, must, took_ns, evaluation }
    }

    /// `seen`, `NOT seen`, `not decided`, `not tried`.
    pub fn word(&self) -> &'static str {
        match self.evaluation.outcome {
            TrialOutcome::Seen => "seen",
            TrialOutcome::NotSeen => "NOT seen",
            TrialOutcome::NotDecided => "not decided",
            TrialOutcome::NotTried => "not tried",
        }
    }
}

impl Certificate {
    /// The number of trials with this outcome.
    pub(crate) fn count(&self, outcome: TrialOutcome) -> usize {
        self.trials.iter().filter(|finding| finding.evaluation.outcome == outcome).count()
    }

    /// The worst outcome of the trials, ignoring those that could not run.
    pub fn outcome(&self) -> TrialOutcome {
        let worst = [TrialOutcome::NotSeen, TrialOutcome::NotDecided]
            .into_iter()
            .find(|worst| self.count(*worst) > 0);
        worst.unwrap_or(TrialOutcome::Seen)
    }

    /// For people, and for `certificate.txt`.
    pub fn text(&self) -> String {
        let environment = &self.environment;
        let form = if self.quick { ", short form" } else { "" };
        let mut text = format!(
            "tare {} selftest, {} ({:.0} s{form})\n{}, {} CPUs, {}, {}\nservices on CPUs {:?}, generator on {:?}; \
             load average before {}; seed {}\n",
            self.tare,
            self.began,
            self.took_ns as f64 / 1e9,
            environment.cpu,
            environment.cpus,
            environment.kernel,
            environment.system,
            self.pinning.server,
            self.pinning.generator,
            environment.load_average,
            self.seed,
        );
        environment.isolation.iter().for_each(|line| text += &format!("{line}\n"));
        for finding in &self.trials {
            let TrialFinding { name, done, must, evaluation, .. } = finding;
            let word = finding.word();
            text += &format!(
                "\n{word:<11}  {name}: {done}\n{:13}must  {must}\n{:13}found {}\n",
                "", "", evaluation.found
            );
        }
        text + &format!("\n{}\n", self.verdict())
    }

    pub(crate) fn verdict(&self) -> String {
        let [seen, not_seen, not_decided, not_tried] =
            [TrialOutcome::Seen, TrialOutcome::NotSeen, TrialOutcome::NotDecided, TrialOutcome::NotTried]
                .map(|outcome| self.count(outcome));
        let tried = seen + not_seen + not_decided;
        let untried = if not_tried > 0 { format!(", {not_tried} not tried") } else { String::new() };
        match (not_seen, not_decided, seen) {
            (0, 0, 0) => format!("nothing was tried: this certifies nothing{untried}"),
            (0, 0, _) => format!("the instrument saw what it must: {seen} of {seen}{untried}"),
            (0, _, _) => format!(
                "{not_decided} of {tried} trials are not decided{untried}: this certifies nothing; try again on a quiet machine"
            ),
            _ => format!("the instrument did NOT see {not_seen} of {tried}{untried}: do not trust it here"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::trials;

    /// A certificate in which the first trials have these outcomes.
    fn certificate(outcomes: &[TrialOutcome]) -> Certificate {
        let evaluation = |outcome| Evaluation { outcome, ..Evaluation::not_tried("2 of 3") };
        let found = trials(true).into_iter().zip(outcomes);
        Certificate {
            format: FORMAT.to_owned(),
            tare: "1.2.3".to_owned(),
            began: "2026-01-02T03:04:05Z".to_owned(),
            took_ns: 61_000_000_000,
            quick: true,
            seed: 7,
            environment: Environment {
                isolation: vec!["killing: one by one".to_owned()],
                ..Environment::default()
            },
            pinning: Pinning { server: vec![0], generator: vec![1] },
            trials: found
                .map(|(trial, outcome)| TrialFinding::new(&trial, 5, evaluation(*outcome)))
                .collect(),
        }
    }

    #[test]
    fn one_fault_that_was_not_seen_makes_the_instrument_bad() {
        use TrialOutcome::{NotDecided, NotSeen, NotTried, Seen};
        for (outcomes, outcome, verdict) in [
            (&[Seen, Seen][..], Seen, "the instrument saw what it must: 2 of 2"),
            (&[Seen, NotTried], Seen, "the instrument saw what it must: 1 of 1, 1 not tried"),
            (
                &[NotSeen, NotDecided, NotTried],
                NotSeen,
                "the instrument did NOT see 1 of 2, 1 not tried: do not trust it here",
            ),
            (
                &[Seen, NotDecided, NotTried],
                NotDecided,
                "1 of 2 trials are not decided, 1 not tried: this certifies nothing; try again on a quiet machine",
            ),
            (&[NotTried], Seen, "nothing was tried: this certifies nothing, 1 not tried"),
        ] {
            let certificate = certificate(outcomes);
            assert_eq!((certificate.outcome(), certificate.verdict().as_str()), (outcome, verdict));
        }
    }

    #[test]
    fn the_text_has_each_trial_with_what_must_be_seen_and_what_was_found() {
        let text = certificate(&[TrialOutcome::Seen, TrialOutcome::NotSeen]).text();
        for line in [
            "tare 1.2.3 selftest, 2026-01-02T03:04:05Z (61 s, short form)",
            "killing: one by one",
            "seen         honest: the reference is proved against its contract",
            "             must  nothing is wrong with it",
            "NOT seen     twins: one program is measured under two names",
            "             found 2 of 3",
        ] {
            assert!(text.lines().any(|own| own == line), "{line:?} is not in\n{text}");
        }
        assert!(text.ends_with("\nthe instrument did NOT see 1 of 2: do not trust it here\n"));
    }

    #[test]
    fn a_certificate_is_read_as_it_was_written() {
        let certificate = certificate(&[TrialOutcome::Seen, TrialOutcome::NotSeen, TrialOutcome::NotTried]);
        let json = serde_json::to_value(&certificate).unwrap();
        assert_eq!(json["trials"][1]["outcome"], "not-seen", "the evaluation is part of its trial");
        assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), certificate);
    }

    #[test]
    fn a_certificate_of_a_newer_tare_may_have_more() {
        let mut json = serde_json::to_value(certificate(&[TrialOutcome::Seen])).unwrap();
        json["added"] = 1.into();
        json["trials"][0]["added"] = 1.into();
        assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), certificate(&[TrialOutcome::Seen]));
    }
}
