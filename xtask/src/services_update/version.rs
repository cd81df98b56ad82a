//! The common properties of versions and dates in all ecosystems.

use jiff::civil::Date;

/// The numbers in a version, which define the order of releases.
pub(super) fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Whether the registry has a newer release. Its newest may be older than a pinned major version.
pub(super) fn is_newer(newest: &str, used: &str) -> bool {
    numbers(newest) > numbers(used)
}

/// The day of a timestamp such as `2026-04-14T07:55:20Z`.
pub(super) fn day(timestamp: &str) -> Option<Date> {
    timestamp.get(..10)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_is_a_matter_of_numbers() {
        for (newest, used, newer) in [
            ("1.10.0", "1.9.9", true),
            ("1.9.9", "1.9.9", false),
            ("4.22.3", "5.3.0", false),
            ("4.2.21.Final", "4.2.20.Final", true),
            ("1:1.22.1-2", "1:1.22.1-1", true),
            ("0.11.4+ds-1+deb12u1", "0.11.4+ds-1+deb12u1", false),
        ] {
            assert_eq!(is_newer(newest, used), newer, "{newest} {used}");
        }
    }

    #[test]
    fn a_day_is_the_first_ten_characters() {
        assert_eq!(day("2026-04-14T07:55:20Z").unwrap().to_string(), "2026-04-14");
        assert_eq!([day("2026-4-14"), day(""), day("14 April 2026")], [None, None, None]);
    }
}
