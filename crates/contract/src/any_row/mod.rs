//! Rows chosen by the service: an answer is right if each object is a row of the table, found by its key.
//!
//! If the service changes a column, the answers are compared with the database later: [`changes`].

mod changes;
mod scan;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tare_load::exchange::{BodyJudge, Flight};
use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::AnyRowFile;
use super::placeholder::{DataTable, Placeholder, PlaceholderError, PlaceholderKind, Tables, Template};
use super::row_set::table;
pub use changes::{Changed, ChangedRows, Changes};
use scan::{Scan, is_plain};

/// Longest JSON text of a row.
const ROW_BYTES_MAX: u64 = 64 * 1024;
/// Most differences in one message.
const DIFFERENCES_MAX: usize = 3;

/// Rows that the service chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct AnyRow {
    table: DataTable,
    key: usize,
    members: Arc<[Member]>,
    /// Length of the array; absent for a single row.
    count: Option<usize>,
    changed: Option<ChangedColumn>,
    rows: KnownRows,
    pub(super) changes: Changes,
}

/// A member of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    name: String,
    column: usize,
    /// Whether it is a string rather than a number or another value.
    is_text: bool,
}

/// A column that the service changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ChangedColumn {
    column: usize,
    range: RangeInclusive<u64>,
}

/// The table's rows by key, made on first use.
#[derive(Debug, Clone, Default)]
struct KnownRows(Arc<OnceLock<HashMap<String, Vec<String>>>>);

impl PartialEq for KnownRows {
    fn eq(&self, _: &KnownRows) -> bool {
        true
    }
}

pub(super) fn any_row(file: &Spanned<AnyRowFile>, tables: &Tables) -> Lowered<AnyRow> {
    let (start, file) = (file.span().start, file.get_ref());
    let table = table(&file.table, tables)?;
    let name = || table.name().to_owned();
    let key = table.key().ok_or_else(|| (start, Problem::TableWithoutKey { name: name() }))?;
    let members = members(&table).ok_or_else(|| (start, Problem::RowIsNoObject { name: name() }))?;
    if file.count == Some(0) || file.changed.len() > 1 {
        return Err((start, Problem::AnyRowCount));
    }
    let changed = file.changed.iter().next().map(|(name, range)| {
        let column = table.cell(name.get_ref()).map_err(|error| (name.span().start, error.into()))?.column;
        let template =
            Template::parse(range.get_ref()).map_err(|error| (range.span().start, error.into()))?;
        match template.only() {
            Some(Placeholder { kind: PlaceholderKind::Number(range), name: None }) => {
                Ok(ChangedColumn { column, range: range.clone() })
            }
            _ => {
                let placeholder = range.get_ref().clone();
                Err((range.span().start, PlaceholderError::Range { placeholder }.into()))
            }
        }
    });
    Ok(AnyRow {
        key,
        members,
        count: file.count.map(|count| count as usize),
        changed: changed.transpose()?,
        rows: KnownRows::default(),
        changes: Changes::default(),
        table,
    })
}

/// The members of a row's JSON object; absent if it is no object, or a value is not exactly one column.
fn members(table: &DataTable) -> Option<Arc<[Member]>> {
    let text = table.json()?.fill_with(|placeholder| match &placeholder.kind {
        PlaceholderKind::Cell(cell) => cell.column.to_string(),
        _ => String::from("?"),
    });
    let Value::Object(object) = serde_json::from_str(&text).ok()? else { return None };
    let column = |value: &Value| match value {
        Value::Number(number) => number.as_u64().map(|column| column as usize),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let member = |(name, value): (&String, &Value)| {
        Some(Member { name: name.clone(), column: column(value)?, is_text: value.is_string() })
    };
    object.iter().map(member).collect::<Option<_>>()
}

impl AnyRow {
    /// Uses the current rows of its table.
    pub(super) fn enter_tables(&mut self, tables: &Tables) {
        if let Some(table) = tables.get(self.table.name()) {
            (self.table, self.rows) = (table.clone(), KnownRows::default());
        }
    }

    /// Gives this copy its own record of changes.
    pub(super) fn detach(&mut self) {
        self.changes = Changes::default();
    }

    /// The changed column; absent if there is none.
    fn changed_rows(&self) -> Option<ChangedRows<'_>> {
        let (table, columns) = (self.table.name(), self.table.columns());
        let column = &columns[self.changed.as_ref()?.column];
        Some(ChangedRows { table, key: &columns[self.key], column, changes: &self.changes })
    }

    fn known(&self) -> &HashMap<String, Vec<String>> {
        self.rows.0.get_or_init(|| {
            let row = |place| {
                let cells = self.table.row(place);
                (cells[self.key].clone(), cells)
            };
            (0..self.table.count()).map(row).collect()
        })
    }

    /// Checks one row; returns its key and the new value of the changed column.
    fn row(&self, got: &Value) -> Result<(String, Option<u64>), String> {
        let Value::Object(object) = got else { return Err(format!("expected an object, got {got}")) };
        let key_member = self.members.iter().find(|member| member.column == self.key);
        let key = key_member.and_then(|member| object.get(&member.name)?.cell(member));
        let key = key.ok_or_else(|| format!("no key in {got}"))?;
        let row = self
            .known()
            .get(&key)
            .ok_or_else(|| format!("the table {} has no row with the key {key}", self.table.name()))?;
        if let Some(name) = object.keys().find(|name| self.members.iter().all(|member| member.name != **name))
        {
            return Err(format!("{name} was not expected in {got}"));
        }
        let mut value = None;
        for member in self.members.iter() {
            let Member { name, column, is_text } = member;
            let got = object.get(name).ok_or_else(|| format!("{name} is missing in the row {key}"))?;
            let cell = got.cell(member);
            match &self.changed {
                Some(changed) if changed.column == *column => {
                    let (least, most) = (changed.range.start(), changed.range.end());
                    let number = cell
                        .and_then(|cell| cell.parse().ok())
                        .filter(|number| changed.range.contains(number));
                    value = Some(number.ok_or_else(|| {
                        format!("{name} of the row {key}: expected a number of {least} to {most}, got {got}")
                    })?);
                }
                _ if cell.as_ref() == Some(&row[*column]) => {}
                _ => {
                    let expected = if *is_text {
                        Value::from(row[*column].as_str()).to_string()
                    } else {
                        row[*column].clone()
                    };
                    return Err(format!("{name} of the row {key}: expected {expected}, got {got}"));
                }
            }
        }
        Ok((key, value))
    }

    /// Checks all rows; returns each key with the changed value.
    fn rows(&self, body: &[u8]) -> Result<Vec<(String, Option<u64>)>, Vec<String>> {
        let value =
            serde_json::from_slice(body).map_err(|error| vec![format!("the body is not JSON: {error}")])?;
        let rows: Vec<&Value> = match (&value, self.count) {
            (Value::Array(rows), Some(count)) if rows.len() == count => rows.iter().collect(),
            (Value::Array(rows), Some(count)) => {
                return Err(vec![format!("expected an array of {count} rows, got {}", rows.len())]);
            }
            (_, Some(count)) => return Err(vec![format!("expected an array of {count} rows")]),
            (row, None) => vec![row],
        };
        let (right, wrong): (Vec<_>, Vec<_>) =
            rows.into_iter().map(|row| self.row(row)).partition(Result::is_ok);
        let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).take(DIFFERENCES_MAX).collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let right: Vec<(String, Option<u64>)> = right.into_iter().filter_map(Result::ok).collect();
        match twice(right.iter().map(|(key, _)| key.as_str())).filter(|_| self.changed.is_some()) {
            Some(key) => Err(vec![format!("the row {key} is there twice, and rows that are changed differ")]),
            None => Ok(right),
        }
    }

    /// Whether the body is right in its usual spelling, read without building JSON values. For any other
    /// spelling [`AnyRow::rows`] decides.
    fn is_plainly_right<'b>(&self, body: &'b [u8], mut found: impl FnMut(&'b str, Option<u64>)) -> bool {
        let Ok(text) = str::from_utf8(body) else { return false };
        if !self.members.iter().all(|member| member.name.bytes().all(is_plain)) {
            return false;
        }
        let mut scan = Scan(text);
        let count = self.count.unwrap_or(1);
        if self.count.is_some() && !scan.eat('[') {
            return false;
        }
        for place in 0..count {
            if place > 0 && !scan.eat(',') {
                return false;
            }
            let Some((key, value)) = self.plain_row(&mut scan) else { return false };
            found(key, value);
        }
        (self.count.is_none() || scan.eat(']')) && scan.is_over()
    }

    /// The next object, if it is a row in its usual spelling: members in the table's order, the key first.
    fn plain_row<'t>(&self, scan: &mut Scan<'t>) -> Option<(&'t str, Option<u64>)> {
        let mut row: Option<(&'t str, &Vec<String>)> = None;
        let mut value = None;
        for (place, Member { name, column, is_text }) in self.members.iter().enumerate() {
            let is_begun = scan.eat(if place == 0 { '{' } else { ',' }) && scan.name(name) && scan.eat(':');
            let cell = if *is_text { scan.text() } else { scan.number() }.filter(|_| is_begun)?;
            match (&self.changed, row) {
                (_, None) if *column == self.key => row = Some((cell, self.known().get(cell)?)),
                (_, None) => return None,
                (Some(changed), Some(_)) if changed.column == *column => {
                    value = Some(cell.parse().ok().filter(|number| changed.range.contains(number))?);
                }
                (_, Some((_, row))) if cell == row[*column] => {}
                _ => return None,
            }
        }
        if !scan.eat('}') {
            return None;
        }
        row.map(|(key, _)| (key, value))
    }

    pub(super) fn judge(&self) -> AnyRowJudge {
        AnyRowJudge(self.clone())
    }
}

/// A value of an answer.
trait AsCell {
    /// Its text in a table; absent if its type differs from the member's.
    fn cell(&self, member: &Member) -> Option<String>;
}

impl AsCell for Value {
    fn cell(&self, member: &Member) -> Option<String> {
        match self {
            Value::String(text) => member.is_text.then(|| text.clone()),
            other => (!member.is_text).then(|| other.to_string()),
        }
    }
}

/// The first key that occurs twice.
fn twice<'k>(keys: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let mut rest = keys.clone();
    keys.into_iter().find(|key| {
        rest.next();
        rest.clone().any(|other| other == *key)
    })
}

/// Judges answers with rows that the service chose.
#[derive(Debug)]
pub(super) struct AnyRowJudge(AnyRow);

impl AnyRowJudge {
    fn note<'k>(&self, found: impl Iterator<Item = (&'k str, u64)>, flight: Flight) {
        let mut changes = self.0.changes.lock();
        for (key, value) in found {
            match changes.get_mut(key) {
                Some(last) => last.note(value, flight),
                None => changes.entry(key.to_owned()).or_default().note(value, flight),
            }
        }
    }
}

impl BodyJudge for AnyRowJudge {
    fn is_right(&self, body: &[u8], flight: Flight) -> bool {
        let AnyRowJudge(any) = self;
        if any.changed.is_none() {
            return any.is_plainly_right(body, |_, _| {}) || any.rows(body).is_ok();
        }
        let mut plain: Vec<(&str, u64)> = Vec::new();
        let is_plain = any.is_plainly_right(body, |key, value| plain.extend(value.map(|value| (key, value))));
        if is_plain && twice(plain.iter().map(|(key, _)| *key)).is_none() {
            self.note(plain.into_iter(), flight);
            return true;
        }
        let Ok(rows) = any.rows(body) else { return false };
        self.note(rows.iter().filter_map(|(key, value)| Some((key.as_str(), (*value)?))), flight);
        true
    }

    fn may_be_remembered(&self) -> bool {
        false
    }

    fn differences(&self, body: &[u8]) -> Vec<String> {
        self.0.rows(body).err().unwrap_or_default()
    }

    fn describe(&self) -> String {
        let table = self.0.table.name();
        match self.0.count {
            None => format!("a row of the table {table}"),
            Some(count) => format!("{count} rows of the table {table}"),
        }
    }

    fn body_bytes_max(&self) -> u64 {
        ROW_BYTES_MAX * (self.0.count.unwrap_or(1) as u64 + 1)
    }
}

#[cfg(test)]
mod tests;
