//! Tables: reading and generating, drawing rows for requests and answers, and error messages.

use std::collections::BTreeSet;
use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_load::exchange::{Exchange, ExpectedBody};

use crate::tests::decoded;
use crate::{Contract, ContractError, DataTable};

const MADE: &str = "[data.items]\nrows = 1000\ncolumns = { id = '{{row}}', name = 'item {{phrase}}', price = '{{number:1-99}}' }\n";
const READ: &str = "[data.items]\nfile = 'items.csv'\n";
const ASK: &str = "path = '/items/{{items.id}}'";
const JSON: &str =
    "json = '{\"id\": {{items.id}}, \"name\": \"{{items.name}}\", \"price\": {{items.price}}}'";
const CSV: &str = "id,name,price\n1,tea,1\n2,\"\"\"hot\"\" tea, é\n\",7\n";

/// The request begins in line 7 if the table has three lines.
fn text(table: &str, ask: &str, answer: &str) -> String {
    format!(
        "format = \"1.1\"\nname = \"shop\"\ntitle = \"\"\n{table}[[request]]\nname = \"a\"\nmethod = \"GET\"\n{ask}\n\
         [request.response]\nstatus = 200\n{answer}\n"
    )
}

/// Parses a contract in a folder with this CSV file.
fn parse(csv: &str, text: &str) -> Result<Contract, ContractError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("items.csv"), csv).unwrap();
    Contract::parse(text, &folder.path().join("shop.toml"))
}

fn made(ask: &str, answer: &str) -> Contract {
    Contract::parse(&text(MADE, ask, answer), Path::new("shop.toml")).unwrap()
}

fn read(csv: &str, ask: &str, answer: &str) -> Contract {
    parse(csv, &text(READ, ask, answer)).unwrap()
}

fn exchange(contract: &Contract, seed: u64) -> Exchange {
    contract.exchange(&contract.requests[0], "h", &mut ChaCha8Rng::seed_from_u64(seed))
}

fn table(contract: &Contract) -> &DataTable {
    contract.tables().next().unwrap()
}

fn csv(contract: &Contract) -> String {
    let mut csv = Vec::new();
    table(contract).write(&mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

/// The decoded value of the query parameter `q`.
fn query(exchange: &Exchange) -> String {
    let target = std::str::from_utf8(&exchange.request).unwrap().split(' ').nth(1).unwrap();
    let (_, encoded) = target.split_once("?q=").unwrap();
    decoded(encoded)
}

#[test]
fn an_exchange_is_of_one_row() {
    let contract = made(ASK, JSON).with_rows_of(7);
    let load = contract.exchanges_for_load(3, 200, "h");
    let mut rows = BTreeSet::new();
    for exchange in &load {
        let path = std::str::from_utf8(&exchange.request).unwrap();
        let id: u64 = path["GET /items/".len()..].split(' ').next().unwrap().parse().unwrap();
        let [name, price] = [1, 2].map(|column| table(&contract).row(id - 1)[column].clone());
        let price: u64 = price.parse().unwrap();
        let right = serde_json::json!({"id": id, "name": name, "price": price});
        assert_eq!(exchange.expected.body, ExpectedBody::json(right));
        rows.insert(id);
    }
    assert!(rows.len() > 150, "of 1000 rows 200 are drawn: {}", rows.len());
    assert_eq!(load, contract.exchanges_for_load(3, 200, "h"));
    assert_ne!(load, contract.with_rows_of(8).exchanges_for_load(3, 200, "h"), "other rows");
}

#[test]
fn a_table_that_was_written_is_read_as_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let contract = made(ASK, JSON).with_tables(7, folder.path()).unwrap();
    let (variable, file) = table(&contract).variable().unwrap();
    assert_eq!(variable, "DATA_ITEMS");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, csv(&made(ASK, JSON).with_rows_of(7)));
    assert_ne!(written, csv(&made(ASK, JSON).with_rows_of(8)));
    let again = read(&written, ASK, JSON);
    assert_eq!(table(&again).count(), 1000);
    (0..1000).for_each(|row| assert_eq!(table(&again).row(row), table(&contract).row(row)));
    assert!(table(&made(ASK, JSON)).variable().is_none(), "nothing was written for it");
    assert!(table(&again).variable().unwrap().1.ends_with("/items.csv"), "a file is given as it is");
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["shop.items.csv"]);
}

#[test]
fn what_a_cell_holds_is_written_as_its_place_needs_it() {
    let post = "path = '/items?q={{items.name}}'\nheaders = { Content-Type = 'application/json', X = '{{items.id}}' }\nbody = '{\"name\": \"{{items.name}}\"}'";
    let contract = read(CSV, &post.replace("GET", "POST"), "body = '{{items.name}}'");
    let mut seen = BTreeSet::new();
    for seed in 0..20 {
        let exchange = exchange(&contract, seed);
        let ExpectedBody::Exact(name) = &exchange.expected.body else { panic!() };
        let name = std::str::from_utf8(name).unwrap();
        assert_eq!(query(&exchange), name);
        let request = std::str::from_utf8(&exchange.request).unwrap();
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(body).unwrap(),
            serde_json::json!({ "name": name })
        );
        assert!(request.contains(if name == "tea" { "\r\nX: 1\r\n" } else { "\r\nX: 2\r\n" }));
        seen.insert(name.to_owned());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["\"hot\" tea, é\n", "tea"]);
}

#[test]
fn a_million_rows_take_no_memory_until_they_are_drawn() {
    let contract =
        Contract::parse(&text(&MADE.replace("1000", "1000000"), ASK, JSON), Path::new("shop.toml")).unwrap();
    assert_eq!(table(&contract).count(), 1_000_000);
    assert_eq!(contract.exchanges_ahead(512, 4096), 4096);
    assert_eq!(made(ASK, JSON).exchanges_ahead(512, 4096), 1000, "no more than it has rows");
    assert_eq!(made("path = '/'", "").exchanges_ahead(512, 4096), 512, "nothing is drawn");
    let load = contract.exchanges_for_load(1, 4096, "h");
    let answers: BTreeSet<String> =
        load.iter().map(|exchange| format!("{:?}", exchange.expected.body)).collect();
    assert!(answers.len() > 4000, "{}", answers.len());
}

#[test]
fn no_more_is_made_ahead_than_fits_in_memory() {
    let post = "path = '/{{items.id}}'\nbody = '{{bytes:1000000}}'";
    let load = made(post, "").exchanges_for_load(1, 4096, "h");
    assert!((30..50).contains(&load.len()), "{}", load.len());
}

#[test]
fn mistakes_in_tables_are_reported() {
    let error = |table: &str| {
        let error = Contract::parse(&text(table, ASK, JSON), Path::new("shop.toml")).unwrap_err();
        error.to_string()
    };
    assert_snapshot!(error("[data.items]\nrows = 3\n"), @r#"shop.toml:4: the table "items" needs "file", or "rows" and "columns""#);
    assert_snapshot!(error("[data.items]\nfile = 'a.csv'\nrows = 3\n"), @r#"shop.toml:4: the table "items" needs "file", or "rows" and "columns""#);
    assert_snapshot!(error("[data.items]\nrow = 3\n"), @r#"shop.toml:5: unknown key "row"; did you mean "rows"?"#);
    assert_snapshot!(error("[data.label]\nrows = 3\n"), @r#"shop.toml:4: the table "label" has the name of a placeholder: give it another"#);
    assert_snapshot!(error("[data.Items]\nrows = 3\n"), @r#"shop.toml:4: the table "Items" needs a name of a-z, 0-9 and "_" that begins with a letter"#);
    assert_snapshot!(error("[data.items]\nrows = 0\ncolumns = { id = '1' }\n"), @"shop.toml:5: a table has 1 to 1000000 rows, not 0");
    assert_snapshot!(error("[data.items]\nrows = 3\ncolumns = { id = '{{rwo}}' }\n"), @r#"shop.toml:6: unknown placeholder "rwo"; valid names are: bytes, env, label, number, phrase, random, text, row"#);
    assert_snapshot!(error("[data.items]\nrows = 3\ncolumns = { id = '{{env:KEY}}' }\n"), @"shop.toml:6: {{env:KEY}} has its place in requests: a table is written to a file, which must hold no secret");
    assert_snapshot!(error("[data.items]\nfile = 'none.csv'\n"), @"shop.toml:5: none.csv: cannot be read: No such file or directory (os error 2)");
    assert_snapshot!(error(&MADE.replace("number:1-99", "label")), @r#"shop.toml:13: {{items.price}} is no JSON where it is "word": put quotes around it"#);
    let older = text(MADE, ASK, JSON).replace("\"1.1\"", "\"1.0\"");
    assert_snapshot!(Contract::parse(&older, Path::new("shop.toml")).unwrap_err(), @r#"shop.toml:4: a table needs format = "1.1" in the first line"#);
}

#[test]
fn mistakes_in_files_are_reported() {
    let error = |csv: &str| {
        let error = parse(csv, &text(READ, ASK, JSON)).unwrap_err().to_string();
        error.rsplit_once("/items.csv: ").map(|(_, reason)| reason.to_owned()).unwrap_or(error)
    };
    assert_snapshot!(error("id,name,price\n"), @"has no rows: the first line names the columns, and each further one is a row");
    assert_snapshot!(error(""), @"has no rows: the first line names the columns, and each further one is a row");
    assert_snapshot!(error("id,name,id\n1,2,3\n"), @r#"the column "id" is there twice, or cannot be written as {{NAME.COLUMN}}"#);
    assert!(error("id,\"a\nb\",name\n1,2,3\n").starts_with("the column \"a\\nb\" is there twice, or cannot"));
    assert_snapshot!(error("id,name,price\n1,2\n"), @"record 1 (line: 2, byte: 14): found record with 2 fields, but the previous record has 3 fields");
    assert!(
        parse("\u{feff}id,name,price\n1,a,2\n", &text(READ, ASK, JSON)).is_ok(),
        "a mark of the encoding"
    );
    let wrong = error("id,name,price\n1,a,2\n2,b,cheap\n");
    assert!(
        wrong.ends_with(":12: {{items.price}} is no JSON where it is \"cheap\": put quotes around it"),
        "{wrong}"
    );
}

#[test]
fn mistakes_in_what_is_drawn_are_reported() {
    let error = |ask: &str, answer: &str| {
        Contract::parse(&text(MADE, ask, answer), Path::new("shop.toml")).unwrap_err().to_string()
    };
    assert_snapshot!(error("path = '/{{items.idd}}'", ""), @r#"shop.toml:10: the table "items" has no column "idd"; did you mean "id"?"#);
    assert_snapshot!(error("path = '/{{items}}'", ""), @"shop.toml:10: {{items}} is a table: name a column of it, such as {{items.id}}");
    assert_snapshot!(error("path = '/{{item.id}}'", ""), @r#"shop.toml:10: unknown placeholder "item.id"; did you mean "items"?"#);
    assert_snapshot!(error("path = '/{{row}}'", ""), @r#"shop.toml:10: unknown placeholder "row"; valid names are: bytes, captured, env, label, number, phrase, random, text, items"#);
    assert_snapshot!(error("path = '/'", "body = '{{items.name}}'"), @r#"shop.toml:13: {{items.name}} is of a row that the request does not name: put a column of "items" into the request too"#);
    assert_snapshot!(error(ASK, "json = '{{items.id}}{{items.id}}'"), @"shop.toml:13: this is no JSON once its placeholders are filled: trailing characters at line 1 column 5");
    assert_snapshot!(error(
        "path = '/'\nheaders = { X = '{{items.name}}' }", ""), @"shop.toml:11: {{items.name}} may hold line breaks, or blanks at its ends, which a header cannot");
    let lines = parse(CSV, &text(READ, "path = '/'\nheaders = { X = '{{items.name}}' }", ""));
    assert!(
        lines.unwrap_err().to_string().ends_with(
            ":10: {{items.name}} may hold line breaks, or blanks at its ends, which a header cannot"
        )
    );
}

proptest! {
    #[test]
    fn any_cell_comes_back_as_it_was(cells in prop::collection::vec(".{0,20}|[\"\\\\,\r\n é]{1,4}", 1..6), seed: u64) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["id", "text"]).unwrap();
        for (id, cell) in cells.iter().enumerate() {
            writer.write_record([id.to_string(), cell.clone()]).unwrap();
        }
        let csv = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let answer = "json = '{\"text\": \"a {{items.text}}\", \"id\": {{items.id}}}'";
        let contract = read(&csv, "path = '/?q={{items.text}}'", answer);
        let exchange = exchange(&contract, seed);
        let ExpectedBody::Json(json) = &exchange.expected.body else { panic!() };
        let json = json.value();
        let cell = &cells[json["id"].as_u64().unwrap() as usize];
        prop_assert_eq!(&json["text"], &serde_json::Value::from(format!("a {cell}")));
        prop_assert_eq!(&query(&exchange), cell);
    }

    #[test]
    fn no_file_makes_it_panic(csv in "([a-c,\"\n]|id|\r\n|é){0,20}") {
        if let Err(error) = parse(&csv, &text(READ, "path = '/{{items.id}}'", "body = '{{items.id}}'")) {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }
}

/// A contract of format 1.2 with these lines before its request.
fn newest(head: &str, ask: &str, answer: &str) -> Result<Contract, String> {
    let text = text(head, ask, answer).replacen("1.1", "1.2", 1);
    Contract::parse(&text, Path::new("shop.toml")).map_err(|error| error.to_string())
}

const FOLDER: &str = "[folder.pages.files]\n'index.html' = 3000\n'logo.png' = 40\n'a.css' = 1\n";

#[test]
fn a_folder_holds_files_of_its_names_and_lengths_which_requests_draw() {
    let place = tempfile::tempdir().unwrap();
    let contract = newest(FOLDER, "path = '/pages/{{pages.name}}'", "body = '{{pages.content}}'").unwrap();
    let contract = contract.with_tables(7, place.path()).unwrap();
    let (variable, folder) = table(&contract).variable().unwrap();
    assert_eq!(variable, "FOLDER_PAGES");
    let read = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).unwrap();
    assert_eq!(["a.css", "index.html", "logo.png"].map(|name| read(name).len()), [1, 3000, 40]);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3, "nothing else lies there");
    let mut names = BTreeSet::new();
    for seed in 0..30 {
        let exchange = exchange(&contract, seed);
        let request = std::str::from_utf8(&exchange.request).unwrap();
        let name = request["GET /pages/".len()..].split(' ').next().unwrap();
        assert_eq!(exchange.expected.body, ExpectedBody::Exact(read(name).into_bytes()));
        names.insert(name.to_owned());
    }
    assert_eq!(names.len(), 3);
    let before = read("index.html");
    newest(FOLDER, "path = '/'", "").unwrap().with_tables(8, place.path()).unwrap();
    assert_ne!(before, read("index.html"), "of another seed it has another content");
}

#[test]
fn what_is_wrong_with_a_folder_is_named() {
    let error = |folder: &str| newest(folder, "path = '/'", "").unwrap_err();
    assert_snapshot!(error("[folder.pages]\nfiles = {}\n"), @r#"shop.toml:4: the table "pages" needs "file", or "rows" and "columns""#);
    for name in ["../x", "a/b", ".hidden", "", "é"] {
        assert!(
            error(&format!("[folder.pages.files]\n'{name}' = 3\n"))
                .contains("of a folder needs a name of A-Z"),
            "{name}"
        );
    }
    assert!(error("[folder.pages.files]\n'a' = 0\n").contains("and 1 to 16777216 bytes"));
    assert!(error("[folder.pages.files]\n'a' = 16777217\n").contains("and 1 to 16777216 bytes"));
    assert_snapshot!(error(&format!("{MADE}[folder.items.files]\n'a' = 1\n")), @r#"shop.toml:7: the name "items" is there twice"#);
    assert!(error("[folder.label.files]\n'a' = 1\n").contains("has the name of a placeholder"));
}

#[test]
fn a_table_with_json_is_given_as_an_array_of_its_rows() {
    let place = tempfile::tempdir().unwrap();
    let json = "json = '{\"id\": {{items.id}}, \"name\": \"{{items.name}} \\\"x\\\"\", \"tags\": [\"{{items.price}}\"]}'";
    let contract =
        newest(&format!("{MADE}{json}\n"), ASK, JSON).unwrap().with_tables(7, place.path()).unwrap();
    let (variable, file) = table(&contract).variable().unwrap();
    assert!(variable == "DATA_ITEMS" && file.ends_with("/shop.items.json"), "{file}");
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(rows.len(), 1000);
    for (place, row) in rows.iter().enumerate() {
        let [id, name, price] = <[String; 3]>::try_from(table(&contract).row(place as u64)).unwrap();
        let right = serde_json::json!({ "id": id.parse::<u64>().unwrap(), "name": format!("{name} \"x\""), "tags": [price] });
        assert_eq!(*row, right);
    }
}

#[test]
fn what_is_wrong_with_the_json_or_the_key_of_a_table_is_named() {
    let error = |more: &str| newest(&format!("{MADE}{more}\n"), ASK, JSON).unwrap_err();
    assert_snapshot!(error("key = 'ids'"), @r#"shop.toml:7: the table "items" has no column "ids"; did you mean "id"?"#);
    assert!(
        error("json = '{\"id\": {{items.id}}'").contains("this is no JSON once its placeholders are filled")
    );
    assert!(error("json = '{\"name\": {{items.name}}}'").contains("put quotes around it"));
    assert!(error("json = '{\"id\": {{items.ids}}}'").contains("did you mean"));
    assert!(error("json = '{\"id\": {{other.id}}}'").contains("unknown placeholder"));
}

#[test]
fn a_table_in_a_database_is_written_as_it_is_copied_there() {
    let place = tempfile::tempdir().unwrap();
    let head = format!(
        "{MADE}json = '{{\"id\": {{{{items.id}}}}}}'\nkey = 'id'\n[backing.postgres.tables]\nitems = 'id integer'\n"
    );
    let contract = newest(&head, ASK, JSON).unwrap().with_tables(7, place.path()).unwrap();
    assert!(table(&contract).file().unwrap().ends_with("shop.items.csv"));
    assert_eq!(contract.given_tables().count(), 0);
    assert_eq!(table(&contract).row_as_json(4).unwrap(), "{\"id\": 5}", "its form is kept");
    assert_eq!(table(&contract).key(), Some(0));
}
