//! httperf's text. Its times are rounded to a tenth of a millisecond.

use super::{Latency, Reading, after, before, behind, complaints};

const STEP_NS: f64 = 1e5;

pub(super) fn read(text: &str) -> Result<Reading, &'static str> {
    let total = behind(text, "Total: ").ok_or("\"Total:\"")?;
    let seconds = after(total, "test-duration ").ok_or("\"test-duration\"")?;
    let status = behind(text, "Reply status: ").ok_or("\"Reply status:\"")?;
    let class = |class: &str| after(status, class).unwrap_or(0.0) as u64;
    let answered = class("2xx=").saturating_add(class("3xx="));
    let bad = class("4xx=").saturating_add(class("5xx="));
    let errors: Vec<&str> =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("Errors: ")).collect();
    let errors = errors.join(" ");
    let error = |word: &str| after(&errors, word).unwrap_or(0.0) as u64;
    let classes = [
        ("client-timo", error("client-timo ")),
        ("socket-timo", error("socket-timo ")),
        ("connrefused", error("connrefused ")),
        ("connreset", error("connreset ")),
        ("fd-unavail", error("fd-unavail ")),
        ("addrunavail", error("addrunavail ")),
        ("ftab-full", error("ftab-full ")),
        ("other", error("other ")),
        ("status", bad),
    ];
    Ok(Reading {
        answered,
        failed: error("total ").saturating_add(bad),
        complaints: complaints(&classes),
        per_second: if seconds > 0.0 { answered as f64 / seconds } else { 0.0 },
        latency: Latency { mean_ns: mean(text), mean_step_ns: STEP_NS, ..Latency::default() },
        descriptors_lacking: error("fd-unavail "),
    })
}

/// The sum of the times from the request to the first byte of the reply, and from there to the last.
fn mean(text: &str) -> Option<f64> {
    let line = behind(text, "Reply time [ms]: ")?;
    let (response, transfer) = (before(line, " transfer")?, after(line, "transfer ")?);
    Some((response + transfer) * 1e6)
}

#[cfg(test)]
pub(super) const REAL: &str = include_str!("recorded/httperf.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_output() {
        insta::assert_debug_snapshot!(read(REAL).unwrap());
    }

    #[test]
    fn one_that_was_refused() {
        let reading = read(include_str!("recorded/httperf-refused.txt")).unwrap();
        assert_eq!(
            (reading.answered, reading.failed, reading.complaints.as_str()),
            (0, 10, "10 connrefused")
        );
    }

    #[test]
    fn connections_without_a_descriptor_are_known() {
        let reading = read(&REAL.replace("fd-unavail 0", "fd-unavail 7")).unwrap();
        assert_eq!((reading.descriptors_lacking, reading.complaints.as_str()), (7, "7 fd-unavail"));
    }
}
