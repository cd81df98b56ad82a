//! Servers that are already running: named by URL, observed and never changed.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::support::{
    Ended, PROGRAM, USUAL, fact, free_port, journal, row, rows, start, start_under, within,
};

/// A fake service started by the test, as a user would start it.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(mode: &str) -> Server {
        Server::on(free_port(), mode)
    }

    fn on(port: u16, mode: &str) -> Server {
        let mut command = Command::new(&*PROGRAM);
        command.env("FAKE", mode);
        Server::of(port, command)
    }

    /// A server that works in short-lived processes: 2 ms of CPU time per request.
    fn that_forks(program: &Path, mode: &str) -> Server {
        let mut command = Command::new(program);
        command.arg(mode);
        Server::of(free_port(), command)
    }

    fn of(port: u16, mut command: Command) -> Server {
        command.env("PORT", port.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let listens = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(within(Duration::from_secs(10), listens), "it does not listen");
        Server { child, port }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn tare(folder: &Path, words: &[&str]) -> Ended {
    start(folder, words).end()
}

/// Replaces ports and process IDs, which vary.
fn redact(text: &str, servers: &[&Server]) -> String {
    let mut text = text.to_owned();
    for (number, server) in servers.iter().enumerate() {
        let port = server.port.to_string();
        text = text.replace(&format!(":{port}"), &format!(":{}", 3000 + number));
        text = text.replace(&format!("port {port}"), &format!("port {}", 3000 + number));
        text = text.replace(&format!("process {} ", server.pid()), &format!("process {} ", 700 + number));
    }
    text
}

/// The error message, without the lines before it.
fn error(folder: &Path, words: &[&str], servers: &[&Server]) -> String {
    let ended = tare(folder, words).expect(1);
    let errors: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("error")).collect();
    redact(&errors.join("\n"), servers)
}

/// In its own PID namespace Tare sees the sockets, but no process that holds them.
#[test]
fn cpu_time_that_cannot_be_read_is_absent_in_every_form_and_the_output_says_once_why() {
    let folder = tempfile::tempdir().unwrap();
    let unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    if !Command::new(unshare[0]).args(&unshare[1..]).arg("true").status().is_ok_and(|status| status.success())
    {
        assert!(std::env::var_os("TARE_TEST_ALL").is_none(), "no pid namespaces on this machine");
        eprintln!("skipped: no pid namespaces on this machine");
        return;
    }
    let (one, other) = (Server::start("correct"), Server::start("burns-cpu"));
    let urls = [one.url(), other.url()];
    let compare = ["compare", &urls[0], &urls[1], "--connections", "1"];
    let asked = [&compare[..], &["--metric", "cpu"]].concat();
    let refused = start_under(&unshare, folder.path(), &asked).end().expect(1);
    assert!(refused.stderr.contains("has no CPU/request"), "{refused}");
    let words = [&compare[..], &["--budget", "30s", "--out", "out"]].concat();
    let ended = start_under(&unshare, folder.path(), &words).end();
    assert!(ended.stderr.contains("throughput decides alone"), "{ended}");
    let why = "no CPU time and no memory: the process that listens there is hidden";
    assert_eq!(ended.stdout.matches(why).count(), 1, "{ended}");
    assert!(!ended.stdout.contains("note: CPU time: services 0.0%"), "{ended}");
    let journal = fs::read_to_string(folder.path().join("out/journal.ndjson")).unwrap();
    assert!(journal.contains("\"cpu_unknown\":\"other-user\"") && !journal.contains("\"server_cpu_ns\":0"));
    assert!(!journal.contains("\"context_switches\":0") && !journal.contains("\"rss_bytes\""), "{journal}");
    let document = tare(folder.path(), &["show", "out", "--format", "json"]);
    no_figures_of_processes(&document.json());
}

/// Checks every cell of CPU time or memory of a service, in all tables of a document.
#[track_caller]
fn no_figures_of_processes(document: &Value) {
    let mut looked_at = 0;
    for table in document["sections"].as_array().unwrap().iter().map(|section| &section["table"]) {
        for (place, column) in table["columns"].as_array().into_iter().flatten().enumerate() {
            let key = column["key"].as_str().unwrap();
            if key.starts_with("cpu_ns_per_request")
                || key.starts_with("rss_bytes")
                || key == "server_cpu_share"
            {
                for cells in table["rows"].as_array().unwrap() {
                    looked_at += 1;
                    assert!(cells[place].is_null(), "{key}: {cells}");
                }
            }
        }
    }
    for compared in rows(document, "metrics") {
        let metric = compared["metric"].as_str().unwrap();
        if ["CPU/request", "peak RSS"].contains(&metric) {
            looked_at += 1;
            assert!(
                ["baseline", "candidate", "ratio"].iter().all(|key| compared[key].is_null()),
                "{compared}"
            );
        }
    }
    assert!(looked_at > 0, "{document}");
}

#[test]
fn what_is_wrong_with_a_url_or_its_process_is_refused_with_the_fix() {
    let folder = tempfile::tempdir().unwrap();
    let servers = [&Server::start("correct"), &Server::start("correct")];
    let urls = servers.map(Server::url);
    let (a, b) = (format!("{}/a", urls[0]), format!("{}/b", urls[1]));
    let own = std::process::id().to_string();
    let closed = format!("http://127.0.0.1:{}", free_port());
    let cases: [&[&str]; 13] = [
        &["verify", "http://192.0.2.1:3000"],
        &["verify", "http://192.0.2.1:3000", "--i-may-load", "192.0.2.2"],
        &["verify", "--h2", &urls[0]],
        &["compare", &urls[0], &urls[1], "--pid", "4194999", "--pid", &servers[1].pid()],
        &["compare", &urls[0], &urls[1], "--pid", &servers[0].pid()],
        &["verify", &urls[0], "--pid", &servers[1].pid()],
        &["verify", "raw-socket", "--pid", &own],
        &["verify", &urls[0], "--cgroup", "/no/such/group"],
        &["compare", &a, &b],
        &["compare", &a, &urls[1], "--get", "/"],
        &["verify", &a, "--contract", "hello"],
        &["verify", &urls[0], "--endure"],
        &["compare", &urls[0], "--revisions", "a..b"],
    ];
    let refused: Vec<String> = cases.iter().map(|words| error(folder.path(), words, &servers)).collect();
    insta::assert_snapshot!(refused.join("\n"));
    let gone = error(folder.path(), &["verify", &closed], &[]);
    assert!(
        gone.ends_with(": start the server first") && gone.contains("nothing listens on 127.0.0.1:"),
        "{gone}"
    );
}

#[test]
fn a_server_that_ends_or_is_replaced_has_no_figures() {
    for is_replaced in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (one, mut other) = (Server::start("correct"), Server::start("correct"));
        let (urls, old) = ([one.url(), other.url()], other.pid());
        let words = ["compare", &urls[0], &urls[1], "--connections", "1", "--budget", "60s", "--out", "out"];
        let running = start(folder.path(), &words);
        let has_begun = || journal(&folder.path().join("out")).iter().any(|line| line["kind"] == "sample");
        assert!(within(USUAL, has_begun), "no sample");
        other.end();
        let successor = is_replaced.then(|| Server::on(other.port, "correct"));
        let ended = running.end().expect(2);
        let end = match &successor {
            Some(by) => format!("process {} took the place of its process {old}", by.pid()),
            None => format!("its process {old} ended"),
        };
        let verdict = ended.line_with("SERVICE FAILED", &end);
        assert!(verdict.contains(&urls[1]), "{ended}");
    }
}

#[test]
fn a_server_is_verified_searched_and_related_to_the_raw_socket() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start("correct");
    let url = server.url();
    let verified = tare(folder.path(), &["verify", &url, "--contract", "hello", "--all"]).expect(0);
    assert!(verified.line_with("", "Tare did not start it").contains("end"), "{verified}");
    let wrong = Server::start("wrong-body");
    tare(folder.path(), &["verify", &wrong.url(), "--contract", "hello"]).expect(2);
    let words = ["run", "--service", &url, "--get", "/", "--budget", "8s", "--json", "--pid", &server.pid()];
    let document = tare(folder.path(), &words).expect_measured().json();
    let found = row(&document, &url);
    assert!(found["start_up_ns"].is_null() && found["cpu_ns_per_request"].is_number(), "{found}");
    assert_eq!(found["style"], "running");
    let words = [
        "slo",
        &url,
        "--slo",
        "p99=500ms",
        "--starts",
        "1",
        "--windows",
        "3",
        "--window",
        "200ms",
        "-c",
        "1",
        "--json",
    ];
    let searched = tare(folder.path(), &words).json();
    assert_eq!(fact(&searched, "Searches"), "1 searches of each service, 3 windows each");
    assert!(server.runs());
}

/// The engine's own command reports the process of a container.
#[test]
fn a_container_is_asked_for_at_its_engine() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start("correct");
    let script = folder.path().join("docker");
    let text = format!(
        "#!/bin/sh\n[ \"$5\" = shop ] && echo {} || {{ echo no such container >&2; exit 1; }}\n",
        server.pid()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("PATH={}:/usr/bin:/bin", folder.path().display());
    let by_engine = |name: &str| {
        let words = ["verify", &server.url(), "--get", "/", "--container", name];
        start_under(&["env", &path], folder.path(), &words).end()
    };
    let found = by_engine("shop").expect(0);
    assert!(found.stderr.contains("runs already: CPU time and memory of"), "{found}");
    let unknown = by_engine("other").expect(1);
    let sentence = "no container \"other\" is known here: docker: no such container";
    assert!(unknown.stderr.contains(sentence), "{unknown}");
}

/// Compiles a server with many ways to work in other processes; its source belongs to the process tests.
fn compile_forks(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("forks.c"), folder.join("forks"));
    fs::write(&source, include_str!("../../../host/src/process/forks.c")).unwrap();
    let mut compile = Command::new("cc");
    let compiled = compile.arg("-O1").arg("-o").args([&program, &source]).arg("-pthread").output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    program
}

/// The CPU time per request of servers in these modes, by `tare run` of their URLs, and the end of the run.
fn costs_of(modes: &[&str], budget: &str) -> (Vec<Option<f64>>, Ended) {
    let folder = tempfile::tempdir().unwrap();
    let program = compile_forks(folder.path());
    let servers: Vec<Server> = modes.iter().map(|mode| Server::that_forks(&program, mode)).collect();
    let urls: Vec<String> = servers.iter().map(Server::url).collect();
    let services = urls.iter().flat_map(|url| ["--service", url]);
    let words = ["run", "--get", "/", "--connections", "4", "--budget", budget, "--out", "out"];
    let words: Vec<&str> = words.into_iter().chain(services).collect();
    let ended = tare(folder.path(), &words);
    let document = tare(folder.path(), &["show", "out", "--format", "json"]).json();
    let costs = urls.iter().map(|url| row(&document, url)["cpu_ns_per_request"].as_f64()).collect();
    (costs, ended)
}

/// Whichever process does the work, 2 ms of work cost 2 ms plus a fork. Without kernel counters, the CPU time
/// of processes that no parent waited for is unknown, and there is no figure.
#[test]
fn cpu_time_of_processes_that_end_is_not_lost() {
    let modes = ["alone", "waited", "orphan", "recycled", "recycled-ignored"];
    let (costs, ended) = costs_of(&modes, "16s");
    for (mode, cost_ns) in modes.into_iter().zip(costs) {
        match cost_ns {
            Some(cost_ns) => assert!((1.9e6..3.2e6).contains(&cost_ns), "{mode}: {cost_ns} ns; {ended}"),
            None => {
                let may_be_lost = ["orphan", "recycled-ignored"].contains(&mode);
                assert!(may_be_lost && ended.stdout.contains("no CPU time: "), "{mode}: {ended}");
            }
        }
    }
}

/// A process may work for a server and not be found by its port, like a pool behind a gateway. Figures
/// include it.
#[test]
fn a_server_whose_work_others_do_has_no_cpu_time() {
    let (costs, ended) = costs_of(&["alone", "helped"], "10s");
    assert!(costs[0].is_some() && costs[1].is_none(), "{costs:?}; {ended}");
    let why = ended.line_with("http://", "no CPU time: while it was loaded, process");
    assert!(why.contains("--cgroup") && why.contains("--pid"), "{ended}");
}
