use std::{fmt::Write as _, path::Path, process::Command};

use tare_host::fixture;

use super::*;
use crate::document::Verdict;
use crate::document::{Chart, Column, FORMAT, Fact, Kind, Sentences, Shape, Status, Table, Unit, Value};
use tare_analysis::verdict::Question;

fn small() -> Document {
    let columns = vec![
        Column::new("ranks", "Rank", Unit::Text).help("The best and the worst rank that it may have."),
        Column::new("service", "Service", Unit::Text),
        Column::new("language", "Language", Unit::Text).facet(),
        Column::new("of_reference", "Of reference", Unit::Share).bar().interval("low", "high"),
        Column::new("low", "Low", Unit::Share).hidden(),
        Column::new("high", "High", Unit::Share).hidden(),
        Column::new("latency_ns_p99", "p99", Unit::Nanoseconds),
        Column::new("seen", "Seen", Unit::Flag),
    ];
    let mut table = Table::new("Services by throughput", columns);
    let numbers = [Value::from(1.0), 0.95.into(), 1.25.into(), 44e6.into(), true.into()];
    table.rows.push([vec![1_usize.into(), "asio".into(), "cpp".into()], numbers.to_vec()].concat());
    let numbers = vec![Value::None; 4];
    let row = vec![2_usize.into(), "</script><script>alert(1)</script>\u{2028}".into(), Value::None];
    table.rows.push([row, numbers, vec![false.into()]].concat());
    let chart = Chart::new(Shape::Bars, "of_reference", "service", "Throughput of \"asio\" and one more.");
    Document {
        format: FORMAT,
        kind: Kind::Interleaved,
        title: "A & B".to_owned(),
        question: "Is it <fast>?".to_owned(),
        answer: "It is.".to_owned(),
        basis: "By much.".to_owned(),
        began: "2026-11-21T14:20:05Z".to_owned(),
        status: Status::Complete,
        damage: Vec::new(),
        cautions: vec!["One <caution>.".to_owned()],
        notes: vec!["One note.".to_owned()],
        facts: vec![Fact::code("Reproduce", "tare run 'x'")],
        checks: vec![Check::new("asio", Verdict::Pass, "it has figures")],
        sections: vec![
            Section::new("ranks", "Ranks", "How to read it.", table).chart(chart),
            Section::without("memory", "Memory", "Nothing.").note("It was not kept."),
        ],
    }
}

#[test]
fn a_value_links_to_the_address_in_its_column() {
    let mut table = small().sections.remove(0).table.unwrap();
    table.columns[1] = table.columns[1].clone().link("page");
    table.columns.push(Column::new("page", "page", Unit::Text).hidden());
    table.rows[0].push("https://github.com/o/r/blob/abc/main.go#L7".into());
    table.rows[1].push("javascript:alert(1)".into());
    let view = TableView::new(&table, false, false);
    let links: Vec<Option<&str>> =
        view.rows.iter().flatten().flat_map(|row| &row.cells).map(|cell| cell.link.as_deref()).collect();
    let found: Vec<&str> = links.into_iter().flatten().collect();
    assert_eq!(found, ["https://github.com/o/r/blob/abc/main.go#L7"]);
}

fn long(rows: usize) -> Document {
    let mut document = small();
    let mut table = Table::new("Slices", vec![Column::new("at_ns", "At", Unit::Nanoseconds)]);
    table.rows = (0..rows).map(|row| vec![Value::from(row)]).collect();
    document.sections.push(Section::new("slices", "Slices", "All.", table));
    document
}

/// The text between the first `begin` and the next `end`.
fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    page.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map_or("", |(found, _)| found)
}

#[test]
fn a_table_and_its_charts() {
    let page = html(&small()).unwrap();
    insta::assert_snapshot!(between(&page, "<main id=\"main\">", "</main>"));
}

/// A table with `columns` columns of numbers, a sentence and a facet.
fn crowded(columns: usize) -> Document {
    let mut document = small();
    let mut heads: Vec<Column> = (0..columns)
        .map(|place| Column::new(&format!("n_{place}"), &format!("n/{place}"), Unit::Count))
        .collect();
    heads.insert(0, Column::new("service", "service", Unit::Text));
    heads.push(Column::new("state", "state", Unit::Text).facet());
    heads.push(Column::new("why", "why", Unit::Text));
    let mut table = Table::new("Many columns", heads);
    for why in [Value::from("a sentence of more letters than a word has, <b>"), Value::None] {
        let mut row: Vec<Value> = (0..columns).map(Value::from).collect();
        row.insert(0, "asio".into());
        row.extend(["measured".into(), why]);
        table.rows.push(row);
    }
    document.sections.push(Section::new("many", "Many", "All.", table));
    document
}

/// A remark stands once, with all of its rows, and a sentence with a semicolon is one.
#[test]
fn a_remark_is_a_sentence_whatever_is_in_it() {
    let columns = vec![
        Column::new("name", "name", Unit::Text),
        Column::new("value", "value", Unit::Times).track(),
        Column::new("warnings", "warnings", Unit::Text),
    ];
    let mut table = Table::new("Tracks", columns);
    let row = |name: &str, said: &[&str]| -> Vec<Value> {
        vec![name.into(), 2.0.into(), Sentences::new(said).into()]
    };
    table.rows = vec![row("a", &["slow; then fast", "old"]), row("b", &["slow; then fast"])];
    let view = TableView::new(&table, false, true);
    let told: Vec<(&str, Vec<&str>)> =
        view.remarks.iter().map(|remark| (remark.text, remark.rows.clone())).collect();
    assert_eq!(told, [("slow; then fast", vec!["a", "b"]), ("old", vec!["a"])]);
    assert_eq!(serde_json::to_value(&table.rows[0][2]).unwrap(), "slow; then fast; old");
}

#[test]
fn a_difference_is_drawn_around_0_and_a_ratio_around_1() {
    let track = |unit, rows: [[f64; 3]; 2]| {
        let column = |key: &str| Column::new(key, key, unit);
        let columns = vec![
            Column::new("name", "name", Unit::Text),
            column("value").track().interval("low", "high"),
            column("low").hidden(),
            column("high").hidden(),
        ];
        let mut table = Table::new("Tracks", columns);
        table.rows =
            rows.map(|[value, low, high]| vec!["a".into(), value.into(), low.into(), high.into()]).to_vec();
        let mut document = small();
        document.sections = vec![Section::new("tracks", "Tracks", "All.", table)];
        let page = html(&document).unwrap();
        let places = |begin: &str| -> Vec<String> {
            page.split(begin).skip(1).map(|rest| rest.split('%').next().unwrap().to_owned()).collect()
        };
        // The first lines are ticks of the axis.
        (places("<line x1=\"").last().unwrap().clone(), places("<circle r=\"0.3em\" cx=\""))
    };
    let of_ns = track(Unit::Nanoseconds, [[60.0, 40.0, 100.0], [-50.0, -100.0, 10.0]]);
    assert_eq!(of_ns, ("50.00".to_owned(), vec!["77.78".to_owned(), "26.85".to_owned()]));
    let (one, points) = track(Unit::Times, [[4.0, 2.0, 16.0], [0.25, 0.062_5, 1.0]]);
    assert_eq!((one.as_str(), points), ("50.00", vec!["73.15".to_owned(), "26.85".to_owned()]));
}

#[test]
fn only_a_page_with_a_flame_graph_has_the_script_for_it() {
    let mut document = small();
    assert_eq!(html(&document).unwrap().matches("<script").count(), 2);
    document.sections[0].charts[0].shape = Shape::Flame;
    let page = html(&document).unwrap();
    assert!(page.matches("<script").count() == 3 && page.contains(FLAME));
}

#[test]
fn sentences_stand_below_the_rows_of_a_table_with_many_columns() {
    let page = |columns| {
        let page = html(&crowded(columns)).unwrap();
        between(&page, "aria-label=\"Many columns\" tabindex=\"0\">", "</div>\n").to_owned()
    };
    insta::assert_snapshot!(page(7));
    let few = page(3);
    assert!(!few.contains("said") && few.contains("data-place=\"5\">why</th>"), "{few}");
}

#[test]
fn a_verdict_has_its_colour_and_nothing_else_has_one() {
    let mut document = small();
    let columns = vec![Column::new("id", "id", Unit::Text), Column::new("verdict", "verdict", Unit::Text)];
    let mut table = Table::new("Claims", columns);
    for verdict in [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive] {
        let word = Value::of_verdict(verdict, Question::Claim);
        table.rows.push(vec![word.text().unwrap().into(), word.clone()]);
    }
    document.sections.push(Section::new("claims", "Claims", "All.", table));
    let page = html(&document).unwrap();
    for (tone, word) in [("good", "holds"), ("bad", "does not hold"), ("open", "inconclusive")] {
        assert!(
            page.contains(&format!("<td data-value=\"{word}\"><bdi class=\"{tone}\">{word}</bdi>")),
            "{word}"
        );
        assert!(page.contains(&format!("data-value=\"{word}\"><bdi>{word}</bdi></th>")), "{word}");
    }
}

#[test]
fn what_has_nothing_to_show_is_one_list_at_the_end() {
    let mut document = small();
    document.sections.push(Section::without("wire", "Bytes on the wire", "Bytes.").note("No bytes."));
    let last = document.sections[0].clone();
    document.sections.push(Section { id: "again".to_owned(), ..last });
    let page = html(&document).unwrap();
    assert_eq!(page.matches("<h2").count(), 5, "two sections with tables, two levels, and the list");
    insta::assert_snapshot!(between(&page, "<section class=\"part\" id=\"nothing-of\"", "</section>"));
}

#[test]
fn no_name_ends_an_element() {
    let page = html(&small()).unwrap();
    assert!(!page.contains("<script>alert"));
    assert_eq!(page.matches("<script").count(), 2);
    let data: serde_json::Value =
        serde_json::from_str(between(&page, "id=\"document\">", "</script>")).unwrap();
    assert_eq!(data, packed::document(&small()));
    assert_eq!(data["sections"][0]["table"]["packed"][3], serde_json::json!([1, null]));
}

#[test]
fn only_a_served_page_may_ask_anything() {
    let document = small();
    assert!(!html(&document).unwrap().contains("connect-src"));
    let from = Served { list: "/".to_owned(), events: Some("/runs/a&b/events".to_owned()) };
    let page = served(&document, &from).unwrap();
    assert!(page.contains("connect-src 'self'"));
    assert!(page.contains("data-events=\"/runs/a&#38;b/events\""));
    assert!(frame("Runs", "<p>None.</p>").unwrap().contains("<main id=\"main\"><p>None.</p></main>"));
}

#[test]
fn long_tables_are_left_to_the_script() {
    let rows = |count| html(&long(count)).unwrap().matches("<tr data-row").count();
    assert_eq!([rows(TABLE_ROWS_MAX), rows(TABLE_ROWS_MAX + 1)], [TABLE_ROWS_MAX + 2, 2]);
}

/// Numbers at which a unit changes, and numbers halfway between two digits.
fn numbers() -> Vec<f64> {
    let edges = [
        0.0, 0.001, 0.125, 0.245, 0.375, 0.9999, 1.0, 9.994, 9.995, 9.996, 10.25, 12.345, 99.94, 99.95, 100.5,
    ];
    let edges =
        edges.into_iter().chain([512.3, 999.4, 999.5, 999.7, 1023.4, 1024.0, 1_048_400.0, -0.5, -2.0]);
    edges.flat_map(|edge| [edge, edge * 1e3, edge * 1e6, edge * 1e9 / 7.0]).chain([1e21, 1e-7]).collect()
}

#[test]
fn the_script_shows_numbers_as_we_do() {
    let units = [
        Unit::Count,
        Unit::Number,
        Unit::PerSecond,
        Unit::Nanoseconds,
        Unit::Bytes,
        Unit::Share,
        Unit::Times,
        Unit::Change,
        Unit::Percentile,
        Unit::Probability,
    ];
    let mut made = String::from("[");
    for unit in units {
        let is_one = |number: &f64| unit != Unit::Probability || (0.0..=1.0).contains(number);
        for number in numbers().into_iter().filter(is_one) {
            let line = serde_json::to_string(&(unit, number, unit.show(number))).unwrap();
            let comma = if made.len() > 1 { "," } else { "" };
            write!(made, "{comma}\n  {line}").unwrap();
        }
    }
    made.push_str("\n]\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/test/figures.json");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert_eq!(made, kept, "INSTA_UPDATE=always cargo test -p tare-report writes web/test/figures.json anew");
}

#[test]
fn what_is_embedded_is_what_the_sources_give() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    if !["node", "npm"].into_iter().all(|program| fixture::has_program("web/dist", program)) {
        return;
    }
    if !web.join("node_modules/esbuild").is_dir() {
        return fixture::skip("web/dist", "what it is built with is not here: make setup installs it");
    }
    for script in ["check", "test"] {
        let ran = Command::new("npm").args(["run", "--silent", script]).current_dir(&web).output().unwrap();
        let said = [ran.stdout, ran.stderr].concat();
        assert!(ran.status.success(), "npm run {script}: {}", String::from_utf8_lossy(&said));
    }
}

/// A developer may have a newer Node, with which an incompatibility would not show.
#[test]
fn the_node_of_debian_12_is_enough_for_web() {
    const DEBIAN: (u32, u32) = (18, 20);
    const NEWER: [&str; 2] = ["import.meta.dirname", "import.meta.filename"];
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let lock = std::fs::read_to_string(web.join("package-lock.json")).unwrap();
    let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
    let packages = lock["packages"].as_object().unwrap();
    let asked =
        packages.iter().filter_map(|(name, package)| Some((name, package["engines"]["node"].as_str()?)));
    for (name, range) in asked {
        let least = range.strip_prefix(">=").unwrap_or_else(|| panic!("{name:?} asks for node {range:?}"));
        let mut numbers = least.trim().split('.').map(|number| number.parse::<u32>().unwrap());
        let least = (numbers.next().unwrap(), numbers.next().unwrap_or(0));
        assert!(least <= DEBIAN, "{name:?} asks for node {range:?}");
    }
    let tests = std::fs::read_dir(web.join("test")).unwrap().map(|entry| entry.unwrap().path());
    let run =
        tests.filter(|path| path.extension().is_some_and(|end| end == "js")).chain([web.join("build.js")]);
    for path in run {
        let text = std::fs::read_to_string(&path).unwrap();
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let found = NEWER.iter().find(|word| code.contains(*word));
        assert_eq!(found, None, "{}", path.display());
    }
}
