//! h2load's text. Its rate is all answers divided by the time of the whole load, including connecting.

use super::{Latency, Reading, before, behind, complaints, time};

pub(super) fn read(text: &str) -> Result<Reading, &'static str> {
    let finished = behind(text, "finished in ").ok_or("\"finished in\"")?;
    let all_per_second = before(finished, " req/s").ok_or("\"req/s\"")?;
    let requests = behind(text, "requests: ").ok_or("\"requests:\"")?;
    let count = |word: &str| before(requests, word).unwrap_or(0.0) as u64;
    let (done, succeeded) = (count(" done"), count(" succeeded"));
    // `failed` includes `errored`, which includes `timeout`.
    let (failed, errored, late) = (count(" failed"), count(" errored"), count(" timeout"));
    let classes = [
        ("status", failed.saturating_sub(errored)),
        ("errored", errored.saturating_sub(late)),
        ("timeout", late),
    ];
    Ok(Reading {
        answered: succeeded,
        failed,
        complaints: complaints(&classes),
        per_second: all_per_second * succeeded as f64 / done.max(1) as f64,
        latency: latency(text),
        descriptors_lacking: 0,
    })
}

/// Minimum, maximum, mean, standard deviation, and the share within it.
fn latency(text: &str) -> Latency {
    let line = behind(text, "time for request:").unwrap_or_default();
    let times: Vec<Option<f64>> = line.split_whitespace().map(time).collect();
    let at = |index: usize| times.get(index).copied().flatten();
    Latency { mean_ns: at(2), max_ns: at(1), ..Latency::default() }
}

#[cfg(test)]
pub(super) const REAL: &str = include_str!("recorded/h2load.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_output() {
        insta::assert_debug_snapshot!(read(REAL).unwrap());
    }

    #[test]
    fn one_that_was_refused() {
        let reading = read(include_str!("recorded/h2load-refused.txt")).unwrap();
        assert_eq!((reading.answered, reading.complaints.as_str()), (0, "10 errored"));
    }
}
