//! Authenticates requests and answers: each side proves that it has the token of the batch by a keyed hash
//! over the whole message. The token itself is never sent, and changed messages are refused.
//!
//! Replaying a request does no harm, because each may be sent twice. An answer is bound to its request by a
//! nonce, so that an old answer cannot be replayed. Nothing is encrypted.

use std::fmt;

use tare_agent::Token;

use super::{
    is_hash,
    route::{PushRoute, Verb},
};

/// The context string for deriving the key of a batch, used for nothing else.
const CONTEXT: &str = "tare 2026-11-26 bundles over the network";

/// Headers of a request; answers also have the last one.
pub const NONCE: &str = "tare-nonce";
pub const DIGEST: &str = "tare-digest";
pub const PROOF: &str = "tare-proof";

/// The key derived from the token of a batch.
#[derive(Clone)]
pub struct PushKey([u8; 32]);

impl fmt::Debug for PushKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PushKey(..)")
    }
}

impl PushKey {
    pub fn of(token: &Token) -> PushKey {
        PushKey(blake3::derive_key(CONTEXT, token.reveal().as_bytes()))
    }

    /// Each part is preceded by its length, so that different lists of parts have different bytes.
    fn hash(&self, parts: &[&[u8]]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    }
}

/// The authenticated part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub route: PushRoute,
    /// The random number of the sender.
    pub nonce: String,
    /// The BLAKE3 hash of the body. For a bundle it covers `bundle.json`, which has the hashes of all files.
    pub digest: String,
}

impl Asked {
    pub fn new(route: PushRoute, nonce: String, body: &[u8]) -> Asked {
        Asked { route, nonce, digest: digest(body) }
    }

    /// A received request; `None` if it cannot come from a job.
    pub fn received(route: PushRoute, nonce: &str, digest: &str) -> Option<Asked> {
        (is_hash(nonce) && is_hash(digest)).then(|| Asked {
            route,
            nonce: nonce.to_owned(),
            digest: digest.to_owned(),
        })
    }

    fn hash(&self, key: &PushKey) -> blake3::Hash {
        let (verb, path) = (Verb::as_str(self.route.verb()), self.route.to_string());
        key.hash(&[
            b"request",
            verb.as_bytes(),
            path.as_bytes(),
            self.nonce.as_bytes(),
            self.digest.as_bytes(),
        ])
    }

    /// The proof that the sender has the token.
    pub fn proof(&self, key: &PushKey) -> String {
        self.hash(key).to_hex().to_string()
    }

    /// Compares in constant time.
    pub fn is_proof(&self, key: &PushKey, given: &str) -> bool {
        blake3::Hash::from_hex(given).is_ok_and(|given| given == self.hash(key))
    }

    fn hash_of_answer(&self, key: &PushKey, status: u16, body: &[u8]) -> blake3::Hash {
        key.hash(&[b"answer", self.hash(key).as_bytes(), &status.to_le_bytes(), body])
    }

    /// The proof for an answer to this request.
    pub fn proof_of_answer(&self, key: &PushKey, status: u16, body: &[u8]) -> String {
        self.hash_of_answer(key, status, body).to_hex().to_string()
    }

    pub fn is_proof_of_answer(&self, key: &PushKey, status: u16, body: &[u8], given: &str) -> bool {
        blake3::Hash::from_hex(given).is_ok_and(|given| given == self.hash_of_answer(key, status, body))
    }
}

/// The BLAKE3 hash in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use tare_agent::token;

    use super::*;

    /// A token whose bytes count up from `first`.
    fn key(first: u8) -> PushKey {
        PushKey::of(&Token::parse(&digits(first)).unwrap())
    }

    fn digits(first: u8) -> String {
        token::hex(&std::array::from_fn::<u8, 32, _>(|index| first + index as u8))
    }

    fn asked() -> Asked {
        Asked::new(PushRoute::Job { position: 3 }, "0".repeat(64), b"body")
    }

    #[test]
    fn a_proof_is_of_one_request_by_one_token() {
        let asked = asked();
        let proof = asked.proof(&key(1));
        assert!(asked.is_proof(&key(1), &proof));
        assert!(!asked.is_proof(&key(2), &proof) && !asked.is_proof(&key(1), ""));
        assert!(!asked.is_proof(&key(1), &proof[1..]));
        for other in [
            Asked { route: PushRoute::Job { position: 4 }, ..asked.clone() },
            Asked { nonce: "1".repeat(64), ..asked.clone() },
            Asked::new(asked.route.clone(), asked.nonce.clone(), b"other"),
        ] {
            assert!(!other.is_proof(&key(1), &proof), "{other:?}");
        }
    }

    #[test]
    fn an_answer_is_of_one_request_and_is_not_its_proof() {
        let (asked, key) = (asked(), key(1));
        let proof = asked.proof_of_answer(&key, 200, b"yes");
        assert!(asked.is_proof_of_answer(&key, 200, b"yes", &proof));
        assert!(!asked.is_proof_of_answer(&key, 409, b"yes", &proof));
        assert!(!asked.is_proof_of_answer(&key, 200, b"no", &proof));
        assert!(!asked.is_proof_of_answer(&key, 200, b"yes", &asked.proof(&key)));
        let later = Asked { nonce: "1".repeat(64), ..asked };
        assert!(!later.is_proof_of_answer(&key, 200, b"yes", &proof), "an old answer");
    }

    #[test]
    fn a_token_is_in_nothing_that_is_sent_or_printed() {
        let (asked, token) = (asked(), digits(1));
        let shown = format!("{:?} {asked:?} {}", key(1), asked.proof(&key(1)));
        assert!(!shown.contains(&token), "{shown}");
    }

    #[test]
    fn what_is_no_hash_is_no_request() {
        let hash = "0".repeat(64);
        let received =
            |nonce: &str, digest: &str| Asked::received(PushRoute::Job { position: 1 }, nonce, digest);
        assert!(received(&hash, &hash).is_some());
        for wrong in ["", "0", &"g".repeat(64), &"A".repeat(64), &"0".repeat(65)] {
            assert_eq!((received(wrong, &hash), received(&hash, wrong)), (None, None));
        }
    }
}
