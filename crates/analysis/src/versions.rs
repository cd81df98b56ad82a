//! Versions of one service in the same blocks: the cost of each, and where it changed. Comparison within
//! blocks removes drift.

use tare_bench::{folder::StoredRun, metric::Metric, plan::Excluded};
use tare_stats::{Contrast, DEFAULT_CONFIDENCE, holm};

use crate::{
    estimate::UnitEstimate,
    expected::BLOCKS_FEW,
    interleaved::{self, Report, RowState},
    series,
};

/// Error probability of all changes together.
const ALPHA: f64 = 0.05;

/// A version, and its differences to earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    pub label: String,
    /// The commit or release.
    pub title: Option<String>,
    /// Divided by the first version; 1 for the first itself.
    pub against_first: Option<UnitEstimate>,
    /// Divided by the previous version with figures.
    pub against_previous: Option<UnitEstimate>,
    /// p-value of the difference to the previous version, adjusted for all versions.
    pub p: Option<f64>,
    /// Whether the cost changed at this version. One such statement is wrong in at most 5% of runs. Two or three blocks
    /// agree by chance now and then, so a run of fewer than [`BLOCKS_FEW`] blocks states only a [`PLAIN`] change.
    pub is_change: bool,
    /// Why it has no figures.
    pub reason: Option<String>,
}

/// All versions of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Versions {
    pub metric: Metric,
    pub blocks: usize,
    /// Oldest first.
    pub all: Vec<Version>,
}

impl Versions {
    /// Whether there are too few blocks to state a change, or that there is none.
    pub fn is_too_short(&self) -> bool {
        self.blocks < BLOCKS_FEW
    }

    /// The greatest change that is shown, as places in `all`: the version before it that has figures, and that at which it changed.
    pub fn greatest_change(&self) -> Option<[usize; 2]> {
        let size = |version: &Version| Some(version.against_previous?.value.ln().abs());
        let changes = self.all.iter().enumerate().filter(|(_, version)| version.is_change);
        let sized = changes.filter_map(|(place, version)| Some((place, size(version)?)));
        let (at, _) = sized.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // One without figures was passed over, and is no side of the change.
        let before = (0..at).rev().find(|place| self.all[*place].reason.is_none())?;
        Some([before, at])
    }

    /// The largest change between successive versions that is not excluded, as a share.
    pub fn change_most(&self) -> Option<f64> {
        let ends = self.all.iter().filter_map(|version| version.against_previous?.interval());
        ends.map(|(low, high)| (1.0 - low).max(high - 1.0)).reduce(f64::max)
    }
}

/// A change that a few blocks do not show by chance, as a ratio.
const PLAIN: f64 = 1.25;

/// The versions of a run. By CPU time per request, or by throughput if that is unknown.
pub fn compute(stored: &StoredRun) -> Option<Versions> {
    let plan = &stored.header.plan;
    if !plan.are_versions {
        return None;
    }
    let of = |metric| -> Vec<_> {
        plan.rows.iter().map(|row| series::of(plan, &stored.records, &row.label, metric)).collect()
    };
    let (metric, values) = match of(Metric::Cpu) {
        cpu if cpu.iter().any(|values| !values.is_empty()) => (Metric::Cpu, cpu),
        _ => (Metric::Throughput, of(Metric::Throughput)),
    };
    let report = interleaved::compute(stored);
    let reasons = reasons(stored, &report);
    let has_figures = |row: usize| reasons[row].is_none() && !values[row].is_empty();
    let between = |row: usize, other: usize| {
        let (of_row, of_other) = series::paired(&values[row], &values[other]);
        Contrast::of_values(&tare_stats::log_ratios(&of_row, &of_other).ok()?).ok()
    };
    let previous = |row: usize| (0..row).rev().find(|other| has_figures(*other)).filter(|_| has_figures(row));
    let steps: Vec<Option<Contrast>> = (0..plan.rows.len()).map(|row| between(row, previous(row)?)).collect();
    let mut adjusted =
        holm::adjust(&steps.iter().flatten().map(Contrast::p_value).collect::<Vec<_>>()).into_iter();
    let all = plan.rows.iter().zip(steps).enumerate().map(|(place, (row, step))| {
        let p = step.and_then(|_| adjusted.next());
        let against_previous = step.as_ref().and_then(estimate);
        Version {
            label: row.label.clone(),
            title: row.title.clone(),
            against_first: match place {
                0 => has_figures(0).then(|| UnitEstimate::known(1.0)),
                _ if has_figures(place) && has_figures(0) => {
                    between(place, 0).and_then(|found| estimate(&found))
                }
                _ => None,
            },
            against_previous,
            p,
            is_change: p.is_some_and(|p| p <= ALPHA)
                && (report.blocks >= BLOCKS_FEW || against_previous.is_some_and(is_plain)),
            reason: reasons[place].clone(),
        }
    });
    Some(Versions { metric, blocks: report.blocks, all: all.collect() })
}

fn estimate(contrast: &Contrast) -> Option<UnitEstimate> {
    contrast.estimate(DEFAULT_CONFIDENCE).ok().map(|found| UnitEstimate::exp(&found))
}

/// Whether no value of the interval is a smaller change than [`PLAIN`].
fn is_plain(change: UnitEstimate) -> bool {
    change.interval().is_some_and(|(low, high)| low >= PLAIN || high <= 1.0 / PLAIN)
}

/// Why each row has no figures, if so.
fn reasons(stored: &StoredRun, report: &Report) -> Vec<Option<String>> {
    let of = |row: &tare_bench::plan::PlannedRow| match &row.excluded {
        Some(Excluded { reason, .. }) => Some(reason.clone()),
        None => {
            let found = report.rows.iter().find(|found| found.label == row.label)?;
            (!matches!(found.state, RowState::Measured | RowState::Unmeasured))
                .then(|| found.state.reason())?
        }
    };
    stored.header.plan.rows.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use tare_bench::{fixture, plan::Exclusion, record::Record};

    /// Twelve blocks of versions with these rates.
    fn kept(rates: &[f64]) -> StoredRun {
        let labels: Vec<String> = (1..=rates.len()).map(|version| format!("v{version}")).collect();
        let mut header = fixture::compared();
        let plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
        header.plan = tare_bench::plan::Plan { are_versions: true, ..plan };
        // Separate noise per version; without noise even 0.1% would be significant.
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut noisy = |rate: &f64| rate * random.random_range(0.99..1.01);
        let rates_of = |_| rates.iter().map(&mut noisy).collect::<Vec<f64>>();
        let by_block: Vec<Vec<f64>> = (0..12).map(rates_of).collect();
        let records = by_block.iter().enumerate().flat_map(|(block, rates)| fixture::block(block, rates));
        StoredRun { header, records: records.collect(), damage: Vec::new(), in_progress: false }
    }

    fn changes(stored: &StoredRun) -> Vec<String> {
        let all = compute(stored).unwrap().all;
        all.into_iter().filter(|version| version.is_change).map(|version| version.label).collect()
    }

    #[test]
    fn a_change_is_where_the_cost_changes_and_stays() {
        let run = kept(&[1.0, 1.0, 0.9, 0.9, 1.1]);
        assert_eq!(changes(&run), ["v3", "v5"]);
        let versions = compute(&run).unwrap();
        assert_eq!(versions.metric, Metric::Cpu);
        let ratio = |found: Option<UnitEstimate>| found.unwrap().value;
        let [fourth, fifth] = [&versions.all[3], &versions.all[4]];
        assert!((ratio(fourth.against_first) - 1.0 / 0.9).abs() < 0.02, "{fourth:?}");
        assert!((ratio(fifth.against_previous) - 0.9 / 1.1).abs() < 0.02, "{fifth:?}");
        assert_eq!(versions.all[0].against_first, Some(UnitEstimate::known(1.0)));
        assert_eq!(versions.greatest_change(), Some([3, 4]));
        let none = kept(&[1.0, 1.0, 1.0]);
        assert_eq!((changes(&none), compute(&none).unwrap().greatest_change()), (Vec::new(), None));
    }

    #[test]
    fn blocks_that_agree_by_chance_are_no_change() {
        let mut run = kept(&[1.0, 1.0, 0.9]);
        run.records.retain(|record| !matches!(record, Record::Sample(sample) if sample.block >= 4));
        let versions = compute(&run).unwrap();
        assert!(versions.is_too_short() && versions.all.iter().all(|version| !version.is_change));
        assert!(versions.all[2].p.unwrap() < ALPHA, "{versions:?}");
    }

    #[test]
    fn few_blocks_show_a_plain_change() {
        let mut run = kept(&[1.0, 1.0, 0.5, 1.5]);
        run.records.retain(|record| !matches!(record, Record::Sample(sample) if sample.block >= 3));
        assert_eq!(compute(&run).unwrap().blocks, 3);
        assert_eq!(changes(&run), ["v3", "v4"]);
    }

    #[test]
    fn a_version_without_figures_is_passed_over() {
        let mut run = kept(&[1.0, 1.0, 0.9]);
        run.header.plan.rows[1].excluded =
            Some(Excluded { why: Exclusion::NotBuilt, reason: "does not compile".to_owned() });
        let versions = compute(&run).unwrap();
        assert_eq!(versions.all[1].reason.as_deref(), Some("does not compile"));
        assert_eq!((versions.all[1].against_first, changes(&run)), (None, vec!["v3".to_owned()]));
        assert_eq!(versions.greatest_change(), Some([0, 2]));
        run.header.plan.are_versions = false;
        assert_eq!(compute(&run), None);
    }
}
