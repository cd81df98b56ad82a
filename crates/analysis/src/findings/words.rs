//! Findings as sentences. Each begins with what is wrong, in lower case, and names the remedy if the user has one.

use std::{collections::BTreeMap, fmt};

use super::{KeptProcesses, RowIssue, RunIssue, RunningRow, Scope, SlowLink};
use crate::{
    accounting::CpuAccounting,
    agents::{DiscardedSlices, UnequalAgents},
    figures::{percent, several, time},
    validity::{Dropped, FAILURE_SHARE_MAX},
};
use tare_bench::metric::Metric;
use tare_host::process::{PortOwner, Priority, Unseen};
use tare_stats::Warning;

pub(super) fn prefix(scope: &Scope) -> String {
    match scope {
        Scope::Run => String::new(),
        Scope::Row(row) => format!("{row}: "),
        Scope::Cell { row, load } => format!("{row}, {load}: "),
        Scope::Pair(one, other) => format!("{one} and {other}: "),
    }
}

impl fmt::Display for RowIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RowIssue as Is;
        f.write_str(&match self {
            Is::Throttled { share } => throttled(*share),
            Is::Interference { share, server_share, pressure_share } => {
                interference(*share, *server_share, *pressure_share)
            }
            Is::LeftCpus { threads, of, name, given, may_use, ran_on } => {
                left_cpus((*threads, *of, name), given, may_use, ran_on)
            }
            Is::OtherPriority { threads, of, name, given, found } => {
                other_priority((*threads, *of, name), *given, *found)
            }
            Is::MoreThreads { busy_cpus, threads } => format!(
                "more threads: {busy_cpus:.2} CPUs were busy with it on average, and it was given THREADS={threads}"
            ),
            Is::ImpossibleCost { cpu_ns_per_request } => impossible_cost(*cpu_ns_per_request),
            Is::ServedByOther(owner) => served_by_other(owner),
            Is::CpuUnknown(unseen) => cpu_unknown(*unseen),
            Is::GeneratorBound { generator_share, server_share } => {
                generator_bound(*generator_share, *server_share)
            }
            Is::LinkBound { unread, busy_share } => link_bound(*unread, *busy_share),
            Is::NotServerBound { server_share } => not_server_bound(*server_share),
            Is::NeitherSaturated { server_share, reference_share } => {
                neither_saturated(*server_share, *reference_share)
            }
            Is::LoadBound { users, ceiling_per_second, waited_share } => {
                load_bound(*users, *ceiling_per_second, *waited_share)
            }
            Is::WrongAnswers { wrong, sent, by_class, first } => {
                wrong_answers((*wrong, *sent), by_class, first.as_ref())
            }
            Is::Failing { failed, sent, by_class, first } => failing((*failed, *sent), by_class, first.as_ref()),
            Is::ClosedAtThaw(closed) => closed.to_string(),
            Is::SomeFailed { failed, sent, first } => {
                format!("{failed} of {sent} requests failed{}", the_first(first.as_ref()))
            }
            Is::NoAnswer => "no answer at all".to_owned(),
            Is::NoProgress => "no progress: a whole block without an answer".to_owned(),
            Is::Inconsistent { counted, by_law } => inconsistent(*counted, *by_law),
            Is::LateGenerator { load, lag_ns } => late(load.as_deref(), *lag_ns),
            Is::LowerBounds => "some requests were never answered, so these are lower bounds".to_owned(),
            Is::NeverSteady { load_seconds } => format!(
                "no steady state: the cost of a request was still changing after {load_seconds:.0} s of load"
            ),
            Is::SteadyUnknown { load_seconds, taken_seconds } => steady_unknown(*load_seconds, *taken_seconds),
            Is::StillWarming { more_share } => still_warming(*more_share),
            Is::Rising { more_share } => rising(*more_share),
            Is::CostStep(step) => step.to_string(),
            Is::Stalls(stalls) => stalls.to_string(),
            Is::LateAnswers(late) => late.to_string(),
            Is::MemoryGrowth(growth) => growth.to_string(),
            Is::UncleanStop { what } => what.clone(),
            Is::Sample { metric, warning } => sample(*metric, warning),
            Is::LateStarts { late, starts } => {
                format!("late: in {late} of {starts} starts the generator itself was late in too many windows")
            }
            Is::AllRatesHeld { held, starts, generator_was_late } => {
                all_rates_held(*held, *starts, *generator_was_late)
            }
            Is::NoRateHeld { held_none, starts } => format!("in {held_none} of {starts} starts no rate held"),
            Is::ShortWindow { due, needed } => format!(
                "{due:.0} requests were due in a window, and the SLO takes {needed}: give a longer `--window`"
            ),
            Is::NotMeasured => "not measured".to_owned(),
            Is::RoundsInvalid { invalid, rounds, first } => rounds_invalid(*invalid, *rounds, first),
        })
    }
}

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

fn whole(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

fn the_first(first: Option<&String>) -> String {
    first.map(|first| format!("; the first: {first}")).unwrap_or_default()
}

fn throttled(share: f64) -> String {
    let share = whole(share);
    format!(
        "throttled: a CPU quota kept the service from running for {share} of the time: lift it (`cpu.max`, \
         `cpu.cfs_quota_us`)"
    )
}

fn interference(share: f64, server_share: f64, pressure_share: Option<f64>) -> String {
    let waited = pressure_share.map_or(String::new(), |pressure| {
        format!(", some process waited for a CPU for {} of the time", whole(pressure))
    });
    format!(
        "interference: other programs took {} of the measured CPUs{waited}, and the service was busy for {}",
        whole(share),
        whole(server_share)
    )
}

/// `2 of 4 threads, such as "worker",`.
fn some_threads((threads, of, name): (u64, u64, &str)) -> String {
    format!("{threads} of {of} threads, such as {name:?},")
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn left_cpus(which: (u64, u64, &str), given: &[usize], may_use: &[usize], ran_on: &[usize]) -> String {
    format!(
        "left its CPUs: {} may use the CPUs {} and ran last on {}, but the service was given {}",
        some_threads(which),
        list(may_use),
        list(ran_on),
        list(given)
    )
}

fn other_priority(which: (u64, u64, &str), given: Priority, found: Priority) -> String {
    let of = |priority: Priority| format!("nice {} of {}", priority.nice, priority.policy_name());
    format!(
        "changed its priority: {} have {}, but the service was started with {}",
        some_threads(which),
        of(found),
        of(given)
    )
}

fn served_by_other(owner: &PortOwner) -> String {
    let listens = match &owner.process {
        Some(process) => format!("{process} listens on its port and was"),
        None => "what listens on its port is no process that Tare sees, and was".to_owned(),
    };
    format!(
        "no CPU time: {listens} not started by its command, as a container engine's: neither is its CPU time counted nor is it \
         frozen; let `command` start the service itself"
    )
}

fn cpu_unknown(unseen: Unseen) -> String {
    let remedy = match unseen {
        Unseen::OtherHost => "",
        Unseen::OtherNetwork | Unseen::OtherUser => "; name it by --pid, --cgroup or --container",
    };
    format!("no CPU time and no memory: {unseen}{remedy}")
}

fn impossible_cost(cpu_ns_per_request: f64) -> String {
    format!(
        "no CPU time: {} of CPU for a request is less than a system call takes, so it works in processes that were not started by \
         its command, such as those of a container engine",
        time(cpu_ns_per_request)
    )
}

fn generator_bound(generator_share: f64, server_share: Option<f64>) -> String {
    let generator = whole(generator_share);
    let server = server_share
        .map_or("of the service it is not known".to_owned(), |share| format!("the service {}", whole(share)));
    format!("generator-bound: the generator was busy {generator} of the time and {server}")
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

fn link_bound(unread: u64, busy_share: f64) -> String {
    match unread {
        0 => format!("link-bound: the link's thread took {} of a CPU", whole(busy_share)),
        _ => format!("link-bound: the link was too slow to read {unread} packets"),
    }
}

fn not_server_bound(server_share: f64) -> String {
    format!(
        "not server-bound: the service's CPUs were busy with it for {} of the time, so its capacity is more than its \
         throughput",
        whole(server_share)
    )
}

fn neither_saturated(server_share: f64, reference_share: f64) -> String {
    format!(
        "no throughput ratio: its CPUs were busy for {} of the time and the reference's for {}, so their rates do not say which \
         one can do more",
        whole(server_share),
        whole(reference_share)
    )
}

fn load_bound(users: usize, ceiling_per_second: f64, waited_share: f64) -> String {
    format!(
        "load-bound: {users} users who think cannot pass {ceiling_per_second:.0}/s on average, and they waited for {:.1}% of \
         the time",
        waited_share * 100.0
    )
}

fn wrong_answers(
    (wrong, sent): (u64, u64),
    by_class: &BTreeMap<String, u64>,
    first: Option<&String>,
) -> String {
    let (classes, first) = (classes(by_class), the_first(first));
    format!("wrong answers: {wrong} of {sent} requests, and not one is allowed: {classes}{first}")
}

fn failing((failed, sent): (u64, u64), by_class: &BTreeMap<String, u64>, first: Option<&String>) -> String {
    let (classes, first) = (classes(by_class), the_first(first));
    let limit = percent(FAILURE_SHARE_MAX);
    format!(
        "failing: {failed} of {sent} requests without an answer, and {limit} are allowed: {classes}{first}"
    )
}

/// `reset 2, response-timeout 1`.
pub(crate) fn classes(by_class: &BTreeMap<String, u64>) -> String {
    let classes: Vec<String> = by_class.iter().map(|(class, count)| format!("{class} {count}")).collect();
    classes.join(", ")
}

fn inconsistent(counted: f64, by_law: f64) -> String {
    format!(
        "inconsistent: {counted:.2} requests were in flight on average, but rate x time gives {by_law:.2}; report it as a \
         bug of the load engine"
    )
}

fn late(load: Option<&str>, lag_ns: f64) -> String {
    let lag_ms = lag_ns / 1e6;
    match load {
        Some(load) => format!(
            "latency at {load}: late: in half of the slices the generator sent 1% of the requests more than {lag_ms:.1} ms \
             after they were due"
        ),
        None => format!(
            "late: 1% of the requests left more than {lag_ms:.3} ms after they were due; give the generator a CPU of its own \
             or ask for a lower rate"
        ),
    }
}

fn steady_unknown(load_seconds: f64, taken_seconds: f64) -> String {
    format!(
        "its warm-up could not be determined: others took the CPUs in {taken_seconds:.0} of the pilot's {load_seconds:.0} s"
    )
}

fn still_warming(more_share: f64) -> String {
    format!(
        "not warm: the first half of its slices in a block cost {} more CPU than the second: raise `warm-up`",
        percent(more_share)
    )
}

fn rising(more_share: f64) -> String {
    format!(
        "level change: the second half of its slices in a block cost {} more CPU than the first: what it does for a request \
         grows with its age",
        percent(more_share)
    )
}

fn sample(metric: Option<Metric>, warning: &Warning) -> String {
    let metric = metric.map_or(String::new(), |metric| format!("{metric}: "));
    format!("{metric}{warning}")
}

fn all_rates_held(held: usize, starts: usize, generator_was_late: bool) -> String {
    let up_to = match generator_was_late {
        false => "what it answers in a closed loop",
        true => "where the generator was late",
    };
    format!("in {held} of {starts} starts all rates held, up to {up_to}")
}

fn rounds_invalid(invalid: usize, rounds: usize, first: &RowIssue) -> String {
    match rounds {
        1 => first.to_string(),
        _ => format!("{invalid} of {rounds} rounds, the first: {first}"),
    }
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

fn cpu_time(found: &CpuAccounting) -> String {
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
