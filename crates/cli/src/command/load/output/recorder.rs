//! Output during the load: a line of progress on stderr, lines for programs, files.
//!
//! Files are opened before the load. A later write error costs the file and not the result.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use tare_analysis::behaviour::answers::AnswerWindow;
use tare_base::latency::IntervalLog;
use tare_load::{Load, Measures, RunInterval, RunReport};

use super::{
    figures::{rate, time},
    json::Series,
    text::quantile,
};
use crate::{
    command::load::{
        args::{Exports, LoadFormat},
        course::FailureCourse,
    },
    output,
    progress::{Progress, duration},
};

/// Rates of shorter intervals are noise: the last one may contain only the end of the drain.
const RATED_NS_MIN: u64 = 100_000_000;

/// A file with its name, for errors.
#[derive(Debug)]
struct Sink {
    path: PathBuf,
    file: File,
}

/// Follows a load in progress.
#[derive(Debug)]
pub(crate) struct Recorder {
    progress: Progress,
    window: Option<Duration>,
    series: Series,
    to_stdout: bool,
    lines: Option<Sink>,
    log: Option<IntervalLog<Sink>>,
    hgrm: Option<Sink>,
    failed: u64,
    recorded: Recorded,
}

#[derive(Debug)]
pub(crate) struct Recorded {
    /// Answers per second in each interval.
    pub rates_per_s: Vec<f64>,
    /// Silence and lateness in the same intervals.
    pub windows: Vec<AnswerWindow>,
    pub failures: FailureCourse,
    /// The first error of writing a file.
    pub written: anyhow::Result<()>,
}

fn window(measures: &Measures) -> AnswerWindow {
    AnswerWindow {
        silent_ns: measures.silent_ns_max,
        latency_ns_max: measures.latency.max_ns(),
        latency_ns_p50: measures.latency.quantile_ns(0.5),
        // The load does not see other processes.
        taken_ns: 0,
    }
}

impl Sink {
    fn create(path: &Path) -> anyhow::Result<Sink> {
        let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Sink { path: path.to_owned(), file })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot write {}: {error}", self.path.display()))
        };
        self.file.write(bytes).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Recorder {
    /// Opens the output files before the load. `quiet` concerns stderr only.
    pub(crate) fn new(
        quiet: bool,
        format: LoadFormat,
        exports: &Exports,
        load: &Load,
    ) -> anyhow::Result<Recorder> {
        let create = |path: &Option<PathBuf>| path.as_deref().map(Sink::create).transpose();
        Ok(Recorder {
            window: load.stop.quota().is_none().then(|| load.stop.window()),
            series: Series::default(),
            to_stdout: format == LoadFormat::Ndjson,
            lines: create(&exports.series)?,
            log: create(&exports.hdr_log)?.map(IntervalLog::new),
            hgrm: create(&exports.hgrm)?,
            failed: 0,
            recorded: Recorded {
                rates_per_s: Vec::new(),
                windows: Vec::new(),
                failures: FailureCourse::default(),
                written: Ok(()),
            },
            progress: Progress::new(quiet),
        })
    }

    /// Starts the load: times are counted from now.
    pub(crate) fn begin(&mut self, started_at: jiff::Timestamp) -> anyhow::Result<()> {
        let comment = "tare load: latencies in nanoseconds, from the instant due in an open loop";
        self.log.as_mut().map_or(Ok(()), |log| log.begin(started_at.into(), comment)).map_err(Into::into)
    }

    pub(crate) fn on_interval(&mut self, interval: &RunInterval) {
        let tally = &interval.measures.tally;
        self.failed += tally.failed.total() + tally.connection_failed.total();
        self.recorded.failures.add(interval);
        if interval.to_ns - interval.from_ns >= RATED_NS_MIN {
            self.recorded.rates_per_s.push(interval.events_per_s().unwrap_or(interval.answers_per_s()));
            // Of streams the gaps between events show what is late.
            if interval.measures.events.is_none() {
                self.recorded.windows.push(window(&interval.measures));
            }
            self.progress.say(&self.progress_line(interval));
        }
        let line = self.series.line(interval);
        if self.recorded.written.is_ok() {
            self.recorded.written = self.write(interval, &line);
        }
    }

    /// Writes the files that are complete only at the end.
    pub(crate) fn finish(mut self, report: &RunReport) -> Recorded {
        self.progress.finish();
        if let (Some(sink), Ok(())) = (&mut self.hgrm, &self.recorded.written) {
            self.recorded.written = write_hgrm(sink, &report.total).map_err(Into::into);
        }
        self.recorded
    }

    /// A line such as `183 k/s, p50 284 µs, p99 353 µs, 0 failed; 7 s left`, or `64 k events/s, gap p50 ...`.
    fn progress_line(&self, interval: &RunInterval) -> String {
        let quantile = |q| quantile(&interval.measures, q);
        let now = Duration::from_nanos(interval.to_ns);
        let when = match self.window {
            Some(window) => format!("{} left", duration(window.saturating_sub(now))),
            None => format!("for {}", duration(now)),
        };
        let failed = self.failed;
        if let (Some(events), Some(per_s)) = (&interval.measures.events, interval.events_per_s()) {
            let [p50, p99] = [0.5, 0.99].map(|q| time(events.gap.quantile_ns(q) as f64));
            return format!("{} events/s, gap p50 {p50}, p99 {p99}, {failed} failed; {when}", rate(per_s));
        }
        let answers = rate(interval.answers_per_s());
        format!("{answers}/s, p50 {}, p99 {}, {failed} failed; {when}", quantile(0.5), quantile(0.99))
    }

    fn write(&mut self, interval: &RunInterval, line: &serde_json::Value) -> anyhow::Result<()> {
        if self.to_stdout || self.lines.is_some() {
            // One write per line: a kill leaves no partial line.
            let line = format!("{line}\n");
            if self.to_stdout {
                self.progress.suspend(|| output::print(&line))?;
            }
            if let Some(sink) = &mut self.lines {
                sink.write_all(line.as_bytes())?;
            }
        }
        if let Some(log) = &mut self.log {
            let measures = &interval.measures;
            log.write(&measures.latency, interval.from_ns, interval.to_ns, None)?;
            let tagged = [("service-time", &measures.service_time), ("unanswered", &measures.unanswered)];
            for (tag, histogram) in tagged.into_iter().filter(|(_, histogram)| histogram.count() > 0) {
                log.write(histogram, interval.from_ns, interval.to_ns, Some(tag))?;
            }
        }
        Ok(())
    }
}

/// Writes all latencies, unanswered requests as bounds, like the quantiles of the other formats.
fn write_hgrm(sink: &mut Sink, total: &Measures) -> io::Result<()> {
    let mut all = total.latency.clone();
    all.merge(&total.unanswered);
    let mut text = Vec::new();
    all.write_hgrm(&mut text)?;
    let unanswered = total.unanswered.count();
    if unanswered > 0 {
        let bound_ms = total.unanswered.min_ns() as f64 / 1e6;
        writeln!(text, "#[Unanswered = {unanswered}: values from {bound_ms:.6} on are lower bounds]")?;
    }
    sink.write_all(&text)
}
