//! TLS 1.3, or 1.2, as a driver over a driver: what lies above it sends and receives the same bytes as without.
//!
//! The handshake, tickets and key updates are rustls'. The records after it are read and written here
//! ([RFC 8446](https://www.rfc-editor.org/rfc/rfc8446#section-5), section 5), with the AEADs of rustls' own provider and the
//! secrets that rustls gives to whoever does this in its place, which are made for the kernel: rustls 0.23 itself copies each
//! record into memory of its own, and this decrypts it where it was received.

mod client;
mod handshake;
#[doc(hidden)]
pub mod probe;
mod record;
mod secured;
mod session;
#[cfg(test)]
mod tests;

pub use client::{ClientCertificate, TlsClient, TlsOffer, TlsOptions, TlsVersion, Trust};
pub(crate) use secured::Secured;
