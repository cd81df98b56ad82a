//! wrk's text. Its `Requests/sec` is all answers by the time from its sleep to the end of its last thread.

use super::{Latency, Reading, after, before, behind, complaints, time};

pub(super) fn read(text: &str) -> Result<Reading, &'static str> {
    let per_second = behind(text, "Requests/sec:").and_then(super::number).ok_or("\"Requests/sec\"")?;
    let requests =
        text.lines().find_map(|line| before(line, " requests in ")).ok_or("\"requests in\"")? as u64;
    let socket = behind(text, "Socket errors:").unwrap_or_default();
    let count = |class: &str| after(&socket.replace(',', " "), class).unwrap_or(0.0) as u64;
    let bad = behind(text, "Non-2xx or 3xx responses:").and_then(super::number).unwrap_or(0.0) as u64;
    let classes = [
        ("connect", count("connect")),
        ("read", count("read")),
        ("write", count("write")),
        ("timeout", count("timeout")),
        ("status", bad),
    ];
    // Wrong statuses are included in the requests, and other failures are not.
    Ok(Reading {
        answered: requests.saturating_sub(bad),
        failed: classes.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count)),
        complaints: complaints(&classes),
        per_second: per_second * requests.saturating_sub(bad) as f64 / requests.max(1) as f64,
        latency: latency(text),
        descriptors_lacking: 0,
    })
}

/// The line `Latency` has mean, standard deviation and maximum; percentages have the distribution.
fn latency(text: &str) -> Latency {
    let line: Vec<f64> =
        behind(text, "Latency  ").into_iter().flat_map(str::split_whitespace).map_while(time).collect();
    let percentile = |label| behind(text, label).and_then(time);
    Latency {
        mean_ns: line.first().copied(),
        max_ns: line.get(2).copied(),
        p50_ns: percentile("50% "),
        p99_ns: percentile("99% "),
        mean_step_ns: 0.0,
        percentile_step_ns: 0.0,
    }
}

#[cfg(test)]
pub(super) const REAL: &str = include_str!("recorded/wrk.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_output() {
        insta::assert_debug_snapshot!(read(REAL).unwrap());
    }

    #[test]
    fn errors_are_counted_and_wrong_statuses_are_no_answers() {
        let text = REAL.replace(
            "Requests/sec",
            "  Socket errors: connect 1, read 20, write 3, timeout 4\n  Non-2xx or 3xx responses: 118911\nRequests/sec",
        );
        let reading = read(&text).unwrap();
        assert_eq!((reading.answered, reading.failed), (0, 118_939));
        assert_eq!(reading.complaints, "1 connect, 20 read, 3 write, 4 timeout, 118911 status");
    }

    #[test]
    fn without_latency_there_are_no_percentiles() {
        let plain = read(include_str!("recorded/wrk-plain.txt")).unwrap();
        assert_eq!((plain.latency.mean_ns, plain.latency.p99_ns), (Some(1.19e6), None));
    }
}
