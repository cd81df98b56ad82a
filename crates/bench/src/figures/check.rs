//! Checks of published claims: the comparisons in an experiment's file. The analysis evaluates them.

use serde::{Deserialize, Serialize};

use crate::metric::Metric;

/// A check of a claim against a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FigureCheck {
    pub claim: String,
    #[serde(default)]
    pub points: Where,
    /// The service under check; `*` for each published service that is present, except hung ones.
    pub of: String,
    /// Exceptions from `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub but: Vec<String>,
    pub stuck: Option<bool>,
    /// Expected number of failed requests and connections.
    pub failures: Option<u64>,
    pub metric: Option<Metric>,
    /// Divides by the metric of another service.
    pub to: Option<String>,
    /// Divides by the metric at other points: the keys that differ.
    pub to_points: Option<Where>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    #[serde(default)]
    pub holds: Quantifier,
}

/// Selects points; an omitted key matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Where {
    pub part: Option<String>,
    pub messages: Option<u64>,
    pub delay_ms: Option<u64>,
    pub threads: Option<usize>,
    /// `local` or the name of a link.
    pub link: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantifier {
    #[default]
    All,
    Some,
}
