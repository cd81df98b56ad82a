//! Why a row has no CPU time although its slices have some: a part was used where Tare did not count it. A
//! part missing in one slice invalidates the row.

use std::collections::BTreeMap;

use tare_bench::{
    record::Record,
    sample::{Other, Others, Sample},
};
use tare_host::process::Process;
use tare_stats::Contrast;

use crate::findings::RowIssue;

/// Others work for a service if they certainly take this share of its CPU time, beyond their use at rest.
const OF_ITS_OWN_SHARE: f64 = 0.1;
const CONFIDENCE: f64 = 0.998;
/// Fewest slices for certainty.
const SLICES_MIN: usize = 6;
/// A process is named if it takes this share of the additional use.
const NAMED_SHARE: f64 = 0.5;

/// The reason for missing CPU time; absent if all of it is counted.
pub(crate) fn why(records: &[Record], row: usize) -> Option<RowIssue> {
    let slices = || records.iter().filter_map(Record::sample).filter(|slice| slice.row == row);
    let unknown = slices().find_map(|slice| slice.host.cpu_unknown.clone());
    unknown.map(RowIssue::from).or_else(|| elsewhere(&slices().collect::<Vec<_>>()))
}

/// Detects that others did uncounted work: more than before each load, slice by slice. The sum over all of
/// them reveals several small helpers; a single process is detectable even on a busy machine.
fn elsewhere(slices: &[&Sample]) -> Option<RowIssue> {
    let with_others: Vec<(&Sample, &Others)> =
        slices.iter().filter_map(|slice| Some((*slice, slice.host.others.as_ref()?))).collect();
    let sum = |of: fn(&Sample) -> u64| with_others.iter().map(|(slice, _)| of(slice)).sum::<u64>() as f64;
    let (own_ns, answered) = (sum(|slice| slice.host.server_cpu_ns), sum(|slice| slice.load.answered));
    let others: Vec<&Others> = with_others.iter().map(|(_, others)| *others).collect();
    let all: Vec<f64> = others.iter().map(|others| more_ns(others)).collect();
    let by_one = busiest(&others);
    let (process, more_ns) = if is_missing(&all, own_ns) {
        (by_one.filter(|(_, one)| is_most(one, &all)).map(|(process, _)| process), all)
    } else {
        let (process, one) = by_one.filter(|(_, one)| is_missing(one, own_ns))?;
        (Some(process), one)
    };
    if answered == 0.0 {
        return None;
    }
    Some(RowIssue::CpuElsewhere {
        process: process.cloned(),
        others_ns_per_request: more_ns.iter().sum::<f64>() / answered,
        own_ns_per_request: own_ns / answered,
    })
}

/// Whether the additional use per slice is certainly a part of the service's work.
fn is_missing(more_ns: &[f64], own_ns: f64) -> bool {
    let interval = || Contrast::of_values(more_ns).ok()?.interval(CONFIDENCE).ok()?;
    let surely_ns = if more_ns.len() < SLICES_MIN { None } else { interval().map(|interval| interval.low) };
    surely_ns.is_some_and(|ns| ns > 0.0 && ns * more_ns.len() as f64 > OF_ITS_OWN_SHARE * own_ns)
}

fn is_most(one: &[f64], all: &[f64]) -> bool {
    one.iter().sum::<f64>() > NAMED_SHARE * all.iter().sum::<f64>()
}

/// Additional CPU time of others in a load, beyond their use at rest.
fn more_ns(others: &Others) -> f64 {
    others.load.cpu_ns as f64 - without_load_ns(others, others.pause.cpu_ns as f64)
}

/// CPU time of others in the time of the load, at the rate of the pause.
fn without_load_ns(Others { pause, load, .. }: &Others, cpu_ns: f64) -> f64 {
    cpu_ns * load.wall_ns as f64 / pause.wall_ns.max(1) as f64
}

/// The process with the largest additional use, and its use in each slice.
fn busiest<'a>(others: &[&'a Others]) -> Option<(&'a Process, Vec<f64>)> {
    let mut by_pid: BTreeMap<u32, (&Process, Vec<f64>)> = BTreeMap::new();
    for (slice, others) in others.iter().enumerate() {
        for Other { process, cpu_ns, cpu_ns_before } in &others.busiest {
            let more_ns = *cpu_ns as f64 - without_load_ns(others, *cpu_ns_before as f64);
            let (_, all) = by_pid.entry(process.pid).or_insert((process, Vec::new()));
            // A process outside of the busiest ones took a negligible amount.
            all.resize(slice, 0.0);
            all.push(more_ns);
        }
    }
    let mut found = by_pid
        .into_values()
        .max_by(|(_, one), (_, other)| one.iter().sum::<f64>().total_cmp(&other.iter().sum::<f64>()))?;
    found.1.resize(others.len(), 0.0);
    Some(found)
}

#[cfg(test)]
mod tests {
    use tare_bench::sample::{HostUsage, LoadResult, TakenByOthers};
    use tare_host::process::{CpuUnknown, Unwaited};

    use super::*;

    const MS: u64 = 1_000_000;

    /// A slice of 100 ms with 20 ms of the service's CPU time and this use by others, after a pause of 10 ms.
    fn slice(pause_ns: i64, load_ns: i64, (cpu_ns_before, cpu_ns): (u64, u64)) -> Record {
        let busiest =
            vec![Other { process: Process { pid: 7, command: "php-fpm".to_owned() }, cpu_ns, cpu_ns_before }];
        let others = Others {
            pause: TakenByOthers { wall_ns: 10 * MS, cpu_ns: pause_ns },
            load: TakenByOthers { wall_ns: 100 * MS, cpu_ns: load_ns },
            busiest,
        };
        let load = LoadResult { answered: 100, ..LoadResult::default() };
        let host = HostUsage { server_cpu_ns: 20 * MS, others: Some(others), ..HostUsage::default() };
        Record::Sample(Box::new(Sample { load, host, ..Sample::default() }))
    }

    /// `of` gives the use by all others, and by one process, in the pause before each load and in the load.
    fn found(of: impl Fn(i64) -> (i64, i64, (u64, u64))) -> Option<RowIssue> {
        let slices: Vec<Record> = (0..20).map(|n| of(n % 5)).map(|(a, b, c)| slice(a, b, c)).collect();
        why(&slices, 0)
    }

    const NS: i64 = MS as i64;

    #[test]
    fn what_others_take_under_load_alone_is_missing() {
        let missing = |process| {
            Some(RowIssue::CpuElsewhere {
                process,
                others_ns_per_request: 320_000.0,
                own_ns_per_request: 200_000.0,
            })
        };
        let named = found(|n| (0, (30 + n) * NS, (0, 29 * MS)));
        assert_eq!(named, missing(Some(Process { pid: 7, command: "php-fpm".to_owned() })));
        assert_eq!(found(|n| (0, (30 + n) * NS, (0, MS))), missing(None), "by many that ended");
    }

    #[test]
    fn what_they_take_anyway_and_what_is_little_is_not() {
        assert_eq!(found(|n| (4 * NS, (40 + n - 2) * NS, (3 * MS, 30 * MS))), None, "a busy machine");
        assert_eq!(found(|n| (0, (n - 1) * NS, (0, 0))), None, "the error of the accounting");
        assert_eq!(found(|n| (if n == 0 { 9 * NS } else { 0 }, (n - 2) * 9 * NS, (0, 0))), None, "bursts");
        let few: Vec<Record> = (0..5).map(|_| slice(0, 30 * NS, (0, 0))).collect();
        assert_eq!(why(&few, 0), None);
    }

    #[test]
    fn one_that_works_for_it_is_found_on_a_busy_machine() {
        // Compilers with varying use hide the effect in the sum of all others.
        let noise = |n: i64| (n - 2) * 40 * NS;
        let process = Process { pid: 7, command: "php-fpm".to_owned() };
        let expected = RowIssue::CpuElsewhere {
            process: Some(process),
            others_ns_per_request: 300_000.0,
            own_ns_per_request: 200_000.0,
        };
        assert_eq!(found(|n| (0, 30 * NS + noise(n), (0, 30 * MS))), Some(expected));
        assert_eq!(found(|n| (0, 30 * NS + noise(n), (0, if n == 0 { 150 * MS } else { 0 }))), None, "once");
    }

    #[test]
    fn one_slice_without_is_a_row_without() {
        let mut slices: Vec<Record> = (0..9).map(|_| slice(0, 0, (0, 0))).collect();
        assert_eq!(why(&slices, 0), None);
        let ended = Process { pid: 9, command: "burn".to_owned() };
        let Record::Sample(last) = &mut slices[8] else { unreachable!() };
        let ended = Unwaited::Seen(ended);
        last.host.cpu_unknown = Some(CpuUnknown::Unwaited(ended.clone()));
        assert_eq!(why(&slices, 0), Some(RowIssue::CpuEnded(ended)));
        assert_eq!(why(&slices, 1), None, "of another row");
    }
}
