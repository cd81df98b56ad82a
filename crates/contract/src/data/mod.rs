//! The tables of a contract: from the file to valid tables, and the rules for their columns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::{ContractFile, DataFile, FolderFile};
use super::placeholder::{
    DataTable, DrawnColumn, KINDS, Placeholder, PlaceholderKind, ROW, ROWS_MAX, Scope, TableError, Tables,
    Template, is_column,
};
use super::{Ask, Body, Contract, ExpectedAnswer, RowSet};

/// Largest file of a folder.
const FILE_BYTES_MAX: u32 = 16 << 20;
/// The beginning of a wildcard; table names must differ from it and from placeholder names.
const WILDCARD: &str = "any";

/// Reads the tables; `folder` is the contract's.
pub(super) fn tables(file: &ContractFile, folder: &Path) -> Lowered<Tables> {
    let file_has = |name: &str| file.data.keys().any(|table| table.get_ref() == name);
    let one = |(name, data): (&Spanned<String>, &DataFile)| {
        table_name(name)?;
        Ok((name.get_ref().clone(), table(name, data, folder)?))
    };
    let files = |(name, file): (&Spanned<String>, &FolderFile)| {
        table_name(name)?;
        match file_has(name.get_ref()) {
            true => Err((name.span().start, Problem::Twice { name: name.get_ref().clone() })),
            false => Ok((name.get_ref().clone(), of_files(name, file)?)),
        }
    };
    file.data.iter().map(one).chain(file.folder.iter().map(files)).collect()
}

fn of_files(name: &Spanned<String>, folder: &FolderFile) -> Lowered<DataTable> {
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let one = |(name, bytes): (&Spanned<String>, &Spanned<u32>)| {
        let (text, bytes) = (name.get_ref().clone(), *bytes.get_ref());
        let is_name = text.bytes().all(in_name) && !text.starts_with('.') && !text.is_empty();
        match is_name && (1..=FILE_BYTES_MAX).contains(&bytes) {
            true => Ok((text, bytes as usize)),
            false => {
                Err((name.span().start, Problem::FileOfFolder { name: text, bytes_max: FILE_BYTES_MAX }))
            }
        }
    };
    let files: Vec<(String, usize)> = folder.files.iter().map(one).collect::<Lowered<_>>()?;
    match files.is_empty() {
        true => Err((name.span().start, Problem::TableOfNothing { name: name.get_ref().clone() })),
        false => Ok(DataTable::of_files(name.get_ref(), files)),
    }
}

fn table_name(name: &Spanned<String>) -> Lowered<()> {
    let (text, start) = (name.get_ref(), name.span().start);
    if KINDS.into_iter().chain([ROW, WILDCARD]).any(|taken| taken == text) {
        return Err((start, Problem::TableOfAPlaceholder { name: text.clone() }));
    }
    let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    match text.bytes().all(in_name) && text.bytes().next().is_some_and(|first| first.is_ascii_lowercase()) {
        true => Ok(()),
        false => Err((start, Problem::TableName { name: text.clone() })),
    }
}

fn table(name: &Spanned<String>, data: &DataFile, folder: &Path) -> Lowered<DataTable> {
    let table = rows(name, data, folder)?;
    let json = data.json.as_ref().map(|json| row_json(json, &table)).transpose()?;
    let key = data.key.as_ref().map(|key| {
        let cell = table.cell(key.get_ref()).map_err(|error| (key.span().start, error.into()))?;
        Ok(cell.column)
    });
    let key = key.transpose()?;
    Ok(table.with(json, key))
}

/// A JSON template with the columns of a row.
fn row_json(text: &Spanned<String>, table: &DataTable) -> Lowered<Template> {
    let start = text.span().start;
    let tables = Tables::from([(table.name().to_owned(), table.clone())]);
    let scope = Scope { tables: Some(&tables), ..Scope::default() };
    let template = Template::parse_in(text.get_ref(), scope).map_err(|error| (start, error.into()))?;
    for filled in template.extremes() {
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&filled) {
            return Err((start, Problem::Json { reason: error.to_string() }));
        }
    }
    template.cells_outside_of_strings().try_for_each(|cell| is_json(cell, start))?;
    Ok(template)
}

fn rows(name: &Spanned<String>, data: &DataFile, folder: &Path) -> Lowered<DataTable> {
    match (&data.file, &data.rows, &data.columns) {
        (Some(file), None, None) => {
            let read = DataTable::read(name.get_ref(), &folder.join(file.get_ref()));
            read.map_err(|error| (file.span().start, Problem::Table { reason: error.to_string() }))
        }
        (None, Some(rows), Some(columns)) if !columns.is_empty() => {
            let (start, count) = (rows.span().start, *rows.get_ref());
            if !(1..=ROWS_MAX).contains(&count) {
                return Err((start, Problem::TableRows { count }));
            }
            let column = |(name, text): (&Spanned<String>, &Spanned<String>)| {
                Ok((name.get_ref().clone(), self::column(name, text)?))
            };
            Ok(DataTable::made(name.get_ref(), columns.iter().map(column).collect::<Lowered<_>>()?, count))
        }
        _ => Err((name.span().start, Problem::TableOfNothing { name: name.get_ref().clone() })),
    }
}

fn column(name: &Spanned<String>, text: &Spanned<String>) -> Lowered<Template> {
    let start = text.span().start;
    if !is_column(name.get_ref()) {
        return Err((name.span().start, Problem::ColumnName { name: name.get_ref().clone() }));
    }
    let scope = Scope { row: true, ..Scope::default() };
    let template = Template::parse_in(text.get_ref(), scope).map_err(|error| (start, error.into()))?;
    let secret =
        template.placeholders().find(|placeholder| matches!(placeholder.kind, PlaceholderKind::Env(_)));
    match secret {
        Some(placeholder) => Err((start, Problem::SecretInTable { placeholder: placeholder.to_string() })),
        None => Ok(template),
    }
}

/// Checks a column used where lines end and blanks are trimmed.
pub(super) fn in_a_line(cell: &DrawnColumn, place: &'static str, start: usize) -> Lowered<()> {
    let is_line = |cell: &str| !cell.chars().any(char::is_control) && cell.trim() == cell;
    match cell.table.first_wrong_cell(cell.column, is_line) {
        Some(_) => Err((start, Problem::LinesIn { placeholder: cell.to_string(), place })),
        None => Ok(()),
    }
}

/// Checks a column of an answer: the request must select its row.
pub(super) fn of_the_row_asked_for(cell: &DrawnColumn, ask: &Ask, start: usize) -> Lowered<()> {
    let table = cell.table.name();
    match ask.templates().flat_map(Template::cells).any(|asked| asked.table.name() == table) {
        true => Ok(()),
        false => {
            let (placeholder, table) = (cell.to_string(), table.to_owned());
            Err((start, Problem::RowOfNoRequest { placeholder, table }))
        }
    }
}

/// Checks a column used as a whole JSON value.
pub(super) fn is_json(cell: &DrawnColumn, start: usize) -> Lowered<()> {
    let is_json = |cell: &str| serde_json::from_str::<serde::de::IgnoredAny>(cell).is_ok();
    match cell.table.first_wrong_cell(cell.column, is_json) {
        Some(wrong) => Err((start, Problem::CellIsNoJson { placeholder: cell.to_string(), wrong })),
        None => Ok(()),
    }
}

/// Copies the contracts; those in `names` get the rows of this seed, in files of `folder`.
///
/// # Errors
/// A table cannot be written.
pub fn with_tables<'n>(
    contracts: &BTreeMap<String, Contract>,
    names: impl IntoIterator<Item = &'n str>,
    seed: u64,
    folder: &Path,
) -> Result<BTreeMap<String, Contract>, TableError> {
    let mut with_tables = contracts.clone();
    for name in names.into_iter().collect::<BTreeSet<_>>() {
        if let Some(contract) = with_tables.get_mut(name) {
            *contract = contract.with_tables(seed, folder)?;
        }
    }
    Ok(with_tables)
}

impl Contract {
    /// The tables from which its requests draw.
    pub fn tables(&self) -> impl Iterator<Item = &DataTable> {
        self.tables.values()
    }

    /// The tables that a service gets as files and folders.
    pub fn given_tables(&self) -> impl Iterator<Item = &DataTable> {
        self.tables.values().filter(|table| !self.backing.holds(table.name()))
    }

    /// The table with this name.
    pub fn table(&self, name: &str) -> Option<&DataTable> {
        self.tables.get(name)
    }

    /// A copy with the rows of this seed. Generated tables are written to `folder`, where services find them.
    ///
    /// # Errors
    /// A table cannot be written.
    pub fn with_tables(&self, seed: u64, folder: &Path) -> Result<Contract, TableError> {
        let laid_out = |table: &DataTable| match self.backing.holds(table.name()) {
            true => table
                .clone()
                .with(None, None)
                .laid_out(seed, folder, &self.name)
                .map(|csv| csv.with_form_of(table)),
            false => table.laid_out(seed, folder, &self.name),
        };
        let tables = self.tables.iter().map(|(name, table)| Ok((name.clone(), laid_out(table)?)));
        Ok(self.drawing_from(tables.collect::<Result<_, TableError>>()?))
    }

    /// As [`Contract::with_tables`], for services that already have the rows: nothing is written.
    #[must_use]
    pub fn with_rows_of(&self, seed: u64) -> Contract {
        self.drawing_from(
            self.tables.iter().map(|(name, table)| (name.clone(), table.of_seed(seed))).collect(),
        )
    }

    /// Number of exchanges prepared for a load: `usual`, or up to `of_rows` if a table has that many rows.
    pub fn exchanges_ahead(&self, usual: usize, of_rows: usize) -> usize {
        let cells = self.loaded().flat_map(|request| request.ask.templates()).flat_map(Template::cells);
        let rows = cells.map(|cell| cell.table.count()).max().unwrap_or(0);
        let ahead = usual.max(usize::try_from(rows).unwrap_or(usize::MAX).min(of_rows));
        self.exchanges.unwrap_or(ahead)
    }

    fn drawing_from(&self, tables: Tables) -> Contract {
        let mut contract = Contract { tables, ..self.clone() };
        let tables = contract.tables.clone();
        contract.templates_mut().for_each(|template| template.enter_tables(&tables));
        contract.answers_mut().for_each(|answer| answer.enter_tables(&tables));
        contract.backing.enter_tables(&tables);
        contract
    }

    fn answers_mut(&mut self) -> impl Iterator<Item = &mut ExpectedAnswer> {
        let requests = self.requests.iter_mut();
        requests.flat_map(|request| std::iter::once(&mut request.answer).chain(&mut request.otherwise))
    }

    /// A copy with its own record of changes.
    #[must_use]
    pub fn detached(&self) -> Contract {
        let mut contract = self.clone();
        for answer in contract.answers_mut() {
            if let Body::AnyRow(any) = &mut answer.body {
                any.detach();
            }
        }
        contract
    }

    fn templates_mut(&mut self) -> impl Iterator<Item = &mut Template> {
        let requests = self
            .requests
            .iter_mut()
            .flat_map(|request| request.ask.templates_mut().chain(request.answer.template_mut()));
        requests.chain(self.bad.iter_mut().flat_map(|bad| bad.ask.templates_mut()))
    }
}

impl ExpectedAnswer {
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        let template = match &self.body {
            Body::Exact(template)
            | Body::Json(template)
            | Body::Html(template)
            | Body::Pattern { template, .. } => Some(template),
            Body::Shape(_) | Body::AnyRow(_) | Body::Any => None,
        };
        let in_rows = self.row_sets.iter().flat_map(RowSet::templates);
        template.into_iter().chain(in_rows).flat_map(Template::placeholders)
    }

    fn template_mut(&mut self) -> Option<&mut Template> {
        match &mut self.body {
            Body::Exact(template)
            | Body::Json(template)
            | Body::Html(template)
            | Body::Pattern { template, .. } => Some(template),
            Body::Shape(_) | Body::AnyRow(_) | Body::Any => None,
        }
    }

    fn enter_tables(&mut self, tables: &Tables) {
        self.row_sets.iter_mut().for_each(|rows| rows.enter_tables(tables));
        if let Body::AnyRow(any) = &mut self.body {
            any.enter_tables(tables);
        }
    }
}

#[cfg(test)]
mod tests;
