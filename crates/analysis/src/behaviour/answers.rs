//! Stalls of a whole service, and answers that are far later than others in the same window. A closed loop
//! sends less while it waits, so its percentiles show neither.
//!
//! None of the 1,152 slices of twelve healthy services in a run of `quick` exceeds the thresholds. Without
//! the time of other processes, no answer took 20 ms and also five times its slice's median.

use std::fmt;

use serde::Serialize;
use tare_bench::{disturbance::TAKEN_SHARE_MAX, sample::Sample};
use tare_host::cpus::Pinning;

use crate::{
    figures::{time, times},
    validity::disturbance,
};

/// Shortest silence that is a stall. Other processes take less time in an undisturbed slice.
const STALL_NS_MIN: u64 = 50_000_000;
/// A stall is at least this multiple of the median latency, because a slow service is silent between answers.
const STALL_TIMES_MIN: u64 = 5;
/// A single silence may be a hiccup of the machine that no clock shows.
const STALLED_MIN: usize = 2;

/// A late answer takes this long, and this multiple of the median of its window.
const LATE_NS_MIN: u64 = 30_000_000;
const LATE_TIMES_MIN: u64 = 10;
/// Fewest windows with late answers, and their smallest share.
const LATE_MIN: usize = 3;
const LATE_SHARE_MIN: f64 = 0.1;

/// A closed-loop slice, or the unmeasured load before a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnswerWindow {
    /// The longest time without an answer while requests were in flight.
    pub silent_ns: u64,
    /// 0 for loads before a slice, which do not record it.
    pub latency_ns_max: u64,
    pub latency_ns_p50: u64,
    /// CPU time that others took on the measured CPUs, for which a service may have waited.
    pub taken_ns: u64,
}

/// Windows with long silences of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stalls {
    pub silent_ns_max: u64,
    pub windows: usize,
    pub of: usize,
    /// The same counts for the loads before slices.
    pub before: usize,
    pub of_before: usize,
}

/// Windows in which some answer was far later than the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LateAnswers {
    pub latency_ns_max: u64,
    /// The latency divided by the median of its window.
    pub times: f64,
    pub windows: usize,
    pub of: usize,
}

impl AnswerWindow {
    /// The window of a slice; absent for a disturbed slice or an open loop.
    pub(crate) fn of(slice: &Sample, pinning: &Pinning) -> Option<AnswerWindow> {
        let latency = &slice.load.latency;
        let counts = !slice.is_open() && disturbance(slice, pinning).is_none();
        counts.then_some(AnswerWindow {
            silent_ns: slice.load.silent_ns_max.unwrap_or(0),
            latency_ns_max: latency.ns_at(1.0)?,
            latency_ns_p50: latency.ns_at(0.5)?,
            taken_ns: slice.host.foreign_cpu_ns.unwrap_or(0).max(0).cast_unsigned(),
        })
    }

    /// The window of the loads before a slice: a repeated warm-up, and first requests after a pause. Absent
    /// if there were none or they were disturbed. The median comes from the slice: all first requests may
    /// have waited.
    pub(crate) fn before(slice: &Sample, pinning: &Pinning) -> Option<AnswerWindow> {
        let aside = slice.aside?;
        let taken_ns = aside.foreign_cpu_ns?.max(0).cast_unsigned();
        let all_ns = aside.elapsed_ns * pinning.all().len() as u64;
        let window = AnswerWindow {
            silent_ns: aside.silent_ns_max,
            latency_ns_max: 0,
            latency_ns_p50: slice.load.latency.ns_at(0.5)?,
            taken_ns,
        };
        // Compares the whole count including its error. A silence too short for a stall is not doubtful.
        let is_doubtful =
            window.silent_ns >= STALL_NS_MIN && taken_ns as f64 > TAKEN_SHARE_MAX * all_ns as f64;
        (!is_doubtful).then_some(window)
    }

    fn is_stalled(&self) -> bool {
        self.silent_ns.saturating_sub(self.taken_ns) >= STALL_NS_MIN
            && self.silent_ns >= STALL_TIMES_MIN * self.latency_ns_p50
    }

    /// A stall delays every answer, and is a finding of its own.
    fn is_late(&self) -> bool {
        !self.is_stalled()
            && self.latency_ns_max.saturating_sub(self.taken_ns) >= LATE_NS_MIN
            && self.latency_ns_max >= LATE_TIMES_MIN * self.latency_ns_p50
    }

    fn times(&self) -> f64 {
        self.latency_ns_max as f64 / self.latency_ns_p50.max(1) as f64
    }
}

/// Repeated stalls of a service, in windows and in the loads `before` them.
pub fn stalls(windows: &[AnswerWindow], before: &[AnswerWindow]) -> Option<Stalls> {
    let stalled = |windows: &[AnswerWindow]| windows.iter().filter(|window| window.is_stalled()).count();
    let all = windows.iter().chain(before).filter(|window| window.is_stalled());
    let found = Stalls {
        silent_ns_max: all.map(|window| window.silent_ns).max()?,
        windows: stalled(windows),
        of: windows.len(),
        before: stalled(before),
        of_before: before.len(),
    };
    (found.windows + found.before >= STALLED_MIN).then_some(found)
}

/// Repeated answers that are far later than the others.
pub fn late(windows: &[AnswerWindow]) -> Option<LateAnswers> {
    let late: Vec<&AnswerWindow> = windows.iter().filter(|window| window.is_late()).collect();
    let latest = late.iter().max_by_key(|window| window.latency_ns_max)?;
    let is_often = late.len() >= LATE_MIN && late.len() as f64 >= LATE_SHARE_MIN * windows.len() as f64;
    is_often.then_some(LateAnswers {
        latency_ns_max: latest.latency_ns_max,
        times: latest.times(),
        windows: late.len(),
        of: windows.len(),
    })
}

impl Stalls {
    /// `windows` names the units: `slices`.
    pub fn text(&self, windows: &str) -> String {
        let Stalls { silent_ns_max, windows: stalled, of, before, of_before } = self;
        let beside = match before {
            0 => String::new(),
            _ => format!(" and in {before} of {of_before} loads before {windows}"),
        };
        // Slices begin with a thaw too, but after a shorter pause.
        let doubt = match stalled {
            0 => {
                "; as no slice has one, a freeze of more than a second may be why: `tare load` shows it without one"
            }
            _ => "; a closed loop sends nothing meanwhile, so its percentiles do not show it",
        };
        let longest = time(*silent_ns_max as f64);
        format!(
            "stalls: no answer on any connection for up to {longest}, in {stalled} of {of} {windows}{beside}{doubt}"
        )
    }
}

impl LateAnswers {
    /// `windows` names the units: `slices`.
    pub fn text(&self, windows: &str) -> String {
        let LateAnswers { latency_ns_max, windows: late, of, .. } = self;
        format!(
            "late answers: up to {} ({} the median), in {late} of {of} {windows}; an open loop shows how many wait behind \
             them",
            time(*latency_ns_max as f64),
            times(self.times)
        )
    }
}

impl fmt::Display for Stalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text("slices"))
    }
}

impl fmt::Display for LateAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text("slices"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::sample::{Distribution, HostUsage, LoadResult, UnmeasuredLoads};

    const MS: u64 = 1_000_000;

    fn window(silent_ms: u64, slowest_ms: u64) -> AnswerWindow {
        AnswerWindow {
            silent_ns: silent_ms * MS,
            latency_ns_max: slowest_ms * MS,
            latency_ns_p50: MS,
            taken_ns: 0,
        }
    }

    #[test]
    fn a_service_that_stops_for_200_ms_each_2_s_stalls() {
        let mut windows = vec![window(1, 2); 40];
        windows.extend([window(201, 201), window(150, 151), window(49, 52)]);
        let found = stalls(&windows, &[]).unwrap();
        assert_eq!(
            found.to_string(),
            "stalls: no answer on any connection for up to 201 ms, in 2 of 43 slices; a closed loop sends nothing \
             meanwhile, so its percentiles do not show it"
        );
        assert_eq!(late(&windows), None, "late by the stall alone, and once by less than one");
    }

    #[test]
    fn one_silence_and_one_that_others_explain_are_none() {
        assert_eq!(stalls(&[window(201, 201), window(1, 2)], &[]), None);
        let explained = AnswerWindow { taken_ns: 60 * MS, ..window(100, 100) };
        assert_eq!(stalls(&[explained; 9], &[explained; 9]), None);
        let slow = AnswerWindow { latency_ns_p50: 50 * MS, ..window(200, 200) };
        assert_eq!(stalls(&[slow; 9], &[]), None, "it takes that long for each answer");
    }

    #[test]
    fn a_stall_before_a_slice_counts_as_one_within() {
        let found = stalls(&[window(201, 201), window(1, 2)], &[window(180, 0), window(2, 0)]).unwrap();
        assert_eq!(
            found.to_string(),
            "stalls: no answer on any connection for up to 201 ms, in 1 of 2 slices and in 1 of 2 loads before slices; a closed \
             loop sends nothing meanwhile, so its percentiles do not show it"
        );
        let found = stalls(&[window(1, 2); 8], &[window(201, 0); 8]).unwrap();
        assert_eq!(
            found.to_string(),
            "stalls: no answer on any connection for up to 201 ms, in 0 of 8 slices and in 8 of 8 loads before slices; as no slice \
             has one, a freeze of more than a second may be why: `tare load` shows it without one"
        );
        assert_eq!(stalls(&[window(1, 2); 8], &[window(201, 0), window(49, 0)]), None);
    }

    /// All requests of such a load may wait for one stall, so the answers of the slice are the yardstick.
    #[test]
    fn a_load_before_a_slice_has_a_window_if_others_left_it_alone() {
        let pinning = Pinning { server: vec![0], generator: vec![1] };
        let latency = Distribution {
            count: 9,
            quantiles_ns: vec![(0.5, MS), (1.0, 3 * MS)],
            ..Distribution::default()
        };
        let load = LoadResult { latency, ..LoadResult::default() };
        let after = |silent_ms: u64, foreign_cpu_ns| {
            let aside = UnmeasuredLoads {
                elapsed_ns: (silent_ms + 4) * MS,
                silent_ns_max: silent_ms * MS,
                foreign_cpu_ns,
            };
            AnswerWindow::before(
                &Sample { load: load.clone(), aside: Some(aside), ..Sample::default() },
                &pinning,
            )
        };
        let taken = |silent_ms: u64, ms: i64| after(silent_ms, Some(ms * MS as i64));
        assert_eq!(taken(201, -1), Some(window(201, 0)));
        assert_eq!(taken(201, 41), Some(AnswerWindow { taken_ns: 41 * MS, ..window(201, 0) }));
        assert_eq!((taken(201, 42), after(201, None)), (None, None));
        assert_eq!(
            taken(2, 8),
            Some(AnswerWindow { taken_ns: 8 * MS, ..window(2, 0) }),
            "too short for a stall"
        );
        assert_eq!(AnswerWindow::before(&Sample { load: load.clone(), ..Sample::default() }, &pinning), None);
    }

    #[test]
    fn one_in_500_that_is_late_by_50_ms_is_late_in_each_slice() {
        let found = late(&[window(2, 51); 30]).unwrap();
        assert_eq!(
            found.to_string(),
            "late answers: up to 51.0 ms (51.0x the median), in 30 of 30 slices; an open loop shows how many wait behind \
             them"
        );
        let mut rare = vec![window(2, 5); 30];
        rare.extend([window(2, 51); 3]);
        assert_eq!(late(&rare), None, "3 of 33: any neighbour may do that");
        let slow = AnswerWindow { latency_ns_p50: 20 * MS, ..window(2, 61) };
        assert_eq!(late(&[slow; 9]), None, "three times the median");
    }

    #[test]
    fn a_disturbed_slice_and_an_open_loop_have_no_window() {
        let pinning = Pinning { server: vec![0], generator: vec![1] };
        let latency = Distribution {
            count: 9,
            quantiles_ns: vec![(0.5, MS), (1.0, 3 * MS)],
            ..Distribution::default()
        };
        let load = LoadResult {
            elapsed_ns: 100 * MS,
            latency,
            silent_ns_max: Some(2 * MS),
            ..LoadResult::default()
        };
        let slice = |taken_ms: i64| Sample {
            load: load.clone(),
            host: HostUsage { foreign_cpu_ns: Some(taken_ms * MS as i64), ..HostUsage::default() },
            ..Sample::default()
        };
        let expected = AnswerWindow { taken_ns: 39 * MS, ..window(2, 3) };
        assert_eq!(AnswerWindow::of(&slice(39), &pinning), Some(expected));
        assert_eq!(AnswerWindow::of(&slice(41), &pinning), None);
        let mut open = slice(0);
        open.load.offered_per_second = Some(1.0);
        assert_eq!(AnswerWindow::of(&open, &pinning), None);
    }
}
