use proptest::prelude::*;

use super::*;
use crate::record::{Recorded, Wish, record};

const SHOP: &str = include_str!("../shop.yaml");

fn recorded(text: &str) -> Recorded {
    record(read(text).unwrap(), &Wish { name: "shop", writes: true, server: None }).unwrap()
}

/// Path, headers and body of each request.
fn sent(text: &str) -> Vec<String> {
    let source = read(text).unwrap();
    let one = |(question, _): &(tare_service::learn::LearnRequest, _)| {
        let headers = question.headers.iter().map(|(name, value)| format!(" {name}: {value}"));
        let body = question.body.iter().map(|body| format!(" {body}"));
        format!("{question}{}", headers.chain(body).collect::<String>())
    };
    source.wanted.iter().map(one).collect()
}

fn told(text: &str) -> Vec<String> {
    read(text).unwrap().left_out.iter().map(ToString::to_string).collect()
}

/// A document with one operation.
fn operation(path: &str, method: &str, operation: &str) -> String {
    format!(
        "openapi: 3.1.0\npaths: {{'{path}': {{{method}: {{{operation}, responses: {{default: {{}}}}}}}}}}\n"
    )
}

/// The request for these parameters.
fn with(path: &str, parameters: &str) -> String {
    let text = operation(path, "get", &format!("parameters: [{parameters}]"));
    let mut all = sent(&text);
    all.extend(told(&text));
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// The request with this body, and the messages about it.
fn with_body(content: &str) -> String {
    let text = operation("/", "post", &format!("requestBody: {{required: true, content: {{{content}}}}}"));
    [sent(&text), told(&text)].concat().join("\n")
}

#[test]
fn a_document_gives_requests_and_patterns() {
    let recorded = recorded(SHOP);
    let told: Vec<String> = recorded.left_out.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(format!("{}\n---\n{}", told.join("\n"), recorded.learned.text));
}

#[test]
fn the_same_in_json_gives_the_same() {
    let json = yaml::read(SHOP).unwrap().to_string();
    let both = [SHOP, &json].map(|text| format!("{:?}", read(text).unwrap()));
    assert_eq!(both[0], both[1]);
}

#[test]
fn the_version_may_be_a_number() {
    for version in ["3.1", "3.0", "'3.0.3'", "\"3.1.0\"", "3", "3.2.0"] {
        assert!(read(&format!("openapi: {version}\npaths: {{}}\n")).is_ok(), "{version}");
    }
    assert!(read("{\"openapi\": 3.1, \"paths\": {}}").is_ok());
}

#[test]
fn other_documents_are_named() {
    let error = |text: &str| read(text).unwrap_err().to_string();
    for version in ["swagger: '2.0'", "swagger: 2.0", "{\"swagger\": 2.0}"] {
        assert!(error(version).starts_with("is OpenAPI 2.0: convert it"), "{}", error(version));
    }
    assert!(error("openapi: 4.0.0").starts_with("is OpenAPI 4.0.0"));
    assert!(error("openapi: 30").starts_with("is OpenAPI 30"));
    assert_eq!(error("a: b"), "is no OpenAPI document and no HAR file: it has no key \"openapi\"");
    assert!(error("a: [").starts_with("is neither YAML nor JSON: line 1: "), "{}", error("a: ["));
    assert_eq!(
        error("openapi: 3.1.0\npaths:\n  /a: {}\n  /a: {}\n"),
        "is neither YAML nor JSON: line 4: the name \"/a\" is there twice"
    );
}

#[test]
fn yaml_is_read_by_its_version_1_2() {
    let document = include_str!("../corpus/openapi/yaml-1.2.yaml");
    insta::assert_snapshot!([sent(document), told(document)].concat().join("\n"));
}

#[test]
fn each_place_has_its_style() {
    let red = "example: [red, b c]";
    let rgb = "example: {R: 100, G: 200}";
    for (path, parameter, expected) in [
        ("/{x}", format!("{{name: x, in: path, {red}}}"), "GET /red,b%20c"),
        ("/{x}", format!("{{name: x, in: path, explode: true, {rgb}}}"), "GET /R=100,G=200"),
        ("/{x}", format!("{{name: x, in: path, style: label, explode: true, {red}}}"), "GET /.red.b%20c"),
        ("/a{x}/b", format!("{{name: x, in: path, style: matrix, {rgb}}}"), "GET /a;x=R,100,G,200/b"),
        ("/{x}", "{name: x, in: path, example: 'a/b c?ä'}".to_owned(), "GET /a%2Fb%20c%3F%C3%A4"),
        ("/", format!("{{name: x, in: query, required: true, {red}}}"), "GET /?x=red&x=b%20c"),
        ("/", format!("{{name: x, in: query, required: true, explode: false, {red}}}"), "GET /?x=red,b%20c"),
        ("/", format!("{{name: x, in: query, required: true, {rgb}}}"), "GET /?R=100&G=200"),
        (
            "/",
            format!("{{name: 'x[]', in: query, required: true, {red}}}"),
            "GET /?x%5B%5D=red&x%5B%5D=b%20c",
        ),
        (
            "/",
            format!("{{name: x, in: query, required: true, style: deepObject, {rgb}}}"),
            "GET /?x%5BR%5D=100&x%5BG%5D=200",
        ),
        (
            "/",
            "{name: x, in: query, required: true, style: pipeDelimited, example: [1, 2]}".to_owned(),
            "GET /?x=1%7C2",
        ),
        (
            "/",
            "{name: x, in: query, required: true, allowReserved: true, example: 'a/b?c&d'}".to_owned(),
            "GET /?x=a/b?c%26d",
        ),
        ("/", "{name: x, in: query, required: true, example: ''}".to_owned(), "GET /?x="),
        ("/", "{name: x, in: query, required: true, example: []}".to_owned(), "GET /"),
        ("/?a=1", "{name: x, in: query, required: true, example: 2}".to_owned(), "GET /?a=1&x=2"),
        ("/", format!("{{name: X-A, in: header, required: true, {red}}}"), "GET / X-A: red,b c"),
        (
            "/",
            format!("{{name: X-A, in: header, required: true, explode: true, {rgb}}}"),
            "GET / X-A: R=100,G=200",
        ),
        ("/", "{name: x, in: cookie, required: true, example: a;b}".to_owned(), "GET / Cookie: x=a%3Bb"),
        (
            "/",
            format!("{{name: x, in: cookie, required: true, explode: false, {red}}}"),
            "GET / Cookie: x=red,b%20c",
        ),
        ("/", "{name: x, in: query, schema: {type: string}}".to_owned(), "GET /"),
    ] {
        assert_eq!(with(path, &parameter), expected, "{parameter}");
    }
}

#[test]
fn a_parameter_of_a_type_is_written_in_it() {
    let json = "content: {application/json: {example: {a: [1.10, 'b c']}}}";
    let encoded = "%7B%22a%22%3A%5B1.10%2C%22b%20c%22%5D%7D";
    assert_eq!(
        with("/", &format!("{{name: q, in: query, required: true, {json}}}")),
        format!("GET /?q={encoded}")
    );
    assert_eq!(with("/{q}", &format!("{{name: q, in: path, {json}}}")), format!("GET /{encoded}"));
    assert_eq!(
        with("/", &format!("{{name: q, in: cookie, required: true, {json}}}")),
        format!("GET / Cookie: q={encoded}")
    );
    let header = with("/", &format!("{{name: X-Q, in: header, required: true, {json}}}"));
    assert_eq!(header, "GET / X-Q: {\"a\":[1.10,\"b c\"]}");
    let text = with(
        "/",
        "{name: q, in: query, required: true, content: {text/plain: {schema: {type: string, example: 01}}}}",
    );
    assert_eq!(text, "GET /?q=01");
    let object =
        with("/", "{name: q, in: query, required: true, content: {application/xml: {example: {a: 1}}}}");
    assert_eq!(
        object,
        "GET /: the parameter \"q\" is of the type application/xml, and no value of it can be made: of JSON and text it can"
    );
}

#[test]
fn an_example_of_a_list_may_be_one_text() {
    let list = "schema: {type: array, items: {type: string}}";
    assert_eq!(
        with("/", &format!("{{name: x, in: query, required: true, example: '01,b', {list}}}")),
        "GET /?x=01&x=b"
    );
    assert_eq!(
        with("/", &format!("{{name: x, in: query, required: true, example: a, {list}}}")),
        "GET /?x=a"
    );
}

#[test]
fn what_cannot_be_sent_is_told() {
    let query = |rest: &str| with("/", &format!("{{name: x, in: query, required: true, {rest}}}"));
    for (told, expected) in [
        (query("style: tree, example: 1"), "has the style \"tree\", which OpenAPI does not define"),
        (
            query("style: label, example: 1"),
            "has the style \"label\", which is for no parameter of the query",
        ),
        (
            query("example: [[1]]"),
            "is a list or an object within another, for which OpenAPI does not define the style \"form\"",
        ),
        (
            query("style: spaceDelimited, example: [a b]"),
            "has a value with \"%20\" in it, which the style \"spaceDelimited\" puts between values",
        ),
        (
            query("schema: {$ref: 'other.yaml#/X'}"),
            "has no value: its schema is not in the document, never ends, or asks for a file",
        ),
        (
            with("/", "{name: x, in: querystring, required: true, example: a}"),
            "is in \"querystring\", where OpenAPI has no parameters",
        ),
        (
            with("/", "{name: x, in: cookie, required: true, example: [1]}"),
            "is a list or an object of several cookies, for which OpenAPI does not define the style \"form\"",
        ),
    ] {
        assert_eq!(told, format!("GET /: the parameter \"x\" {expected}"));
    }
    assert_eq!(
        with("/{a}/{b}", "{name: a, in: path, example: 1}"),
        "GET /{a}/{b}: its path needs \"b\", and no parameter has this name"
    );
    assert_eq!(with("/", "{$ref: 'other.yaml#/X'}"), "GET /: \"other.yaml#/X\" is not in the document");
    assert_eq!(
        with("/", "{$ref: '#/components/parameters/none'}"),
        "GET /: \"#/components/parameters/none\" is not in the document"
    );
    let elsewhere = "openapi: 3.1.0\npaths: {/x: {get: {$ref: x.yaml}}}\n";
    assert_eq!(told(elsewhere), ["GET /x: \"x.yaml\" is not in the document"]);
    assert_eq!(
        told("openapi: 3.1.0\npaths: {/x: {$ref: x.yaml}}\n"),
        ["/x: \"x.yaml\" is not in the document"]
    );
    assert_eq!(
        told(&operation("/", "get", "parameters: [{name: Accept, in: header, required: true, example: a}]")),
        ["GET /: the parameter \"Accept\" is ignored, as OpenAPI says of a header of this name"]
    );
    // No contract can send this method; that is reported when the contract is made.
    assert_eq!(sent(&operation("/", "trace", "summary: x")), ["TRACE /"]);
}

#[test]
fn bodies_are_as_their_type_says() {
    let form = "application/x-www-form-urlencoded";
    assert_eq!(
        with_body(
            "application/json: {schema: {properties: {zip: {type: string}}}, example: {zip: 01, n: 1.10}}"
        ),
        { "POST / Content-Type: application/json {\"zip\":\"01\",\"n\":1.10}" }
    );
    assert_eq!(
        with_body(&format!("{form}: {{example: {{a: b c, list: [1, 2], none: [], address: {{zip: '1'}}}}}}")),
        format!("POST / Content-Type: {form} a=b%20c&list=1&list=2&address=%7B%22zip%22%3A%221%22%7D")
    );
    let deep = "encoding: {expand: {style: deepObject, explode: true}, list: {explode: false}}";
    assert_eq!(
        with_body(&format!("{form}: {{example: {{expand: {{a: {{b: 1}}}}, list: [1, 2]}}, {deep}}}")),
        format!("POST / Content-Type: {form} expand%5Ba%5D%5Bb%5D=1&list=1,2")
    );
    assert_eq!(
        with_body(&format!("{form}: {{example: {{list: [1]}}, encoding: {{list: {{style: matrix}}}}}}")),
        "POST /: the field \"list\" of its form has the style \"matrix\", which is for no parameter of the query"
    );
    let parts = with_body(
        "multipart/form-data: {example: {a: '1', meta: {b: 2}}, encoding: {a: {contentType: 'text/x, text/y'}}}",
    );
    let boundary = crate::record::form::BOUNDARY;
    assert_eq!(
        parts,
        format!(
            "POST / Content-Type: multipart/form-data; boundary={boundary} --{boundary}\r\n\
             Content-Disposition: form-data; name=\"a\"\r\nContent-Type: text/x\r\n\r\n1\r\n--{boundary}\r\n\
             Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{{\"b\":2}}\r\n--{boundary}--\r\n"
        )
    );
    assert_eq!(
        with_body("text/csv: {schema: {type: string, example: 'a,b'}}"),
        "POST / Content-Type: text/csv a,b"
    );
    assert_eq!(with_body("application/xml: {example: '<a/>'}"), "POST / Content-Type: application/xml <a/>");
    let file = "schema: {required: [f], properties: {f: {type: string, format: binary}}}";
    assert_eq!(
        with_body(&format!("multipart/form-data: {{{file}}}")),
        "POST /: no body can be made: its schema is not in the document, never ends, or asks for a file"
    );
    assert_eq!(
        with_body("application/xml: {}, image/png: {}"),
        "POST /: no body of the type application/xml, image/png can be made: JSON, forms and texts can"
    );
    // JSON takes precedence, wherever it stands.
    assert_eq!(with_body("text/plain: {example: a}, application/problem+json: {example: [1]}"), {
        "POST / Content-Type: application/problem+json [1]"
    });
    // An example may be the text of the body, unless the schema is a string.
    let whole = "{schema: {type: object}, example: '{\"a\": 1.0}'}";
    assert_eq!(
        with_body(&format!("application/json: {whole}")),
        "POST / Content-Type: application/json {\"a\": 1.0}"
    );
    let text = "{schema: {type: string}, example: '1'}";
    assert_eq!(
        with_body(&format!("application/json: {text}")),
        "POST / Content-Type: application/json \"1\""
    );
    let optional = operation("/", "put", "requestBody: {content: {image/png: {}}}");
    assert_eq!(sent(&optional), ["PUT /"]);
    assert_eq!(
        told(&optional),
        [
            "PUT /: the body, which need not be there: no body of the type image/png can be made: JSON, forms and texts can"
        ]
    );
}

#[test]
fn the_nearest_server_is_before_a_path() {
    let servers = |url: &str| format!("servers: [{{url: '{url}'}}]");
    let own = operation("/a", "get", &servers("/own"));
    assert_eq!(sent(&format!("{}\n{own}", servers("https://h/all/"))), ["GET /own/a"]);
    let all = operation("/a", "get", "summary: x");
    assert_eq!(sent(&format!("{}\n{all}", servers("https://h/all/"))), ["GET /all/a"]);
    assert_eq!(sent(&format!("{}\n{all}", servers("all"))), ["GET /all/a"]);
    let item = format!(
        "openapi: 3.1.0\npaths: {{/a: {{{}, get: {{responses: {{default: {{}}}}}}}}}}\n",
        servers("/item")
    );
    assert_eq!(sent(&item), ["GET /item/a"]);
    assert_eq!(sent(&operation("/a b/ä#one", "get", "summary: x")), ["GET /a%20b/%C3%A4"]);
}

#[test]
fn references_lead_anywhere_in_the_document() {
    let text = "
openapi: 3.0.3
paths:
  /a/{id}:
    parameters: [{$ref: '#/components/parameters/id'}]
    get:
      parameters: [{name: page, in: query, required: true, example: 2}]
      responses: {'200': {$ref: '#/components/responses/found'}}
  /b:
    get:
      parameters: [{$ref: '#/paths/~1a~1%7Bid%7D/get/parameters/0'}]
      responses: {'200': {$ref: '#/paths/~1a~1{id}/get/responses/200'}}
components:
  parameters: {id: {name: id, in: path, required: true, examples: {one: {$ref: '#/components/examples/one'}}}}
  examples: {one: {value: 7}}
  responses: {found: {content: {application/json: {schema: {type: string}}}}}
";
    assert_eq!(sent(text), ["GET /a/7?page=2", "GET /b?page=2"]);
    assert_eq!(recorded(text).learned.text.matches("json = '\"{{any:string}}\"'").count(), 2);
}

proptest! {
    #[test]
    fn any_document_is_read_or_refused(text in "(openapi: 3\\.1\n|paths:\n|  /a(/\\{b\\})?:\n|    (get|post):\n|      (parameters|responses|requestBody):\n|        - \\{name: [a-c], in: (path|query|cookie), (style: [a-z]{4}|example: [a1~\\[]|schema: \\{\\})\\}\n|        200: \\{\\}\n){0,14}") {
        if let Ok(source) = read(&text) {
            let _ = record(source, &Wish { name: "fuzzed", writes: true, server: None });
        }
    }
}
