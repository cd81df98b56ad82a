//! Reads a port's protocol from `PROTOCOL`, `TLS_CERT` and `TLS_KEY`, which every service gets.

use std::path::Path;

use super::{
    RawVersion,
    tls::{IdentityError, ServerIdentity},
};

/// An invalid variable; the service ends with status 2.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum BadVariable {
    #[error(
        "PROTOCOL is \"{0}\": give http/1.1, h2 or h2c (HTTP/1.1 over TLS is http/1.1 with TLS_CERT and TLS_KEY)"
    )]
    UnknownProtocol(String),
    #[error("TLS_CERT is set and TLS_KEY is not; TLS needs both")]
    NoKey,
    #[error("TLS_KEY is set and TLS_CERT is not; TLS needs both")]
    NoCertificate,
    #[error("PROTOCOL is h2, which is HTTP/2 over TLS, and TLS_CERT is not set")]
    H2WithoutTls,
    #[error("PROTOCOL is h2c, which is HTTP/2 without TLS, and TLS_CERT is set")]
    H2cOverTls,
    #[error("{}", variable_of(.0))]
    Identity(#[from] IdentityError),
}

fn variable_of(error: &IdentityError) -> &'static str {
    match error {
        IdentityError::NoCertificate(_) | IdentityError::Certificate(..) => "TLS_CERT",
        IdentityError::Key(..) => "TLS_KEY",
        IdentityError::Unfit(_) => "TLS_CERT and TLS_KEY",
    }
}

/// The HTTP version, and the identity if the port uses TLS.
///
/// # Errors
/// A value is unknown, values contradict each other, or a file is invalid.
pub fn read(
    protocol: &str,
    certificates: Option<&Path>,
    key: Option<&Path>,
) -> Result<(RawVersion, Option<ServerIdentity>), BadVariable> {
    let files = match (certificates, key) {
        (Some(certificates), Some(key)) => Some((certificates, key)),
        (None, None) => None,
        (Some(_), None) => return Err(BadVariable::NoKey),
        (None, Some(_)) => return Err(BadVariable::NoCertificate),
    };
    let version = match (protocol, files) {
        ("http/1.1", _) => RawVersion::Http1,
        ("h2", Some(_)) | ("h2c", None) => RawVersion::Http2,
        ("h2", None) => return Err(BadVariable::H2WithoutTls),
        ("h2c", Some(_)) => return Err(BadVariable::H2cOverTls),
        (other, _) => return Err(BadVariable::UnknownProtocol(other.to_owned())),
    };
    let identity = files.map(|(certificates, key)| ServerIdentity::read(certificates, key)).transpose()?;
    Ok((version, identity))
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    fn refused(protocol: &str, certificates: Option<&Path>, key: Option<&Path>) -> String {
        let error = read(protocol, certificates, key).unwrap_err();
        let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        format!("{error}{source}")
    }

    /// Two certificates with their keys.
    fn files(folder: &Path) -> [std::path::PathBuf; 4] {
        let names = ["a.pem", "a.key", "b.pem", "b.key"].map(|name| folder.join(name));
        for pair in names.chunks(2) {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            std::fs::write(&pair[0], made.cert.pem()).unwrap();
            std::fs::write(&pair[1], made.signing_key.serialize_pem()).unwrap();
        }
        names
    }

    #[test]
    fn all_four_protocols_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let [certificates, key, ..] = &files(folder.path());
        let speaks = |protocol, certificates: Option<&Path>, key: Option<&Path>| {
            let (version, identity) = read(protocol, certificates, key).unwrap();
            (version, identity.is_some())
        };
        assert_eq!(speaks("http/1.1", None, None), (RawVersion::Http1, false));
        assert_eq!(speaks("http/1.1", Some(certificates), Some(key)), (RawVersion::Http1, true));
        assert_eq!(speaks("h2", Some(certificates), Some(key)), (RawVersion::Http2, true));
        assert_eq!(speaks("h2c", None, None), (RawVersion::Http2, false));
    }

    #[test]
    fn what_contradicts_itself_is_refused_by_name() {
        let some = Some(Path::new("/nowhere"));
        for (protocol, certificates, key, begins) in [
            ("h3", None, None, "PROTOCOL is \"h3\""),
            ("", some, some, "PROTOCOL is \"\""),
            ("h2", None, None, "PROTOCOL is h2, "),
            ("h2c", some, some, "PROTOCOL is h2c, "),
            ("http/1.1", some, None, "TLS_CERT is set"),
            ("http/1.1", None, some, "TLS_KEY is set"),
        ] {
            assert!(refused(protocol, certificates, key).starts_with(begins), "{begins}");
        }
    }

    #[test]
    fn a_file_of_no_use_is_refused_with_its_variable() {
        let folder = tempfile::tempdir().unwrap();
        let [certificates, key, _, other] = &files(folder.path());
        let nowhere = Path::new("/nowhere");
        let refused = |certificates, key| refused("h2", Some(certificates), Some(key));
        assert_eq!(refused(nowhere, key), "TLS_CERT: cannot read certificates from /nowhere");
        assert_eq!(refused(certificates, nowhere), "TLS_KEY: cannot read a private key from /nowhere");
        assert!(
            refused(key, key).starts_with("TLS_CERT: ") && refused(key, key).ends_with(" has no certificate")
        );
        assert!(refused(certificates, certificates).starts_with("TLS_KEY: cannot read a private key from "));
        assert!(
            refused(certificates, other).starts_with("TLS_CERT and TLS_KEY: certificate and key do not fit")
        );
    }
}
