//! Invariants of every document. All tests of documents check them, so that writers may rely on them.

use std::collections::BTreeSet;

use super::{Chart, Column, Document, FORMAT, Kind, Scale, Section, Shape, Status, Table, Unit, Value};

impl Document {
    /// The violations, a sentence each; empty for a valid document.
    pub fn check(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut ids = BTreeSet::new();
        for section in &self.sections {
            if section.id.is_empty() || !ids.insert(&section.id) {
                wrong.push(format!("section \"{}\": its id is empty, or another's too", section.id));
            }
            let found = check_section(section);
            wrong.extend(found.into_iter().map(|what| format!("section \"{}\": {what}", section.id)));
        }
        for (what, text) in [("title", &self.title), ("answer", &self.answer)] {
            if text.is_empty() {
                wrong.push(format!("it has no {what}"));
            }
        }
        wrong
    }
}

fn check_section(section: &Section) -> Vec<String> {
    let Some(table) = &section.table else {
        let mut wrong = Vec::new();
        if section.notes.is_empty() {
            wrong.push("it has no table, and no note that says why".to_owned());
        }
        if !section.charts.is_empty() {
            wrong.push("it has charts of no table".to_owned());
        }
        return wrong;
    };
    let mut wrong = check_columns(table);
    wrong.extend(check_rows(table));
    for chart in &section.charts {
        let found = check_chart(chart, table);
        wrong.extend(found.into_iter().map(|what| format!("chart \"{}\": {what}", chart.title)));
    }
    wrong
}

fn check_columns(table: &Table) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut keys = BTreeSet::new();
    for column in &table.columns {
        let is_snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if column.key.is_empty() || !column.key.chars().all(is_snake) || !keys.insert(&column.key) {
            wrong.push(format!("column \"{}\": its key is not in snake case, or another's too", column.key));
        }
        for end in column.interval.iter().flatten() {
            if unit_of(table, end) != Some(column.unit) {
                wrong.push(format!("column \"{}\": no end \"{end}\" of the same unit", column.key));
            }
        }
    }
    wrong
}

fn check_rows(table: &Table) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, row) in table.rows.iter().enumerate() {
        if row.len() != table.columns.len() {
            wrong.push(format!("row {number}: {} values in {} columns", row.len(), table.columns.len()));
        }
        for (column, value) in table.columns.iter().zip(row) {
            if !fits(column, value) {
                wrong.push(format!("row {number}: column \"{}\" has {value:?}", column.key));
            }
        }
    }
    wrong
}

fn fits(column: &Column, value: &Value) -> bool {
    match value {
        Value::None => true,
        Value::Never => column.unit.is_numeric(),
        Value::Text(_) | Value::Sentences(_) | Value::Word(..) => column.unit == Unit::Text,
        Value::Flag(_) => column.unit == Unit::Flag,
        Value::Number(number) | Value::Bounded(number, _) | Value::Ranked(number, _) => {
            number.is_finite() && column.unit.is_numeric()
        }
    }
}

fn unit_of(table: &Table, key: &str) -> Option<Unit> {
    Some(table.columns[table.place(key)?].unit)
}

fn check_chart(chart: &Chart, table: &Table) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    for (key, scale) in [(&chart.x, chart.x_scale), (&chart.y, chart.y_scale)] {
        let unit = unit_of(table, key);
        let is_right = unit.is_some_and(|unit| unit.is_numeric() == (scale != Scale::Names));
        must(is_right, format!("\"{key}\" is no column that an axis of {scale:?} can show"));
        let is_positive = table.values(key).filter_map(Value::number).all(|number| number > 0.0);
        must(scale != Scale::Log || is_positive, format!("\"{key}\" has values that no logarithm has"));
    }
    let is_number_of = |key: &String| unit_of(table, key).is_some_and(Unit::is_numeric);
    let has = |key: &String, unit| unit_of(table, key) == Some(unit);
    must(
        chart.series.iter().all(|key| has(key, Unit::Text)),
        format!("no text for series {:?}", chart.series),
    );
    must(chart.n.iter().all(is_number_of), format!("no number {:?}", chart.n));
    let bounds =
        |key: &String| unit_of(table, key).is_some_and(|unit| Some(unit) == unit_of(table, &chart.x));
    must(
        chart.bound.iter().all(bounds),
        format!("no bound {:?} of the unit of \"{}\"", chart.bound, chart.x),
    );
    must(
        chart.band.iter().flatten().all(bounds),
        format!("no band {:?} of the unit of \"{}\"", chart.band, chart.x),
    );
    must(
        chart.against.iter().all(bounds),
        format!("no published {:?} of the unit of \"{}\"", chart.against, chart.x),
    );
    must(
        chart.stack.iter().flatten().all(bounds),
        format!("no parts {:?} of the unit of \"{}\"", chart.stack, chart.x),
    );
    must(chart.apart.iter().all(|key| has(key, Unit::Flag)), format!("no flag {:?}", chart.apart));
    let only = |[key, text]: &[String; 2]| {
        has(key, Unit::Text) && table.values(key).any(|value| value.text() == Some(text))
    };
    must(chart.only.iter().all(only), format!("no rows {:?}", chart.only));
    must(!chart.alt.is_empty(), "it has no text for who cannot see it".to_owned());
    wrong
}

fn document(section: Section) -> Document {
    Document {
        format: FORMAT,
        cautions: Vec::new(),
        kind: Kind::Interleaved,
        title: "T".to_owned(),
        question: String::new(),
        answer: "A".to_owned(),
        basis: String::new(),
        began: String::new(),
        status: Status::Complete,
        damage: Vec::new(),
        notes: Vec::new(),
        facts: Vec::new(),
        checks: Vec::new(),
        sections: vec![section],
    }
}

fn table() -> Table {
    let columns = vec![
        Column::new("label", "service", Unit::Text),
        Column::new("ratio", "of reference", Unit::Share).interval("ratio_low", "ratio_high"),
        Column::new("ratio_low", "from", Unit::Share).hidden(),
        Column::new("ratio_high", "to", Unit::Share).hidden(),
    ];
    let row = vec!["a".into(), 1.0.into(), Value::None, Value::None];
    Table { rows: vec![row], ..Table::new("Services", columns) }
}

#[test]
fn a_p_value_has_two_digits() {
    let shown = [0.012_345, 0.5, 0.999, 1.0, 0.000_156, 1.555e-9].map(|p| Unit::Probability.show(p));
    assert_eq!(shown, ["0.012", "0.5", "1", "1", "1.6e-4", "1.6e-9"]);
}

#[test]
fn what_is_wrong_with_a_document_is_told() {
    let chart = Chart::new(Shape::Bars, "ratio", "label", "a has 100%");
    let good = Section::new("ranks", "Ranks", "", table()).chart(chart.clone());
    assert_eq!(document(good).check(), Vec::<String>::new());
    let mut bad = table();
    bad.rows.push(vec![1.0.into(), Value::Number(f64::NAN), "x".into()]);
    bad.columns[1].interval = Some(["gone".to_owned(), "ratio_high".to_owned()]);
    bad.columns[3].key = "ratio_low".to_owned();
    let bad = Section::new("ranks", "Ranks", "", bad).chart(Chart {
        x: "label".to_owned(),
        n: Some("n".to_owned()),
        bound: Some("label".to_owned()),
        stack: Some(vec!["ratio".to_owned()]),
        alt: String::new(),
        only: Some(["label".to_owned(), "b".to_owned()]),
        ..chart
    });
    insta::assert_snapshot!(document(bad).check().join("\n"));
    let silent = document(Section::without("ranks", "Ranks", ""));
    assert_eq!(silent.check(), ["section \"ranks\": it has no table, and no note that says why"]);
}
