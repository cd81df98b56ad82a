//! `tare audit` of the real output of tools against small servers. It calls no figure impossible. If a server
//! fails a tenth of its answers, the audit of each output reports it.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tare_host::fixture::{has_program, is_on_path, skip_always};

use crate::support::{Workspace, fact, rows, wrong_of};

/// A tool and its command lines: the suffix of the output file, and a shell line with placeholders for
/// connections, threads, requests and the address. The JSON does not include its stderr.
struct Tool {
    name: &'static str,
    /// Whether `make setup` installs it. Other tools are compiled from source, and may be missing.
    is_set_up: bool,
    ways: &'static [(&'static str, &'static str)],
}

const TOOLS: [Tool; 10] = [
    // It calibrates for ten seconds, so it starts first.
    Tool { name: "wrk2", is_set_up: false, ways: &[("txt", "wrk2 -t1 -c8 -d11s -R400 --latency {url}")] },
    Tool {
        name: "wrk",
        is_set_up: true,
        ways: &[("txt", "wrk -t{t} -c{c} -d1s {url}"), ("txt", "wrk -t1 -c{c} -d1s --latency {url}")],
    },
    Tool {
        name: "h2load",
        is_set_up: true,
        ways: &[
            ("txt", "h2load --h1 -t{t} -c{c} -n{n} {url}"),
            ("txt", "h2load --h1 -c{c} -D1 {url}"),
            ("txt", "h2load --h1 -m4 -c{c} -n{n} {url}"),
        ],
    },
    Tool {
        name: "ab",
        is_set_up: true,
        ways: &[
            ("txt", "ab -q -c{c} -n{n} {url}"),
            ("txt", "ab -q -k -c{c} -n{n} {url}"),
            ("txt", "ab -q -k -l -t1 -n{n} -c{c} {url}"),
        ],
    },
    Tool {
        name: "hey",
        is_set_up: true,
        ways: &[
            ("txt", "hey -c {c} -n {n} {url}"),
            ("txt", "hey -c {c} -z 300ms {url}"),
            ("txt", "hey -c {c} -n {n} -disable-keepalive {url}"),
        ],
    },
    Tool {
        name: "autocannon",
        is_set_up: true,
        ways: &[
            ("txt", "autocannon -c{c} -a {n} {url}"),
            ("txt", "autocannon -c{c} -d1 -l {url}"),
            ("json", "autocannon -c{c} -a {n} -p4 -j --no-progress {url}"),
        ],
    },
    Tool {
        name: "oha",
        is_set_up: false,
        ways: &[
            ("txt", "oha --no-tui -c {c} -n {n} {url}"),
            ("json", "oha --no-tui -c {c} -z 300ms --output-format json {url}"),
        ],
    },
    Tool {
        name: "bombardier",
        is_set_up: false,
        ways: &[
            ("txt", "bombardier -c{c} -d1s -l -p i,r {url}"),
            ("json", "bombardier -c{c} -n{n} -l -o json -p r {url}"),
        ],
    },
    Tool {
        name: "vegeta",
        is_set_up: false,
        ways: &[
            (
                "txt",
                "echo GET {url} | vegeta attack -max-workers {c} -rate 1000 -duration 500ms | vegeta report",
            ),
            ("json", "echo GET {url} | vegeta attack -rate {n} -duration 1s | vegeta report -type json"),
        ],
    },
    Tool {
        name: "k6",
        is_set_up: false,
        ways: &[
            ("txt", "k6 run --no-color --vus {c} --iterations {n} -e ADDRESS={url} ../script.js"),
            (
                "json",
                "k6 run --vus {c} --iterations {n} -e ADDRESS={url} --summary-export /dev/fd/3 ../script.js 3>&1 >/dev/null",
            ),
        ],
    },
];

const CONNECTIONS: [u64; 5] = [1, 2, 8, 32, 64];
/// With a tenth of them failing, a run without a failure has a probability of 10^-18.
const REQUESTS: u64 = 400;
/// Tools mostly wait at the start and end of a run, so several run in parallel.
const AT_ONCE: usize = 6;

const OF_K6: &str = "import http from 'k6/http';\nexport default () => { http.get(__ENV.ADDRESS); };\n";

/// The server's behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    AtOnce,
    /// Delays one answer in fifty by 20 ms.
    Stalls,
    /// Fails one answer in ten with status 503.
    Fails,
}

impl Manner {
    const ALL: [Manner; 3] = [Manner::AtOnce, Manner::Stalls, Manner::Fails];

    fn is_honest(self) -> bool {
        self != Manner::Fails
    }

    /// Starts a server that lives as long as the test process, and returns its address.
    fn serve(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/items", listener.local_addr().unwrap());
        let count = Arc::new(AtomicU64::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                std::thread::spawn(move || self.answer(&stream, &count));
            }
        });
        url
    }

    /// Answers the requests of a connection until either side closes it.
    fn answer(self, stream: &TcpStream, count: &AtomicU64) {
        let _ = stream.set_nodelay(true);
        let mut reader = BufReader::new(stream);
        while let Some(keeps) = keeps_the_connection(&mut reader) {
            // Random instead of every tenth: if two clients alternate, one of them would get all failures.
            let mut draw = DefaultHasher::new();
            count.fetch_add(1, Ordering::Relaxed).hash(&mut draw);
            let one_in = |part: u64| draw.finish().is_multiple_of(part);
            if self == Manner::Stalls && one_in(50) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let status =
                if self == Manner::Fails && one_in(10) { "503 Service Unavailable" } else { "200 OK" };
            let connection = if keeps { "keep-alive" } else { "close" };
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: {connection}\r\nContent-Length: 13\r\n\r\nhello, world\n"
            );
            if (&*stream).write_all(answer.as_bytes()).is_err() || !keeps {
                return;
            }
        }
    }
}

/// Reads the head of a request; `None` at the end of the connection.
fn keeps_the_connection(reader: &mut impl BufRead) -> Option<bool> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_ascii_lowercase();
    let asks = |value: &str| head.contains(&format!("connection: {value}"));
    Some(if head.contains(" http/1.0\r\n") { asks("keep-alive") } else { !asks("close") })
}

/// One tool output to produce.
struct Run {
    tool: &'static str,
    line: String,
    file: PathBuf,
}

impl Run {
    /// Produces the output; returns the error, if there is one.
    fn make(&self) -> Option<String> {
        let output = fs::File::create(&self.file).unwrap();
        let is_json = self.file.extension().is_some_and(|ending| ending == "json");
        let stderr = if is_json { Stdio::null() } else { output.try_clone().unwrap().into() };
        // Runs in a process group, so that `timeout` ends every process of the pipe.
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "30", "sh", "-c", &self.line]).stdin(Stdio::null());
        command.stdout(output).stderr(stderr).current_dir(self.file.parent().unwrap());
        let status = command.status().unwrap();
        let printed = || fs::read_to_string(&self.file).unwrap_or_default();
        (!status.success()).then(|| format!("{}: {status}: {}", self.line, printed()))
    }
}

/// All combinations of installed tools, their command lines, numbers of connections, and servers.
fn runs(root: &Path) -> Vec<Run> {
    let servers = Manner::ALL.map(|manner| (manner, manner.serve()));
    let ways = TOOLS.iter().filter(|tool| is_here(tool)).flat_map(|tool| {
        tool.ways.iter().enumerate().map(move |(number, (ending, line))| (tool.name, number, ending, line))
    });
    let mut runs = Vec::new();
    for (tool, number, ending, line) in ways {
        let varied = if line.contains("{c}") { &CONNECTIONS[..] } else { &CONNECTIONS[..1] };
        for (connections, (manner, url)) in
            varied.iter().flat_map(|count| servers.iter().map(move |server| (count, server)))
        {
            let line = line
                .replace("{c}", &connections.to_string())
                .replace("{t}", &connections.min(&2).to_string());
            let line = line.replace("{n}", &REQUESTS.to_string()).replace("{url}", url);
            let folder = root.join(if manner.is_honest() { "honest" } else { "failing" });
            runs.push(Run {
                tool,
                line,
                file: folder.join(format!("{tool}-{number}-{connections}-{manner:?}.{ending}")),
            });
        }
    }
    runs
}

fn is_here(tool: &Tool) -> bool {
    const WHAT: &str = "an audit of real outputs";
    if tool.is_set_up {
        return has_program(WHAT, tool.name);
    }
    let found = is_on_path(tool.name);
    if !found {
        skip_always(WHAT, &format!("{} is not on this machine, and nothing sets it up", tool.name));
    }
    found
}

/// The number of outputs of each tool.
fn counted(runs: &[Run]) -> String {
    let counts =
        TOOLS.iter().map(|tool| (tool.name, runs.iter().filter(|run| run.tool == tool.name).count()));
    let told: Vec<String> = counts.map(|(name, count)| format!("{name} {count}")).collect();
    format!("{} outputs: {}", runs.len(), told.join(", "))
}

/// The rows with a finding in an audit of this folder. Each of its files is one row, and none is impossible.
fn doubtful(workspace: &Workspace, folder: &str) -> Vec<Value> {
    let ended = workspace.tare(&["audit", folder, "--json"]);
    assert!(matches!(ended.code(), Some(0 | 5)), "no figure is impossible: {ended}");
    let documents = match ended.json() {
        Value::Array(several) => several,
        one => vec![one],
    };
    let count =
        |document: &Value| fact(document, "Rows").split(' ').next().unwrap().parse::<usize>().unwrap();
    let files = fs::read_dir(workspace.root().join(folder)).unwrap().count();
    assert_eq!(documents.iter().map(count).sum::<usize>(), files, "each output is read: {ended}");
    let has_rows = |document: &&Value| {
        document["sections"].as_array().unwrap().iter().any(|section| section["id"] == "rows")
    };
    documents.iter().filter(has_rows).flat_map(|document| rows(document, "rows")).collect()
}

#[test]
fn real_outputs_are_not_said_to_be_untrue_and_hide_no_failures() {
    let workspace = Workspace::new(&[]);
    for folder in ["honest", "failing"] {
        fs::create_dir(workspace.root().join(folder)).unwrap();
    }
    workspace.write("script.js", OF_K6);
    let runs = runs(workspace.root());
    if runs.is_empty() {
        return;
    }
    let wrong = wrong_of(&runs, AT_ONCE, Run::make);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let told = counted(&runs);
    // Bypasses the test harness, which hides the output of passing tests.
    writeln!(std::io::stderr(), "{told}").unwrap();
    let lacks = |tool: &Tool| tool.is_set_up && !is_on_path(tool.name);
    assert!(runs.len() >= 200 || TOOLS.iter().any(lacks), "{told}");

    let says_so = |row: &Value| row["findings"].as_str().unwrap().contains("of the requests failed");
    let honest = doubtful(&workspace, "honest");
    assert!(!honest.iter().any(says_so), "{honest:#?}");
    let mut failing = doubtful(&workspace, "failing");
    failing.retain(says_so);
    let expected = fs::read_dir(workspace.root().join("failing")).unwrap().count();
    assert_eq!(failing.len(), expected, "{failing:#?}");
}
