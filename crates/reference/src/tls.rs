//! TLS 1.3 around another protocol, by rustls' buffered connection: bytes in, bytes out, no sockets.
//!
//! It copies received and sent bytes twice each, into rustls' memory and out of it. The unbuffered connection
//! would avoid that, but needs an own record layer after the handshake. For answers of some hundred bytes the
//! copies are small beside ciphers and system calls, and frameworks in Rust have the same cost.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustls::{
    ServerConfig, ServerConnection,
    crypto::aws_lc_rs,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};

use super::worker::{Reply, Speech};

/// A server's certificates, and the key of the first one.
#[derive(Debug)]
pub struct ServerIdentity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// An error in the files of a [`ServerIdentity`].
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum IdentityError {
    #[error("{0} has no certificate")]
    NoCertificate(PathBuf),
    #[error("cannot read certificates from {0}")]
    Certificate(PathBuf, #[source] pem::Error),
    #[error("cannot read a private key from {0}")]
    Key(PathBuf, #[source] pem::Error),
    #[error("certificate and key do not fit")]
    Unfit(#[from] rustls::Error),
}

impl ServerIdentity {
    /// Reads two PEM files: certificates, the server's own first, and its private key.
    ///
    /// # Errors
    /// A file cannot be read, or the key does not belong to the certificate.
    pub fn read(certificates: &Path, key: &Path) -> Result<ServerIdentity, IdentityError> {
        let unreadable = |error| IdentityError::Certificate(certificates.to_owned(), error);
        let chain: Vec<_> =
            CertificateDer::pem_file_iter(certificates).and_then(Iterator::collect).map_err(unreadable)?;
        if chain.is_empty() {
            return Err(IdentityError::NoCertificate(certificates.to_owned()));
        }
        let key =
            PrivateKeyDer::from_pem_file(key).map_err(|error| IdentityError::Key(key.to_owned(), error))?;
        let identity = ServerIdentity { chain, key };
        identity.config(b"")?;
        Ok(identity)
    }

    /// Tickets are stateless, so any number of clients can resume.
    pub(super) fn config(&self, alpn: &[u8]) -> Result<Arc<ServerConfig>, rustls::Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())?;
        config.alpn_protocols = vec![alpn.to_vec()];
        config.ticketer = aws_lc_rs::Ticketer::new()?;
        Ok(Arc::new(config))
    }
}

/// The TLS state of one thread, with the protocol inside.
pub(super) struct OverTls<S> {
    config: Arc<ServerConfig>,
    delay: Option<Duration>,
    inner: S,
    read: Vec<u8>,
    answer: Vec<u8>,
}

impl<S> OverTls<S> {
    /// `delay` precedes each handshake, for trials of the instrument.
    pub(super) fn new(config: Arc<ServerConfig>, delay: Option<Duration>, inner: S) -> OverTls<S> {
        OverTls { config, delay, inner, read: Vec::new(), answer: Vec::new() }
    }
}

/// The state of a connection.
pub(super) struct TlsState<S> {
    tls: Box<ServerConnection>,
    inner: S,
}

impl<S: Speech> Speech for OverTls<S> {
    type State = TlsState<S::State>;

    fn delay(&self) -> Option<Duration> {
        self.delay
    }

    fn open(&self) -> io::Result<TlsState<S::State>> {
        let mut tls = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        // All pending output is taken at once.
        tls.set_buffer_limit(None);
        Ok(TlsState { tls: Box::new(tls), inner: self.inner.open()? })
    }

    fn take<'a>(&'a mut self, state: &mut Self::State, read: &[u8], out: &'a mut Vec<u8>) -> Reply<'a> {
        out.clear();
        self.read.clear();
        let TlsState { tls, inner } = state;
        let Ok(mut goes_on) = decrypt(tls, read, &mut self.read) else {
            // Sends the alert, if there is one.
            return finish(tls, false, out);
        };
        if !self.read.is_empty() {
            goes_on &= encrypt(tls, &self.inner.take(inner, &self.read, &mut self.answer));
        }
        finish(tls, goes_on, out)
    }

    fn more<'a>(&'a mut self, state: &mut Self::State, out: &'a mut Vec<u8>) -> Reply<'a> {
        out.clear();
        let TlsState { tls, inner } = state;
        match self.inner.more(inner, &mut self.answer) {
            Reply::Send(b"") => Reply::Send(b""),
            reply => {
                let goes_on = encrypt(tls, &reply);
                finish(tls, goes_on, out)
            }
        }
    }
}

/// Appends decrypted bytes to `plain`; true if more may come.
fn decrypt(tls: &mut ServerConnection, mut read: &[u8], plain: &mut Vec<u8>) -> io::Result<bool> {
    let mut goes_on = true;
    while !read.is_empty() && goes_on {
        tls.read_tls(&mut read)?;
        tls.process_new_packets().map_err(io::Error::other)?;
        // `Ok` means that the client closed its side; an error means that more may come.
        goes_on = tls.reader().read_to_end(plain).is_err();
    }
    Ok(goes_on)
}

/// Encrypts a reply; true if more may follow.
fn encrypt(tls: &mut ServerConnection, reply: &Reply<'_>) -> bool {
    let (Reply::Send(bytes) | Reply::Last(bytes)) = reply;
    tls.writer().write_all(bytes).is_ok() && matches!(reply, Reply::Send(_))
}

/// All pending output in one piece.
fn finish<'a>(tls: &mut ServerConnection, goes_on: bool, out: &'a mut Vec<u8>) -> Reply<'a> {
    if !goes_on {
        tls.send_close_notify();
    }
    while tls.wants_write() && tls.write_tls(out).is_ok() {}
    if goes_on { Reply::Send(out) } else { Reply::Last(out) }
}
