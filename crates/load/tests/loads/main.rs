//! Loads over real sockets: what a generator sends, what it makes of each answer, and how it ends, over HTTP/1.1, TLS and HTTP/2. The
//! tests run side by side: no bound here depends on what another test does meanwhile.

mod against_wrk;
mod behaviours;
mod connections;
mod failures;
mod http2;
mod judges;
#[path = "../kit/mod.rs"]
mod kit;
mod runs;
mod sequences;
mod tls;
