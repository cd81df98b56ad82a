//! Only this machine may be loaded.

use std::path::Path;

use insta::assert_snapshot;
use tare_base::Endpoint;

use super::super::{url, *};

fn refusal(text: &str, may_load: Option<&str>) -> String {
    endpoints(&url::parse(text).unwrap(), None, may_load).unwrap_err().to_string()
}

#[test]
fn only_this_machine_is_loaded_unasked() {
    assert_snapshot!(refusal("http://192.0.2.1/", None), @"192.0.2.1 is not this machine: load only what is yours; if you may, use --i-may-load 192.0.2.1");
    assert_snapshot!(refusal("http://[2001:db8::1]:80/", None), @"2001:db8::1 is not this machine: load only what is yours; if you may, use --i-may-load 2001:db8::1");
    assert_snapshot!(refusal("http://192.0.2.1/", Some("192.0.2.2")), @r#"--i-may-load names "192.0.2.2", but the URL's host is "192.0.2.1": both must be the same"#);
    for foreign in ["255.255.255.255", "224.0.0.1", "ff02::1", "::ffff:192.0.2.1"] {
        assert!(!is_here(foreign.parse().unwrap()), "{foreign}");
    }
    for own in ["127.0.0.1", "127.9.8.7", "0.0.0.0", "::1", "::ffff:127.0.0.1"] {
        assert!(is_here(own.parse().unwrap()), "{own}");
    }
    let url = url::parse("http://192.0.2.1:81/").unwrap();
    let allowed = endpoints(&url, None, Some("192.0.2.1")).unwrap();
    assert_eq!(allowed, [Endpoint::Tcp("192.0.2.1:81".parse().unwrap())]);
    let unix = endpoints(&url, Some(Path::new("/x")), None).unwrap();
    assert_eq!(unix, [Endpoint::Unix("/x".into())], "the host is not even looked at");
}

#[test]
fn sources_must_be_here_and_fit() {
    let target = |text: &str| [Endpoint::Tcp(text.parse().unwrap())];
    let refusal = |source: &str, text: &str| {
        check_sources(&[source.parse().unwrap()], &target(text)).unwrap_err().to_string()
    };
    check_sources(&["127.0.0.9".parse().unwrap()], &target("127.0.0.1:80")).unwrap();
    assert_snapshot!(refusal("192.0.2.7", "127.0.0.1:80"), @"the source 192.0.2.7 is not an address of this machine");
    assert_snapshot!(refusal("127.0.0.9", "[::1]:80"), @"the source 127.0.0.9 and the target [::1]:80 are of different kinds: give both as IPv4 or as IPv6");
}

#[test]
fn nothing_that_listens_is_said_so() {
    let gone = [Endpoint::Tcp("127.0.0.1:1".parse().unwrap())];
    let refusal = reachable(&gone, std::time::Duration::from_secs(1)).unwrap_err().to_string();
    assert_snapshot!(refusal, @"nothing listens on 127.0.0.1:1: start the server first");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let here = Endpoint::Tcp(listener.local_addr().unwrap());
    let both = [gone[0].clone(), here.clone()];
    assert_eq!(reachable(&both, std::time::Duration::from_secs(1)).unwrap(), here);
}
