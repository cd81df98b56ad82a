//! What is asked of a run about a claim that was published: comparisons, as an experiment's file has them. What comes out is for
//! the analysis.

use serde::{Deserialize, Serialize};

use crate::metric::Metric;

/// What is asked of a run about a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Check {
    pub claim: String,
    #[serde(default)]
    pub points: Where,
    /// The service that is asked about; `*` for each that was published and is here, except one that hung.
    pub of: String,
    /// Left out of `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub but: Vec<String>,
    pub stuck: Option<bool>,
    /// This many of its requests and connections fail.
    pub failures: Option<u64>,
    pub metric: Option<Metric>,
    /// Divided by the same of another service.
    pub to: Option<String>,
    /// Divided by the same at other points: the keys that differ.
    pub to_points: Option<Where>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    #[serde(default)]
    pub holds: Quantifier,
}

/// Which points; a key that is not given says nothing.
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
