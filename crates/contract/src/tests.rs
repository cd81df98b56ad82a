//! Contracts as a whole: errors, bytes of an exchange, the mix of a load, properties.

use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_load::exchange::{Exchange, ExpectedBody};

use super::*;

const RIGHT: &str = r#"format = "1.1"
name = "sample"
title = "A sample"

[[request]]
name = "label"
method = "GET"
path = "/labels/{{label.a}}"
[request.response]
status = 200
body = "{{label.a}}"

[checks]
head = "warn"
"#;

fn parse(text: &str) -> Result<Contract, ContractError> {
    Contract::parse(text, Path::new("contracts/sample.toml"))
}

/// The error after `old` in `RIGHT` is replaced by `new`.
fn error(old: &str, new: &str) -> String {
    assert!(RIGHT.contains(old), "{old}");
    parse(&RIGHT.replacen(old, new, 1)).unwrap_err().to_string()
}

fn request(path: &str, response: &str, more: &str) -> String {
    format!(
        "[[request]]\nname = \"{path}\"\nmethod = \"GET\"\npath = \"{path}\"\n{more}\n[request.response]\nstatus = 200\n{response}\n"
    )
}

fn contract(requests: &[String]) -> Contract {
    parse(&format!("format = \"1.1\"\nname = \"sample\"\ntitle = \"\"\n{}", requests.concat())).unwrap()
}

fn text(exchange: &Exchange) -> &str {
    std::str::from_utf8(&exchange.request).unwrap()
}

#[test]
fn a_contract_says_in_which_protocols_it_may_be_asked() {
    let with = |keys: &str| parse(&RIGHT.replacen("title", &format!("{keys}\ntitle"), 1));
    assert_eq!(with("").unwrap().protocols, [Protocol::Http1]);
    assert_eq!(with("tls = true").unwrap().protocols, [Protocol::Http1, Protocol::Http1Tls]);
    let all = with("protocols = [\"http/1.1\", \"h2\", \"h2c\"]\ntls = true").unwrap();
    assert_eq!(all.protocols, Protocol::ALL);
    assert!(Protocol::ALL.iter().all(|protocol| all.why_not_in(*protocol).is_none()));
    let reason = with("protocols = [\"h2c\"]").unwrap().why_not_in(Protocol::H2).unwrap();
    assert_snapshot!(reason, @r#"the contract "sample" may be asked in h2c, and not in h2: its file says so by `protocols` and `tls`"#);
    let error = |keys: &str| with(keys).unwrap_err().to_string();
    assert_snapshot!(error("protocols = []"), @r#"contracts/sample.toml:3: at least one protocol is needed, such as "http/1.1""#);
    assert_snapshot!(error("protocols = [\"h2\"]"), @r#"contracts/sample.toml:3: "h2" runs over TLS: say tls = true"#);
    assert_snapshot!(error("protocols = [\"h2c\"]\ntls = true"), @r#"contracts/sample.toml:4: "h2c" alone does not run over TLS: leave tls out"#);
    assert_snapshot!(error("protocols = [\"h2c\", \"h2c\"]"), @r#"contracts/sample.toml:3: "h2c" stands twice"#);
    assert_snapshot!(error("protocols = [\"quic\"]"), @r#"contracts/sample.toml:3: unknown value "quic"; valid names are: http/1.1, h2, h2c"#);
    let older = RIGHT.replacen("1.1", "1.0", 1).replacen("title", "tls = true\ntitle", 1);
    assert_snapshot!(parse(&older).unwrap_err().to_string(), @r#"contracts/sample.toml:3: "tls" needs format = "1.1" in the first line"#);
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_one() {
    assert_snapshot!(error("method =", "metod ="), @r#"contracts/sample.toml:7: unknown key "metod"; did you mean "method"?"#);
    assert_snapshot!(error("head = ", "haed = "), @r#"contracts/sample.toml:14: unknown check "haed"; did you mean "head"?"#);
    assert_snapshot!(error("\"warn\"", "\"wran\""), @r#"contracts/sample.toml:14: unknown value "wran"; did you mean "warn"?"#);
    assert_snapshot!(error("\"GET\"", "\"Get\""), @r#"contracts/sample.toml:7: unknown method "Get"; did you mean "GET"?"#);
    assert_snapshot!(error("{{label.a}}", "{{lable.a}}"), @r#"contracts/sample.toml:8: unknown placeholder "lable.a"; did you mean "label"?"#);
    assert_snapshot!(error("\"sample\"", "\"simple\""), @r#"contracts/sample.toml:2: the name is "simple", but the file is called "sample.toml": they must be the same"#);
    assert_snapshot!(error("\"1.1\"", "\"1.3\""), @r#"contracts/sample.toml:1: format "1.3" is not one this tare reads: it reads "1.0", "1.1" and "1.2""#);
}

#[test]
fn an_unknown_placeholder_is_reported_with_those_that_exist() {
    assert_snapshot!(error("{{label.a}}", "{{number:9-1}}"), @r#"contracts/sample.toml:8: the placeholder "number:9-1" has no range of integers A-B with A <= B <= 9007199254740991"#);
    assert_snapshot!(error("{{label.a}}", "{{label.}}"), @r#"contracts/sample.toml:8: the placeholder "label." has no name after its dot: names are made of a-z, 0-9, "_" and "-""#);
    assert_snapshot!(error("{{label.a}}", "{{label.a"), @r#"contracts/sample.toml:8: a placeholder opens with "{{" but does not close with "}}""#);
    assert_snapshot!(error("{{label.a}}", "{{text.a}}"), @"contracts/sample.toml:8: {{text}} may hold spaces, which a path cannot: use {{label}}");
    assert_snapshot!(error("\"{{label.a}}", "\"{{label}}"), @"contracts/sample.toml:11: the placeholder {{label}} has no name: a response can only repeat what the request says, like {{label.a}}");
    assert_snapshot!(error("\"{{label.a}}", "\"{{label.b}}"), @"contracts/sample.toml:11: the placeholder {{label.b}} does not stand in the request: the service cannot know its value");
    assert_snapshot!(error("\"{{label.a}}", "\"{{text.a}}"), @r#"contracts/sample.toml:11: the name "a" stands for two placeholders of different kinds: give one of them another name"#);
}

#[test]
fn errors_in_http_and_json_are_reported() {
    assert_snapshot!(error("\"/labels", "\"labels"), @r#"contracts/sample.toml:8: the path "labels/{{label.a}}" must start with "/" and hold no spaces and no control characters"#);
    assert_snapshot!(error("method =", "headers = { Host = \"x\" }\nmethod ="), @r#"contracts/sample.toml:7: the header "Host" cannot be given: it is made from the request itself"#);
    assert_snapshot!(error("method =", "headers = { X = \"a\\nb\" }\nmethod ="), @r#"contracts/sample.toml:7: the header "X" is no valid header name or has a line break in its value"#);
    assert_snapshot!(error("body =", "json = '1'\nbody ="), @r#"contracts/sample.toml:11: a response has "body" or "json", not both"#);
    assert_snapshot!(error("body = \"{{label.a}}\"", "json = '{{label.a}}'"), @"contracts/sample.toml:11: this is no JSON once its placeholders are filled: expected value at line 1 column 1");
    assert_snapshot!(error("200", "100"), @"contracts/sample.toml:10: the status 100 is not one of 200 to 599");
    assert_snapshot!(error("method =", "load = false\nmethod ="), @r#"contracts/sample.toml:2: the contract has no [[request]] for the load: at least one must not say "load = false""#);
    assert_snapshot!(error("method =", "weight = 0\nmethod ="), @r#"contracts/sample.toml:7: a weight of 0 never comes: say "load = false""#);
    let twice = request("/a", "", "") + &request("/a", "", "");
    assert_snapshot!(error("[checks]", &format!("{twice}[checks]")), @r#"contracts/sample.toml:22: the name "/a" is there twice"#);
}

#[test]
fn errors_in_wildcards_are_reported() {
    assert_snapshot!(error("body = \"{{label.a}}\"", "json = '\"{{any:itn}}\"'"), @r#"contracts/sample.toml:11: unknown placeholder "any:itn"; did you mean "any:int"?"#);
    assert_snapshot!(error("body = \"{{label.a}}\"", "json = '\"a{{any:int}}\"'"), @r#"contracts/sample.toml:11: a wildcard such as {{any:int}} must be a whole value in quotes: "{{any:int}}""#);
    assert_snapshot!(error("body =", "extra = \"allow\"\nbody ="), @r#"contracts/sample.toml:11: "extra" is about the members of "json", which is not given"#);
    assert!(
        error("\"{{label.a}}", "\"{{any:int}}").contains("unknown placeholder \"any:int\""),
        "only in JSON"
    );
}

#[test]
fn a_body_can_be_long_and_in_chunks() {
    let upload = |body: &str, more: &str| {
        let post = "[[request]]\nname = \"upload\"\nmethod = \"POST\"\npath = \"/\"";
        let contract =
            contract(&[format!("{post}\nbody = \"{body}\"\n{more}\n[request.response]\nstatus = 200\n")]);
        let all = contract.exchanges_for_load(1, 100, "a:1");
        assert_eq!(all.len(), 1, "a body that is always the same is made once");
        String::from_utf8(all[0].request.clone()).unwrap()
    };
    let chunked = upload("{{bytes:3}}", "chunked = true");
    assert!(chunked.ends_with("\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), "{chunked}");
    let long = upload("{{bytes:40000}}", "chunked = true");
    assert_eq!(long.matches("\r\n4000\r\n").count(), 2, "16 KiB each");
    assert!(long.ends_with("\r\n0\r\n\r\n") && long.contains("\r\n1c40\r\n"));
    let whole = upload("{{bytes:1000000}}", "chunked = false");
    assert!(whole.contains("\r\nContent-Length: 1000000\r\n\r\nabc"));
    assert!(error("{{label.a}}", "{{bytes:0.a}}").contains("has no number of bytes from 1 to 1000000"));
    assert_snapshot!(error("method =", "chunked = true\nmethod ="), @r#"contracts/sample.toml:7: "chunked" is about the body of the request, which is not given"#);
}

#[test]
fn an_older_file_is_told_what_it_needs() {
    let older = |response: &str| {
        parse(&RIGHT.replace("\"1.1\"", "\"1.0\"").replace("body = \"{{label.a}}\"", response)).map(drop)
    };
    assert!(older("body = \"{{label.a}}\"").is_ok());
    let error = |response: &str| older(response).unwrap_err().to_string();
    assert_snapshot!(error("json = '\"{{any:int}}\"'"), @r#"contracts/sample.toml:11: a wildcard needs format = "1.1" in the first line"#);
    assert_snapshot!(error("json = '1'\nextra = \"allow\""), @r#"contracts/sample.toml:12: "extra" needs format = "1.1" in the first line"#);
}

#[test]
fn wildcards_and_more_members_make_a_pattern_beside_repeated_values() {
    let with = |response: &str| {
        let contract = contract(&[format!(
            "[[request]]\nname = \"echo\"\nmethod = \"GET\"\npath = \"/{{{{label.a}}}}\"\n[request.response]\nstatus = 200\n{response}"
        )]);
        contract.exchange(&contract.requests[0], "a:1", &mut ChaCha8Rng::seed_from_u64(1)).expected
    };
    let ExpectedBody::Pattern(pattern) =
        with("json = '{\"id\": \"{{any:int}}\", \"name\": \"{{label.a}}\"}'").body
    else {
        panic!("no pattern")
    };
    let is_named = |difference: &String| difference.starts_with("$.name: expected \"");
    let differences = pattern.differences(&serde_json::json!({"id": 7, "name": "", "more": 1}));
    assert!(
        is_named(&differences[0]) && differences[1] == "$.more: was not expected, got 1",
        "{differences:?}"
    );
    let ExpectedBody::Pattern(pattern) = with("json = '{\"a\": 1}'\nextra = \"allow\"").body else {
        panic!("no pattern")
    };
    assert!(
        pattern.matches(&serde_json::json!({"b": 1, "a": 1}))
            && !pattern.matches(&serde_json::json!({"b": 1}))
    );
    assert!(matches!(with("json = '{}'\nextra = \"refuse\"").body, ExpectedBody::Json(_)));
}

#[test]
fn every_contract_of_the_project_is_read() {
    let contracts =
        Contract::load_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts")).unwrap();
    assert!(contracts.contains_key("hello") && contracts.contains_key("rest"));
    assert_eq!(contracts["rest"].level(CheckId::Head), CheckLevel::Warn);
    assert_eq!(contracts["rest"].level(CheckId::Fresh), CheckLevel::Require);
    assert_eq!(contracts["rest"].loaded().count(), 3);
}

#[test]
fn a_request_has_the_headers_of_the_contract_and_no_others() {
    let contract = contract(&[String::from(
        "[defaults]\nheaders = { Connection = \"Keep-Alive\", X = \"1\" }\n[[request]]\nname = \"echo\"\nmethod = \"POST\"\n\
         path = \"/test\"\nheaders = { x = \"2\" }\nbody = '{\"a\":{{number:7-7.n}}}'\n[request.response]\nstatus = 200\n\
         json = '{\"b\":{{number:7-7.n}}}'\n",
    )]);
    let exchange = contract.exchange(&contract.requests[0], "a:1", &mut ChaCha8Rng::seed_from_u64(1));
    assert_eq!(
        text(&exchange),
        "POST /test HTTP/1.1\r\nHost: a:1\r\nConnection: Keep-Alive\r\nx: 2\r\nContent-Length: 7\r\n\r\n{\"a\":7}"
    );
    assert_eq!(exchange.expected.body, ExpectedBody::json(serde_json::json!({ "b": 7 })));
}

#[test]
fn a_load_without_placeholders_has_no_copies_and_one_with_them_keeps_the_weights() {
    let plain = contract(&[request("/a", "", "weight = 4"), request("/b", "", "weight = 2")]);
    let mut names: Vec<String> =
        plain.exchanges_for_load(1, 1000, "h").into_iter().map(|it| it.name).collect();
    names.sort();
    assert_eq!(names, ["/a", "/a", "/b"]);

    let mixed = contract(&[
        request("/a/{{label}}", "", "weight = 3"),
        request("/b", "", ""),
        request("/never", "", "load = false"),
    ]);
    let load = mixed.exchanges_for_load(1, 99, "h");
    assert_eq!(load.len(), 100);
    let is_b = |exchange: &&Exchange| exchange.name == "/b";
    assert!(
        load.chunks(4).all(|round| round.iter().filter(is_b).count() == 1),
        "every round is the whole mix"
    );
    let places: std::collections::BTreeSet<_> =
        load.chunks(4).map(|round| round.iter().position(|exchange| exchange.name == "/b")).collect();
    assert_eq!(places.len(), 4, "and no two rounds need be alike");
    assert_eq!(load, mixed.exchanges_for_load(1, 99, "h"));
    assert_ne!(load, mixed.exchanges_for_load(2, 99, "h"));
    let lengths: std::collections::BTreeSet<usize> = load.iter().map(|it| it.request.len()).collect();
    assert!(lengths.len() > 15, "labels have many lengths: {lengths:?}");
}

#[test]
fn a_reference_has_a_response_only_where_one_request_has_one_answer() {
    let fixed = contract(&[request("/a", "body = \"Hi\"\ncontent-type = \"text/plain\"", "")]);
    assert_eq!(
        fixed_response(&fixed).map(|bytes| String::from_utf8(bytes).unwrap()).as_deref(),
        Ok(
            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\nServer: tare-raw-socket\r\nContent-Type: text/plain\r\n\r\nHi"
        )
    );
    assert_eq!(
        fixed_response(&contract(&[request("/{{label.a}}", "body = \"{{label.a}}\"", "")])),
        Err(NotFixed::DependsOnRequest)
    );
    assert_eq!(
        fixed_response(&contract(&[request("/a", "", ""), request("/b", "", "")])),
        Err(NotFixed::Requests(2))
    );
}

/// A placeholder, and a pattern that its values match.
fn placeholder() -> impl Strategy<Value = (String, String)> {
    prop_oneof![
        Just(("{{label}}".to_owned(), "label".to_owned())),
        Just(("{{text}}".to_owned(), "text".to_owned())),
        Just(("{{number}}".to_owned(), "0-999999999".to_owned())),
        (0_u64..500, 0_u64..500)
            .prop_map(|(from, more)| format!("{from}-{}", from + more))
            .prop_map(|range| (format!("{{{{number:{range}}}}}"), range)),
    ]
}

fn fits(value: &str, kind: &str) -> bool {
    match kind {
        "label" => {
            (1..=24).contains(&value.len())
                && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        }
        "text" => {
            (1..=64).contains(&value.len())
                && serde_json::to_string(value).is_ok_and(|json| json[1..json.len() - 1] == *value)
        }
        range => {
            let (from, to) = range.split_once('-').unwrap();
            let number: u64 = value.parse().unwrap();
            (from.parse().unwrap()..=to.parse().unwrap()).contains(&number) && number.to_string() == value
        }
    }
}

proptest! {
    #[test]
    fn a_template_is_written_as_it_was_read_and_filled_as_it_says(
        // The characters between placeholders occur in no value, so that the filled text can be split again.
        parts in prop::collection::vec(("[\u{e0}-\u{ff}]{1,8}", placeholder()), 0..6),
        seed: u64,
    ) {
        let written: String = parts.iter().map(|(literal, (placeholder, _))| format!("{literal}{placeholder}")).collect();
        let template = Template::parse(&written).unwrap();
        prop_assert_eq!(template.to_string(), written.clone());
        prop_assert_eq!(template.fixed().is_some(), parts.is_empty());

        let fill = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            template.fill(&mut Values::new(&mut rng, None))
        };
        let filled = fill(seed);
        prop_assert_eq!(&filled, &fill(seed));
        let mut rest = filled.as_str();
        for (index, (literal, (_, kind))) in parts.iter().enumerate() {
            rest = rest.strip_prefix(literal.as_str()).unwrap();
            let end = parts.get(index + 1).map_or(rest.len(), |(next, _)| rest.find(next.as_str()).unwrap());
            prop_assert!(fits(&rest[..end], kind), "{:?} is no {kind}", &rest[..end]);
            rest = &rest[end..];
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn a_named_placeholder_has_one_value_in_request_and_answer(seed: u64, length in 1_usize..=24) {
        let contract = contract(&[request("/{{label.a}}/{{label}}/{{label.a}}", "body = \"{{label.a}}\"", "")]);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (filled, expected) = contract.requests[0].fill(&mut rng, Some(length));
        let parts: Vec<&str> = filled.target.split('/').collect();
        prop_assert_eq!(parts[1], parts[3]);
        prop_assert!(parts.iter().skip(1).all(|part| part.len() == length));
        prop_assert_eq!(expected.body, ExpectedBody::Exact(parts[1].as_bytes().to_vec()));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(\\{\\{|\\}\\}|[a-z0-9.:-]|label|number){0,12}") {
        if let Ok(template) = Template::parse(&text) {
            prop_assert_eq!(Template::parse(&template.to_string()).unwrap(), template);
        }
    }

    #[test]
    fn a_request_is_read_by_any_parser(
        values in prop::collection::vec("[!-~]{0,20}", 0..4), body in proptest::option::of("[ -~é]{0,40}"), path in "/[a-z0-9/?=&]{0,20}",
    ) {
        let headers = values.iter().enumerate().map(|(index, value)| (format!("X-{index}"), value.clone())).collect();
        let filled = Filled { method: "PUT".to_owned(), target: path, headers, body, framing: BodyFraming::Length };
        let bytes = filled.bytes_with("HTTP/1.0", "a:1", &[("x-0", "other"), ("Connection", "close")]);
        let mut parsed = [httparse::EMPTY_HEADER; 16];
        let mut request = httparse::Request::new(&mut parsed);
        let head = request.parse(&bytes).unwrap().unwrap();
        prop_assert_eq!((request.method, request.path, request.version), (Some("PUT"), Some(filled.target.as_str()), Some(0)));
        let all = |name: &str| -> Vec<&[u8]> {
            request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value).collect()
        };
        prop_assert_eq!(all("x-0"), [b"other"], "replaced, not repeated");
        prop_assert_eq!((all("connection"), all("host")), (vec![&b"close"[..]], vec![&b"a:1"[..]]));
        let body = filled.body.as_deref().map(str::as_bytes);
        prop_assert_eq!(&bytes[head..], body.unwrap_or_default());
        let length = body.map(|body| body.len().to_string());
        prop_assert_eq!(all("content-length"), length.as_deref().map(str::as_bytes).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_mix_has_each_request_by_its_weight(weights in prop::collection::vec(1_u32..9, 1..5), count in 1_usize..300, seed: u64) {
        let requests: Vec<String> = weights
            .iter()
            .enumerate()
            .map(|(index, weight)| request(&format!("/{index}/{{{{label}}}}"), "", &format!("weight = {weight}")))
            .collect();
        let load = contract(&requests).exchanges_for_load(seed, count, "h");
        prop_assert!(load.len() >= count);
        let total: u32 = weights.iter().sum();
        for (index, weight) in weights.iter().enumerate() {
            let own = load.iter().filter(|exchange| exchange.name.starts_with(&format!("/{index}/"))).count();
            prop_assert_eq!(own * total as usize, load.len() * *weight as usize);
        }
    }

    #[test]
    fn no_change_of_one_character_makes_a_contract_panic(at in 0..RIGHT.len(), with in "[\"={}\\[\\]a-z0-9\n]") {
        let mut text = RIGHT.to_owned();
        text.replace_range(at..=at, &with);
        if let Err(error) = parse(&text) {
            prop_assert!(error.to_string().starts_with("contracts/sample.toml:"), "{}", error);
        }
    }
}

#[test]
fn contracts_are_the_toml_files_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sample.toml"), RIGHT).unwrap();
    std::fs::write(folder.path().join("notes.md"), "no contract").unwrap();
    let contracts = Contract::load_all(folder.path()).unwrap();
    assert_eq!(contracts.keys().collect::<Vec<_>>(), ["sample"]);
    std::fs::write(folder.path().join("other.toml"), RIGHT).unwrap();
    let error = Contract::load_all(folder.path()).unwrap_err().to_string();
    assert!(error.contains("the file is called \"other.toml\""), "{error}");
    let error = Contract::load_all(&folder.path().join("none")).unwrap_err();
    assert!(matches!(error, ContractError::List { .. }), "{error}");
}

proptest! {
    #[test]
    fn a_phrase_is_encoded_in_the_path_and_decoded_in_the_answer(seed in any::<u64>()) {
        let of = |path: &str| request(path, "body = \"{{phrase.a}}\"", "");
        let contract = contract(&[of("/p/{{phrase.a}}?q={{phrase.a}}")]);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let exchange = contract.exchange(&contract.requests[0], "h", &mut rng);
        let ExpectedBody::Exact(body) = &exchange.expected.body else { panic!() };
        let phrase = std::str::from_utf8(body).unwrap();
        prop_assert!((1..=24).contains(&phrase.chars().count()) && phrase.contains([' ', '%', 'é', '+']), "{}", phrase);
        let target = text(&exchange).split(' ').nth(1).unwrap();
        let (path, query) = target.split_once("?q=").unwrap();
        prop_assert_eq!(path.strip_prefix("/p/"), Some(query));
        prop_assert!(query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%_-".contains(&byte)), "{}", query);
        prop_assert_eq!(decoded(query), phrase);
    }
}

/// Decodes percent-encoding.
pub(super) fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_header_takes_no_phrase() {
    let of = |headers: &str| error("method =", &format!("headers = {{ X = \"{headers}\" }}\nmethod ="));
    assert_snapshot!(of("{{phrase.b}}"), @"contracts/sample.toml:7: {{phrase}} may hold spaces, which a header cannot: use {{label}}");
}
