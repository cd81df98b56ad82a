//! Answers that change with time, and the requests before learning, in every command that learns.

use std::{fs, path::Path};

use crate::support::{Ended, checkout, start, wrong_of};

/// Answers with `body()`, and writes each request as a line into a file.
const SERVICE: &str = r#"
import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
count = 0
def body():
    global count
    count += 1
    return BODY
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open(sys.argv[0] + ".asked", "a") as asked:
            names = ["content-type", "x-own"]
            asked.write(" ".join([self.command, self.path, *[str(self.headers.get(name)) for name in names], str(sent)]) + "\n")
        answer = body().encode()
        self.send_response(302 if self.path == "/old" else 200)
        if self.path == "/old": self.send_header("Location", "/new")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    do_POST = do_GET
    def log_message(self, *words):
        pass
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;

/// The answer of a service, and the expected message.
const CHANGING: [(&str, &str); 6] = [
    (
        "'now %d' % time.time()",
        "the same text but for 1 value, of which only the form is compared: byte 4 (a time)",
    ),
    (
        "'%d' % (time.time() / 60)",
        "the same JSON but for 1 value, of which only the type is compared: $ (a time)",
    ),
    (
        "'{\"id\": 1, \"time\": %d, \"seen\": %d}' % (time.time(), count)",
        "the same JSON but for 2 values, of which only the type is compared: $.time (a time), $.seen (a counter)",
    ),
    (
        "time.strftime('<p>%H:%M on %A, %d %B %Y</p>')",
        "the same text but for 2 values, of which only the form is compared: byte 3 (a time), byte 12 (a date)",
    ),
    (
        "'visit no. %d' % count",
        "the same text but for 1 value, of which only the form is compared: byte 10 (a counter)",
    ),
    (
        "time.strftime('%a, %d %b %Y %H:%M:%S GMT')",
        "of which only the form is compared: byte 0 (a date), byte 17 (a time)",
    ),
];

fn has_python() -> bool {
    tare_host::fixture::has_program("services whose answers change", "python3")
}

/// The command of a service with this answer.
fn service(folder: &Path, name: &str, body: &str) -> String {
    let path = folder.join(format!("{name}.py"));
    fs::write(&path, SERVICE.replace("BODY", body)).unwrap();
    format!("python3 {}", path.display())
}

/// The requests that the service of this name received.
fn asked(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(format!("{name}.py.asked"))).unwrap_or_default()
}

fn tare(folder: &Path, words: &[&str]) -> Ended {
    start(folder, words).end()
}

#[test]
fn what_changes_with_time_is_not_learned_as_fixed() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let found = wrong_of(&CHANGING, 3, |(body, said)| {
        let name = format!("service-{}", body.len());
        let command = service(folder.path(), &name, body);
        let ended = tare(folder.path(), &["verify", "--trust", &command]);
        (ended.code() != Some(0) || !ended.stderr.contains(said)).then(|| format!("{body}: {ended}"))
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_comparison_of_a_service_that_tells_the_time_measures() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let command = service(folder.path(), "clock", CHANGING[0].0);
    let words = ["compare", "--trust", &command, &command, "--budget", "3s", "--connections", "4", "--json"];
    let ended = tare(folder.path(), &words);
    assert!(!matches!(ended.code(), Some(1 | 2)), "{ended}");
    assert!(!ended.stderr.contains("correct answer") && !ended.stdout.contains("correct answer"), "{ended}");
}

#[test]
fn the_raw_socket_answers_as_a_service_whose_answer_changes() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let command = service(folder.path(), "clock", CHANGING[0].0);
    let words = ["run", "--trust", "--service", &command, "--budget", "3s", "--connections", "4", "--json"];
    let ended = tare(folder.path(), &words);
    assert!(!matches!(ended.code(), Some(1 | 2)), "{ended}");
    assert_eq!(ended.json()["status"], "complete");
    let run = fs::read_dir(folder.path().join(".tare/runs")).unwrap().next().unwrap().unwrap().path();
    let header: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run.join("run.json")).unwrap()).unwrap();
    let rows = header["plan"]["rows"].as_array().unwrap();
    assert!(rows.len() == 3 && rows.iter().all(|row| row["excluded"].is_null()), "{ended}");
    let refused = [&words[..], &["--get", "/", "--get", "/a"]].concat();
    for words in [refused.clone(), [&refused[..], &["--dry-run"]].concat()] {
        let ended = tare(folder.path(), &words).expect(1);
        let reason = format!(
            "error: the raw socket sends one fixed response, and 2 requests are asked for: ask for one path, or relate to another \
             service, as by `tare run --reference '{command}'`\n"
        );
        assert_eq!(ended.stderr, reason);
    }
}

#[test]
fn a_new_repository_has_the_form_of_what_changes() {
    if !has_python() {
        return;
    }
    let (_folder, root) = checkout("clock");
    let command = service(&root, "clock", CHANGING[0].0);
    let words = ["init", "--trust", "--no-compare", "--name", "clock", "--command", &command];
    tare(&root, &words).expect(0);
    let contract = fs::read_to_string(root.join("tare/clock.toml")).unwrap();
    assert!(contract.contains("matches = 'now [0-9]+") && !contract.contains("body"), "{contract}");
    tare(&root, &["verify", "--trust", "clock"]).expect(0);
}

#[test]
fn what_is_sent_is_what_was_typed() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("order.json"), "{\"a\": \"{{b}}\"}").unwrap();
    let command = service(folder.path(), "echo", "'fixed'");
    let verify = |words: &[&str]| tare(folder.path(), &[&["verify", "--trust", &command], words].concat());
    let post =
        ["--post", "/orders?a=%20#part", "--data", "@order.json", "-H", "X-Own: yes", "--no-placeholders"];
    let ended = verify(&post).expect(0);
    assert!(
        ended.stderr.contains("POST /orders?a=%20: every answer must have status 200 and the same 5 bytes"),
        "{ended}"
    );
    let line = "POST /orders?a=%20 application/json yes b'{\"a\": \"{{b}}\"}'";
    let told = asked(folder.path(), "echo");
    assert!(told.lines().count() > 4 && told.lines().all(|asked| asked == line), "{told}");
    for (words, reason) in [
        (
            &["--post", "/", "--data", "{{b}}"][..],
            "--post: --no-placeholders sends \"{{\" as it is: unknown placeholder \"b\"",
        ),
        (
            &["--get", "/\u{e4}"],
            "--get: \"/\u{e4}\" is not a path: give what is neither a letter nor a digit percent-encoded",
        ),
        (&["--get", "/", "-H", "Host: a"], "\"Host\""),
        (&["--get", "/", "-H", "Content-Length: 7"], "the header content-length follows from --data"),
        (&["--get", "/", "-H", "A: 1", "-H", "a: 2"], "the header A is given twice"),
        (&["--post", "/", "--data", "@none.json"], "error: --data: none.json cannot be read"),
    ] {
        let ended = verify(words);
        assert!(ended.code() == Some(1) && ended.stderr.contains(reason), "{words:?}: {ended}");
        assert!(!ended.stderr.contains("learned.toml"), "no user wrote that: {ended}");
    }
    let ended = verify(&["--get", "/old"]).expect(0);
    assert!(
        ended.stderr.contains("GET /old is answered with 302: this asks for a redirect to /new"),
        "{ended}"
    );
    let placeholders = verify(&["--get", "/items/{{number:1-9}}"]).expect(0);
    assert!(
        placeholders.stderr.contains("every answer must have status 200; its body is not compared"),
        "{placeholders}"
    );
}
