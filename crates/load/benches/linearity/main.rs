//! Checks that a known cost is measured as what it is. The servers differ only in a busy loop of known
//! length. They are loaded in turns, by a generator that sleeps between answers and by one that polls.
//!
//! `cargo bench -p tare-load --bench linearity -- [--rounds 40]`. A round loads each server for 50 ms with
//! each way to wait. The cost of a request is the server's CPU time (schedstat) divided by the answers. The
//! output is the median over the rounds of the difference to the server without a loop, as a share of the
//! loop's own time. The loop is timed in each round on the server's CPU. The benchmark needs two CPUs that
//! are otherwise idle.

#[path = "../../tests/kit/mod.rs"]
mod kit;

use std::error::Error;
use std::process::Command;
use std::time::Duration;

use kit::fixed::{Fixed, burn};
use kit::load::{drivers, generator_of, hello, load, run, seconds, settings};
use kit::process::{Server, cpus, pin, serve_until_parent_ends};
use rustix::process::Signal;
use rustix::time::{ClockId, clock_gettime};
use tare_load::{DriverChoice, DriverKind, Generator, GeneratorSettings, Load, Waiting};

/// The lengths of the loop, as shares of the cost of a request to the server without a loop.
const WEIGHTS: [f64; 5] = [0.01, 0.03, 0.1, 0.3, 1.0];
const CONNECTIONS: usize = 64;
const SLICE_MS: u64 = 50;
/// Steps of the loop in one timing.
const STEPS: u64 = 50_000;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", steps] => {
            Ok(serve_until_parent_ends(&Fixed { burn_steps: steps.parse()?, ..Fixed::hello() })?)
        }
        [] => measure(40),
        ["--rounds", rounds] => measure(rounds.parse()?),
        _ => Err(format!("{words:?} is not understood: give --rounds N, or nothing").into()),
    }
}

/// A server with its loop, and a generator for it that waits in one way.
struct Row {
    server: Server,
    steps: u64,
}

/// A driver and a way to wait.
struct Way {
    driver: DriverKind,
    waiting: Waiting,
    generators: Vec<Generator>,
    /// Cost of a request in ns: for each row, one value per round.
    costs_ns: Vec<Vec<f64>>,
}

fn measure(rounds: usize) -> Result<(), Box<dyn Error>> {
    let &[server_cpu, generator_cpu, ..] = &cpus()[..] else { return Err("it needs two CPUs".into()) };
    let empty = Row::start(0, server_cpu)?;
    let mut first = empty.generator(drivers()[0], generator_cpu)?;
    // The first load finds cold caches.
    let [_, cost_ns] = [(), ()].map(|()| empty.cost_ns(&mut first, Waiting::Poll));
    drop(first);
    let step_ns = step_ns(server_cpu);
    println!("a request without a loop costs {cost_ns:.0} ns; a step of the loop takes {step_ns:.2} ns");
    let steps = WEIGHTS.map(|weight| (weight * cost_ns / step_ns).round() as u64);
    let others: Vec<Row> =
        steps.iter().map(|&steps| Row::start(steps, server_cpu)).collect::<Result<_, _>>()?;
    let rows: Vec<Row> = std::iter::once(empty).chain(others).collect();
    let mut ways = Vec::new();
    for driver in drivers() {
        for waiting in [Waiting::Sleep, Waiting::Poll] {
            let generators =
                rows.iter().map(|row| row.generator(driver, generator_cpu)).collect::<Result<_, _>>()?;
            ways.push(Way { driver, waiting, generators, costs_ns: vec![Vec::new(); rows.len()] });
        }
    }
    let mut steps_ns = Vec::new();
    for _ in 0..rounds {
        steps_ns.push(self::step_ns(server_cpu));
        for way in &mut ways {
            for (i, row) in rows.iter().enumerate() {
                let cost_ns = row.cost_ns(&mut way.generators[i], way.waiting);
                way.costs_ns[i].push(cost_ns);
            }
        }
    }
    let step_ns = median(&mut steps_ns);
    ways.iter().for_each(|way| way.print(&rows, step_ns));
    Ok(())
}

impl Row {
    fn start(steps: u64, cpu: usize) -> Result<Row, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["server", &steps.to_string()]);
        pin(&[cpu]);
        let server = Server::start(command)?;
        server.signal(Signal::STOP);
        Ok(Row { server, steps })
    }

    fn generator(&self, driver: DriverKind, cpu: usize) -> Result<Generator, Box<dyn Error>> {
        let settings = GeneratorSettings {
            driver: DriverChoice::Only(driver),
            cpus: vec![cpu],
            ..settings(self.server.target, CONNECTIONS, 1)
        };
        let mut generator = generator_of(settings, hello());
        self.server.signal(Signal::CONT);
        generator.open(CONNECTIONS, seconds(5))?;
        self.server.signal(Signal::STOP);
        Ok(generator)
    }

    /// CPU time of a request in one slice.
    fn cost_ns(&self, generator: &mut Generator, waiting: Waiting) -> f64 {
        let before_ns = self.server.cpu_ns();
        self.server.signal(Signal::CONT);
        let report = run(generator, &Load { waiting, ..load(SLICE_MS, 1_000) });
        self.server.signal(Signal::STOP);
        // A signal takes a moment to arrive.
        std::thread::sleep(Duration::from_millis(1));
        (self.server.cpu_ns() - before_ns) as f64 / report.total.tally.answered as f64
    }
}

impl Way {
    fn print(&self, rows: &[Row], step_ns: f64) {
        let empty = &self.costs_ns[0];
        let base_ns = median(&mut empty.clone());
        println!("\n{}, {:?}: {base_ns:.0} ns without a loop", self.driver.name(), self.waiting);
        for (row, costs_ns) in rows.iter().zip(&self.costs_ns).skip(1) {
            let mut read_ns: Vec<f64> =
                costs_ns.iter().zip(empty).map(|(cost, empty)| cost - empty).collect();
            let added_ns = row.steps as f64 * step_ns;
            let (middle_ns, error_ns) = (median(&mut read_ns), standard_error(&read_ns));
            println!(
                "  {added_ns:6.0} ns added ({:5.1}%), read as {middle_ns:6.0} ± {error_ns:.0} ns: {:.2} of it",
                100.0 * added_ns / base_ns,
                middle_ns / added_ns
            );
        }
    }
}

/// Duration of one step of the loop on this CPU, by the CPU clock of this thread.
fn step_ns(cpu: usize) -> f64 {
    pin(&[cpu]);
    let began_ns = thread_cpu_ns();
    burn(STEPS);
    (thread_cpu_ns() - began_ns) as f64 / STEPS as f64
}

fn thread_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Standard error of the median of sorted values, from their quartiles. Assumes a normal distribution.
fn standard_error(sorted: &[f64]) -> f64 {
    let quartile = |share: usize| sorted[(sorted.len() - 1) * share / 4];
    1.253 * (quartile(3) - quartile(1)) / 1.349 / (sorted.len() as f64).sqrt()
}
