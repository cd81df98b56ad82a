//! Checks that a database holds the values that answers claimed to have stored.

use std::collections::BTreeMap;

use super::{Backing, BackingError};
use tare_contract::{Changed, Contract, Request};

/// Most rows that a message names.
const NAMED_MAX: usize = 3;

impl Backing {
    /// The values that answers claimed since the last call but that are not stored, in words. Empty if all
    /// are stored, or if the request changes nothing.
    ///
    /// # Errors
    /// The database does not answer.
    pub fn not_stored(&mut self, request: &Request) -> Result<Vec<String>, BackingError> {
        let Some(column) = request.changed_column() else { return Ok(Vec::new()) };
        let changed = column.changes.take();
        let found = self.column(column.table, column.key, column.column)?;
        Ok(lost(&changed, &found, column.table, column.column))
    }

    /// [`Backing::not_stored`] for all requests of a load.
    ///
    /// # Errors
    /// The database does not answer.
    pub fn not_stored_of_load(&mut self, contract: &Contract) -> Result<Vec<String>, BackingError> {
        let each = contract.loaded().map(|request| self.not_stored(request));
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

fn lost(changed: &Changed, found: &BTreeMap<String, u64>, table: &str, column: &str) -> Vec<String> {
    let wrong = |(key, values): (&String, &Vec<u64>)| match found.get(key) {
        None => Some(format!("the row {key} of {table} is gone")),
        Some(value) if values.contains(value) => None,
        Some(value) => {
            let said: Vec<String> = values.iter().map(u64::to_string).collect();
            let said = said.join(" or ");
            Some(format!(
                "{column} of the row {key} of {table}: the answers said {said}, and {value} is stored"
            ))
        }
    };
    let mut wrong = changed.values.iter().filter_map(wrong);
    let named: Vec<String> = wrong.by_ref().take(NAMED_MAX).collect();
    let more = wrong.count();
    let more = (more > 0).then(|| format!("and {more} more of {} rows", changed.values.len()));
    named.into_iter().chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_no_answer_named_last_is_a_lost_update() {
        let values = BTreeMap::from([
            ("1".to_owned(), vec![7]),
            ("2".to_owned(), vec![8, 9]),
            ("3".to_owned(), vec![1]),
        ]);
        let changed = Changed { values };
        let found = |two, three| {
            BTreeMap::from([("1".to_owned(), 7), ("2".to_owned(), two), ("3".to_owned(), three)])
        };
        assert_eq!(lost(&changed, &found(9, 1), "world", "n"), [""; 0]);
        assert_eq!(
            lost(&changed, &found(7, 2), "world", "n"),
            [
                "n of the row 2 of world: the answers said 8 or 9, and 7 is stored",
                "n of the row 3 of world: the answers said 1, and 2 is stored"
            ]
        );
        assert_eq!(lost(&changed, &BTreeMap::new(), "world", "n").len(), 3);
    }
}
