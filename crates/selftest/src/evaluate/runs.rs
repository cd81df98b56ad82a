//! Trials under load: what the analysis of a run finds in a server with a fault.

use std::fmt::Display;

use tare_analysis::estimate::UnitEstimate;
use tare_analysis::{
    comparison::{Comparison, Figure},
    interleaved::{
        RowReport, RowState,
        slices::{ClassifiedSlice, Disposition, slices},
    },
    validity::Disturbance as Disturbed,
    verdict::Verdict,
};
use tare_bench::plan::until::Metric;

use super::{Analysed, Evaluation, Evidence, Found};
use crate::action::{LoadDisturbance, RAW_SOCKET, SUBJECT, TWIN, WEIGHTS};

/// Measured shares that count as half a CPU; a short measurement includes edges of the quota's periods.
const HALF: std::ops::RangeInclusive<f64> = 0.3..=0.65;
/// With a larger share of CPUs for other programs, one more is undetectable.
const TOO_BUSY: f64 = 0.3;
const ONE_CPU: &str = "services and generator share one CPU, so each limits the other";
/// Shortens failures that quote a whole answer.
const QUOTE_CHARS: usize = 120;

/// The run of a trial; every trial in this file has one.
fn run(evidence: &Evidence) -> Result<&Analysed, Evaluation> {
    match evidence {
        Evidence::Run(run) => Ok(run),
        Evidence::Proofs(_) => Err(Evaluation::not_decided("nothing was loaded")),
    }
}

/// A row that has figures.
fn measured<'a>(run: &'a Analysed, name: &str) -> Result<&'a RowReport, Evaluation> {
    let row = run.row(name).filter(|row| row.state == RowState::Measured);
    row.ok_or_else(|| Evaluation::not_decided(run.missing(name)))
}

/// A ratio to the reference, with the interval that a trial needs.
fn decided<'a>(
    what: &str,
    ratio: Option<&'a UnitEstimate>,
) -> Result<(&'a UnitEstimate, f64, f64), Evaluation> {
    let found = ratio.and_then(|ratio| ratio.interval().map(|(low, high)| (ratio, low, high)));
    let blocks = ratio.map_or(0, |ratio| ratio.n);
    found.ok_or_else(|| Evaluation::not_decided(format!("{what} has no interval after {blocks} blocks")))
}

/// Work added per request, as a share of the reference's cost: as the server counted it, not as requested.
fn weight(run: &Analysed, label: &str) -> Result<f64, Evaluation> {
    let missing = |why: &dyn Display| {
        Evaluation::not_decided(format!(
            "what the server \"{label}\" added to its requests is not known: {why}"
        ))
    };
    let added = match run.made.added.get(label) {
        Some(Ok(added)) => added.ns_per_request(),
        Some(Err(error)) => return Err(missing(error)),
        None => None,
    };
    let added_ns = added.ok_or_else(|| missing(&"it was not calibrated before it ended"))?;
    let reference = measured(run, RAW_SOCKET)?;
    let cost = reference.cpu_ns_per_request.as_ref();
    let cost =
        cost.ok_or_else(|| Evaluation::not_decided("the reference has no CPU time for each request"))?;
    Ok(added_ns / cost.value)
}

/// On a noisy host other programs may explain an undetected fault.
fn unless_noisy(run: &Analysed, evaluation: Evaluation) -> Evaluation {
    let others = run.report.interference_share.filter(|share| *share > TOO_BUSY);
    match others {
        Some(share) if evaluation.outcome == super::TrialOutcome::NotSeen => Evaluation::not_tried(format!(
            "other programs took {:.0}% of the measured CPUs: {}",
            share * 100.0,
            evaluation.found
        )),
        _ => evaluation,
    }
}

/// One program under two names: the table must not separate them, neither as a pair nor by an interval.
pub(crate) fn twins(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    let (twin, reference) = (measured(run, TWIN)?, measured(run, RAW_SOCKET)?);
    let (cpu, ..) = decided("CPU per request of the twin by the reference", twin.cpu_ratio.as_ref())?;
    let (rate, ..) = decided("throughput of the twin by the reference", twin.ratio.as_ref())?;
    let failed: u64 = twin.failed.values().chain(reference.failed.values()).sum();
    let is_separated = run.report.ranks.as_ref().is_none_or(|ranks| ranks.are_separated(TWIN, RAW_SOCKET));
    let found = format!(
        "after {} blocks CPU per request is {}, throughput {}; {}; {failed} requests failed",
        cpu.n,
        shown(cpu),
        shown(rate),
        if is_separated { "separated" } else { "not separated" }
    );
    let is_seen = !is_separated && holds_1(cpu) && holds_1(rate) && failed == 0;
    let figures = [figures_of("cpu_ratio", cpu), figures_of("throughput_ratio", rate)].concat();
    Ok(Evaluation::of(is_seen, found, figures))
}

fn holds_1(ratio: &UnitEstimate) -> bool {
    ratio.interval().is_some_and(|(low, high)| low <= 1.0 && high >= 1.0)
}

/// The comparison must detect higher CPU per request, and the table must separate and rank the slower
/// program. The interval must overlap the third around the added work: an estimate at the deciding look is
/// biased upwards.
pub(crate) fn slower(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    measured(run, SUBJECT)?;
    let added = weight(run, SUBJECT)?;
    let Some((comparison, cpu)) = run.comparison.as_ref().and_then(cpu_of) else {
        return Err(Evaluation::not_decided("no block was finished"));
    };
    let ratio = ratio_of(cpu, comparison.blocks);
    let (_, low, high) = decided("CPU per request by the reference", Some(&ratio))?;
    let is_found = matches!(run.verdict, Verdict::Worse | Verdict::Fail);
    let is_behind = run.report.ranks.as_ref().is_some_and(|ranks| ranks.is_behind(SUBJECT, RAW_SOCKET));
    let (least, most) = (1.0 + added * 2.0 / 3.0, 1.0 + added * 4.0 / 3.0);
    let is_about = low <= most && high >= least;
    let found = format!(
        "{} within {} blocks: with {} added, CPU per request is {}; {}",
        if is_found { "found" } else { "not found" },
        comparison.blocks,
        percent(added),
        shown(&ratio),
        if is_behind { "separated, and worse" } else { "not separated, or not worse" }
    );
    let figures = [figures_of("cpu_ratio", &ratio), vec![("added_share".to_owned(), added)]].concat();
    Ok(Evaluation::of(is_found && is_behind && is_about, found, figures))
}

/// Allowed relative error of a weight, in addition to its interval.
const WEIGHT_ERROR: f64 = 0.05;

/// Linearity: every weight must be measured correctly, not only one.
pub(crate) fn linear(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    let (mut is_seen, mut found, mut figures) = (true, Vec::new(), Vec::new());
    for (label, _) in WEIGHTS {
        let row = measured(run, label)?;
        let (ratio, low, high) = decided(&format!("{label} by the reference"), row.cpu_ratio.as_ref())?;
        let added = weight(run, label)?;
        is_seen &= low <= 1.0 + added * (1.0 + WEIGHT_ERROR) && high >= 1.0 + added * (1.0 - WEIGHT_ERROR);
        found.push(format!("{} as {}", percent(added), shown(ratio)));
        figures.extend(figures_of(&format!("cpu_ratio_{label}"), ratio));
        figures.push((format!("added_share_{label}"), added));
    }
    let found = format!("CPU per request, with {}", found.join("; "));
    Ok(unless_noisy(run, Evaluation::of(is_seen, found, figures)))
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn cpu_of(comparison: &Comparison) -> Option<(&Comparison, &Figure)> {
    Some((comparison, comparison.figures.iter().find(|figure| figure.metric == Metric::Cpu)?))
}

fn ratio_of(figure: &Figure, blocks: usize) -> UnitEstimate {
    UnitEstimate {
        confidence_attained: Some(figure.confidence),
        n: blocks,
        ..figure.ratio.unwrap_or(UnitEstimate::known(f64::NAN))
    }
}

fn shown(ratio: &UnitEstimate) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{:.4} ({low:.4} to {high:.4})", ratio.value),
        _ => format!("{:.4} (too few blocks for an interval)", ratio.value),
    }
}

fn figures_of(name: &str, ratio: &UnitEstimate) -> Vec<(String, f64)> {
    let ends = [("_low", ratio.low), ("_high", ratio.high)];
    let ends = ends.iter().filter_map(|(end, value)| Some((format!("{name}{end}"), (*value)?)));
    [(name.to_owned(), ratio.value), ("blocks".to_owned(), ratio.n as f64)].into_iter().chain(ends).collect()
}

/// A request that is due s ms into a stop waits 200 - s ms, and one in five is due in a stop. So 1% of all
/// wait longer than 95% of 200 ms, and 10% longer than half of it.
pub(crate) fn stall(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    let row = measured(run, SUBJECT)?;
    let open = row.latency_open.first().and_then(|open| open.p90_ns.zip(open.p99_ns));
    let (Some((p90, p99)), Some(closed_p99)) = (open, row.latency_ns_p99) else {
        return Err(Evaluation::not_decided("the run has no latency"));
    };
    let [p90, p99, closed_p99] = [p90, p99, closed_p99].map(|found| found.value / 1e6);
    let is_seen = (180.0..=202.0).contains(&p99) && (85.0..=118.0).contains(&p90);
    let found =
        format!("p99 {p99:.1} ms, p90 {p90:.1} ms (a closed loop alone shows a p99 of {closed_p99:.2} ms)");
    let figures = [("p99_ms", p99), ("p90_ms", p90), ("closed_p99_ms", closed_p99)];
    Ok(unless_noisy(run, Evaluation::of(is_seen, found, figures)))
}

pub(crate) fn dropper(evidence: &Evidence) -> Found {
    failing(run(evidence)?, 0.007, 0.013)
}

/// The additional byte may also spoil the next answer on the connection.
pub(crate) fn some_wrong_lengths(evidence: &Evidence) -> Found {
    failing(run(evidence)?, 0.007, 0.025)
}

pub(crate) fn late_cache(evidence: &Evidence) -> Found {
    failing(run(evidence)?, 0.5, 1.0)
}

pub(crate) fn wrong_stream(evidence: &Evidence) -> Found {
    failing(run(evidence)?, 0.0005, 0.002)
}

/// A frame on a closed stream ends its connection and all requests on it, more than the faulty streams alone.
pub(crate) fn mixed_up_streams(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    let is_named = slices(&run.kept).iter().any(|slice| {
        let failure = slice.slice.load.first_failure.as_deref();
        failure.is_some_and(|failure| failure.contains("which is closed"))
    });
    let found = failing(run, 0.005, 1.0)?;
    match is_named {
        true => Ok(found),
        false => Err(Evaluation::not_seen(format!("no frame on a closed stream was found: {}", found.found))),
    }
}

/// About one in a thousand streams has no answer. It waits for the time-out while others are answered. On a
/// fast machine this is a small share of requests, but several slices end with pending requests.
pub(crate) fn stalled_stream(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    let (sent, unanswered) = requests(run);
    let row = run.row(SUBJECT).filter(|_| sent > 0);
    let row = row.ok_or_else(|| Evaluation::not_decided(run.missing(SUBJECT)))?;
    let share = unanswered as f64 / sent as f64;
    let refused = row.state.reason();
    let found = format!(
        "{unanswered} of {sent} requests were not answered; {}",
        refused.as_deref().map_or("the row still has figures".into(), shortened)
    );
    let is_seen = unanswered > 0 && share < 0.5 && refused.is_some();
    Ok(Evaluation::of(is_seen, found, [("unanswered_share", share)]))
}

/// The handshake belongs to the connect time, not to request times.
pub(crate) fn slow_handshake(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    measured(run, SUBJECT)?;
    let ms = |ns: u64| ns as f64 / 1e6;
    let all = slices(&run.kept);
    let connect = all
        .iter()
        .filter_map(|slice| slice.slice.load.connect_time.as_ref())
        .filter_map(|time| Some(ms(time.ns_at(0.5)?)));
    let (least, most) =
        connect.fold((f64::MAX, 0.0), |(least, most): (f64, f64), p50| (least.min(p50), most.max(p50)));
    let request = all
        .iter()
        .map(|slice| ms(slice.slice.load.latency.ns_at(0.5).unwrap_or(u64::MAX)))
        .fold(0.0, f64::max);
    let found = format!(
        "half of the connections took {least:.1} to {most:.1} ms, half of the requests at most {request:.2} ms"
    );
    let is_seen = (50.0..100.0).contains(&least) && request < 40.0;
    let figures = [("connect_p50_ms", least), ("request_p50_ms", request)];
    Ok(unless_noisy(run, Evaluation::of(is_seen, found, figures)))
}

/// A share of requests within the bounds must fail, and the analysis must reject the row's figures. The share
/// is of all requests, because no slice of a failed row counts.
fn failing(run: &Analysed, least: f64, most: f64) -> Found {
    let (sent, failed) = requests(run);
    let row = run.row(SUBJECT).filter(|_| sent > 0);
    let row = row.ok_or_else(|| Evaluation::not_decided(run.missing(SUBJECT)))?;
    let share = failed as f64 / sent as f64;
    let is_refused = row.state != RowState::Measured;
    let reason = row.state.reason().unwrap_or_else(|| "the row still has figures".to_owned());
    let found = format!("{:.2}% of {sent} requests failed; {}", share * 100.0, shortened(&reason));
    let is_seen = is_refused && (least..=most).contains(&share);
    Ok(Evaluation::of(is_seen, found, [("failure_share", share)]))
}

/// Requests that were sent, and those that failed.
fn requests(run: &Analysed) -> (u64, u64) {
    slices(&run.kept).iter().fold((0, 0), |(sent, failed), slice| {
        let load = &slice.slice.load;
        (sent + load.sent, failed + load.failures())
    })
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(QUOTE_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The server gets half a CPU, and the analysis must report that throughput may not be its capacity.
pub(crate) fn throttled(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    let row = measured(run, SUBJECT)?;
    if !run.kept.header.plan.pinning.apart() {
        return Err(Evaluation::not_tried(ONE_CPU));
    }
    let (server, generator) =
        (row.server_cpu_share().unwrap_or(0.0), row.usage.map_or(0.0, |usage| usage.generator));
    let doubt = row.throughput_finding.as_ref().or(row.findings.first());
    let found = format!(
        "the service was busy for {:.0}% of the time, the generator for {:.0}% (held back {}); {}",
        server * 100.0,
        generator * 100.0,
        run.made.how.as_deref().unwrap_or("by nothing"),
        doubt.map_or("no finding limits its throughput".to_owned(), ToString::to_string)
    );
    let is_seen = HALF.contains(&server) && doubt.is_some();
    let figures = [("server_cpu_share", server), ("generator_cpu_share", generator)];
    Ok(unless_noisy(run, Evaluation::of(is_seen, found, figures)))
}

/// Rounds with the spinner must be left out of the figures, rounds without it must stay.
pub(crate) fn spinner(evidence: &Evidence) -> Found {
    let run = run(evidence)?;
    measured(run, SUBJECT)?;
    left_out(&slices(&run.kept), run.kept.header.plan.pinning.all().len())
}

/// Evaluates the slices of a run on this number of CPUs.
pub(super) fn left_out(all: &[ClassifiedSlice], cpus: usize) -> Found {
    let (with, without): (Vec<&ClassifiedSlice>, Vec<&ClassifiedSlice>) =
        all.iter().partition(|slice| LoadDisturbance::Spinner.is_in(slice.slice.round));
    let (Some(share), Some(before)) = (interference(&with, cpus), interference(&without, cpus)) else {
        return Err(Evaluation::not_tried("/proc/stat does not report the idle time of the CPUs"));
    };
    let dropped = |slices: &[&ClassifiedSlice]| {
        slices.iter().filter(|slice| slice.disposition == Disposition::Dropped).count()
    };
    let (dropped, dropped_quiet) = (dropped(&with), dropped(&without));
    let found = format!(
        "others took {:.0}% of the measured CPUs with it and {:.0}% without; {dropped} of {} rounds with it were left out, {} of \
         {} without",
        share * 100.0,
        before * 100.0,
        with.len(),
        dropped_quiet,
        without.len()
    );
    let is_quiet = without.iter().filter(|slice| slice.disturbance == Some(Disturbed::Taken)).count() * 2
        < without.len();
    if before > TOO_BUSY || !is_quiet {
        return Err(Evaluation::not_tried(format!("the machine is too busy for this trial: {found}")));
    }
    let is_seen = dropped == with.len() && dropped_quiet * 2 < without.len();
    let figures = [("interference_cpu_share", share), ("interference_cpu_share_without", before)];
    Ok(Evaluation::of(is_seen, found, figures))
}

/// The mean share of the CPUs that other programs used; absent if the kernel does not count it.
fn interference(slices: &[&ClassifiedSlice], cpus: usize) -> Option<f64> {
    let shares: Option<Vec<f64>> = slices.iter().map(|slice| slice.interference_share(cpus)).collect();
    shares.filter(|shares| !shares.is_empty()).map(|shares| shares.iter().sum::<f64>() / shares.len() as f64)
}
