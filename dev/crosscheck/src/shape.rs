//! A load as a value that a tool and our engine can both make: as arguments, or as a [`Load`] for the engine.

use std::{fmt, net::SocketAddr, time::Duration};

use serde::Serialize;
use tare_load::{Connections, Load, Protocol, RequestQuota, Schedule, Stop, Think};

use super::Tool;
use tare_service::drive::RESPONSE_TIMEOUT;

/// The shortest and the longest pause of a locust user, as in the benchmark of 2018.
const WAIT_MS: (u64, u64) = (50, 150);
/// Calls on one connection of httperf, as in the benchmark of 2019.
const CALLS: u64 = 200;
/// How long to wait for answers after a load.
const DRAIN: Duration = Duration::from_secs(2);
/// The time limit of a load by number, as a multiple of its expected time, plus [`WITHIN`].
const WITHIN_TIMES: u32 = 4;
const WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Shape {
    /// This many connections, each of which sends its next request at once, for a time.
    Closed {
        connections: usize,
        /// Concurrent requests on a connection: HTTP/2 streams, or one.
        streams: usize,
        threads: usize,
        seconds: u64,
    },
    /// The same, with a number of requests per connection: h2load may hang at the end of a time.
    Each { connections: usize, streams: usize, threads: usize, requests: u64 },
    /// Consecutive connections, each with a number of requests.
    Sessions { connections: u64, calls: u64 },
    /// Users who pause between an answer and the next request.
    Users {
        /// The number of users, each with a connection.
        users: usize,
        wait_ms_min: u64,
        wait_ms_max: u64,
        seconds: u64,
    },
}

/// The parameters from which loads are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    pub seconds: u64,
    pub connections: usize,
    pub streams: usize,
    pub threads: usize,
    pub users: usize,
    /// Answers per second over all connections, as measured in the warm-up.
    pub rate_all: f64,
    /// Answers per second over one connection.
    pub rate_one: f64,
}

impl Shape {
    pub fn of(tool: Tool, pace: &Pace) -> Shape {
        let Pace { seconds, connections, streams, threads, users, .. } = *pace;
        let threads = threads.min(connections);
        let in_time = |rate: f64, parts: f64| ((rate * seconds as f64 / parts) as u64).max(1);
        match tool {
            // wrk gives each thread the same number and drops the remainder.
            Tool::Wrk => {
                Shape::Closed { connections: connections / threads * threads, streams, threads, seconds }
            }
            Tool::Oha => Shape::Closed { connections, streams, threads, seconds },
            Tool::H2load => {
                let requests = in_time(pace.rate_all, connections as f64);
                Shape::Each { connections, streams, threads, requests }
            }
            Tool::Httperf => {
                let connections = in_time(pace.rate_one, CALLS as f64);
                Shape::Sessions { connections, calls: CALLS }
            }
            Tool::Locust => Shape::Users { users, wait_ms_min: WAIT_MS.0, wait_ms_max: WAIT_MS.1, seconds },
        }
    }

    /// The smallest load of the same kind: to capture the request, and to measure the cost of the start.
    pub(crate) fn least(tool: Tool) -> Shape {
        let (connections, streams, threads, users) = (1, 1, 1, 1);
        let pace = Pace { seconds: 1, connections, streams, threads, users, rate_all: 1.0, rate_one: 1.0 };
        match Shape::of(tool, &pace) {
            Shape::Sessions { connections, .. } => Shape::Sessions { connections, calls: 1 },
            shape => shape,
        }
    }

    /// The arguments after the program's name; `None` for a tool that cannot make the load.
    pub(crate) fn words(
        &self,
        tool: Tool,
        protocol: Protocol,
        target: SocketAddr,
        path: &str,
    ) -> Vec<String> {
        let (host, port) = (target.ip(), target.port());
        let url = format!("{}://{target}{path}", if protocol.is_tls() { "https" } else { "http" });
        let text = match (tool, *self) {
            _ if !tool.speaks(protocol) => String::new(),
            (Tool::Wrk, Shape::Closed { connections, threads, seconds, .. }) => {
                format!("-t{threads} -c{connections} -d{seconds}s --latency {url}")
            }
            (Tool::H2load, Shape::Each { connections, streams, threads, requests }) => {
                let all = requests * connections as u64;
                let version = if protocol.is_http2() { format!("-m{streams}") } else { "--h1".to_owned() };
                format!("{version} -t{threads} -c{connections} -n{all} {url}")
            }
            (Tool::Oha, Shape::Closed { connections, streams, seconds, .. }) => {
                let version = if protocol.is_http2() {
                    format!(" --http-version 2 -p {streams}")
                } else {
                    String::new()
                };
                let certificate = if protocol.is_tls() { " --insecure" } else { "" };
                format!(
                    "--no-tui --output-format json -c {connections}{version} -z {seconds}s{certificate} {url}"
                )
            }
            (Tool::Httperf, Shape::Sessions { connections, calls }) => format!(
                "--server {host} --port {port} --uri {path} --num-conns {connections} --num-calls {calls} --timeout {}",
                RESPONSE_TIMEOUT.as_secs()
            ),
            (Tool::Locust, Shape::Users { users, seconds, .. }) => format!(
                "-f locustfile.py --headless --json --skip-log -u {users} -r {users} -t {seconds}s -H http://{target}"
            ),
            _ => String::new(),
        };
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// The connections of our engine.
    pub(crate) fn connections(&self) -> Connections {
        let (total, threads) = match *self {
            Shape::Closed { connections, threads, .. } | Shape::Each { connections, threads, .. } => {
                (connections, threads)
            }
            Shape::Sessions { .. } => (1, 1),
            Shape::Users { users, .. } => (users, 1),
        };
        Connections { total, threads }
    }

    /// The most requests in flight.
    pub(crate) fn in_flight_max(&self) -> usize {
        self.connections().total * self.streams()
    }

    /// The concurrent requests on a connection.
    pub(crate) fn streams(&self) -> usize {
        match *self {
            Shape::Closed { streams, .. } | Shape::Each { streams, .. } => streams,
            Shape::Sessions { .. } | Shape::Users { .. } => 1,
        }
    }

    /// The mean pause between an answer and the next request.
    pub(crate) fn think_ns_mean(&self) -> f64 {
        match self {
            Shape::Users { wait_ms_min, wait_ms_max, .. } => (wait_ms_min + wait_ms_max) as f64 * 1e6 / 2.0,
            _ => 0.0,
        }
    }

    /// The same load for our engine; `expected` is its planned time.
    pub(crate) fn load(&self, expected: Duration) -> Load {
        let within = expected * WITHIN_TIMES + WITHIN;
        let timed = |schedule, seconds| {
            Load::new(schedule, Stop::after(Duration::from_secs(seconds), DRAIN), RESPONSE_TIMEOUT)
        };
        let counted =
            |quota| Load::new(Schedule::SATURATE, Stop::count(quota, within, DRAIN), RESPONSE_TIMEOUT);
        match *self {
            Shape::Closed { seconds, .. } => timed(Schedule::SATURATE, seconds),
            Shape::Each { requests, .. } => counted(RequestQuota::RequestsEach(requests)),
            Shape::Sessions { connections, calls } => Load {
                requests_per_connection: Some(calls),
                ..counted(RequestQuota::Connections(connections))
            },
            Shape::Users { wait_ms_min, wait_ms_max, seconds, .. } => {
                let think =
                    Think::Uniform { min_ns: wait_ms_min * 1_000_000, max_ns: wait_ms_max * 1_000_000 };
                timed(Schedule::Closed { think }, seconds)
            }
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let streams = match self.streams() {
            1 => String::new(),
            streams => format!(" x {streams} streams"),
        };
        match self {
            Shape::Closed { connections, threads, seconds, .. } => {
                write!(f, "{connections} connections{streams}, {threads} thread(s), {seconds} s")
            }
            Shape::Each { connections, threads, requests, .. } => {
                write!(f, "{connections} connections{streams} x {requests} requests, {threads} thread(s)")
            }
            Shape::Sessions { connections, calls } => {
                write!(f, "{connections} connections one after another x {calls} calls")
            }
            Shape::Users { users, wait_ms_min, wait_ms_max, seconds } => {
                write!(f, "{users} users, pause {wait_ms_min} to {wait_ms_max} ms, {seconds} s")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PACE: Pace = Pace {
        seconds: 2,
        connections: 64,
        streams: 1,
        threads: 3,
        users: 40,
        rate_all: 50_000.0,
        rate_one: 9_000.0,
    };
    const STREAMS: Pace = Pace { streams: 8, ..PACE };

    /// The arguments for each tool that speaks `protocol`.
    fn said(protocol: Protocol, pace: &Pace) -> String {
        let target = "127.0.0.1:8080".parse().unwrap();
        let words = |tool| Shape::of(tool, pace).words(tool, protocol, target, "/x").join(" ");
        let tools = Tool::ALL.into_iter().filter(|tool| tool.speaks(protocol));
        tools.map(words).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn words_of_each_tool() {
        insta::assert_snapshot!(said(Protocol::Http1, &PACE), @r"
        -t3 -c63 -d2s --latency http://127.0.0.1:8080/x
        --h1 -t3 -c64 -n99968 http://127.0.0.1:8080/x
        --no-tui --output-format json -c 64 -z 2s http://127.0.0.1:8080/x
        --server 127.0.0.1 --port 8080 --uri /x --num-conns 90 --num-calls 200 --timeout 5
        -f locustfile.py --headless --json --skip-log -u 40 -r 40 -t 2s -H http://127.0.0.1:8080
        ");
        insta::assert_snapshot!(said(Protocol::Http1Tls, &PACE), @r"
        -t3 -c63 -d2s --latency https://127.0.0.1:8080/x
        --h1 -t3 -c64 -n99968 https://127.0.0.1:8080/x
        --no-tui --output-format json -c 64 -z 2s --insecure https://127.0.0.1:8080/x
        ");
        insta::assert_snapshot!(said(Protocol::H2, &STREAMS), @r"
        -m8 -t3 -c64 -n99968 https://127.0.0.1:8080/x
        --no-tui --output-format json -c 64 --http-version 2 -p 8 -z 2s --insecure https://127.0.0.1:8080/x
        ");
        insta::assert_snapshot!(said(Protocol::H2c, &STREAMS), @r"
        -m8 -t3 -c64 -n99968 http://127.0.0.1:8080/x
        --no-tui --output-format json -c 64 --http-version 2 -p 8 -z 2s http://127.0.0.1:8080/x
        ");
    }

    #[test]
    fn our_engine_can_make_each_and_with_as_many_connections() {
        for tool in Tool::ALL {
            for shape in [Shape::of(tool, &PACE), Shape::least(tool)] {
                assert_eq!(shape.load(Duration::from_secs(2)).validate(), Ok(()), "{shape}");
            }
        }
        assert_eq!(Shape::of(Tool::Wrk, &PACE).connections().total, 63, "wrk forgets the rest");
        assert_eq!(Shape::least(Tool::Httperf), Shape::Sessions { connections: 1, calls: 1 });
        let few = Pace { connections: 2, ..PACE };
        assert_eq!(Shape::of(Tool::Wrk, &few).connections(), Connections { total: 2, threads: 2 });
    }

    #[test]
    fn a_tool_cannot_make_the_load_of_another_or_speak_what_it_does_not() {
        let target = "127.0.0.1:8080".parse().unwrap();
        let kind = |tool| std::mem::discriminant(&Shape::of(tool, &PACE));
        for protocol in Protocol::ALL {
            for tool in Tool::ALL {
                for other in Tool::ALL {
                    let words = Shape::of(other, &PACE).words(tool, protocol, target, "/x");
                    let can = tool.speaks(protocol) && kind(tool) == kind(other);
                    assert_eq!(words.is_empty(), !can, "{tool} {other} {protocol}: {words:?}");
                }
            }
        }
    }

    #[test]
    fn loads_in_words() {
        let said = |pace| Tool::ALL.map(|tool| Shape::of(tool, &pace).to_string()).join("\n");
        insta::assert_snapshot!(said(PACE), @r"
        63 connections, 3 thread(s), 2 s
        64 connections x 1562 requests, 3 thread(s)
        64 connections, 3 thread(s), 2 s
        90 connections one after another x 200 calls
        40 users, pause 50 to 150 ms, 2 s
        ");
        insta::assert_snapshot!(said(STREAMS), @r"
        63 connections x 8 streams, 3 thread(s), 2 s
        64 connections x 8 streams x 1562 requests, 3 thread(s)
        64 connections x 8 streams, 3 thread(s), 2 s
        90 connections one after another x 200 calls
        40 users, pause 50 to 150 ms, 2 s
        ");
    }

    proptest! {
        #[test]
        fn any_pace_is_a_load_that_both_can_make(
            seconds in 1_u64..600, connections in 1_usize..20_000, streams in 1_usize..200, threads in 1_usize..1024,
            users in 1_usize..10_000, rate_all in 0.0..1e7_f64, rate_one in 0.0..1e6_f64,
        ) {
            let pace = Pace { seconds, connections, streams, threads, users, rate_all, rate_one };
            for tool in Tool::ALL {
                let shape = Shape::of(tool, &pace);
                let held = shape.connections();
                prop_assert!(held.total >= 1 && held.threads >= 1 && held.threads <= held.total, "{}: {:?}", tool, held);
                prop_assert_eq!(shape.in_flight_max(), held.total * shape.streams());
                prop_assert_eq!(shape.load(Duration::from_secs(seconds)).validate(), Ok(()));
                // wrk rejects fewer connections than threads, and drops the remainder.
                if tool == Tool::Wrk {
                    prop_assert_eq!(held.total % held.threads, 0);
                }
                prop_assert_eq!(shape.think_ns_mean() > 0.0, tool == Tool::Locust);
            }
        }
    }
}
