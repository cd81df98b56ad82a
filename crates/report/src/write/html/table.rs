//! A table as the template wants it: cells with their text, and where bars begin and end.

use super::TABLE_ROWS_MAX;
use crate::document::{Column, Table, Unit, Value};

/// A table of a page.
pub struct TableView<'a> {
    pub table: &'a Table,
    pub heads: Vec<Head<'a>>,
    /// None where the table is so long that the script makes it.
    pub rows: Option<Vec<RowView<'a>>>,
    /// It is closed at first, since its charts say more.
    pub folded: bool,
}

/// The head of a column.
pub struct Head<'a> {
    pub column: &'a Column,
    /// Its place among all columns, also those that are not shown.
    pub place: usize,
    pub numeric: bool,
}

/// A row of a table.
pub struct RowView<'a> {
    /// Another tier begins with it.
    pub tier: bool,
    /// It is of every second tier.
    pub band: bool,
    pub cells: Vec<Cell<'a>>,
}

/// What is in a cell.
pub struct Cell<'a> {
    /// The one that names its row.
    pub names: bool,
    pub numeric: bool,
    /// It is the number of a tier.
    pub chip: bool,
    pub text: String,
    /// As JSON has it.
    pub value: String,
    /// `99.2% .. 104.7%`.
    pub interval: Option<String>,
    /// What its row is, below its name.
    pub below: Vec<&'a str>,
    pub bar: Option<Bar>,
}

/// A bar in percent of the width of its cell.
pub struct Bar {
    pub width: f64,
    /// Where 1 is.
    pub one: f64,
    /// Begin and width of the whisker.
    pub whisker: Option<(f64, f64)>,
}

impl<'a> TableView<'a> {
    /// The main table of a page says below the name of a row what it can be filtered by: columns of words would leave no
    /// room for those of numbers.
    pub fn new(table: &'a Table, folded: bool, main: bool) -> TableView<'a> {
        let short = table.rows.len() <= TABLE_ROWS_MAX;
        let mut heads = heads(table);
        let name = heads.iter().find(|head| head.column.unit == Unit::Text).map(|head| head.place);
        let is_below = |head: &Head<'_>| {
            main && short && head.column.facet && head.column.unit == Unit::Text && Some(head.place) != name
        };
        let below = heads.iter().filter(|head| is_below(head)).map(|head| head.place);
        let below: Vec<usize> = below.filter(|place| !table.is_alike(*place)).collect();
        heads.retain(|head| !is_below(head));
        let rows = short.then(|| rows(table, &heads, name, &below));
        let folded = rows.is_none() || (folded && table.rows.len() > 3);
        TableView { table, heads, rows, folded }
    }

    pub fn count(&self) -> usize {
        self.table.rows.len()
    }

    pub fn has_help(&self) -> bool {
        self.heads.iter().any(|head| !head.column.help.is_empty())
    }
}

/// A column without any value is not shown.
fn heads(table: &Table) -> Vec<Head<'_>> {
    let columns = table.columns.iter().enumerate();
    let shown = columns.filter(|(place, column)| !column.hidden && !table.is_unknown(*place));
    shown.map(|(place, column)| Head { column, place, numeric: column.unit.is_numeric() }).collect()
}

fn rows<'a>(table: &'a Table, heads: &[Head<'_>], name: Option<usize>, below: &[usize]) -> Vec<RowView<'a>> {
    let tier = table.place("tier");
    let scales: Vec<f64> = heads.iter().map(|head| scale(table, head)).collect();
    let (mut before, mut tiers): (Option<&Value>, usize) = (None, 0);
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let of_tier = tier.and_then(|place| row.get(place));
        let cells = heads.iter().zip(&scales).map(|(head, scale)| {
            let cell = Cell::new(table, row, head, *scale);
            let chip = Some(head.place) == tier && cell.numeric && !cell.value.is_empty();
            if Some(head.place) != name {
                return Cell { chip, ..cell };
            }
            let below = below.iter().filter_map(|place| row.get(*place)?.text());
            Cell { names: true, below: below.collect(), ..cell }
        });
        let cells = cells.collect();
        let begins = before.is_some() && before != of_tier;
        tiers += usize::from(begins);
        rows.push(RowView { tier: begins, band: tiers % 2 == 1, cells });
        before = of_tier;
    }
    rows
}

/// The number that a bar of full width is.
fn scale(table: &Table, head: &Head<'_>) -> f64 {
    if !head.column.bar {
        return 1.0;
    }
    let mut keys = vec![head.column.key.as_str()];
    keys.extend(head.column.interval.iter().flatten().map(String::as_str));
    let numbers = keys.iter().flat_map(|key| table.values(key)).filter_map(Value::number);
    numbers.fold(1.0, f64::max)
}

/// The ends of the interval of a value, where both are known.
fn ends(table: &Table, row: &[Value], column: &Column) -> Option<(f64, f64)> {
    let [low, high] = column.interval.as_ref()?;
    let end = |key: &str| row.get(table.place(key)?)?.number();
    Some((end(low)?, end(high)?))
}

impl Cell<'_> {
    fn new(table: &Table, row: &[Value], head: &Head<'_>, scale: f64) -> Self {
        let (column, value) = (head.column, row.get(head.place).unwrap_or(&Value::None));
        let ends = value.number().and_then(|_| ends(table, row, column));
        let percent = |number: f64| (number / scale * 100.0).clamp(0.0, 100.0);
        let bar = |number: f64| Bar {
            width: percent(number),
            one: percent(1.0),
            whisker: ends.map(|(low, high)| (percent(low), percent(high) - percent(low))),
        };
        Cell {
            names: false,
            chip: false,
            below: Vec::new(),
            numeric: head.numeric,
            text: value.show(column.unit),
            value: match value {
                Value::None => String::new(),
                Value::Text(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Flag(flag) => flag.to_string(),
            },
            interval: ends
                .map(|(low, high)| format!("{} .. {}", column.unit.show(low), column.unit.show(high))),
            bar: value.number().filter(|_| column.bar).map(bar),
        }
    }
}

impl Cell<'_> {
    /// It may not fit: all of it is shown to who points at it.
    pub fn is_long(&self) -> bool {
        self.text.len() > 32
    }
}
