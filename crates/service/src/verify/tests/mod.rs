//! Verification as a whole, against a service in this process with one fault at a time.

mod http2;
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

fn options() -> VerifyOptions {
    let answer = Duration::from_millis(500);
    let after_silence = Duration::from_millis(200);
    let timeouts =
        Timeouts { answer, after_silence, pause: Duration::from_millis(10), ..Timeouts::default() };
    VerifyOptions { timeouts, ..VerifyOptions::new(7) }
}

/// `contract` without the checks in `skip`: some wait long, and each has its own tests.
fn without(name: &str, skip: &[CheckId]) -> Contract {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../contracts/{name}.toml"));
    let mut text = std::fs::read_to_string(&path).unwrap() + "\n[checks]";
    for check in skip {
        text.push_str(&format!("\n{check} = \"skip\""));
    }
    Contract::parse(&text, &path).unwrap()
}

/// Runs only these checks, and those that must precede them.
fn only(name: &str, checks: &[CheckId], fault: Fault) -> Transcript {
    let is_other = |check: &CheckId| *check != CheckId::Response && !checks.contains(check);
    let others: Vec<CheckId> = CheckId::ALL.iter().copied().filter(is_other).collect();
    let server = Server::start(fault);
    verify(&without(name, &others), &server.address.into(), &options())
}

/// Runs without the two checks that wait: they have their own tests.
fn faulty(name: &str, fault: Fault) -> Transcript {
    let server = Server::start(fault);
    verify(&without(name, &[CheckId::Date, CheckId::Fragments]), &server.address.into(), &options())
}

/// All failures and, in brackets, warnings, one a line.
fn complaints(transcript: &Transcript) -> String {
    let line = |result: &CheckResult| match &result.outcome {
        CheckOutcome::Fail(reason) => Some(format!("{} {}: {reason}", result.check, result.request)),
        CheckOutcome::Warn(reason) => Some(format!("({}) {}: {reason}", result.check, result.request)),
        CheckOutcome::Pass | CheckOutcome::Skipped(_) => None,
    };
    transcript.checks.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_right_service_passes_every_contract() {
    let server = Server::start(Fault::None);
    for name in ["hello", "rest", "strings"] {
        let transcript = verify(&contract(name), &server.address.into(), &options());
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
    assert_snapshot!(complaints(&faulty("strings", Fault::FrameworkInLowerCase)), @r#"response framework: $.Hello: is missing; "hello" is there, but upper and lower case are different names"#);
}

#[test]
fn count_ignored() {
    assert_snapshot!(complaints(&faulty("strings", Fault::IgnoresCount)), @r#"
response benchmark-three: $: expected an array of length 3, got length 10
response benchmark-none: $: expected an array of length 0, got length 10
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
keep-alive all of the load in turn: reset the connection after 1 of 1100 requests without saying "Connection: close"
connection-close hello: reset the connection instead of closing it (the request said "Connection: close")
(http-1-0) hello: reset the connection instead of closing it (the request was HTTP/1.0 and did not ask to keep the connection)
"#);
}

#[test]
fn connections_that_are_not_kept() {
    assert_snapshot!(complaints(&faulty("hello", Fault::ClosesAfterReply)), @r#"keep-alive all of the load in turn: closed the connection after 1 of 1100 requests without saying "Connection: close""#);
    assert_snapshot!(complaints(&faulty("hello", Fault::SaysClose)), @r#"
keep-alive all of the load in turn: said that it closes the connection in answer 1 of 1100; where the framework cannot do otherwise, the manifest says "keeps-connections = false"
pipelined hello then hello: said that it closes the connection in answer 1 of 2; where the framework cannot do otherwise, the manifest says "keeps-connections = false"
"#);
    assert_snapshot!(complaints(&faulty("hello", Fault::StaysOpen)), @r#"
connection-close hello: left the connection open (the request said "Connection: close")
(http-1-0) hello: left the connection open (the request was HTTP/1.0 and did not ask to keep the connection)
"#);
}

#[test]
fn a_service_known_to_close_must_say_so_and_do_so() {
    let known = VerifyOptions { closes_connections: true, ..options() };
    let verify = |fault| {
        let server = Server::start(fault);
        verify(&without("hello", &[CheckId::Date]), &server.address.into(), &known)
    };
    let honest = verify(Fault::SaysClose);
    assert_eq!(complaints(&honest), "");
    let skipped = honest.checks.iter().filter(|result| matches!(result.outcome, CheckOutcome::Skipped(_)));
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
    let transcript =
        verify(&contract, &server.address.into(), &VerifyOptions { known_failures, ..options() });
    assert_eq!(transcript.reason(), None);
    let told = complaints(&transcript);
    assert!(told.starts_with("(keep-alive) ") && told.ends_with("(known failure: it is known to)"), "{told}");
}

#[test]
fn requests_cut_and_pipelined() {
    let server = Server::start(Fault::AnswersBeforeTheBody);
    // What names the first cut that is answered early must leave the server time to answer, on a busy machine too.
    let timeouts = Timeouts { pause: Duration::from_millis(40), ..options().timeouts };
    let patient = VerifyOptions { timeouts, ..options() };
    let cut = verify(&without("rest", &[CheckId::Date]), &server.address.into(), &patient);
    assert_snapshot!(complaints(&cut), @r#"
fragments echo: cut between head and body, after byte 98 of 169: answered with status 400 after 98 of 169 bytes, before the whole body had come
fragments echo-nested: cut between head and body, after byte 99 of 206: answered with status 400 after 99 of 206 bytes, before the whole body had come
request-forms echo with no blank after the colons: cut into 4 segments, though it was answered as one: expected status 200, got 400 with the body "bad"
request-forms echo with header names in lower case: cut into 4 segments, though it was answered as one: expected status 200, got 400 with the body "bad"
request-forms echo with header names in capitals: cut into 4 segments, though it was answered as one: expected status 200, got 400 with the body "bad"
request-forms echo with a head of 8,000 bytes: cut into 4 segments, though it was answered as one: expected status 200, got 400 with the body "bad"
request-forms echo with a body of 1,000,000 bytes: cut into 4 segments, though it was answered as one: expected status 200, got 400 with the body "bad"
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
not-found GET /tare-0mrZKkcyQeoPUDNQ: expected status 404 for a path that the contract does not know, got 200 with the body "Hello world!", as to "hello": it answers everything alike. If it is meant to have no router, its manifest says style = "raw-socket"
not-found GET /tare-1C2fe0ilUYUCvXn2/snfq359nbip5ns8y: expected status 404 for a path that the contract does not know, got 200 with the body "Hello world!", as to "hello": it answers everything alike. If it is meant to have no router, its manifest says style = "raw-socket"
wrong-method DELETE /: expected status 405 or 404 for a method that the contract does not know, got 200 with the body "Hello world!"
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
fn dates_that_stand_still_are_of_another_hour_or_are_not_sent() {
    let verify = |fault| only("hello", &[CheckId::Date], fault);
    let frozen = complaints(&verify(Fault::FrozenDate));
    assert!(
        frozen.starts_with("date hello: the Date stands still: \"Sun, 06 Nov 1994 08:49:37 GMT\" for "),
        "{frozen}"
    );
    let past = complaints(&verify(Fault::DateOfAnHourAgo));
    // A second may pass between the two readings of the clock.
    let is_told = ["3599", "3600", "3601"]
        .iter()
        .any(|seconds| past.ends_with(&format!("is {seconds} s behind the clock of this machine")));
    assert!(past.starts_with("date hello: the Date \"") && is_told, "{past}");
    let none = verify(Fault::NoDate);
    assert_eq!(complaints(&none), "");
    let date = none.checks.iter().find(|result| result.check == CheckId::Date).unwrap();
    assert_eq!(date.note.as_deref(), Some("no Date header"));
}

#[test]
fn all_differences_are_told_and_the_other_checks_are_made() {
    let transcript = faulty("strings", Fault::WrongTypeAndName);
    let told = complaints(&transcript);
    let first = told.lines().next().unwrap();
    assert_snapshot!(first, @r#"response framework: expected content type "application/json", got "text/html"; $.Hello: is missing; "hello" is there, but upper and lower case are different names"#);
    let wrong =
        |result: &&CheckResult| result.check == CheckId::Response && result.outcome == CheckOutcome::Pass;
    assert_eq!(transcript.checks.iter().find(wrong), None, "no answer is right");
    let made: Vec<&str> = transcript
        .checks
        .iter()
        .filter(|result| result.outcome == CheckOutcome::Pass)
        .map(|result| result.check.name())
        .collect();
    for check in
        ["keep-alive", "pipelined", "connection-close", "not-found", "wrong-method", "bad-input", "alive"]
    {
        assert!(made.contains(&check), "{check} of {transcript}");
    }
}

#[test]
fn requests_in_other_forms() {
    let forms = |fault| complaints(&only("rest", &[CheckId::RequestForms], fault));
    assert_eq!(forms(Fault::None), "");
    assert_snapshot!(forms(Fault::OneSpelling), @r#"
request-forms echo with no blank after the colons: expected status 200, got 400 with the body "bad"
request-forms echo with header names in lower case: expected status 200, got 400 with the body "bad"
request-forms echo with header names in capitals: expected status 200, got 400 with the body "bad"
"#);
    assert_snapshot!(forms(Fault::HeadOfFourKilobytes), @r#"
request-forms echo with a head of 8,000 bytes: closed the connection instead of answering
request-forms status with a head of 8,000 bytes: closed the connection instead of answering
request-forms label with a head of 8,000 bytes: closed the connection instead of answering
"#);
    assert_snapshot!(forms(Fault::ChunkedInOnePiece), @r#"request-forms echo with a chunked body: cut into 8 segments, though it was answered as one: expected status 200, got 400 with the body "bad""#);
    let refused = only("rest", &[CheckId::RequestForms], Fault::RefusesLongBodies);
    assert_eq!(complaints(&refused), "");
    let noted: Vec<_> =
        refused.checks.iter().filter_map(|result| Some((&result.request, result.note.as_ref()?))).collect();
    assert_eq!(noted, [(&"echo with a body of 1,000,000 bytes".to_owned(), &"refused with 413".to_owned())]);
}

#[test]
fn paths_and_methods_that_the_contract_does_not_know() {
    assert_snapshot!(complaints(&only("api", &[CheckId::NotFound], Fault::PrefixRouter)), @r#"
not-found GET /api/testCtTr77Px: expected status 404 for a path that the contract does not know, got 200 with the body "Hello, World!"
not-found GET /api/test/nzltCMut: expected status 404 for a path that the contract does not know, got 200 with the body "Hello, World!"
not-found GET /api: expected status 404 for a path that the contract does not know, got 200 with the body "Hello, World!"
"#);
    assert_snapshot!(complaints(&only("rest", &[CheckId::WrongMethod], Fault::PostIsGet)), @r#"
wrong-method POST /test/status: expected status 405 or 404 for a method that the contract does not know, got 200 with the body "OK"
wrong-method POST /test/labels/JGaCJ2hZdSiWY-jID2y72Mq: expected status 405 or 404 for a method that the contract does not know, got 200 with the body "JGaCJ2hZdSiWY-jID2y72Mq"
"#);
}

/// Cases that no check covers, because frameworks differ, but a contract can.
const SPELLINGS: &str = r#"
format = "1.0"
name = "spellings"
title = ""

[[request]]
name = "phrase"
method = "GET"
path = "/test/labels/{{phrase.a}}"
[request.response]
status = 200
body = "{{phrase.a}}"

[[request]]
name = "status-with-query"
load = false
method = "GET"
path = "/test/status?x=1"
[request.response]
status = 200

[[bad]]
name = "status-in-capitals"
method = "GET"
path = "/TEST/STATUS"
"#;

#[test]
fn encoded_paths_queries_and_case_are_asked_where_the_contract_does() {
    let contract = Contract::parse(SPELLINGS, Path::new("spellings.toml")).unwrap();
    let asked = |fault| {
        let server = Server::start(fault);
        let checks = [CheckId::Response, CheckId::Fresh, CheckId::BadInput];
        complaints(&verify_only(&contract, &server.address.into(), &options(), &checks))
    };
    assert_eq!(asked(Fault::None), "");
    let raw = asked(Fault::NeverDecodes);
    assert!(
        raw.starts_with("response phrase: the body differs at byte ") && raw.lines().count() == 1,
        "{raw}"
    );
    assert_snapshot!(asked(Fault::QueryIsPath), @r#"response status-with-query: expected status 200, got 404 with the body "not found""#);
    assert_snapshot!(asked(Fault::IgnoresCase), @r#"bad-input status-in-capitals: expected a status of the class 4xx for wrong input, got 200 with the body "OK""#);
}

#[test]
fn a_connection_that_ends_after_a_thousand_answers() {
    let found = complaints(&only("hello", &[CheckId::KeepAlive], Fault::ClosesAtAThousand));
    // On a busy machine the close is noticed only after the next request was sent.
    assert_snapshot!(found.replace("ended the connection", "closed the connection"), @r#"keep-alive all of the load in turn: closed the connection after 1000 of 1100 requests without saying "Connection: close""#);
}

#[test]
fn a_service_that_hangs_is_waited_for_twice() {
    let began = std::time::Instant::now();
    let told = complaints(&faulty("rest", Fault::NeverAnswersLabels));
    let took = began.elapsed();
    assert!(told.contains("response label: no answer within 500ms"), "{told}");
    assert!(told.contains("no answer within 200ms") && told.matches("500ms").count() == 2, "{told}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn what_the_caller_saw_of_the_end_is_a_check() {
    let end = |end: Result<(), String>| ended(&contract("hello"), &options(), end);
    assert_eq!(end(Ok(())).outcome, CheckOutcome::Pass);
    assert_eq!(end(Err("status 1".to_owned())).outcome, CheckOutcome::Fail("status 1".to_owned()));
    let skipped = ended(&without("hello", &[CheckId::End]), &options(), Err(String::new()));
    assert!(matches!(skipped.outcome, CheckOutcome::Skipped(_)));
}

#[test]
fn a_reference_is_not_asked_what_it_cannot_know() {
    let server = Server::start(Fault::FindsAll);
    let reference = VerifyOptions { style_is_reference: true, ..options() };
    let transcript = verify(&without("hello", &[CheckId::Date]), &server.address.into(), &reference);
    assert_eq!(complaints(&transcript), "");
    let asked = transcript.checks.iter().filter(|result| result.outcome == CheckOutcome::Pass);
    let mut names: Vec<&str> = asked.map(|result| result.check.name()).collect();
    names.dedup();
    assert_eq!(names, ["response", "fragments", "request-forms", "keep-alive", "pipelined", "alive"]);
}

#[test]
fn nothing_listens() {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let transcript = verify(&contract("hello"), &address.into(), &options());
    let text = transcript.to_string().replace(&address.to_string(), "ADDRESS");
    assert_snapshot!(text, @r#"
contract hello: not honoured (1 failed, 13 skipped)
  FAIL  response          hello
        cannot connect to "ADDRESS": Connection refused (os error 111)
  skip  fresh             nothing accepts connections
  skip  fragments         nothing accepts connections
  skip  request-forms     nothing accepts connections
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
    let mut transcript = verify(&without("rest", &[CheckId::Date]), &server.address.into(), &options());
    // Port and time vary.
    for wire in transcript.checks.iter_mut().filter_map(|result| result.wire.as_mut()) {
        wire.sent = wire.sent.replace(&server.address.to_string(), "ADDRESS");
        let (before, date) = wire.received.split_once("Date: ").unwrap();
        wire.received = format!("{before}Date: NOW{}", &date[29..]);
    }
    assert_snapshot!(transcript, @r#"
contract rest: not honoured (1 failed, 57 passed, 1 skipped)
  pass  response          echo
  FAIL  response          status
        the body differs at byte 2: expected "OK" (2 bytes), got "OK!" (3 bytes)
        sent
          GET /test/status HTTP/1.1\r\n
          Host: ADDRESS\r\n
          \r\n
        received
          HTTP/1.1 200 X\r\n
          Date: NOW\r\n
          Content-Type: text/plain; charset=utf-8\r\n
          Content-Length: 3\r\n
          \r\n
          OK!
  pass  response          label, echo-nested, label-of-one
  pass  fresh             echo, label, echo-nested
  pass  fragments         echo, status, label, echo-nested, label-of-one
  pass  request-forms     echo with no blank after the colons, echo with header names in lower case, echo with header names in capitals, echo with a head of 8,000 bytes, echo with a chunked body, echo with a body of 1,000,000 bytes, status with no blank after the colons, status with header names in lower case, status with header names in capitals, status with a head of 8,000 bytes, label with no blank after the colons, label with header names in lower case, label with header names in capitals, label with a head of 8,000 bytes
  pass  keep-alive        all of the load in turn
  pass  pipelined         echo then status, status then label, label then echo
  pass  connection-close  echo, status, label
  pass  http-1-0          echo, status, label
  pass  head              status, label
  pass  not-found         GET /tare-0mrZKkcyQeoPUDNQ, GET /tare-1C2fe0ilUYUCvXn2/snfq359nbip5ns8y, POST /testPxnzltCM, POST /test/utLUL0SF, GET /test/statusvId-1WGf, GET /test/status/IbAvg4yA, GET /test/labels/stI7Ru/kNR_7FSh, GET /test/labels, GET /test/labels/x/Jw5y9Jos
  pass  wrong-method      GET /test, DELETE /test, POST /test/status, DELETE /test/status, POST /test/labels/JGaCJ2hZdSiWY-jID2y72Mq, DELETE /test/labels/JGaCJ2hZdSiWY-jID2y72Mq
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
    "received": "HTTP/1.1 200 X\\r\\nDate: NOW\\r\\nContent-Type: text/plain; charset=utf-8\\r\\nContent-Length: 3\\r\\n\\r\\nOK!"
  }
}
"#);
    assert_eq!(serde_json::from_value::<Transcript>(json).unwrap(), transcript);
}
