//! The bytes of a server after a TLS handshake.

use std::sync::{Arc, LazyLock};

use rustls::{
    ServerConfig, ServerConnection,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::PrivateKeyDer,
};
use tare_load::{
    TlsClient, TlsError, TlsOffer, TlsOptions, TlsTrust, TlsVersion,
    tls_probe::{Forger, Probe},
};

/// A server with one certificate, and the cheapest key exchange.
static SERVER: LazyLock<Arc<ServerConfig>> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let groups = vec![aws_lc_rs::kx_group::X25519];
    let provider = CryptoProvider { kx_groups: groups, ..aws_lc_rs::default_provider() };
    let builder = ServerConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("a version");
    let certificate = made.cert.der().clone();
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate], key);
    let mut config = config.expect("a key of that certificate");
    config.enable_secret_extraction = true;
    Arc::new(config)
});

static CLIENT: LazyLock<TlsClient> = LazyLock::new(|| {
    let options = TlsOptions {
        trust: TlsTrust::Anything,
        server_name: "localhost".to_owned(),
        alpn: None,
        resume: true,
        offer: TlsOffer::Usual,
        version: TlsVersion::Tls13,
        certificate: None,
    };
    TlsClient::new(options).expect("a client")
});

/// The result of a client: its text, and how the connection ended.
type Found = (Vec<u8>, Result<bool, TlsError>);

/// A client after its handshake, and the keys of its server.
fn open() -> (Probe, Forger) {
    let (mut said, mut text) = (Vec::new(), Vec::new());
    let mut probe = Probe::begin(&CLIENT, &mut said).expect("a client");
    let mut server = ServerConnection::new(Arc::clone(&SERVER)).expect("a server");
    while server.is_handshaking() {
        server.read_tls(&mut &said[..]).expect("memory");
        server.process_new_packets().expect("a handshake");
        said.clear();
        let mut answer = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut answer).expect("memory");
        }
        probe.take(&CLIENT, &mut answer, &mut text, &mut said).expect("a handshake");
    }
    (probe, Forger::new(server.dangerous_extract_secrets().expect("secrets")).expect("keys"))
}

/// Steps, each with a kind, a length and bytes. They are sealed as text, as handshake messages or as an
/// alert, or sent unsealed, so that they cannot be decrypted.
fn seal(mut input: &[u8], forger: &mut Forger) -> (Vec<u8>, Vec<u8>) {
    let (mut bytes, mut text) = (Vec::new(), Vec::new());
    while let Some(([kind, length], behind)) = input.split_first_chunk() {
        let part = &behind[..behind.len().min((*length).into())];
        input = &behind[part.len()..];
        match kind % 4 {
            0 => {
                text.extend_from_slice(part);
                forger.text(part, &mut bytes);
            }
            1 => forger.messages(part, &mut bytes),
            2 => forger.alert(part, &mut bytes),
            _ => bytes.extend_from_slice(part),
        }
    }
    (bytes, text)
}

fn find(input: &[u8], cut: usize) -> Found {
    let (mut probe, mut forger) = open();
    let (mut bytes, sealed) = seal(input, &mut forger);
    let (mut text, mut out) = (Vec::new(), Vec::new());
    let mut outcome = Ok(false);
    for piece in bytes.chunks_mut(cut) {
        outcome = probe.take(&CLIENT, piece, &mut text, &mut out);
        if outcome != Ok(false) {
            break;
        }
    }
    assert!(sealed.starts_with(&text), "text that was never sealed");
    // A reply to a key update is as long as its request.
    assert!(out.len() <= bytes.len());
    (text, outcome)
}

/// Split points, and steps of a server after the handshake: only bytes sealed as text are delivered, and
/// splits do not change the result.
pub(crate) fn record(input: &[u8]) {
    let Some((&cut, steps)) = input.split_first() else { return };
    let whole = find(steps, usize::MAX);
    assert_eq!(find(steps, usize::from(cut) + 1), whole);
}
