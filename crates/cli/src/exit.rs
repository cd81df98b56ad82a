//! The exit codes, and the form of error messages.

use std::process::ExitCode;

use tare_analysis::verdict::Verdict;
use tare_bench::schedule::CutOff;

use tare_host::signals;
use tare_reference::variables::BadVariable;

/// The list at the end of `tare --help`.
pub(crate) const HELP: &str = "\
Examples:
  tare doctor                                is anything missing on this machine?
  tare init                                  set up a repository of yours, and compare for the first time
  tare compare 'node a.js' 'node b.js'       which of two commands is cheaper?
  tare slo 'node a.js' --slo p99=10ms        the highest rate at which its p99 stays below 10 ms
  tare load http://127.0.0.1:8080/ -c 64     load any HTTP server on this machine
  tare examples                              common questions, each with its command
  tare COMMAND --help                        options and examples of one command

Examples with the services that Tare brings:
  tare run quick            build, verify and measure 12 services; prints a table
  tare compare hyper axum                    does axum cost more than hyper?
  tare catalogue                             the names of all services, experiments and contracts

Exit codes: 0 fine, 1 usage or set-up error, 2 a service failed its contract or crashed, 3 gate failed, \
4 measurement invalid, 5 inconclusive, 6 worse, perhaps by less than delta, 130 or 143 interrupted.";

/// The outcome of a command that ran, and its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fine = 0,
    /// The user must install something, or correct the command line.
    SetUp = 1,
    /// A service failed its contract or crashed.
    ServiceFailed = 2,
    /// The condition of a gate does not hold.
    GateFailed = 3,
    /// A row was measured, but the figures are not valid.
    MeasurementInvalid = 4,
    /// The data do not decide the question.
    Inconclusive = 5,
    /// A regression is shown, but not whether it reaches the gate's limit.
    Worse = 6,
}

/// Which results of a comparison a status other than 0 says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailOn {
    /// Only a regression of delta or more.
    Regression,
    /// Any regression that is shown.
    Worse,
    /// Also one that cannot be excluded.
    #[default]
    Inconclusive,
}

/// The only mapping from the verdict of a run to an exit status.
impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Outcome {
        match verdict {
            Verdict::Pass => Outcome::Fine,
            // A missing service must be installed before there is a result.
            Verdict::NotBuilt | Verdict::LeftOut(_) => Outcome::SetUp,
            Verdict::ServiceFailed => Outcome::ServiceFailed,
            Verdict::Worse => Outcome::Worse,
            Verdict::Fail => Outcome::GateFailed,
            Verdict::Invalid => Outcome::MeasurementInvalid,
            Verdict::Inconclusive | Verdict::Unfinished => Outcome::Inconclusive,
        }
    }
}

impl Outcome {
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Turns outcomes that `fail_on` tolerates into [`Outcome::Fine`].
    #[must_use]
    pub(crate) fn where_fails(self, fail_on: FailOn) -> Outcome {
        match (self, fail_on) {
            (Outcome::Inconclusive, FailOn::Regression | FailOn::Worse)
            | (Outcome::Worse, FailOn::Regression) => Outcome::Fine,
            (outcome, _) => outcome,
        }
    }

    /// The more severe of two outcomes: failures of a service come before those of the machine.
    #[must_use]
    pub(crate) fn graver(self, other: Outcome) -> Outcome {
        use Outcome::{Fine, GateFailed, Inconclusive, MeasurementInvalid, ServiceFailed, SetUp, Worse};
        let order = [ServiceFailed, SetUp, GateFailed, Worse, MeasurementInvalid, Inconclusive, Fine];
        order.into_iter().find(|outcome| [self, other].contains(outcome)).unwrap_or(Fine)
    }
}

/// The code of a command that ran.
pub(crate) fn of(result: anyhow::Result<Outcome>) -> ExitCode {
    if let Err(error) = &result {
        tare_host::message!("{}: {}", crate::output::paint("1;31", "error"), sentence(error));
    }
    // Callers need to know of an interrupt, whatever the command's result.
    let interrupted = signals::received().map(|signal| 128 + signal as u8);
    ExitCode::from(interrupted.unwrap_or_else(|| result.unwrap_or_else(|error| of_error(&error)).code()))
}

/// The outcome of an error: the user must fix it, unless the instrument itself or a service variable failed.
pub(crate) fn of_error(error: &anyhow::Error) -> Outcome {
    match error {
        error if is_cut_off(error) => Outcome::MeasurementInvalid,
        error if error.is::<BadVariable>() => Outcome::ServiceFailed,
        _ => Outcome::SetUp,
    }
}

/// Whether the instrument failed instead of a service.
pub(crate) fn is_cut_off(error: &anyhow::Error) -> bool {
    error.is::<CutOff>()
}

/// The chain of causes in one line, without causes that the error text already contains.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said {
        said if said.is_empty() => cause,
        said if said.contains(&cause) => said,
        said => format!("{said}: {cause}"),
    })
}

/// The exit code of a command line that clap rejected; a request for help is no error.
pub(crate) fn of_usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(u8::from(error.use_stderr()))
}

#[cfg(test)]
mod tests {
    use tare_analysis::verdict::TestOutcome;

    use super::*;

    #[test]
    fn a_status_says_what_a_test_case_says() {
        let lines = Verdict::ALL.map(|verdict| {
            let (code, outcome) = (Outcome::from(verdict).code(), verdict.test_outcome());
            assert_eq!(code == 0, outcome == TestOutcome::Success, "{verdict}");
            assert_eq!([2, 3, 6].contains(&code), outcome == TestOutcome::Failure, "{verdict}");
            format!("{verdict} {code}")
        });
        insta::assert_snapshot!(lines.join("\n"));
    }

    /// `fail_on` only tolerates what it names: an invalid measurement is never fine.
    #[test]
    fn what_fails_is_chosen() {
        let fails_by = |verdict: Verdict| {
            let outcome = Outcome::from(verdict);
            let all = [FailOn::Regression, FailOn::Worse, FailOn::Inconclusive];
            all.map(|fail_on| {
                let chosen = outcome.where_fails(fail_on);
                assert!(chosen == outcome || chosen == Outcome::Fine, "{verdict}");
                chosen != Outcome::Fine
            })
        };
        for verdict in Verdict::ALL {
            let expected = match verdict {
                Verdict::Pass => [false; 3],
                Verdict::Worse => [false, true, true],
                Verdict::Inconclusive | Verdict::Unfinished => [false, false, true],
                Verdict::Fail
                | Verdict::Invalid
                | Verdict::NotBuilt
                | Verdict::ServiceFailed
                | Verdict::LeftOut(_) => [true; 3],
            };
            assert_eq!(fails_by(verdict), expected, "{verdict}");
        }
        assert_eq!(FailOn::default(), FailOn::Inconclusive);
    }

    /// A failure of the instrument is no fault of a service, and not success either.
    #[test]
    fn an_error_says_whose_it_is() {
        let full = || CutOff::Storage(std::io::ErrorKind::StorageFull.into());
        for (error, expected) in [
            (anyhow::Error::new(full()), Outcome::MeasurementInvalid),
            (anyhow::Error::new(full()).context("in a run"), Outcome::MeasurementInvalid),
            (anyhow::anyhow!("no such file"), Outcome::SetUp),
        ] {
            assert_eq!(of_error(&error), expected, "{error:#}");
        }
    }

    /// The most severe outcome of its metrics is the status of a gate.
    #[test]
    fn several_metrics_have_one_status() {
        use Verdict::{Fail, Inconclusive, Invalid, Pass, Worse};
        let status = |metrics: &[Verdict], fail_on: FailOn| {
            Outcome::from(Verdict::of_all(metrics.iter().copied())).where_fails(fail_on)
        };
        for (metrics, expected) in [
            (&[Pass, Pass][..], [Outcome::Fine; 3]),
            (&[Pass, Inconclusive], [Outcome::Fine, Outcome::Fine, Outcome::Inconclusive]),
            (&[Inconclusive, Worse, Pass], [Outcome::Fine, Outcome::Worse, Outcome::Worse]),
            (&[Inconclusive, Fail, Worse], [Outcome::GateFailed; 3]),
            (&[Inconclusive, Invalid], [Outcome::MeasurementInvalid; 3]),
            (&[], [Outcome::Fine, Outcome::Fine, Outcome::Inconclusive]),
        ] {
            let all = [FailOn::Regression, FailOn::Worse, FailOn::Inconclusive];
            assert_eq!(all.map(|fail_on| status(metrics, fail_on)), expected, "{metrics:?}");
        }
    }

    #[test]
    fn the_graver_of_two_verdicts_is_the_graver_of_two_ends() {
        let all = || Verdict::ALL.into_iter().filter(|verdict| !matches!(verdict, Verdict::LeftOut(_)));
        for (one, other) in all().flat_map(|one| all().map(move |other| (one, other))) {
            assert_eq!(
                Outcome::from(one).graver(other.into()),
                Outcome::from(one.max(other)),
                "{one}, {other}"
            );
        }
    }
}
