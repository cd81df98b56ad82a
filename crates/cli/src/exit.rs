//! The exit codes, decided in this one place.

use std::process::ExitCode;

use tare_host::signals;

/// For the end of `--help`.
pub const HELP: &str = "Exit codes: 0 fine, 1 usage or set-up, 2 a service failed its contract or crashed, \
    3 gate failed, 4 measurement invalid, 5 inconclusive, 130 or 143 interrupted.";

/// How a command ended, when it did what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to complain of.
    Fine,
    /// Something that the user must set up is not as it should be.
    SetUp,
    /// A service failed its contract or crashed.
    ServiceFailed,
    /// What was asked to hold does not.
    GateFailed,
    /// Some row was measured, but not validly.
    MeasurementInvalid,
    /// The data do not tell whether what was asked holds.
    Inconclusive,
}

impl Outcome {
    /// Of two ends the one that is told: what a service did before what the machine did.
    #[must_use]
    pub fn graver(self, other: Outcome) -> Outcome {
        use Outcome::{Fine, GateFailed, Inconclusive, MeasurementInvalid, ServiceFailed, SetUp};
        let order = [ServiceFailed, SetUp, GateFailed, MeasurementInvalid, Inconclusive, Fine];
        order.into_iter().find(|outcome| [self, other].contains(outcome)).unwrap_or(Fine)
    }
}

/// The code of a command that ran.
pub fn of(result: anyhow::Result<Outcome>) -> ExitCode {
    // Whatever a command makes of it, its caller wants to know that it was interrupted.
    if let Some(signal) = signals::received() {
        report(&result);
        return ExitCode::from(128 + signal as u8);
    }
    report(&result);
    ExitCode::from(match result {
        Ok(Outcome::Fine) => 0,
        Ok(Outcome::SetUp) | Err(_) => 1,
        Ok(Outcome::ServiceFailed) => 2,
        Ok(Outcome::GateFailed) => 3,
        Ok(Outcome::MeasurementInvalid) => 4,
        Ok(Outcome::Inconclusive) => 5,
    })
}

fn report(result: &anyhow::Result<Outcome>) {
    if let Err(error) = result {
        anstream::eprintln!("{}: {}", crate::output::paint("1;31", "error"), sentence(error));
    }
}

/// The chain of causes in one line; most errors name their cause already, and then it is not said again.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said {
        said if said.is_empty() => cause,
        said if said.contains(&cause) => said,
        said => format!("{said}: {cause}"),
    })
}

/// The code of a command line that clap refused; asking for help is no mistake.
pub fn of_usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(u8::from(error.use_stderr()))
}
