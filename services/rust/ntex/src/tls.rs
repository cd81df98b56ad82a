//! TLS with rustls, whose defaults are kept.

use std::ffi::OsString;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Of the PEM files that `TLS_CERT` and `TLS_KEY` name. The framework adds what ALPN offers.
pub fn config((certificate, key): (OsString, OsString)) -> Result<ServerConfig, String> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| format!("TLS_CERT cannot be read: {error}"))?;
    let key =
        PrivateKeyDer::from_pem_file(key).map_err(|error| format!("TLS_KEY cannot be read: {error}"))?;
    ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| format!("TLS_CERT and TLS_KEY cannot be used: {error}"))
}
