//! Whether the slow answers of a load are those of some agents: then percentiles of the sum are of no agent. Values only.
//!
//! A hundredth of all latencies lie above the p99 of the sum. Of each agent it should be a hundredth too. Answers of one agent depend
//! on each other, so a test alone would find differences that mean nothing; what counts is a difference that is both significant and
//! large.

use tare_load::Measures;

/// The part of all latencies that is called the tail.
const TAIL: f64 = 0.01;
/// As far apart as this is large.
const RATIO_MIN: f64 = 3.0;
/// Standard errors of a difference of two shares: beyond it by chance once in ten thousand.
const Z_MIN: f64 = 3.89;
/// An agent with fewer answers has no tail to speak of.
const COUNT_MIN: u64 = 1_000;

/// Two agents whose tails differ most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailsDiffer {
    /// The p99 of all.
    pub p99_ns: u64,
    /// Which one is above it most often, and how often.
    pub highest: (usize, f64),
    pub lowest: (usize, f64),
}

/// The agents whose tails differ; absent if they do not, or cannot be compared.
#[must_use]
pub fn compare(agents: &[&Measures]) -> Option<TailsDiffer> {
    let all = agents.iter().fold(Measures::default(), |mut sum, agent| {
        sum += *agent;
        sum
    });
    let p99_ns = all.quantile(1.0 - TAIL).ns;
    let above = |agent: &Measures| {
        let mut latency = agent.latency.clone();
        // One that was never answered is slower than any.
        let unanswered = agent.unanswered.count();
        latency.merge(&agent.unanswered);
        let count = latency.count();
        let beyond = count - latency.count_to(p99_ns);
        (beyond.max(unanswered.min(count)), count)
    };
    let counts: Vec<(u64, u64)> = agents.iter().map(|agent| above(agent)).collect();
    if counts.len() < 2 || counts.iter().any(|(_, count)| *count < COUNT_MIN) {
        return None;
    }
    let share = |(above, count): (u64, u64)| above as f64 / count as f64;
    let order = |a: &&(usize, (u64, u64)), b: &&(usize, (u64, u64))| share(a.1).total_cmp(&share(b.1));
    let numbered: Vec<(usize, (u64, u64))> = counts.into_iter().enumerate().collect();
    let (highest, lowest) = (numbered.iter().max_by(order)?, numbered.iter().min_by(order)?);
    let is_large = share(highest.1) >= RATIO_MIN * share(lowest.1).max(1.0 / lowest.1.1 as f64);
    let differ = is_large && z(highest.1, lowest.1) > Z_MIN;
    let named = |(agent, counts): (usize, (u64, u64))| (agent, share(counts));
    differ.then(|| TailsDiffer { p99_ns, highest: named(*highest), lowest: named(*lowest) })
}

/// The difference of two shares in standard errors, as if both were one.
fn z(one: (u64, u64), other: (u64, u64)) -> f64 {
    let share = (one.0 + other.0) as f64 / (one.1 + other.1) as f64;
    let variance = share * (1.0 - share) * (1.0 / one.1 as f64 + 1.0 / other.1 as f64);
    let apart = one.0 as f64 / one.1 as f64 - other.0 as f64 / other.1 as f64;
    if variance > 0.0 { apart.abs() / variance.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latencies around a millisecond, of which this share takes 50.
    fn measures(count: u64, slow: f64) -> Measures {
        let mut measures = Measures::default();
        let slow = (count as f64 * slow) as u64;
        for n in 0..count {
            let ns = if n < slow { 50_000_000 + n * 1_000 } else { 1_000_000 + (n * 7_919) % 100_000 };
            measures.latency.record(ns);
        }
        measures
    }

    #[test]
    fn equal_tails_are_no_finding_and_neither_is_chance() {
        let even = measures(10_000, 0.012);
        assert_eq!(compare(&[&even, &even]), None);
        assert_eq!(compare(&[&even, &measures(10_000, 0.008)]), None);
        assert_eq!(compare(&[&measures(1_000, 0.012), &measures(1_000, 0.008)]), None);
        assert_eq!(compare(&[&even]), None);
    }

    #[test]
    fn a_tail_of_one_agent_is_found() {
        let (fast, slow) = (measures(10_000, 0.0), measures(10_000, 0.03));
        let found = compare(&[&fast, &slow, &fast]).unwrap();
        assert_eq!(found.highest.0, 1);
        assert!(found.highest.1 > 0.02 && found.lowest.1 < 0.005, "{found:?}");
        assert_eq!(compare(&[&measures(500, 0.0), &slow]), None, "too few to say");
    }

    #[test]
    fn requests_without_an_answer_are_a_tail() {
        let fast = measures(10_000, 0.0);
        let mut silent = measures(10_000, 0.0);
        (0..400).for_each(|_| silent.unanswered.record(2_000_000_000));
        assert_eq!(compare(&[&fast, &silent]).map(|found| found.highest.0), Some(1));
    }
}
