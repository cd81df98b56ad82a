//! A fast server with one fixed response, in a process of its own, which says where it listens:
//! `cargo run --release --example server -- [BODY_BYTES]`.

#[path = "../tests/kit/mod.rs"]
mod kit;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body_bytes = std::env::args().nth(1).map_or(Ok(12), |word| word.parse())?;
    Ok(kit::process::serve_in_process(body_bytes)?)
}
