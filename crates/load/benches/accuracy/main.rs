//! Experiments with a known result, measured at length. The tests of the same names bound them loosely.
//!
//! `cargo bench -p tare-load --bench accuracy -- [open] [mm1] [stall] [sessions] [memory] [--seconds 100]
//! [--driver epoll]`. All of them take some ten minutes for each driver; `--seconds` is the length of `mm1`, and the
//! others follow it. Ends with 1 if a figure is outside of its bounds.

#[path = "../../tests/kit/mod.rs"]
mod kit;

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use kit::load::{drivers, excuse, load, run};
use kit::process::{Server, cpus, descriptors, pin, serve_in_process};
use kit::scenarios::*;
use kit::stations::Stations;
use tare_base::Histogram;
use tare_base::units::parse_duration;
use tare_load::{DriverChoice, DriverKind, Protocol};

/// The settings of this benchmark, and the outcome so far.
struct Bench {
    client: Client,
    length: Duration,
    is_good: bool,
}

type Experiment = (&'static str, fn(&mut Bench));

/// Memory comes first, while the process is small.
const EXPERIMENTS: [Experiment; 5] = [
    ("memory", Bench::memory),
    ("open", Bench::open),
    ("stall", Bench::stall),
    ("mm1", Bench::mm1),
    ("sessions", Bench::sessions),
];

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    act(&words).unwrap_or_else(|error| {
        eprintln!("accuracy: {error}");
        ExitCode::FAILURE
    })
}

fn act(words: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    if let [role, body_bytes] = words
        && role == "server"
    {
        serve_in_process(body_bytes.parse()?, Protocol::Http1)?;
    }
    let (mut names, mut length, mut driver) = (Vec::new(), Duration::from_secs(100), None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--seconds" => length = parse_duration(rest.next().ok_or("--seconds needs a number")?)?,
            "--driver" => driver = Some(rest.next().ok_or("--driver needs io_uring or epoll")?.parse()?),
            name if EXPERIMENTS.iter().any(|(known, _)| *known == name) => names.push(name),
            other => return Err(format!("\"{other}\" is none of open, mm1, stall, sessions, memory").into()),
        }
    }
    match driver {
        Some(DriverChoice::Only(driver)) => Ok(measure(driver, length, &names)),
        Some(DriverChoice::Auto) => {
            Err("--driver takes io_uring or epoll: all there are is the default".into())
        }
        None => each_driver(words),
    }
}

/// Each driver runs in a process of its own: memory that one driver has freed would be available to the next.
fn each_driver(words: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let mut is_good = true;
    for driver in drivers() {
        let mut command = Command::new(std::env::current_exe()?);
        is_good &= command.args(words).args(["--driver", driver.name()]).status()?.success();
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(driver: DriverKind, length: Duration, names: &[&str]) -> ExitCode {
    let (server_cpu, own_cpu) = match cpus()[..] {
        [first, second, ..] => (first, second),
        [only, ..] => {
            println!("one CPU: the server and the generator share it, so all times are too long");
            (only, only)
        }
        [] => unreachable!("this process runs somewhere"),
    };
    // Servers inherit this CPU; the generator has another.
    pin(&[server_cpu]);
    let mut bench =
        Bench { client: Client { cpus: vec![own_cpu], ..Client::with(driver) }, length, is_good: true };
    println!("driver {}: server on CPU {server_cpu}, generator on CPU {own_cpu}", driver.name());
    for (name, experiment) in EXPERIMENTS {
        if names.is_empty() || names.contains(&name) {
            experiment(&mut bench);
        }
    }
    if bench.is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn server() -> Server {
    let mut command = Command::new(std::env::current_exe().expect("a process has a path"));
    command.args(["server", "12"]);
    Server::start(command).expect("this program starts a second time")
}

fn us(histogram: &Histogram, q: f64) -> f64 {
    histogram.quantile_ns(q) as f64 / 1e3
}

impl Bench {
    /// Prints a figure, with whether it is within its bound.
    fn bounded(&mut self, what: &str, is_good: bool) {
        self.is_good &= is_good;
        println!("    {what}: {}", if is_good { "good" } else { "OUTSIDE" });
    }

    fn open(&mut self) {
        let server = server();
        let mut generator = self.client.generator(server.target, 64);
        let capacity = run(&mut generator, &load(2_000, 1_000)).answers_per_s();
        drop(generator);
        println!("  open loop, 64 connections, even arrivals; a closed loop gets {capacity:.0} requests/s");
        for rate_per_s in [20_000.0, (capacity / 2.0).round()] {
            let (report, due) = at_rate(&self.client, server.target, rate_per_s, self.length / 10);
            let (tally, lag) = (&report.total.tally, &report.total.schedule_lag);
            println!(
                "    {rate_per_s:.0}/s asked, {:.1}/s answered; schedule lag p50 {:.1} us, p99 {:.1} us, p99.9 {:.1} \
                 us, max {:.1} us; {:.2} us of CPU a request",
                report.answers_per_s(),
                us(lag, 0.5),
                us(lag, 0.99),
                us(lag, 0.999),
                us(lag, 1.0),
                report.generator_cpu_ns_per_answer() / 1e3,
            );
            let off = tally.sent as f64 / due - 1.0;
            let what = format!("{} of {due} sent, {:+.4}% off, at most 0.1%", tally.sent, off * 100.0);
            self.bounded(&what, off.abs() <= 0.001 && tally.answered == tally.sent);
        }
    }

    fn mm1(&mut self) {
        let stations = Stations { count: 40, services_per_s: 250.0, seed: 2 };
        println!(
            "  {} M/M/1 of {} services/s each at half load, {:?}",
            stations.count, stations.services_per_s, self.length
        );
        let (rows, report, late) = half_loaded(&self.client, stations, self.length);
        println!(
            "    {} requests; schedule lag p50 {:.1} us, p99 {:.1} us; answers left late p50 {:.1} us, p99 {:.1} us",
            report.total.tally.answered,
            us(&report.total.schedule_lag, 0.5),
            us(&report.total.schedule_lag, 0.99),
            us(&late, 0.5),
            us(&late, 0.99)
        );
        if let Some(excuse) = excuse(&report, &late) {
            println!("    do not believe this one, {excuse}");
        }
        for Sojourn { q, measured_ns, realised_ns, theory_ns, error_share } in rows {
            let (by_theory, by_server) = (measured_ns / theory_ns - 1.0, measured_ns / realised_ns - 1.0);
            let what = format!(
                "p{:.0} {:.3} ms, theory {:.3} ms: {:+.2}% (standard error {:.2}%), against the server's own measurement {:+.2}%; at \
                 most 3%",
                q * 100.0,
                measured_ns / 1e6,
                theory_ns / 1e6,
                by_theory * 100.0,
                error_share * 100.0,
                by_server * 100.0
            );
            self.bounded(&what, by_theory.abs() <= 0.03);
        }
    }

    fn stall(&mut self) {
        let window = Duration::from_secs((self.length.as_secs() / 5).max(1));
        for pause in [Pause::Own, Pause::Signals(server)] {
            println!("  a server that stands still for 200 ms of every second, {}, {window:?}", pause.name());
            let reports = stalled(&self.client, pause, 1_000.0, window);
            for (kind, report) in ["open, 1,000/s", "closed, 10 connections"].iter().zip(&reports) {
                let ms = |q: f64| report.total.quantile(q).ns as f64 / 1e6;
                let (p50, p90, p99, p999) = (ms(0.5), ms(0.9), ms(0.99), ms(0.999));
                let count = report.total.tally.answered;
                println!(
                    "    {kind}: {count} answers, p50 {p50:.3} p90 {p90:.3} p99 {p99:.3} p99.9 {p999:.3} ms"
                );
            }
            let off = reports[0].total.quantile(0.99).ns as f64 / STALLED_P99_NS - 1.0;
            self.bounded(
                &format!("p99 of the open loop: {:+.2}% off 190 ms, at most 5%", off * 100.0),
                off.abs() <= 0.05,
            );
        }
    }

    fn sessions(&mut self) {
        let start = Instant::now();
        let total = sessions(&self.client, server().target, 20_000, 200, 20).total;
        let (tally, times) = (&total.tally, &total.connection_time);
        println!(
            "  20,000 connections of 200 requests, 20 at a time, in {:.1} s",
            start.elapsed().as_secs_f64()
        );
        println!(
            "    connect p50 {:.1} us, p99 {:.1} us; a connection p50 {:.1} us, p99 {:.1} us",
            us(&total.connect_time, 0.5),
            us(&total.connect_time, 0.99),
            us(times, 0.5),
            us(times, 0.99)
        );
        let (sent, unsent, failed) = (tally.sent, tally.unsent, tally.failed.total());
        let what = format!(
            "sent {sent} + unsent {unsent} = 4,000,000; sent = answered {} + failed {failed}",
            tally.answered
        );
        self.bounded(&what, sent + unsent == 4_000_000 && sent == tally.answered + failed);
    }

    fn memory(&mut self) {
        const SPARE: u64 = 100;
        let wanted = 20_000;
        let connections = descriptors(wanted + SPARE).min(wanted + SPARE) - SPARE;
        if connections < wanted {
            println!(
                "  {connections} connections and not {wanted}: no more open files are allowed (`ulimit -Hn`)"
            );
        }
        let connections = connections as usize;
        let memory = memory(&self.client, server().target, connections);
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!(
            "  {connections} connections at once: {:.1} MiB before, {:.1} MiB idle, {:.1} MiB after an answer on each",
            mib(memory.before_bytes),
            mib(memory.idle_bytes),
            mib(memory.used_bytes)
        );
        let bytes = memory.bytes_per_connection(connections);
        self.bounded(&format!("{bytes:.0} bytes a connection, at most 4096"), bytes <= 4096.0);
    }
}
