//! Loads over real sockets: the requests of a generator, its verdict on each answer, and its end, over
//! HTTP/1.1, TLS and HTTP/2. The tests run in parallel, so no bound depends on other tests.

mod against_wrk;
mod behaviours;
mod connections;
mod events;
mod failures;
mod http2;
mod judges;
#[path = "../kit/mod.rs"]
mod kit;
mod runs;
mod sequences;
mod tls;
