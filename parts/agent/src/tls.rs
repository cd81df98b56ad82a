//! Controller and agent authenticate each other by TLS 1.3: each end presents a public key and accepts one key only. Both ends derive
//! both keys from the token, so the token is all that a user copies between machines. Session keys are ephemeral: a token that leaks
//! later decrypts no recorded connection.
//!
//! The keys are raw public keys (RFC 7250). A certificate would add a name and a validity period: the token replaces the name, and a
//! validity period would fail where the clocks of two machines differ. An agent signs with its key before it knows the client, so an
//! attacker can test guesses of the token offline. Therefore every token is a random number of 256 bits ([`Token`]).

use std::sync::Arc;

use aws_lc_rs::{
    hkdf::{HKDF_SHA256, Salt},
    signature::Ed25519KeyPair,
};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
    client::{
        AlwaysResolvesClientRawPublicKeys, Resumption,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs as provider, verify_tls13_signature_with_raw_key,
    },
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime},
    server::{
        AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::CertifiedKey,
    version::TLS13,
};

use crate::token::Token;

/// The version of the protocol, negotiated by ALPN (RFC 7301). Version 1 had no TLS.
pub const PROTOCOL: &str = "tare-agent/3";
const SEED_BYTES: usize = 32;

/// The side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Controller,
    Agent,
}

impl End {
    /// The `info` of HKDF: each side has a key of its own.
    fn label(self) -> &'static [u8] {
        match self {
            End::Controller => b"controller",
            End::Agent => b"agent",
        }
    }
}

/// The TLS configuration of a controller. It accepts the agent that has this token, and no other peer.
///
/// # Panics
/// Never: the cryptographic provider accepts its input for any token.
#[must_use]
pub fn controller(token: &Token) -> Arc<ClientConfig> {
    let provider = Arc::new(provider::default_provider());
    let own = key_of(token, End::Controller, &provider);
    let verifier = Arc::new(Pinned::new(token, End::Agent, &provider));
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("the provider has suites of TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(own)));
    config.alpn_protocols = vec![PROTOCOL.into()];
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// The TLS configuration of an agent. It accepts a controller that has this token, and no other peer. It resumes no session, so every
/// controller proves its key.
///
/// # Panics
/// Never, as [`controller`].
#[must_use]
pub fn agent(token: &Token) -> Arc<ServerConfig> {
    let provider = Arc::new(provider::default_provider());
    let own = key_of(token, End::Agent, &provider);
    let verifier = Arc::new(Pinned::new(token, End::Controller, &provider));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("the provider has suites of TLS 1.3")
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(own)));
    config.alpn_protocols = vec![PROTOCOL.into()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Arc::new(config)
}

/// The key pair of one side: Ed25519 (RFC 8032). Its seed is HKDF-SHA256 (RFC 5869) of the token.
fn key_of(token: &Token, end: End, provider: &CryptoProvider) -> Arc<CertifiedKey> {
    let mut seed = [0; SEED_BYTES];
    Salt::new(HKDF_SHA256, PROTOCOL.as_bytes())
        .extract(&token.secret())
        .expand(&[end.label()], HKDF_SHA256)
        .and_then(|bytes| bytes.fill(&mut seed))
        .expect("a seed is as long as the hash");
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("all 32 bytes are a seed");
    let document = pair.to_pkcs8v1().expect("a key in memory can be written");
    let private = PrivateKeyDer::Pkcs8(document.as_ref().to_vec().into());
    let key = provider.key_provider.load_private_key(private).expect("the provider has Ed25519");
    let public = key.public_key().expect("a key of Ed25519 has a public half");
    Arc::new(CertifiedKey::new(vec![CertificateDer::from(public.as_ref().to_vec())], key))
}

/// Accepts one public key.
#[derive(Debug)]
struct Pinned {
    /// A SubjectPublicKeyInfo, as the peer presents it.
    key: CertificateDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    /// Accepts the key of `end`.
    fn new(token: &Token, end: End, provider: &CryptoProvider) -> Pinned {
        let key = key_of(token, end, provider).cert[0].clone();
        Pinned { key, algorithms: provider.signature_verification_algorithms }
    }

    fn expect(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        match *presented == self.key {
            true => Ok(()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    /// Checks that the peer has the private key of the public key that it presents.
    fn expect_signed(
        &self,
        message: &[u8],
        presented: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(presented.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        presented: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.expect(presented).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        presented: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.expect_signed(message, presented, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        presented: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.expect(presented).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        presented: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.expect_signed(message, presented, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

fn only_tls13() -> Error {
    Error::General("TLS 1.2 was not offered".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::time_provider::TimeProvider;
    use rustls::{AlertDescription, ClientConnection, Connection, HandshakeKind, ServerConnection};

    use super::*;
    use crate::token::hex;
    use crate::token::tests::token;

    /// Moves the pending records of one side to the other.
    fn pass(from: &mut Connection, to: &mut Connection) -> Result<(), Error> {
        let mut bytes = Vec::new();
        while from.wants_write() {
            from.write_tls(&mut bytes).unwrap();
        }
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            to.read_tls(&mut rest).unwrap();
            to.process_new_packets()?;
        }
        Ok(())
    }

    /// A handshake in memory. The errors are those of the controller and of the agent.
    fn shake_hands(
        controller: Arc<ClientConfig>,
        agent: Arc<ServerConfig>,
    ) -> Result<[Connection; 2], Box<[Option<Error>; 2]>> {
        let name = ServerName::try_from("agent").unwrap();
        let mut client: Connection = ClientConnection::new(controller, name).unwrap().into();
        let mut server: Connection = ServerConnection::new(agent).unwrap().into();
        while client.is_handshaking() || server.is_handshaking() {
            if let Err(error) = pass(&mut client, &mut server) {
                return Err([pass(&mut server, &mut client).err(), Some(error)].into());
            }
            if let Err(error) = pass(&mut server, &mut client) {
                return Err([Some(error), pass(&mut client, &mut server).err()].into());
            }
        }
        Ok([client, server])
    }

    fn refused() -> Option<Error> {
        Some(CertificateError::ApplicationVerificationFailure.into())
    }

    fn told() -> Option<Error> {
        Some(Error::AlertReceived(AlertDescription::AccessDenied))
    }

    #[test]
    fn two_ends_with_one_token_agree_on_tls_1_3_and_resume_nothing() {
        let (controller, agent) = (controller(&token(1)), agent(&token(1)));
        for _ in 0..2 {
            let ends = shake_hands(Arc::clone(&controller), Arc::clone(&agent)).unwrap();
            for end in ends {
                assert_eq!(end.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
                assert_eq!(end.alpn_protocol(), Some(PROTOCOL.as_bytes()));
                assert_eq!(end.handshake_kind(), Some(HandshakeKind::Full));
            }
        }
    }

    #[test]
    fn another_token_is_refused_by_the_controller_and_the_agent_is_told() {
        assert_eq!(
            shake_hands(controller(&token(1)), agent(&token(2))).err(),
            Some([refused(), told()].into())
        );
    }

    /// A client that ignores the agent's key must still prove its own.
    #[test]
    fn a_controller_that_believes_everything_is_refused_by_the_agent() {
        let provider = Arc::new(provider::default_provider());
        let believes_the_agent = Arc::new(Pinned::new(&token(1), End::Agent, &provider));
        for (of, end) in [(2, End::Controller), (1, End::Agent)] {
            let own = key_of(&token(of), end, &provider);
            let mut liar = ClientConfig::clone(&controller(&token(1)));
            liar.dangerous().set_certificate_verifier(believes_the_agent.clone());
            liar.client_auth_cert_resolver = Arc::new(AlwaysResolvesClientRawPublicKeys::new(own));
            assert_eq!(shake_hands(liar.into(), agent(&token(1))).err(), Some([told(), refused()].into()));
        }
        let mut keyless = ClientConfig::clone(&controller(&token(1)));
        keyless.client_auth_cert_resolver = Arc::new(NoKey);
        assert!(shake_hands(keyless.into(), agent(&token(1))).is_err());
    }

    #[derive(Debug)]
    struct NoKey;

    impl rustls::client::ResolvesClientCert for NoKey {
        fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
            None
        }

        fn has_certs(&self) -> bool {
            false
        }
    }

    /// The correct public key with another private key: an attacker who connected before has only this.
    #[test]
    fn a_key_without_its_private_half_is_refused() {
        let provider = provider::default_provider();
        let right = key_of(&token(1), End::Agent, &provider);
        let other = key_of(&token(2), End::Agent, &provider);
        let stolen = CertifiedKey::new(right.cert.clone(), other.key.clone());
        let mut liar = ServerConfig::clone(&agent(&token(1)));
        liar.cert_resolver = Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::new(stolen)));
        let [controller, _] = *shake_hands(controller(&token(1)), liar.into()).err().unwrap();
        assert_eq!(controller, Some(CertificateError::BadSignature.into()));
    }

    /// A relay that terminates TLS with a certificate of its own, as the proxies of companies do.
    #[test]
    fn a_certificate_is_no_key() {
        let made = rcgen::generate_simple_self_signed(["agent".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(provider::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]).unwrap();
        let mut proxy =
            builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        proxy.alpn_protocols = vec![PROTOCOL.into()];
        assert!(shake_hands(controller(&token(1)), Arc::new(proxy)).is_err());
    }

    #[derive(Debug)]
    struct At(u64);

    impl TimeProvider for At {
        fn current_time(&self) -> Option<UnixTime> {
            Some(UnixTime::since_unix_epoch(Duration::from_secs(self.0)))
        }
    }

    #[test]
    fn no_clock_is_looked_at() {
        let mut early = ClientConfig::clone(&controller(&token(1)));
        early.time_provider = Arc::new(At(0));
        let mut late = ServerConfig::clone(&agent(&token(1)));
        late.time_provider = Arc::new(At(1 << 40));
        assert!(shake_hands(early.into(), late.into()).is_ok());
    }

    #[test]
    fn another_protocol_is_refused_before_keys_are_compared() {
        let mut newer = ClientConfig::clone(&controller(&token(2)));
        newer.alpn_protocols = vec![b"tare-agent/9".to_vec()];
        let alert = Error::AlertReceived(AlertDescription::NoApplicationProtocol);
        let [controller, agent] = *shake_hands(newer.into(), agent(&token(1))).err().unwrap();
        assert_eq!((controller, agent), (Some(alert), Some(Error::NoApplicationProtocol)));
    }

    /// Two builds of one protocol version must derive the same keys. The expected values are from `openssl kdf` and `openssl pkey`.
    #[test]
    fn the_keys_of_a_token_stay_the_same() {
        let provider = provider::default_provider();
        let shown = |end| hex(&key_of(&token(1), end, &provider).cert[0][12..]);
        assert_eq!(
            shown(End::Controller),
            "15dc7800d2a1b564c4576a0dc796acf1f7afc5b47832fdf302c6f18f25d6dabd"
        );
        assert_eq!(shown(End::Agent), "bb8fbf05522f6eaba351649fc7c7e695b001b093e3281be19901438a78eea4fd");
    }
}
