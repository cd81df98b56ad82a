//! `tare load`: against the reference, and against small servers with the answers of a test.
//!
//! With one connection or a think time the generator is partly idle. So no run is rejected as
//! generator-bound, even in builds without optimisation.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::net::UnixListener,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ended, Running, USUAL, Workspace, free_port, send, within};

/// A checkout, with a running reference.
struct RawSocket {
    workspace: Workspace,
    process: Running,
    url: String,
}

impl RawSocket {
    fn new() -> RawSocket {
        let workspace = Workspace::new(&[]);
        let port = free_port().to_string();
        let mut process = workspace.start(&["raw-socket", "--port", &port]);
        let address = format!("127.0.0.1:{port}");
        assert!(within(USUAL, || TcpStream::connect(&address).is_ok() || process.has_ended()));
        RawSocket { workspace, process, url: format!("http://{address}/") }
    }

    fn load(&self, words: &str) -> Ended {
        load(&self.workspace, &self.url, words)
    }

    fn end(self) {
        send(self.process.pid(), Signal::TERM);
        self.process.end().expect(0);
    }
}

/// Interference by other tests is no finding, unless a test asks for it.
fn load(workspace: &Workspace, url: &str, words: &str) -> Ended {
    let others = if words.contains("--max-interference") { "" } else { "--max-interference 100%" };
    let words = words.split_whitespace().chain(others.split_whitespace());
    workspace.tare(&["load", url].into_iter().chain(words).collect::<Vec<_>>())
}

/// A server that answers each request by its number, counted from 0 over all connections.
pub fn serve(answer: impl Fn(usize) -> String + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    accept(move || Some(listener.accept().ok()?.0), answer);
    url
}

/// One thread for each connection; all of them end with the test process.
fn accept<S: Read + Write + Send + 'static>(
    next: impl Fn() -> Option<S> + Send + 'static,
    answer: impl Fn(usize) -> String + Send + Sync + 'static,
) {
    let (answer, count) = (std::sync::Arc::new(answer), std::sync::Arc::new(AtomicUsize::new(0)));
    std::thread::spawn(move || {
        while let Some(stream) = next() {
            let (answer, count) = (answer.clone(), count.clone());
            std::thread::spawn(move || talk(stream, || answer(count.fetch_add(1, Ordering::SeqCst))));
        }
    });
}

fn talk(stream: impl Read + Write, answer: impl Fn() -> String) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if !matches!(stream.read_line(&mut line), Ok(1..)) {
                return;
            }
        }
        if stream.get_mut().write_all(answer().as_bytes()).is_err() {
            return;
        }
    }
}

fn response(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The counters of a run.
#[track_caller]
fn tally(ended: &Ended) -> Value {
    ended.json()["totals"].clone()
}

/// The one line that a refused command prints.
#[track_caller]
fn refusal(url: &str, words: &str) -> String {
    let ended = load(&Workspace::new(&[]), url, words).expect(1);
    assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1));
    ended.stderr.trim_end().to_owned()
}

#[test]
fn a_unix_socket_is_loaded_too() {
    let workspace = Workspace::new(&[]);
    let path = workspace.root().join("server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    accept(move || Some(listener.accept().ok()?.0), |_| response(200, "over a file"));
    let words = format!("--unix {} -c 1 -n 10 --json", path.display());
    let ended = load(&workspace, "http://anything.example/", &words).expect(0);
    assert_eq!(tally(&ended)["answered"], 10);
}

#[test]
fn what_is_not_ready_is_not_loaded() {
    let port = free_port();
    let told = refusal(&format!("http://127.0.0.1:{port}/"), "").replace(&port.to_string(), "PORT");
    assert_snapshot!(told, @"error: nothing listens on 127.0.0.1:PORT: start the server first");
    assert_snapshot!(refusal("http://192.0.2.1/", ""), @"error: 192.0.2.1 is not this machine: load only what is yours; if you may, use --i-may-load 192.0.2.1");
    assert_snapshot!(refusal("http://192.0.2.1/", "--i-may-load 192.0.2.2"), @r#"error: --i-may-load names "192.0.2.2", but the URL's host is "192.0.2.1": both must be the same"#);
    assert_snapshot!(refusal("http://127.0.0.1/", "-t 4 -c 2"), @"error: -c 2 is less than -t 4: each thread needs a connection");
    assert_snapshot!(refusal("http://127.0.0.1/", "http://127.0.0.1:81/"), @"error: http://127.0.0.1/ and http://127.0.0.1:81/ are on two servers: load one at a time");
    assert_snapshot!(refusal("http://127.0.0.1/", "--contract hallo"), @r#"error: unknown contract "hallo"; did you mean "hello"?"#);
    assert_snapshot!(refusal("http://127.0.0.1/x", "--contract rest"), @"error: --contract sets the paths: leave /x out of the URL");
    let closes = serve(|_| "HTTP/2 nonsense\r\n\r\n".to_owned());
    let told =
        refusal(&closes, "").replace(closes.trim_start_matches("http://").trim_end_matches('/'), "HOST");
    assert_snapshot!(told, @r"error: GET / has no answer from HOST that is HTTP/1.1: the version of the response is not HTTP/1.x (RFC 9112, 2.3); it sent `HTTP/2 nonsense\r\n\r\n`");
    let missing = serve(|_| response(404, "not here"));
    assert_snapshot!(refusal(&missing, ""), @r#"error: GET / is answered with status 404 and 8 bytes "not here": name another URL, or use --expect-status 404 if that is right"#);
    let ended = load(&Workspace::new(&[]), &missing, "-c 1 -n 5 --expect-status 404 --json").expect(0);
    assert_eq!(tally(&ended)["answered"], 5);
}

#[test]
fn what_a_load_would_refuse_is_refused_before_it_by_the_rule_and_with_the_bytes() {
    for (answer, rule, bytes) in [
        (
            "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello",
            "status 204, which has no content (RFC 9110, 6.4.1)",
            "`hello`",
        ),
        ("HTTP/1.1 304 No\r\n\r\nhello", "status 304, which has no content (RFC 9110, 6.4.1)", "`hello`"),
        ("HTTP/1.1 200 X\r\nContent-Length: 1\r\n\r\na\r\n", "(RFC 9112, 6.3)", "`\\r\\n`"),
        ("HTTP/1.1 200 X\r\nContent-Length: 1\r\nno colon\r\n\r\na", "(RFC 9112, 5)", "`no colon\\r\\n`"),
        (
            "HTTP/1.1 200 X\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "(RFC 9112, 6.3)",
            "Content-Length: 2",
        ),
    ] {
        let url = serve(move |_| answer.to_owned());
        let told = refusal(&url, "");
        assert!(told.contains(rule) && told.contains(bytes), "{told}");
        let ended = load(&Workspace::new(&[]), &url, "--no-check -c 1 -n 2 --json").expect(4);
        let sample = &ended.json()["first_failure"];
        assert!(sample["reason"].as_str().is_some_and(|reason| reason.contains(rule)), "{sample}");
    }
    let head = serve(|_| response(200, "hello"));
    assert!(refusal(&head, "-X HEAD").contains("the answer to HEAD, which has no content"), "HEAD");
}

#[test]
fn what_the_rfc_lets_a_server_send_is_loaded() {
    for head in ["HTTP/1.1 200 X\r\nX: a\r\n  b\r\n", "HTTP/1.2 200 X\r\n", "HTTP/1.9 200 X\r\nX:\r\n\ta\r\n"]
    {
        let url = serve(move |_| format!("{head}Content-Length: 5\r\n\r\nhello"));
        let ended = load(&Workspace::new(&[]), &url, "-c 1 -n 5 --json").expect(0);
        assert_eq!(tally(&ended)["answered"], 5, "{head}");
    }
}

#[test]
fn an_answer_that_comes_in_part_says_how_much_of_it_came() {
    for (answer, came) in [
        (
            "HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\nabc",
            "status 200 and 3 of 100 bytes of the body came",
        ),
        ("HTTP/1.1 200 X\r\n\r\ndata: x\n\n", "status 200 and 9 bytes of the body came, and not its end"),
        ("HTTP/1.1 200 X\r\nConte", "21 bytes of the head came"),
    ] {
        let url = serve(move |_| answer.to_owned());
        let told = refusal(&url, "--timeout 200ms");
        assert!(told.contains("within 200ms: ") && told.contains(came), "{told}");
        let ended = load(&Workspace::new(&[]), &url, "--no-check -c 1 -n 1 --timeout 100ms --json").expect(4);
        assert_eq!(ended.json()["first_failure"]["reason"], came);
    }
}

#[test]
fn another_protocol_is_told_from_its_first_bytes() {
    let secured = serve(|_| "\x15\x03\x03\0\x02\x02\x28".to_owned());
    assert!(refusal(&secured, "").contains("the port speaks TLS: begin the URL with https://"), "TLS");
    let settings = serve(|_| "\0\0\0\x04\0\0\0\0\0".to_owned());
    assert!(refusal(&settings, "").contains("no HTTP/1.1: add --h2c"), "HTTP/2");
    let plain = serve(|_| response(400, "no"));
    assert!(
        refusal(&plain, "--h2c").contains("the port speaks HTTP/1.1, and no HTTP/2: leave out --h2c"),
        "h2c"
    );
    let https = plain.replace("http://", "https://");
    assert!(refusal(&https, "-k").contains("begin the URL with http://"), "HTTP/1.1");
}

#[test]
fn a_wrong_answer_is_an_error_and_the_run_is_not_valid() {
    let turning = || serve(|number| response(200, if number < 5 { "right" } else { "wrong" }));
    let workspace = Workspace::new(&[]);
    let ended = load(&workspace, &turning(), "-c 1 -n 10 --json").expect(4);
    let counted = tally(&ended);
    assert_eq!((&counted["sent"], &counted["answered"]), (&10.into(), &3.into()), "two were asked before");
    load(&workspace, &turning(), "-c 1 -n 10 --max-errors 70%").expect(0);
    load(&workspace, &turning(), "-c 1 -n 10 --expect-body wrong").expect(1);
    let ended = load(&workspace, &turning(), "-c 1 -n 10 --no-check --json").expect(0);
    assert_eq!(tally(&ended)["answered"], 10);
    let counting = serve(|number| response(200, &number.to_string()));
    let ended = load(&workspace, &counting, "-c 1 -n 10").expect(0);
    assert!(ended.stdout.contains("of which only the type is compared: $ (a counter)"), "{ended}");
    let changing = serve(|number| response(200, ["one", "two"][number % 2]));
    let ended = load(&workspace, &changing, "-c 1 -n 10").expect(0);
    assert!(ended.stdout.contains("status 200 only: two answers differed"), "{ended}");
}

#[test]
fn a_contract_is_loaded_with_its_own_answers() {
    let reference = RawSocket::new();
    let ended = reference.load("--contract hello -c 1 -n 10 --json").expect(0);
    assert_eq!(tally(&ended)["answered"], 10);
    let ended = reference.load("--contract rest -n 10 --seed 1").expect(1);
    assert!(ended.stderr.starts_with("error: the contract rest is not honoured: "));
    reference.end();
}

#[test]
fn interrupted_it_prints_what_is_known() {
    let reference = RawSocket::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let words = ["load", &reference.url, "-c", "1", "-d", "60s", "--json"];
        let running = reference.workspace.start(&words);
        // Learning the answer takes more than a second.
        std::thread::sleep(Duration::from_millis(2_500));
        send(running.pid(), signal);
        let ended = running.end().expect(code);
        assert_eq!(ended.json()["interrupted"], true);
        assert!(tally(&ended)["answered"].as_u64() > Some(0));
    }
    let running = reference.workspace.start(&["load", "--calibrate"]);
    std::thread::sleep(Duration::from_secs(1));
    send(running.pid(), Signal::INT);
    running.end().expect(130);
    reference.end();
}

#[test]
fn a_dry_run_sends_nothing() {
    let workspace = Workspace::new(&[]);
    let words = "-R 1k..20k/30s --arrivals poisson --warm-up 1s --data a=b -H X-Y:z --seed 7 --dry-run";
    let ended = load(&workspace, "http://127.0.0.1:9/a?b", words).expect(0);
    assert_snapshot!(ended.stdout, @r"
    to       http://127.0.0.1:9/a?b (127.0.0.1:9)
    load     open loop, 1k..20k/30s requests a second, at random, 64 connections, 1 thread, for 30s
    before   the same for 1s, not reported
    compare  the status that comes twice before the load, if below 400, and the body, as far as it is the same after a second
    wait     2s for a response, 2s for what is in flight at the end
    seed     7

    request 1 of 1, 120 bytes: POST /a?b
      POST /a?b HTTP/1.1\r\n
      Host: 127.0.0.1:9\r\n
      X-Y: z\r\n
      Content-Type: application/x-www-form-urlencoded\r\n
      Content-Length: 3\r\n
      \r\n
      a=b
    ");
    let words = "--contract rest --only status,label=2 --unix /tmp/x.sock --seed 7 --dry-run -c 2 -n 5";
    let ended = load(&workspace, "http://localhost/", words).expect(0);
    assert_snapshot!(ended.stdout.lines().take(12).collect::<Vec<_>>().join("\n"), @r"
    to       http://localhost/ (unix:/tmp/x.sock)
    load     closed loop, 2 connections, 1 thread, 5 requests within 1h
    compare  every response with what the contract rest asks for
    wait     2s for a response, 2s for what is in flight at the end
    seed     7

    request 1 of 513, 46 bytes: status
      GET /test/status HTTP/1.1\r\n
      Host: localhost\r\n
      \r\n
      answer: status 200 with 2 bytes `OK`
    ");
}

#[test]
fn statuses_are_counted_and_a_wrong_one_is_named() {
    let turning = || serve(|number| response(if number % 5 == 4 { 503 } else { 200 }, "fine"));
    let workspace = Workspace::new(&[]);
    let ended = load(&workspace, &turning(), "-c 1 -n 10 --json").expect(4);
    assert_eq!(ended.json()["statuses"], serde_json::json!({ "200": 8, "503": 2 }));
    assert_eq!(ended.json()["verdict"], "failing");
    let ended = load(&workspace, &turning(), "-c 1 -n 10").expect(4);
    assert!(ended.stdout.contains("2 failed (2 with an unexpected status)"));
    assert!(ended.stdout.contains("\nstatuses      200: 8, 503: 2\n"));
    assert!(ended.stdout.contains("\nverdict: failing\n"));
}

#[test]
fn a_redirect_is_a_warning() {
    let moved = serve(|_| "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n".to_owned());
    let workspace = Workspace::new(&[]);
    let ended = load(&workspace, &moved, "-c 1 -n 5").expect(0);
    assert!(
        ended
            .stdout
            .contains("warning: GET / is answered with 302, 0 bytes: this loads a redirect to /login; ")
    );
    assert_eq!(
        load(&workspace, &moved, "-c 1 -n 5 --expect-status 302 --json").json()["warnings"],
        serde_json::json!([])
    );
}

/// A server that answers for this time, and then closes everything.
fn serve_for(time: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let end = std::time::Instant::now() + time;
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        while std::time::Instant::now() < end {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).unwrap();
                    open.push(stream.try_clone().unwrap());
                    std::thread::spawn(move || talk(stream, || response(200, "fine")));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        drop(listener);
        open.iter().for_each(|stream| drop(stream.shutdown(std::net::Shutdown::Both)));
    });
    url
}

#[test]
fn a_server_that_ends_during_the_load_is_named_first() {
    let workspace = Workspace::new(&[]);
    let url = serve_for(Duration::from_millis(2_300));
    let ended = load(&workspace, &url, "-c 2 -d 2s --json").expect(4);
    let json = ended.json();
    let since_ns = json["gone_since_ns"].as_u64().unwrap();
    assert!((100_000_000..2_000_000_000).contains(&since_ns), "{since_ns}");
    assert!(json["verdict"].as_str().unwrap().starts_with("gone, failing"), "{}", json["verdict"]);
    assert!(json["answers_per_s_while_up"].as_f64() > json["answers_per_s"].as_f64());
    let ended = load(&workspace, &serve_for(Duration::from_millis(2_300)), "-c 2 -d 2s").expect(4);
    let place =
        |text: &str| ended.stdout.find(text).unwrap_or_else(|| panic!("no {text:?} in:\n{}", ended.stdout));
    assert!(place("\nnothing listens on 127.0.0.1:") < place("\nanswers "), "said first");
    assert!(place(" requests/s until ") < place(" in 2.00 s\n"), "the rate of a dead server is none");
}

#[test]
fn what_was_never_answered_bounds_the_mean_and_leaves_no_deviation() {
    // Two requests precede the load, ten are answered, and the next one never is.
    let silent = serve(|number| if number < 12 { response(200, "x") } else { String::new() });
    let workspace = Workspace::new(&[]);
    let ended = load(&workspace, &silent, "-c 1 -d 500ms --timeout 200ms --json").expect(4);
    let latency = &ended.json()["latency"];
    assert_eq!((&latency["ns_stdev"], &latency["at_least"][0]), (&Value::Null, &"mean".into()));
    assert!(latency["ns_mean"].as_u64() > Some(10_000_000), "{latency}");
}

#[test]
fn values_vary_in_the_url_and_the_body() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/items/{{{{number:1-100000.id}}}}", listener.local_addr().unwrap());
    let (asked, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut stream, asked) = (stream, asked.clone());
            std::thread::spawn(move || {
                loop {
                    let (mut head, mut line, mut length) = (String::new(), String::new(), 0);
                    while line != "\r\n" {
                        line.clear();
                        if !matches!(reader.read_line(&mut line), Ok(1..)) {
                            return;
                        }
                        length = line
                            .strip_prefix("Content-Length: ")
                            .map_or(length, |n| n.trim().parse().unwrap());
                        head += &line;
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    let path = head.split(' ').nth(1).unwrap().to_owned();
                    asked.send((path, String::from_utf8(body).unwrap())).unwrap();
                    stream.write_all(response(200, &head.len().to_string()).as_bytes()).unwrap();
                }
            });
        }
    });
    let workspace = Workspace::new(&[]);
    let ended = load(&workspace, &url, r#"-c 2 -n 40 --seed 7 --data {"id":{{number:1-100000.id}}}"#);
    assert!(matches!(ended.code(), Some(0 | 4)), "so short a run may find the generator busy all the time");
    assert!(ended.stdout.contains("checked: status 200 only: the requests vary"));
    assert!(ended.stdout.starts_with("POST http://127.0.0.1:"), "{}", ended.stdout);
    let requests: Vec<(String, String)> = requests.try_iter().collect();
    assert_eq!(requests.len(), 46, "three were asked twice before");
    for (path, body) in &requests {
        let id: u64 = path.strip_prefix("/items/").unwrap().parse().unwrap();
        assert_eq!(*body, format!("{{\"id\":{id}}}"));
    }
    let paths: std::collections::BTreeSet<&String> = requests[6..].iter().map(|(path, _)| path).collect();
    assert!(paths.len() > 30, "{}", paths.len());
    let plan = load(&workspace, "http://127.0.0.1:9/{{number}}", "--dry-run").expect(0);
    assert!(plan.stdout.contains("if below 400, and no body, because the requests vary\n"));
    assert_snapshot!(refusal("http://127.0.0.1/{{nmber}}", ""), @r#"error: --no-placeholders sends "{{" as it is: unknown placeholder "nmber"; did you mean "number"?"#);
}

#[test]
fn the_urls_of_a_file_are_requested_in_turns() {
    let workspace = Workspace::new(&[]);
    let server = serve(|_| response(200, "fine"));
    workspace.write("urls.txt", &format!("# two\n\n{server}a\n  {server}b\n"));
    let words = ["load", "--urls", "urls.txt", "-c", "1", "-n", "6", "--max-interference", "100%", "--json"];
    let json = workspace.tare(&words).expect(0).json();
    assert_eq!(json["what"], "GET /a and 1 more");
    workspace.write("wrong.txt", "http://127.0.0.1/\nftp://x/\n");
    let ended = workspace.tare(&["load", "--urls", "wrong.txt"]).expect(1);
    assert_snapshot!(ended.stderr.trim_end(), @r#"error: wrong.txt:2: the scheme "ftp" is neither http nor https"#);
}

/// A process that uses all CPU time it can get.
struct Spinner(std::process::Child);

impl Drop for Spinner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_machine_that_others_use_makes_a_load_doubtful() {
    let reference = RawSocket::new();
    let spin =
        |_| Spinner(std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap());
    let cpus = std::thread::available_parallelism().unwrap().get();
    let spinners: Vec<Spinner> = (0..2 * cpus).map(spin).collect();
    let ended = reference.load("-c 1 -d 1s --max-interference 10% --json").expect(4);
    drop(spinners);
    let json = ended.json();
    assert!(json["verdict"].as_str().unwrap().contains("interference"), "{}", json["verdict"]);
    assert!(json["machine"]["others_share"].as_f64() > Some(0.2), "{}", json["machine"]);
    reference.end();
}

#[test]
fn a_time_is_written_in_one_way_everywhere() {
    let workspace = Workspace::new(&[]);
    let planned = |time: &str| {
        let ended =
            load(&workspace, "http://127.0.0.1:9/", &format!("-d {time} --seed 7 --dry-run")).expect(0);
        ended.stdout.lines().nth(1).unwrap().to_owned()
    };
    assert_snapshot!(planned("90"), @"load     closed loop, 64 connections, 1 thread, for 1m30s");
    assert_eq!([planned("1m30s"), planned("1.5m")], [planned("90"), planned("90")]);
    // Each value is accepted; the error is about another option.
    for time in ["90", "1m30s", "1.5m"] {
        let ended = workspace.tare(&["compare", "unheard-of", "unheard-of", "--budget", time]).expect(1);
        assert!(ended.stderr.starts_with("error: unknown service"), "{}", ended.stderr);
    }
    let ended = workspace.tare(&["run", "x.toml", "--budget", "1d"]).expect(1);
    assert!(ended.stderr.contains("\"1d\" is not a duration: give a number with ns, us, ms, s, m or h"));
    let ended = workspace.tare(&["slo", "unheard-of", "--slo", "p99=20"]).expect(1);
    assert_snapshot!(ended.stderr.trim_end(), @r#"error: --slo: "p99=20" has no unit: write p99=20ms or p99=20s"#);
}

#[test]
fn an_option_of_another_tool_is_translated() {
    let workspace = Workspace::new(&[]);
    let told = |words: &str| load(&workspace, "http://127.0.0.1:9/", words).expect(1).stderr.clone();
    assert!(told("-z 3s").contains("tip: -z is -d here, such as -d 30s\n"));
    assert!(told("-R -5").contains("\"-5\" is not a rate"));
    assert!(!told("--foo").contains("--root"), "{}", told("--foo"));
    let ended = workspace.tare(&["list", "-z"]).expect(1);
    assert!(!ended.stderr.contains("-d here"), "a tip of load only");
}

/// The process is stopped for longer than its response timeout, in a load and in its drain.
#[test]
fn answers_that_came_while_it_was_stopped_are_not_late() {
    let raw_socket = RawSocket::new();
    let words =
        ["load", &raw_socket.url, "-c", "8", "-d", "2s", "--timeout", "500ms", "--json", "--think", "20ms"];
    let process = raw_socket.workspace.start(&words);
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(700));
        send(process.pid(), Signal::STOP);
        std::thread::sleep(Duration::from_millis(1200));
        send(process.pid(), Signal::CONT);
    }
    let ended = process.end();
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let totals = &report["totals"];
    assert_eq!((&totals["failed"], &totals["in_flight"]), (&0.into(), &0.into()), "{ended}");
    assert!(totals["answered"].as_u64() > Some(100), "{ended}");
    raw_socket.end();
}
