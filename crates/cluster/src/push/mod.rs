//! Bundles over the network, where nodes share no folder: a job pushes what it would have left in the folder of its batch to a
//! collector, which has that folder. What counts is decided there, by the same code and the same rename.
//!
//! It is HTTP/1.1, with a request for each connection. These parts do no I/O: which requests there are ([`route`]), who sent them
//! ([`proof`]), what is in them ([`message`], [`unpack`]), and the head of an answer ([`answer`]). [`desk`] answers with the folder of a
//! batch, and knows no sockets; [`client`] is the job's end.
//!
//! Every request may be sent again: the same bundle of the same attempt is accepted as one that is here already.

pub mod answer;
pub(crate) mod client;
pub(crate) mod desk;
pub mod message;
pub mod proof;
mod receive;
pub mod route;
#[cfg(test)]
mod tests;
pub mod unpack;

/// The variable of the environment that holds the token of a job. It is on no command line, because every user of a machine can read
/// those.
pub const TOKEN_VARIABLE: &str = "TARE_PUSH_TOKEN";

/// Requests and answers but for bundles are shorter.
pub const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Hexadecimal digits of a hash, of a nonce and of a proof.
const HASH_DIGITS: usize = 64;

fn is_hash(text: &str) -> bool {
    text.len() == HASH_DIGITS
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
