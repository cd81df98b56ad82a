//! The table given to the service: items by number, from the CSV file named by `DATA_ITEMS`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The variable with the file's path.
const VARIABLE: &str = "DATA_ITEMS";
/// The key column.
const KEY: &str = "id";

/// JSON rows by number.
#[derive(Debug, Default)]
pub(crate) struct Items(BTreeMap<u64, Value>);

impl Items {
    /// The items of the environment; empty without a file.
    pub(crate) fn given() -> Result<Self, String> {
        let Ok(path) = std::env::var(VARIABLE) else { return Ok(Self::default()) };
        let wrong = |error: csv::Error| format!("{VARIABLE} is {path:?}: {error}");
        let rows = csv::Reader::from_path(&path).map_err(wrong)?.into_deserialize::<Map<String, Value>>();
        let mut items = BTreeMap::new();
        for row in rows {
            let row = row.map_err(wrong)?;
            let id = row
                .get(KEY)
                .and_then(Value::as_u64)
                .ok_or_else(|| format!("{path}: a row without a number"))?;
            items.insert(id, Value::Object(row));
        }
        Ok(Self(items))
    }

    /// The row with this number.
    pub(crate) fn get(&self, id: &str) -> Option<String> {
        self.0.get(&id.parse().ok()?).map(Value::to_string)
    }

    /// The row with the lowest number.
    pub(crate) fn first(&self) -> Option<String> {
        self.0.values().next().map(Value::to_string)
    }
}
