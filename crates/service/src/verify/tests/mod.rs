//! Verify as a whole, against a service in this process with one fault at a time.

mod server;

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use insta::assert_snapshot;

use super::*;
use server::{Fault, Server};

fn contract(name: &str) -> Contract {
    Contract::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../contracts/{name}.toml")))
        .unwrap()
}

fn options() -> Options {
    let answer = Duration::from_millis(500);
    let timeouts = Timeouts { answer, pause: Duration::from_millis(10), ..Timeouts::default() };
    Options { timeouts, ..Options::new(7) }
}

/// `contract` with the checks in `skip` left out: some wait long, and each has its own tests.
fn without(name: &str, skip: &[CheckId]) -> Contract {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../contracts/{name}.toml"));
    let mut text = std::fs::read_to_string(&path).unwrap();
    let own = ["http-1-0", "head"];
    for check in skip.iter().filter(|check| !own.contains(&check.name())) {
        text.push_str(&format!("\n{check} = \"skip\""));
    }
    for check in skip.iter().filter(|check| own.contains(&check.name())) {
        text = text.replace(&format!("\n{check}  = \"warn\""), &format!("\n{check} = \"skip\""));
    }
    Contract::parse(&text, &path).unwrap()
}

/// Without the two checks that wait: they have tests of their own.
fn faulty(name: &str, fault: Fault) -> Transcript {
    let server = Server::start(fault);
    verify(&without(name, &[CheckId::Date, CheckId::Fragments]), server.address, &options())
}

/// Every failure and, in brackets, every warning, a line each.
fn complaints(transcript: &Transcript) -> String {
    let line = |result: &CheckResult| match &result.outcome {
        Outcome::Fail(reason) => Some(format!("{} {}: {reason}", result.check, result.request)),
        Outcome::Warn(reason) => Some(format!("({}) {}: {reason}", result.check, result.request)),
        Outcome::Pass | Outcome::Skipped(_) => None,
    };
    transcript.checks.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_right_service_passes_every_contract() {
    let server = Server::start(Fault::None);
    for name in ["hello", "rest", "strings"] {
        let transcript = verify(&contract(name), server.address, &options());
        assert_eq!(complaints(&transcript), "", "{transcript}");
        assert!(transcript.passed());
        assert_eq!(transcript.reason(), None);
    }
}

#[test]
fn ok_with_an_exclamation_mark() {
    assert_snapshot!(complaints(&faulty("rest", Fault::StatusSaysOkBang)), @r#"response status: the body differs at byte 2: expected "OK" (2 bytes), got "OK!" (3 bytes)"#);
}

#[test]
fn hello_in_lower_case() {
    assert_snapshot!(complaints(&faulty("strings", Fault::FrameworkInLowerCase)), @r#"response framework: the JSON has no member "Hello" but "hello": upper and lower case are different names"#);
}

#[test]
fn count_ignored() {
    assert_snapshot!(complaints(&faulty("strings", Fault::IgnoresCount)), @r#"
response benchmark-three: the JSON: expected an array of length 3, got length 10
response benchmark-none: the JSON: expected an array of length 0, got length 10
bad-input count-not-a-number: expected a status of the class 4xx for wrong input, got 200 with the body "["Index 0","Index 1","Index 2","Index 3","Index 4","Index 5"..."
bad-input count-negative: expected a status of the class 4xx for wrong input, got 200 with the body "["Index 0","Index 1","Index 2","Index 3","Index 4","Index 5"..."
bad-input count-over-a-million: expected a status of the class 4xx for wrong input, got 200 with the body "["Index 0","Index 1","Index 2","Index 3","Index 4","Index 5"..."
"#);
}

#[test]
fn only_labels_of_three() {
    assert_snapshot!(complaints(&faulty("rest", Fault::OnlyLabelsOfThree)), @r#"
response label: expected status 200, got 404
response label-of-one: expected status 200, got 404
fresh label: labels of 1 to 24 characters are allowed; those of 3 are answered rightly, those of 1, 2, 8, 16, 24 wrongly: expected status 200, got 404
"#);
}

#[test]
fn a_reset_after_each_reply() {
    assert_snapshot!(complaints(&faulty("hello", Fault::ResetsAfterReply)), @r#"
keep-alive all of the load in turn: reset the connection after 1 of 200 requests without saying "Connection: close"
connection-close hello: reset the connection instead of closing it (the request said "Connection: close")
(http-1-0) hello: reset the connection instead of closing it (the request was HTTP/1.0 and did not ask to keep the connection)
"#);
}

#[test]
fn connections_that_are_not_kept() {
    assert_snapshot!(complaints(&faulty("hello", Fault::ClosesAfterReply)), @r#"keep-alive all of the load in turn: closed the connection after 1 of 200 requests without saying "Connection: close""#);
    assert_snapshot!(complaints(&faulty("hello", Fault::SaysClose)), @r#"
keep-alive all of the load in turn: said that it closes the connection in answer 1 of 200; where the framework cannot do otherwise, the manifest says "keeps-connections = false"
pipelined hello then hello: said that it closes the connection in answer 1 of 2; where the framework cannot do otherwise, the manifest says "keeps-connections = false"
"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::StaysOpen)), @r#"
connection-close hello: left the connection open (the request said "Connection: close")
(http-1-0) hello: left the connection open (the request was HTTP/1.0 and did not ask to keep the connection)
"#);
}

#[test]
fn a_service_known_to_close_must_say_so_and_do_so() {
    let known = Options { closes_connections: true, ..options() };
    let verify = |fault| {
        let server = Server::start(fault);
        verify(&without("hello", &[CheckId::Date]), server.address, &known)
    };
    let honest = verify(Fault::SaysClose);
    assert_eq!(complaints(&honest), "");
    let skipped = honest.checks.iter().filter(|result| matches!(result.outcome, Outcome::Skipped(_)));
    let names: Vec<&str> = skipped.map(|result| result.check.name()).collect();
    assert_eq!(names, ["fresh", "keep-alive", "pipelined", "bad-input", "date"]);
    assert_snapshot!(complaints(&verify(Fault::None)), @r#"response hello: the manifest says that each connection is closed, but the answer does not say "Connection: close"; remove "keeps-connections = false" if it is kept"#);
    assert_snapshot!(complaints(&verify(Fault::SaysCloseButStaysOpen)), @r#"response hello: says "Connection: close" but leaves the connection open"#);
}

#[test]
fn a_known_failure_is_a_warning_with_its_reason() {
    let known_failures = vec![(CheckId::KeepAlive, "it is known to".to_owned())];
    let server = Server::start(Fault::ClosesAfterReply);
    let contract = without("hello", &[CheckId::Date]);
    let transcript = verify(&contract, server.address, &Options { known_failures, ..options() });
    assert_eq!(transcript.reason(), None);
    let told = complaints(&transcript);
    assert!(told.starts_with("(keep-alive) ") && told.ends_with("(known failure: it is known to)"), "{told}");
}

#[test]
fn requests_cut_and_pipelined() {
    let server = Server::start(Fault::AnswersBeforeTheBody);
    let cut = verify(&without("rest", &[CheckId::Date]), server.address, &options());
    assert_snapshot!(complaints(&cut), @r#"
fragments echo: cut between head and body, after byte 98 of 169: answered with status 400 after 98 of 169 bytes, before the whole body had come
fragments echo-nested: cut between head and body, after byte 99 of 206: answered with status 400 after 99 of 206 bytes, before the whole body had come
"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::AnswersOnePipelined)), @r#"pipelined hello then hello: answered 1 of 2 pipelined requests: no answer within 500ms"#);
    assert_snapshot!(complaints(&faulty("strings", Fault::SwapsPipelined)), @r#"
pipelined framework then benchmark: the answer to the second of 2 pipelined requests came first
pipelined benchmark then framework: the answer to the second of 2 pipelined requests came first
"#);
}

#[test]
fn answers_that_are_not_fresh() {
    assert_snapshot!(complaints(&faulty("rest", Fault::Caches)), @r#"fresh label: filled anew, round 1 of 8: the answer to an earlier request came again, as from a cache: the body differs at byte 0: expected "ny-b" (4 bytes), got "FQ2XXf" (6 bytes)"#);
}

#[test]
fn framing_and_headers() {
    assert_snapshot!(complaints(&faulty("hello", Fault::PromisesTooMuch)), @r#"response hello: the answer was not complete within 500ms: Content-Length promises 17 bytes of body, 12 had come"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::SendsTooMuch)), @r#"response hello: 2 bytes came after the end of the answer"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::WrongContentType)), @r#"response hello: expected content type "text/plain; charset=utf-8", got "text/html""#);
    assert_snapshot!(complaints(&faulty("hello", Fault::NeverAnswers)), @r#"response hello: no answer within 500ms"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::ChunkedAlways)), @r#"(http-1-0) hello: HTTP/1.0 was answered with "Transfer-Encoding: chunked", which it does not know"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::BodyToHead)), @r#"(head) hello: 12 bytes of body came after the answer to HEAD"#);
}

#[test]
fn refusals_that_are_missing() {
    assert_snapshot!(complaints(&faulty("hello", Fault::FindsAll)), @r#"
not-found GET /tare-P_N7IAKTu29N7u_9: expected status 404 for a path that the contract does not know, got 200
not-found GET /tare-QHdP9QDnHibstkuD/WwC2tRkGO4DYzRXg: expected status 404 for a path that the contract does not know, got 200
wrong-method DELETE /: expected status 405 or 404 for a method that the contract does not know, got 200
"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::TakesAllMethods)), @r#"wrong-method DELETE /: expected status 405 or 404 for a method that the contract does not know, got 200 with the body "Hello world!""#);
    assert_snapshot!(complaints(&faulty("rest", Fault::TakesBadInput)), @r#"
bad-input malformed-json: expected a status of the class 4xx for wrong input, got 200 with the body "{"text":"received"}"
bad-input empty-json: expected a status of the class 4xx for wrong input, got 200 with the body "{"text":"received"}"
"#);
    assert_snapshot!(complaints(&faulty("rest", Fault::HangsUpOnBadInput)), @r#"
bad-input malformed-json: expected a status of the class 4xx for wrong input: closed the connection instead of answering
bad-input empty-json: expected a status of the class 4xx for wrong input: closed the connection instead of answering
bad-input json-not-an-object: expected a status of the class 4xx for wrong input: closed the connection instead of answering
"#);
}

#[test]
fn dates_that_stand_still_and_dates_that_are_not_sent() {
    let others: Vec<CheckId> = CheckId::ALL
        .iter()
        .copied()
        .filter(|check| !matches!(check, CheckId::Response | CheckId::Date))
        .collect();
    let verify = |fault| {
        let server = Server::start(fault);
        verify(&without("hello", &others), server.address, &options())
    };
    let frozen = complaints(&verify(Fault::FrozenDate));
    assert!(
        frozen.starts_with("date hello: the Date stands still: \"Sun, 06 Nov 1994 08:49:37 GMT\" for 3."),
        "{frozen}"
    );
    let none = verify(Fault::NoDate);
    assert_eq!(complaints(&none), "");
    let date = none.checks.iter().find(|result| result.check == CheckId::Date).unwrap();
    assert_eq!(date.note.as_deref(), Some("no Date header"));
}

#[test]
fn a_reference_is_not_asked_what_it_cannot_know() {
    let server = Server::start(Fault::FindsAll);
    let reference = Options { style_is_reference: true, ..options() };
    let transcript = verify(&without("hello", &[CheckId::Date]), server.address, &reference);
    assert_eq!(complaints(&transcript), "");
    let asked = transcript.checks.iter().filter(|result| result.outcome == Outcome::Pass);
    let names: Vec<&str> = asked.map(|result| result.check.name()).collect();
    assert_eq!(names, ["response", "fragments", "keep-alive", "pipelined", "alive"]);
}

#[test]
fn nothing_listens() {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let transcript = verify(&contract("hello"), address, &options());
    let text = transcript.to_string().replace(&address.to_string(), "ADDRESS");
    assert_snapshot!(text, @r#"
contract hello: not honoured (1 failed, 12 skipped)
  FAIL  response          hello
        cannot connect to "ADDRESS": Connection refused (os error 111)
  skip  fresh             nothing accepts connections
  skip  fragments         nothing accepts connections
  skip  keep-alive        nothing accepts connections
  skip  pipelined         nothing accepts connections
  skip  connection-close  nothing accepts connections
  skip  http-1-0          nothing accepts connections
  skip  head              nothing accepts connections
  skip  not-found         nothing accepts connections
  skip  wrong-method      nothing accepts connections
  skip  bad-input         nothing accepts connections
  skip  date              nothing accepts connections
  skip  alive             nothing accepts connections
"#);
}

#[test]
fn a_failed_transcript_in_full() {
    let server = Server::start(Fault::StatusSaysOkBang);
    let mut transcript = verify(&without("rest", &[CheckId::Date]), server.address, &options());
    // The port is not the same twice.
    for wire in transcript.checks.iter_mut().filter_map(|result| result.wire.as_mut()) {
        wire.sent = wire.sent.replace(&server.address.to_string(), "ADDRESS");
    }
    assert_snapshot!(transcript, @r#"
contract rest: not honoured (1 failed, 27 passed, 1 skipped)
  pass  response          echo
  FAIL  response          status
        the body differs at byte 2: expected "OK" (2 bytes), got "OK!" (3 bytes)
        sent
          GET /test/status HTTP/1.1\r\n
          Host: ADDRESS\r\n
          \r\n
        received
          HTTP/1.1 200 X\r\n
          Date: Sun, 06 Nov 1994 08:00:01 GMT\r\n
          Content-Type: text/plain; charset=utf-8\r\n
          Content-Length: 3\r\n
          \r\n
          OK!
  pass  response          label, echo-nested, label-of-one
  pass  fresh             echo, label, echo-nested
  pass  fragments         echo, label, echo-nested, label-of-one
  pass  keep-alive        all of the load in turn
  pass  pipelined         echo then label, label then echo
  pass  connection-close  echo, label
  pass  http-1-0          echo, label
  pass  head              label
  pass  not-found         GET /tare-P_N7IAKTu29N7u_9, GET /tare-QHdP9QDnHibstkuD/WwC2tRkGO4DYzRXg
  pass  wrong-method      DELETE /test, DELETE /test/labels/ltCMutLUL0SFvId-1WGf
  pass  bad-input         malformed-json, empty-json, json-not-an-object
  skip  date              the contract says skip
  pass  alive             echo
"#);
    assert_snapshot!(transcript.reason().unwrap(), @r#"rest: response of "status": the body differs at byte 2: expected "OK" (2 bytes), got "OK!" (3 bytes)"#);
    let json = serde_json::to_value(&transcript).unwrap();
    insta::assert_json_snapshot!(json["checks"][1], @r#"
{
  "check": "response",
  "request": "status",
  "outcome": "fail",
  "reason": "the body differs at byte 2: expected \"OK\" (2 bytes), got \"OK!\" (3 bytes)",
  "wire": {
    "sent": "GET /test/status HTTP/1.1\\r\\nHost: ADDRESS\\r\\n\\r\\n",
    "received": "HTTP/1.1 200 X\\r\\nDate: Sun, 06 Nov 1994 08:00:01 GMT\\r\\nContent-Type: text/plain; charset=utf-8\\r\\nContent-Length: 3\\r\\n\\r\\nOK!"
  }
}
"#);
    assert_eq!(serde_json::from_value::<Transcript>(json).unwrap(), transcript);
}
