//! The visible parts of a table in every format: columns with a value in some row, common values of all rows,
//! and sentences, which do not fit into a column.

use super::visible;
use crate::document::{Column, Extra, Table, Unit, Value};

/// The number of letters up to which a text counts as a word instead of a sentence.
const SHORT_LETTERS_MAX: usize = 32;

/// The columns of a table by their presentation, as indices of the table.
#[derive(Debug)]
pub(crate) struct Layout<'t> {
    pub(crate) table: &'t Table,
    /// The column that names a row.
    pub(crate) name: Option<usize>,
    /// The columns side by side, including the name.
    pub(crate) columns: Vec<usize>,
    /// Columns that are shown once, because all rows have the same value.
    pub(crate) alike: Vec<usize>,
    /// Columns whose sentences are shown apart from the figures of a row.
    pub(crate) sentences: Vec<usize>,
}

impl<'t> Layout<'t> {
    pub(crate) fn of(table: &'t Table) -> Layout<'t> {
        let is_known = |place: &usize| !table.columns[*place].hidden && !table.is_unknown(*place);
        let known: Vec<usize> = (0..table.columns.len()).filter(is_known).collect();
        let is_text = |place: &usize| table.columns[*place].unit == Unit::Text;
        let name = known.iter().copied().find(is_text);
        let is_same = |place: &usize| match table.columns[*place].unit.is_numeric() {
            true => table.columns[*place].extra == Extra::IfAlike && table.is_alike_where_known(*place),
            false => Some(*place) != name && table.is_alike(*place),
        };
        let (alike, rest): (Vec<usize>, Vec<usize>) = known.into_iter().partition(is_same);
        let is_sentence = |place: &usize| Some(*place) != name && has_sentences(table, *place);
        let (sentences, columns) = rest.into_iter().partition(is_sentence);
        Layout { table, name, columns, alike, sentences }
    }

    /// Whether its rows contain figures, and not only words.
    pub(crate) fn has_figures(&self) -> bool {
        self.columns.iter().any(|place| self.column(*place).unit.is_numeric())
    }

    /// Whether a row has sentences instead of figures.
    pub(crate) fn is_without_figures(&self, row: &[Value]) -> bool {
        let figures = self.columns.iter().filter(|place| self.column(**place).unit.is_numeric());
        self.has_figures()
            && self.said(row).next().is_some()
            && figures.filter_map(|place| row.get(*place)).all(|value| *value == Value::None)
    }

    /// The sentences of a row, each with the title of its column.
    pub(crate) fn said<'a>(&'a self, row: &'a [Value]) -> impl Iterator<Item = (&'t str, &'a str)> + 'a {
        self.sentences.iter().filter_map(move |place| {
            let text = row.get(*place)?.text().filter(|text| !text.is_empty())?;
            Some((self.column(*place).title.as_str(), text))
        })
    }

    /// `language: rust, style: framework`; `None` if no column has a common value.
    pub(crate) fn alike(&self) -> Option<String> {
        let shown = |place: usize| {
            let mut values = self.table.rows.iter().filter_map(|row| row.get(place));
            values.find(|value| **value != Value::None).unwrap_or(&Value::None)
        };
        let each = self.alike.iter().map(|place| {
            let column = self.column(*place);
            format!("{}: {}", column.title, column.show(shown(*place)))
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| each.join(", "))
    }

    pub(crate) fn name(&self, row: &[Value]) -> String {
        self.name.map_or_else(String::new, |place| cell(self.table, row, place))
    }

    /// The state of a row, such as `failed` or `left out`, if there is such a column.
    pub(crate) fn state<'a>(&self, row: &'a [Value]) -> Option<&'a Value> {
        let place = self.table.place("state").filter(|place| !self.sentences.contains(place))?;
        row.get(place).filter(|state| state.text().is_some())
    }

    /// Whether a row is the reference, in a table that marks it.
    pub(crate) fn is_reference(&self, row: &[Value]) -> bool {
        self.flag(row, "is_reference")
    }

    fn flag(&self, row: &[Value], key: &str) -> bool {
        self.table.place(key).and_then(|place| row.get(place)) == Some(&Value::Flag(true))
    }

    /// For each row the best and the worst rank that it may have; `None` without ranks.
    pub(crate) fn ranks(&self) -> Option<Vec<Option<[usize; 2]>>> {
        let [best, worst] = [self.table.place("rank_best")?, self.table.place("rank_worst")?];
        let rank = |row: &[Value], place: usize| row.get(place)?.number().map(|rank| rank as usize);
        let of = |row: &Vec<Value>| Some([rank(row, best)?, rank(row, worst)?]);
        let ranks: Vec<_> = self.table.rows.iter().map(of).collect();
        ranks.iter().any(Option::is_some).then_some(ranks)
    }

    pub(crate) fn column(&self, place: usize) -> &'t Column {
        &self.table.columns[place]
    }
}

/// Whether a column contains sentences. Filter values are words, however long, and warnings are sentences,
/// however short.
pub(crate) fn has_sentences(table: &Table, place: usize) -> bool {
    let column = &table.columns[place];
    let is_text = column.unit == Unit::Text && !column.facet;
    let mut texts = table.rows.iter().filter_map(|row| row.get(place)?.text());
    is_text && texts.any(|text| column.key == "warnings" || is_long(text))
}

/// Whether the text is longer than a word or two.
pub(crate) fn is_long(text: &str) -> bool {
    text.chars().nth(SHORT_LETTERS_MAX).is_some()
}

/// A value for people, in one line.
pub(crate) fn cell(table: &Table, row: &[Value], place: usize) -> String {
    let value = row.get(place).unwrap_or(&Value::None);
    visible(&table.columns[place].show(value)).replace('\n', " ")
}

/// The interval of a value, if both bounds are known.
pub(crate) fn interval(table: &Table, row: &[Value], place: usize) -> Option<String> {
    let (low, high) = ends(table, row, place)?;
    Some(table.columns[place].unit.show_interval(low, high))
}

/// The bounds of the interval of a value, if both are known.
pub(crate) fn ends(table: &Table, row: &[Value], place: usize) -> Option<(f64, f64)> {
    let [low, high] = table.columns[place].interval.as_ref()?;
    row.get(place)?.number()?;
    let end = |key: &str| row.get(table.place(key)?)?.number();
    Some((end(low)?, end(high)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::fixture::interleaved;

    #[test]
    fn columns_are_sorted_by_what_becomes_of_them() {
        let mut section = interleaved().sections.remove(0);
        let table = section.table.as_mut().unwrap();
        let state = table.place("state").unwrap();
        let titles = |table: &Table, places: &[usize]| {
            places.iter().map(|place| table.columns[*place].key.clone()).collect::<Vec<_>>()
        };
        let layout = Layout::of(table);
        assert_eq!(layout.name(&table.rows[0]), "raw-socket");
        assert!(titles(table, &layout.sentences).is_empty());
        assert!(titles(table, &layout.columns).contains(&"state".to_owned()));
        table.rows.iter_mut().for_each(|row| row[state] = "measured".into());
        assert_eq!(Layout::of(table).alike().as_deref(), Some("State: measured"));
        table.rows[2][state] = "failed: its answer was wrong in every one of its bytes".into();
        let layout = Layout::of(table);
        assert_eq!(titles(table, &layout.sentences), ["state"]);
        assert!(layout.is_without_figures(&table.rows[2]) && !layout.is_without_figures(&table.rows[0]));
    }
}
