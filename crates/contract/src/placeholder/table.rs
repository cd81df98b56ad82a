//! Tables from which requests draw rows: read from a CSV file, or generated from the seed, row by row.
//!
//! It knows nothing of HTTP. A generated row is a function of the seed and its number.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_base::spelling::suggestion;

use super::files::FilesMade;
use super::{PlaceholderError, Template, Values};
use tare_base::document;

/// Most rows of a generated table; services read all of them at the start.
pub(crate) const ROWS_MAX: u64 = 1_000_000;
/// Largest CSV file, which is held in memory.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// Prefixes of the variables that tell a service where its tables and folders are.
const VARIABLE: &str = "DATA_";
const FOLDER_VARIABLE: &str = "FOLDER_";
/// The columns of a folder.
const FILE_NAME: &str = "name";
const FILE_CONTENT: &str = "content";
/// Separates the random values of rows from those of verification under the same seed.
const DOMAIN: u64 = 0x7461_626c_6573;

/// The tables of a contract by name.
pub(crate) type Tables = BTreeMap<String, DataTable>;

/// A table. Clones share the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataTable {
    name: Arc<str>,
    columns: Arc<[String]>,
    rows: Rows,
    /// The JSON template of a row, if there is one.
    json: Option<Arc<Template>>,
    /// The key column, if there is one.
    key: Option<usize>,
    /// The file for services; absent before it is written.
    file: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rows {
    Read(Arc<Cells>),
    Made { templates: Arc<[Template]>, count: u64, seed: u64 },
    Files { files: Arc<[(String, usize)]>, seed: u64, made: FilesMade },
}

/// The cells of a file, row by row in one text.
#[derive(Clone, PartialEq, Eq)]
struct Cells {
    text: String,
    /// The end of each cell.
    ends: Vec<usize>,
}

/// A column of the row that an exchange draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnColumn {
    pub(crate) table: DataTable,
    pub(crate) column: usize,
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

impl DataTable {
    /// Reads a CSV file whose first line names the columns.
    pub(crate) fn read(name: &str, path: &Path) -> Result<DataTable, TableError> {
        let unread = |source| TableError::Read { path: path.to_owned(), source };
        let path_of = || path.to_owned();
        let bytes = std::fs::metadata(path).map_err(unread)?.len();
        if bytes > FILE_BYTES_MAX {
            return Err(TableError::TooLarge { path: path_of(), bytes });
        }
        let wrong = |error: csv::Error| TableError::Csv { path: path_of(), reason: reason(&error) };
        let text = document::text_of(&std::fs::read(path).map_err(unread)?)
            .map_err(|error| TableError::Csv { path: path_of(), reason: error.to_string() })?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
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
        let columns = columns.into();
        Ok(DataTable { name: name.into(), columns, rows, json: None, key: None, file: Some(file) })
    }

    /// A table of `count` rows, whose cells are filled from these templates.
    pub(crate) fn made(name: &str, columns: BTreeMap<String, Template>, count: u64) -> DataTable {
        let (columns, templates): (Vec<String>, Vec<Template>) = columns.into_iter().unzip();
        let rows = Rows::Made { templates: templates.into(), count, seed: 0 };
        DataTable { name: name.into(), columns: columns.into(), rows, json: None, key: None, file: None }
    }

    /// A table whose rows are the files of a folder: name and content.
    pub(crate) fn of_files(name: &str, files: Vec<(String, usize)>) -> DataTable {
        let columns = [FILE_NAME, FILE_CONTENT].map(str::to_owned).into();
        let rows = Rows::Files { files: files.into(), seed: 0, made: FilesMade::default() };
        DataTable { name: name.into(), columns, rows, json: None, key: None, file: None }
    }

    /// Adds the JSON template of rows, and the key column.
    pub(crate) fn with(self, json: Option<Template>, key: Option<usize>) -> DataTable {
        DataTable { json: json.map(Arc::new), key, ..self }
    }

    /// Copies JSON template and key column from another table.
    pub(crate) fn with_form_of(self, other: &DataTable) -> DataTable {
        DataTable { json: other.json.clone(), key: other.key, ..self }
    }

    /// The JSON template of a row, if there is one.
    pub(crate) fn json(&self) -> Option<&Template> {
        self.json.as_deref()
    }

    /// A row as JSON; absent without a template.
    pub fn row_as_json(&self, row: u64) -> Option<String> {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut values = Values::new(&mut rng, None);
        values.set_row(&self.name, self.row(row));
        Some(self.json()?.fill_json(&mut values))
    }

    /// The key column, if there is one.
    pub(crate) fn key(&self) -> Option<usize> {
        self.key
    }

    /// The column names, in the order of a row's cells.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column with this name.
    pub(crate) fn cell(&self, column: &str) -> Result<DrawnColumn, PlaceholderError> {
        if column.is_empty() {
            let (table, first) = (self.name.to_string(), self.columns[0].clone());
            return Err(PlaceholderError::NoColumn { table, first });
        }
        let place = self.columns.iter().position(|known| known == column);
        place.map(|column| DrawnColumn { table: self.clone(), column }).ok_or_else(|| {
            PlaceholderError::Column {
                table: self.name.to_string(),
                column: column.to_owned(),
                suggestion: suggestion(column, self.columns.iter().map(String::as_str)),
            }
        })
    }

    /// Number of rows.
    pub fn count(&self) -> u64 {
        match &self.rows {
            Rows::Read(cells) => (cells.ends.len() / self.columns.len()) as u64,
            Rows::Made { count, .. } => *count,
            Rows::Files { files, .. } => files.len() as u64,
        }
    }

    /// The cells of a row; rows count from 0.
    pub fn row(&self, row: u64) -> Vec<String> {
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
            Rows::Files { files, seed, made } => {
                let place = row as usize;
                vec![files[place].0.clone(), made.get(files, seed ^ DOMAIN)[place].clone()]
            }
        }
    }

    /// A random row.
    pub(crate) fn draw<R: Rng>(&self, rng: &mut R) -> Vec<String> {
        self.row(rng.random_range(0..self.count()))
    }

    /// The first cell of a column, or the first of its extreme values, that is not right.
    pub(crate) fn first_wrong_cell(&self, column: usize, is_right: impl Fn(&str) -> bool) -> Option<String> {
        match &self.rows {
            Rows::Read(cells) => {
                let mut of_column = (column..cells.ends.len()).step_by(self.columns.len());
                of_column.find(|cell| !is_right(cells.get(*cell))).map(|cell| cells.get(cell).to_owned())
            }
            Rows::Made { templates, .. } => {
                templates[column].extremes().into_iter().find(|cell| !is_right(cell))
            }
            Rows::Files { files, .. } => match column {
                0 => files.iter().map(|(name, _)| name.clone()).find(|name| !is_right(name)),
                // The content has several lines and is not JSON.
                _ => Some(String::from("\n")).filter(|cell| !is_right(cell)),
            },
        }
    }

    /// The file that was written.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The variable for a service, and its value: the file's path.
    pub fn variable(&self) -> Option<(String, String)> {
        let file = self.file.as_ref()?.display().to_string();
        let kind = if matches!(self.rows, Rows::Files { .. }) { FOLDER_VARIABLE } else { VARIABLE };
        Some((format!("{kind}{}", self.name.to_uppercase()), file))
    }

    /// Whether its rows depend on the run's seed.
    pub fn is_made(&self) -> bool {
        !matches!(self.rows, Rows::Read(_))
    }

    /// A copy with the rows of this seed.
    #[must_use]
    pub fn of_seed(&self, new: u64) -> DataTable {
        let mut table = self.clone();
        match &mut table.rows {
            Rows::Read(_) => {}
            Rows::Made { seed, .. } => *seed = new,
            Rows::Files { seed, made, .. } if *seed != new => (*seed, *made) = (new, FilesMade::default()),
            Rows::Files { .. } => {}
        }
        table
    }

    /// Writes it as a JSON array if rows have a JSON template, otherwise as CSV.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, mut to: impl io::Write) -> Result<(), csv::Error> {
        if self.json.is_none() {
            return self.write_csv(to);
        }
        for row in 0..self.count() {
            let separator = if row == 0 { "[\n" } else { ",\n" };
            write!(to, "{separator}{}", self.row_as_json(row).unwrap_or_default())?;
        }
        writeln!(to, "\n]")?;
        Ok(to.flush()?)
    }

    /// Writes it as CSV with column names in the first line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_csv(&self, to: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(self.columns.iter())?;
        (0..self.count()).try_for_each(|row| writer.write_record(self.row(row)))?;
        Ok(writer.flush()?)
    }

    /// A copy for this seed. Generated rows are written to `STEM.NAME.csv` or `.json` in `folder`.
    pub(crate) fn laid_out(&self, seed: u64, folder: &Path, stem: &str) -> Result<DataTable, TableError> {
        if !self.is_made() {
            return Ok(self.clone());
        }
        let kind = if self.json.is_some() { "json" } else { "csv" };
        let path = folder.join(format!("{stem}.{}.{kind}", self.name));
        let failed = |error: &dyn std::fmt::Display| TableError::Write {
            path: path.clone(),
            reason: error.to_string(),
        };
        let path = std::path::absolute(&path).map_err(|error| failed(&error))?;
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let mut table = self.of_seed(seed);
        if matches!(self.rows, Rows::Files { .. }) {
            table.file = Some(table.write_files(&path.with_extension("")).map_err(|error| failed(&error))?);
            return Ok(table);
        }
        // Written atomically: a service of another Tare may be reading it.
        let beside = path.with_extension("new");
        let file = std::fs::File::create(&beside).map_err(|error| failed(&error))?;
        table.write(io::BufWriter::new(file)).map_err(|error| failed(&error))?;
        std::fs::rename(&beside, &path).map_err(|error| failed(&error))?;
        table.file = Some(path);
        Ok(table)
    }

    /// Writes each file atomically.
    fn write_files(&self, folder: &Path) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        for row in 0..self.count() {
            let [name, content] =
                <[String; 2]>::try_from(self.row(row)).map_err(|_| io::ErrorKind::InvalidData)?;
            tare_base::whole::write(&folder.join(name), content)?;
        }
        Ok(folder.to_owned())
    }
}

/// Whether a placeholder can name this column.
pub(crate) fn is_column(name: &str) -> bool {
    !name.is_empty() && !name.contains(|character: char| character.is_control() || "{}".contains(character))
}

/// The message without its prefix.
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

/// Omits the content.
impl std::fmt::Debug for Cells {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cells({} in {} bytes)", self.ends.len(), self.text.len())
    }
}

/// The column as written in a contract.
impl std::fmt::Display for DrawnColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.table.name, self.table.columns[self.column])
    }
}
