//! The secret of a run. Its owner can start a load, so it is never sent, printed or put on a command line.

use std::{collections::BTreeSet, fmt, io::Write, os::unix::fs::OpenOptionsExt, path::Path};

/// The number of random bytes in a new token.
const RANDOM_BYTES: usize = 32;
const DIGITS: usize = 2 * RANDOM_BYTES;
/// The fewest distinct bytes of a token. 32 random bytes have fewer with a probability below 10^-22; words,
/// dates and repeated digits have fewer.
const DIFFERENT_BYTES_MIN: usize = 12;

/// A secret that controller and agents share. It is a random number: an attacker that connects to an agent can test guesses offline.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    bytes: [u8; RANDOM_BYTES],
    /// The token as given.
    text: String,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "the token has {0} characters, and is not {DIGITS} hexadecimal digits: make one by `tare agent --new-token FILE`, since one \
         that a person chose can be guessed"
    )]
    NotDigits(usize),
    #[error(
        "the token is no random number, because its digits repeat: make one by `tare agent --new-token FILE`, since one that a \
         person chose can be guessed"
    )]
    NotRandom,
    #[error("the token cannot be read from {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("the token cannot be written to {path}: {source}")]
    Write { path: String, source: std::io::Error },
    #[error("the kernel gives no random bytes: {0}")]
    NoRandomness(String),
}

impl Token {
    /// Parses a token from a file or a variable; surrounding white space is ignored.
    ///
    /// # Errors
    /// It is not the hexadecimal form of a random number.
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        let bytes: [u8; RANDOM_BYTES] = unhex(text).ok_or(TokenError::NotDigits(text.chars().count()))?;
        match bytes.iter().collect::<BTreeSet<_>>().len() {
            different if different < DIFFERENT_BYTES_MIN => Err(TokenError::NotRandom),
            _ => Ok(Token { bytes, text: text.to_owned() }),
        }
    }

    /// Reads the token from a file.
    ///
    /// # Errors
    /// The file cannot be read, or contains no token.
    pub fn read(path: &Path) -> Result<Token, TokenError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| TokenError::Read { path: path.display().to_string(), source })?;
        Token::parse(&text)
    }

    /// Writes a new token to a new file that only its owner can read.
    ///
    /// # Errors
    /// The file exists or cannot be written, or the kernel gives no random bytes.
    pub fn create(path: &Path) -> Result<Token, TokenError> {
        let text = hex(&random::<RANDOM_BYTES>()?);
        let create = || {
            let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(format!("{text}\n").as_bytes())
        };
        create().map_err(|source| TokenError::Write { path: path.display().to_string(), source })?;
        Token::parse(&text)
    }

    /// The token as text, for the list of secrets that must not be printed.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The input of key derivation.
    pub(crate) fn secret(&self) -> [u8; RANDOM_BYTES] {
        self.bytes
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Unpredictable bytes.
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

/// `None` unless it is hexadecimal of this length.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = text.len() == 2 * N && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(is_hex.then(|| text.as_bytes().chunks(2))?) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A token whose bytes count up from `first`.
    pub(crate) fn token(first: u8) -> Token {
        let bytes: [u8; RANDOM_BYTES] = std::array::from_fn(|index| first + index as u8);
        Token::parse(&hex(&bytes)).unwrap()
    }

    #[test]
    fn a_token_is_a_random_number_and_never_shown() {
        let text = "8f6ab1c09d3e2f7755aa01c4e8d9b360f2174c9bd85e33a6c0917f2be4d86a15";
        let token = Token::parse(&format!("  {text}\n")).unwrap();
        assert_eq!((token.reveal(), format!("{token:?}").as_str()), (text, "Token(..)"));
        assert_eq!(token.secret()[..3], [0x8f, 0x6a, 0xb1]);
        let chosen =
            ["", "short", "correct-horse-battery-staple-and-more", &text[1..], &text.replace('f', "g")];
        for chosen in chosen {
            let refused = Token::parse(chosen).unwrap_err();
            assert!(matches!(refused, TokenError::NotDigits(count) if count == chosen.len()), "{chosen}");
            assert!(refused.to_string().contains("tare agent --new-token FILE"));
        }
        assert!(matches!(Token::parse(&"ü".repeat(64)), Err(TokenError::NotDigits(64))));
        assert!(matches!(Token::parse(&format!("{text} {text}")), Err(TokenError::NotDigits(129))));
        for chosen in
            ["0".repeat(64), "deadbeef".repeat(8), "0123456789abcdef".repeat(4), "20261127".repeat(8)]
        {
            assert!(matches!(Token::parse(&chosen), Err(TokenError::NotRandom)), "{chosen}");
        }
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

    #[test]
    fn hexadecimal_reads_back() {
        let bytes: [u8; 32] = random().unwrap();
        assert_eq!(unhex::<32>(&hex(&bytes)), Some(bytes));
        assert_eq!([unhex::<2>("00f"), unhex::<2>("00fg"), unhex::<2>("+1+1")], [None; 3]);
    }
}
