//! Line numbers of a journal by message, in bounded memory.

use std::collections::BTreeMap;

/// How many lines a reader is shown before "and N more".
const SHOWN_MAX: usize = 3;
/// Most distinct reasons. Damaged lines may have a different error message each.
const REASONS_MAX: usize = 20;

/// Numbers of lines, from 1: the first ones and the count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    first: Vec<usize>,
    count: usize,
}

/// Lines by message.
#[derive(Debug, Clone, Default)]
pub(super) struct ByReason {
    known: BTreeMap<String, Places>,
    others: Places,
}

impl Places {
    fn add(&mut self, line: usize) {
        self.count += 1;
        if self.first.len() < SHOWN_MAX {
            self.first.push(line);
        }
    }

    /// `lines 3, 7, 9 and 40 more`.
    pub(super) fn text(&self) -> String {
        let first: Vec<String> = self.first.iter().map(usize::to_string).collect();
        let more = match self.count - first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("line{} {}{more}", if self.count == 1 { "" } else { "s" }, first.join(", "))
    }
}

impl ByReason {
    pub(super) fn add(&mut self, reason: String, line: usize) {
        let is_one_too_many = self.known.len() >= REASONS_MAX && !self.known.contains_key(&reason);
        let places = if is_one_too_many { &mut self.others } else { self.known.entry(reason).or_default() };
        places.add(line);
    }

    /// Each reason with its lines, and last the lines of all other reasons.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Option<&str>, String)> {
        let known = self.known.iter().map(|(reason, places)| (Some(reason.as_str()), places.text()));
        known.chain((self.others.count > 0).then(|| (None, self.others.text())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_and_many_reasons_are_counted_and_few_are_named() {
        let mut lines = ByReason::default();
        (1..=2).for_each(|line| lines.add("it is torn".to_owned(), line));
        (3..1000).for_each(|line| lines.add(format!("it is number {line:04}"), line));
        let found: Vec<(Option<&str>, String)> = lines.iter().collect();
        assert_eq!(found.len(), REASONS_MAX + 1);
        assert_eq!(found[0], (Some("it is number 0003"), "line 3".to_owned()));
        assert!(found.contains(&(Some("it is torn"), "lines 1, 2".to_owned())));
        assert_eq!(found[REASONS_MAX], (None, "lines 22, 23, 24 and 975 more".to_owned()));
    }
}
