//! Prints the throughput of a closed loop of `GET /` and its cost to the generator: `cargo run --release
//! --example closed -- ADDRESS CONNECTIONS SECONDS [DRIVER] [BODY_BYTES] [THREADS]`. BODY_BYTES is the size
//! that the example `server` sends, or `any`.

#[path = "../tests/kit/mod.rs"]
mod kit;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    kit::closed::run(&words)
}
