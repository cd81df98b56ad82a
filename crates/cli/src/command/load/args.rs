//! The command line of `tare load`: the options of wrk, wrk2, hey and curl, each with its limits.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::ArgGroup;
use tare_base::units::parse_time;
use tare_load::{DriverChoice, Think, Waiting};

use super::{
    super::{target::socket::SocketOptions, words::share},
    protocol::ProtocolArgs,
    request::{self, Header, Only},
    url::{self, Url},
    words::{self, Rate},
};

/// Load any HTTP server on this machine, and check every answer
#[derive(Debug, clap::Args)]
#[command(
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    after_long_help = AFTER_LONG_HELP
)]
pub(crate) struct Args {
    /// http://HOST[:PORT][/PATH], or https://; several URLs of one server are requested in turns
    #[arg(value_name = "URL", value_parser = url::parse, required_unless_present_any = ["calibrate", "url_file"])]
    pub urls: Vec<Url>,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub events: EventArgs,
    #[command(flatten)]
    pub checking: CheckingArgs,
    #[command(flatten)]
    pub protocol: ProtocolArgs,
    #[command(flatten)]
    pub transport: TransportArgs,
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Measure the limits of the generator on this machine, against the built-in raw-socket server; takes no URL
    #[arg(
        long,
        help_heading = "Instead of a load",
        conflicts_with_all = [
            "urls", "PaceArgs", "RequestArgs", "EventArgs", "CheckingArgs", "ProtocolArgs", "SpokenOptions", "TransportArgs",
            "SocketOptions", "Exports", "latency",
        ]
    )]
    pub calibrate: bool,
    /// Print the requests, the expected responses and the plan; send nothing
    #[arg(long, help_heading = "Instead of a load", conflicts_with_all = ["calibrate", "json"])]
    pub dry_run: bool,
    #[arg(skip)]
    pub group: Group,
}

/// What another command, whose engine starts the generators, tells this one.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub is_given: bool,
    /// Where the service was found, in place of the host of the URLs.
    pub service: Option<IpAddr>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct PaceArgs {
    /// Duration, such as 500ms, 90 or 1m30s [default: 10s, or the length of the ramp or steps of -R]. With a number of requests
    /// or connections it is a time limit [default: 1h, or 30s in which the server accepts no connection]
    #[arg(short, long, value_name = "TIME", value_parser = words::duration, allow_negative_numbers = true)]
    pub duration: Option<Duration>,
    /// Send this number of requests, over all connections
    #[arg(
        short = 'n', long, value_name = "N", value_parser = words::count,
        conflicts_with_all = ["requests_each", "connections_total"]
    )]
    pub requests: Option<u64>,
    /// Open loop: requests per second over all connections, sent whether or not the server answers: 20k, 5000/s, a ramp
    /// 1k..20k/30s, or steps 1k:10s,5k:10s
    #[arg(
        short = 'R', long, value_name = "RATE", value_parser = words::rate, allow_negative_numbers = true,
        conflicts_with_all = ["think", "pipeline", "requests_each", "connections_total"]
    )]
    pub rate: Option<Rate>,
    /// When requests are due in an open loop
    #[arg(long, value_enum, requires = "rate", default_value = "constant")]
    pub arrivals: Spread,
    /// Poll instead of sleeping: "always", or this long before a request of an open loop is due, to send it within a
    /// microsecond. A server has to wake a generator that sleeps, so "always" makes the server's CPU time comparable. It takes
    /// a whole CPU per thread [default: 60us with -R if there is another CPU for the server, "always" without -R if the server
    /// may not use the generator's CPUs, else 0]
    #[arg(long, value_name = "TIME", value_parser = words::waiting)]
    pub spin: Option<Waiting>,
    /// Think time of each connection between a response and its next request: 100ms, or 50ms..150ms (uniform)
    #[arg(long, value_name = "TIME", value_parser = words::think)]
    pub think: Option<Think>,
    /// Batch: each connection, or over HTTP/2 each stream, sends this number of requests
    #[arg(long, value_name = "N", value_parser = words::count, conflicts_with = "connections_total")]
    pub requests_each: Option<u64>,
    /// Sessions: open this number of connections in all, -c of them at a time. HTTP/1.1 only
    #[arg(long, value_name = "N", value_parser = words::count, conflicts_with_all = ["h2", "h2c"])]
    pub connections_total: Option<u64>,
    /// Close a connection after N requests and open another. HTTP/1.1 only [default: never; 1 with --connections-total]
    #[arg(long, value_name = "N", value_parser = words::count, conflicts_with_all = ["h2", "h2c"])]
    pub requests_per_connection: Option<u64>,
    /// Number of requests in flight on each connection (HTTP pipelining). HTTP/1.1 only
    #[arg(long, value_name = "N", value_parser = words::count, conflicts_with_all = ["think", "h2", "h2c"])]
    pub pipeline: Option<u64>,
    /// Load the server for this time first, without reporting it
    #[arg(long, value_name = "TIME", value_parser = words::duration)]
    pub warm_up: Option<Duration>,
    /// At the end, wait this long for outstanding responses [default: --timeout]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub drain: Option<Duration>,
    /// Seed of think times, random arrivals and the values of placeholders [default: random, printed]
    #[arg(long)]
    pub seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Spread {
    /// Evenly spaced
    Constant,
    /// At random instants (a Poisson process)
    Poisson,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestArgs {
    /// Method [default: GET; POST with --data]
    #[arg(short = 'X', long, alias = "request", value_name = "METHOD", value_parser = request::method)]
    pub method: Option<String>,
    /// Header, such as "Accept: */*"; as in curl "Name:" removes it and "Name;" sends it empty
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = request::header)]
    pub headers: Vec<Header>,
    /// Body, or @FILE, or @- for standard input. Its Content-Type is that of JSON if it is an object or an array of it, or else of a
    /// form, unless you give one with -H
    #[arg(long, visible_alias = "body", value_name = "TEXT|@FILE")]
    pub data: Option<String>,
    /// Request the URLs in this file too, in turns: one per line; empty lines and lines that begin with # are skipped
    #[arg(long = "urls", value_name = "FILE")]
    pub url_file: Option<PathBuf>,
    /// Send `{{` as it is. Without this, placeholders vary URL, headers and body: {{number}}, {{number:1-1000}}, {{label}},
    /// {{phrase}} and {{text}} are drawn anew for each of 512 requests, and those with the same name are equal in one request:
    /// {{number.id}}
    #[arg(long, conflicts_with = "contract")]
    pub no_placeholders: bool,
    /// Send the requests of contracts/NAME.toml and expect its responses; the URL names only the server
    #[arg(long, value_name = "NAME", conflicts_with_all = ["method", "headers", "data", "expect_status", "expect_body"])]
    pub contract: Option<String>,
    /// Only these requests of the contract, NAME or NAME=WEIGHT: `status=3,label` sends status three times as often
    #[arg(long, value_name = "NAME=WEIGHT", value_delimiter = ',', requires = "contract", value_parser = request::only)]
    pub only: Vec<Only>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Server-sent events")]
pub(crate) struct EventArgs {
    /// Each answer is a stream of events: check and time every event. Streams that are open when the load ends are closed. An
    /// event that is missing for --timeout is a failure
    #[arg(long, conflicts_with_all = ["contract", "agents", "expect_body", "pipeline"])]
    pub events: bool,
    /// Interval at which the server sends events. The delay of an event then counts from when it was due, by the first event of its
    /// stream
    #[arg(long, value_name = "TIME", requires = "events", value_parser = words::duration)]
    pub event_every: Option<Duration>,
    /// Member of the data, a JSON object, that has the Unix time at which the server sent the event, in s, ms, us or ns; "." if the
    /// data itself is that time. The delay of an event then counts from there
    #[arg(long, value_name = "MEMBER", requires = "events", conflicts_with = "event_every")]
    pub event_time: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Checking")]
pub(crate) struct CheckingArgs {
    /// Accept every complete response, and send no requests before the load
    #[arg(long, conflicts_with_all = ["expect_status", "expect_body"])]
    pub no_check: bool,
    /// Expected status [default: that of the responses before the load, if below 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(200..=599))]
    pub expect_status: Option<u16>,
    /// Expected body, or @FILE [default: that of the responses before the load, if both are the same]
    #[arg(long, value_name = "TEXT|@FILE")]
    pub expect_body: Option<String>,
    /// Share of failed requests above which the run is not valid
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0%")]
    pub max_errors: f64,
    /// Share of this machine's CPUs that other programs may take while no CPU is idle; above it the run is not valid
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "10%")]
    pub max_interference: f64,
    /// Time limit of a response, from its request to its last byte [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = words::duration)]
    pub timeout: Option<Duration>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections and generator")]
pub(crate) struct TransportArgs {
    /// Number of connections; in an open loop the maximum [default: 64, or fewer if -n needs fewer]
    #[arg(short, long, value_name = "N", value_parser = words::count)]
    pub connections: Option<u64>,
    /// Threads of the generator; one is enough for most servers, and a warning says if it is not
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), default_value_t = 1)]
    pub threads: u16,
    /// Pin the threads to these CPUs, such as 1 or 0,2-3; best to CPUs that the server does not use
    #[arg(long, value_name = "LIST", value_parser = words::cpus)]
    pub cpus: Option<::std::vec::Vec<usize>>,
    /// Kernel interface: auto, io_uring or epoll; auto takes io_uring if the kernel allows it, and epoll for bodies of 64 KiB
    /// or more
    #[arg(long, value_name = "NAME", value_parser = str::parse::<DriverChoice>, default_value = "auto")]
    pub driver: DriverChoice,
    /// Time limit for establishing a connection, with the handshake of TLS [default: 5s, or --timeout if that is given and less]
    #[arg(long, value_name = "TIME", value_parser = words::duration)]
    pub connect_timeout: Option<Duration>,
    /// Source addresses, used in turns: one, a list or a range such as 127.0.0.2-127.0.0.9, for more connections than one
    /// address has ports
    #[arg(long, value_name = "ADDRESSES", value_parser = words::sources, conflicts_with = "unix")]
    pub source: Option<::std::vec::Vec<IpAddr>>,
    #[command(flatten)]
    pub socket: SocketOptions,
    /// Allow loading this host, which is not this machine. It must be yours
    #[arg(long, value_name = "HOST")]
    pub i_may_load: Option<String>,
}

/// What an agent may do is an option of `tare agent`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Several generators", group = ArgGroup::new("several").args(["agents"]))]
pub(crate) struct AgentArgs {
    /// Let these agents (`tare agent`) send the load, each HOST:PORT. Connections and requests are those of all together, threads
    /// those of each
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        conflicts_with_all = [
            "requests", "requests_each", "connections_total", "unix", "source", "cpus", "max_interference", "calibrate", "dry_run",
            "cert"
        ]
    )]
    pub agents: Vec<String>,
    /// File with the token that the agents have too [default: the variable TARE_AGENT_TOKEN]
    #[arg(long, value_name = "FILE", requires = "several")]
    pub token_file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print more percentiles
    #[arg(short = 'L', long)]
    pub latency: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text", conflicts_with = "calibrate")]
    pub format: LoadFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub exports: Exports,
}

impl OutputArgs {
    pub(crate) fn format(&self) -> LoadFormat {
        if self.json { LoadFormat::Json } else { self.format }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LoadFormat {
    /// For people
    Text,
    /// As wrk 4.1 prints it, for scripts that read that
    Wrk,
    /// For programs: one document
    Json,
    /// For programs: one line per second during the load, then the document in one line
    Ndjson,
}

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Exports {
    /// Write the percentile distribution of the latencies to FILE, in milliseconds, for HdrHistogram's plotter; requests
    /// that were never answered are in it with the time that they had waited
    #[arg(long, value_name = "FILE")]
    pub hgrm: Option<PathBuf>,
    /// Write the latencies to FILE as an HDR V2 log, a line for each second, in nanoseconds; service times and the waits
    /// of requests that were never answered are tagged
    #[arg(long, value_name = "FILE")]
    pub hdr_log: Option<PathBuf>,
    /// Write one line of JSON per second of the load to FILE
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
}

pub(crate) const LONG_ABOUT: &str = "\
Load any HTTP server on this machine, in a closed or an open loop, and check every response

Without -R the load is a closed loop: each connection, or over HTTP/2 each stream, sends its next request when the last one \
is answered. With -R it is \
an open loop: requests are due at fixed or random instants, and latency counts from the instant a request was due, so a \
server that stalls cannot hide it. By default a load takes 10 s, with 64 connections and one thread. \
It speaks HTTP/1.1, over TLS 1.3 if the URL begins with https://, or HTTP/2 by --h2 and --h2c.

Before the load each request is sent twice, more than a second apart. If status and body are the same both times, every response \
must have them; where the bodies differ, or have a date, a time or an id, its form is compared; where they have nothing in common, only \
the status is. A wrong or missing response counts as an error and not as throughput. A run \
with errors, or one in which the generator was the bottleneck, ends with exit code 4.

tare loads only this machine: loopback, its own addresses, Unix sockets. Name another host with --i-may-load.";

pub(crate) const AFTER_HELP: &str = "All options and examples: tare load --help";

pub(crate) const AFTER_LONG_HELP: &str = "\
Examples:
  tare load http://127.0.0.1:8080/                              64 connections for 10 s
  tare load -c 400 -d 30s --cpus 1 --latency URL                like wrk, on a CPU of its own
  tare load -R 20k --arrivals poisson -d 1m URL                 20,000 a second at random instants
  tare load -R 1k..20k/30s -d 40s URL                           a ramp: where does the server fail?
  tare load --data @order.json -H 'Content-Type: application/json' URL
  tare load 'http://127.0.0.1:8080/items/{{number:1-1000}}'     another item each time
  tare load --urls urls.txt                                     the URLs of a file, in turns
  tare load -c 1000 --think 50ms..150ms URL                     a thousand users with think times
  tare load --connections-total 10k --requests-per-connection 5 URL      sessions of five requests
  tare load -c 100 --requests-each 100 --requests-per-connection 1 URL   a batch without keep-alive
  tare load --contract rest --only status=3,label http://127.0.0.1:8080
  tare load --unix /run/app.sock http://localhost/
  tare load --cacert ca.pem https://localhost:8443/             TLS 1.3; -k accepts any certificate
  tare load --h2 -m 32 -c 16 -k https://localhost:8443/         HTTP/2, 32 streams each
  tare load --h2c -m 100 http://localhost:8080/                 HTTP/2 without TLS
  tare load --events -c 1000 http://localhost:8080/stream       a thousand streams of server-sent events
  tare load -k --requests-per-connection 1 https://localhost:8443/   a handshake for each
  tare load --agents 10.0.0.7:7070,10.0.0.8:7070 --token-file token --i-may-load 10.0.0.9 http://10.0.0.9/
                                                                from two machines, each with a `tare agent`
  tare load --calibrate                                         the limits of the generator here

Coming from another tool:
  wrk -t2 -c100 -d30s --timeout 2s --latency       the same options
  wrk2 -R2000                                      -R 2000
  hey -n 2000 -c 50 -z 30s                         -n 2000 -c 50 -d 30s
  hey -q 10 -c 50 (10 a second for each of 50)     -R 500 -c 50
  hey -m POST -T text/plain -D file                --data @file -H 'Content-Type: text/plain'
  hey -disable-keepalive                           --requests-per-connection 1
  curl -X PUT -H 'A: b' --data-binary @file        -X PUT -H 'A: b' --data @file
  curl --unix-socket PATH                          --unix PATH
  curl --cacert FILE, -k                           the same options
  curl --http2, --http2-prior-knowledge            --h2, --h2c
  h2load -c 16 -m 32 -n 100k https://...           --h2 -c 16 -m 32 -n 100k https://...

Exit codes: 0 valid, 1 usage or set-up error, 4 measured but not valid, 130 or 143 interrupted.";
