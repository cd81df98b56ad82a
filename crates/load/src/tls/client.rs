//! The TLS settings of a client: the certificates it trusts, what it offers, and the requested name.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ClientSessionMemoryCache, Resumption, UnbufferedClientConnection, WebPkiServerVerifier,
    verify_server_name,
};
use rustls::crypto::aws_lc_rs::cipher_suite::{
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS13_AES_128_GCM_SHA256,
};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, InconsistentKeys, RootCertStore,
    SignatureScheme, SupportedProtocolVersion, version,
};

use crate::tls_error::{Distrusted, TlsError, is_of_an_authority};

/// The certificates that are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsTrust {
    /// Certificates that one of these authorities issued for the requested name.
    Authorities(Vec<CertificateDer<'static>>),
    /// Any certificate, as with curl's `-k`: the connection is encrypted, but the server is not
    /// authenticated.
    Anything,
}

/// The cipher suites and groups that a client offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsOffer {
    /// The defaults of rustls, in its order: the server decides.
    Usual,
    /// TLS_AES_128_GCM_SHA256, which every TLS 1.3 implementation must have (RFC 8446, 9.1), and X25519. So
    /// no server is cheaper than another because of its choice.
    One,
}

/// The one version that a client offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2, for a server that speaks nothing newer.
    Tls12,
    /// TLS 1.3.
    #[default]
    Tls13,
}

impl TlsVersion {
    fn supported(self) -> &'static SupportedProtocolVersion {
        match self {
            TlsVersion::Tls12 => &version::TLS12,
            TlsVersion::Tls13 => &version::TLS13,
        }
    }
}

/// The certificate that a client shows if the server asks for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, and the intermediate ones up to an authority that the server trusts.
    pub chain: Vec<CertificateDer<'static>>,
    /// The private key of the certificate.
    pub key: Arc<PrivateKeyDer<'static>>,
}

/// The settings of a TLS client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    /// The certificates that are accepted.
    pub trust: TlsTrust,
    /// The name that the server's certificate must be for. It is sent as SNI unless it is an address.
    pub server_name: String,
    /// The protocol offered by ALPN, which the server must choose; `None` does not use ALPN.
    pub alpn: Option<&'static [u8]>,
    /// Whether sessions are resumed. If not, each connection does a full handshake.
    pub resume: bool,
    /// The offered suites and groups.
    pub offer: TlsOffer,
    /// The offered version.
    pub version: TlsVersion,
    /// The client's certificate, if it has one.
    pub certificate: Option<ClientCertificate>,
}

/// A TLS client for one server. All connections of a generator share it, and with it the server's tickets.
#[derive(Debug, Clone)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
    alpn: Option<&'static [u8]>,
    version: TlsVersion,
    has_certificate: bool,
}

/// Why the client's certificate cannot be used with its key.
fn of_identity(error: &Error) -> String {
    match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the private key is that of another certificate".to_owned()
        }
        error => error.to_string(),
    }
}

impl TlsClient {
    /// A client for one version only.
    ///
    /// # Errors
    /// A certificate authority, the client's certificate or the name cannot be used.
    pub fn new(options: TlsOptions) -> Result<TlsClient, TlsError> {
        let server_name = ServerName::try_from(options.server_name.clone())
            .map_err(|_| TlsError::Name(options.server_name))?;
        let provider = Arc::new(provider(options.offer, options.version));
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[options.version.supported()])?;
        let builder = match options.trust {
            TlsTrust::Authorities(authorities) => {
                let verifier = Arc::new(TrustsAuthorities::new(authorities, Arc::clone(&provider))?);
                builder.dangerous().with_custom_certificate_verifier(verifier)
            }
            TlsTrust::Anything => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptsAnything(provider)))
            }
        };
        let has_certificate = options.certificate.is_some();
        let mut config =
            match options.certificate {
                None => builder.with_no_client_auth(),
                Some(ClientCertificate { chain, key }) => builder
                    .with_client_auth_cert(chain, key.clone_key())
                    .map_err(|error| TlsError::Identity(of_identity(&error)))?,
            };
        config.alpn_protocols = options.alpn.map(<[u8]>::to_vec).into_iter().collect();
        // This crate itself reads and writes the records after the handshake.
        config.enable_secret_extraction = true;
        config.resumption = match options.resume {
            true => Resumption::store(Arc::new(ClientSessionMemoryCache::new(TICKETS_MAX))),
            false => Resumption::disabled(),
        };
        let TlsOptions { alpn, version, .. } = options;
        Ok(TlsClient { config: Arc::new(config), server_name, alpn, version, has_certificate })
    }

    /// The configuration for a client that leaves the records to rustls, as its ordinary connections do.
    #[must_use]
    pub fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.config)
    }

    /// The name that the server's certificate must be for.
    #[must_use]
    pub fn server_name(&self) -> ServerName<'static> {
        self.server_name.clone()
    }

    /// The offered version.
    #[must_use]
    pub fn version(&self) -> TlsVersion {
        self.version
    }

    /// Whether the client has a certificate for a server that asks for one.
    #[must_use]
    pub fn has_certificate(&self) -> bool {
        self.has_certificate
    }

    pub(super) fn begin(&self) -> Result<UnbufferedClientConnection, TlsError> {
        Ok(UnbufferedClientConnection::new(Arc::clone(&self.config), self.server_name.clone())?)
    }

    /// Checks that the server chose what was offered. A server without ALPN speaks HTTP/1.1.
    pub(super) fn accepts(&self, chosen: Option<&[u8]>) -> Result<(), TlsError> {
        let is_right = match (self.alpn, chosen) {
            (Some(wanted), Some(chosen)) => wanted == chosen,
            (Some(wanted), None) => wanted == HTTP_1_1,
            (None, _) => true,
        };
        if is_right {
            return Ok(());
        }
        let word = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        Err(TlsError::Alpn { wanted: word(self.alpn.unwrap_or_default()), chosen: chosen.map(word) })
    }
}

fn provider(offer: TlsOffer, version: TlsVersion) -> CryptoProvider {
    let usual = aws_lc_rs::default_provider();
    match offer {
        TlsOffer::Usual => usual,
        TlsOffer::One => CryptoProvider {
            cipher_suites: match version {
                TlsVersion::Tls13 => vec![TLS13_AES_128_GCM_SHA256],
                // One suite for each kind of key that a server may have.
                TlsVersion::Tls12 => {
                    vec![TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
                }
            },
            kx_groups: vec![aws_lc_rs::kx_group::X25519],
            ..usual
        },
    }
}

/// The name of HTTP/1.1 in ALPN.
const HTTP_1_1: &[u8] = b"http/1.1";

/// One server has one name in the session store, with up to eight tickets.
const TICKETS_MAX: usize = 8;

/// Checks certificates as rustls does by default, and also accepts one that is itself trusted, as OpenSSL
/// does. `openssl req -x509` makes a certificate of an authority, which many test servers use as their own.
#[derive(Debug)]
struct TrustsAuthorities {
    authorities: Vec<CertificateDer<'static>>,
    usual: Arc<WebPkiServerVerifier>,
}

impl TrustsAuthorities {
    fn new(
        authorities: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<TrustsAuthorities, TlsError> {
        let mut roots = RootCertStore::empty();
        for authority in &authorities {
            roots.add(authority.clone()).map_err(|error| TlsError::Roots(error.to_string()))?;
        }
        let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| TlsError::Roots(error.to_string()))?;
        Ok(TrustsAuthorities { authorities, usual })
    }
}

impl ServerCertVerifier for TrustsAuthorities {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.usual.verify_server_cert(certificate, others, server_name, ocsp, now) {
            // The verifier finds this error only after it has checked the dates.
            Err(error) if names_an_authority(&error) && self.authorities.contains(certificate) => {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(error) => Err(because(certificate, error)),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Whether a certificate is refused because it belongs to an authority instead of a server.
fn names_an_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    is_of_an_authority(other)
}

/// The error, with details about the issuer if it concerns the issuer.
fn because(certificate: &CertificateDer<'_>, error: rustls::Error) -> rustls::Error {
    let is_of_authority = names_an_authority(&error);
    let has_no_issuer = error == CertificateError::UnknownIssuer.into();
    // An authority of the same name is trusted, but did not issue the certificate.
    let is_of_namesake = error == CertificateError::BadSignature.into();
    let Ok(parsed) = webpki::EndEntityCert::try_from(certificate) else { return error };
    let is_self_signed = parsed.issuer() == parsed.subject();
    match (is_self_signed, has_no_issuer) {
        (true, _) if has_no_issuer || is_of_namesake || is_of_authority => Distrusted::SelfSigned.into(),
        (false, true) => Distrusted::Issuer { issuer: name_of(parsed.issuer()) }.into(),
        _ => error,
    }
}

/// The common name in a DER-encoded name, or else its organisation (RFC 5280, appendix A.1).
fn name_of(der: &[u8]) -> Option<String> {
    const COMMON_NAME: [u8; 5] = [6, 3, 0x55, 4, 3];
    const ORGANISATION: [u8; 5] = [6, 3, 0x55, 4, 10];
    let value = |kind: [u8; 5]| {
        let behind = der.windows(kind.len()).rposition(|window| window == kind)? + kind.len();
        let [_, length, text @ ..] = der.get(behind..)? else { return None };
        Some(format!("\"{}\"", String::from_utf8_lossy(text.get(..usize::from(*length))?).escape_debug()))
    };
    value(COMMON_NAME).or_else(|| value(ORGANISATION))
}

/// Checks no certificate, only that the server has the key of the one it shows.
#[derive(Debug)]
struct AcceptsAnything(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptsAnything {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
