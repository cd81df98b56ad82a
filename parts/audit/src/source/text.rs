//! Numbers and lines in the form that tools print.

use std::borrow::Cow;

use serde_json::Value;
use tare_base::units::parse_duration;
use tare_host::foreign;

/// A time, with the resolution of its printed form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Printed {
    pub(super) ns: f64,
    pub(super) step_ns: f64,
}

/// Other spellings of units. `msec` and `usec` end like the first.
const UNITS: [(&str, &str); 6] =
    [("sec", "s"), ("secs", "s"), ("seconds", "s"), ("min", "m"), ("minutes", "m"), ("hr", "h")];

/// Parses `23.22ms`, `665us`, `1.12 s`, `1m2.5s`. A number without a unit is in seconds.
pub(super) fn printed(text: &str) -> Option<Printed> {
    // A micro sign in another encoding was replaced.
    let text = text.trim().replace(['µ', 'μ', char::REPLACEMENT_CHARACTER], "u");
    if !text.is_ascii() {
        return None;
    }
    // oha has units of ten seconds and ten minutes: `0.3004 10 sec` is 3 s.
    let (text, scale) = match text.split_once(" 10 ") {
        Some((number, unit)) => (format!("{number} {unit}"), 10.0),
        None => (text, 1.0),
    };
    let usual = UNITS.iter().find_map(|(unit, usual)| Some(text.strip_suffix(unit)?.to_owned() + usual));
    let text = usual.unwrap_or(text);
    let ns = |text: &str| parse_duration(text).ok().map(|time| time.as_nanos() as f64 * scale);
    let unit_from = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let last =
        text[..unit_from].rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |place| place + 1);
    let digits = text[last..unit_from].split_once('.').map_or(0, |(_, fraction)| fraction.len());
    // The last unit, such as the seconds in `1m2.5s`, determines the resolution.
    let unit_ns = ns(&format!("1{}", &text[unit_from..]))?;
    let step_ns = unit_ns / 10_f64.powi(i32::try_from(digits).ok()?);
    Some(Printed { ns: ns(&text)?, step_ns })
}

/// The time in nanoseconds, without its resolution.
pub(super) fn time_ns(text: &str) -> Option<f64> {
    printed(text).map(|printed| printed.ns)
}

/// The text as a terminal shows it: without colours, and with a line for each state of a progress bar.
pub(super) fn shown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split('\u{1b}');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest =
            part.strip_prefix('[').map(|rest| rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic()));
        plain.push_str(rest.map_or(part, |rest| rest.get(1..).unwrap_or_default()));
    }
    let lines = plain.replace("\r\n", "\n").replace('\r', "\n");
    match foreign::visible(&lines) {
        Cow::Borrowed(_) => lines,
        Cow::Owned(visible) => visible,
    }
}

/// The text after `label` on its line.
pub(super) fn after<'a>(lines: &[&'a str], label: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| line.strip_prefix(label)).map(str::trim)
}

/// The words after `label`, on the line that begins with it.
pub(super) fn words<'a>(lines: &[&'a str], label: &str) -> Vec<&'a str> {
    after(lines, label).map(|rest| rest.split_whitespace().collect()).unwrap_or_default()
}

/// The number before a word: `12 threads and 400 connections` has 400 `connections`.
pub(super) fn before(line: &str, word: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_it = |found: &&str| *found == word || found.trim_end_matches([',', ';', ')']) == word;
    let place = words.iter().position(is_it)?;
    rate(words.get(place.checked_sub(1)?)?.trim_start_matches('('))
}

/// The number after a word: `connect 0, read 12` has 12 after `read`.
pub(super) fn behind(line: &str, word: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = words.iter().position(|found| found.trim_start_matches('(') == word)?;
    number(words.get(place + 1)?.trim_end_matches(')'))
}

/// Parses lines such as `99%    5.80ms` and `99.00% in 0.0053 secs`. Rows that hey cannot fill are named
/// `0%`.
pub(super) fn quantiles(lines: &[&str]) -> Vec<(f64, f64)> {
    let quantile = |line: &&str| {
        let (share, time) = line.split_once('%')?;
        // hey prints the percent sign twice.
        let time = time.trim_start_matches('%').trim().trim_start_matches("in ");
        Some((number(share).filter(|share| *share > 0.0)? / 100.0, time_ns(time)?))
    };
    lines.iter().filter_map(quantile).collect()
}

/// A number, optionally followed by `%` or `,`.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches(['%', ',']);
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A rate as wrk and bombardier print it: `120.5k`.
pub(super) fn rate(text: &str) -> Option<f64> {
    let scales = [("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let scaled =
        scales.iter().find_map(|(unit, scale)| Some(number(text.trim().strip_suffix(unit)?)? * scale));
    scaled.or_else(|| number(text))
}

/// The number under this key, which may be a string.
pub(super) fn at(value: &Value, key: &str) -> Option<f64> {
    match value.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number(text),
        _ => None,
    }
}

pub(super) fn text_at<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// The time with its unit under this key.
pub(super) fn time_at_ns(value: &Value, key: &str) -> Option<f64> {
    time_ns(text_at(value, key)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_the_step_of_its_last_digit() {
        let steps = ["23.22ms", "665us", "0.0042 secs", "1m2.5s", "4", "1.12"]
            .map(|text| printed(text).unwrap().step_ns);
        assert_eq!(steps, [10_000.0, 1000.0, 100_000.0, 1e8, 1e9, 1e7]);
    }

    #[test]
    fn what_a_terminal_obeys_is_not_in_a_text() {
        assert_eq!(
            shown("\u{1b}[32mrunning\u{1b}[0m 1%\rrunning 2%\r\ndone\u{1b}"),
            "running 1%\nrunning 2%\ndone"
        );
        assert_eq!(shown("\u{1b}[1"), "");
    }

    #[test]
    fn numbers_are_read_as_tools_print_them() {
        let times = ["23.22ms", "665us", "665µs", "1.12s", "0.0042 secs", "0.0042 sec", "1.50m", "x"];
        let read: Vec<Option<f64>> = times.into_iter().map(time_ns).collect();
        let (ms, s) = (1e6, 1e9);
        let expected = [23.22 * ms, 0.665 * ms, 0.665 * ms, 1.12 * s, 4.2 * ms, 4.2 * ms, 90.0 * s].map(Some);
        assert_eq!(read[..7], expected);
        assert_eq!(read[7], None);
        assert_eq!(
            ["56.20k", "1.5M", "88345.32", "-"].map(rate),
            [Some(56_200.0), Some(1.5e6), Some(88_345.32), None]
        );
        assert_eq!(
            ["1m2.5s", "2 min", "0.3004 10 sec", "4 msec", "", "s", "1.2.3ms", "-3ms"].map(time_ns),
            [Some(62.5 * s), Some(120.0 * s), Some(3.004 * s), Some(4.0 * ms), None, None, None, None]
        );
        assert_eq!(["99.95%", "12,", "nan"].map(number), [Some(99.95), Some(12.0), None]);
    }
}
