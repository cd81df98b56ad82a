//! autocannon: its tables, which it prints on stderr, and the JSON of `--json`. Its latencies are whole
//! milliseconds. Its minimum ignores zeros, so it may exceed a percentile, and is not read.

use serde_json::Value;

use super::Tool;
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, PublishedLoad, Source, Timing},
    source::text::{at, before, number, rate, text_at, time_ns},
};

const MILLISECOND_NS: f64 = 1e6;
/// The resolution of its histogram of rates, which has three digits.
const HISTOGRAM: f64 = 0.001;

/// It may count the requests due in this many seconds as sent, although they were not.
const NEVER_SENT_S: f64 = 1.05;

pub(super) const TOOL: Tool = Tool {
    source: Source::Autocannon,
    // The mean of its counts per second.
    timing: Timing::RateSampled,
    counted: CountedRequests::Answered,
    printed: |lines| {
        lines.iter().any(|line| line.starts_with("│ Latency "))
            && lines.iter().any(|line| line.starts_with("│ Req/Sec "))
    },
    begins: |line| line.starts_with("Running ") && line.contains(" test @ "),
    run,
    json,
};

fn cells(line: &str) -> Vec<&str> {
    let inner = line.strip_prefix('│').and_then(|line| line.strip_suffix('│')).unwrap_or_default();
    inner.split('│').map(str::trim).collect()
}

/// The cells of the row with this name, each with its column's name.
fn table<'a>(lines: &[&'a str], name: &str) -> Vec<(&'a str, &'a str)> {
    let is_named = |line: &&str| cells(line).first() == Some(&name);
    let Some(row) = lines.iter().position(is_named) else { return Vec::new() };
    let heads =
        lines[..row].iter().rev().map(|line| cells(line)).find(|cells| cells.first() == Some(&"Stat"));
    heads.into_iter().flatten().zip(cells(lines[row])).collect()
}

/// Parses a number in the machine's locale. `whole` has integers of the same line: a separator in one of them
/// is for thousands, so the other sign is the decimal point.
fn localised(text: &str, whole: &[(&str, &str)]) -> Option<f64> {
    let is_sign = |c: &char| matches!(c, '.' | ',');
    let thousands = whole.iter().find_map(|(_, text)| text.chars().find(is_sign));
    let digits = text.chars().filter(|c| Some(*c) != thousands && (c.is_ascii_digit() || is_sign(c)));
    number(&digits.map(|c| if is_sign(&c) { '.' } else { c }).collect::<String>())
}

fn run(lines: &[&str]) -> AuditRow {
    let (latency, rates) = (table(lines, "Latency"), table(lines, "Req/Sec"));
    let of =
        |name: &str| latency.iter().find(|(found, _)| *found == name).and_then(|(_, text)| time_ns(text));
    let quantile =
        |(name, text): &(&str, &str)| Some((number(name.strip_suffix('%')?)? / 100.0, time_ns(text)?));
    let connections = lines.iter().find_map(|line| before(line, "connections"));
    let pipelining = lines.iter().find_map(|line| before(line, "pipelining")).unwrap_or(1.0);
    let slots = connections.map(|connections| connections * pipelining);
    let sample_s = lines.iter().find_map(|line| {
        number(line.strip_prefix("Req/Bytes counts sampled every ")?.strip_suffix(" seconds.")?)
    });
    let whole: Vec<_> = rates.iter().filter(|(name, _)| name.ends_with('%')).copied().collect();
    let of_a_sample = rates.iter().find(|(name, _)| *name == "Avg");
    let of_a_sample = of_a_sample.and_then(|(_, text)| localised(text, &whole));
    let samples = lines.iter().find_map(|line| number(line.strip_prefix("# of samples:")?));
    let workers = lines.iter().find_map(|line| number(line.strip_suffix(" workers")?));
    let samples = samples.map(|samples| of_one_worker(samples, workers));
    let sample_s = sample_s.filter(|s| *s > 0.0).unwrap_or(1.0);
    let total = lines.iter().find(|line| line.contains(" requests in ") && line.ends_with(" read"));
    let sent = total.and_then(|line| least(line.split_whitespace().next()?));
    let statuses = lines.iter().find(|line| line.ends_with(" non 2xx responses"));
    let all = of_a_sample.zip(samples).map(|(of_a_sample, samples)| of_a_sample * samples);
    let ended = Ended {
        per_second: of_a_sample.map(|count| count / sample_s),
        answered: all,
        answered_max: all.map(|all| all * (1.0 + HISTOGRAM)),
        refused: statuses.and_then(|line| number(line.split_whitespace().nth(3)?)).unwrap_or(0.0),
        sent,
        slots: slots.unwrap_or(0.0),
        errors: lines.iter().find_map(|line| before(line, "errors")).unwrap_or(0.0),
        mismatches: lines
            .iter()
            .filter(|line| line.ends_with(" requests with mismatched body"))
            .find_map(|line| before(line, "requests"))
            .unwrap_or(0.0),
    };
    let first = lines.iter().find(|line| line.contains(" test @ "));
    AuditRow {
        test: first.and_then(|line| line.split(" test @ ").nth(1)).unwrap_or_default().to_owned(),
        load: PublishedLoad { slots, ..PublishedLoad::default() },
        per_second: ended.per_second,
        counts: ended.counts(),
        // Its duration includes the time after the last sample, in which it counts nothing.
        elapsed_s: samples.map(|samples| samples * sample_s),
        latency: PublishedLatency {
            ns_min: None,
            ns_mean: of("Avg"),
            ns_max: of("Max"),
            quantiles_ns: latency.iter().filter_map(quantile).chain(percentiles(lines)).collect(),
            step_ns: MILLISECOND_NS,
        },
        ..AuditRow::default()
    }
}

/// Its number of samples is the sum over its workers, but its rate is not.
fn of_one_worker(samples: f64, workers: Option<f64>) -> f64 {
    samples / workers.filter(|workers| *workers > 0.0).unwrap_or(1.0)
}

/// The smallest number that is printed like this: `12k` is at least 11,500.
fn least(text: &str) -> Option<f64> {
    let rounding = if text.ends_with('k') { 500.0 } else { 0.0 };
    rate(text).map(|number| number - rounding)
}

/// Parses the table of `--latency`: `│ 99.9 │ 5 │`, in milliseconds.
fn percentiles(lines: &[&str]) -> Vec<(f64, f64)> {
    let heads = |line: &&str| cells(line) == ["Percentile", "Latency (ms)"];
    let begin = lines.iter().position(heads).unwrap_or(lines.len());
    let row = |line: &&str| match *cells(line) {
        [share, ms] => Some((number(share)? / 100.0, number(ms)? * MILLISECOND_NS)),
        _ => None,
    };
    lines[begin..].iter().filter_map(row).collect()
}

/// Its figures about the outcomes of requests.
struct Ended {
    per_second: Option<f64>,
    answered: Option<f64>,
    /// The most requests that may have been answered.
    answered_max: Option<f64>,
    refused: f64,
    sent: Option<f64>,
    /// The number of requests in flight when it stops.
    slots: f64,
    errors: f64,
    mismatches: f64,
}

impl Ended {
    /// A connection closed by the server is no error in its output: those requests are missing from its
    /// answers. With a limited rate it also counts a second of unsent requests, and does not print the limit.
    fn counts(&self) -> Option<Counts> {
        let answered = self.answered?;
        let missing = self.sent? - self.answered_max? - self.slots;
        let missing = if missing > self.per_second? * NEVER_SENT_S { missing } else { 0.0 };
        let unlike = self.mismatches.min((answered - self.refused).max(0.0));
        Some(Counts {
            succeeded: (answered - self.refused - unlike).max(0.0),
            refused: self.refused,
            unlike,
            unanswered: missing.max(self.errors),
            broken_off: 0.0,
        })
    }
}

fn json(value: &Value) -> Option<AuditRow> {
    let (requests, latency) = (value.get("requests")?, value.get("latency")?);
    let non_2xx = at(value, "non2xx")?;
    let ms = |key: &str| at(latency, key).map(|ms| ms * MILLISECOND_NS);
    let quantile = |(name, ms): (&String, &Value)| {
        let share = number(&name.strip_prefix('p')?.replace('_', "."))?;
        Some((share / 100.0, ms.as_f64()? * MILLISECOND_NS))
    };
    let slots =
        at(value, "connections").map(|connections| connections * at(value, "pipelining").unwrap_or(1.0));
    let sample_s = at(value, "sampleInt").filter(|ms| *ms > 0.0).map_or(1.0, |ms| ms / 1e3);
    let rate = at(requests, "average").map(|count| count / sample_s);
    let all = at(requests, "total");
    let of = |key: &str| at(value, key).unwrap_or(0.0);
    let ended = Ended {
        per_second: rate,
        answered: all,
        answered_max: all,
        refused: non_2xx,
        sent: at(requests, "sent").or(all),
        slots: slots.unwrap_or(0.0),
        errors: of("errors"),
        mismatches: of("mismatches"),
    };
    Some(AuditRow {
        test: text_at(value, "url").unwrap_or_default().to_owned(),
        load: PublishedLoad { slots, ..PublishedLoad::default() },
        per_second: rate,
        counts: ended.counts(),
        elapsed_s: at(value, "samples")
            .map(|samples| of_one_worker(samples, at(value, "workers")) * sample_s),
        latency: PublishedLatency {
            ns_min: None,
            ns_mean: ms("average"),
            ns_max: ms("max"),
            quantiles_ns: latency.as_object()?.iter().filter_map(quantile).collect(),
            step_ns: MILLISECOND_NS,
        },
        ..AuditRow::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_in_the_language_of_its_machine() {
        let read = |text, whole: &str| localised(text, &[("50%", whole)]);
        assert_eq!(read("39,917.34", "30,159"), Some(39_917.34));
        assert_eq!(read("39.917,34", "30.159"), Some(39_917.34));
        assert_eq!(read("37.904", "37.919"), Some(37_904.0));
        assert_eq!(read("37\u{202f}904,5", "37\u{202f}919"), Some(37_904.5));
        assert_eq!(read("846.5", "846"), Some(846.5));
        assert_eq!(read("846,5", "846"), Some(846.5));
        assert_eq!(read("", ""), None);
    }
}
