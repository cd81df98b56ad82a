//! What is asked of a run about a claim that was published: comparisons, as an experiment's file has them. What comes out is for
//! [`tare_analysis::sequential`].

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
    /// It hangs, or it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<bool>,
    /// This many of its requests and connections fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// Its figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// Divided by the same of another service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Divided by the same at other points: the keys that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_points: Option<Where>,
    /// The claim says that it is no less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The claim says that it is no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Of how many comparisons it must hold.
    #[serde(default)]
    pub holds: Quantifier,
}

/// Which points; a key that is not given says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Where {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Messages, as published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// `local` or the name of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Of how many comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantifier {
    /// Of each.
    #[default]
    All,
    /// Of one at least.
    Some,
}
