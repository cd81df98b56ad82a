//! Memory that grows with the requests of a process: a leak, or a heap below its final size.

use std::fmt;

use serde::Serialize;
use tare_bench::record::Record;
use tare_stats::growth::{Growth, Least, POINTS_MIN, growth as growth_of};

use crate::figures::bytes;

/// Allocators take memory in steps of up to a few MiB.
pub const LEAST: Least = Least { share: 0.2, amount: 4 << 20 };

/// Smallest share of growing processes: a leak is in all of them, a growing heap in one of three.
const PROCESSES_SHARE_MIN: f64 = 0.75;

/// Memory of one process: answers so far, and resident bytes.
pub type Course = Vec<(u64, u64)>;

/// The median process among those with growing memory, by growth per request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MemoryGrowth {
    pub bytes_per_request: f64,
    pub requests: u64,
    pub from_bytes: u64,
    pub to_bytes: u64,
    pub processes: usize,
    pub of: usize,
}

/// Growth over all processes of a row.
pub(crate) fn growth(records: &[Record], row: usize) -> Option<MemoryGrowth> {
    let courses = courses(records, row);
    let courses: Vec<&Course> = courses.iter().filter(|course| course.len() >= POINTS_MIN).collect();
    let mut grown: Vec<MemoryGrowth> =
        courses.iter().filter_map(|course| MemoryGrowth::of_process(course)).collect();
    if grown.is_empty() || (grown.len() as f64) < PROCESSES_SHARE_MIN * courses.len() as f64 {
        return None;
    }
    grown.sort_by(|one, other| one.bytes_per_request.total_cmp(&other.bytes_per_request));
    let middle = grown[grown.len() / 2];
    Some(MemoryGrowth { processes: grown.len(), of: courses.len(), ..middle })
}

fn courses(records: &[Record], row: usize) -> Vec<Course> {
    let mut courses: Vec<Course> = Vec::new();
    let mut answered = 0;
    for record in records {
        match record {
            Record::Started(started) if started.row == row => {
                courses.push(Course::new());
                answered = 0;
            }
            Record::Sample(slice) if slice.row == row => {
                answered += slice.load.answered;
                if let (Some(course), Some(bytes)) = (courses.last_mut(), slice.host.rss_bytes) {
                    course.push((answered, bytes));
                }
            }
            _ => {}
        }
    }
    courses
}

impl MemoryGrowth {
    /// The growth of a single process.
    pub fn of_process(course: &Course) -> Option<MemoryGrowth> {
        let Growth { per_work, work, from, to } = growth_of(course, LEAST)?;
        Some(MemoryGrowth {
            bytes_per_request: per_work,
            requests: work,
            from_bytes: from,
            to_bytes: to,
            processes: 1,
            of: 1,
        })
    }

    /// `whose` is the possessive in the sentence: `its`.
    pub fn text(&self, whose: &str, in_starts: &str) -> String {
        let [from, to] = [self.from_bytes, self.to_bytes].map(|count| bytes(count as f64));
        format!(
            "{whose} memory only grew: {} a request over {} requests, from {from} to {to}{in_starts}: a leak, or a heap that \
             has not reached its size",
            bytes(self.bytes_per_request),
            self.requests
        )
    }
}

impl fmt::Display for MemoryGrowth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text("its", &format!(", in {} of {} starts", self.processes, self.of)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::{
        record::Started,
        sample::{HostUsage, LoadResult, Sample},
    };

    const MIB: u64 = 1 << 20;

    /// Records of row 0: each process has its memory after each slice of 10,000 requests.
    fn records(processes: &[Vec<u64>]) -> Vec<Record> {
        let of = |(block, course): (usize, &Vec<u64>)| {
            let slices = course.clone().into_iter().enumerate().map(move |(round, bytes)| {
                Record::Sample(Box::new(Sample {
                    block,
                    round,
                    load: LoadResult { answered: 10_000, ..LoadResult::default() },
                    host: HostUsage { rss_bytes: Some(bytes), ..HostUsage::default() },
                    ..Sample::default()
                }))
            });
            [Record::Started(Started { block, ..Started::default() })].into_iter().chain(slices)
        };
        processes.iter().enumerate().flat_map(of).collect()
    }

    fn course(mib: impl Fn(u64) -> u64) -> Vec<u64> {
        (0..8).map(|slice| mib(slice) * MIB).collect()
    }

    #[test]
    fn a_kibibyte_for_each_request_is_found_with_its_size() {
        let leak: Vec<u64> = (0..8).map(|slice| 6 * MIB + slice * 10_000 * 1024).collect();
        let found = growth(&records(&[leak.clone(), leak]), 0).unwrap();
        assert_eq!(
            found.to_string(),
            "its memory only grew: 1.00 KiB a request over 70000 requests, from 6.00 MiB to 74.4 MiB, in 2 of 2 starts: a \
             leak, or a heap that has not reached its size"
        );
        assert_eq!((found.bytes_per_request, found.requests), (1024.0, 70_000));
    }

    #[test]
    fn memory_that_stays_levels_off_or_falls_is_none() {
        let table: [(&str, Vec<u64>); 6] = [
            ("stays", course(|_| 40)),
            ("levels off", course(|slice| 20 + [0, 10, 18, 24, 26, 27, 28, 29][slice as usize])),
            ("one step", course(|slice| if slice < 4 { 20 } else { 40 })),
            ("a collector", course(|slice| 20 + 5 * (slice % 4))),
            ("grows by little", course(|slice| 100 + slice)),
            ("too short", course(|slice| 10 + 10 * slice)[..5].to_vec()),
        ];
        for (name, course) in table {
            assert_eq!(growth(&records(&[course]), 0), None, "{name}");
        }
    }

    #[test]
    fn two_processes_of_three_are_none_and_older_runs_have_no_memory() {
        let (leak, flat) = (course(|slice| 10 + 10 * slice), course(|_| 10));
        let of = |leaks: usize, flats: usize| {
            let all = [vec![leak.clone(); leaks], vec![flat.clone(); flats]].concat();
            growth(&records(&all), 0).map(|found| (found.processes, found.of))
        };
        assert_eq!([of(1, 2), of(2, 1), of(3, 1)], [None, None, Some((3, 4))]);
        let mut old = records(&[course(|slice| 10 + 10 * slice)]);
        for record in &mut old {
            if let Record::Sample(slice) = record {
                slice.host.rss_bytes = None;
            }
        }
        assert_eq!(growth(&old, 0), None);
    }
}
