//! What ends a run. The plan stores it, so that readers know whether the end depended on results, and how the
//! looks share the error probability. The stopping rules of the analysis decide.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use tare_stats::Looks;

pub use crate::metric::Metric;
use crate::slo::SloPlan;

/// The overall error probability of a question.
pub const ALPHA: f64 = 0.05;

/// The looks, as shares of the most blocks. The first look comes when a clear difference becomes visible;
/// further looks would leave less error probability for each.
const SHARES: [f64; 5] = [0.3, 0.4, 0.5, 0.75, 1.0];

/// What ends a run, beside its budget and its most blocks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Until {
    /// The budget only; results do not end the run.
    #[default]
    Budget,
    /// A comparison of the reference with one other row is decided.
    Gate(Gate),
    /// All pairs of ranked rows are separated, or shown to be equivalent.
    #[serde(alias = "tiers")]
    Ranks(RanksGoal),
    /// The figures are precise enough.
    Precision(Precision),
    /// A row lies above or below others with significance.
    Apart(AgainstMean),
    /// Every search for a capacity has finished.
    Search(SloPlan),
}

/// A comparison, in which the plan's reference is the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Label of the row that must not be worse.
    pub candidate: String,
    /// The smallest regression that matters: 0.03 for 3%.
    pub delta: f64,
    /// The metrics that decide. `alpha` is divided among them.
    pub metrics: Vec<Metric>,
    /// The numbers of blocks after which the run is examined.
    pub looks: Vec<usize>,
    /// Error probability over all looks and all deciding metrics.
    pub alpha: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RanksGoal {
    pub metric: Metric,
    /// Two rows that differ by less than this are equivalent.
    pub delta: f64,
    /// The numbers of blocks after which the run is examined.
    pub looks: Vec<usize>,
    /// Error probability over all looks and all pairs: once for "differ", once for "equivalent".
    pub alpha: f64,
}

/// Relates a row to the geometric mean of others: of two, it shows which one the row resembles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainstMean {
    /// Label of the row.
    pub subject: String,
    /// Labels of the rows that it is related to.
    pub others: Vec<String>,
    pub metric: Metric,
    /// The numbers of blocks after which the run is examined.
    pub looks: Vec<usize>,
    /// Error probability over all looks.
    pub alpha: f64,
}

/// Stops when the mean half width of CPU time per request, relative to the reference, is below this share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    pub half_width: f64,
}

/// Looks at a run of at most this many blocks: 12, 16, 20, 30 and 40 of 40.
pub fn looks(blocks_max: usize) -> Vec<usize> {
    let at = |share: &f64| ((blocks_max as f64 * share).round() as usize).max(1);
    let mut looks: Vec<usize> = SHARES.iter().map(at).collect();
    looks.dedup();
    looks
}

impl Gate {
    /// The looks at a metric. Deciding metrics share the error probability (Bonferroni): their intervals hold
    /// simultaneously, so an unchanged candidate rarely fails. Other metrics have the whole of it.
    pub fn looks_at(&self, metric: Metric) -> Looks {
        planned(&self.looks, self.alpha_of(metric))
    }

    /// Error probability of the intervals of a metric, over all looks.
    fn alpha_of(&self, metric: Metric) -> f64 {
        let decide = if self.metrics.contains(&metric) { self.metrics.len() } else { 1 };
        self.alpha / decide as f64
    }
}

/// Formats a share: `3%`, `2.5%`.
pub fn percent(share: f64) -> String {
    format!("{}%", (share * 100_000.0).round() / 1000.0)
}

/// Cache of planned looks: planning integrates for milliseconds, and every look asks once per metric.
static PLANNED: Mutex<BTreeMap<(Vec<usize>, u64), Looks>> = Mutex::new(BTreeMap::new());
/// Bounds the cache in a program that reads many runs.
const PLANNED_MAX: usize = 64;

/// Plans looks. Invalid ones, from a damaged plan, become a single look that cannot decide.
///
/// # Panics
/// Never: one look at a level of 5% is a plan.
pub fn planned(looks: &[usize], alpha: f64) -> Looks {
    planned_if_valid(looks, alpha)
        .or_else(|| planned_if_valid(&[1], ALPHA))
        .expect("one look at a level of 5% is a plan")
}

/// Plans looks with this total error probability; absent if they are invalid.
pub fn planned_if_valid(looks: &[usize], alpha: f64) -> Option<Looks> {
    let asked = (looks.to_vec(), alpha.to_bits());
    let mut known = PLANNED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(looks) = known.get(&asked) {
        return Some(looks.clone());
    }
    let looks = Looks::planned(looks, alpha).ok()?;
    if known.len() >= PLANNED_MAX {
        known.clear();
    }
    known.insert(asked, looks.clone());
    Some(looks)
}

impl Until {
    /// What it decides, with its looks and their error probability; absent if results do not end the run.
    fn question(&self) -> Option<(&'static str, f64, &[usize], f64)> {
        match self {
            Until::Budget | Until::Precision(_) | Until::Apart(_) | Until::Search(_) => None,
            Until::Gate(gate) => Some(("the comparison is decided", gate.delta, &gate.looks, gate.alpha)),
            Until::Ranks(ranks) => {
                Some(("every pair of rows is decided", ranks.delta, &ranks.looks, ranks.alpha))
            }
        }
    }

    /// The same rule, with its looks planned for at most this many blocks.
    #[must_use]
    pub fn with_blocks_max(mut self, blocks_max: usize) -> Until {
        match &mut self {
            Until::Gate(Gate { looks: planned, .. })
            | Until::Ranks(RanksGoal { looks: planned, .. })
            | Until::Apart(AgainstMean { looks: planned, .. }) => *planned = looks(blocks_max),
            Until::Budget | Until::Precision(_) | Until::Search(_) => {}
        }
        self
    }

    /// Error probability of an interval of this metric, over all looks; absent without looks.
    pub(crate) fn alpha_of(&self, metric: Metric) -> Option<f64> {
        match self {
            Until::Gate(gate) => Some(gate.alpha_of(metric)),
            Until::Apart(apart) => Some(apart.alpha),
            _ => None,
        }
    }

    /// Whether looks can end the run; cheap, because a schedule asks before each step.
    pub fn has_looks(&self) -> bool {
        matches!(self, Until::Apart(_)) || self.question().is_some()
    }

    /// The looks at a table of all rows; absent if results do not end the run.
    pub fn planned(&self) -> Option<Looks> {
        match self {
            Until::Apart(apart) => Some(planned(&apart.looks, apart.alpha)),
            _ => self.question().map(|(_, _, looks, alpha)| planned(looks, alpha)),
        }
    }

    /// The rule in words, for a reader of a plan.
    pub fn text(&self) -> Option<String> {
        if let Until::Precision(Precision { half_width }) = self {
            let width = percent(*half_width);
            return Some(format!(
                "half intervals of CPU time per request are {width} on average, after any block"
            ));
        }
        if let Until::Apart(AgainstMean { subject, others, looks, .. }) = self {
            let (others, looks) = (others.join(" and "), listed(looks));
            return Some(format!("{subject} is found above or below {others}; looks after {looks} blocks"));
        }
        let (what, delta, looks, _) = self.question()?;
        Some(format!("{what}, within {}; looks after {} blocks", percent(delta), listed(looks)))
    }
}

fn listed(looks: &[usize]) -> String {
    looks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_shares_of_the_most_blocks() {
        assert_eq!(looks(40), [12, 16, 20, 30, 40]);
        assert_eq!(looks(12), [4, 5, 6, 9, 12]);
        assert_eq!(looks(1), [1]);
    }

    #[test]
    fn the_error_is_divided_among_the_metrics_that_decide() {
        let metrics = vec![Metric::Throughput, Metric::Cpu];
        let gate = Gate { candidate: "b".into(), delta: 0.03, metrics, looks: looks(40), alpha: ALPHA };
        let spent = |metric| -> f64 { gate.looks_at(metric).all().iter().map(|look| look.spent).sum() };
        assert!((0.02..=0.025).contains(&spent(Metric::Cpu)), "{}", spent(Metric::Cpu));
        assert!((0.04..=0.05).contains(&spent(Metric::Rss)), "{}", spent(Metric::Rss));
        assert!(gate.looks_at(Metric::Cpu).all()[0].level > 0.0, "the first look can decide");
    }

    #[test]
    fn it_is_kept_in_a_plan() {
        let ranks = RanksGoal { metric: Metric::Cpu, delta: 0.03, looks: vec![12, 40], alpha: ALPHA };
        let (candidate, metrics) = ("b".to_owned(), vec![Metric::Cpu, Metric::P99]);
        let gate = Gate { candidate, delta: 0.03, metrics, looks: vec![12, 40], alpha: ALPHA };
        let text = Until::Gate(gate.clone()).text();
        assert_eq!(text.as_deref(), Some("the comparison is decided, within 3%; looks after 12, 40 blocks"));
        let precision = Until::Precision(Precision { half_width: 0.02 });
        assert!(precision.planned().is_none() && precision.text().unwrap().contains("2% on average"));
        for until in [Until::Budget, precision, Until::Ranks(ranks), Until::Gate(gate)] {
            let text = serde_json::to_string(&until).unwrap();
            assert_eq!(serde_json::from_str::<Until>(&text).unwrap(), until, "{text}");
            assert_eq!(until.has_looks(), until.planned().is_some(), "{text}");
        }
        assert!(Until::Budget.planned().is_none());
    }
}
