//! Who is at the other end: each end shows that it has the token by a MAC over both ends' random numbers and versions, so that the
//! token itself never crosses the wire and no answer is of use twice. It does no I/O.
//!
//! The controller shows it first: a port answers no stranger with anything that is made from the token. What is exchanged is the
//! pattern of ISO/IEC 9798-4, mutual authentication in three passes.

use hmac::Mac;
use serde::{Deserialize, Serialize};

use crate::seal::{End, Seal};
use crate::token::{Token, TokenError, hex, random, unhex};

/// The version of the protocol; another one is refused before anything else is read.
pub const PROTOCOL: &str = "tare-agent/1";
const NONCE_BYTES: usize = 32;
const MAC_BYTES: usize = 32;

/// The first message of either end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    pub protocol: String,
    /// The version of Tare.
    pub tare: String,
    /// A random number, hexadecimal.
    nonce: String,
}

/// A message before both ends know each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Greeting {
    Hello(Hello),
    Proof(String),
    Refused(Refusal),
}

/// Why an agent serves no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    WrongToken,
    /// It serves another run.
    Busy,
}

/// Why two ends do not come together.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HandshakeError {
    #[error("it speaks {theirs}, and this Tare speaks {ours}: use the same version of Tare on all machines")]
    Protocol { ours: String, theirs: String },
    #[error("it is Tare {theirs}, and this is Tare {ours}: use the same version on all machines")]
    Version { ours: String, theirs: String },
    #[error("it does not have this run's token")]
    WrongToken,
    #[error("it refuses the token: give both the same --token-file")]
    TokenRefused,
    #[error("it serves another run")]
    Busy,
    #[error("it does not speak Tare's protocol of agents: {0}")]
    NotOurs(String),
}

impl Hello {
    /// With a number of its own.
    ///
    /// # Errors
    /// The kernel gives no random bytes.
    pub fn new(tare: &str) -> Result<Hello, TokenError> {
        let nonce = hex(&random::<NONCE_BYTES>()?);
        Ok(Hello { protocol: PROTOCOL.to_owned(), tare: tare.to_owned(), nonce })
    }
}

/// The greetings of both ends.
#[derive(Debug, Clone, Copy)]
pub struct Introduction<'a> {
    pub controller: &'a Hello,
    pub agent: &'a Hello,
}

impl Introduction<'_> {
    fn parts<'p>(&'p self, label: &'p [u8]) -> [&'p [u8]; 5] {
        let of = |hello: &'p Hello| [hello.tare.as_bytes(), hello.nonce.as_bytes()];
        let ([one, two], [three, four]) = (of(self.controller), of(self.agent));
        [label, one, two, three, four]
    }

    /// What this end shows.
    #[must_use]
    pub fn proof(&self, token: &Token, by: End) -> String {
        hex(&token.mac(&self.parts(by.label())).finalize().into_bytes())
    }

    /// Whether the other end has the token, in a time that does not depend on how wrong its proof is.
    #[must_use]
    pub fn is_proof(&self, token: &Token, by: End, proof: &str) -> bool {
        let given = unhex::<MAC_BYTES>(proof);
        let mac = token.mac(&self.parts(by.label()));
        given.is_some_and(|given| mac.verify_slice(&given).is_ok())
    }

    /// What protects the messages after the handshake, for this end.
    #[must_use]
    pub fn seals(&self, token: &Token, own: End) -> (Seal, Seal) {
        let key: [u8; 32] = token.mac(&self.parts(b"tare session")).finalize().into_bytes().into();
        (Seal::new(key, own), Seal::new(key, own.other()))
    }

    /// Whether both can work together.
    ///
    /// # Errors
    /// They are of different versions.
    pub fn check(&self, own: End) -> Result<(), HandshakeError> {
        let (ours, theirs) = match own {
            End::Controller => (self.controller, self.agent),
            End::Agent => (self.agent, self.controller),
        };
        let named = |of: fn(&Hello) -> &String| (shown(of(ours)), shown(of(theirs)));
        if ours.protocol != theirs.protocol {
            let (ours, theirs) = named(|hello| &hello.protocol);
            return Err(HandshakeError::Protocol { ours, theirs });
        }
        if ours.tare != theirs.tare {
            let (ours, theirs) = named(|hello| &hello.tare);
            return Err(HandshakeError::Version { ours, theirs });
        }
        Ok(())
    }
}

/// A word of a stranger, as it may be printed.
fn shown(word: &str) -> String {
    const CHARS_MAX: usize = 40;
    word.chars().take(CHARS_MAX).flat_map(char::escape_default).collect()
}

/// Reads a message of the handshake.
///
/// # Errors
/// It is none.
pub fn greeting(message: &[u8]) -> Result<Greeting, HandshakeError> {
    serde_json::from_slice(message).map_err(|error| HandshakeError::NotOurs(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(of: &str) -> Token {
        Token::parse(&of.repeat(32)).unwrap()
    }

    fn hello(tare: &str) -> Hello {
        Hello::new(tare).unwrap()
    }

    #[test]
    fn both_ends_show_the_token_and_neither_sends_it() {
        let (controller, agent) = (hello("1.0.0"), hello("1.0.0"));
        let both = Introduction { controller: &controller, agent: &agent };
        for end in [End::Controller, End::Agent] {
            let proof = both.proof(&token("a"), end);
            assert!(both.is_proof(&token("a"), end, &proof));
            assert!(!both.is_proof(&token("b"), end, &proof), "another token");
            assert!(!both.is_proof(&token("a"), end.other(), &proof), "a proof sent back is none");
            assert!(!both.is_proof(&token("a"), end, &proof[1..]) && !both.is_proof(&token("a"), end, ""));
            assert!(!proof.contains(token("a").reveal()));
        }
        assert_eq!(both.check(End::Controller), Ok(()));
    }

    #[test]
    fn a_proof_is_of_use_once() {
        let (controller, agent, later) = (hello("1.0.0"), hello("1.0.0"), hello("1.0.0"));
        let proof =
            Introduction { controller: &controller, agent: &agent }.proof(&token("a"), End::Controller);
        let again = Introduction { controller: &controller, agent: &later };
        assert!(!again.is_proof(&token("a"), End::Controller, &proof));
    }

    #[test]
    fn a_version_is_part_of_what_is_shown() {
        let (controller, agent) = (hello("1.0.0"), hello("2.0.0"));
        let both = Introduction { controller: &controller, agent: &agent };
        let proof = both.proof(&token("a"), End::Agent);
        let renamed = Hello { tare: "1.0.0".to_owned(), ..agent.clone() };
        let other = Introduction { controller: &controller, agent: &renamed };
        assert!(!other.is_proof(&token("a"), End::Agent, &proof));
        let refused = both.check(End::Controller).unwrap_err().to_string();
        assert_eq!(refused, "it is Tare 2.0.0, and this is Tare 1.0.0: use the same version on all machines");
        let refused = both.check(End::Agent).unwrap_err().to_string();
        assert_eq!(refused, "it is Tare 1.0.0, and this is Tare 2.0.0: use the same version on all machines");
        let newer = Hello { protocol: "tare-agent/9".to_owned(), ..hello("1.0.0") };
        let refused = Introduction { controller: &controller, agent: &newer }.check(End::Controller);
        assert!(matches!(refused, Err(HandshakeError::Protocol { .. })));
    }

    #[test]
    fn what_a_stranger_says_moves_no_cursor() {
        let hostile = Hello { tare: "\x1b[2J".repeat(100), ..hello("1.0.0") };
        let both = Introduction { controller: &hello("1.0.0"), agent: &hostile };
        let text = both.check(End::Controller).unwrap_err().to_string();
        assert!(!text.contains('\x1b') && text.len() < 400, "{text}");
        assert!(greeting(b"GET / HTTP/1.1").is_err());
    }
}
