//! Checks whether the records of a run still give the figures of the document that was stored at its end:
//! another Tare may compute them differently. Figures are compared to the last digit, wherever they are.
//! Sentences, titles and new columns are not compared, because they may be improved.

use std::{collections::HashMap, io, path::Path};

use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use tare_bench::folder::FILE_BYTES_MAX;
use tare_host::foreign;

use crate::document::{Document, Table, Unit, Value};

/// The name of the stored document in its run folder.
pub const NAME: &str = "report.json";

/// Why there is nothing to compare with.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// The file does not exist or cannot be read: an interrupted run has none.
    #[error("cannot read {NAME}: {0}")]
    Io(#[from] io::Error),
    #[error("{NAME} is no report: {0}; `tare report RUN --format json` prints one")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct Kept {
    sections: Vec<KeptSection>,
}

#[derive(Deserialize)]
struct KeptSection {
    #[serde(deserialize_with = "today")]
    id: String,
    #[serde(default)]
    table: Option<KeptTable>,
}

#[derive(Deserialize)]
struct KeptTable {
    columns: Vec<KeptColumn>,
    rows: Vec<Vec<Json>>,
}

#[derive(Deserialize)]
struct KeptColumn {
    key: String,
    unit: String,
}

/// Maps the old name `tiers` of the section of ranks to the current one.
fn today<'de, D: Deserializer<'de>>(read: D) -> Result<String, D::Error> {
    let id = String::deserialize(read)?;
    Ok(match id.strip_prefix("tiers") {
        Some(load) => format!("ranks{load}"),
        None => id,
    })
}

/// The first figure that differs between the stored document and `document`, which was computed now; `None`
/// if all are the same.
///
/// # Errors
/// If no document was stored, or it cannot be read.
pub fn difference(run: &Path, document: &Document) -> Result<Option<String>, KeptError> {
    let kept: Kept = foreign::json(&foreign::read(&run.join(NAME), FILE_BYTES_MAX)?)?;
    Ok(kept.sections.iter().find_map(|section| {
        let is_figure = |column: &KeptColumn| column.unit != Unit::Text.name();
        let kept = section.table.as_ref().filter(|table| table.columns.iter().any(is_figure))?;
        let now =
            document.sections.iter().find(|now| now.id == section.id).and_then(|now| now.table.as_ref());
        let what = match now {
            Some(now) => of_table(kept, now)?,
            None => "is there no more".to_owned(),
        };
        Some(format!("section \"{}\": {what}", section.id))
    }))
}

fn of_table(kept: &KeptTable, now: &Table) -> Option<String> {
    if kept.rows.len() != now.rows.len() {
        return Some(format!("it had {} rows and has {}", kept.rows.len(), now.rows.len()));
    }
    // The first text of a row is its name; other texts repeat the figures.
    let name = kept.columns.iter().position(|column| column.unit == Unit::Text.name());
    // A table may be sorted otherwise; its rows are found by their names, if each has one of its own.
    let known = |kept: &[Json]| kept.get(name?)?.as_str().map(ToOwned::to_owned);
    let label = name.and_then(|name| now.place(&kept.columns[name].key));
    let places: HashMap<&str, usize> = now
        .rows
        .iter()
        .enumerate()
        .filter_map(|(row, values)| Some((values.get(label?)?.text()?, row)))
        .collect();
    let are_distinct = places.len() == now.rows.len();
    let row_of = |row: usize| {
        let found = known(&kept.rows[row]).and_then(|label| places.get(label.as_str()).copied());
        &now.rows[found.filter(|_| are_distinct).unwrap_or(row)]
    };
    let is_compared = |place: &usize| kept.columns[*place].unit != Unit::Text.name() || Some(*place) == name;
    (0..kept.columns.len()).filter(is_compared).find_map(|place| {
        let key = kept.columns[place].key.as_str();
        let Some(column) = now.place(key) else { return Some(format!("column \"{key}\" is there no more")) };
        let rows = kept.rows.iter().enumerate().map(|(row, kept)| (row, (kept, row_of(row))));
        rows.filter_map(|(row, (kept, now))| Some((row, kept.get(place)?, now.get(column)?)))
            .find(|(_, kept, now)| !is_same(kept, now))
            .map(|(row, kept, now)| format!("row {}, \"{key}\" was {kept} and is {}", row + 1, shown(now)))
    })
}

fn is_same(kept: &Json, now: &Value) -> bool {
    match now {
        Value::None | Value::Never => kept.is_null(),
        Value::Text(_) | Value::Sentences(_) | Value::Word(..) => kept.as_str() == now.text(),
        Value::Number(number) | Value::Bounded(number, _) | Value::Ranked(number, _) => {
            kept.as_f64() == Some(*number)
        }
        Value::Flag(flag) => kept.as_bool() == Some(*flag),
    }
}

fn shown(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::write::{fixture::interleaved, json::json};

    fn keep(document: &Document) -> tempfile::TempDir {
        let run = tempfile::tempdir().unwrap();
        fs::write(run.path().join(NAME), json(document)).unwrap();
        run
    }

    #[test]
    fn the_first_figure_that_is_another_is_named() {
        let kept = interleaved();
        let run = keep(&kept);
        let told = |document: &Document| difference(run.path(), document).unwrap();
        assert_eq!(told(&kept), None);
        let mut now = kept.clone();
        let table = now.sections[0].table.as_mut().unwrap();
        let place = table.place("cpu_ns").unwrap();
        table.rows[1][place] = Value::Number(5_214.500_000_1);
        let expected = "section \"ranks\": row 2, \"cpu_ns\" was 5214.5 and is 5214.5000001";
        assert_eq!(told(&now).as_deref(), Some(expected));
        now.sections[0].table.as_mut().unwrap().rows.pop();
        assert_eq!(told(&now).as_deref(), Some("section \"ranks\": it had 3 rows and has 2"));
        let path = run.path().join(NAME);
        let older = fs::read_to_string(&path).unwrap().replace("\"ranks\"", "\"tiers\"");
        fs::write(&path, older).unwrap();
        assert_eq!(told(&kept), None, "the name of the section of an older report");
        now.sections.remove(0);
        assert_eq!(told(&now).as_deref(), Some("section \"ranks\": is there no more"));
    }

    #[test]
    fn other_words_and_more_columns_are_no_difference() {
        let kept = interleaved();
        let run = keep(&kept);
        let mut now = kept.clone();
        now.answer = "put better".to_owned();
        let table = now.sections[0].table.as_mut().unwrap();
        let place = table.place("state").unwrap();
        table.rows.reverse();
        assert_eq!(difference(run.path(), &now).unwrap(), None, "sorted otherwise");
        let table = now.sections[0].table.as_mut().unwrap();
        table.rows.reverse();
        table.rows[2][place] = "another reason".into();
        table.columns.insert(0, crate::document::Column::new("place", "place", Unit::Count));
        table.rows.iter_mut().for_each(|row| row.insert(0, 7_u64.into()));
        assert_eq!(difference(run.path(), &now).unwrap(), None);
        assert!(matches!(difference(&run.path().join("gone"), &now), Err(KeptError::Io(_))));
        fs::write(run.path().join(NAME), "{\"rows\": []}").unwrap();
        assert!(matches!(difference(run.path(), &now), Err(KeptError::Json(_))));
    }
}
