//! Decides from the evidence of an action whether the fault was detected. Pure: the same stored run or
//! transcript gives the same evaluation. Figures come from the analysis that makes every table.

mod proofs;
mod runs;

use std::{collections::BTreeMap, io};

use serde::{Deserialize, Serialize};
use tare_analysis::{
    analysis::{Analysis, Answer},
    comparison::Comparison,
    interleaved::{Report, RowReport},
    verdict::Verdict,
};
use tare_bench::folder::StoredRun;
use tare_reference::Added;
use tare_service::verify::Transcript;

pub(super) use proofs::{cache, honest, slow_close, wrong_length};
pub(super) use runs::{
    dropper, late_cache, linear, mixed_up_streams, slow_handshake, slower, some_wrong_lengths, spinner,
    stall, stalled_stream, throttled, twins, wrong_stream,
};

#[derive(Debug)]
pub enum Evidence {
    /// A transcript for each fault, or why there is none.
    Proofs(Vec<Result<Transcript, String>>),
    /// A run, read from its folder and analysed like any other.
    Run(Box<Analysed>),
}

/// A stored run with its analysis.
#[derive(Debug)]
pub struct Analysed {
    kept: StoredRun,
    verdict: Verdict,
    report: Report,
    comparison: Option<Comparison>,
    made: TrialResult,
}

/// Facts about a trial that the records of its run lack.
#[derive(Debug, Default)]
pub(crate) struct TrialResult {
    /// How the disturbance was implemented, for the certificate.
    pub(crate) how: Option<String>,
    /// Work that slower rows added to their requests, as they report it.
    pub(crate) added: BTreeMap<&'static str, io::Result<Added>>,
}

impl Analysed {
    /// Analyses a run read from its folder.
    pub(crate) fn new(kept: StoredRun, made: TrialResult) -> Analysed {
        let Analysis { verdict, answer, .. } = Analysis::of(&kept);
        let (comparison, mut loads) = match answer {
            Answer::Comparison(comparison, loads) => (Some(comparison), loads),
            Answer::Tables(loads) => (None, loads),
            Answer::Capacity(_) | Answer::Claims(_) => unreachable!("every trial asks for a table"),
        };
        Analysed { verdict, report: loads.swap_remove(0).report, comparison, kept, made }
    }

    fn row(&self, name: &str) -> Option<&RowReport> {
        self.report.rows.iter().find(|row| row.label == name)
    }

    fn missing(&self, name: &str) -> String {
        let reason = self.row(name).and_then(|row| row.state.reason());
        reason.map_or_else(|| format!("there is no row \"{name}\""), |reason| format!("{name}: {reason}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialOutcome {
    Seen,
    NotSeen,
    /// It ran, but the evidence is insufficient.
    NotDecided,
    /// It could not run on this machine, or not now.
    NotTried,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub outcome: TrialOutcome,
    /// The result in a sentence.
    pub found: String,
    /// The result as numbers, with units in their names.
    pub figures: BTreeMap<String, f64>,
}

/// The evaluation of a trial; the error is the evaluation of insufficient evidence.
pub(super) type Found = Result<Evaluation, Evaluation>;

const NO_FIGURES: [(&str, f64); 0] = [];

impl Evaluation {
    pub fn not_tried(reason: impl Into<String>) -> Evaluation {
        Evaluation { outcome: TrialOutcome::NotTried, found: reason.into(), figures: BTreeMap::new() }
    }

    fn of<N: Into<String>>(
        is_seen: bool,
        found: impl Into<String>,
        figures: impl IntoIterator<Item = (N, f64)>,
    ) -> Evaluation {
        let figures = figures.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let outcome = if is_seen { TrialOutcome::Seen } else { TrialOutcome::NotSeen };
        Evaluation { outcome, found: found.into(), figures }
    }

    fn not_seen(found: impl Into<String>) -> Evaluation {
        Evaluation::of(false, found, NO_FIGURES)
    }

    fn not_decided(reason: impl Into<String>) -> Evaluation {
        Evaluation { outcome: TrialOutcome::NotDecided, ..Evaluation::not_tried(reason) }
    }
}

#[cfg(test)]
mod tests;
