//! The outcomes of handshakes: agreed, resumed or refused, with the reason.

use rustls::crypto::aws_lc_rs::{cipher_suite, kx_group};

use super::*;
use crate::tls_error::TlsObstacle;

fn negotiated(pair: &Pair) -> &Negotiated {
    let [(negotiated, 1)] = &pair.client.tls().unwrap().negotiated[..] else {
        panic!("{:?}", pair.client.tls())
    };
    negotiated
}

#[test]
fn each_suite_is_spoken() {
    let suites = [
        (cipher_suite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256"),
        (cipher_suite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384"),
        (cipher_suite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256"),
    ];
    for (suite, name) in suites {
        let provider = CryptoProvider { cipher_suites: vec![suite], ..aws_lc_rs::default_provider() };
        let mut pair = Pair::open(server_config(provider), options());
        assert_eq!((negotiated(&pair).version.as_str(), negotiated(&pair).suite.as_str()), ("TLSv1.3", name));
        pair.upload = text(40_000);
        pair.server_says(&text(50_000));
        pair.settle();
        assert!(pair.text == text(50_000) && pair.server_text == text(40_000), "{name}");
    }
}

/// A server that requires a client certificate, and trusts only its own.
fn asking(version: &'static rustls::SupportedProtocolVersion) -> ServerConfig {
    let (certificate, key) = identity();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier =
        rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(vec![certificate.clone()], key.clone_key())
        .unwrap()
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_it_or_says_that_none_came() {
    let (certificate, key) = identity();
    let shown = ClientCertificate { chain: vec![certificate.clone()], key: Arc::new(key.clone_key()) };
    for (supported, version) in
        [(&rustls::version::TLS12, TlsVersion::Tls12), (&rustls::version::TLS13, TlsVersion::Tls13)]
    {
        let options = |certificate| TlsOptions { version, certificate, ..options() };
        let mut pair = Pair::open(asking(supported), options(Some(shown.clone())));
        assert!(negotiated(&pair).client_certificate);
        assert!(negotiated(&pair).to_string().ends_with(", with a client certificate"));
        pair.server_says(b"hello");
        pair.settle();
        assert_eq!(pair.text, b"hello", "{version:?}");
        let mut pair = Pair::new(asking(supported), options(None));
        pair.connect();
        let error = pair.error().expect("an alert");
        assert!(
            error.to_string().contains("it asks for a client certificate, and none was given"),
            "{error}"
        );
        assert_eq!(error.obstacle(), TlsObstacle::NoClientCertificate, "{version:?}");
    }
    let other = rcgen::KeyPair::generate().unwrap().serialize_der();
    let unequal = ClientCertificate { key: Arc::new(PrivateKeyDer::Pkcs8(other.into())), ..shown };
    let refused = TlsClient::new(TlsOptions { certificate: Some(unequal), ..options() }).unwrap_err();
    assert!(matches!(refused, TlsError::Identity(_)), "{refused}");
}

#[test]
fn versions_that_do_not_meet_are_named() {
    for (supported, version) in
        [(&rustls::version::TLS12, TlsVersion::Tls13), (&rustls::version::TLS13, TlsVersion::Tls12)]
    {
        let config = server_config_of(aws_lc_rs::default_provider(), supported);
        let mut pair = Pair::new(config, TlsOptions { version, ..options() });
        pair.connect();
        let error = pair.error().unwrap();
        assert_eq!(error.obstacle(), TlsObstacle::Version, "{error}");
        assert!(error.to_string().contains("protocol_version (70)"), "{error}");
    }
}

#[test]
fn a_server_that_asks_for_another_group_gets_it() {
    let provider = CryptoProvider { kx_groups: vec![kx_group::SECP384R1], ..aws_lc_rs::default_provider() };
    let mut pair = Pair::open(server_config(provider), options());
    assert_eq!(negotiated(&pair).group.as_deref(), Some("secp384r1"));
    assert_eq!((pair.client.tls().unwrap().full, pair.client.tls().unwrap().resumed), (1, 0));
    pair.server_says(b"hello");
    pair.settle();
    assert_eq!(pair.text, b"hello");
}

#[test]
fn sessions_are_resumed_where_that_is_wanted() {
    for (resume, expected) in [(false, [(1, 0), (1, 0), (1, 0)]), (true, [(1, 0), (0, 1), (0, 1)])] {
        let client = Arc::new(TlsClient::new(TlsOptions { resume, ..options() }).unwrap());
        let config = Arc::new(ordinary());
        let handshakes = expected.map(|_| {
            let mut pair = Pair::of(&config, &client);
            pair.connect();
            pair.server_says(b"hello");
            pair.settle();
            assert_eq!(pair.text, b"hello");
            let tls = pair.client.tls().unwrap();
            (tls.full, tls.resumed)
        });
        assert_eq!(handshakes, expected, "resume: {resume}");
    }
}

#[test]
fn the_protocol_has_to_be_chosen() {
    // The client's offer, the server's protocols, and the choice or the failure.
    let not_chosen = |wanted: &str, chosen: Option<&str>| {
        Err(TlsError::Alpn { wanted: wanted.to_owned(), chosen: chosen.map(str::to_owned) })
    };
    type Case<'a> = (Option<&'static [u8]>, &'a [&'a [u8]], Result<Option<&'a str>, TlsError>);
    let table: [Case<'_>; 6] = [
        (Some(b"h2"), &[b"http/1.1", b"h2"], Ok(Some("h2"))),
        (Some(b"http/1.1"), &[b"h2", b"http/1.1"], Ok(Some("http/1.1"))),
        (Some(b"http/1.1"), &[], Ok(None)),
        (None, &[b"h2"], Ok(None)),
        (Some(b"h2"), &[], not_chosen("h2", None)),
        (
            Some(b"h2"),
            &[b"http/1.1"],
            Err(TlsError::Handshake(rustls::Error::AlertReceived(
                rustls::AlertDescription::NoApplicationProtocol,
            ))),
        ),
    ];
    for (alpn, known, expected) in table {
        let mut config = ordinary();
        config.alpn_protocols = known.iter().map(|name| name.to_vec()).collect();
        let mut pair = Pair::new(config, TlsOptions { alpn, ..options() });
        pair.connect();
        match expected {
            Ok(chosen) => {
                assert_eq!(pair.events, [Event::Connected { slot: 0 }], "{alpn:?}");
                assert_eq!(negotiated(&pair).alpn.as_deref(), chosen);
            }
            Err(error) => {
                assert_eq!(pair.events, [Event::ConnectFailed { slot: 0, failure: Failure::Tls }]);
                assert_eq!(pair.error(), Some(&error));
                assert_eq!(pair.client.tls().unwrap().full, 0);
            }
        }
    }
}

#[test]
fn a_certificate_that_is_not_trusted_or_of_another_name_is_refused() {
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap().cert.der().clone();
    let stranger = TlsOptions { trust: TlsTrust::Authorities(vec![other]), ..options() };
    let misnamed = TlsOptions { server_name: "example.org".to_owned(), ..options() };
    for (options, reason) in [
        (stranger.clone(), "is signed by itself, and is not trusted"),
        (misnamed.clone(), "is for localhost, and not for example.org"),
    ] {
        let mut pair = Pair::new(ordinary(), options);
        pair.connect();
        assert_eq!(pair.events, [Event::ConnectFailed { slot: 0, failure: Failure::Tls }]);
        let error = pair.error().unwrap().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(pair.server_failed, "the server is informed by an alert");
    }
    for options in [stranger, misnamed] {
        Pair::open(ordinary(), TlsOptions { trust: TlsTrust::Anything, ..options });
    }
}

#[test]
fn names_and_authorities_that_cannot_be_used_are_named() {
    let name = TlsClient::new(TlsOptions { server_name: "a b".to_owned(), ..options() }).unwrap_err();
    assert_eq!(name, TlsError::Name("a b".to_owned()));
    let trust = TlsTrust::Authorities(vec![CertificateDer::from(vec![1, 2, 3])]);
    assert!(matches!(TlsClient::new(TlsOptions { trust, ..options() }), Err(TlsError::Roots(_))));
}

#[test]
fn whoever_speaks_no_tls_fails_the_handshake() {
    for bytes in
        [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"SSH-2.0-OpenSSH\r\n", &[0; 100], &[0x17, 3, 3, 0, 1, 7]]
    {
        let mut pair = Pair::new(ordinary(), options());
        pair.client.connect(0, &Route::from(std::net::SocketAddr::from(([127, 0, 0, 1], 1)))).unwrap();
        pair.client_goes_on();
        pair.give(bytes);
        assert_eq!(pair.events, [Event::ConnectFailed { slot: 0, failure: Failure::Tls }], "{bytes:?}");
        let is_tls = bytes[0] == 0x17;
        assert_eq!(matches!(pair.error(), Some(TlsError::NotTls { .. })), !is_tls, "{:?}", pair.error());
    }
}

#[test]
fn a_close_in_the_handshake_is_a_failure_of_it() {
    let mut pair = Pair::new(ordinary(), options());
    pair.client.connect(0, &Route::from(std::net::SocketAddr::from(([127, 0, 0, 1], 1)))).unwrap();
    pair.client_goes_on();
    pair.client_wire().events.push_back(Event::Closed { slot: 0 });
    pair.client_goes_on();
    assert_eq!(pair.events, [Event::ConnectFailed { slot: 0, failure: Failure::Tls }]);
    assert_eq!(pair.error(), Some(&TlsError::ClosedInHandshake));
}

#[test]
fn a_handshake_takes_bounded_memory() {
    let mut pair = Pair::new(ordinary(), options());
    pair.client.connect(0, &Route::from(std::net::SocketAddr::from(([127, 0, 0, 1], 1)))).unwrap();
    pair.client_goes_on();
    // The beginning of a message of 16 MiB, followed by more and more of it.
    let mut record = vec![22, 3, 3, 0x40, 0, 2, 0xff, 0xff, 0xff];
    record.resize(5 + 0x4000, 7);
    for _ in 0..100 {
        pair.give(&record);
        record[5..9].fill(7);
    }
    assert_eq!(pair.events, [Event::ConnectFailed { slot: 0, failure: Failure::Tls }], "{:?}", pair.error());
}

#[test]
fn a_second_connection_of_a_slot_begins_anew() {
    let mut pair = Pair::open(ordinary(), options());
    pair.server_says(b"one");
    pair.settle();
    pair.client.close(0);
    pair.server = ServerConnection::new(Arc::new(ordinary())).unwrap();
    pair.events.clear();
    pair.client_wire().sent.clear();
    pair.connect();
    pair.server_says(b"two");
    pair.settle();
    assert_eq!((&pair.text[..], pair.client.tls().unwrap().full), (&b"onetwo"[..], 2));
}
