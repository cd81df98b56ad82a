//! Bundles over the network, if nodes share no folder: a job pushes its bundle to a collector, which has the
//! folder of the batch. The collector decides which bundle counts, by the same code and the same rename.
//!
//! The protocol is HTTP/1.1, with one request per connection. These parts do no I/O: the requests
//! ([`route`]), their authentication ([`proof`]), their contents ([`message`], [`unpack`]), and the head of
//! an answer ([`answer`]). [`desk`] answers with the folder of a batch, and knows no sockets; [`client`] is
//! the job's side.
//!
//! Every request may be sent again: the same bundle of the same attempt is accepted as already received.

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

/// The environment variable with the token of a job. The token is on no command line, because every user of a
/// machine can read those.
pub const TOKEN_VARIABLE: &str = "TARE_PUSH_TOKEN";

/// The size limit of requests and answers, except bundles.
pub const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The hexadecimal digits of a hash, a nonce and a proof.
const HASH_DIGITS: usize = 64;

fn is_hash(text: &str) -> bool {
    text.len() == HASH_DIGITS
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
