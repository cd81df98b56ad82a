use std::path::Path;

use tare_load::http1::{Response, parse_response};

use super::*;
use crate::{ContractError, NotFixed, fixed_response};

const BEGIN: &str = "format = \"1.1\"\nname = \"s\"\ntitle = \"t\"\n";
const LOGIN: &str = "[[request]]\nname = \"login\"\nmethod = \"POST\"\npath = \"/login\"\nbody = \"{{label.user}}\"\n\
    [request.response]\nstatus = 200\n[request.capture]\ntoken = { json = \"$.token\" }\n";
const PROFILE: &str = "[[request]]\nname = \"profile\"\nmethod = \"GET\"\npath = \"/users/{{captured.token}}?t={{captured.token}}\"\n\
    headers = { Authorization = \"Bearer {{captured.token}}\" }\n[request.response]\nstatus = 200\n\
    json = '{\"token\": \"{{captured.token}}\", \"number\": {{captured.token}}}'\n";
const HEALTH: &str = "[[request]]\nname = \"health\"\nmethod = \"GET\"\npath = \"/health\"\nweight = 2\n[request.response]\nstatus = 200\n";
const SESSION: &str =
    "[[sequence]]\nname = \"session\"\nsteps = [\"login\", \"profile\", \"profile\"]\nweight = 4\n";

fn parse(parts: &[&str]) -> Result<Contract, ContractError> {
    Contract::parse(&[&[BEGIN], parts].concat().concat(), Path::new("s.toml"))
}

fn contract() -> Contract {
    parse(&[LOGIN, PROFILE, HEALTH, SESSION]).unwrap()
}

fn answer(body: &str) -> Response {
    let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    parse_response(text.as_bytes(), false, true).unwrap().unwrap().0
}

#[test]
fn the_mix_is_exact_and_steps_stay_together() {
    let exchanges = contract().exchanges_for_load(7, 100, "h");
    let names: Vec<&str> = exchanges.iter().map(|exchange| exchange.name.as_str()).collect();
    let count = |name: &str| names.iter().filter(|other| **other == name).count();
    // A round has one health check and two sequences of three steps.
    let rounds = 100_usize.div_ceil(7);
    assert_eq!((count("health"), count("login"), count("profile")), (rounds, 2 * rounds, 4 * rounds));
    for (place, name) in names.iter().enumerate() {
        let step = exchanges[place].step.as_ref().map(|step| step.is_first);
        match *name {
            "health" => assert_eq!(step, None),
            "login" => {
                assert_eq!(step, Some(true));
                assert_eq!(names[place..place + 3], ["login", "profile", "profile"]);
            }
            _ => assert_eq!(step, Some(false)),
        }
    }
}

#[test]
fn a_step_is_sent_with_what_was_captured_and_escaped_for_its_place() {
    let exchanges = contract().exchanges_for_load(7, 1, "h");
    let place = exchanges.iter().position(|exchange| exchange.name == "login").unwrap();
    let rule = |place: usize| &exchanges[place].step.as_ref().unwrap().rule;
    let mut captured = Captured::new();
    assert_eq!(rule(place).fill(&captured), None, "nothing to fill");
    rule(place).capture(&answer("{\"token\": \"a/b \\\"c\\\"\"}"), &mut captured).unwrap();
    let filled = rule(place + 1).fill(&captured).unwrap();
    let text = String::from_utf8(filled.request).unwrap();
    assert!(text.starts_with("GET /users/a%2Fb%20%22c%22?t=a%2Fb%20%22c%22 HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("\r\nAuthorization: Bearer a/b \"c\"\r\n"), "{text}");
    assert!(filled.expected.body.accepts(br#"{"token": "a/b \"c\"", "number": "a/b \"c\""}"#));
    captured.insert("token".to_owned(), "17".to_owned());
    let filled = rule(place + 1).fill(&captured).unwrap();
    assert!(filled.expected.body.accepts(br#"{"token": "17", "number": 17}"#));
    assert!(!filled.expected.body.accepts(br#"{"token": "18", "number": 18}"#));
    assert!(rule(place).captures() && !rule(place + 1).captures());
}

#[test]
fn what_can_be_asked_alone() {
    let contract = contract();
    let alone: Vec<bool> = contract.requests.iter().map(|request| contract.is_asked_alone(request)).collect();
    assert_eq!(alone, [true, false, true]);
    assert_eq!(contract.loaded().count(), 3);
    assert_eq!(contract.loadable().collect::<Vec<_>>(), ["health", "session"]);
    let narrowed = contract.narrowed(&["health".to_owned()]).unwrap();
    assert_eq!(narrowed.loaded().map(|request| request.name.as_str()).collect::<Vec<_>>(), ["health"]);
    assert_eq!(contract.narrowed(&["profile".to_owned()]), None, "a step has no place without its sequence");
    assert_eq!(fixed_response(&contract), Err(NotFixed::Sequence));
}

#[test]
fn mistakes_are_found_with_their_line_and_what_to_do() {
    let steps = |steps: &str| format!("[[sequence]]\nname = \"session\"\nsteps = [{steps}]\n");
    let captures = |table: &str| LOGIN.replace("token = { json = \"$.token\" }", table);
    let weighted = LOGIN.replace("method = \"POST\"", "method = \"POST\"\nweight = 2");
    let verified = LOGIN.replace("method = \"POST\"", "method = \"POST\"\nload = false");
    let table: [(&str, Vec<String>); 15] = [
        ("in no sequence", vec![PROFILE.into()]),
        ("captured for no step", vec![LOGIN.into(), HEALTH.into()]),
        ("too early", vec![LOGIN.into(), PROFILE.into(), steps("\"profile\", \"login\"")]),
        ("unknown step", vec![LOGIN.into(), PROFILE.into(), steps("\"login\", \"profil\"")]),
        ("no steps", vec![LOGIN.into(), steps("")]),
        ("weight of a step", vec![weighted, steps("\"login\"")]),
        ("step out of the load", vec![verified, steps("\"login\"")]),
        ("a name twice", vec![LOGIN.into(), steps("\"login\"").replace("session", "login")]),
        ("weight of 0", vec![LOGIN.into(), steps("\"login\"") + "weight = 0\n"]),
        ("nothing in the load", vec![LOGIN.into(), steps("\"login\"") + "load = false\n"]),
        ("two sources", vec![captures("token = { json = \"$.a\", body = \"(.)\" }"), steps("\"login\"")]),
        ("a wrong path", vec![captures("token = { json = \"token\" }"), steps("\"login\"")]),
        ("a pattern without a group", vec![captures("token = { body = \"a\" }"), steps("\"login\"")]),
        ("a wrong name", vec![captures("\"To ken\" = { json = \"$\" }"), steps("\"login\"")]),
        (
            "in a bad request",
            vec![
                HEALTH.into(),
                "[[bad]]\nname = \"b\"\nmethod = \"GET\"\npath = \"/{{captured.a}}\"\n".into(),
            ],
        ),
    ];
    let error = |parts: &[String]| {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        parse(&parts).unwrap_err().to_string()
    };
    let told: Vec<String> =
        table.iter().map(|(what, parts)| format!("{what}\n    {}", error(parts))).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn sequences_need_the_newer_format() {
    let text = [BEGIN, LOGIN, SESSION].concat().replace("1.1", "1.0");
    let error = Contract::parse(&text, Path::new("s.toml")).unwrap_err().to_string();
    assert_eq!(error, "s.toml:12: \"capture\" needs format = \"1.1\" in the first line");
}
