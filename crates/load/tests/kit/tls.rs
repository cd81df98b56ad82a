//! The server's side of TLS, by rustls, for any of the small servers.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tare_base::Route;
use tare_load::{GeneratorSettings, Protocol, TlsClient, TlsOffer, TlsOptions, TlsTrust, TlsVersion};

use super::load::settings;
use super::peer::{Peer, accept_all};

/// A TLS connection, whose handshake is done at the first read.
pub type TlsStream = StreamOwned<ServerConnection, TcpStream>;

struct Identity {
    certificate: rcgen::Certificate,
    key: rcgen::KeyPair,
}

fn identity() -> &'static Identity {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        Identity { certificate: made.cert, key: made.signing_key }
    })
}

/// The certificate and its key as files, for servers that need files.
pub fn files(folder: &Path) -> (PathBuf, PathBuf) {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::File::create(&certificate).unwrap().write_all(identity().certificate.pem().as_bytes()).unwrap();
    std::fs::File::create(&key).unwrap().write_all(identity().key.serialize_pem().as_bytes()).unwrap();
    (certificate, key)
}

/// A server configuration with these ALPN protocols.
pub fn server_config(alpn: &[&[u8]]) -> ServerConfig {
    let key = PrivateKeyDer::Pkcs8(identity().key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity().certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config
}

/// Starts a server over TLS; it lives as long as the test process.
pub fn serve_tls(
    config: ServerConfig,
    behave: impl Fn(Peer<TlsStream>) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let config = Arc::new(config);
    let accept = move || {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let server = ServerConnection::new(Arc::clone(&config)).map_err(std::io::Error::other)?;
        Ok(StreamOwned::new(server, stream))
    };
    accept_all(accept, behave);
    target
}

/// Client options that trust only this test server.
pub fn options(protocol: Protocol) -> TlsOptions {
    TlsOptions {
        trust: TlsTrust::Authorities(vec![identity().certificate.der().clone()]),
        server_name: "localhost".to_owned(),
        alpn: protocol.alpn(),
        resume: true,
        offer: TlsOffer::Usual,
        version: TlsVersion::Tls13,
        certificate: None,
    }
}

/// Settings for a protocol, with `streams` per connection if the protocol has streams.
pub fn speaking(
    protocol: Protocol,
    route: impl Into<Route>,
    total: usize,
    threads: usize,
    streams: usize,
) -> GeneratorSettings {
    let tls = protocol.is_tls().then(|| Arc::new(TlsClient::new(options(protocol)).unwrap()));
    GeneratorSettings { protocol, streams, tls, ..settings(route, total, threads) }
}
