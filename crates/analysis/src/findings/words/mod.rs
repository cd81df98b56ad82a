//! Findings as sentences. Each begins with the problem, in lower case, and names the user's remedy.

mod remedy;
mod run;

use std::{collections::BTreeMap, fmt};
use tare_base::units::several;

use super::{RowIssue, Scope};
use crate::{
    figures::{percent, time},
    validity::FAILURE_SHARE_MAX,
};
use tare_bench::metric::Metric;
use tare_host::process::{PortOwner, Priority, Process, Unseen, Unwaited};
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
            Is::MoreThreads { busy_cpus, threads } => more_threads(*busy_cpus, *threads),
            Is::ThreadsAtWork { at_work, threads } => threads_at_work(*at_work, *threads),
            Is::ImpossibleCost { cpu_ns_per_request } => impossible_cost(*cpu_ns_per_request),
            Is::ServedByOther(owner) => served_by_other(owner),
            Is::CpuUnknown(unseen) => cpu_unknown(*unseen),
            Is::CpuEnded(ended) => cpu_ended(ended),
            Is::CpuElsewhere { process, others_ns_per_request, own_ns_per_request } => {
                cpu_elsewhere(process.as_ref(), *others_ns_per_request, *own_ns_per_request)
            }
            Is::GeneratorBound { generator_share: own, server_share } => generator_bound(*own, *server_share),
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
            Is::Failing { failed, sent, by_class, first } => {
                failing((*failed, *sent), by_class, first.as_ref())
            }
            Is::ClosedAtThaw(closed) => closed.to_string(),
            Is::SomeFailed { failed, sent, first } => some_failed((*failed, *sent), first.as_ref()),
            Is::NoAnswer => "no answer at all".to_owned(),
            Is::NoProgress => "no progress: a whole block without an answer".to_owned(),
            Is::Inconsistent { counted, by_law } => inconsistent(*counted, *by_law),
            Is::LateGenerator { load, lag_ns } => late(load.as_deref(), *lag_ns),
            Is::LowerBounds => "some requests were never answered, so these are lower bounds".to_owned(),
            Is::NeverSteady { load_seconds } => never_steady(*load_seconds),
            Is::SteadyUnknown { load_seconds, taken_seconds } => {
                steady_unknown(*load_seconds, *taken_seconds)
            }
            Is::StillWarming { more_share } => still_warming(*more_share),
            Is::Rising { more_share } => rising(*more_share),
            Is::CostStep(step) => step.to_string(),
            Is::Stalls(stalls) => stalls.to_string(),
            Is::LateAnswers(late) => late.to_string(),
            Is::MemoryGrowth(growth) => growth.to_string(),
            Is::UncleanStop { what } => what.clone(),
            Is::Sample { metric, warning } => sample(*metric, warning),
            Is::LateStarts { late, starts } => late_starts(*late, *starts),
            Is::AllRatesHeld { held, starts, generator_was_late } => {
                all_rates_held(*held, *starts, *generator_was_late)
            }
            Is::NoRateHeld { held_none, starts } => no_rate_held(*held_none, *starts),
            Is::ShortWindow { due, needed } => short_window(*due, *needed),
            Is::TooFewRequests { percentile, requests, needed } => {
                too_few_requests(*percentile, *requests, *needed)
            }
            Is::FailedInWarmUp { failed, by_class, processes } => {
                failed_in_warm_up(*failed, by_class, *processes)
            }
            Is::NotMeasured => "not measured".to_owned(),
            Is::RoundsInvalid { invalid, rounds, first } => rounds_invalid(*invalid, *rounds, first),
        })
    }
}

fn whole(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

fn the_first(first: Option<&String>) -> String {
    first.map(|first| format!("; the first: {first}")).unwrap_or_default()
}

fn more_threads(busy_cpus: f64, threads: usize) -> String {
    format!(
        "more threads: {busy_cpus:.2} CPUs were busy with it on average, and it was given THREADS={threads}"
    )
}

fn threads_at_work(at_work: f64, threads: usize) -> String {
    format!(
        "more threads: {at_work:.1} of its threads were at work at a time on average, and it was given THREADS={threads}: \
         they shared its CPUs, and what a request costs is that of {at_work:.1} threads, not of {threads}"
    )
}

fn short_window(due: f64, needed: u64) -> String {
    format!("{due:.0} requests were due in a window, and the SLO takes {needed}: give a longer `--window`")
}

fn too_few_requests(percentile: f64, requests: f64, needed: u64) -> String {
    format!(
        "{requests:.0} requests in a block, and the {percentile:.0}th percentile takes {needed}: give more connections, or \
         longer blocks by a longer --budget"
    )
}

fn failed_in_warm_up(failed: u64, by_class: &BTreeMap<String, u64>, processes: usize) -> String {
    format!(
        "fails at first: {} had no right answer in the warm-up of {} ({}); the figures are of the time after",
        several(failed as usize, "request"),
        several(processes, "start"),
        classes(by_class)
    )
}

fn never_steady(load_seconds: f64) -> String {
    format!("no steady state: the cost of a request was still changing after {load_seconds:.0} s of load")
}

fn late_starts(late: usize, starts: usize) -> String {
    format!(
        "late: in {late} of {} the generator itself was late in too many windows",
        several(starts, "start")
    )
}

fn some_failed((failed, sent): (u64, u64), first: Option<&String>) -> String {
    format!("{failed} of {sent} requests failed{}", the_first(first))
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

fn cpu_ended(ended: &Unwaited) -> String {
    let (what, took) = match ended {
        Unwaited::Seen(process) => {
            (format!("{process} of it ended under load, and none of it waited for that"), "it")
        }
        Unwaited::Unseen => {
            ("processes of it ended under load, and none of it waited for them".to_owned(), "they")
        }
    };
    format!(
        "no CPU time: {what}, so what {took} took is not known; name its cgroup by --cgroup or its container by --container, or let \
         Tare start it by its command"
    )
}

fn cpu_elsewhere(process: Option<&Process>, others_ns_per_request: f64, own_ns_per_request: f64) -> String {
    let (others, own) = (time(others_ns_per_request), time(own_ns_per_request));
    let (who, remedy) = match process {
        Some(process) => (
            format!("{process}"),
            "if it is a part of the service, name the cgroup of both by --cgroup or their container by --container; if not, name the \
             service's own process by --pid",
        ),
        None => (
            "processes that are not its own, or that ended,".to_owned(),
            "name its cgroup by --cgroup or its container by --container, or let Tare start it by its command",
        ),
    };
    format!(
        "no CPU time: while it was loaded, {who} took {others} of CPU for each of its requests, and it took {own} itself, so others \
         seem to work for it; {remedy}"
    )
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

fn no_rate_held(held_none: usize, starts: usize) -> String {
    format!("in {held_none} of {} no rate held", several(starts, "start"))
}

fn all_rates_held(held: usize, starts: usize, generator_was_late: bool) -> String {
    let up_to = match generator_was_late {
        false => "what it answers in a closed loop",
        true => "where the generator was late",
    };
    format!("in {held} of {} all rates held, up to {up_to}", several(starts, "start"))
}

fn rounds_invalid(invalid: usize, rounds: usize, first: &RowIssue) -> String {
    match rounds {
        1 => first.to_string(),
        _ => format!("{invalid} of {rounds} rounds, the first: {first}"),
    }
}
