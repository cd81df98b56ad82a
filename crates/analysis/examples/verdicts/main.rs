//! How often verdicts err, by stored runs and by simulation: the figures of the methodology.
//!
//! `cargo run --release -p tare-analysis --example verdicts -- [capacity|single-round]`; default: all. Seeds
//! are fixed. Smaller versions are among the tests.

mod capacity;
#[path = "../../tests/support/queue.rs"]
mod queue;
#[path = "../../tests/support/rounds.rs"]
mod rounds;
mod single_round;

type Part = fn();

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let parts: [(&str, Part); 2] = [("capacity", capacity::main), ("single-round", single_round::main)];
    for (_, run) in parts.iter().filter(|(part, _)| name.is_empty() || name == *part) {
        run();
    }
}
