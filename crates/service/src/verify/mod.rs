//! Proves a running service against a contract, before it is measured and again afterwards.
//!
//! [`verify`] sends requests, evaluates the answers and returns a [`Transcript`]; its caller starts the service and prints
//! the transcript.
//! All of it happens in the calling thread, so that a thread that has entered a network namespace verifies what is in
//! there. Nothing waits without a deadline.

mod backing;
mod bench;
mod connection;
mod date;
mod escape;
mod farewell;
mod forms;
mod fragments;
mod frames;
mod fresh;
mod http2;
mod judge;
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

pub use sent::{Field, Framing, Sent, sent};
pub use text::counts;
pub use transcript::{CheckResult, Outcome, Transcript, Wire};

pub(crate) use backing::backing;
pub(crate) use escape::quote;
pub(crate) use farewell::Farewell;
pub(crate) use judge::difference;

use crate::client::Channel;
pub use crate::contract::CheckId;
use crate::contract::{Contract, Level};
use bench::Bench;
use tare_host::signals;
use tare_load::Endpoint;
use transcript::Failure;

/// What is known of the service beforehand, and how patient verify is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Determines the values of placeholders. Two runs with one seed send the same bytes.
    pub seed: u64,
    /// A reference sends one fixed response, so it is not asked what it cannot know.
    pub style_is_reference: bool,
    /// The manifest says `keeps-connections = false`: each answer must announce `Connection: close`, and close it.
    pub closes_connections: bool,
    /// Checks that the manifest lists as known failures, with the reason: such a failure is a warning.
    pub known_failures: Vec<(CheckId, String)>,
    /// What requests name as their `Host`; absent: the address.
    pub host: Option<String>,
    /// In which protocol the service is asked.
    pub channel: Channel,
    pub timeouts: Timeouts,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Timeouts {
    /// For a connection to be accepted.
    pub connect: Duration,
    /// For a whole answer, and for a connection to be closed.
    pub answer: Duration,
    /// The same, once the service has let verify wait in vain twice.
    pub after_silence: Duration,
    /// Between two segments of a cut request, so that the service reads the first alone.
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

impl Options {
    /// Nothing special is known of the service, and the timeouts are those for an idle machine.
    pub fn new(seed: u64) -> Options {
        Options { seed, ..Options::default() }
    }

    /// The service takes this long for an answer (`DELAY_MS`).
    pub fn allow(&mut self, delay: Duration) {
        self.timeouts.answer += delay;
        self.timeouts.after_silence += delay;
    }
}

/// Why a check was not made that would have been.
const INTERRUPTED: &str = "interrupted";

/// Asks the service at `target` everything that `contract` demands. How it ends is not seen here: [`ended`].
pub fn verify(contract: &Contract, target: &Endpoint, options: &Options) -> Transcript {
    verify_only(contract, target, options, CheckId::ALL)
}

/// Makes only some of the checks: what is worth asking again after a load.
pub fn verify_only(
    contract: &Contract,
    target: &Endpoint,
    options: &Options,
    only: &[CheckId],
) -> Transcript {
    let mut bench = Bench::new(contract, target, options);
    let mut checks = Vec::new();
    let protocol = options.channel.protocol;
    let is_made = |check: &&CheckId| {
        // These are made by who starts and stops the service.
        check.concerns(protocol) && !matches!(check, CheckId::Backing | CheckId::End | CheckId::H2Goaway)
    };
    for &check in only.iter().filter(is_made) {
        bench.patience.begin(options.known_failures.iter().any(|(known, _)| *known == check));
        match reason_to_skip(check, &bench) {
            Some(reason) => checks.push(CheckResult::skipped(check, "", reason)),
            None => {
                let results = make(check, &mut bench);
                // What came to no end because the user wanted so says nothing about the service.
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

/// The check `end`: what the caller saw who stopped the service, and whether it was as it should be.
pub fn ended(contract: &Contract, options: &Options, end: Result<(), String>) -> CheckResult {
    if contract.level(CheckId::End) == Level::Skip {
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
        // Made by who starts and stops the service.
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
    if bench.contract.level(check) == Level::Skip {
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
    // `fresh` may find which labels are answered, where `response` met another; and these say why nothing is.
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

/// The severity of a failure follows from the contract and from the known failures of the manifest.
fn weigh(mut result: CheckResult, contract: &Contract, options: &Options) -> CheckResult {
    let Outcome::Fail(reason) = &result.outcome else { return result };
    if contract.level(result.check) == Level::Warn {
        result.outcome = Outcome::Warn(reason.clone());
    } else if let Some((_, why)) = options.known_failures.iter().find(|(check, _)| *check == result.check) {
        result.outcome = Outcome::Warn(format!("{reason} (known failure: {why})"));
    }
    result
}
