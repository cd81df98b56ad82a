//! Checks whether the slow answers of a load belong to some agents only: then the pooled percentiles describe
//! no agent. Values only.
//!
//! One hundredth of all latencies exceed the p99 of the sum, and for each agent it should be a hundredth too.
//! A difference counts if it is large and persistent. Answers of one agent depend on each other: a moment
//! without CPU makes many of them slow. So the observations are the seconds of the load, in a sign test
//! (Arbuthnott 1710).

use tare_load::Measures;

/// The share of all latencies that counts as the tail.
const TAIL: f64 = 0.01;
/// The smallest ratio of two tails that counts as large.
const RATIO_MIN: f64 = 3.0;
/// The largest probability of the observed signs among equal agents.
const P_MAX: f64 = 0.01;
/// With fewer answers an agent has no meaningful tail.
const COUNT_MIN: u64 = 1_000;
/// The same for one interval.
const INTERVAL_COUNT_MIN: u64 = 100;

/// Two agents whose tails differ most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailsDiffer {
    pub p99_ns: u64,
    /// The agent that most often exceeds it, and the share of its answers that do.
    pub highest: (usize, f64),
    pub lowest: (usize, f64),
}

/// For each interval, the share of each agent's latencies above the p99 of all in that interval.
#[derive(Debug, Clone, Default)]
pub struct Tails {
    intervals: Vec<Vec<f64>>,
}

/// The p99 of all agents, and for each agent the number of latencies above it and the total.
fn above(agents: &[&Measures]) -> (u64, Vec<(u64, u64)>) {
    let all = agents.iter().fold(Measures::default(), |mut sum, agent| {
        sum += *agent;
        sum
    });
    let p99_ns = all.quantile(1.0 - TAIL).ns;
    let of = |agent: &&Measures| {
        let mut latency = agent.latency.clone();
        // An unanswered request is slower than any answer.
        let unanswered = agent.unanswered.count();
        latency.merge(&agent.unanswered);
        let count = latency.count();
        ((count - latency.count_to(p99_ns)).max(unanswered), count)
    };
    (p99_ns, agents.iter().map(of).collect())
}

fn share((above, count): (u64, u64)) -> f64 {
    above as f64 / count as f64
}

impl Tails {
    /// Adds an interval of every agent, in the order of a later comparison.
    pub fn add(&mut self, agents: &[&Measures]) {
        let (_, counts) = above(agents);
        if counts.iter().all(|(_, count)| *count >= INTERVAL_COUNT_MIN) {
            self.intervals.push(counts.into_iter().map(share).collect());
        }
    }

    /// The agents whose tails differ, from their total measures; `None` if none do, or none are comparable.
    #[must_use]
    pub fn compare(&self, agents: &[&Measures]) -> Option<TailsDiffer> {
        let (p99_ns, counts) = above(agents);
        if counts.len() < 2 || counts.iter().any(|(_, count)| *count < COUNT_MIN) {
            return None;
        }
        let least = |count: u64| 1.0 / count as f64;
        let order = |a: &&(usize, (u64, u64)), b: &&(usize, (u64, u64))| share(a.1).total_cmp(&share(b.1));
        let numbered: Vec<(usize, (u64, u64))> = counts.into_iter().enumerate().collect();
        let (highest, lowest) = (numbered.iter().max_by(order)?, numbered.iter().min_by(order)?);
        let is_large = share(highest.1) >= RATIO_MIN * share(lowest.1).max(least(lowest.1.1));
        let differ = is_large && self.lasts(highest.0, lowest.0);
        let named = |(agent, counts): (usize, (u64, u64))| (agent, share(counts));
        differ.then(|| TailsDiffer { p99_ns, highest: named(*highest), lowest: named(*lowest) })
    }

    /// Whether one agent has the longer tail in significantly many seconds.
    fn lasts(&self, highest: usize, lowest: usize) -> bool {
        let pairs =
            self.intervals.iter().filter_map(|shares| Some((shares.get(highest)?, shares.get(lowest)?)));
        let signs: Vec<bool> =
            pairs.filter(|(one, other)| one != other).map(|(one, other)| one > other).collect();
        let longer = signs.iter().filter(|sign| **sign).count();
        at_least(longer, signs.len()) < P_MAX
    }
}

/// The probability of at least `heads` heads in `tosses` of a fair coin.
fn at_least(heads: usize, tosses: usize) -> f64 {
    let mut term = 0.5_f64.powi(i32::try_from(tosses).unwrap_or(i32::MAX));
    let mut sum = 0.0;
    for k in 0..=tosses {
        if k >= heads {
            sum += term;
        }
        term *= (tosses - k) as f64 / (k + 1) as f64;
    }
    // For more than a thousand tosses the first term underflows, so the normal approximation is used.
    if tosses <= 1_000 { sum } else { normal_at_least(heads, tosses) }
}

/// Only compared with a hundredth, so three standard errors are enough.
fn normal_at_least(heads: usize, tosses: usize) -> f64 {
    let z = (heads as f64 - tosses as f64 / 2.0) / (tosses as f64 / 4.0).sqrt();
    if z > 3.0 { 0.001 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latencies around 1 ms; this share takes 50 ms.
    fn measures(count: u64, slow: f64) -> Measures {
        let mut measures = Measures::default();
        let slow = (count as f64 * slow) as u64;
        for n in 0..count {
            let ns = if n < slow { 50_000_000 + n * 1_000 } else { 1_000_000 + (n * 7_919) % 100_000 };
            measures.latency.record(ns);
        }
        measures
    }

    fn sum(parts: &[Measures]) -> Measures {
        let mut sum = Measures::default();
        parts.iter().for_each(|part| sum += part);
        sum
    }

    /// Compares agents, each given by its seconds.
    fn compare(agents: &[Vec<Measures>]) -> Option<TailsDiffer> {
        let mut tails = Tails::default();
        for second in 0..agents[0].len() {
            tails.add(&agents.iter().map(|agent| &agent[second]).collect::<Vec<_>>());
        }
        let sums: Vec<Measures> = agents.iter().map(|agent| sum(agent)).collect();
        tails.compare(&sums.iter().collect::<Vec<_>>())
    }

    fn seconds(count: usize, slow: f64) -> Vec<Measures> {
        vec![measures(1_000, slow); count]
    }

    #[test]
    fn equal_tails_are_no_finding() {
        let even = seconds(10, 0.012);
        assert_eq!(compare(&[even.clone(), even.clone()]), None);
        assert_eq!(compare(&[even.clone(), seconds(10, 0.008)]), None, "not far apart");
        assert_eq!(compare(&[even]), None);
    }

    #[test]
    fn a_tail_of_one_agent_that_lasts_is_found() {
        let (fast, slow) = (seconds(10, 0.0), seconds(10, 0.03));
        let found = compare(&[fast.clone(), slow.clone(), fast.clone()]).unwrap();
        assert_eq!(found.highest.0, 1);
        assert!(found.highest.1 > 0.02 && found.lowest.1 < 0.005, "{found:?}");
        assert_eq!(compare(&[seconds(4, 0.0), seconds(4, 0.03)]), None, "too short to say");
        assert_eq!(compare(&[vec![measures(90, 0.0); 10], slow]), None, "too few to say");
    }

    #[test]
    fn one_moment_without_a_cpu_is_none_of_it() {
        let mut stalled = seconds(10, 0.0);
        stalled[4] = measures(1_000, 0.3);
        assert_eq!(compare(&[seconds(10, 0.0), stalled]), None);
    }

    #[test]
    fn requests_without_an_answer_are_a_tail() {
        let mut silent = seconds(10, 0.0);
        silent.iter_mut().for_each(|second| (0..40).for_each(|_| second.unanswered.record(2_000_000_000)));
        assert_eq!(compare(&[seconds(10, 0.0), silent]).map(|found| found.highest.0), Some(1));
    }

    #[test]
    fn the_sign_test_by_table() {
        for (heads, tosses, p) in [(0, 0, 1.0), (10, 10, 1.0 / 1_024.0), (9, 10, 11.0 / 1_024.0), (5, 9, 0.5)]
        {
            assert!((at_least(heads, tosses) - p).abs() < 1e-12, "{heads} of {tosses}");
        }
        assert!(at_least(700, 1_000) < P_MAX && at_least(510, 1_000) > P_MAX);
        assert!(at_least(2_000, 3_600) < P_MAX && at_least(1_830, 3_600) > P_MAX);
    }
}
