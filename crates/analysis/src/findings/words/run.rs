//! Findings of a run as a whole.

use std::fmt;
use tare_base::units::several;

use super::{list, served_by_other, whole};
use crate::{
    accounting::CpuTotals,
    agents::{DiscardedSlices, UnequalAgents},
    figures::{percent, time},
    findings::{KeptProcesses, NoBlock, PilotLoad, RunIssue, RunningRow, SlowLink},
    validity::Dropped,
};
use tare_bench::metric::Metric;
use tare_stats::Warning;

impl fmt::Display for RunIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RunIssue as Is;
        f.write_str(&match self {
            Is::Damaged { what } => what.clone(),
            Is::NoisyHost { share } => noisy_host(*share),
            Is::AlreadyRunning { rows } => already_running(rows),
            Is::SharedCpus => "services and generator shared a CPU: each took time from the other".to_owned(),
            Is::Unfinished { in_progress: true } => {
                "the run is in progress: the figures are what was measured so far".to_owned()
            }
            Is::Unfinished { in_progress: false } => {
                "the run has no end: it was cut off, or it is still in progress".to_owned()
            }
            Is::NoBlock(found) => no_block(found),
            Is::TooFewBlocks { blocks, needed } => {
                Warning::TooFewBlocks { n: *blocks, needed: *needed }.to_string()
            }
            Is::InterimAnalyses { blocks } => interim_analyses(blocks),
            Is::UnplannedLooks => "the run ended because of what was seen in it, and its plan does not say when it was \
                                   looked at: intervals and ranks claim too much"
                .to_owned(),
            Is::AfterTheLook { look, later } => {
                format!("the figures are those of the look after {look} blocks; {later} came after it")
            }
            Is::SlicesDropped(dropped) => slices_dropped(dropped),
            Is::SlicesDiscarded(discarded) => slices_discarded(discarded),
            Is::UnequalAgents(UnequalAgents { slices, of, first }) => format!(
                "in {slices} of {of} slices the slow answers were those of some agents, so that their percentiles are of none; the \
                 first: {first}"
            ),
            Is::BlocksDisturbed { blocks } => blocks_disturbed(*blocks),
            Is::BlocksCut { cut, begun } => {
                format!("{cut} of {begun} blocks were cut off: they count with the rounds that are complete")
            }
            Is::CpuTime(accounting) => cpu_time(accounting),
            Is::ProcessesKept { rows } => processes_kept(rows),
            Is::PilotsCutShort { rows, needed_seconds } => pilots_cut_short(rows, *needed_seconds),
            Is::TwinSeparated { original, twin, by, value, low, high } => {
                twin_separated([original, twin], *by, [*value, *low, *high])
            }
            Is::TwinFailed { original, twin, reason } => {
                format!("the twin of {original}, {twin}, has no figures: {reason}")
            }
            Is::Scaled { scale } => format!(
                "run at scale {scale}: times, numbers of messages and of connections are that part of the published ones"
            ),
            Is::OtherLoad { here, published } => {
                format!("not the published load: {here}; as published: {published}")
            }
            Is::GeneratorShared { threads, cpus } => {
                format!("the generator's {threads} threads, as published, shared {}", several(*cpus, "CPU"))
            }
            Is::OtherThreads { row, threads } => format!("{row} ran with THREADS={threads} at every point"),
            Is::ServedByOther { row, owner } => format!("{row}: {}", served_by_other(owner)),
            Is::SlowLink(link) => slow_link(link),
        })
    }
}

fn already_running(rows: &[RunningRow]) -> String {
    let of = |RunningRow { row, server }: &RunningRow| {
        let process = server.processes.first().map_or("hidden".to_owned(), ToString::to_string);
        let more = match server.processes.len() {
            0 | 1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let group = server.cgroup.as_ref().map(|folder| format!(" in the cgroup {}", folder.display()));
        let cpus =
            (!server.cpus.is_empty()).then(|| format!(", which may use the CPUs {}", list(&server.cpus)));
        format!("{row} ({process}{more}{}{})", group.unwrap_or_default(), cpus.unwrap_or_default())
    };
    let rows: Vec<String> = rows.iter().map(of).collect();
    format!(
        "not started by Tare: {}: the same processes in all blocks, and never frozen: what one does while it idles is \
         interference for the others",
        rows.join(", ")
    )
}

fn no_block(found: &NoBlock) -> String {
    let NoBlock { elapsed_seconds, pilots_seconds, pilots, slices, is_interrupted } = found;
    let of = |pilot: &PilotLoad| {
        let silent = match pilot.silent_seconds {
            0.0 => String::new(),
            seconds => format!(", in {seconds:.1} s of which it answered nothing"),
        };
        format!("{} {:.1} s of load{silent}", pilot.row, pilot.load_seconds)
    };
    let each: Vec<String> = pilots.iter().map(of).collect();
    let was_silent = pilots.iter().any(|pilot| pilot.silent_seconds > 0.0);
    let end = match (is_interrupted, was_silent) {
        (true, _) => " until it was interrupted: resume it",
        (false, true) => ": find out why it took so long, or give a longer --budget",
        (false, false) => ": give a longer --budget",
    };
    let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    format!(
        "no block has a round: of {elapsed_seconds:.1} s the pilots took {pilots_seconds:.1} s{each}, and the starts, warm-ups and \
         {} of the first block {:.1} s{end}",
        several(*slices, "slice"),
        (elapsed_seconds - pilots_seconds).max(0.0)
    )
}

fn noisy_host(share: f64) -> String {
    format!(
        "noisy host: other programs took {} of the measured CPUs: trust CPU time per request more than throughput, or run \
         again on a quiet machine",
        whole(share)
    )
}

fn interim_analyses(blocks: &[usize]) -> String {
    let blocks: Vec<String> = blocks.iter().map(usize::to_string).collect();
    format!(
        "the results were looked at after {} blocks: intervals and ranks are those of the last look reached, and hold at all \
         looks together",
        blocks.join(", ")
    )
}

fn slices_discarded(discarded: &DiscardedSlices) -> String {
    let DiscardedSlices { slices, of, lost, by_row, first } = discarded;
    let rows: Vec<String> = by_row.iter().map(|(row, slices)| format!("{row} {slices}")).collect();
    let lost = match lost {
        0 => String::new(),
        lost => format!(", {lost} of them because an agent was lost"),
    };
    format!(
        "{slices} of {of} slices were discarded and have no figures{lost} ({}): one agent that is not valid is enough; the first: {first}",
        rows.join(", ")
    )
}

fn slices_dropped(dropped: &Dropped) -> String {
    let reasons = [
        (dropped.slices_taken, "other programs ran on the measured CPUs"),
        (dropped.slices_stolen, "the hypervisor took CPU time"),
        (dropped.slices_inconsistent, "the generator's counts contradict each other"),
    ];
    let reasons = reasons.into_iter().filter(|(slices, _)| *slices > 0);
    let reasons: Vec<String> =
        reasons.map(|(slices, why)| format!("in {} {why}", several(slices, "slice"))).collect();
    let slices = (dropped.slices > 0)
        .then(|| format!("{} of {} slices were dropped", dropped.slices, dropped.of_slices));
    let (rounds, all) = (dropped.rounds, dropped.of_rounds);
    let rounds = (rounds > 0).then(|| format!("{rounds} of {all} rounds were dropped for all rows"));
    let what: Vec<String> = slices.into_iter().chain(rounds).collect();
    format!("{}: {}", what.join(", and "), reasons.join(", "))
}

fn blocks_disturbed(blocks: usize) -> String {
    format!(
        "in {} more than half of the rounds, or of a row's slices, were disturbed: they count as they are, since no block is \
         dropped for what happened in it",
        several(blocks, "block")
    )
}

fn cpu_time(found: &CpuTotals) -> String {
    let share = |ns: u64| percent(ns as f64 / found.all_ns as f64);
    let backing = Some(found.backing_ns).filter(|ns| *ns > 0);
    let backing = backing.map_or(String::new(), |ns| format!(" + what they work with {}", share(ns)));
    let parts = format!(
        "CPU time: services {}{backing} + generator {} + others {} + idle {} + stolen {} = {} of the measured CPUs' time",
        share(found.server_ns),
        share(found.generator_ns),
        share(found.others_ns),
        share(found.idle_ns),
        share(found.steal_ns),
        percent(1.0 + found.residual_share)
    );
    if found.closes() {
        return parts;
    }
    let why = match found.lacks_idle_transitions() {
        true => {
            "the missing time is on the generator's CPUs: transitions to and from idle are charged to no clock"
        }
        false => "some time is counted by no clock, or by two",
    };
    format!("{parts}; that is further from 100% than {}: {why}", percent(found.tolerance_share))
}

fn processes_kept(rows: &[KeptProcesses]) -> String {
    let each = rows.iter().map(|kept| format!("{} ({} in {} blocks)", kept.row, kept.starts, kept.blocks));
    format!(
        "slow to warm up, so a process was kept for several blocks: {}; their intervals count starts (Student's t), not \
         blocks",
        each.collect::<Vec<_>>().join(", ")
    )
}

fn pilots_cut_short(rows: &[String], needed_seconds: f64) -> String {
    format!(
        "there was less than {needed_seconds:.1} s of load to find out how long these take to warm up, so it is not known: {}; a \
         longer --budget or `warm-up-max` finds it out",
        rows.join(", ")
    )
}

fn twin_separated([original, twin]: [&str; 2], by: Metric, figures: [f64; 3]) -> String {
    let [value, low, high] = figures.map(|figure| format!("{:.1}", figure * 100.0));
    format!(
        "{original} is separated from its twin, which is the same build in a process of its own: {twin} has {value}% of its \
         {by} ({low} .. {high}%). Chance does this in one run of twenty; otherwise this run separates rows that are equal"
    )
}

fn slow_link(link: &SlowLink) -> String {
    let cpu = link
        .cpu_ns_per_packet
        .map_or(String::new(), |ns| format!(", took {} of the generator's CPUs for each packet", time(ns)));
    format!(
        "the slow link is {}{cpu}; {} packets, {} lost, {} dropped; 1% came out more than {} late (median over cells)",
        link.kind,
        link.packets,
        link.lost,
        link.dropped,
        time(link.late_ns_p99)
    )
}
