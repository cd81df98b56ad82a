//! The document as a page contains it: each table by its columns instead of its rows. In a column, values repeat or
//! rise in equal steps; written so, the slices of a run are a third as long. `web/src/data.js` makes rows of them again.

use serde_json::{Value as Json, json, to_value};

use crate::document::{Document, Table};

/// The document, whose tables have `count` rows, and `packed` columns of them, instead of `rows`.
pub(super) fn document(document: &Document) -> Json {
    // It contains only strings and finite numbers, which JSON can represent.
    let mut written = to_value(document).unwrap_or_default();
    let sections = written["sections"].as_array_mut().into_iter().flatten();
    for (section, of) in sections.zip(&document.sections) {
        let (Some(table), Some(of)) = (section["table"].as_object_mut(), &of.table) else { continue };
        let rows =
            table.remove("rows").and_then(|rows| serde_json::from_value(rows).ok()).unwrap_or_default();
        table.insert("count".to_owned(), of.rows.len().into());
        table.insert("packed".to_owned(), columns(of, rows).into());
    }
    written
}

fn columns(table: &Table, rows: Vec<Vec<Json>>) -> Vec<Json> {
    let mut columns: Vec<Vec<Json>> = vec![Vec::with_capacity(rows.len()); table.columns.len()];
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns.into_iter().map(column).collect()
}

/// The shortest of its forms; texts are numbered first.
fn column(values: Vec<Json>) -> Json {
    let plain = shortest(&values);
    if !values.iter().any(Json::is_string) {
        return plain;
    }
    let mut words: Vec<&Json> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let numbers = values.iter().map(|value| {
        let place = *places.entry(value).or_insert_with(|| {
            words.push(value);
            words.len() - 1
        });
        Json::from(place)
    });
    let of = shortest(&numbers.collect::<Vec<_>>());
    shorter(plain, json!({ "words": words, "of": of }))
}

/// The values as they are, in runs of equal ones, or of whole numbers in runs of equal steps.
fn shortest(values: &[Json]) -> Json {
    let plain = shorter(values.into(), json!({ "runs": runs(values.iter().cloned()) }));
    let whole: Option<Vec<i64>> = values.iter().map(Json::as_i64).collect();
    match whole.as_deref() {
        Some([first, rest @ ..]) => {
            let befores = std::iter::once(first).chain(rest);
            let steps: Option<Vec<i64>> =
                rest.iter().zip(befores).map(|(now, before)| now.checked_sub(*before)).collect();
            let Some(steps) = steps else { return plain };
            shorter(plain, json!({ "from": first, "steps": runs(steps.into_iter().map(Json::from)) }))
        }
        _ => plain,
    }
}

/// Each value behind the number of times that it follows itself.
fn runs(values: impl Iterator<Item = Json>) -> Vec<Json> {
    let mut runs: Vec<(usize, Json)> = Vec::new();
    for value in values {
        match runs.last_mut() {
            Some((count, last)) if *last == value => *count += 1,
            _ => runs.push((1, value)),
        }
    }
    runs.into_iter().flat_map(|(count, value)| [count.into(), value]).collect()
}

fn shorter(one: Json, other: Json) -> Json {
    if other.to_string().len() < one.to_string().len() { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed<const N: usize>(values: [impl Into<Json>; N]) -> Json {
        column(values.map(Into::into).into())
    }

    #[test]
    fn a_column_has_its_shortest_form() {
        assert_eq!(packed([6683.65, 6890.77]), json!([6683.65, 6890.77]));
        assert_eq!(packed([false; 9]), json!({ "runs": [9, false] }));
        let rounds = [101, 102, 103, 104, 105, 106, 107, 103, 104, 105, 106, 107, 108];
        assert_eq!(packed(rounds), json!({ "from": 101, "steps": [6, 1, 1, -4, 5, 1] }));
        let names = ["hyper", "axum", "hyper", "axum", "axum", "hyper"];
        assert_eq!(packed(names), json!({ "words": ["hyper", "axum"], "of": [0, 1, 0, 1, 1, 0] }));
        assert_eq!(packed(["hyper"; 8]), json!({ "runs": [8, "hyper"] }));
        assert_eq!(packed(["a", "b"]), json!(["a", "b"]));
        assert_eq!(column(Vec::new()), json!([]));
    }

    #[test]
    fn whole_numbers_and_others_stay_what_they_are() {
        let mixed = [json!(1), json!(1.0), Json::Null, json!("1")];
        assert_eq!(column(mixed.to_vec()), Json::Array(mixed.to_vec()));
        assert_eq!(packed([i64::MIN, i64::MAX]), json!([i64::MIN, i64::MAX]));
    }
}
