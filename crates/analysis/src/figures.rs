//! Formats numbers for people: three or four digits and a unit, or a word for a count.

/// A number and its unit, separate because an interval shows its unit once.
pub type Parts = (String, &'static str);

/// `183 k`, `1.24 M`, `512`.
pub fn rate(per_second: f64) -> String {
    joined(parts::rate(per_second))
}

/// `5.21 µs`, `44.0 ms`, `3.20 s`.
pub fn time(ns: f64) -> String {
    joined(parts::time(ns))
}

pub fn bytes(count: f64) -> String {
    joined(parts::bytes(count))
}

pub fn percent(ratio: f64) -> String {
    joined(parts::percent(ratio))
}

/// A change that its interval leaves possible: `up to 5.0%`. The interval of two blocks may end at a million times, which
/// excludes nothing.
pub fn up_to(most: f64) -> String {
    const USEFUL_MOST: f64 = 10.0;
    if most > USEFUL_MOST { "any size".to_owned() } else { format!("up to {}", percent(most)) }
}

/// A ratio as a multiple: `1.24x`.
pub fn times(ratio: f64) -> String {
    joined(parts::times(ratio))
}

/// A ratio as a change: `+3.1%`.
pub fn change(ratio: f64) -> String {
    joined(parts::change(ratio))
}

pub fn joined((digits, unit): Parts) -> String {
    digits + unit
}

/// Both ends of an interval, with a common unit once: `99.5 .. 104.7%`.
pub fn interval(low: Parts, high: Parts) -> String {
    let low = if low.1 == high.1 { low.0 } else { joined(low) };
    format!("{low} .. {}", joined(high))
}

/// The same functions with number and unit separate.
pub mod parts {
    use super::{Parts, digits};

    /// A number without a unit, such as a probability: integers in full, others with up to four digits.
    pub fn number(value: f64) -> Parts {
        let places = match value.abs() {
            _ if value.fract() == 0.0 => return (value.to_string(), ""),
            size if size >= 999.95 => 0,
            size if size >= 99.995 => 1,
            size if size >= 9.9995 => 2,
            size if size >= 0.999_95 => 3,
            size if size >= 0.099_995 => 4,
            size if size >= 0.009_999_5 => 5,
            size if size >= 0.000_999_95 => 6,
            _ => return (format!("{value:.1e}"), ""),
        };
        let digits = format!("{value:.places$}");
        let is_fraction = digits.contains('.');
        (if is_fraction { digits.trim_end_matches('0').trim_end_matches('.').to_owned() } else { digits }, "")
    }

    pub fn rate(per_second: f64) -> Parts {
        match per_second {
            value if value >= 999_500.0 => (digits(value / 1e6), " M"),
            value if value >= 999.5 => (digits(value / 1e3), " k"),
            value => (digits(value), ""),
        }
    }

    pub fn time(ns: f64) -> Parts {
        // Differences may be negative.
        if ns < 0.0 {
            let (digits, unit) = time(-ns);
            return (format!("-{digits}"), unit);
        }
        match ns {
            value if value >= 999.5e6 => (digits(value / 1e9), " s"),
            value if value >= 999.5e3 => (digits(value / 1e6), " ms"),
            value if value >= 999.5 => (digits(value / 1e3), " µs"),
            value => (digits(value), " ns"),
        }
    }

    pub fn bytes(count: f64) -> Parts {
        match count / 1024.0 {
            kib if kib >= 1023.5 * 1024.0 => (digits(kib / 1024.0 / 1024.0), " GiB"),
            kib if kib >= 1023.5 => (digits(kib / 1024.0), " MiB"),
            kib => (digits(kib), " KiB"),
        }
    }

    pub fn percent(ratio: f64) -> Parts {
        (format!("{:.1}", ratio * 100.0), "%")
    }

    pub fn times(ratio: f64) -> Parts {
        (digits(ratio), "x")
    }

    /// The interval of a few blocks may end at a million times, whose digits would mean nothing.
    pub fn change(ratio: f64) -> Parts {
        let percent = (ratio - 1.0) * 100.0;
        if percent > 10_000.0 {
            return ("> +10000".to_owned(), "%");
        }
        // Avoids "-0.0%".
        let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
        (format!("{percent:+.1}"), "%")
    }
}

/// Three significant digits, one for 0.
fn digits(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value if value > 0.0 && value < 0.099_5 => format!("{value:.3}"),
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
    fn a_unit_of_both_ends_is_written_once() {
        assert_eq!(interval(parts::percent(0.995), parts::percent(1.047)), "99.5 .. 104.7%");
        assert_eq!([time(-5_214.0), time(-12.0)], ["-5.21 µs", "-12.0 ns"]);
        assert_eq!(interval(parts::time(999e3), parts::time(2e6)), "999 µs .. 2.00 ms");
        assert_eq!([change(0.9996), change(0.9), change(1.031)], ["+0.0%", "-10.0%", "+3.1%"]);
        assert_eq!([change(11.0), change(94_034.0)], ["+1000.0%", "> +10000%"]);
    }

    #[test]
    fn a_number_has_four_digits_at_the_most_whatever_its_size() {
        let of = |value| joined(parts::number(value));
        assert_eq!([of(0.0), of(1.0), of(-12.0), of(40_000.0)], ["0", "1", "-12", "40000"]);
        assert_eq!([of(0.123_456_789), of(0.049_999), of(0.001_234)], ["0.1235", "0.05", "0.001234"]);
        assert_eq!(
            [of(1.234_567), of(98.765_4), of(1_234.6), of(-0.25)],
            ["1.235", "98.77", "1235", "-0.25"]
        );
        assert_eq!([of(0.000_123_4), of(1.2e-17)], ["1.2e-4", "1.2e-17"]);
    }
}
