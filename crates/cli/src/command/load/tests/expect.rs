//! Learning before the load.

use std::time::Duration;

use insta::assert_snapshot;
use tare_load::{
    Exchange, Expected, ExpectedBody, Statuses,
    http1::{Response, StatusLineVersion},
};

use super::super::expect::*;

/// Answers in a fixed order.
struct Answers(Vec<(u16, &'static str)>);

impl Ask for Answers {
    fn ask(&mut self, _: &Exchange) -> anyhow::Result<Response> {
        let (status, body) = self.0.remove(0);
        let body = body.as_bytes().to_vec();
        Ok(Response {
            status,
            version: StatusLineVersion::Http11,
            headers: Vec::new(),
            body,
            keep_alive: true,
        })
    }

    fn rest(&mut self, _: Duration) {}
}

fn exchange(name: &str) -> Exchange {
    let expected = Expected { status: 0, body: ExpectedBody::Any };
    Exchange { request: Vec::new(), is_head: false, expected, name: name.to_owned(), step: None }
}

fn said(answers: &[(u16, &'static str)], rules: Rules) -> String {
    match learn(&mut Answers(answers.to_vec()), &mut [exchange("GET /")], &rules) {
        Ok(said) => said.check,
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn what_comes_twice_is_right() {
    let hello = [(200, "Hello"), (200, "Hello")];
    assert_snapshot!(said(&hello, Rules::default()), @"every response is compared with the first one: status 200, 5 bytes");
    assert_snapshot!(said(&[(200, "a"), (200, "b")], Rules::default()), @"status 200 only: two answers differed");
    assert_snapshot!(said(&[(200, "{\"hits\": 1}"), (200, "{\"hits\": 2}")], Rules::default()), @"every answer must have status 200 and the same JSON but for 1 value, of which only the type is compared: $.hits (a counter)");
    assert_snapshot!(said(&[(200, "it is 10:20"); 2], Rules::default()), @"every answer must have status 200 and the same text but for 1 value, of which only the form is compared: byte 6 (a time)");
    assert_snapshot!(said(&[(200, "1"), (503, "2")], Rules::default()), @"GET / is answered with status 200 once and 503 once: name the right one by --expect-status");
    assert_snapshot!(said(&[(404, "not found"); 2], Rules::default()), @r#"GET / is answered with status 404 and 9 bytes "not found": name another URL, or use --expect-status 404 if that is right"#);
    assert_snapshot!(said(&[(500, ""); 2], Rules::default()), @"GET / is answered with status 500 and no body: name another URL, or use --expect-status 500 if that is right");
    let mut exchanges = [exchange("GET /")];
    learn(&mut Answers(hello.to_vec()), &mut exchanges, &Rules::default()).unwrap();
    let body = ExpectedBody::Exact(b"Hello".to_vec());
    assert_eq!(exchanges[0].expected, Expected { status: 200, body });
}

#[test]
fn a_redirect_is_loaded_with_a_warning() {
    struct Moved;
    impl Ask for Moved {
        fn ask(&mut self, _: &Exchange) -> anyhow::Result<Response> {
            let headers = vec![("Location".to_owned(), b"/login\r".to_vec())];
            Ok(Response {
                status: 302,
                version: StatusLineVersion::Http11,
                headers,
                body: Vec::new(),
                keep_alive: true,
            })
        }

        fn rest(&mut self, _: Duration) {}
    }
    let warnings = |rules: &Rules| learn(&mut Moved, &mut [exchange("GET /")], rules).unwrap().warnings;
    assert_snapshot!(warnings(&Rules::default()).join("\n"), @r"GET / is answered with 302, 0 bytes: this loads a redirect to /login\r; name the URL it leads to, or use --expect-status 302 if that is right");
    assert_eq!(warnings(&Rules { status: Some(302), ..Rules::default() }), [""; 0]);
    let mut came = Statuses::default();
    [302, 302, 200].into_iter().for_each(|status| came.add(status));
    assert_snapshot!(unasked_redirect(&came, false).unwrap(), @"most responses have status 302: this loads a redirect");
    assert_eq!(unasked_redirect(&came, true), None, "the status was asked for");
    assert_eq!(unasked_redirect(&Statuses::default(), false), None);
}

#[test]
fn the_user_knows_better() {
    let status = |status| Rules { status: Some(status), ..Rules::default() };
    let body = |body: &str| Rules { body: Some(body.as_bytes().to_vec()), ..Rules::default() };
    assert_snapshot!(said(&[(404, "no"); 2], status(404)), @"every response is compared with the first one: status 404, 2 bytes");
    assert_snapshot!(said(&[(200, "no"); 2], status(404)), @r#"GET / is answered with status 200 and 2 bytes "no", not with --expect-status 404"#);
    assert_snapshot!(said(&[(200, "yes"); 2], body("yes")), @"every response must have status 200 and the 3 bytes of --expect-body");
    assert_snapshot!(said(&[(200, "yes"), (200, "no")], body("yes")), @r#"GET / is answered with status 200 and 2 bytes "no", not with --expect-body"#);
    let no_check = Rules { no_check: true, ..Rules::default() };
    assert_snapshot!(said(&[], no_check), @"nothing: --no-check");
}

#[test]
fn several_urls_are_learned_one_by_one() {
    let mut exchanges = [exchange("GET /a"), exchange("GET /b")];
    let mut answers = Answers(vec![(200, "a"), (204, ""), (200, "a"), (204, "")]);
    let said = learn(&mut answers, &mut exchanges, &Rules::default()).unwrap();
    assert_snapshot!(said.check, @"GET /a: every response is compared with the first one: status 200, 1 byte; GET /b: every response is compared with the first one: status 204, 0 bytes");
}

#[test]
fn requests_that_vary_are_learned_by_their_status() {
    let varied = |number: u8| Exchange { request: vec![number], ..exchange("GET /{{number}}") };
    let learned = |answers: &[(u16, &'static str)]| {
        let mut exchanges: Vec<Exchange> = (0..9).map(varied).collect();
        let learned = learn(&mut Answers(answers.to_vec()), &mut exchanges, &Rules::default());
        learned
            .map(|learned| (learned.check, exchanges[8].expected.clone()))
            .map_err(|error| error.to_string())
    };
    let (check, expected) =
        learned(&[(200, "a"), (200, "b"), (200, "c"), (200, "a"), (200, "b"), (200, "c")]).unwrap();
    assert_snapshot!(check, @"status 200 only: the requests vary");
    assert_eq!(expected, Expected { status: 200, body: ExpectedBody::Any });
    let told = learned(&[(200, "a"), (204, ""), (200, "c"), (200, "a"), (204, ""), (200, "c")]).unwrap_err();
    assert_snapshot!(told, @"GET /{{number}} is answered with status 200 for some values and 204 for others: choose the range of the values, or use --no-check");
}

#[test]
fn a_contract_that_is_not_honoured_is_not_loaded() {
    let mut exchanges = vec![exchange("label"); 3];
    let body = ExpectedBody::Exact(b"a".to_vec());
    exchanges
        .iter_mut()
        .for_each(|exchange| exchange.expected = Expected { status: 200, body: body.clone() });
    let told = confirm(&mut Answers(vec![(200, "a")]), "rest", &exchanges).unwrap();
    assert_snapshot!(told.check, @"every response is compared with what the contract rest asks for");
    let told = confirm(&mut Answers(vec![(404, "none")]), "rest", &exchanges).unwrap_err();
    assert_snapshot!(told, @r#"the contract rest is not honoured: "label" is answered with status 404 and 4 bytes "none", expected is status 200 with 1 bytes `a`"#);
}
