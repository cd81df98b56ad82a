//! An SLO, read from `p99=10ms` or `errors=0.1%`, and which requests of a window are bad.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use tare_base::units::{UnitError, parse_duration_with_unit};

use crate::sample::{AskedOfLoad, LoadResult};

/// Allowed share of wrong and missing answers, unless an objective sets another.
pub const FAILURE_SHARE_MAX: f64 = 0.001;

/// The percentiles that an SLO accepts, in words.
pub const PERCENTILES: &str = "any between p0 and p100, such as p50, p90, p95, p99 or p99.9";

/// Objectives that must all hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Slo {
    terms: Vec<Term>,
}

/// One objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term {
    /// This share of all requests (in percent) has a correct answer within the limit.
    Latency {
        /// 99 for p99.
        percent: f64,
        limit_ns: u64,
    },
    /// At most this share (0 to 1) of all requests has a wrong answer or none.
    Errors { share: f64 },
}

/// Errors in the text of an SLO.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SloError {
    #[error("\"{0}\" is not an SLO: give a percentile with a time, such as p99=10ms, or errors=0.1%")]
    Term(String),
    #[error("\"{0}\" is not a percentile: give {PERCENTILES}")]
    Percentile(String),
    #[error("\"{0}\" is not a time above 0: give one such as 500us, 10ms or 1s")]
    Limit(String),
    #[error("\"{name}={number}\" has no unit: write {name}={number}ms or {name}={number}s")]
    NoUnit { name: String, number: String },
    #[error("\"{0}\" is not a share of requests: give one from 0% to below 100%, such as 0.1%")]
    Share(String),
    #[error("\"{0}\" is asked for twice: give it once")]
    Twice(String),
    #[error("an SLO takes a percentile with a time, such as p99=10ms: without one every rate holds")]
    NoLatency,
}

impl Slo {
    /// Parses all texts. Without an objective for errors, the usual limit of a valid row applies.
    ///
    /// # Errors
    /// If a text is no objective, or one is given twice.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Slo, SloError> {
        let mut terms: Vec<Term> = Vec::new();
        for text in texts {
            let term: Term = text.parse()?;
            if terms.iter().any(|other| other.name() == term.name()) {
                return Err(SloError::Twice(term.name()));
            }
            terms.push(term);
        }
        if !terms.iter().any(|term| matches!(term, Term::Latency { .. })) {
            return Err(SloError::NoLatency);
        }
        if !terms.iter().any(|term| matches!(term, Term::Errors { .. })) {
            terms.push(Term::Errors { share: FAILURE_SHARE_MAX });
        }
        Ok(Slo { terms })
    }

    /// The values that a load must record.
    pub fn asked(&self) -> AskedOfLoad {
        AskedOfLoad { limits_ns: self.limits_ns(), percents: self.percents() }
    }

    /// The limits within which answers are counted, in the order of the latency terms.
    pub fn limits_ns(&self) -> Vec<u64> {
        let limit = |term: &Term| match term {
            Term::Latency { limit_ns, .. } => Some(*limit_ns),
            Term::Errors { .. } => None,
        };
        self.terms.iter().filter_map(limit).collect()
    }

    /// The requested percentiles, in the order of the latency terms: 99 for p99.
    pub fn percents(&self) -> Vec<f64> {
        let percent = |term: &Term| match term {
            Term::Latency { percent, .. } => Some(*percent),
            Term::Errors { .. } => None,
        };
        self.terms.iter().filter_map(percent).collect()
    }

    /// The allowed share of bad requests of each term.
    pub fn allowed(&self) -> Vec<f64> {
        let allowed = |term: &Term| match term {
            Term::Latency { percent, .. } => 1.0 - percent / 100.0,
            Term::Errors { share } => *share,
        };
        self.terms.iter().map(allowed).collect()
    }

    /// The fewest requests for which one late answer is within the latency terms.
    pub fn requests_min(&self) -> u64 {
        let latency = |term: &&Term| matches!(term, Term::Latency { .. });
        let allowed = self.terms.iter().zip(self.allowed()).filter(|(term, _)| latency(term));
        allowed.map(|(_, allowed)| (1.0 / allowed).round() as u64).max().unwrap_or(0)
    }

    /// Bad requests of a load, per term: the requests that were due minus the good ones. So a wrong, missing
    /// or never requested answer is as bad as a late one.
    pub fn bad(&self, load: &LoadResult) -> Vec<u64> {
        let due = due(load);
        let mut within = load.within.iter();
        let good = |term: &Term| match term {
            Term::Latency { .. } => within.next().copied().unwrap_or(0),
            Term::Errors { .. } => load.answered,
        };
        self.terms.iter().map(good).map(|good| due.saturating_sub(good)).collect()
    }
}

/// Requests that were due in an open loop, including those never sent.
pub fn due(load: &LoadResult) -> u64 {
    load.sent + load.unsent
}

impl Term {
    fn name(self) -> String {
        match self {
            Term::Latency { percent, .. } => format!("p{percent}"),
            Term::Errors { .. } => "errors".to_owned(),
        }
    }
}

impl FromStr for Term {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Term, SloError> {
        let (name, value) = text.trim().split_once('=').ok_or_else(|| SloError::Term(text.to_owned()))?;
        if name == "errors" {
            let share = value.strip_suffix('%').and_then(|percent| percent.parse::<f64>().ok());
            let share = share.map(|percent| percent / 100.0).filter(|share| (0.0..1.0).contains(share));
            return Ok(Term::Errors { share: share.ok_or_else(|| SloError::Share(value.to_owned()))? });
        }
        let percent = name.strip_prefix('p').ok_or_else(|| SloError::Term(text.to_owned()))?;
        let percent = percent.parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent < 100.0);
        let percent = percent.ok_or_else(|| SloError::Percentile(name.to_owned()))?;
        let limit = parse_duration_with_unit(value).map_err(|error| match error {
            UnitError::NoUnit(number) => SloError::NoUnit { name: name.to_owned(), number },
            _ => SloError::Limit(value.to_owned()),
        })?;
        if limit.is_zero() {
            return Err(SloError::Limit(value.to_owned()));
        }
        Ok(Term::Latency { percent, limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX) })
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A duration in Rust's format with ASCII units: 10ms, 1.5s, 500us.
            Term::Latency { limit_ns, .. } => {
                let limit = format!("{:?}", Duration::from_nanos(*limit_ns)).replace('µ', "u");
                write!(f, "{}={limit}", self.name())
            }
            // Rounds away the error of dividing a percentage by 100.
            Term::Errors { share } => write!(f, "errors={}%", (share * 1e8).round() / 1e6),
        }
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.terms.iter().map(ToString::to_string).collect();
        f.write_str(&terms.join(", "))
    }
}

impl TryFrom<Vec<String>> for Slo {
    type Error = SloError;

    fn try_from(texts: Vec<String>) -> Result<Slo, SloError> {
        Slo::parse(texts.iter().map(String::as_str))
    }
}

impl From<Slo> for Vec<String> {
    fn from(slo: Slo) -> Vec<String> {
        slo.terms.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn slo(texts: &[&str]) -> Result<String, String> {
        Slo::parse(texts.iter().copied()).map(|slo| slo.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_may_be_asked_for() {
        assert_eq!(slo(&["p99=10ms"]), Ok("p99=10ms, errors=0.1%".to_owned()));
        assert_eq!(slo(&["p50=500us", "p99.9=1.5s"]), Ok("p50=500us, p99.9=1.5s, errors=0.1%".to_owned()));
        assert_eq!(slo(&["errors=0%", "p99=1m30s"]), Ok("errors=0%, p99=90s".to_owned()));
        let both = Slo::parse(["p90=3ms", "errors=0.25%"]).unwrap();
        let json = serde_json::to_string(&both).unwrap();
        assert_eq!(json, r#"["p90=3ms","errors=0.25%"]"#);
        assert_eq!(serde_json::from_str::<Slo>(&json).unwrap(), both);
        let small = Slo::parse(["p90=3us"]).unwrap();
        assert_eq!(serde_json::from_str::<Slo>(&serde_json::to_string(&small).unwrap()).unwrap(), small);
    }

    /// Every percentile in the help's list can be parsed.
    #[test]
    fn every_percentile_that_is_named_may_be_asked_for() {
        let words = PERCENTILES.split([' ', ',']).filter(|word| word.starts_with('p'));
        let named: Vec<&str> = words.filter(|word| !["p0", "p100"].contains(word)).collect();
        assert_eq!(named.len(), 5, "{named:?}");
        for name in named {
            assert!(slo(&[&format!("{name}=10ms")]).is_ok(), "{name}");
        }
        assert!(slo(&["p0=10ms"]).is_err() && slo(&["p100=10ms"]).is_err() && slo(&["p97.3=10ms"]).is_ok());
    }

    #[test]
    fn mistakes_say_what_to_give() {
        let texts: [&[&str]; 9] = [
            &["10ms"],
            &["q99=10ms"],
            &["p100=1s"],
            &["p99=soon"],
            &["p99=20"],
            &["p99=0ms"],
            &["p9=1s", "errors=0.1"],
            &["p99=1s", "p99=2s"],
            &["errors=1%"],
        ];
        insta::assert_snapshot!(texts.map(|texts| slo(texts).unwrap_err()).join("\n"));
    }

    #[test]
    fn all_that_is_not_good_is_bad() {
        let slo = Slo::parse(["p99=10ms", "p50=1ms"]).unwrap();
        let load =
            LoadResult { sent: 93, unsent: 7, answered: 90, within: vec![80, 40], ..LoadResult::default() };
        assert_eq!(slo.bad(&load), [20, 60, 10]);
        assert_eq!((slo.limits_ns(), slo.percents()), (vec![10_000_000, 1_000_000], vec![99.0, 50.0]));
        assert_eq!(
            slo.bad(&LoadResult { sent: 5, ..LoadResult::default() }),
            [5, 5, 5],
            "nothing is known to be good"
        );
    }
}
