//! Row sets: the rows of a table that an answer contains, their order and their format.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rand::Rng;
use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::RowSetFile;
use super::placeholder::{DataTable, Scope, Tables, Template, Values};

/// The rows of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSet {
    /// Used as `{{rows.NAME}}`.
    pub name: String,
    table: DataTable,
    /// Columns that must have these values.
    filter: Vec<(usize, Template)>,
    order: Option<usize>,
    /// Largest number of rows.
    first: Option<Template>,
    page: Option<Page>,
    /// Additional rows, added before sorting.
    also: Vec<Vec<String>>,
    text: Template,
    index: RowIndex,
}

#[derive(Debug, Clone, PartialEq)]
struct Page {
    /// Counted from 1.
    number: Template,
    size: usize,
}

/// The format of the answer around the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowForm {
    /// Joined by commas; cells are escaped in strings.
    Json,
    /// Concatenated; cells are escaped.
    Html,
}

/// Row numbers by the values of the filtered columns, made on first use.
#[derive(Debug, Clone, Default)]
struct RowIndex(Arc<OnceLock<BTreeMap<Vec<String>, Vec<u64>>>>);

/// Always equal: it is derived from the other fields.
impl PartialEq for RowIndex {
    fn eq(&self, _: &RowIndex) -> bool {
        true
    }
}

pub(super) fn row_sets(
    file: &BTreeMap<Spanned<String>, Spanned<RowSetFile>>,
    tables: &Tables,
) -> Lowered<Vec<RowSet>> {
    file.iter().map(|(name, file)| row_set(name, file.get_ref(), tables)).collect()
}

fn row_set(name: &Spanned<String>, file: &RowSetFile, tables: &Tables) -> Lowered<RowSet> {
    let table = table(&file.table, tables)?;
    let column = |name: &Spanned<String>| {
        let cell = table.cell(name.get_ref()).map_err(|error| (name.span().start, error.into()))?;
        Ok(cell.column)
    };
    let scope = Scope { tables: Some(tables), answer: true, ..Scope::default() };
    let template = |text: &Spanned<String>| {
        Template::parse_in(text.get_ref(), scope).map_err(|error| (text.span().start, error.into()))
    };
    let filter = file.filter.iter().map(|(name, value)| Ok((column(name)?, template(value)?)));
    let page = file.page.as_ref().map(|page| match page.size {
        0 => Err((page.number.span().start, Problem::PageOfNothing)),
        size => Ok(Page { number: template(&page.number)?, size: size as usize }),
    });
    let text = match (&file.text, table.json()) {
        (Some(text), _) => template(text)?,
        (None, Some(json)) => json.clone(),
        (None, None) => {
            return Err((name.span().start, Problem::RowsWithoutText { name: name.get_ref().clone() }));
        }
    };
    Ok(RowSet {
        name: name.get_ref().clone(),
        filter: filter.collect::<Lowered<_>>()?,
        order: file.order.as_ref().map(column).transpose()?,
        first: file.first.as_ref().map(template).transpose()?,
        page: page.transpose()?,
        also: file.also.iter().map(|row| also(row, &table)).collect::<Lowered<_>>()?,
        text,
        index: RowIndex::default(),
        table,
    })
}

/// The table with this name.
pub(super) fn table(name: &Spanned<String>, tables: &Tables) -> Lowered<DataTable> {
    tables.get(name.get_ref()).cloned().ok_or_else(|| {
        let known = tables.keys().map(String::as_str);
        let suggestion = tare_base::spelling::suggestion(name.get_ref(), known);
        (name.span().start, Problem::UnknownTable { name: name.get_ref().clone(), suggestion })
    })
}

/// An additional row, which must have all columns.
fn also(row: &Spanned<BTreeMap<String, String>>, table: &DataTable) -> Lowered<Vec<String>> {
    let cell = |column: &String| row.get_ref().get(column).cloned();
    let cells: Option<Vec<String>> = table.columns().iter().map(cell).collect();
    let is_whole = row.get_ref().len() == table.columns().len();
    cells.filter(|_| is_whole).ok_or_else(|| {
        let columns = table.columns().join(", ");
        (row.span().start, Problem::RowOfOtherColumns { columns })
    })
}

impl RowSet {
    /// All its templates that the request fills.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        let filter = self.filter.iter().map(|(_, value)| value);
        filter.chain(&self.first).chain(self.page.iter().map(|page| &page.number)).chain([&self.text])
    }

    /// The name of its table.
    pub(super) fn table_name(&self) -> &str {
        self.table.name()
    }

    /// Uses the current rows of its table.
    pub(super) fn enter_tables(&mut self, tables: &Tables) {
        if let Some(table) = tables.get(self.table.name()) {
            (self.table, self.index) = (table.clone(), RowIndex::default());
        }
    }

    /// The formatted rows for the values of this exchange.
    pub(super) fn fill<R: Rng>(&self, form: RowForm, values: &mut Values<'_, R>) -> String {
        let table = self.table.name();
        let drawn = values.take_row(table);
        let rows = self.rows(values);
        let write = |cells: Vec<String>| {
            values.set_row(table, cells);
            match form {
                RowForm::Json => self.text.fill_json(values),
                RowForm::Html => self.text.fill_html(values),
            }
        };
        let written: Vec<String> = rows.into_iter().map(write).collect();
        values.take_row(table);
        if let Some(drawn) = drawn {
            values.set_row(table, drawn);
        }
        written.join(if form == RowForm::Json { "," } else { "" })
    }

    fn rows<R: Rng>(&self, values: &mut Values<'_, R>) -> Vec<Vec<String>> {
        let wanted: Vec<String> = self.filter.iter().map(|(_, value)| value.fill(values)).collect();
        let mut number = |template: &Template| template.fill(values).parse::<usize>().unwrap_or(usize::MAX);
        let page = self.page.as_ref().map(|page| (number(&page.number).max(1) - 1, page.size));
        let first = self.first.as_ref().map_or(usize::MAX, &mut number);
        let skipped = page.map_or(0, |(before, size)| before.saturating_mul(size));
        let most = first.min(page.map_or(usize::MAX, |(_, size)| size));
        let places = self.places(&wanted).iter().skip(if self.also.is_empty() { skipped } else { 0 });
        if self.also.is_empty() {
            return places.take(most).map(|row| self.table.row(*row)).collect();
        }
        let mut rows: Vec<Vec<String>> = places.map(|row| self.table.row(*row)).collect();
        rows.extend(self.also.iter().cloned());
        self.sort(&mut rows);
        rows.into_iter().skip(skipped).take(most).collect()
    }

    /// The numbers of the rows with these values, in order.
    fn places(&self, wanted: &[String]) -> &[u64] {
        let index = self.index.0.get_or_init(|| self.index());
        index.get(wanted).map_or(&[], Vec::as_slice)
    }

    fn index(&self) -> BTreeMap<Vec<String>, Vec<u64>> {
        let mut index: BTreeMap<Vec<String>, Vec<(Option<OrderKey>, u64)>> = BTreeMap::new();
        for place in 0..self.table.count() {
            let row = self.table.row(place);
            let values = self.filter.iter().map(|(column, _)| row[*column].clone()).collect();
            let key = self.order.map(|column| OrderKey::of(&row[column]));
            index.entry(values).or_default().push((key, place));
        }
        let sorted = |mut places: Vec<(Option<OrderKey>, u64)>| {
            places.sort();
            places.into_iter().map(|(_, place)| place).collect()
        };
        index.into_iter().map(|(values, places)| (values, sorted(places))).collect()
    }

    fn sort(&self, rows: &mut [Vec<String>]) {
        if let Some(column) = self.order {
            rows.sort_by_cached_key(|row| OrderKey::of(&row[column]));
        }
    }
}

/// Numbers are ordered by value and before texts, which are ordered by their bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum OrderKey {
    Number(u64),
    Text(String),
}

impl OrderKey {
    fn of(cell: &str) -> OrderKey {
        cell.parse().map_or_else(|_| OrderKey::Text(cell.to_owned()), OrderKey::Number)
    }
}

#[cfg(test)]
mod tests;
