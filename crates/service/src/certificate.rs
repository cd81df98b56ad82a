//! The certificates of a run: a new authority and a leaf for this machine's loopback. Nothing else trusts
//! them, and the leaf's key is deleted when they are dropped.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
};
use rustls::{ClientConfig, RootCertStore, client::Resumption, pki_types::CertificateDer};

/// The names in the leaf.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// Tolerates differences between the clocks of containers.
const DAYS_BEFORE: i64 = 2;
/// Longer than any run.
const DAYS_AFTER: i64 = 360;

/// Why there are no certificates.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
    #[error("a certificate cannot be made: {0}")]
    Made(#[from] rcgen::Error),
    #[error("a certificate cannot be used: {0}")]
    Used(#[from] rustls::Error),
}

/// The files for services, and the certificates that clients trust.
#[derive(Debug)]
pub struct Certificates {
    folder: PathBuf,
    /// Whether the whole folder is removed on drop.
    is_passing: bool,
    leaf: CertificateDer<'static>,
    authority: CertificateDer<'static>,
    roots: Arc<RootCertStore>,
}

impl Certificates {
    /// Makes `ca.pem`, `cert.pem` and `key.pem` in the run's `folder`. Only the key is deleted at the end.
    ///
    /// # Errors
    /// The certificates cannot be made or written.
    pub fn make(folder: &Path) -> Result<Certificates, CertificateError> {
        Certificates::in_folder(folder, false)
    }

    /// As [`Certificates::make`], in a folder of this process in `within`, which is removed on drop.
    ///
    /// # Errors
    /// As [`Certificates::make`].
    pub fn passing(within: &Path) -> Result<Certificates, CertificateError> {
        Certificates::in_folder(&within.join(format!("tls-{}", std::process::id())), true)
    }

    fn in_folder(folder: &Path, is_passing: bool) -> Result<Certificates, CertificateError> {
        let made = NewCertificates::new()?;
        let mut roots = RootCertStore::empty();
        roots.add(made.authority.clone())?;
        // Services have other working directories, so the path must be absolute.
        let folder = std::path::absolute(folder).map_err(at(folder))?;
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let certificates = Certificates {
            folder,
            is_passing,
            leaf: made.leaf,
            authority: made.authority,
            roots: Arc::new(roots),
        };
        write(&certificates.folder.join("ca.pem"), &made.authority_pem, 0o644)?;
        write(&certificates.certificate_path(), &made.leaf_pem, 0o644)?;
        write(&certificates.key_path(), &made.key_pem, 0o600)?;
        Ok(certificates)
    }

    /// The certificate chain: the leaf alone, as clients already have the authority.
    pub(crate) fn certificate_path(&self) -> PathBuf {
        self.folder.join("cert.pem")
    }

    pub(crate) fn key_path(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// The certificate that a client must trust.
    pub fn authority(&self) -> &CertificateDer<'static> {
        &self.authority
    }

    /// The name in the clients' SNI.
    pub(crate) fn server_name(&self) -> &'static str {
        NAMES[0]
    }

    /// The certificate that a service must present.
    pub(crate) fn leaf(&self) -> &CertificateDer<'static> {
        &self.leaf
    }

    /// A client that trusts only the authority, offers `alpn` and always makes full handshakes.
    pub fn client(&self, alpn: &[&[u8]]) -> Arc<ClientConfig> {
        let mut config = ClientConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
            .with_root_certificates(Arc::clone(&self.roots))
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        config.resumption = Resumption::disabled();
        Arc::new(config)
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        // A file that cannot be removed is useless outside this run.
        let _gone = match self.is_passing {
            true => fs::remove_dir_all(&self.folder),
            false => fs::remove_file(self.key_path()),
        };
    }
}

/// Certificates that are not written yet.
struct NewCertificates {
    authority: CertificateDer<'static>,
    authority_pem: String,
    leaf: CertificateDer<'static>,
    leaf_pem: String,
    key_pem: String,
}

impl NewCertificates {
    fn new() -> Result<NewCertificates, rcgen::Error> {
        let mut params = lasting(CertificateParams::new([])?);
        params.distinguished_name.push(DnType::CommonName, "Tare, of one run");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let authority = params.self_signed(&key)?;
        let issuer = Issuer::new(params, key);

        let mut params = lasting(CertificateParams::new(NAMES.map(str::to_owned))?);
        params.distinguished_name.push(DnType::CommonName, "localhost");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let leaf = params.signed_by(&key, &issuer)?;
        Ok(NewCertificates {
            authority: authority.der().clone(),
            authority_pem: authority.pem(),
            leaf: leaf.der().clone(),
            leaf_pem: leaf.pem(),
            key_pem: key.serialize_pem(),
        })
    }
}

/// Some TLS libraries refuse certificates that are valid for many years.
fn lasting(mut params: CertificateParams) -> CertificateParams {
    let day = |days: i64| {
        let then = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days);
        let date = then.to_zoned(jiff::tz::TimeZone::UTC).date();
        rcgen::date_time_ymd(date.year().into(), date.month() as u8, date.day() as u8)
    };
    params.not_before = day(-DAYS_BEFORE);
    params.not_after = day(DAYS_AFTER);
    params
}

/// Creates a file with this mode from the start.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), CertificateError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(path)(error)),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(at(path))?;
    file.write_all(text.as_bytes()).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> CertificateError {
    let path = path.display().to_string();
    move |source| CertificateError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_key_is_its_owners_and_does_not_outlive_the_run() {
        let run = tempfile::tempdir().unwrap();
        let folder = run.path().join("tls");
        let certificates = Certificates::make(&folder).unwrap();
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert!(text("key.pem").starts_with("-----BEGIN PRIVATE KEY-----"), "PKCS#8");
        assert_eq!(text("cert.pem").matches("BEGIN CERTIFICATE").count(), 1);
        let mode = fs::metadata(certificates.key_path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = Certificates::make(&folder).unwrap();
        assert_ne!(certificates.leaf(), again.leaf(), "each run has its own");
        drop((certificates, again));
        assert!(folder.join("cert.pem").exists() && !folder.join("key.pem").exists());

        let passing = Certificates::passing(run.path()).unwrap();
        let place = passing.key_path().parent().unwrap().to_owned();
        assert!(passing.key_path().exists());
        drop(passing);
        assert!(!place.exists());
    }
}
