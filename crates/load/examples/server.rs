//! Serves one fixed response as fast as it can: `cargo run --release --example server -- BODY_BYTES
//! [PROTOCOL]`. PROTOCOL is the name of a protocol as in results.

#[path = "../tests/kit/mod.rs"]
mod kit;

use tare_load::Protocol;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = words.get(1).map_or("http/1.1", String::as_str);
    let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.name() == word);
    let protocol = protocol.ok_or_else(|| format!("there is no protocol {word}"))?;
    Ok(kit::process::serve_in_process(words.first().map_or(Ok(12), |bytes| bytes.parse())?, protocol)?)
}
