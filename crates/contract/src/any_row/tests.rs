//! Rows chosen by the service in any spelling, and values that overlapping changes may leave.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::{changes::LastChanges, *};
use crate::{Body, Contract};

const TABLES: &str = r#"
[data.thing]
rows = 30
key = "id"
json = '{"id": {{thing.id}}, "n": {{thing.n}}, "name": "{{thing.name}}"}'
[data.thing.columns]
id = "{{row}}"
n = "{{number:1-20}}"
name = "{{word}}{{number:0-9}}"
"#;

/// The rows of a contract with this answer.
fn sample(answer: &str) -> AnyRow {
    let head = "format = \"1.2\"\nname = \"sample\"\ntitle = \"\"\n";
    let request =
        "[[request]]\nname = \"r\"\nmethod = \"GET\"\npath = \"/\"\n[request.response]\nstatus = 200\n";
    let tables = TABLES.replace("{{word}}", "a b é 日 ");
    let text = format!("{head}{tables}{request}any-row = {answer}\n");
    let contract = Contract::parse(&text, Path::new("contracts/sample.toml")).unwrap().with_rows_of(7);
    match &contract.requests[0].answer.body {
        Body::AnyRow(any) => any.clone(),
        other => panic!("{other:?}"),
    }
}

const ONE: &str = "{ table = \"thing\" }";
const SEVERAL: &str = "{ table = \"thing\", count = 3 }";
const CHANGED: &str = "{ table = \"thing\", count = 3, changed = { n = \"{{number:1-20}}\" } }";

/// One of each kind, for properties that ignore recorded changes.
static SAMPLES: LazyLock<[AnyRow; 3]> = LazyLock::new(|| [ONE, SEVERAL, CHANGED].map(sample));

/// The cells of a row with their members' names.
fn cells(any: &AnyRow, place: u64) -> [(String, String, bool); 3] {
    let row = any.table.row(place);
    let of = |member: &Member| (member.name.clone(), row[member.column].clone(), member.is_text);
    std::array::from_fn(|place| of(&any.members[place]))
}

/// The rows in their usual spelling.
fn usual(any: &AnyRow, places: &[u64]) -> String {
    let value = |(name, cell, is_text): &(String, String, bool)| match is_text {
        true => format!("{}:{}", Value::from(name.as_str()), Value::from(cell.as_str())),
        false => format!("{}:{cell}", Value::from(name.as_str())),
    };
    let row =
        |place: &u64| format!("{{{}}}", cells(any, *place).iter().map(value).collect::<Vec<_>>().join(","));
    let rows: Vec<String> = places.iter().map(row).collect();
    if any.count.is_none() { rows.concat() } else { format!("[{}]", rows.join(",")) }
}

/// A sequence of decisions; 0, the usual one, after its end.
struct Choices<'c>(std::slice::Iter<'c, u8>);

impl Choices<'_> {
    fn of(&mut self, most: usize) -> usize {
        self.0.next().map_or(0, |choice| usize::from(*choice) % most)
    }

    fn blank(&mut self) -> &'static str {
        ["", "", "", "", " ", "\n\t", "\r", "\u{a0}", "\u{b}", "/**/"][self.of(10)]
    }

    fn string(&mut self, text: &str) -> String {
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        match self.of(12) {
            0..7 => Value::from(text).to_string(),
            7 => format!("\"{escaped}\""),
            8 => format!("\"{text}\n\""),
            9 => format!("\"{text}\\q\""),
            10 => format!("'{text}'"),
            _ => format!("\"{text}"),
        }
    }

    fn number(&mut self, number: &str) -> String {
        match self.of(16) {
            0..7 => number.to_owned(),
            7 => format!("0{number}"),
            8 => format!("\"{number}\""),
            9 => format!("{number}.0"),
            10 => format!("{number}e0"),
            11 => format!("-{number}"),
            12 => format!("+{number}"),
            13 => "null".to_owned(),
            14 => format!("{number}0"),
            _ => (number.parse::<u64>().unwrap() + 1).to_string(),
        }
    }

    fn row(&mut self, any: &AnyRow) -> String {
        let place = self.of(any.table.count() as usize) as u64;
        let mut members: Vec<(String, String, bool)> = cells(any, place).into();
        match self.of(12) {
            8 => members.swap(0, 2),
            9 => members.push(members[0].clone()),
            10 => members.push(("more".to_owned(), "1".to_owned(), false)),
            11 => drop(members.pop()),
            _ => {}
        }
        let mut text = String::from("{");
        for (place, (name, cell, is_text)) in members.iter().enumerate() {
            if place > 0 {
                text += ",";
            }
            let (before, name, between, after) =
                (self.blank(), self.string(name), self.blank(), self.blank());
            let value = if *is_text { self.string(cell) } else { self.number(cell) };
            text += &format!("{before}{name}{between}:{after}{value}{}", self.blank());
        }
        text + "}"
    }

    fn answer(&mut self, any: &AnyRow) -> String {
        let count = any.count.unwrap_or(1) + if self.of(20) == 19 { 1 } else { 0 };
        let rows: Vec<String> =
            (0..count).map(|_| format!("{}{}{}", self.blank(), self.row(any), self.blank())).collect();
        let rows = rows.join(",");
        let text = if any.count.is_none() { rows } else { format!("[{rows}]") };
        let text = format!("{}{text}{}", self.blank(), self.blank());
        match self.of(20) {
            19 => text + "]",
            18 => text[..text.floor_char_boundary(text.len() / 2)].to_owned(),
            _ => text,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_plainly_right_is_right_whatever_its_spelling(
        choices in proptest::collection::vec(prop_oneof![3 => Just(0_u8), 2 => any::<u8>()], 0..80), form in 0..3_usize,
    ) {
        let any = &SAMPLES[form];
        let text = Choices(choices.iter()).answer(any);
        let mut plain = Vec::new();
        let is_plain = any.is_plainly_right(text.as_bytes(), |key, value| plain.push((key.to_owned(), value)));
        let rows = any.rows(text.as_bytes());
        let is_twice = any.changed.is_some() && twice(plain.iter().map(|(key, _)| key.as_str())).is_some();
        if is_plain && !is_twice {
            prop_assert_eq!(rows, Ok(plain), "{}", text);
        }
        let judge = any.judge();
        let is_right = judge.is_right(text.as_bytes(), Flight::default());
        prop_assert_eq!(is_right, any.rows(text.as_bytes()).is_ok(), "{}", text);
        prop_assert_eq!(is_right, judge.differences(text.as_bytes()).is_empty());
    }

    #[test]
    fn bytes_of_any_kind_are_judged_alike(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let any = &SAMPLES[0];
        prop_assert_eq!(any.judge().is_right(&bytes, Flight::default()), any.rows(&bytes).is_ok());
    }

    #[test]
    fn what_may_be_stored_is_what_some_order_of_the_changes_ends_with(
        changes in proptest::collection::vec((0..12_u64, 0..6_u64), 1..6),
    ) {
        // Answers may be recorded in any order, since several threads do so.
        let flights: Vec<Flight> = changes.iter().map(|(sent, took)| Flight { sent_ns: *sent, answered_ns: sent + took }).collect();
        let mut last = LastChanges::default();
        flights.iter().enumerate().for_each(|(value, flight)| last.note(value as u64, *flight));
        let kept: BTreeSet<u64> = last.values.iter().map(|(_, value)| *value).collect();
        let possible: BTreeSet<u64> = orders(flights.len())
            .into_iter()
            .filter(|order| is_possible(order, &flights))
            .map(|order| *order.last().unwrap() as u64)
            .collect();
        prop_assert_eq!(kept, possible, "{:?}", flights);
    }
}

/// All permutations of this length.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let with = |place: usize| {
        shorter.iter().map(move |order| [&order[..place], &[count - 1], &order[place..]].concat())
    };
    (0..count).flat_map(with).collect()
}

/// Whether no change is ordered after one that began when it had ended.
fn is_possible(order: &[usize], flights: &[Flight]) -> bool {
    let precedes = |one: usize, other: usize| flights[one].answered_ns < flights[other].sent_ns;
    (0..order.len()).all(|place| order[place + 1..].iter().all(|later| !precedes(*later, order[place])))
}

#[test]
fn what_is_usual_is_read_without_making_values_of_it() {
    for answer in [ONE, SEVERAL, CHANGED] {
        let any = sample(answer);
        let places: Vec<u64> = (4..4 + any.count.unwrap_or(1) as u64).collect();
        let text = usual(&any, &places);
        let mut keys = Vec::new();
        assert!(any.is_plainly_right(text.as_bytes(), |key, _| keys.push(key.to_owned())), "{text}");
        assert_eq!(keys, places.iter().map(|place| (place + 1).to_string()).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_wrong_with_a_row_is_named() {
    let one = sample(ONE);
    let right = usual(&one, &[2]);
    let [_, (_, number, _), (_, name, _)] = cells(&one, 2);
    let wrong = |from: &str, to: &str| {
        assert!(right.contains(from), "{right} has no {from}");
        let text = right.replacen(from, to, 1);
        assert!(!one.judge().is_right(text.as_bytes(), Flight::default()), "{text}");
        one.judge().differences(text.as_bytes()).join("; ")
    };
    let number = format!("\"n\":{number}");
    assert!(wrong(&number, "\"n\":21").ends_with(", got 21"));
    assert!(wrong(&number, "\"n\":\"3\"").ends_with(", got \"3\""), "a number in quotes is none");
    assert_eq!(wrong("\"id\":3", "\"id\":31"), "the table thing has no row with the key 31");
    assert!(wrong("\"id\":3", "\"id\":\"3\"").starts_with("no key in "));
    assert!(wrong("\"id\":3,", "").starts_with("no key in "));
    assert_eq!(wrong(&format!("{number},"), ""), "n is missing in the row 3");
    assert!(wrong("{", "{\"m\":1,").starts_with("m was not expected in "));
    assert_eq!(wrong(&name, "other"), format!("name of the row 3: expected {:?}, got \"other\"", name));
    assert!(wrong("}", "").starts_with("the body is not JSON: "));
    assert_eq!(one.judge().differences(b"[]"), ["expected an object, got []"]);
    assert_eq!(one.judge().describe(), "a row of the table thing");
}

#[test]
fn rows_that_are_changed_differ_from_each_other_and_lie_in_their_range() {
    let changed = sample(CHANGED);
    let judge = changed.judge();
    let numbers = |places: &[u64], number: &str| {
        let text = usual(&changed, places);
        let of_row = |text: &str, place: u64| {
            let own = format!("\"id\":{},\"n\":{},", place + 1, cells(&changed, place)[1].1);
            text.replace(&own, &format!("\"id\":{},\"n\":{number},", place + 1))
        };
        places.iter().fold(text, |text, place| of_row(&text, *place))
    };
    let flight = Flight { sent_ns: 5, answered_ns: 9 };
    assert!(judge.is_right(numbers(&[0, 1, 2], "20").as_bytes(), flight));
    assert!(!judge.is_right(numbers(&[3, 4, 5], "21").as_bytes(), flight));
    assert!(!judge.is_right(numbers(&[6, 7, 7], "20").as_bytes(), flight));
    assert_eq!(
        judge.differences(numbers(&[6, 7, 7], "20").as_bytes()),
        ["the row 8 is there twice, and rows that are changed differ"]
    );
    assert_eq!(judge.differences(numbers(&[3, 4], "2").as_bytes()), ["expected an array of 3 rows, got 2"]);
    assert_eq!(judge.differences(b"{}"), ["expected an array of 3 rows"]);
    assert!(
        judge.differences(numbers(&[3, 4, 5], "21").as_bytes())[0]
            .contains("expected a number of 1 to 20, got 21")
    );
    let noted = changed.changes.take().values;
    let expected = ["1", "2", "3"].map(|key| (key.to_owned(), vec![20]));
    assert_eq!(noted, BTreeMap::from(expected), "of wrong answers nothing is noted");
    assert_eq!(changed.changes.take().values, BTreeMap::new());
    assert!(!judge.may_be_remembered());
}

#[test]
fn copies_share_what_was_changed_and_one_that_is_detached_does_not() {
    let changed = sample(CHANGED);
    let copy = changed.clone();
    let mut detached = changed.clone();
    detached.detach();
    let text = usual(&changed, &[0, 1, 2]);
    assert!(changed.judge().is_right(text.as_bytes(), Flight::default()));
    assert_eq!(detached.changes.take().values.len(), 0);
    assert_eq!(copy.changes.take().values.len(), 3);
}
