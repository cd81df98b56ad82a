//! The sides of a comparison: the runs before and after, for each row.

use tare_bench::metric::Metric;

use super::{
    comparable::{Difference, DifferenceWeight},
    run::{NamedRun, RowRatios},
};

/// Comparable runs, with their differences.
#[derive(Debug)]
pub struct RunSet<'a> {
    /// In the order of the document.
    pub runs: &'a [NamedRun],
    pub differences: &'a [Difference],
    /// Whether all runs are from one kind of machine.
    pub is_one_machine: bool,
}

/// Tare's built-in reference. Its build is the whole program, so its version identifies it.
const BUILT_IN: &str = "raw-socket";

impl<'a> RunSet<'a> {
    pub fn new(runs: &'a [NamedRun], differences: &'a [Difference]) -> RunSet<'a> {
        let is_one_machine =
            !differences.iter().any(|one| one.weight == DifferenceWeight::Machine && !one.is_same);
        RunSet { runs, differences, is_one_machine }
    }

    /// Whether runs are the independent unit, not blocks.
    pub fn by_runs(&self) -> bool {
        self.runs.len() > 2
    }

    /// All rows, in the order of the last run's table, then further rows of older runs.
    pub fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for row in self.runs.iter().rev().flat_map(|run| &run.report.rows) {
            if !labels.contains(&row.label) {
                labels.push(row.label.clone());
            }
        }
        labels
    }

    /// The log ratios of a row in a run.
    ///
    /// # Errors
    /// If there are none, with the reason; also if its reference is another program than the last run's.
    pub fn ratios(&self, run: usize, label: &str, metric: Metric) -> Result<RowRatios, String> {
        if metric != Metric::Rss && !self.has_the_last_reference(run) {
            let version = |run: &NamedRun| {
                let reference = run.planned(run.plan().reference());
                reference.and_then(|row| row.version.clone()).unwrap_or_else(|| "no version".to_owned())
            };
            let (own, last) = (&self.runs[run], &self.runs[self.runs.len() - 1]);
            return Err(format!(
                "the reference is another program (\"{}\" in {}, \"{}\" in {})",
                version(own),
                own.name,
                version(last),
                last.name
            ));
        }
        self.runs[run].ratios(label, metric)
    }

    fn has_the_last_reference(&self, run: usize) -> bool {
        let (own, last) = (&self.runs[run], &self.runs[self.runs.len() - 1]);
        let reference = last.plan().reference();
        let (Some(one), Some(other)) = (own.planned(reference), last.planned(reference)) else {
            return false;
        };
        // Two machines have two compilers, and so two builds of one version.
        let by_version = other.service == BUILT_IN || !self.is_one_machine || one.content.is_none();
        let is_same = by_version || other.content.is_none() || one.content == other.content;
        is_same
            && one.version == other.version
            && one.service == other.service
            && one.protocol == other.protocol
    }

    /// Whether some run has another build of the same version of the reference.
    pub fn references_differ_by_build(&self) -> bool {
        let builds: Vec<_> = self.runs.iter().map(|run| run.build(run.plan().reference())).collect();
        builds.iter().any(|build| *build != builds[0])
    }

    /// Why no row has an effect of this metric.
    pub(crate) fn not_compared(&self, metric: Metric) -> Option<String> {
        let differs = |one: &&Difference| one.weight == DifferenceWeight::Metric(metric) && !one.is_same;
        if let Some(difference) = self.differences.iter().find(differs) {
            return Some(difference.text(self.runs));
        }
        let is_absolute = metric == Metric::Rss && !self.is_one_machine;
        is_absolute.then(|| {
            "two machines: figures that are not related to a reference stand side by side".to_owned()
        })
    }

    /// The runs before and after, among those with the row. With two runs, the first and the second. With two
    /// machines, the last run's machine against the others. Otherwise the last build against the previous
    /// one, or the last run against all others if the build never changed.
    pub(crate) fn sides(&self, label: &str, samples: &[Result<RowRatios, String>]) -> [Vec<usize>; 2] {
        let known: Vec<usize> = (0..self.runs.len()).filter(|run| samples[*run].is_ok()).collect();
        if !self.by_runs() {
            return [vec![0], vec![1]]
                .map(|side| side.into_iter().filter(|run| known.contains(run)).collect());
        }
        let key = |run: usize| {
            if self.is_one_machine { self.runs[run].build(label) } else { Some(self.machine(run)) }
        };
        let Some(last) = known.last().map(|run| key(*run)) else { return [Vec::new(), Vec::new()] };
        if !self.is_one_machine {
            let (after, before) = known.into_iter().partition(|run| key(*run) == last);
            return [before, after];
        }
        let begins = known.iter().rposition(|run| key(*run) != last);
        let Some(changed) = begins else {
            let (newest, others) =
                known.split_last().map_or((Vec::new(), &[][..]), |(one, rest)| (vec![*one], rest));
            return [others.to_vec(), newest];
        };
        let earlier = key(known[changed]);
        let from =
            known[..=changed].iter().rposition(|run| key(*run) != earlier).map_or(0, |place| place + 1);
        [known[from..=changed].to_vec(), known[changed + 1..].to_vec()]
    }

    /// The values that define a machine class.
    pub fn machine(&self, run: usize) -> String {
        let of_machine = self.differences.iter().filter(|one| one.weight == DifferenceWeight::Machine);
        of_machine.map(|one| one.values[run].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether the build of a row is the same in all of these runs; absent if unknown.
    pub fn same_build(&self, label: &str, before: &[usize], after: &[usize]) -> Option<bool> {
        let builds: Option<Vec<String>> =
            before.iter().chain(after).map(|run| self.runs[*run].build(label)).collect();
        let builds = builds.filter(|builds| builds.len() > 1)?;
        Some(builds.iter().all(|build| *build == builds[0]))
    }
}
