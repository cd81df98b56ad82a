//! The output of wrk 4.1 (`src/wrk.c`, `src/units.c`), byte for byte, so that scripts keep working.
//!
//! Four differences are deliberate corrections. wrk adds samples to its histogram that were not measured
//! (`stats_correct`); Tare does not. wrk leaves timed-out requests out of the distribution; here the
//! quantiles count them with the time they waited. With too few samples wrk prints the largest latency as a
//! percentile, and a deviation of 0; here both are `-nan`, C's form of NaN. wrk samples `Req/Sec` every 100
//! ms per thread; here it comes from intervals of a second, divided by the number of threads.

use tare_load::{Failure, Failures, Measures, RunReport};
use tare_stats::samples::carry;

use super::{LoadResult, printable};

/// wrk's `units`, without those that its loop never reaches (hours, P).
struct Units {
    scale: f64,
    base: &'static str,
    units: &'static [&'static str],
}

const TIME_US: Units = Units { scale: 1_000.0, base: "us", units: &["ms"] };
const TIME_S: Units = Units { scale: 60.0, base: "s", units: &["m"] };
const BINARY: Units = Units { scale: 1_024.0, base: "", units: &["K", "M", "G", "T"] };
const METRIC: Units = Units { scale: 1_000.0, base: "", units: &["k", "M", "G", "T"] };

/// Mean, deviation and maximum, and the share (0 to 1) within one deviation; NaN without samples.
struct Stats {
    mean: f64,
    stdev: f64,
    max: f64,
    within: f64,
}

/// wrk's classes of errors, to which all failures are mapped.
#[derive(Debug, Default, PartialEq, Eq)]
struct Errors {
    connect: u64,
    read: u64,
    timeout: u64,
    /// Complete responses that are wrong. wrk only checks statuses; a wrong body counts here too.
    response: u64,
}

/// The text; `latency` adds the distribution.
pub(super) fn wrk(result: &LoadResult<'_>, latency: bool) -> String {
    let report = result.report;
    let errors = Errors::of(report);
    let lasted_s = match result.load.stop.quota() {
        None => result.load.stop.window().as_secs_f64(),
        Some(_) => report.window_ns as f64 / 1e9,
    };
    let mut out = format!("Running {} test @ {}\n", units(lasted_s, &TIME_S, 0), printable(result.url));
    out += &format!("  {} threads and {} connections\n", report.threads, result.settings.connections.total);
    out += &format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
    out += &stats("Latency", &Stats::of_latency(&report.total), time_us);
    out += &stats("Req/Sec", &Stats::of_rates(&result.rates_per_s, report.threads), metric);
    if latency {
        out += "  Latency Distribution\n";
        for percent in [50.0, 75.0, 90.0, 99.0] {
            let q = percent / 100.0;
            let us = match carry(report.total.timed(), q) {
                true => report.total.quantile(q).ns as f64 / 1e3,
                false => f64::NAN,
            };
            out += &format!("{percent:7.0}%{}\n", padded(&time_us(us), 10));
        }
    }
    // wrk's term for any whole response, correct or not.
    let complete = report.total.tally.answered_in_window + errors.response;
    out += &totals(report, complete, &errors);
    out
}

fn totals(report: &RunReport, complete: u64, errors: &Errors) -> String {
    let received = report.total.tally.bytes_received as f64;
    let per_s = |count: f64| if report.window_ns == 0 { 0.0 } else { count * 1e9 / report.window_ns as f64 };
    let runtime = time_us(report.window_ns as f64 / 1e3);
    let mut out = format!("  {complete} requests in {runtime}, {}B read\n", units(received, &BINARY, 2));
    let Errors { connect, read, timeout, response } = errors;
    if connect + read + timeout > 0 {
        out += &format!("  Socket errors: connect {connect}, read {read}, write 0, timeout {timeout}\n");
    }
    if *response > 0 {
        out += &format!("  Non-2xx or 3xx responses: {response}\n");
    }
    let transfer = units(per_s(received), &BINARY, 2);
    out += &format!("Requests/sec: {:9.2}\n", per_s(complete as f64));
    out + &format!("Transfer/sec: {transfer:>10}B\n")
}

impl Errors {
    fn of(report: &RunReport) -> Errors {
        let tally = &report.total.tally;
        let mut errors = Errors::default();
        errors.add(&tally.failed, |errors| &mut errors.read);
        errors.add(&tally.connection_failed, |errors| &mut errors.connect);
        errors
    }

    /// `other` is the class of system errors that have no class of their own.
    fn add(&mut self, failures: &Failures, other: fn(&mut Errors) -> &mut u64) {
        for (failure, count) in failures.iter() {
            *match failure {
                Failure::Refused
                | Failure::ConnectTimeout
                | Failure::Tls
                | Failure::NoPorts
                | Failure::NoDescriptors => &mut self.connect,
                Failure::Reset
                | Failure::ClosedBeforeResponse
                | Failure::ClosedMidResponse
                | Failure::Malformed
                | Failure::StreamReset
                | Failure::CutSequence => &mut self.read,
                Failure::ResponseTimeout => &mut self.timeout,
                Failure::Mismatch | Failure::Status | Failure::MissingValue => &mut self.response,
                Failure::Other => other(self),
            } += count;
        }
    }
}

impl Stats {
    fn of_latency(total: &Measures) -> Stats {
        let latency = &total.latency;
        let (mean, stdev) = (latency.mean_ns(), latency.stdev_ns());
        let within =
            |stdev: f64| latency.share_within((mean - stdev).max(0.0).ceil() as u64, (mean + stdev) as u64);
        Stats {
            mean: mean / 1e3,
            stdev: stdev.map_or(f64::NAN, |stdev| stdev / 1e3),
            max: total.quantile(1.0).ns as f64 / 1e3,
            within: stdev.map_or(f64::NAN, within),
        }
    }

    fn of_rates(rates_per_s: &[f64], threads: usize) -> Stats {
        // In wrk, a thread without an answer makes no sample.
        let rates: Vec<f64> =
            rates_per_s.iter().map(|rate| rate / threads as f64).filter(|rate| *rate > 0.0).collect();
        let count = rates.len() as f64;
        let mean = if rates.is_empty() { 0.0 } else { rates.iter().sum::<f64>() / count };
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        // With fewer than two rates the deviation is NaN.
        let stdev = (squares / (count - 1.0).max(0.0)).sqrt();
        let near = rates.iter().filter(|rate| (*rate - mean).abs() <= stdev).count();
        let within = if stdev.is_nan() { f64::NAN } else { near as f64 / count };
        Stats { mean, stdev, max: rates.iter().copied().fold(0.0, f64::max), within }
    }
}

fn stats(name: &str, stats: &Stats, form: fn(f64) -> String) -> String {
    let [mean, stdev, max] = [(stats.mean, 8), (stats.stdev, 10), (stats.max, 9)]
        .map(|(value, width)| padded(&form(value), width));
    let within =
        if stats.within.is_nan() { NO_NUMBER.to_owned() } else { format!("{:.2}", stats.within * 100.0) };
    format!("    {name:<10}{mean}{stdev}{max}{within:>8}%\n")
}

/// `print_units`: right-aligned, but spaces follow units of at most one letter, so that digits align.
fn padded(text: &str, width: usize) -> String {
    let letters = text.bytes().rev().take(2).filter(u8::is_ascii_alphabetic).count();
    let (width, pad) = (width - (2 - letters), 2 - letters);
    format!("{text:>width$.width$}{:pad$}", "")
}

/// The text that C prints for NaN on this kind of machine.
const NO_NUMBER: &str = "-nan";

fn time_us(us: f64) -> String {
    if us >= 1e6 { units(us / 1e6, &TIME_S, 2) } else { units(us, &TIME_US, 2) }
}

fn metric(value: f64) -> String {
    units(value, &METRIC, 2)
}

/// `format_units`: switches to the next unit at 85% of it.
fn units(mut value: f64, units: &Units, digits: usize) -> String {
    if value.is_nan() {
        return NO_NUMBER.to_owned();
    }
    let mut unit = units.base;
    for next in units.units {
        if value < units.scale * 0.85 {
            break;
        }
        (value, unit) = (value / units.scale, next);
    }
    format!("{value:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_at_85_percent_as_in_wrk() {
        let us = [0.0, 849.99, 850.0, 849_999.0, 850_000.0, 1_000_000.0, 51e6, 7_200e6];
        let shown = ["0.00us", "849.99us", "0.85ms", "850.00ms", "850.00ms", "1.00s", "0.85m", "120.00m"];
        assert_eq!(us.map(time_us), shown);
        assert_eq!([10.0, 50.0, 60.0, 3_600.0].map(|s| units(s, &TIME_S, 0)), ["10s", "50s", "1m", "60m"]);
        let counts = [0.0, 870.0, 870.4, 1_048_576.0, 1e18];
        assert_eq!(counts.map(|n| units(n, &BINARY, 2)), ["0.00", "870.00", "0.85K", "1.00M", "909494.70T"]);
        assert_eq!([849.0, 182_934.0].map(metric), ["849.00", "182.93k"]);
    }

    #[test]
    fn units_of_any_length_align() {
        assert_eq!(padded("1.23us", 8), "  1.23us");
        assert_eq!(padded("1.23k", 8), "  1.23k ");
        assert_eq!(padded("12.00", 8), " 12.00  ");
    }
}
