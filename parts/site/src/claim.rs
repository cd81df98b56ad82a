//! A claim of a published benchmark, and its outcome.

use serde::{Deserialize, Serialize};
use tare_analysis::sequential::ClaimOutcome;

use super::figure::{Reader, RunFigure, Word, table};
use tare_report::document::{Document, Tone};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteClaim {
    pub id: String,
    pub text: String,
    pub held: Held,
    pub direction: Option<Word>,
    pub verdict: Option<Word>,
    pub evidence: String,
    /// The comparisons of ratios that decide it.
    #[serde(default)]
    pub checks: Vec<ClaimCheck>,
}

/// A measured ratio that was compared with the claimed one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimCheck {
    pub name: String,
    pub found: RunFigure,
    pub published: Option<f64>,
    pub claimed_least: Option<f64>,
    pub claimed_most: Option<f64>,
    /// Whether the evidence is weak: one round, or a limiting load.
    pub is_weak: bool,
}

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    Holds,
    /// The direction is as claimed, but not the factor.
    OtherSize,
    DoesNotHold,
    #[default]
    Inconclusive,
    /// The deciding evidence comes from one round, or from a load that reached its own limit.
    Weak,
}

impl SiteClaim {
    pub(crate) fn all(document: &Document) -> Vec<SiteClaim> {
        let rows = table(document, "claims").into_iter().flat_map(Reader::all);
        let claim = |row: Reader<'_>| SiteClaim {
            id: row.text("id"),
            text: row.text("claim"),
            held: Held::of(&row),
            direction: row.word("direction"),
            verdict: row.word("verdict"),
            evidence: row.text("evidence"),
            checks: ClaimCheck::of(document, &row.text("id")),
        };
        rows.map(claim).collect()
    }
}

impl ClaimCheck {
    fn of(document: &Document, claim: &str) -> Vec<ClaimCheck> {
        let rows = table(document, "evidence").into_iter().flat_map(Reader::all);
        let rows = rows.filter(|row| row.text("id") == claim && row.text("kind") == "ratio");
        let prefix = format!("{claim}: ");
        let check = |row: Reader<'_>| {
            let name = row.text("comparison");
            Some(ClaimCheck {
                name: name.strip_prefix(&prefix).unwrap_or(&name).to_owned(),
                found: row.figure("value")?,
                published: row.number("published"),
                claimed_least: row.number("claimed_least"),
                claimed_most: row.number("claimed_most"),
                is_weak: row.flag("is_weak"),
            })
        };
        rows.filter_map(check).collect()
    }
}

impl Held {
    pub const ALL: [Held; 5] =
        [Held::Holds, Held::OtherSize, Held::DoesNotHold, Held::Inconclusive, Held::Weak];

    fn of(row: &Reader<'_>) -> Held {
        if row.flag("is_weak") {
            return Held::Weak;
        }
        match row.text("outcome").parse() {
            Ok(ClaimOutcome::Holds) => Held::Holds,
            Ok(ClaimOutcome::OtherSize) => Held::OtherSize,
            Ok(ClaimOutcome::DoesNotHold) => Held::DoesNotHold,
            Ok(ClaimOutcome::Inconclusive) | Err(_) => Held::Inconclusive,
        }
    }

    /// Whether the claim has a verdict.
    pub(crate) fn is_decided(self) -> bool {
        matches!(self, Held::Holds | Held::OtherSize | Held::DoesNotHold)
    }

    /// The outcome of one claim.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Held::Holds => "holds",
            Held::OtherSize => "holds in direction only",
            Held::DoesNotHold => "does not hold",
            Held::Inconclusive => "inconclusive",
            Held::Weak => "weak evidence only",
        }
    }

    /// The verb after a number of claims.
    pub(crate) fn verb(self, count: usize) -> &'static str {
        match (self, count) {
            (Held::Holds, 1) => "holds",
            (Held::Holds, _) => "hold",
            (Held::OtherSize, 1) => "holds in direction only",
            (Held::OtherSize, _) => "hold in direction only",
            (Held::DoesNotHold, 1) => "does not hold",
            (Held::DoesNotHold, _) => "do not hold",
            (Held::Inconclusive, 1) => "is inconclusive",
            (Held::Inconclusive, _) => "are inconclusive",
            (Held::Weak, 1) => "has weak evidence only",
            (Held::Weak, _) => "have weak evidence only",
        }
    }

    pub(crate) fn tone(self) -> Tone {
        match self {
            Held::Holds => Tone::Good,
            Held::DoesNotHold => Tone::Bad,
            Held::OtherSize | Held::Inconclusive | Held::Weak => Tone::Open,
        }
    }
}
