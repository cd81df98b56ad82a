//! Counts of status codes.

use std::ops::AddAssign;

use serde::{Serialize, Serializer};

/// Responses by status code, including wrong ones. A load sees few different codes, and nearly always the
/// same one, so a linear search is fastest.
#[derive(Debug, Clone, Default)]
pub struct Statuses(Vec<(u16, u64)>);

impl Statuses {
    /// Counts one response.
    #[inline]
    pub fn add(&mut self, status: u16) {
        self.add_all(status, 1);
    }

    /// Each code that occurred, with its count, in ascending order.
    #[must_use]
    pub fn counts(&self) -> Vec<(u16, u64)> {
        let mut counts = self.0.clone();
        counts.sort_unstable();
        counts
    }

    #[inline]
    fn add_all(&mut self, status: u16, count: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == status) {
            Some((_, known)) => *known += count,
            None => self.0.push((status, count)),
        }
    }
}

impl PartialEq for Statuses {
    fn eq(&self, other: &Statuses) -> bool {
        self.counts() == other.counts()
    }
}

impl AddAssign<&Statuses> for Statuses {
    fn add_assign(&mut self, other: &Statuses) {
        other.0.iter().for_each(|&(status, count)| self.add_all(status, count));
    }
}

/// Collects codes with counts; the counts of a repeated code are added.
impl FromIterator<(u16, u64)> for Statuses {
    fn from_iter<I: IntoIterator<Item = (u16, u64)>>(counts: I) -> Statuses {
        let mut statuses = Statuses::default();
        counts.into_iter().for_each(|(status, count)| statuses.add_all(status, count));
        statuses
    }
}

/// `{"200": 10, "503": 1}`.
impl Serialize for Statuses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_counted_and_sorted_whatever_came_first() {
        let (mut one, mut other) = (Statuses::default(), Statuses::default());
        [503, 200, 200].into_iter().for_each(|status| one.add(status));
        [200, 503, 404].into_iter().for_each(|status| other.add(status));
        one += &other;
        assert_eq!(one.counts(), [(200, 3), (404, 1), (503, 2)]);
        assert_eq!(serde_json::to_string(&one).unwrap(), r#"{"200":3,"404":1,"503":2}"#);
        assert_ne!(one, other);
        assert_eq!(one.counts().into_iter().collect::<Statuses>(), one);
    }
}
