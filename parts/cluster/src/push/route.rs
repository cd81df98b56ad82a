//! The requests, as methods and paths.

use std::fmt;

/// The longest valid path.
const PATH_BYTES_MAX: usize = 400;
/// The longest name of a pod.
const ATTEMPT_BYTES_MAX: usize = 253;
const CERTIFICATE_DIGITS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Put,
}

impl Verb {
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Put => "PUT",
        }
    }
}

/// The subject of a request. A job is its position in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushRoute {
    Job { position: usize },
    Attempt { position: usize, attempt: String },
    Bundle { position: usize, attempt: String },
    ReadCertificate { name: String },
    Certificate { name: String },
}

impl PushRoute {
    /// Parses a route; `None` if there is no such request. Each has exactly one spelling.
    pub fn parse(verb: &str, path: &str) -> Option<PushRoute> {
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        let parts: Vec<&str> = path.strip_prefix("/v1/")?.split('/').collect();
        let position = |text: &str| {
            let position = text.parse::<usize>().ok()?;
            (position.to_string() == text).then_some(position)
        };
        Some(match (verb, &parts[..]) {
            ("GET", ["jobs", place]) => PushRoute::Job { position: position(place)? },
            ("PUT", ["jobs", place, "attempts", attempt]) if is_attempt(attempt) => {
                PushRoute::Attempt { position: position(place)?, attempt: (*attempt).to_owned() }
            }
            ("PUT", ["jobs", place, "bundles", attempt]) if is_attempt(attempt) => {
                PushRoute::Bundle { position: position(place)?, attempt: (*attempt).to_owned() }
            }
            ("GET", ["certificates", name]) if is_certificate(name) => {
                PushRoute::ReadCertificate { name: (*name).to_owned() }
            }
            ("PUT", ["certificates", name]) if is_certificate(name) => {
                PushRoute::Certificate { name: (*name).to_owned() }
            }
            _ => return None,
        })
    }

    pub fn verb(&self) -> Verb {
        match self {
            PushRoute::Job { .. } | PushRoute::ReadCertificate { .. } => Verb::Get,
            PushRoute::Attempt { .. } | PushRoute::Bundle { .. } | PushRoute::Certificate { .. } => Verb::Put,
        }
    }
}

impl fmt::Display for PushRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PushRoute::Job { position } => write!(f, "/v1/jobs/{position}"),
            PushRoute::Attempt { position, attempt } => write!(f, "/v1/jobs/{position}/attempts/{attempt}"),
            PushRoute::Bundle { position, attempt } => write!(f, "/v1/jobs/{position}/bundles/{attempt}"),
            PushRoute::ReadCertificate { name } | PushRoute::Certificate { name } => {
                write!(f, "/v1/certificates/{name}")
            }
        }
    }
}

/// Whether the text is a valid name of an attempt; it becomes part of a path.
pub fn is_attempt(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    text.len() <= ATTEMPT_BYTES_MAX
        && text.bytes().all(is_plain)
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// The same for the name of a batch.
pub fn is_batch(text: &str) -> bool {
    is_attempt(&text.replace('_', "-"))
}

fn is_certificate(text: &str) -> bool {
    text.len() == CERTIFICATE_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_one_spelling() {
        let attempt = || "17-3.0".to_owned();
        let routes = [
            PushRoute::Job { position: 0 },
            PushRoute::Attempt { position: 17, attempt: attempt() },
            PushRoute::Bundle { position: usize::MAX, attempt: attempt() },
            PushRoute::ReadCertificate { name: "0123456789abcdef".to_owned() },
            PushRoute::Certificate { name: "0123456789abcdef".to_owned() },
        ];
        for route in routes {
            let path = route.to_string();
            assert_eq!(PushRoute::parse(route.verb().as_str(), &path), Some(route.clone()));
            let other = if route.verb() == Verb::Get { "PUT" } else { "GET" };
            assert_ne!(PushRoute::parse(other, &path), Some(route));
            assert_eq!(PushRoute::parse("DELETE", &path), None);
        }
    }

    #[test]
    fn what_leads_elsewhere_is_no_request() {
        for path in [
            "",
            "/",
            "/v1/jobs",
            "/v1/jobs/",
            "/v1/jobs/01",
            "/v1/jobs/+1",
            "/v1/jobs/-1",
            "/v1/jobs/99999999999999999999",
            "/v1/jobs/1/bundles",
            "/v1/jobs/1/bundles/",
            "/v1/jobs/1/bundles/..",
            "/v1/jobs/1/bundles/.x",
            "/v1/jobs/1/bundles/a%2fb",
            "/v1/jobs/1/bundles/a/b",
            "/v1/jobs/1/bundles/a?x",
            "/v1/certificates/0123",
            "/v1/certificates/../../etc/pass",
            "/v2/jobs/1",
        ] {
            assert_eq!(
                (PushRoute::parse("PUT", path), PushRoute::parse("GET", path)),
                (None, None),
                "{path}"
            );
        }
        assert_eq!(PushRoute::parse("PUT", &format!("/v1/jobs/1/bundles/{}", "a".repeat(300))), None);
    }
}
