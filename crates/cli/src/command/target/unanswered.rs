//! Explains why a server does not answer, with advice in terms of each command's options.

use std::time::Duration;
use tare_base::units::several;

use anyhow::anyhow;
use tare_base::Endpoint;
use tare_load::{
    OpenError, Protocol, TlsClient, TlsError, TlsObstacle, TlsVersion,
    http1::{ParseError, Progress},
};
use tare_service::client::{AskError, BEGIN_HTTP, Channel, Spoken, Trusts, spoken_instead};

const ANY: &str = "accept any certificate by -k";

/// The command, whose options may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// `tare load`, which has `--timeout` and `--no-check`.
    Load,
    Other,
}

impl Asker {
    /// Why `name` did not get an answer from this endpoint over this channel.
    pub(crate) fn reason(
        self,
        name: &str,
        endpoint: &Endpoint,
        channel: &Channel,
        error: &AskError,
    ) -> String {
        let unanswered = format!("{name} has no answer from {endpoint}");
        if let Some(reason) = spoken_instead(endpoint, channel, error) {
            return format!("{unanswered}: {reason}");
        }
        match error {
            AskError::NotHttp(malformed) => match malformed.error {
                ParseError::LeftOver { .. } => format!(
                    "{name} is answered by {endpoint} with more than an answer, which a load would refuse: {malformed}"
                ),
                ParseError::HeadTooLong | ParseError::TooManyHeaders | ParseError::BodyTooLong { .. } => {
                    format!("{unanswered} that can be read: {malformed}")
                }
                _ => format!("{unanswered} that is HTTP/1.1: {malformed}"),
            },
            AskError::Tls(error) => match &channel.trusts {
                Trusts::Own(client) => of_tls(endpoint, channel.protocol, client, error),
                Trusts::Run(_) | Trusts::Nothing => format!("no TLS connection to {endpoint}: {error}"),
            },
            AskError::Closed | AskError::Io(_) => match &channel.trusts {
                Trusts::Own(client) if client.has_certificate() => {
                    format!(
                        "{unanswered}: {error}; perhaps the server does not accept the client certificate"
                    )
                }
                Trusts::Own(_) => {
                    format!("{unanswered}: {error}; perhaps the server asks for a client certificate")
                }
                Trusts::Run(_) | Trusts::Nothing => format!("{unanswered}: {error}"),
            },
            AskError::TooLate { within, bytes, progress } => {
                unanswered + &self.too_late(*within, *bytes, *progress)
            }
            AskError::TooLong | AskError::Announced(_) => match self {
                Asker::Load => {
                    format!("{unanswered}: {error}; load it without a look at answers by --no-check")
                }
                Asker::Other => format!("{unanswered}: {error}"),
            },
            error => format!("{unanswered}: {error}"),
        }
    }

    fn too_late(self, within: Duration, bytes: usize, progress: Option<Progress>) -> String {
        let more_time = match self {
            Asker::Load => "; if it only needs more time, give it more by --timeout",
            Asker::Other => "",
        };
        match progress {
            Some(progress @ Progress::Body { announced: None, .. }) => format!(
                " that ends within {within:?}: {progress}; what has no end, such as a stream of events, cannot be \
                 measured{more_time}"
            ),
            Some(progress @ (Progress::Head { .. } | Progress::Body { .. })) => {
                format!(" that is whole within {within:?}: {progress}{more_time}")
            }
            None if bytes > 0 => {
                let came = several(bytes, "byte");
                format!(" within {within:?}, in which {came} came{more_time}")
            }
            None | Some(Progress::Nothing) if self == Asker::Load => {
                format!(" within {within:?}: give it more by --timeout")
            }
            None | Some(Progress::Nothing) => format!(" within {within:?}"),
        }
    }
}

/// Why a load could not open its connections.
pub(crate) fn of_open(error: OpenError, protocol: Protocol, client: Option<&TlsClient>) -> anyhow::Error {
    match (&error.tls_error, client) {
        (Some(of), Some(client)) => anyhow!(
            "only {} of {} connections to {} are open: {}",
            error.open,
            error.total,
            error.target,
            of_tls(&error.target, protocol, client, of)
        ),
        _ => error.into(),
    }
}

/// Why a TLS connection failed, and advice.
fn of_tls(endpoint: &Endpoint, protocol: Protocol, client: &TlsClient, error: &TlsError) -> String {
    if error.obstacle() == TlsObstacle::Protocol {
        return match protocol.is_http2() {
            true => format!(
                "the server at {endpoint} does not offer HTTP/2 over TLS: leave out --h2 for HTTP/1.1, or try --h2c on a port \
                 without TLS ({error})"
            ),
            false => {
                format!(
                    "the server at {endpoint} does not offer HTTP/1.1 over TLS: add --h2 for HTTP/2 ({error})"
                )
            }
        };
    }
    let fix = fix(client, protocol, error).map(|fix| format!("; {fix}")).unwrap_or_default();
    format!("no TLS connection to {endpoint}: {error}{fix}")
}

fn fix(client: &TlsClient, protocol: Protocol, error: &TlsError) -> Option<String> {
    const CERTIFICATE: &str = "by --cert FILE and --key FILE";
    let is_1_3 = client.version() == TlsVersion::Tls13;
    Some(match error.obstacle() {
        TlsObstacle::NotTls => match error {
            TlsError::NotTls { got } if Spoken::of(got) == Some(Spoken::Http2) => {
                format!("{BEGIN_HTTP}, with --h2c")
            }
            _ if protocol.is_http2() => format!("{BEGIN_HTTP}, and leave out --h2"),
            _ => BEGIN_HTTP.to_owned(),
        },
        TlsObstacle::Silence => format!("if the port does not speak TLS, {BEGIN_HTTP}"),
        TlsObstacle::Version if is_1_3 => {
            "TLS 1.3 is spoken unless another is asked for: for a server that speaks TLS 1.2 alone add --tls-max 1.2"
                .to_owned()
        }
        TlsObstacle::Version => "leave out --tls-max for TLS 1.3".to_owned(),
        TlsObstacle::Unclear if is_1_3 => {
            format!("if it speaks TLS 1.2 alone, add --tls-max 1.2; if it asks for a client certificate, give one {CERTIFICATE}")
        }
        TlsObstacle::Unclear => format!("if it asks for a client certificate, give one {CERTIFICATE}"),
        TlsObstacle::NoClientCertificate => format!("give one {CERTIFICATE}"),
        TlsObstacle::ClientCertificate if client.has_certificate() => {
            format!("give one of an authority that the server trusts, {CERTIFICATE}")
        }
        TlsObstacle::ClientCertificate => format!("if it asks for a client certificate, give one {CERTIFICATE}"),
        TlsObstacle::Date => format!("give the server a new certificate, look at the clock of this machine, or {ANY}"),
        TlsObstacle::Name => {
            format!("name the server in the URL as its certificate does, give it a certificate for this name, or {ANY}")
        }
        TlsObstacle::UnknownName => "name the server in the URL as it calls itself".to_owned(),
        TlsObstacle::Authority => format!("give its authority by --cacert FILE, or {ANY}"),
        TlsObstacle::SelfSigned => format!("give this certificate by --cacert FILE, or {ANY}"),
        TlsObstacle::Certificate => ANY.to_owned(),
        TlsObstacle::Protocol | TlsObstacle::Other => return None,
    })
}
