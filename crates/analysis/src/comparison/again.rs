//! The candidate compared with itself: its twin is a separate process of the same build. Any difference comes
//! from the machine, and shows the resolution of the comparison and whether it is reliable.

use tare_bench::{
    folder::StoredRun,
    plan::until::{Gate, Metric, percent},
};

use super::{
    Figure,
    decide::{self, End, LogRatios},
    pair::{Both, both, figure, series_of},
};

/// The twin divided by the candidate, in every metric.
#[derive(Debug, Clone)]
pub struct TwinComparison {
    /// Label of the candidate.
    pub original: String,
    /// Label of the twin.
    pub label: String,
    /// Figures without verdicts.
    pub figures: Vec<Figure>,
}

impl TwinComparison {
    /// Absent if the candidate has no twin. The figures are those at `look`, out of `blocks` blocks.
    pub(super) fn of(
        stored: &StoredRun,
        gate: &Gate,
        end: End,
        [blocks, look]: [usize; 2],
    ) -> Option<TwinComparison> {
        let plan = &stored.header.plan;
        let label = plan.twin.as_deref().filter(|label| plan.is_twin(label))?;
        let original = plan.original();
        let both = Metric::COMPARED.map(|metric| both(stored, metric, [original, label], Vec::new()));
        let series: Vec<LogRatios> = both.iter().map(|both| series_of(gate, both)).collect();
        let gated = decide::at(gate, &decide::looks_of(gate, blocks, end, &series), &series, look);
        let figure = |((both, series), gated): ((Both, &LogRatios), _)| Figure {
            decides: false,
            verdict: None,
            ..figure(plan, gate, both, series, gated)
        };
        let figures = both.into_iter().zip(&series).zip(gated).map(figure).collect();
        Some(TwinComparison { original: original.to_owned(), label: label.to_owned(), figures })
    }

    /// Why the comparison is unreliable: in a deciding metric one build differs from itself by delta or more.
    pub(super) fn unreliable(&self, gate: &Gate, series: &[LogRatios]) -> Option<String> {
        let decides = |metric| series.iter().any(|series| series.metric == metric && series.decides);
        let beyond = |figure: &&Figure| {
            let interval = figure.ratio.and_then(|ratio| ratio.interval());
            interval.is_some_and(|(low, high)| low > 1.0 + gate.delta || high < 1.0 / (1.0 + gate.delta))
        };
        let figure = self.figures.iter().filter(|figure| decides(figure.metric)).find(beyond)?;
        Some(format!(
            "two processes of {} differ by {} or more, and they are the same build: compare on a quieter machine ({})",
            self.original,
            percent(gate.delta),
            figure.text().unwrap_or_default().trim_end_matches('.')
        ))
    }
}

impl Figure {
    /// The smallest difference that is separated with this noise: half of the interval, as a share.
    pub fn resolution(&self) -> Option<f64> {
        let (low, high) = self.ratio?.interval()?;
        Some((high / low).sqrt() - 1.0)
    }
}
