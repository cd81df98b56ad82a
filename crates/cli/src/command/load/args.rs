//! The command line of `tare load`: habits of wrk, wrk2, hey and curl, each with its limits.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use tare_load::{DriverChoice, Think};

use super::{
    output::{Exports, Format},
    request::{self, Header, Only},
    url::{self, Url},
    words::{self, Rate},
};

/// Load an HTTP server: closed or open loop, every response checked, the generator's own limits told
#[derive(Debug, clap::Args)]
#[command(
    long_about = LONG_ABOUT,
    after_help = "All options and examples: tare load --help",
    after_long_help = AFTER_LONG_HELP
)]
pub struct Args {
    /// Where to: http://HOST[:PORT][/PATH]; several on the same server take turns
    #[arg(value_name = "URL", value_parser = url::parse, required_unless_present = "calibrate")]
    pub urls: Vec<Url>,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub checking: CheckingArgs,
    #[command(flatten)]
    pub transport: TransportArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Take no URL, and measure what this machine's generator can do, against the built-in raw-socket server
    #[arg(
        long,
        help_heading = "Instead of a load",
        conflicts_with_all = ["urls", "PaceArgs", "RequestArgs", "CheckingArgs", "TransportArgs", "Exports", "latency"]
    )]
    pub calibrate: bool,
    /// Show the requests, what is expected and the plan, and send nothing
    #[arg(long, help_heading = "Instead of a load", conflicts_with_all = ["calibrate", "json"])]
    pub dry_run: bool,
}

/// When requests are sent, and until when.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct PaceArgs {
    /// Send for so long, such as 500ms, 30s or 2m [default: what a ramp or steps last, else 10s; with a number of requests or
    /// connections at most 1h, or 30s without a server]
    #[arg(short, long, value_name = "TIME", value_parser = words::duration)]
    pub duration: Option<Duration>,
    /// Send so many requests over all connections, for at most the time of -d
    #[arg(
        short = 'n', long, value_name = "N", value_parser = words::count,
        conflicts_with_all = ["requests_each", "connections_total"]
    )]
    pub requests: Option<u64>,
    /// Open loop: so many requests a second in all, whether or not the server answers: 20k, a ramp 1k..20k/30s, or
    /// steps 1k:10s,5k:10s
    #[arg(
        short = 'R', long, value_name = "RATE", value_parser = words::rate,
        conflicts_with_all = ["think", "pipeline", "requests_each", "connections_total"]
    )]
    pub rate: Option<Rate>,
    /// How arrivals are spread around the rate: evenly, or at random and independently of each other
    #[arg(long, value_enum, requires = "rate", default_value = "constant")]
    pub arrivals: Spread,
    /// How long before a request is due the generator stops sleeping and polls, for a rate that is kept to the microsecond
    /// [default: 60us where it has a CPU to itself, else 0]
    #[arg(long, value_name = "TIME", value_parser = words::duration, requires = "rate")]
    pub spin: Option<Duration>,
    /// Each connection pauses between an answer and its next request: 100ms, or 50ms..150ms for any time between
    #[arg(long, value_name = "TIME", value_parser = words::think)]
    pub think: Option<Think>,
    /// Batch: each connection sends so many requests of its own, for at most the time of -d
    #[arg(long, value_name = "N", value_parser = words::count, conflicts_with = "connections_total")]
    pub requests_each: Option<u64>,
    /// Sessions: so many connections are opened in all, -c of them at a time, for at most the time of -d
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub connections_total: Option<u64>,
    /// Close a connection after so many requests and open another [default: never; 1 with --connections-total]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub requests_per_connection: Option<u64>,
    /// Keep so many requests in flight on each connection
    #[arg(long, value_name = "N", value_parser = words::count, conflicts_with = "think")]
    pub pipeline: Option<u64>,
    /// Load for so long before, and do not report it
    #[arg(long, value_name = "TIME", value_parser = words::duration)]
    pub warm_up: Option<Duration>,
    /// How long the answers in flight are awaited at the end [default: --timeout]
    #[arg(long, value_name = "TIME", value_parser = tare_load::schedule::parse::parse_duration)]
    pub drain: Option<Duration>,
    /// Fixes think times, random arrivals and what the requests of a contract say [default: a new one, shown]
    #[arg(long)]
    pub seed: Option<u64>,
}

/// How arrivals are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Spread {
    /// Evenly
    Constant,
    /// At random
    Poisson,
}

/// What is sent.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// The method [default: GET; POST with --data]
    #[arg(short = 'X', long, alias = "request", value_name = "METHOD", value_parser = request::method)]
    pub method: Option<String>,
    /// A header, such as "Accept: */*"; as in curl "Name:" leaves one out and "Name;" sends it empty
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = request::header)]
    pub headers: Vec<Header>,
    /// The body, @FILE or @- for standard input, byte for byte; as in curl a form by default: name another Content-Type
    /// by -H
    #[arg(long, visible_alias = "body", value_name = "TEXT|@FILE")]
    pub data: Option<String>,
    /// Send the requests of contracts/NAME.toml and ask for its answers; the URL names the server only
    #[arg(long, value_name = "NAME", conflicts_with_all = ["method", "headers", "data", "expect_status", "expect_body"])]
    pub contract: Option<String>,
    /// Only these requests of the contract, NAME or NAME=WEIGHT: status=3,label sends status three times as often
    #[arg(long, value_name = "NAME=WEIGHT", value_delimiter = ',', requires = "contract", value_parser = request::only)]
    pub only: Vec<Only>,
}

/// What is right.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Checking")]
pub struct CheckingArgs {
    /// Ask nothing before, and take every complete response for right
    #[arg(long, conflicts_with_all = ["expect_status", "expect_body"])]
    pub no_check: bool,
    /// The right status [default: what comes before the load, if it is below 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(200..=599))]
    pub expect_status: Option<u16>,
    /// The right body, or @FILE [default: what comes before the load, if it comes twice]
    #[arg(long, value_name = "TEXT|@FILE")]
    pub expect_body: Option<String>,
    /// The share of failed requests from which the run is not valid
    #[arg(long, value_name = "SHARE", value_parser = words::share, default_value = "0%")]
    pub max_errors: f64,
    /// How long a response may take from its request to its last byte
    #[arg(long, value_name = "TIME", value_parser = words::duration, default_value = "2s")]
    pub timeout: Duration,
}

/// How the server is reached.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections and generator")]
pub struct TransportArgs {
    /// Connections in all; in an open loop the most there may be [default: 64, or as few as -n needs]
    #[arg(short, long, value_name = "N", value_parser = words::count)]
    pub connections: Option<u64>,
    /// Threads of the generator; one is enough for most servers, and a doubt is told where it is not
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), default_value_t = 1)]
    pub threads: u16,
    /// Pin the threads to these CPUs, such as 1 or 0,2-3; best are some that the server does not use
    #[arg(long, value_name = "LIST", value_parser = words::cpus)]
    pub cpus: Option<::std::vec::Vec<usize>>,
    /// How the kernel is talked to: auto, io_uring or epoll; auto takes io_uring where the kernel allows it, and epoll for
    /// bodies from 64 KiB
    #[arg(long, value_name = "NAME", value_parser = str::parse::<DriverChoice>, default_value = "auto")]
    pub driver: DriverChoice,
    /// How long one connection may take to be established
    #[arg(long, value_name = "TIME", value_parser = words::duration, default_value = "5s")]
    pub connect_timeout: Duration,
    /// Connect from these addresses in turn: one, a list or a range such as 127.0.0.2-127.0.0.9, for more connections
    /// than one address has ports
    #[arg(long, value_name = "ADDRESSES", value_parser = words::sources, conflicts_with = "unix")]
    pub source: Option<::std::vec::Vec<IpAddr>>,
    /// Connect to this Unix socket; the URL says Host and path
    #[arg(long, value_name = "PATH")]
    pub unix: Option<PathBuf>,
    /// Load this host although it is not this machine: it must be yours
    #[arg(long, value_name = "HOST")]
    pub i_may_load: Option<String>,
}

/// What is said about it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Show more percentiles
    #[arg(short = 'L', long)]
    pub latency: bool,
    /// The form of the result
    #[arg(long, value_enum, default_value = "text", conflicts_with = "calibrate")]
    pub format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub exports: Exports,
}

impl OutputArgs {
    /// The form that was asked for, one way or the other.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

const LONG_ABOUT: &str = "\
Load an HTTP server: closed or open loop, every response checked, the generator's own limits told

Without -R each connection sends its next request when the last one is answered (a closed loop); with -R requests are \
due at instants of their own, and their latency counts from there, so that a server that stalls cannot hide it. \
Without -d or a number it takes 10 s, over 64 connections and one thread.

Before the load each request is asked twice. Where status and body are the same both times, every response must have \
them; where the bodies differ, only the status is compared. A wrong or missing answer is an error and no throughput, \
and a run with errors, or one in which the generator was the limit, ends with status 4.

Only this machine is loaded: loopback, its own addresses, Unix sockets. Another host must be named by --i-may-load.";

const AFTER_LONG_HELP: &str = "\
Examples:
  tare load http://127.0.0.1:8080/                              64 connections for 10 s
  tare load -c 400 -d 30s --cpus 1 --latency URL                like wrk, on a CPU of its own
  tare load -R 20k --arrivals poisson -d 1m URL                 20,000 a second at random instants
  tare load -R 1k..20k/30s -d 40s URL                           a ramp: where does it give in?
  tare load --data @order.json -H 'Content-Type: application/json' URL
  tare load -c 1000 --think 50ms..150ms URL                     a thousand users who think
  tare load --connections-total 10k --requests-per-connection 5 URL      sessions of five requests
  tare load -c 100 --requests-each 100 --requests-per-connection 1 URL   a batch without keep-alive
  tare load --contract rest --only status=3,label http://127.0.0.1:8080
  tare load --unix /run/app.sock http://localhost/
  tare load --calibrate                                         what can the generator do here?

Coming from another tool:
  wrk -t2 -c100 -d30s --timeout 2s --latency       the same words
  wrk2 -R2000                                      -R 2000
  hey -n 2000 -c 50 -z 30s                         -n 2000 -c 50 -d 30s
  hey -q 10 -c 50 (10 a second for each of 50)     -R 500 -c 50
  hey -m POST -T text/plain -D file                --data @file -H 'Content-Type: text/plain'
  hey -disable-keepalive                           --requests-per-connection 1
  curl -X PUT -H 'A: b' --data-binary @file        -X PUT -H 'A: b' --data @file
  curl --unix-socket PATH                          --unix PATH

Exit codes: 0 valid, 1 usage or set-up, 4 measured and not valid, 130 or 143 interrupted.";
