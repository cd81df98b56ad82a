//! Row sets: selection, order and format.

use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tare_load::exchange::{Exchange, ExpectedBody};

use crate::{Contract, DataTable};

const TABLES: &str = r#"
[data.items]
rows = 60
json = '{"id": {{items.id}}, "kind": "{{items.kind}}", "price": {{items.price}}, "name": "{{items.name}}"}'
[data.items.columns]
id = "{{row}}"
kind = "kind-{{number:0-2}}"
price = "{{number:1-500}}"
name = "{{phrase}} \"<b{{number:1-9}}>\""
"#;

/// A contract with one request whose answer contains these rows.
fn contract(path: &str, answer: &str, rows: &str) -> Result<Contract, String> {
    let text = format!(
        "format = \"1.2\"\nname = \"sample\"\ntitle = \"\"\n{TABLES}[[request]]\nname = \"r\"\nmethod = \"GET\"\npath = \"{path}\"\n\
         [request.response]\nstatus = 200\n{answer}\n[request.response.rows.found]\n{rows}\n"
    );
    let contract =
        Contract::parse(&text, Path::new("contracts/sample.toml")).map_err(|error| error.to_string())?;
    Ok(contract.with_rows_of(7))
}

fn exchange(contract: &Contract, seed: u64) -> Exchange {
    contract.exchange(&contract.requests[0], "h", &mut ChaCha8Rng::seed_from_u64(seed))
}

/// The number in a request's path, and the expected rows.
fn asked(contract: &Contract, seed: u64) -> (usize, Vec<Value>) {
    let exchange = exchange(contract, seed);
    let target = std::str::from_utf8(&exchange.request).unwrap().split(' ').nth(1).unwrap();
    let number = target.trim_start_matches('/').parse().unwrap_or(0);
    let ExpectedBody::Json(body) = &exchange.expected.body else { panic!() };
    (number, body.value().as_array().unwrap().clone())
}

fn table(contract: &Contract) -> DataTable {
    contract.tables().next().unwrap().clone()
}

/// All rows as JSON, in the table's order.
fn all(contract: &Contract) -> Vec<Value> {
    let table = table(contract);
    (0..table.count()).map(|row| serde_json::from_str(&table.row_as_json(row).unwrap()).unwrap()).collect()
}

const JSON: &str = "json = '[{{rows.found}}]'";

#[test]
fn without_more_they_are_all_in_their_order() {
    let contract = contract("/", JSON, "table = \"items\"").unwrap();
    assert_eq!(asked(&contract, 1).1, all(&contract));
}

#[test]
fn a_number_of_the_request_says_how_many_there_are() {
    let contract =
        contract("/{{number:1-80.count}}", JSON, "table = \"items\"\nfirst = \"{{number:1-80.count}}\"")
            .unwrap();
    let all = all(&contract);
    for seed in 0..30 {
        let (count, rows) = asked(&contract, seed);
        assert_eq!(rows, all[..count.min(60)]);
    }
}

#[test]
fn they_come_by_numbers_or_texts_and_in_pages() {
    let paged = |order: &str| {
        let rows = format!(
            "table = \"items\"\norder = \"{order}\"\npage = {{ number = \"{{{{number:1-5.page}}}}\", size = 14 }}"
        );
        contract("/{{number:1-5.page}}", JSON, &rows).unwrap()
    };
    for order in ["price", "name", "id"] {
        let contract = paged(order);
        let mut sorted = all(&contract);
        match order {
            "name" => sorted.sort_by_key(|row| row["name"].as_str().unwrap().to_owned()),
            number => sorted.sort_by_key(|row| row[number].as_u64().unwrap()),
        }
        for seed in 0..20 {
            let (page, rows) = asked(&contract, seed);
            let begin = (14 * (page - 1)).min(60);
            assert_eq!(rows, sorted[begin..(begin + 14).min(60)], "{order}, page {page}");
        }
    }
}

#[test]
fn those_of_one_value_are_all_of_them_and_no_other() {
    let rows = "table = \"items\"\nwhere = { kind = \"kind-{{number:0-3.kind}}\" }\norder = \"price\"";
    let contract = contract("/{{number:0-3.kind}}", JSON, rows).unwrap();
    let mut seen = 0;
    for seed in 0..30 {
        let (kind, rows) = asked(&contract, seed);
        let mut wanted: Vec<Value> =
            all(&contract).into_iter().filter(|row| row["kind"] == format!("kind-{kind}")).collect();
        // Rows with the same price stay in order.
        wanted.sort_by_key(|row| row["price"].as_u64().unwrap());
        assert_eq!(rows, wanted);
        assert_eq!(rows.is_empty(), kind == 3);
        seen |= 1 << kind;
    }
    assert_eq!(seen, 0b1111);
}

#[test]
fn further_rows_are_ordered_and_counted_with_the_others() {
    let also = "also = [{ id = \"0\", kind = \"more\", price = \"250\", name = \"A \\\"further\\\" one\" }]";
    let rows = |more: &str| format!("table = \"items\"\norder = \"price\"\n{also}\n{more}");
    let contract = |more: &str| contract("/", JSON, &rows(more)).unwrap();
    let (_, all_of_them) = asked(&contract(""), 1);
    assert_eq!(all_of_them.len(), 61);
    assert!(all_of_them.windows(2).all(|pair| pair[0]["price"].as_u64() <= pair[1]["price"].as_u64()));
    let own = json!({ "id": 0, "kind": "more", "price": 250, "name": "A \"further\" one" });
    assert_eq!(all_of_them.iter().filter(|row| **row == own).count(), 1);
    let (_, page) = asked(&contract("page = { number = \"3\", size = 20 }"), 1);
    assert_eq!(page, all_of_them[40..60]);
}

#[test]
fn in_a_page_of_html_their_cells_are_escaped() {
    let html = "html = '<ul>{{rows.found}}</ul>'";
    let rows =
        "table = \"items\"\nfirst = \"2\"\ntext = \"<li>{{items.name}}, {{add:items.id:items.price}}</li>\"";
    let contract = contract("/", html, rows).unwrap();
    let ExpectedBody::Judged(judged) = exchange(&contract, 1).expected.body else { panic!() };
    let row = |place: u64| {
        let table = table(&contract);
        let cell = |column| table.row(place)[table.cell(column).unwrap().column].clone();
        let escaped = cell("name").replace('&', "&amp;").replace('<', "&lt;");
        let sum = cell("id").parse::<u64>().unwrap() + cell("price").parse::<u64>().unwrap();
        format!("<li>{escaped}, {sum}</li>")
    };
    let page = format!("<ul>{}{}</ul>", row(0), row(1));
    assert_eq!(judged.0.differences(page.as_bytes()), [""; 0]);
    assert!(!judged.0.differences(page.replace("&lt;", "<").as_bytes()).is_empty());
}

#[test]
fn the_row_of_the_request_stays_the_one_that_was_drawn() {
    let answer = "json = '{\"own\": {{items.id}}, \"all\": [{{rows.found}}], \"again\": {{items.id}}}'";
    let contract = contract("/{{items.id}}", answer, "table = \"items\"\nfirst = \"3\"").unwrap();
    for seed in 0..10 {
        let exchange = exchange(&contract, seed);
        let target = std::str::from_utf8(&exchange.request).unwrap().split(' ').nth(1).unwrap();
        let id: u64 = target[1..].parse().unwrap();
        let ExpectedBody::Json(body) = &exchange.expected.body else { panic!() };
        let body = body.value();
        assert_eq!((&body["own"], &body["again"]), (&json!(id), &json!(id)));
        assert_eq!(body["all"], Value::from(&all(&contract)[..3]));
    }
}

#[test]
fn what_is_wrong_with_rows_is_named_with_its_line() {
    let error = |rows: &str| contract("/", JSON, rows).unwrap_err();
    assert_snapshot!(error("table = \"itmes\""), @r#"contracts/sample.toml:21: unknown table "itmes"; did you mean "items"?"#);
    assert_snapshot!(error("table = \"items\"\norder = \"prize\""), @r#"contracts/sample.toml:22: the table "items" has no column "prize"; did you mean "price"?"#);
    assert_snapshot!(error("table = \"items\"\npage = { number = \"1\", size = 0 }"), @"contracts/sample.toml:22: a page has at least one row");
    assert_snapshot!(error("table = \"items\"\nalso = [{ id = \"0\" }]"), @"contracts/sample.toml:22: a further row needs all of the columns and no other: id, kind, name, price");
    assert_snapshot!(error("table = \"items\"\nfirst = \"{{number:1-9.count}}\""), @"contracts/sample.toml:17: the placeholder {{number:1-9.count}} does not stand in the request: the service cannot know its value");
    let unknown = contract("/", "json = '[{{rows.fuond}}]'", "table = \"items\"").unwrap_err();
    assert_snapshot!(unknown, @"contracts/sample.toml:17: {{rows.fuond}} is not known: say which rows they are in [request.response.rows.fuond]");
}

proptest! {
    #[test]
    fn numbers_come_by_their_value_before_texts_by_their_bytes(cells in proptest::collection::vec("[0-9]{1,4}|[a-zé]{0,3}", 0..12)) {
        let mut sorted = cells.clone();
        sorted.sort_by_cached_key(|cell| super::OrderKey::of(cell));
        let is_number = |cell: &&String| cell.parse::<u64>().is_ok();
        let (numbers, texts): (Vec<&String>, Vec<&String>) = sorted.iter().partition(is_number);
        prop_assert!(sorted.iter().take(numbers.len()).all(|cell| is_number(&cell)));
        prop_assert!(numbers.windows(2).all(|pair| pair[0].parse::<u64>().unwrap() <= pair[1].parse::<u64>().unwrap()));
        prop_assert!(texts.windows(2).all(|pair| pair[0].as_bytes() <= pair[1].as_bytes()));
    }
}
