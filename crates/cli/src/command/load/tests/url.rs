//! URLs, right and wrong.

use insta::assert_snapshot;

use super::super::url::*;

#[test]
fn urls_of_curl_and_wrk() {
    let check = |text: &str, host: &str, port: u16, authority: &str, path: &str| {
        let (host, authority, path) = (host.to_owned(), authority.to_owned(), path.to_owned());
        assert_eq!(parse(text).unwrap(), Url { host, port, authority, path }, "{text}");
    };
    check("http://127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1:8080", "/");
    check("HTTP://localhost/a/b?c=d&e#f", "localhost", 80, "localhost", "/a/b?c=d&e");
    check("localhost:8080/x", "localhost", 8080, "localhost:8080", "/x");
    check("http://a?b", "a", 80, "a", "/?b");
    check("http://a?b@c:d", "a", 80, "a", "/?b@c:d");
    check("http://[::1]:81/", "::1", 81, "[::1]:81", "/");
    check("[::1]", "::1", 80, "[::1]", "/");
}

#[test]
fn mistakes_are_one_sentence() {
    let refusal = |text: &str| parse(text).unwrap_err().to_string();
    assert_snapshot!(refusal("https://localhost/"), @"https is not spoken here: name the server's port for plain http");
    assert_snapshot!(refusal("ftp://localhost/"), @r#"the scheme "ftp" is not http"#);
    assert_snapshot!(refusal("http:///x"), @r#""http:///x" names no host: give a URL such as http://127.0.0.1:8080/"#);
    assert_snapshot!(refusal(""), @r#""" names no host: give a URL such as http://127.0.0.1:8080/"#);
    assert_snapshot!(refusal(":8080"), @r#"":8080" names no host: give a URL such as http://127.0.0.1:8080/"#);
    assert_snapshot!(refusal("http://a b/"), @r#""a b" is not the name of a host: give a URL such as http://127.0.0.1:8080/"#);
    assert_snapshot!(refusal("http://me:secret@localhost/"), @r#"user and password do not go into the URL here: send them by -H "Authorization: Basic ...""#);
    assert_snapshot!(refusal("http://localhost:http/"), @r#"":http" is not a port: give one from 1 to 65535"#);
    assert_snapshot!(refusal("http://localhost:0/"), @r#"":0" is not a port: give one from 1 to 65535"#);
    assert_snapshot!(refusal("http://localhost:65536"), @r#"":65536" is not a port: give one from 1 to 65535"#);
    assert_snapshot!(refusal("http://::1/"), @r#""::1" has several colons: put an IPv6 address in brackets, such as http://[::1]:8080/"#);
    assert_snapshot!(refusal("http://[::1/"), @r#"the address after "[" has no "]""#);
    assert_snapshot!(refusal("http://[localhost]/"), @r#""localhost" is not an IPv6 address: in brackets stands one such as [::1]"#);
    assert_snapshot!(refusal("localhost/a b"), @"the path has the character ' ': write it percent-encoded, such as %20 for a space");
    assert_snapshot!(refusal("localhost/ä\r\n"), @"the path has the character 'ä': write it percent-encoded, such as %20 for a space");
}
