//! The values of the placeholders in one exchange: each is drawn on first use and then stays the same.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use tare_load::sequence::Captured;

use super::{Placeholder, PlaceholderKind, blob};

/// The length of the longest label.
pub const LABEL_LENGTH_MAX: usize = 24;
const TEXT_LENGTH_MAX: usize = 64;
const LABEL_CHARACTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const PHRASE_LENGTH_MAX: usize = 24;
/// Characters that must be percent-encoded in a path.
const PHRASE_CHARACTERS: [char; 4] = [' ', '%', 'é', '+'];

/// The values of the placeholders within one exchange.
#[derive(Debug)]
pub struct Values<'r, R> {
    rng: &'r mut R,
    label_length: Option<usize>,
    named: BTreeMap<String, String>,
    /// The drawn row of each table.
    drawn: BTreeMap<String, Vec<String>>,
    /// The texts of row sets.
    rows: BTreeMap<String, String>,
    /// Number of the generated row; 0 outside a table.
    row_number: u64,
}

impl<'r, R: Rng> Values<'r, R> {
    /// Draws from `rng`. Labels have `label_length` characters; default: a random number from 1 to 24.
    pub fn new(rng: &'r mut R, label_length: Option<usize>) -> Values<'r, R> {
        Values {
            rng,
            label_length,
            named: BTreeMap::new(),
            drawn: BTreeMap::new(),
            rows: BTreeMap::new(),
            row_number: 0,
        }
    }

    /// Values for the table row with this number.
    pub(crate) fn of_row(rng: &'r mut R, row_number: u64) -> Values<'r, R> {
        Values { row_number, ..Values::new(rng, None) }
    }

    /// Adds values captured from earlier answers.
    pub fn with(mut self, captured: &Captured) -> Values<'r, R> {
        self.named.extend(captured.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    pub(super) fn value(&mut self, placeholder: &Placeholder) -> String {
        let known = if placeholder.kind == PlaceholderKind::Rows { &self.rows } else { &self.named };
        if let Some(value) = placeholder.name.as_ref().and_then(|name| known.get(name)) {
            return value.clone();
        }
        let value = self.invent(&placeholder.kind);
        if let Some(name) = &placeholder.name {
            self.named.insert(name.clone(), value.clone());
        }
        value
    }

    pub(super) fn invent(&mut self, kind: &PlaceholderKind) -> String {
        match kind {
            // A missing captured value occurs only in requests that must be rejected.
            PlaceholderKind::Label | PlaceholderKind::Captured => {
                let length = self.label_length.unwrap_or_else(|| self.rng.random_range(1..=LABEL_LENGTH_MAX));
                let character = |_| LABEL_CHARACTERS[self.rng.random_range(0..LABEL_CHARACTERS.len())];
                (0..length).map(character).map(char::from).collect()
            }
            PlaceholderKind::Number(range) => self.rng.random_range(range.clone()).to_string(),
            PlaceholderKind::Phrase => self.phrase(),
            PlaceholderKind::Env(secret) => secret.value.clone().unwrap_or_default(),
            PlaceholderKind::Cell(cell) => {
                self.cell(cell.table.name(), cell.column, |rng| cell.table.draw(rng))
            }
            PlaceholderKind::Row => self.row_number.to_string(),
            PlaceholderKind::Bytes(count) => ('a'..='z').cycle().take(*count).collect(),
            PlaceholderKind::Random(count) => blob::draw(*count, self.rng),
            PlaceholderKind::Computed(computed) => computed.value(self),
            // The text of a row set is known by its name in answers.
            PlaceholderKind::Rows => String::new(),
            PlaceholderKind::Text => {
                let length = self.rng.random_range(1..=TEXT_LENGTH_MAX);
                (0..length).map(|_| self.text_character()).collect()
            }
        }
    }

    /// The value of a name; empty if unknown.
    pub(super) fn known(&self, name: &str) -> String {
        self.named.get(name).cloned().unwrap_or_default()
    }

    /// Uses this row instead of a drawn one.
    pub(crate) fn set_row(&mut self, table: &str, cells: Vec<String>) {
        self.drawn.insert(table.to_owned(), cells);
    }

    /// Removes the current row of this table, so that the next use draws a new one.
    pub(crate) fn take_row(&mut self, table: &str) -> Option<Vec<String>> {
        self.drawn.remove(table)
    }

    /// Sets the text of a row set.
    pub(crate) fn set_rows(&mut self, name: &str, text: String) {
        self.rows.insert(name.to_owned(), text);
    }

    /// A cell of the exchange's row of this table, which is drawn on first use.
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

    /// A label in which at least one character needs percent-encoding.
    fn phrase(&mut self) -> String {
        let length = self.rng.random_range(1..=PHRASE_LENGTH_MAX);
        let encoded = self.rng.random_range(0..length);
        let mut character = |place| match place == encoded || self.rng.random_range(0..8) == 0 {
            true => PHRASE_CHARACTERS[self.rng.random_range(0..PHRASE_CHARACTERS.len())],
            false => char::from(LABEL_CHARACTERS[self.rng.random_range(0..LABEL_CHARACTERS.len())]),
        };
        (0..length).map(&mut character).collect()
    }

    /// Excludes `"` and `\`, which JSON escapes. Includes `<`, `>`, `&`, which some escape needlessly.
    fn text_character(&mut self) -> char {
        loop {
            let character = char::from(self.rng.random_range(b' '..=b'~'));
            if !matches!(character, '"' | '\\') {
                return character;
            }
        }
    }
}
