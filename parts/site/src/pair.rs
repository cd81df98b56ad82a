//! Two services of one run, as in the document's table of pairs.

use serde::{Deserialize, Serialize};

use super::figure::{Reader, RunFigure, table};
use tare_report::document::{Document, Value};

/// The section of a document that has a row per pair.
const PAIRS: &str = "pairs";

/// Two services of one run, compared in the same blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServicePair {
    pub first: String,
    pub second: String,
    /// The ratio of the first to the second.
    pub cpu_ratio: Option<RunFigure>,
    /// That of service and database together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_cpu_ratio: Option<RunFigure>,
    pub throughput_ratio: Option<RunFigure>,
    /// Blocks in which both were measured: an interval needs two.
    #[serde(default)]
    pub blocks: u32,
    /// Whether they are separated, corrected for all pairs of the run; `None` with too few blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separated: Option<bool>,
    /// The largest difference not excluded, as a share of the smaller figure, corrected for all pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differ_most: Option<f64>,
}

impl ServicePair {
    pub(crate) fn all(document: &Document) -> Vec<ServicePair> {
        let rows = table(document, PAIRS).into_iter().flat_map(Reader::all);
        let pair = |row: Reader<'_>| ServicePair {
            first: row.text("first"),
            second: row.text("second"),
            cpu_ratio: row.figure("cpu_ratio"),
            total_cpu_ratio: row.figure("total_cpu_ratio"),
            throughput_ratio: row.figure("throughput_ratio"),
            blocks: row.number("blocks").map_or(0, |blocks| blocks as u32),
            separated: match row.value("separated") {
                Some(Value::Flag(separated)) => Some(*separated),
                _ => None,
            },
            differ_most: row.number("differ_most"),
        };
        rows.map(pair).filter(|pair| !pair.first.is_empty()).collect()
    }

    /// The ratio that decides which of them is cheaper.
    pub(crate) fn cost(&self) -> Option<RunFigure> {
        self.total_cpu_ratio.or(self.cpu_ratio)
    }

    pub(crate) fn inverse(&self) -> ServicePair {
        ServicePair {
            first: self.second.clone(),
            second: self.first.clone(),
            cpu_ratio: self.cpu_ratio.map(RunFigure::inverse),
            total_cpu_ratio: self.total_cpu_ratio.map(RunFigure::inverse),
            throughput_ratio: self.throughput_ratio.map(RunFigure::inverse),
            ..*self
        }
    }
}
