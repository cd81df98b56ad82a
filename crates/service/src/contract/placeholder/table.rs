//! Tables from which requests draw rows: read from a CSV file, or made from the seed of a run, row by row and never kept.
//!
//! Knows nothing of HTTP. A row of a made table is a function of the seed and its number.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_host::spelling::suggestion;

use super::{PlaceholderError, Template, Values};

/// Of a table that is made. A service reads them all when it starts.
pub(in crate::contract) const ROWS_MAX: u64 = 1_000_000;
/// The largest file; all of it is kept in memory.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// Begins the names of the variables by which a service finds its tables.
const VARIABLE: &str = "DATA_";
/// So that rows have other values than the requests that verification sends with the same seed.
const DOMAIN: u64 = 0x7461_626c_6573;

/// The tables of a contract by their names.
pub(in crate::contract) type Tables = BTreeMap<String, Table>;

/// Its copies share their rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    name: Arc<str>,
    columns: Arc<[String]>,
    rows: Rows,
    /// Where a service finds it; absent before it is written.
    file: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rows {
    Read(Arc<Cells>),
    Made { templates: Arc<[Template]>, count: u64, seed: u64 },
}

/// The cells of a file, row by row in one text.
#[derive(Clone, PartialEq, Eq)]
struct Cells {
    text: String,
    /// Where each cell ends.
    ends: Vec<usize>,
}

/// A column of a table, of the row that an exchange draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub(in crate::contract) table: Table,
    pub(in crate::contract) column: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("{}: cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: {reason}", path.display())]
    Csv { path: PathBuf, reason: String },
    #[error("{}: has {bytes} bytes, more than {FILE_BYTES_MAX}: give fewer rows", path.display())]
    TooLarge { path: PathBuf, bytes: u64 },
    #[error("{}: has no rows: the first line names the columns, and each further one is a row", path.display())]
    NoRows { path: PathBuf },
    #[error("{}: the column {name:?} is there twice, or cannot be written as {{{{NAME.COLUMN}}}}", path.display())]
    Column { path: PathBuf, name: String },
    #[error("{}: cannot be written: {reason}", path.display())]
    Write { path: PathBuf, reason: String },
}

impl Table {
    /// Reads a CSV file whose first line names the columns.
    pub(in crate::contract) fn read(name: &str, path: &Path) -> Result<Table, TableError> {
        let unread = |source| TableError::Read { path: path.to_owned(), source };
        let path_of = || path.to_owned();
        let bytes = std::fs::metadata(path).map_err(unread)?.len();
        if bytes > FILE_BYTES_MAX {
            return Err(TableError::TooLarge { path: path_of(), bytes });
        }
        let wrong = |error: csv::Error| TableError::Csv { path: path_of(), reason: reason(&error) };
        let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
        let header = reader.headers().map_err(wrong)?;
        // Some programs begin a file with a mark of its encoding.
        let columns: Vec<String> =
            header.iter().map(|column| column.trim_start_matches('\u{feff}').to_owned()).collect();
        let is_wrong =
            |(place, column): &(usize, &String)| !is_column(column) || columns[..*place].contains(column);
        if let Some((_, name)) = columns.iter().enumerate().find(is_wrong) {
            return Err(TableError::Column { path: path_of(), name: name.clone() });
        }
        let mut cells = Cells { text: String::new(), ends: Vec::new() };
        for record in reader.records() {
            cells.push(record.map_err(wrong)?.iter());
        }
        if cells.ends.is_empty() {
            return Err(TableError::NoRows { path: path_of() });
        }
        let file = std::path::absolute(path).map_err(unread)?;
        let rows = Rows::Read(Arc::new(cells));
        Ok(Table { name: name.into(), columns: columns.into(), rows, file: Some(file) })
    }

    /// A table of `count` rows, whose cells are filled as these templates say.
    pub(in crate::contract) fn made(name: &str, columns: BTreeMap<String, Template>, count: u64) -> Table {
        let (columns, templates): (Vec<String>, Vec<Template>) = columns.into_iter().unzip();
        let rows = Rows::Made { templates: templates.into(), count, seed: 0 };
        Table { name: name.into(), columns: columns.into(), rows, file: None }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its column of this name.
    pub(in crate::contract) fn cell(&self, column: &str) -> Result<Cell, PlaceholderError> {
        if column.is_empty() {
            let (table, first) = (self.name.to_string(), self.columns[0].clone());
            return Err(PlaceholderError::NoColumn { table, first });
        }
        let place = self.columns.iter().position(|known| known == column);
        place.map(|column| Cell { table: self.clone(), column }).ok_or_else(|| PlaceholderError::Column {
            table: self.name.to_string(),
            column: column.to_owned(),
            suggestion: suggestion(column, self.columns.iter().map(String::as_str)),
        })
    }

    /// How many rows it has.
    pub fn count(&self) -> u64 {
        match &self.rows {
            Rows::Read(cells) => (cells.ends.len() / self.columns.len()) as u64,
            Rows::Made { count, .. } => *count,
        }
    }

    /// The cells of a row, counted from 0.
    pub(in crate::contract) fn row(&self, row: u64) -> Vec<String> {
        match &self.rows {
            Rows::Read(cells) => {
                let first = row as usize * self.columns.len();
                (first..first + self.columns.len()).map(|cell| cells.get(cell).to_owned()).collect()
            }
            Rows::Made { templates, seed, .. } => {
                let mut rng = ChaCha8Rng::seed_from_u64(seed ^ DOMAIN);
                rng.set_stream(row);
                let mut values = Values::of_row(&mut rng, row + 1);
                templates.iter().map(|template| template.fill(&mut values)).collect()
            }
        }
    }

    /// Any of its rows.
    pub(in crate::contract) fn draw<R: Rng>(&self, rng: &mut R) -> Vec<String> {
        self.row(rng.random_range(0..self.count()))
    }

    /// The first cell of a column, or of the forms that one can have, that is not so.
    pub(in crate::contract) fn first_wrong_cell(
        &self,
        column: usize,
        is_right: impl Fn(&str) -> bool,
    ) -> Option<String> {
        match &self.rows {
            Rows::Read(cells) => {
                let mut of_column = (column..cells.ends.len()).step_by(self.columns.len());
                of_column.find(|cell| !is_right(cells.get(*cell))).map(|cell| cells.get(cell).to_owned())
            }
            Rows::Made { templates, .. } => {
                templates[column].extremes().into_iter().find(|cell| !is_right(cell))
            }
        }
    }

    /// The variable by which a service finds it, and where it is.
    pub(crate) fn variable(&self) -> Option<(String, String)> {
        let file = self.file.as_ref()?.display().to_string();
        Some((format!("{VARIABLE}{}", self.name.to_uppercase()), file))
    }

    /// Whether its rows depend on the seed of the run.
    pub fn is_made(&self) -> bool {
        matches!(self.rows, Rows::Made { .. })
    }

    /// The same with the rows of this seed.
    #[must_use]
    pub fn of_seed(&self, new: u64) -> Table {
        let mut table = self.clone();
        if let Rows::Made { seed, .. } = &mut table.rows {
            *seed = new;
        }
        table
    }

    /// Writes it as CSV.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, to: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(self.columns.iter())?;
        (0..self.count()).try_for_each(|row| writer.write_record(self.row(row)))?;
        Ok(writer.flush()?)
    }

    /// The same, with its rows in the file `stem.NAME.csv` of a folder if they are of the seed.
    pub(in crate::contract) fn laid_out(
        &self,
        seed: u64,
        folder: &Path,
        stem: &str,
    ) -> Result<Table, TableError> {
        if !self.is_made() {
            return Ok(self.clone());
        }
        let path = folder.join(format!("{stem}.{}.csv", self.name));
        let failed = |error: &dyn std::fmt::Display| TableError::Write {
            path: path.clone(),
            reason: error.to_string(),
        };
        let path = std::path::absolute(&path).map_err(|error| failed(&error))?;
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        // Whole or not at all: another tare may have a service that reads it.
        let beside = path.with_extension("csv.new");
        let mut table = self.of_seed(seed);
        let file = std::fs::File::create(&beside).map_err(|error| failed(&error))?;
        table.write(io::BufWriter::new(file)).map_err(|error| failed(&error))?;
        std::fs::rename(&beside, &path).map_err(|error| failed(&error))?;
        table.file = Some(path);
        Ok(table)
    }
}

/// Whether a placeholder can name it.
pub(in crate::contract) fn is_column(name: &str) -> bool {
    !name.is_empty() && !name.contains(|character: char| character.is_control() || "{}".contains(character))
}

/// Without the words that repeat what it is.
fn reason(error: &csv::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("CSV error: ").unwrap_or(&text).to_owned()
}

impl Cells {
    fn push<'c>(&mut self, row: impl Iterator<Item = &'c str>) {
        for cell in row {
            self.text.push_str(cell);
            self.ends.push(self.text.len());
        }
    }

    fn get(&self, cell: usize) -> &str {
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }
}

/// Without what it holds.
impl std::fmt::Debug for Cells {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cells({} in {} bytes)", self.ends.len(), self.text.len())
    }
}

/// As it is written in a contract.
impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.table.name, self.table.columns[self.column])
    }
}
