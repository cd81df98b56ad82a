//! TLS with rustls, whose defaults are kept.

use std::ffi::OsString;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Of the PEM files that `TLS_CERT` and `TLS_KEY` name.
pub fn acceptor((certificate, key): (OsString, OsString), alpn: &[&str]) -> Result<TlsAcceptor, String> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| format!("TLS_CERT cannot be read: {error}"))?;
    let key =
        PrivateKeyDer::from_pem_file(key).map_err(|error| format!("TLS_KEY cannot be read: {error}"))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| format!("TLS_CERT and TLS_KEY cannot be used: {error}"))?;
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    Ok(TlsAcceptor::from(Arc::new(config)))
}
