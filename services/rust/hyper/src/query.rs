//! Queries of requests.

use std::borrow::Cow;

/// The first value of this name in a query.
pub fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<Cow<'a, str>> {
    let mut parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    parameters.find(|(key, _)| key == name).map(|(_, value)| value)
}
