//! Numbers as people read them: three or four digits and a unit, or a word for what was counted.

/// `183 k`, `1.24 M`, `512`.
pub fn rate(per_second: f64) -> String {
    match per_second {
        value if value >= 999_500.0 => format!("{} M", digits(value / 1e6)),
        value if value >= 999.5 => format!("{} k", digits(value / 1e3)),
        value => digits(value),
    }
}

/// `5.21 µs`, `44.0 ms`, `3.20 s`.
pub fn time(ns: f64) -> String {
    match ns {
        value if value >= 999.5e6 => format!("{} s", digits(value / 1e9)),
        value if value >= 999.5e3 => format!("{} ms", digits(value / 1e6)),
        value if value >= 999.5 => format!("{} µs", digits(value / 1e3)),
        value => format!("{} ns", digits(value)),
    }
}

/// `3.41 MiB`.
pub fn bytes(count: f64) -> String {
    match count / 1024.0 {
        kib if kib >= 1023.5 * 1024.0 => format!("{} GiB", digits(kib / 1024.0 / 1024.0)),
        kib if kib >= 1023.5 => format!("{} MiB", digits(kib / 1024.0)),
        kib => format!("{} KiB", digits(kib)),
    }
}

/// `29.5%`.
pub fn percent(ratio: f64) -> String {
    format!("{:.1}%", ratio * 100.0)
}

/// A ratio as a multiple: `1.24x`.
pub fn times(ratio: f64) -> String {
    format!("{}x", digits(ratio))
}

/// `1 block`, `3 blocks`: of what takes an "s" where there are several.
pub fn several(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Three significant digits, and one for nothing.
fn digits(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(
            [rate(182_934.0), rate(1_240_000.0), rate(512.3), rate(999.7), rate(0.0)],
            ["183 k", "1.24 M", "512", "1.00 k", "0"]
        );
        assert_eq!(
            [time(5_214.0), time(44e6), time(3.2e9), time(999.9)],
            ["5.21 µs", "44.0 ms", "3.20 s", "1.00 µs"]
        );
        assert_eq!(
            [bytes(3.41 * 1048576.0), bytes(2048.0), bytes(1048400.0)],
            ["3.41 MiB", "2.00 KiB", "1.00 MiB"]
        );
    }

    #[test]
    fn what_is_counted_has_its_number() {
        assert_eq!([0, 1, 2].map(|count| several(count, "block")), ["0 blocks", "1 block", "2 blocks"]);
    }
}
