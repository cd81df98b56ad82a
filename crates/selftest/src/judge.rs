//! From what was found to whether it is what must be seen. Pure: a kept campaign or transcript gives the same judgement
//! for ever.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    act::{Disturbance, RAW_SOCKET, SUBJECT, TWIN},
    series::{Metric, Sums, closed, differences, look, sums},
};
use tare_analysis::report::{self, State};
use tare_bench::run::{folder::Kept, record::Record};
use tare_service::verify::{CheckId, Outcome as Checked, Transcript};

/// A service busy for less than this share of its CPUs was not saturated.
const SATURATED: f64 = 0.95;
/// Half a CPU is this much, with what a short measurement and the edges of the limit's periods leave open.
const HALF: std::ops::RangeInclusive<f64> = 0.3..=0.65;
/// More than this share of the measured CPUs for others is called noisy (as in the report).
const FOREIGN_SHARE: f64 = 0.05;
const ONE_CPU: &str = "services and generator share one CPU, and each is held back by the other in any case";
/// Where others take more than this share beforehand, one more is not told apart from them.
const TOO_BUSY: f64 = 0.3;

/// What an act has brought.
#[derive(Debug)]
pub enum Evidence {
    /// A transcript for each fault, or why there is none.
    Proofs(Vec<Result<Transcript, String>>),
    /// A run folder that was read, and how its disturbance was made.
    Campaign {
        /// Plan and records.
        kept: Box<Kept>,
        /// For the certificate.
        how: Option<String>,
    },
}

/// Whether it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As it must be.
    Seen,
    /// Not so.
    NotSeen,
    /// There was no way to try it here and now.
    NotTried,
}

/// The outcome with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Whether it was seen.
    pub outcome: Outcome,
    /// What was found, in a sentence.
    pub found: String,
    /// The same as numbers, units in their names.
    pub figures: BTreeMap<String, f64>,
}

impl Judgement {
    /// Without figures.
    pub fn not_tried(reason: impl Into<String>) -> Judgement {
        Judgement { outcome: Outcome::NotTried, found: reason.into(), figures: BTreeMap::new() }
    }

    fn of(is_seen: bool, found: impl Into<String>, figures: &[(&str, f64)]) -> Judgement {
        let figures = figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let outcome = if is_seen { Outcome::Seen } else { Outcome::NotSeen };
        Judgement { outcome, found: found.into(), figures }
    }
}

fn proofs(evidence: &Evidence) -> &[Result<Transcript, String>] {
    match evidence {
        Evidence::Proofs(proofs) => proofs,
        Evidence::Campaign { .. } => &[],
    }
}

fn records(evidence: &Evidence) -> &[Record] {
    match evidence {
        Evidence::Campaign { kept, .. } => &kept.records,
        Evidence::Proofs(_) => &[],
    }
}

/// What failed in the only proof; an error where there was no proof.
fn failures(proof: Option<&Result<Transcript, String>>) -> Result<Vec<(CheckId, String)>, Judgement> {
    match proof {
        Some(Ok(transcript)) => Ok(transcript.failures().map(failure).collect()),
        Some(Err(reason)) => Err(Judgement::of(false, reason.clone(), &[])),
        None => Err(Judgement::of(false, "there was no proof", &[])),
    }
}

fn failure(result: &tare_service::verify::CheckResult) -> (CheckId, String) {
    match &result.outcome {
        Checked::Fail(reason) | Checked::Warn(reason) => (result.check, reason.clone()),
        Checked::Pass | Checked::Skipped(_) => (result.check, String::new()),
    }
}

fn said(failures: &[(CheckId, String)]) -> String {
    let mut names: Vec<&str> = failures.iter().map(|(check, _)| check.name()).collect();
    names.dedup();
    match failures.first() {
        None => "every check passed".to_owned(),
        Some((_, reason)) => format!("failed {}: {reason}", names.join(", ")),
    }
}

pub(super) fn honest(evidence: &Evidence) -> Judgement {
    failures(proofs(evidence).first())
        .map_or_else(|why| why, |failed| Judgement::of(failed.is_empty(), said(&failed), &[]))
}

/// One of these checks must fail.
fn refused_by(evidence: &Evidence, checks: &[CheckId]) -> Judgement {
    match failures(proofs(evidence).first()) {
        Err(why) => why,
        Ok(mut failed) => {
            failed.retain(|(check, _)| checks.contains(check));
            Judgement::of(!failed.is_empty(), said(&failed), &[])
        }
    }
}

pub(super) fn cache(evidence: &Evidence) -> Judgement {
    refused_by(evidence, &[CheckId::Response, CheckId::Fresh])
}

pub(super) fn wrong_length(evidence: &Evidence) -> Judgement {
    refused_by(evidence, &[CheckId::Response, CheckId::KeepAlive, CheckId::Fragments, CheckId::Pipelined])
}

pub(super) fn slow_close(evidence: &Evidence) -> Judgement {
    let [honest, slow] = [0, 1].map(|index| failures(proofs(evidence).get(index)));
    match (honest, slow) {
        (Ok(mut honest), Ok(mut slow)) => {
            for failed in [&mut honest, &mut slow] {
                failed.retain(|(check, _)| *check == CheckId::ConnectionClose);
            }
            let is_seen = honest.is_empty() && !slow.is_empty();
            let other = if honest.is_empty() { "passed" } else { "failed it too" };
            Judgement::of(is_seen, format!("{}; the other {other}", said(&slow)), &[])
        }
        (Err(why), _) | (_, Err(why)) => why,
    }
}

pub(super) fn twins(evidence: &Evidence) -> Judgement {
    let records = records(evidence);
    let of = |metric| look(&differences(records, TWIN, RAW_SOCKET, metric));
    let (Some((cpu, cpu_differs)), Some((rate, rate_differs))) =
        (of(Metric::CpuPerRequest), of(Metric::Throughput))
    else {
        return Judgement::of(false, no_blocks(records), &[]);
    };
    let wrong: u64 = [RAW_SOCKET, TWIN].iter().map(|row| sums(closed(records, row)).wrong).sum();
    let has_interval = cpu.low.is_some() && rate.low.is_some();
    let found = format!(
        "after {} blocks CPU per request is {}, throughput {}; {wrong} requests failed",
        cpu.n,
        ratio(&cpu),
        ratio(&rate)
    );
    let figures = [ratio_figures("cpu_ratio", &cpu), ratio_figures("throughput_ratio", &rate)].concat();
    let figures: Vec<(&str, f64)> = figures.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    Judgement::of(has_interval && !cpu_differs && !rate_differs && wrong == 0, found, &figures)
}

pub(super) fn slower_3(evidence: &Evidence) -> Judgement {
    slower(evidence, 0.03)
}

pub(super) fn slower_10(evidence: &Evidence) -> Judgement {
    slower(evidence, 0.10)
}

/// The interval must reach into the third around what was added: the calibration is no more exact than that where
/// other programs change what a request costs.
fn slower(evidence: &Evidence, share: f64) -> Judgement {
    let records = records(evidence);
    let Some((cpu, is_separated)) = look(&differences(records, SUBJECT, RAW_SOCKET, Metric::CpuPerRequest))
    else {
        return Judgement::of(false, no_blocks(records), &[]);
    };
    let (least, most) = (1.0 + share * 2.0 / 3.0, 1.0 + share * 4.0 / 3.0);
    let (low, high) = (cpu.low.unwrap_or(0.0), cpu.high.unwrap_or(f64::INFINITY));
    let is_about = low <= most && high >= least;
    let found = match is_separated {
        true => format!("after {} blocks: CPU per request is {}", cpu.n, ratio(&cpu)),
        false => format!("not found within {} blocks: CPU per request is {}", cpu.n, ratio(&cpu)),
    };
    let figures = ratio_figures("cpu_ratio", &cpu);
    let figures: Vec<(&str, f64)> = figures.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    Judgement::of(is_separated && low > 1.0 && is_about, found, &figures)
}

fn no_blocks(records: &[Record]) -> String {
    let failed = records.iter().find_map(|record| match record {
        Record::Failed { row, reason, .. } => Some(format!("{row} failed: {reason}")),
        _ => None,
    });
    failed.unwrap_or_else(|| "no block was finished".to_owned())
}

fn ratio(estimate: &tare_stats::RatioEstimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{:.4} ({low:.4} to {high:.4})", estimate.ratio),
        _ => format!("{:.4} (too few blocks for an interval)", estimate.ratio),
    }
}

fn ratio_figures(name: &str, estimate: &tare_stats::RatioEstimate) -> Vec<(String, f64)> {
    let ends = [("_low", estimate.low), ("_high", estimate.high)];
    let ends = ends.iter().filter_map(|(end, value)| Some((format!("{name}{end}"), (*value)?)));
    let whole = [(name.to_owned(), estimate.ratio), ("blocks".to_owned(), estimate.n as f64)];
    whole.into_iter().chain(ends).collect()
}

/// A request that is due s ms into a stop waits 200 - s ms, and one in five is due in a stop: 1% of all wait longer than
/// 95% of 200 ms, 10% longer than half of it.
pub(super) fn stall(evidence: &Evidence) -> Judgement {
    let records = records(evidence);
    let stopped = records.iter().find_map(|record| match record {
        Record::Stopped(stopped) => Some((stopped.latency?, *stopped.latency_open.first()?)),
        _ => None,
    });
    let Some((closed, open)) = stopped else { return Judgement::of(false, no_blocks(records), &[]) };
    let ms = |ns: u64| ns as f64 / 1e6;
    let (p90, p99, closed_p99) = (ms(open.p90_ns), ms(open.p99_ns), ms(closed.p99_ns));
    let is_seen = (180.0..=202.0).contains(&p99) && (85.0..=118.0).contains(&p90);
    let found =
        format!("p99 {p99:.1} ms, p90 {p90:.1} ms (a closed loop would have said: p99 {closed_p99:.2} ms)");
    if let Some(others) = crowded(evidence).filter(|_| !is_seen) {
        return Judgement::not_tried(format!("{others}: {found}"));
    }
    let figures = [("p99_ms", p99), ("p90_ms", p90), ("closed_p99_ms", closed_p99)];
    Judgement::of(is_seen, found, &figures)
}

/// So large a share of the requests must have failed, and the report must give no figures for the row.
fn erring(evidence: &Evidence, least: f64, most: f64) -> Judgement {
    let Evidence::Campaign { kept, .. } = evidence else { return Judgement::of(false, "not loaded", &[]) };
    let all = sums(closed(&kept.records, SUBJECT));
    if all.sent == 0 {
        return Judgement::of(false, no_blocks(&kept.records), &[]);
    }
    let share = all.wrong as f64 / all.sent as f64;
    let report = report::compute(kept);
    let has_figures = |row: &report::RowReport| row.label == SUBJECT && row.state == State::Measured;
    let is_refused = !report.rows.iter().any(has_figures);
    let first = closed(&kept.records, SUBJECT).find_map(|slice| slice.first_failure.as_deref());
    let row = if is_refused { "the row has no figures" } else { "the row has figures all the same" };
    let first = short(first.unwrap_or("none"));
    let found = format!("{:.2}% of {} requests failed, {row}; the first: {first}", share * 100.0, all.sent);
    Judgement::of(is_refused && (least..=most).contains(&share), found, &[("failure_share", share)])
}

/// A failure that quotes a whole answer is longer than a line.
fn short(text: &str) -> String {
    const CHARS: usize = 120;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

pub(super) fn dropper(evidence: &Evidence) -> Judgement {
    erring(evidence, 0.007, 0.013)
}

/// What comes after the byte too much may spoil the next answer on that connection as well.
pub(super) fn some_wrong_lengths(evidence: &Evidence) -> Judgement {
    erring(evidence, 0.007, 0.025)
}

pub(super) fn late_cache(evidence: &Evidence) -> Judgement {
    erring(evidence, 0.5, 1.0)
}

/// Told where others took so much of the CPUs that what was not seen may be their doing.
fn crowded(evidence: &Evidence) -> Option<String> {
    let Evidence::Campaign { kept, .. } = evidence else { return None };
    let slices = kept.records.iter().filter_map(|record| match record {
        Record::Slice(slice) => Some(slice),
        _ => None,
    });
    let all = sums(slices);
    let foreign = share(all.foreign_ns? as f64, &all, kept.header.plan.pinning.all().len());
    (foreign > TOO_BUSY).then(|| format!("others took {:.0}% of the measured CPUs as well", foreign * 100.0))
}

fn share(part_ns: f64, all: &Sums, cpus: usize) -> f64 {
    part_ns / (all.elapsed_ns as f64 * cpus.max(1) as f64)
}

pub(super) fn throttled(evidence: &Evidence) -> Judgement {
    let Evidence::Campaign { kept, how } = evidence else { return Judgement::of(false, "not loaded", &[]) };
    let all = sums(closed(&kept.records, SUBJECT));
    if all.elapsed_ns == 0 {
        return Judgement::of(false, no_blocks(&kept.records), &[]);
    }
    if !kept.header.plan.pinning.apart() {
        return Judgement::not_tried(ONE_CPU);
    }
    let plan = &kept.header.plan;
    let server = share(all.server_ns as f64, &all, plan.pinning.server.len());
    let generator = share(all.generator_ns as f64, &all, plan.pinning.generator.len());
    let is_seen = HALF.contains(&server) && generator < SATURATED;
    let found = format!(
        "the service was busy for {:.0}% of the time and the generator for {:.0}%: not server-bound (held back {})",
        server * 100.0,
        generator * 100.0,
        how.as_deref().unwrap_or("somehow"),
    );
    if let Some(others) = crowded(evidence).filter(|_| !is_seen) {
        return Judgement::not_tried(format!("{others}: {found}"));
    }
    Judgement::of(is_seen, found, &[("server_cpu_share", server), ("generator_cpu_share", generator)])
}

/// Blocks with the spinner beside blocks without: on a busy machine others are told of in any case, and the difference is
/// what this one adds. Half of one CPU, of all that are measured, is what it should get.
pub(super) fn spinner(evidence: &Evidence) -> Judgement {
    let Evidence::Campaign { kept, .. } = evidence else { return Judgement::of(false, "not loaded", &[]) };
    let in_blocks = |disturbed: bool| {
        let slices = closed(&kept.records, SUBJECT);
        sums(slices.filter(|slice| Disturbance::Spinner.is_in(slice.block) == disturbed))
    };
    let (quiet, disturbed) = (in_blocks(false), in_blocks(true));
    if quiet.answered == 0 || disturbed.answered == 0 {
        return Judgement::of(false, no_blocks(&kept.records), &[]);
    }
    let cpus = kept.header.plan.pinning.all().len();
    let of = |all: &Sums| all.foreign_ns.map(|foreign_ns| share(foreign_ns as f64, all, cpus));
    let (Some(before), Some(with)) = (of(&quiet), of(&disturbed)) else {
        return Judgement::not_tried("/proc/stat does not tell how long the CPUs idled");
    };
    let cost = |all: &Sums| all.server_ns as f64 / all.answered as f64;
    let cpu_ratio = cost(&disturbed) / cost(&quiet);
    let percent = |share: f64| (share * 100.0).max(0.0);
    let found = format!(
        "others took {:.0}% of the measured CPUs with it and {:.0}% without; CPU per request with it is {cpu_ratio:.3} of \
         that without",
        percent(with),
        percent(before)
    );
    if before > TOO_BUSY {
        return Judgement::not_tried(format!("the machine is too busy to tell: {found}"));
    }
    let figures =
        [("foreign_cpu_share", with), ("foreign_cpu_share_without", before), ("cpu_ratio", cpu_ratio)];
    Judgement::of(with > FOREIGN_SHARE && with - before > FOREIGN_SHARE, found, &figures)
}

#[cfg(test)]
mod tests;
