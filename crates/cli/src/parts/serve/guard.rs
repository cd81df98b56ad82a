//! Restricts requests, and sets the headers of every response. A page from elsewhere in a browser on this
//! machine can send requests to 127.0.0.1 too, and can point a host name of its own here (DNS rebinding). It
//! must learn nothing.

use std::sync::LazyLock;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tare_report::write::html;

/// Headers of every response, in addition to the policy.
const ALWAYS: [(&str, &str); 6] = [
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

/// The policy of the page, as a header that the page cannot override; no other page may embed it.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!("{}; frame-ancestors 'none'", *html::SERVED);
    HeaderValue::try_from(policy).expect("it is of ASCII")
});

/// The host names under which this server accepts requests.
#[derive(Debug, Clone)]
pub(super) struct Hosts(Vec<String>);

impl Hosts {
    pub(super) fn new(port: u16) -> Hosts {
        let names = ["127.0.0.1", "localhost"];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        // A browser omits the default port.
        if port == 80 {
            hosts.extend(names.map(str::to_owned));
        }
        Hosts(hosts)
    }

    /// Why a request is refused, if it is.
    fn refuses(&self, method: &Method, headers: &HeaderMap) -> Option<(StatusCode, String)> {
        if ![Method::GET, Method::HEAD].contains(method) {
            return Some((
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET and HEAD: there is nothing to change".to_owned(),
            ));
        }
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return Some((StatusCode::BAD_REQUEST, "exactly one Host header is needed".to_owned()));
        };
        let is_known = |known: &String| host.as_bytes().eq_ignore_ascii_case(known.as_bytes());
        let sentence = || format!("not asked by its own name; open http://{}/", self.0[0]);
        (!self.0.iter().any(is_known)).then(|| (StatusCode::MISDIRECTED_REQUEST, sentence()))
    }
}

pub(super) async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut response = match hosts.refuses(request.method(), request.headers()) {
        Some((status, sentence)) => refusal(status, &sentence),
        None => next.run(request).await,
    };
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
    for (name, value) in ALWAYS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A sentence as plain text.
pub(super) fn refusal(status: StatusCode, sentence: &str) -> Response {
    (status, format!("{sentence}\n")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(port: u16, method: &Method, hosts: &[&str]) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
        }
        Hosts::new(port).refuses(method, &headers).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_its_own_names_are_served() {
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"] {
            assert_eq!(status(8080, &Method::GET, &[host]), None, "{host}");
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost",
            "[::1]:8080",
            "127.0.0.1:8080.evil.example",
            "",
        ] {
            assert_eq!(status(8080, &Method::GET, &[host]), Some(421), "{host}");
        }
        assert_eq!(status(80, &Method::GET, &["localhost"]), None);
        assert_eq!(status(8080, &Method::GET, &[]), Some(400));
        assert_eq!(status(8080, &Method::GET, &["localhost:8080", "evil.example"]), Some(400));
    }

    #[test]
    fn the_policy_names_what_the_page_has_and_allows_nothing_else_that_is_inline() {
        let policy = POLICY.to_str().unwrap();
        assert!(policy.starts_with(html::SERVED.as_str()) && policy.ends_with("; frame-ancestors 'none'"));
        assert!(policy.contains("script-src 'sha256-") && policy.contains("style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }

    #[test]
    fn nothing_can_be_changed() {
        assert_eq!(status(8080, &Method::HEAD, &["localhost:8080"]), None);
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
            assert_eq!(status(8080, &method, &["localhost:8080"]), Some(405), "{method}");
        }
    }
}
