//! The result for people: short, aligned, and each figure with its uncertainty.

use tare_base::Histogram;
use tare_base::units::several;
use tare_load::{
    EventMeasures, Failure, FailureSample, Failures, GeneratorSettings, Handshakes, Measures, Schedule,
    Statuses, Tally, tally::SAMPLE_BYTES_MAX,
};
use tare_report::write::text;
use tare_stats::samples::{carry, samples_min};

use super::{
    LoadResult, QUANTILES,
    figures::{bytes, percent, rate, time},
    histogram, printable, verdict,
};
use crate::command::load::plan::describe;

/// The width of the label at the start of a line.
const LABEL: usize = 12;
/// Printed if there are too few samples for a figure.
pub(crate) const ABSENT: &str = "-";
const COLUMNS: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// The result as lines of text; `spectrum` adds percentiles.
pub(super) fn text(result: &LoadResult<'_>, spectrum: bool) -> String {
    let total = &result.report.total;
    let mut out = head(result) + "\n";
    out += &format!("{}\n", verdict(result));
    for finding in &result.findings {
        out += &format!("  {finding}\n");
    }
    out.push('\n');
    out += &rates(result);
    out += result.several.as_ref().map_or("", |several| &several.lines);
    out += &times(result);
    out.push('\n');
    if let Some(several) = &result.several {
        out += &(aligned(&several.table) + "\n");
    }
    if spectrum && measured(total) {
        out += &(spectrum_of(total) + "\n");
    }
    if total.events.is_none() {
        out += &bars(total);
    }
    out += &requests(total, result.report.handshakes.as_ref());
    if let Some(sample) = &result.report.first_failure {
        out += &failure(sample);
    }
    out.push('\n');
    for warning in &result.warnings {
        out += &format!("warning: {}\n", printable(warning));
    }
    for note in &result.notes {
        out += &format!("note: {}\n", printable(note));
    }
    out
}

pub(crate) fn line(label: &str, text: &str) -> String {
    format!("{label:LABEL$}  {text}\n")
}

fn head(result: &LoadResult<'_>) -> String {
    let report = result.report;
    let GeneratorSettings { connections, protocol, streams, .. } = result.settings;
    let load = describe(*connections, (*protocol, *streams), result.load);
    let mut out = printable(&result.asked) + "\n";
    out += &format!("{load}; driver {}\n", report.driver.kind.name());
    for (negotiated, connections) in report.handshakes.iter().flat_map(|handshakes| &handshakes.negotiated) {
        out += &format!("negotiated: {negotiated} ({})\n", several(*connections, "connection"));
    }
    out += &format!("checked: {}\n", printable(&result.check));
    if report.interrupted {
        let (after, of) = (time(report.window_ns as f64), result.load.stop.window().as_nanos());
        out += &format!("interrupted after {after} of {}\n", time(of as f64));
    }
    if let Some(since_ns) = report.gone_since_ns {
        let (since, target) = (time(since_ns as f64), &result.settings.route.target);
        out += &format!("nothing listens on {target} any more since {since} of the load\n");
    }
    out
}

fn rates(result: &LoadResult<'_>) -> String {
    let report = result.report;
    let tally = &report.total.tally;
    let per_s = |count: u64| match report.elapsed_ns {
        0 => bytes(0.0),
        elapsed_ns => bytes(count as f64 * 1e9 / elapsed_ns as f64),
    };
    let window = time(report.window_ns as f64);
    let per_second = rate(report.answers_per_s_while_up());
    let until = report.gone_since_ns.map(|ns| format!(" until {}", time(ns as f64))).unwrap_or_default();
    let answers = match (&report.total.events, report.events_per_s()) {
        (Some(events), Some(per_s)) => line(
            "events",
            &format!(
                "{} events/s, {} in {window}, by {}",
                rate(per_s),
                events.events,
                several(events.streams, "stream")
            ),
        ),
        _ => line(
            "answers",
            &format!("{per_second} requests/s{until}, {} in {window}", tally.answered_in_window),
        ),
    };
    // The bytes of the drain are included.
    let [received, sent] = [tally.bytes_received, tally.bytes_sent].map(per_s);
    let moved = format!("{received}/s received, {sent}/s sent, in {}", time(report.elapsed_ns as f64));
    answers + &line("bytes", &moved) + &line("generator", &generator(result))
}

fn generator(result: &LoadResult<'_>) -> String {
    let report = result.report;
    let share = percent(report.generator_busy_share());
    let whose = if report.threads == 1 { "its time" } else { "its threads' time" };
    let busy = format!("busy for {share} of {whose}");
    match (report.generator_cpu_ns_per_event(), report.total.tally.answered) {
        (Some(per_event_ns), _) => format!("{busy}, {} for each event", time(per_event_ns)),
        (None, 0) => busy,
        (None, _) => format!("{busy}, {} for each answer", time(report.generator_cpu_ns_per_answer())),
    }
}

/// Whether any latency, or a bound of one, is known.
fn measured(total: &Measures) -> bool {
    total.latency.count() + total.unanswered.count() > 0
}

/// A table of the timed quantities and their distributions.
fn times(result: &LoadResult<'_>) -> String {
    let total = &result.report.total;
    let row = |label: &str, quantile: &dyn Fn(f64) -> String, mean: String, stdev: String| {
        let mut row = vec![label.to_owned()];
        row.extend(COLUMNS.map(|(_, q)| quantile(q)));
        row.extend([mean, stdev]);
        row
    };
    let [p50, p90, p99, p999, max] = COLUMNS.map(|(name, _)| name);
    let mut rows = vec![["", p50, p90, p99, p999, max, "mean", "stdev"].map(str::to_owned).to_vec()];
    let mut fewest = u64::MAX;
    if measured(total) {
        let is_open = matches!(result.load.schedule, Schedule::Open(_));
        let label = match (&total.events, is_open) {
            (Some(_), _) => "time of a whole stream",
            (None, true) => "latency, from the instant due",
            (None, false) => "latency",
        };
        fewest = fewest.min(total.timed());
        rows.push(row(label, &|q| quantile(total, q), mean(total), stdev(total)));
    }
    let no_events = EventMeasures::default();
    let events = total.events.as_deref().unwrap_or(&no_events);
    let others = [
        ("time to the first event", &events.first),
        ("gap between events", &events.gap),
        ("delay of an event", &events.delay),
        ("service time, from the send", &total.service_time),
        ("wait for a stream", &total.stream_wait),
        ("schedule lag", &total.schedule_lag),
        ("time to connect", &total.connect_time),
        ("time of a connection", &total.connection_time),
    ];
    let others = others.into_iter().filter(|(_, histogram)| histogram.count() > 0);
    rows.extend(others.map(|(label, histogram): (&str, &Histogram)| {
        fewest = fewest.min(histogram.count());
        let quantile = |q| match carry(histogram.count(), q) {
            true => time(histogram.quantile_ns(q) as f64),
            false => ABSENT.to_owned(),
        };
        row(label, &quantile, time(histogram.mean_ns()), some_time(histogram.stdev_ns()))
    }));
    match rows.len() {
        1 => line("latency", "none: nothing was answered"),
        _ => format!("\n{}{}", aligned(&rows), beyond(fewest, &COLUMNS)),
    }
}

/// A note if the row with the fewest samples lacks a percentile. Its last percentile is the largest value.
fn beyond(fewest: u64, percentiles: &[(&str, f64)]) -> String {
    let missing = percentiles.iter().filter(|(_, q)| !carry(fewest, *q));
    let takes: Vec<String> = missing.map(|(name, q)| format!("{name} takes {}", samples_min(*q))).collect();
    match (takes.as_slice(), percentiles.last()) {
        ([], _) | (_, None) => String::new(),
        (takes, Some((largest, _))) => format!(
            "{ABSENT}: too few samples, of which {largest} is the largest seen: {}\n",
            takes.join(", ")
        ),
    }
}

fn some_time(ns: Option<f64>) -> String {
    ns.map_or(ABSENT.to_owned(), time)
}

/// The mean; a lower bound if some requests were not answered.
fn mean(total: &Measures) -> String {
    let bound = if total.is_bounded_below() { ">= " } else { "" };
    format!("{bound}{}", time(total.mean_ns()))
}

/// The deviation; unanswered latencies make it unknown.
fn stdev(total: &Measures) -> String {
    some_time(total.latency.stdev_ns().filter(|_| !total.is_bounded_below()))
}

/// `12.3 ms`, or `>= 12.3 ms` if unanswered requests may have taken longer; [`ABSENT`] with too few samples.
pub(crate) fn quantile(total: &Measures, q: f64) -> String {
    if !carry(total.timed(), q) {
        return ABSENT.to_owned();
    }
    let quantile = total.quantile(q);
    let bound = if quantile.at_least { ">= " } else { "" };
    format!("{bound}{}", time(quantile.ns as f64))
}

fn spectrum_of(total: &Measures) -> String {
    let rows = QUANTILES.map(|(_, name, q)| vec![name.to_owned(), quantile(total, q)]);
    let head = vec!["percentile".to_owned(), "latency".to_owned()];
    let note = beyond(total.timed(), &QUANTILES.map(|(_, name, q)| (name, q)));
    aligned(&[&[head], rows.as_slice()].concat()) + &note
}

/// The histogram under its own head.
fn bars(total: &Measures) -> String {
    let (rows, bars): (Vec<Vec<String>>, Vec<String>) = histogram::rows(total).into_iter().unzip();
    let lines = text::aligned(&rows, 0).into_iter().zip(bars);
    let mut out: String =
        lines.map(|(line, bar)| format!("{}\n", format!("{line}  {bar}").trim_end())).collect();
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn aligned(rows: &[Vec<String>]) -> String {
    text::aligned(rows, 1).iter().map(|line| format!("{line}\n")).collect()
}

/// The outcomes of all requests and connections.
fn requests(total: &Measures, handshakes: Option<&Handshakes>) -> String {
    let tally = &total.tally;
    let mut requests = format!(
        "{} sent: {} answered, {}, {} in flight at the end",
        tally.sent,
        tally.answered,
        failed(&tally.failed),
        tally.in_flight
    );
    if tally.streaming > 0 {
        requests += &format!("; {} closed at the end", several(tally.streaming, "open stream"));
    }
    if tally.unsent > 0 {
        requests += &format!("; {} due and never sent", tally.unsent);
    }
    let mut out = line("requests", &requests);
    out += &statuses(&total.statuses);
    if tally.connects > 0 || tally.connection_failed.total() > 0 {
        out += &connections(tally);
    }
    out + &handshakes.map(handshakes_line).unwrap_or_default()
}

/// The handshakes of all connections, including those before the load.
fn handshakes_line(handshakes: &Handshakes) -> String {
    line("handshakes", &format!("{} full, {} resumed", handshakes.full, handshakes.resumed))
}

fn connections(tally: &Tally) -> String {
    line(
        "connections",
        &format!("{} opened in the run, {}", tally.connects, failed(&tally.connection_failed)),
    )
}

/// `200: 1829404, 503: 12`.
fn statuses(statuses: &Statuses) -> String {
    let counts = statuses.counts();
    let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{status}: {count}")).collect();
    if counts.is_empty() { String::new() } else { line("statuses", &counts.join(", ")) }
}

/// `3 failed (2 with an unexpected status, 1 reset)`.
fn failed(failures: &Failures) -> String {
    let classes: Vec<String> =
        failures.iter().map(|(failure, count)| format!("{count} {}", how(failure))).collect();
    match classes.as_slice() {
        [] => "0 failed".to_owned(),
        classes => format!("{} failed ({})", failures.total(), classes.join(", ")),
    }
}

/// The failure in words, to follow a number.
fn how(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused => "refused",
        Failure::Reset => "reset",
        Failure::ConnectTimeout => "not connected in time",
        Failure::ResponseTimeout => "not answered in time",
        Failure::ClosedBeforeResponse => "closed before the response",
        Failure::ClosedMidResponse => "closed within the response",
        Failure::Malformed => "not of the protocol",
        Failure::Mismatch => "with an unexpected body",
        Failure::Status => "with an unexpected status",
        Failure::MissingValue => "without a value for a later step",
        Failure::CutSequence => "closed between two steps",
        Failure::StreamReset => "with their stream reset",
        Failure::Tls => "with a TLS error",
        Failure::NoPorts => "without a free local port",
        Failure::NoDescriptors => "without a file descriptor",
        Failure::Other => "refused by the system",
    }
}

fn failure(sample: &FailureSample) -> String {
    let whose = match sample.exchange.as_str() {
        "" => String::new(),
        name => format!(" of {}", printable(name)),
    };
    let after = time(sample.at_ns as f64);
    let mut out = format!("\nfirst failure after {after}: {}{whose}\n", sample.failure);
    if !sample.expected.is_empty() {
        out += &format!("  expected  {}\n", printable(&sample.expected));
    }
    if let Some(reason) = &sample.reason {
        out += &format!("  reason    {}\n", printable(reason));
    }
    let got = &sample.got[..sample.got.len().min(SAMPLE_BYTES_MAX)];
    out += &match got {
        [] => "  got       nothing\n".to_owned(),
        got => format!("  got       `{}`\n", got.escape_ascii()),
    };
    out
}
