//! Numbers as tools print them.

use serde_json::Value;
use tare_load::units::parse_duration;

/// `23.22ms`, `665us`, `1.12 s`, in nanoseconds. A number without a unit is in seconds.
pub(super) fn time_ns(text: &str) -> Option<f64> {
    let text = text.trim().replace(['µ', 'μ'], "u");
    let text = text
        .strip_suffix("secs")
        .or_else(|| text.strip_suffix("sec"))
        .map_or(text.clone(), |number| format!("{number}s"));
    parse_duration(&text).ok().map(|time| time.as_nanos() as f64)
}

/// A number that is alone, or a number with `%` or `,` behind it.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches(['%', ',']);
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `120.5k`, as wrk and bombardier print a rate.
pub(super) fn rate(text: &str) -> Option<f64> {
    let scales = [("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let scaled =
        scales.iter().find_map(|(unit, scale)| Some(number(text.trim().strip_suffix(unit)?)? * scale));
    scaled.or_else(|| number(text))
}

/// The number under this key, which may be written as text.
pub(super) fn at(value: &Value, key: &str) -> Option<f64> {
    match value.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number(text),
        _ => None,
    }
}

/// The text under this key.
pub(super) fn text_at<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// The time under this key, written with its unit.
pub(super) fn time_at_ns(value: &Value, key: &str) -> Option<f64> {
    time_ns(text_at(value, key)?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(["99.95%", "12,", "nan"].map(number), [Some(99.95), Some(12.0), None]);
    }
}
