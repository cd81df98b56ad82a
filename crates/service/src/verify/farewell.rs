//! The check `h2-goaway`: the caller that stops the service holds a connection open meanwhile.

use tare_base::Endpoint;

use super::bench::Bench;
use super::frames::{FrameTalk, NoFrame};
use super::transcript::{CheckResult, Failure, Tried};
use super::{CheckId, VerifyOptions, weigh};
use crate::client::Deadline;
use tare_base::http2::ErrorCode;
use tare_contract::{CheckLevel, Contract};

/// An open HTTP/2 connection without further requests.
#[derive(Debug)]
pub(crate) struct Farewell {
    talk: FrameTalk,
}

impl Farewell {
    /// Absent if the check does not apply, or no connection can be made, which other checks report.
    pub(crate) fn open(contract: &Contract, target: &Endpoint, options: &VerifyOptions) -> Option<Farewell> {
        let is_made = CheckId::H2Goaway.concerns(options.channel.protocol)
            && contract.level(CheckId::H2Goaway) != CheckLevel::Skip;
        let mut talk =
            is_made.then(|| FrameTalk::open(&mut Bench::new(contract, target, options)).ok())??;
        talk.read_until(|talk| talk.settings > 0 && talk.is_acknowledged).ok()?;
        Some(Farewell { talk })
    }

    /// How the connection ended; call it after the service was stopped.
    pub(crate) fn result(self, contract: &Contract, options: &VerifyOptions) -> CheckResult {
        let deadline = Deadline::after(options.timeouts.answer);
        let tried = CheckResult::of(CheckId::H2Goaway, "SIGTERM", self.ended(deadline));
        weigh(tried, contract, options)
    }

    fn ended(mut self, deadline: Deadline) -> Tried {
        loop {
            let error = match self.talk.next(deadline) {
                Ok(frame) => match self.talk.take(&frame) {
                    Ok(()) => continue,
                    Err(error) => error,
                },
                Err(error) => error,
            };
            return match (error, self.talk.goaway) {
                (NoFrame::Closed | NoFrame::Reset, Some(0)) => Ok(Some("GOAWAY".to_owned())),
                (NoFrame::Closed | NoFrame::Reset, Some(code)) => {
                    Err(self.failure(&format!("said GOAWAY {}", ErrorCode(code))))
                }
                (NoFrame::Closed, None) => Ok(Some("closed without GOAWAY".to_owned())),
                (error, _) => Err(self.failure(&error.to_string())),
            };
        }
    }

    fn failure(&self, what: &str) -> Failure {
        self.talk.failure(format!("on SIGTERM the service {what} instead of GOAWAY or a close"))
    }
}
