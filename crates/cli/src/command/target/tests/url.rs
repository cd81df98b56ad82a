//! URLs, right and wrong.

use insta::assert_snapshot;

use super::super::url::*;

#[test]
fn urls_of_curl_and_wrk() {
    let check = |text: &str, host: &str, port: u16, authority: &str, path: &str| {
        let (host, authority, path) = (host.to_owned(), authority.to_owned(), path.to_owned());
        assert_eq!(parse(text).unwrap(), Url { scheme: Scheme::Http, host, port, authority, path }, "{text}");
    };
    check("http://127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1:8080", "/");
    check("HTTP://localhost/a/b?c=d&e#f", "localhost", 80, "localhost", "/a/b?c=d&e");
    check("localhost:8080/x", "localhost", 8080, "localhost:8080", "/x");
    check("http://a?b", "a", 80, "a", "/?b");
    check("http://a?b@c:d", "a", 80, "a", "/?b@c:d");
    check("http://[::1]:81/", "::1", 81, "[::1]:81", "/");
    check("[::1]", "::1", 80, "[::1]", "/");
    let secured = parse("https://localhost/a").unwrap();
    assert_eq!(
        (secured.scheme, secured.port, secured.to_string().as_str()),
        (Scheme::Https, 443, "https://localhost/a")
    );
    assert!(!secured.is_beside(&parse("http://localhost:443/").unwrap()));
}

#[test]
fn mistakes_are_one_sentence() {
    let refusal = |text: &str| parse(text).unwrap_err().to_string();
    assert_snapshot!(parse("unix://x/").unwrap_err().to_string(), @"a Unix socket is named by --unix PATH, and its URL gives Host and path: --unix PATH http://localhost/");
    assert_snapshot!(refusal("ftp://localhost/"), @r#"the scheme "ftp" is neither http nor https"#);
    assert_snapshot!(refusal("localhost/\u{e4}\r\n"), @r#""localhost/ä\r\n" is not a URL: give one such as http://127.0.0.1:8080/ or http://[::1]:8080/, with what is neither a letter nor a digit percent-encoded"#);
    for wrong in ["http:///x", "", ":8080", "http://a b/", "http://::1/", "http://[::1/", "localhost/a b"] {
        assert!(refusal(wrong).contains("is not a URL: give one such as"), "{wrong}");
    }
    assert_snapshot!(refusal("http://me:secret@localhost/"), @r#"user and password are not taken from the URL: send them by -H "Authorization: Basic ...""#);
    for wrong in ["http", "0", "65536"] {
        assert_eq!(
            refusal(&format!("http://localhost:{wrong}/")),
            format!("\"{wrong}\" is not a port: give one from 1 to 65535")
        );
    }
    assert_snapshot!(refusal("http://[localhost]/"), @r#""localhost" is not an IPv6 address such as [::1]"#);
}
