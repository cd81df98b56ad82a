//! The values of the placeholders within one exchange: made when they are met first, and the same from then on.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use tare_load::sequence::Captured;

use super::{Kind, Placeholder, blob};

/// The length of the longest label.
pub(crate) const LABEL_LENGTH_MAX: usize = 24;
const TEXT_LENGTH_MAX: usize = 64;
const LABEL_CHARACTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const PHRASE_LENGTH_MAX: usize = 24;
/// Each of them must be percent-encoded in a path, and decoded by whoever reads it.
const PHRASE_CHARACTERS: [char; 4] = [' ', '%', 'é', '+'];

/// The values of the placeholders within one exchange.
#[derive(Debug)]
pub struct Values<'r, R> {
    rng: &'r mut R,
    label_length: Option<usize>,
    named: BTreeMap<String, String>,
    /// The row of each table.
    drawn: BTreeMap<String, Vec<String>>,
    /// The texts of sets of rows.
    rows: BTreeMap<String, String>,
    /// Of the row that is made; 0 where none is.
    row_number: u64,
}

impl<'r, R: Rng> Values<'r, R> {
    /// Values from `rng`; labels have `label_length` characters, or a random number from 1 to 24 of them.
    pub(crate) fn new(rng: &'r mut R, label_length: Option<usize>) -> Values<'r, R> {
        Values {
            rng,
            label_length,
            named: BTreeMap::new(),
            drawn: BTreeMap::new(),
            rows: BTreeMap::new(),
            row_number: 0,
        }
    }

    /// The values of a row with this number.
    pub(in crate::contract) fn of_row(rng: &'r mut R, row_number: u64) -> Values<'r, R> {
        Values { row_number, ..Values::new(rng, None) }
    }

    /// With the values of earlier answers.
    pub(crate) fn with(mut self, captured: &Captured) -> Values<'r, R> {
        self.named.extend(captured.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    pub(super) fn value(&mut self, placeholder: &Placeholder) -> String {
        let known = if placeholder.kind == Kind::Rows { &self.rows } else { &self.named };
        if let Some(value) = placeholder.name.as_ref().and_then(|name| known.get(name)) {
            return value.clone();
        }
        let value = self.invent(&placeholder.kind);
        if let Some(name) = &placeholder.name {
            self.named.insert(name.clone(), value.clone());
        }
        value
    }

    pub(super) fn invent(&mut self, kind: &Kind) -> String {
        match kind {
            // One that is not captured can only be asked for to be refused.
            Kind::Label | Kind::Captured => {
                let length = self.label_length.unwrap_or_else(|| self.rng.random_range(1..=LABEL_LENGTH_MAX));
                let character = |_| LABEL_CHARACTERS[self.rng.random_range(0..LABEL_CHARACTERS.len())];
                (0..length).map(character).map(char::from).collect()
            }
            Kind::Number(range) => self.rng.random_range(range.clone()).to_string(),
            Kind::Phrase => self.phrase(),
            Kind::Env(secret) => secret.value.clone().unwrap_or_default(),
            Kind::Cell(cell) => self.cell(cell.table.name(), cell.column, |rng| cell.table.draw(rng)),
            Kind::Row => self.row_number.to_string(),
            Kind::Bytes(count) => ('a'..='z').cycle().take(*count).collect(),
            Kind::Random(count) => blob::draw(*count, self.rng),
            Kind::Computed(computed) => computed.value(self),
            // Known by its name, where the answer has such rows.
            Kind::Rows => String::new(),
            Kind::Text => {
                let length = self.rng.random_range(1..=TEXT_LENGTH_MAX);
                (0..length).map(|_| self.text_character()).collect()
            }
        }
    }

    /// The value of a name; empty if there is none.
    pub(super) fn known(&self, name: &str) -> String {
        self.named.get(name).cloned().unwrap_or_default()
    }

    /// Puts a row in the place of the one that would be drawn.
    pub(in crate::contract) fn set_row(&mut self, table: &str, cells: Vec<String>) {
        self.drawn.insert(table.to_owned(), cells);
    }

    /// The row of this table, if there is one, which the next use of the table draws again.
    pub(in crate::contract) fn take_row(&mut self, table: &str) -> Option<Vec<String>> {
        self.drawn.remove(table)
    }

    /// Gives a set of rows its text.
    pub(in crate::contract) fn set_rows(&mut self, name: &str, text: String) {
        self.rows.insert(name.to_owned(), text);
    }

    /// Of one row, wherever the table stands in the exchange.
    pub(super) fn cell(
        &mut self,
        table: &str,
        column: usize,
        draw: impl FnOnce(&mut R) -> Vec<String>,
    ) -> String {
        if let Some(row) = self.drawn.get(table) {
            return row[column].clone();
        }
        let row = draw(self.rng);
        let value = row[column].clone();
        self.drawn.insert(table.to_owned(), row);
        value
    }

    /// A label, with a character that must be encoded in the place of one of its own.
    fn phrase(&mut self) -> String {
        let length = self.rng.random_range(1..=PHRASE_LENGTH_MAX);
        let encoded = self.rng.random_range(0..length);
        let mut character = |place| match place == encoded || self.rng.random_range(0..8) == 0 {
            true => PHRASE_CHARACTERS[self.rng.random_range(0..PHRASE_CHARACTERS.len())],
            false => char::from(LABEL_CHARACTERS[self.rng.random_range(0..LABEL_CHARACTERS.len())]),
        };
        (0..length).map(&mut character).collect()
    }

    /// Not `"` and `\`, which JSON escapes. `<`, `>` and `&`, which some escape although they need not, do come.
    fn text_character(&mut self) -> char {
        loop {
            let character = char::from(self.rng.random_range(b' '..=b'~'));
            if !matches!(character, '"' | '\\') {
                return character;
            }
        }
    }
}
