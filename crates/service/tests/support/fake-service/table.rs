//! The table that the service was given: items by their numbers, from the CSV file that `DATA_ITEMS` names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// How a service finds it.
const VARIABLE: &str = "DATA_ITEMS";
/// Names the rows.
const KEY: &str = "id";

/// Rows by their numbers, as they are answered.
#[derive(Debug, Default)]
pub(crate) struct Items(BTreeMap<u64, Value>);

impl Items {
    /// Those of the environment; empty if it names no file.
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

    /// The row of this number.
    pub(crate) fn get(&self, id: &str) -> Option<String> {
        self.0.get(&id.parse().ok()?).map(Value::to_string)
    }

    /// The one of the least number.
    pub(crate) fn first(&self) -> Option<String> {
        self.0.values().next().map(Value::to_string)
    }
}
