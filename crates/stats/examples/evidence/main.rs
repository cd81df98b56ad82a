//! Simulated error rates and power of each method: the figures in the documentation of the crate.
//!
//! `cargo run --release -p tare-stats --example evidence -- [NAME] [N]`: NAME is coverage, looks, gate,
//! ranking, history, runs, starts, precision, neighbours or machines; default: all. `N` multiplies the number
//! of simulations; default: 1. Seeds are fixed. Smaller versions are among the tests.

mod coverage;
mod gate;
mod history;
mod looks;
mod machines;
#[path = "../../tests/methods/models.rs"]
mod models;
mod neighbours;
mod precision;
mod ranking;
mod runs;
mod starts;

type Part = fn(f64);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let times: f64 = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1.0);
    let parts: [(&str, Part); 10] = [
        ("coverage", coverage::main),
        ("looks", looks::main),
        ("gate", gate::main),
        ("ranking", ranking::main),
        ("history", history::main),
        ("runs", runs::main),
        ("starts", starts::main),
        ("precision", precision::main),
        ("neighbours", neighbours::main),
        ("machines", machines::main),
    ];
    for (_, run) in parts.iter().filter(|(part, _)| name.is_empty() || name == *part) {
        run(times);
    }
}

/// A fresh generator for each part, so that parts can be run by themselves.
fn rng() -> rand_chacha::ChaCha8Rng {
    rand::SeedableRng::seed_from_u64(0x7a5e)
}

/// The percentage of `count` trials that hold.
fn percent(count: usize, mut holds: impl FnMut() -> bool) -> f64 {
    100.0 * (0..count).filter(|_| holds()).count() as f64 / count as f64
}

fn scaled(count: usize, times: f64) -> usize {
    (count as f64 * times) as usize
}
