//! The order of loads: in every round each tool and Tare's generator, in adjacent loads and in a new random
//! order. The module knows no process and no clock; a [`Bench`] makes the loads.

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::{Tool, reading::Latency};
use tare_analysis::validity::{DROPPED_SHARE_MAX, FAILURE_SHARE_MAX};
use tare_bench::disturbance::TAKEN_SHARE_MAX;

/// One load, as observed with one generator.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Sample {
    pub answered: u64,
    /// Requests that cost the service work, including those in flight at the end, which have no answer.
    pub served: u64,
    pub failed: u64,
    pub complaints: String,
    pub per_second: f64,
    pub latency: Latency,
    /// CPU time of the generator, without its start.
    pub client_cpu_ns: u64,
    pub client_threads: usize,
    pub server_cpu_ns: u64,
    pub server_cpus: usize,
    /// TCP segments with data that the whole host sent meanwhile: no program's own count affects it.
    pub segments: Option<u64>,
    /// The share of the measured CPUs' time that other programs took; `None` if it is not known.
    pub foreign_share: Option<f64>,
    pub descriptors_lacking: u64,
}

impl Sample {
    /// The counted time.
    pub(crate) fn seconds(&self) -> f64 {
        if self.per_second > 0.0 { self.answered as f64 / self.per_second } else { 0.0 }
    }

    /// The share of its threads' time that the generator was on a CPU.
    pub(crate) fn client_busy(&self) -> f64 {
        share(self.client_cpu_ns, self.seconds() * self.client_threads as f64)
    }

    /// The same for the service and its CPUs.
    pub(crate) fn server_busy(&self) -> f64 {
        share(self.server_cpu_ns, self.seconds() * self.server_cpus as f64)
    }

    /// CPU time of the generator per answer.
    pub(crate) fn client_cost_ns(&self) -> f64 {
        self.client_cpu_ns as f64 / self.answered.max(1) as f64
    }

    /// CPU time of the service per request.
    pub(crate) fn server_cost_ns(&self) -> f64 {
        self.server_cpu_ns as f64 / self.served.max(1) as f64
    }

    /// Segments with data per request: two if request and response are one each, and no other program sends.
    pub(crate) fn segments_per_request(&self) -> Option<f64> {
        self.segments.map(|segments| segments as f64 / self.served.max(1) as f64)
    }

    /// Why it has no figures, if it has none.
    fn fault(&self) -> Option<String> {
        let all = self.answered + self.failed;
        if self.answered == 0 || self.per_second <= 0.0 {
            return Some(format!("no right answer: {}", self.complaints));
        }
        let too_many = self.failed as f64 > all as f64 * FAILURE_SHARE_MAX;
        too_many.then(|| format!("{} of {all} requests failed: {}", self.failed, self.complaints))
    }
}

fn share(cpu_ns: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { cpu_ns as f64 / (seconds * 1e9) } else { 0.0 }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Theirs,
    Ours,
}

/// Two adjacent loads, one by each generator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    pub theirs: Sample,
    pub ours: Sample,
}

impl Pair {
    /// Whether other programs took too much CPU time, by the limit for slices of a run.
    fn is_disturbed(&self) -> bool {
        let taken = |sample: &Sample| sample.foreign_share.is_some_and(|share| share > TAKEN_SHARE_MAX);
        taken(&self.theirs) || taken(&self.ours)
    }
}

/// All rounds of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    pub tool: Tool,
    pub pairs: Vec<Pair>,
    pub fault: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Counted {
    pub series: Series,
    pub disturbed: usize,
    /// Whether more than half are disturbed: then all count, and no difference is significant.
    pub noisy: bool,
}

impl Series {
    /// Drops the rounds in which other programs took the CPUs, by a limit independent of the results.
    pub(crate) fn counted(&self) -> Counted {
        let disturbed = self.pairs.iter().filter(|pair| pair.is_disturbed()).count();
        let noisy = disturbed as f64 > self.pairs.len() as f64 * DROPPED_SHARE_MAX;
        let mut series = self.clone();
        if !noisy {
            series.pairs.retain(|pair| !pair.is_disturbed());
        }
        Counted { series, disturbed, noisy }
    }
}

/// Runs loads.
pub(crate) trait Bench {
    /// Makes the load of `tool` once.
    fn run(&mut self, tool: Tool, side: Side, round: usize) -> Result<Sample, String>;

    /// Whether the user wants no more rounds.
    fn interrupted(&self) -> bool;
}

/// Runs this many rounds of each tool. A faulty tool is left out afterwards; interrupted pairs do not count.
pub(crate) fn run(
    tools: &[Tool],
    rounds: usize,
    seed: u64,
    bench: &mut impl Bench,
    mut watch: impl FnMut(usize, Tool),
) -> Vec<Series> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let new = |tool: &Tool| Series { tool: *tool, pairs: Vec::new(), fault: None };
    let mut all: Vec<Series> = tools.iter().map(new).collect();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.shuffle(&mut random);
        for index in order {
            // Draw for dropped tools too: the order of the others must not depend on them.
            let theirs_first = random.random::<bool>();
            let series = &mut all[index];
            if series.fault.is_some() || bench.interrupted() {
                continue;
            }
            watch(round, series.tool);
            match pair(series.tool, round, theirs_first, bench) {
                _ if bench.interrupted() => {}
                Ok(pair) => series.pairs.push(pair),
                Err(fault) => series.fault = Some(fault),
            }
        }
    }
    all
}

fn pair(tool: Tool, round: usize, theirs_first: bool, bench: &mut impl Bench) -> Result<Pair, String> {
    let mut one = |side| {
        let who = if side == Side::Ours { "our engine" } else { tool.name() };
        let sample = bench.run(tool, side, round).map_err(|error| format!("{who}: {error}"))?;
        match sample.fault() {
            Some(fault) => Err(format!("{who}: {fault}")),
            None => Ok(sample),
        }
    };
    if theirs_first {
        let theirs = one(Side::Theirs)?;
        Ok(Pair { theirs, ours: one(Side::Ours)? })
    } else {
        let ours = one(Side::Ours)?;
        Ok(Pair { theirs: one(Side::Theirs)?, ours })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Scripted {
        heard: Vec<(Tool, Side, usize)>,
        stop_after: Option<usize>,
    }

    impl Bench for Scripted {
        fn run(&mut self, tool: Tool, side: Side, round: usize) -> Result<Sample, String> {
            self.heard.push((tool, side, round));
            let good = Sample { answered: 1000, per_second: 500.0, ..Sample::default() };
            match (tool, side, round) {
                (Tool::Httperf, Side::Theirs, 1) => {
                    Ok(Sample { failed: 2, complaints: "2 reset".into(), ..good })
                }
                (Tool::Locust, Side::Ours, 0) => Err("is not there".into()),
                _ => Ok(good),
            }
        }

        fn interrupted(&self) -> bool {
            self.stop_after.is_some_and(|count| self.heard.len() >= count)
        }
    }

    #[test]
    fn each_round_has_all_tools_with_their_twins_beside_them() {
        let mut bench = Scripted::default();
        let tools = [Tool::Wrk, Tool::H2load];
        let all = run(&tools, 20, 3, &mut bench, |_, _| {});
        assert!(all.iter().all(|series| series.pairs.len() == 20 && series.fault.is_none()));
        assert!(
            bench
                .heard
                .chunks(2)
                .all(|two| two[0].0 == two[1].0 && two[0].2 == two[1].2 && two[0].1 != two[1].1)
        );
        let first =
            |tool, side| bench.heard.chunks(4).filter(|four| (four[0].0, four[0].1) == (tool, side)).count();
        for tool in tools {
            assert!(first(tool, Side::Ours) > 0 && first(tool, Side::Theirs) > 0, "orders are drawn");
        }
        let mut again = Scripted::default();
        run(&tools, 20, 3, &mut again, |_, _| {});
        assert_eq!(bench.heard, again.heard, "the seed fixes them");
    }

    #[test]
    fn a_fault_ends_its_own_series_and_no_other() {
        let all = run(&Tool::ALL, 3, 1, &mut Scripted::default(), |_, _| {});
        let told: Vec<_> = all.iter().map(|series| (series.pairs.len(), series.fault.as_deref())).collect();
        let httperf = "httperf: 2 of 1002 requests failed: 2 reset";
        assert_eq!(
            told,
            [(3, None), (3, None), (3, None), (1, Some(httperf)), (0, Some("our engine: is not there"))]
        );
    }

    #[test]
    fn what_was_cut_off_does_not_count() {
        let mut bench = Scripted { stop_after: Some(3), ..Scripted::default() };
        let all = run(&[Tool::Wrk], 5, 1, &mut bench, |_, _| {});
        assert_eq!((all[0].pairs.len(), &all[0].fault), (1, &None));
    }

    #[test]
    fn disturbed_rounds_do_not_count_unless_most_are() {
        let sample = |share| Sample { foreign_share: Some(share), ..Sample::default() };
        let pair = |share| Pair { theirs: sample(0.02), ours: sample(share) };
        let series = |shares: &[f64]| Series {
            tool: Tool::Wrk,
            pairs: shares.iter().map(|share| pair(*share)).collect(),
            fault: None,
        };
        let quiet = series(&[0.01, 0.3, 0.02, 0.11]).counted();
        assert_eq!((quiet.series, quiet.disturbed, quiet.noisy), (series(&[0.01, 0.02]), 2, false));
        let noisy = series(&[0.01, 0.3, 0.2, 0.11]).counted();
        assert_eq!((noisy.series.pairs.len(), noisy.disturbed, noisy.noisy), (4, 3, true));
        let untold = Pair { theirs: Sample::default(), ours: Sample::default() };
        assert!(!untold.is_disturbed(), "a kernel that tells less");
    }

    #[test]
    fn shares_and_costs() {
        let sample = Sample {
            answered: 1000,
            served: 1000,
            per_second: 500.0,
            client_cpu_ns: 1_000_000_000,
            client_threads: 2,
            server_cpu_ns: 1_800_000_000,
            server_cpus: 1,
            ..Sample::default()
        };
        assert_eq!((sample.seconds(), sample.client_busy(), sample.server_busy()), (2.0, 0.25, 0.9));
        assert_eq!((sample.client_cost_ns(), sample.server_cost_ns()), (1e6, 1.8e6));
    }
}
