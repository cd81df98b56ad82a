//! TLS 1.3, or 1.2, as a driver over a driver: the layer above has the same bytes as without TLS.
//!
//! rustls does the handshake, tickets and key updates. This module reads and writes the records after it
//! ([RFC 8446](https://www.rfc-editor.org/rfc/rfc8446#section-5), section 5), with the AEADs of rustls' own
//! provider. rustls exports the secrets for this purpose, mainly for TLS in the kernel. The reason: rustls
//! 0.23 copies each record into memory of its own, while this module decrypts it in place.

mod client;
mod handshake;
#[doc(hidden)]
pub mod probe;
mod record;
mod secured;
mod session;
#[cfg(test)]
mod tests;

pub use client::{ClientCertificate, TlsClient, TlsOffer, TlsOptions, TlsTrust, TlsVersion};
pub(crate) use secured::Secured;
