//! Splits a URL into the two parts that a contract needs. It resolves nothing.

use tare_base::percent::encoded;

/// Splits `http://host:1/a?b#c` into `http://host:1` and `/a?b`; absent for another scheme or without a host.
/// Characters that a request must not contain, such as a space, are percent-encoded.
pub(super) fn origin_and_path(url: &str) -> Option<(&str, String)> {
    let scheme = ["http://", "https://"].into_iter().find(|scheme| starts_with(url, scheme))?;
    let rest = &url[scheme.len()..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let sendable = |character: char| match character.is_ascii_graphic() {
        true => character.to_string(),
        false => encoded(character.encode_utf8(&mut [0; 4])),
    };
    let path = format!("{slash}{}", path.chars().map(sendable).collect::<String>());
    (!authority.is_empty()).then(|| (&url[..scheme.len() + end], path))
}

fn starts_with(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_an_origin_and_a_path() {
        for (url, origin, path) in [
            ("http://a:1/b?c=d#e", "http://a:1", "/b?c=d"),
            ("HTTPS://a", "HTTPS://a", "/"),
            ("http://a?b", "http://a", "/?b"),
            ("https://a#b", "https://a", "/"),
            ("http://a/b c?é=%20|[", "http://a", "/b%20c?%C3%A9=%20|["),
        ] {
            assert_eq!(origin_and_path(url), Some((origin, path.to_owned())), "{url}");
        }
        for url in ["ftp://a/", "http://", "http:///b", "/a", "é", ""] {
            assert_eq!(origin_and_path(url), None, "{url}");
        }
    }
}
