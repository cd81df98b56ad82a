//! The secret of a run. Whoever has it may start a load, so it is never sent, printed or given on a command line.

use std::{fmt, io::Write, os::unix::fs::OpenOptionsExt, path::Path};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A shorter one might be guessed: what crosses the wire can be tried against guesses elsewhere.
pub const CHARS_MIN: usize = 32;
const CHARS_MAX: usize = 4_096;
/// What a new token is drawn from.
const RANDOM_BYTES: usize = 32;

/// A secret that controller and agents share.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Vec<u8>);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "the token has {0} characters: give at least {CHARS_MIN} random ones (`tare agent --new-token FILE` makes a file)"
    )]
    TooShort(usize),
    #[error("the token has {0} characters: give at most {CHARS_MAX}")]
    TooLong(usize),
    #[error("the token has a character that is not printable ASCII: give letters and digits, on one line")]
    NotText,
    #[error("the token cannot be read from {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("the token cannot be written to {path}: {source}")]
    Write { path: String, source: std::io::Error },
    #[error("the kernel gives no random bytes: {0}")]
    NoRandomness(String),
}

impl Token {
    /// Reads a token as it stands in a file or a variable; white space around it is no part of it.
    ///
    /// # Errors
    /// It is too short or too long, or not text.
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        match text.len() {
            length if length < CHARS_MIN => Err(TokenError::TooShort(length)),
            length if length > CHARS_MAX => Err(TokenError::TooLong(length)),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => Err(TokenError::NotText),
            _ => Ok(Token(text.as_bytes().to_vec())),
        }
    }

    /// Reads the token in a file.
    ///
    /// # Errors
    /// The file cannot be read, or holds no token.
    pub fn read(path: &Path) -> Result<Token, TokenError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| TokenError::Read { path: path.display().to_string(), source })?;
        Token::parse(&text)
    }

    /// Writes a new token to a file that is not there yet, and that its owner alone may read.
    ///
    /// # Errors
    /// The file is there already or cannot be written, or the kernel gives no random bytes.
    pub fn create(path: &Path) -> Result<Token, TokenError> {
        let text = hex(&random::<RANDOM_BYTES>()?);
        let create = || {
            let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(format!("{text}\n").as_bytes())
        };
        create().map_err(|source| TokenError::Write { path: path.display().to_string(), source })?;
        Token::parse(&text)
    }

    /// As it is written, for a list of what must not be printed.
    #[must_use]
    pub fn reveal(&self) -> &str {
        // It was text when it was read.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// HMAC-SHA256 (RFC 2104) over these parts. Each is preceded by its length, so that no two lists of parts are the same bytes.
    pub(crate) fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        mac(&self.0, parts)
    }
}

/// The same by any key.
pub(crate) fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Bytes that nothing can predict.
///
/// # Errors
/// The kernel gives none.
pub fn random<const N: usize>() -> Result<[u8; N], TokenError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| TokenError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}

#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Absent if it is not hexadecimal of this length.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = text.len() == 2 * N && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(is_hex.then(|| text.as_bytes().chunks(2))?) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_text_and_never_shown() {
        let text = "0123456789abcdef0123456789abcdef";
        let token = Token::parse(&format!("  {text}\n")).unwrap();
        assert_eq!((token.reveal(), format!("{token:?}").as_str()), (text, "Token(..)"));
        assert!(matches!(Token::parse("short"), Err(TokenError::TooShort(5))));
        assert!(matches!(Token::parse(&"x".repeat(4_097)), Err(TokenError::TooLong(_))));
        assert!(matches!(Token::parse(&format!("{text} {text}")), Err(TokenError::NotText)));
        assert!(matches!(Token::parse(&"ü".repeat(40)), Err(TokenError::NotText)));
    }

    #[test]
    fn a_new_token_is_its_owners_alone_and_replaces_none() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("tare-token-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let token = Token::create(&path).unwrap();
        assert_eq!(Token::read(&path).unwrap(), token);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(Token::create(&path), Err(TokenError::Write { .. })));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Token::read(&path), Err(TokenError::Read { .. })));
    }

    /// RFC 4231, test case 2, whose data are not preceded by their length.
    #[test]
    fn the_mac_is_hmac_sha256() {
        let mut mac = mac(b"Jefe", &[]);
        mac.update(b"what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hex(&mac.finalize().into_bytes()), expected);
    }

    #[test]
    fn parts_are_kept_apart() {
        let of = |parts: &[&[u8]]| hex(&mac(b"key", parts).finalize().into_bytes());
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"abc"]), of(&[b"abc", b""]));
    }

    #[test]
    fn hexadecimal_reads_back() {
        let bytes: [u8; 32] = random().unwrap();
        assert_eq!(unhex::<32>(&hex(&bytes)), Some(bytes));
        assert_eq!([unhex::<2>("00f"), unhex::<2>("00fg"), unhex::<2>("+1+1")], [None; 3]);
    }
}
