//! Verifies a running service against a contract, before it is measured and again afterwards.
//!
//! [`verify`] sends requests, evaluates the answers and returns a [`Transcript`]; its caller starts the service and prints
//! the transcript.
//! Everything runs in the calling thread, so that a thread in another network namespace verifies a service
//! there. Every wait has a time limit.

mod backing;
mod bench;
mod connection;
mod date;
mod escape;
mod evaluate;
mod farewell;
mod forms;
mod fragments;
mod frames;
mod fresh;
mod http2;
mod media_type;
mod patience;
mod refusal;
mod response;
mod sent;
mod talk;
#[cfg(test)]
mod tests;
mod text;
mod tls;
mod transcript;
mod unknown;
mod walk;

use std::time::Duration;

pub use sent::{Field, SentAnswer, SentFraming, sent};
pub use text::counts;
pub use transcript::{CheckOutcome, CheckResult, Transcript, Wire};

pub(crate) use backing::backing;
pub(crate) use escape::quote;
pub(crate) use evaluate::difference;
pub(crate) use farewell::Farewell;

use crate::client::Channel;
use bench::Bench;
use tare_base::Endpoint;
pub use tare_contract::CheckId;
use tare_contract::{CheckLevel, Contract};
use tare_host::signals;
use transcript::Failure;

/// Known properties of the service, and time limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VerifyOptions {
    /// Seed of placeholder values. Two runs with the same seed send the same bytes.
    pub seed: u64,
    /// A reference sends one fixed response, so checks that it cannot satisfy are skipped.
    pub style_is_reference: bool,
    /// The manifest has `keeps-connections = false`: each answer must announce `Connection: close` and close.
    pub closes_connections: bool,
    /// Known failures of the manifest with their reasons: such a failure is a warning.
    pub known_failures: Vec<(CheckId, String)>,
    /// The `Host` header of requests; absent: the address.
    pub host: Option<String>,
    /// Protocol and certificates of the connections.
    pub channel: Channel,
    pub timeouts: Timeouts,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Timeouts {
    /// Time limit to accept a connection.
    pub connect: Duration,
    /// Time limit of a whole answer, and of a close.
    pub answer: Duration,
    /// The shorter time limit after two waits in vain.
    pub after_silence: Duration,
    /// Pause between two segments of a split request, so that the service reads the first alone.
    pub pause: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(2),
            answer: Duration::from_secs(5),
            after_silence: Duration::from_secs(1),
            pause: Duration::from_millis(3),
        }
    }
}

impl VerifyOptions {
    /// Options for an ordinary service, with time limits for an idle machine.
    pub fn new(seed: u64) -> VerifyOptions {
        VerifyOptions { seed, ..VerifyOptions::default() }
    }

    /// Adds the service's delay (`DELAY_MS`) to the time limits.
    pub fn allow(&mut self, delay: Duration) {
        self.timeouts.answer += delay;
        self.timeouts.after_silence += delay;
    }
}

/// The reason for a check that an interrupt prevented.
const INTERRUPTED: &str = "interrupted";

/// Runs all checks of `contract` on the service at `target`, except that of its end: see [`ended`].
pub fn verify(contract: &Contract, target: &Endpoint, options: &VerifyOptions) -> Transcript {
    verify_only(contract, target, options, CheckId::ALL)
}

/// Runs only some checks, such as those to repeat after a load.
pub fn verify_only(
    contract: &Contract,
    target: &Endpoint,
    options: &VerifyOptions,
    only: &[CheckId],
) -> Transcript {
    let mut bench = Bench::new(contract, target, options);
    let mut checks = Vec::new();
    let protocol = options.channel.protocol;
    let is_made = |check: &&CheckId| {
        // The caller that starts and stops the service runs these.
        check.concerns(protocol) && !matches!(check, CheckId::Backing | CheckId::End | CheckId::H2Goaway)
    };
    for &check in only.iter().filter(is_made) {
        bench.patience.begin(options.known_failures.iter().any(|(known, _)| *known == check));
        match reason_to_skip(check, &bench) {
            Some(reason) => checks.push(CheckResult::skipped(check, "", reason)),
            None => {
                let results = make(check, &mut bench);
                // A check that an interrupt cut short says nothing about the service.
                if signals::received().is_some() {
                    checks.push(CheckResult::skipped(check, "", INTERRUPTED));
                    continue;
                }
                checks.extend(results.into_iter().map(|result| weigh(result, contract, options)));
                checks.extend(walk::not_asked(check, contract));
            }
        }
    }
    Transcript { contract: contract.name.clone(), checks }
}

/// The check `end`: evaluates how the service ended, as seen by the caller.
pub fn ended(contract: &Contract, options: &VerifyOptions, end: Result<(), String>) -> CheckResult {
    if contract.level(CheckId::End) == CheckLevel::Skip {
        return CheckResult::skipped(CheckId::End, "", "the contract says skip");
    }
    let tried = end.map(|()| None).map_err(Failure::without_wire);
    weigh(CheckResult::of(CheckId::End, "the process", tried), contract, options)
}

fn make(check: CheckId, bench: &mut Bench<'_>) -> Vec<CheckResult> {
    match check {
        CheckId::Response => response::response(bench),
        CheckId::Fresh => fresh::fresh(bench),
        CheckId::Fragments => fragments::fragments(bench),
        CheckId::RequestForms => forms::request_forms(bench),
        CheckId::Pipelined => connection::pipelined(bench),
        CheckId::KeepAlive => connection::keep_alive(bench),
        CheckId::ConnectionClose => connection::connection_close(bench),
        CheckId::Http10 => connection::http_1_0(bench),
        CheckId::Head => response::head(bench),
        CheckId::NotFound => refusal::not_found(bench),
        CheckId::WrongMethod => refusal::wrong_method(bench),
        CheckId::BadInput => refusal::bad_input(bench),
        CheckId::Date => date::date(bench),
        CheckId::Tls => tls::tls(bench),
        CheckId::Alpn => tls::alpn(bench),
        CheckId::H2cOnly => http2::h2c_only(bench),
        CheckId::H2Settings => http2::settings(bench),
        CheckId::H2Headers => http2::headers(bench),
        CheckId::H2Authority => http2::authority(bench),
        CheckId::H2Streams => http2::streams(bench),
        CheckId::H2Trailers => http2::trailers(bench),
        CheckId::Alive => response::alive(bench),
        // The caller that starts and stops the service runs these.
        CheckId::Backing | CheckId::End | CheckId::H2Goaway => Vec::new(),
    }
}

fn reason_to_skip(check: CheckId, bench: &Bench<'_>) -> Option<&'static str> {
    if signals::received().is_some() {
        return Some(INTERRUPTED);
    }
    let not_of_a_reference = [
        CheckId::ConnectionClose,
        CheckId::Http10,
        CheckId::Head,
        CheckId::NotFound,
        CheckId::WrongMethod,
        CheckId::BadInput,
    ];
    if bench.contract.level(check) == CheckLevel::Skip {
        return Some("the contract says skip");
    }
    if matches!(check, CheckId::Tls | CheckId::Alpn) && bench.options.channel.certificates().is_none() {
        return Some("it shows a certificate that Tare did not give it");
    }
    if bench.options.style_is_reference && not_of_a_reference.contains(&check) {
        return Some("not asked of a reference");
    }
    if bench.options.closes_connections && matches!(check, CheckId::Pipelined | CheckId::KeepAlive) {
        return Some("the manifest says that it closes each connection");
    }
    if check.is_of_http1() && bench.options.channel.protocol.is_http2() {
        return Some("of HTTP/1.1 alone");
    }
    if bench.unreachable {
        return Some("nothing accepts connections");
    }
    // `fresh` may find labels with an answer although `response` found none; these explain missing answers.
    let needs_an_answer = !matches!(
        check,
        CheckId::Response
            | CheckId::Fresh
            | CheckId::Tls
            | CheckId::Alpn
            | CheckId::H2Settings
            | CheckId::H2Headers
    );
    (needs_an_answer && bench.load().is_empty()).then_some("no request of the load was answered")
}

/// The severity of a failure, from the contract and the manifest's known failures.
fn weigh(mut result: CheckResult, contract: &Contract, options: &VerifyOptions) -> CheckResult {
    let CheckOutcome::Fail(reason) = &result.outcome else { return result };
    if contract.level(result.check) == CheckLevel::Warn {
        result.outcome = CheckOutcome::Warn(reason.clone());
    } else if let Some((_, why)) = options.known_failures.iter().find(|(check, _)| *check == result.check) {
        result.outcome = CheckOutcome::Warn(format!("{reason} (known failure: {why})"));
    }
    result
}
