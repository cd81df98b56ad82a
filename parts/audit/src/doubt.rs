//! Findings as types: figures that a reader can compute again, without words.

use crate::published::{Checks, CountedRequests, Counts, Mislabelled, Statistic, Timing};

/// All findings about a source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Audit {
    /// Findings about rows in the order of the rows, then those about tests.
    pub findings: Vec<AuditFinding>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AuditFinding {
    pub about: DoubtSubject,
    pub doubt: AuditIssue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DoubtSubject {
    Row(usize),
    Test(String),
}

/// The contradiction, with its figures. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub enum AuditIssue {
    BelowZero {
        what: Statistic,
        ns: f64,
    },
    /// The first must not exceed the second, but does.
    OutOfOrder {
        less: (Statistic, f64),
        more: (Statistic, f64),
    },
    QuantileIsMean {
        probability: f64,
        ns: f64,
    },
    QuantileMislabelled {
        label: Mislabelled,
        ns: f64,
    },
    /// Rate times mean latency exceeds the number of requests that the load allowed at once.
    TooManyInFlight {
        in_flight: f64,
        slots: f64,
        timing: Timing,
    },
    TooFewInFlight {
        in_flight: f64,
        slots: f64,
    },
    MoreCpu {
        used: f64,
        cpus: f64,
    },
    /// The rate differs from the number of requests divided by the time.
    OtherRate {
        per_second: f64,
        counted_per_second: f64,
    },
    /// More requests failed than a rate with three digits can hide, whether the rate counts them or not.
    Failed {
        counts: Counts,
        counted: CountedRequests,
    },
    /// More checks of a script failed than that.
    ChecksFailed(Checks),
    /// It is among the fastest of its test, and its CPUs were partly idle.
    IdleAtTheTop {
        used: f64,
        cpus: f64,
    },
    /// Runs of the same server under the same load differ.
    RunsDiffer {
        runs: usize,
        per_second_min: f64,
        per_second_max: f64,
    },
    /// Many rows end at the same rate, without evidence that the servers were busy.
    SharedCeiling {
        rows: usize,
        of: usize,
        per_second_max: f64,
    },
    /// Rows are ranked by a single figure each.
    NoSpread {
        rows: usize,
    },
}

/// The rule behind a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// No time is negative.
    Sign,
    /// A quantile does not decrease with its probability.
    Order,
    /// J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961): requests in
    /// flight are rate times mean latency, and a load has at most as many as connections.
    LittleAbove,
    /// CPU time does not exceed the time of the CPUs.
    CpuTime,
    /// In a skewed distribution no quantile of the tail equals the mean.
    MeanAsQuantile,
    /// A quantile is what its name says.
    Label,
    /// The same law in the other direction: the product explains too few of the connections.
    LittleBelow,
    /// A rate is a count divided by a time.
    Count,
    /// Failures are no throughput, and the latency of an error is not that of the work.
    Failures,
    /// A server with idle CPUs was not at its limit: something else was.
    IdleServer,
    /// The same, if nothing is known about the CPUs.
    Ceiling,
    /// The difference between two runs shows how reliable one run is.
    Repetition,
    /// A rank without an interval may be chance.
    Spread,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DoubtWeight {
    /// Two published figures contradict each other, or one contradicts arithmetic.
    CannotBeTrue,
    /// The figures may be correct, but do not show what they seem to.
    NotShown,
}

impl Rule {
    /// All rules, the most severe first.
    pub const ALL: [Rule; 13] = [
        Rule::Sign,
        Rule::Order,
        Rule::LittleAbove,
        Rule::CpuTime,
        Rule::MeanAsQuantile,
        Rule::Label,
        Rule::LittleBelow,
        Rule::Count,
        Rule::Failures,
        Rule::IdleServer,
        Rule::Ceiling,
        Rule::Repetition,
        Rule::Spread,
    ];

    /// The severity of the most severe finding by this rule.
    pub fn weight(self) -> DoubtWeight {
        match self {
            Rule::Sign | Rule::Order | Rule::LittleAbove | Rule::CpuTime => DoubtWeight::CannotBeTrue,
            Rule::MeanAsQuantile
            | Rule::Label
            | Rule::LittleBelow
            | Rule::Count
            | Rule::Failures
            | Rule::IdleServer
            | Rule::Ceiling
            | Rule::Repetition
            | Rule::Spread => DoubtWeight::NotShown,
        }
    }
}

impl AuditIssue {
    pub fn rule(&self) -> Rule {
        match self {
            AuditIssue::BelowZero { .. } => Rule::Sign,
            AuditIssue::OutOfOrder { .. } => Rule::Order,
            AuditIssue::QuantileIsMean { .. } => Rule::MeanAsQuantile,
            AuditIssue::QuantileMislabelled { .. } => Rule::Label,
            AuditIssue::TooManyInFlight { .. } => Rule::LittleAbove,
            AuditIssue::TooFewInFlight { .. } => Rule::LittleBelow,
            AuditIssue::MoreCpu { .. } => Rule::CpuTime,
            AuditIssue::OtherRate { .. } => Rule::Count,
            AuditIssue::Failed { .. } | AuditIssue::ChecksFailed(_) => Rule::Failures,
            AuditIssue::IdleAtTheTop { .. } => Rule::IdleServer,
            AuditIssue::RunsDiffer { .. } => Rule::Repetition,
            AuditIssue::SharedCeiling { .. } => Rule::Ceiling,
            AuditIssue::NoSpread { .. } => Rule::Spread,
        }
    }
}

impl AuditIssue {
    /// The severity, which depends on how the figures were made: an identity need not hold for figures of
    /// different requests, and then shows no error.
    pub fn weight(&self) -> DoubtWeight {
        match self {
            AuditIssue::TooManyInFlight { timing, .. } if !timing.is_exact() => DoubtWeight::NotShown,
            _ => self.rule().weight(),
        }
    }
}

impl Audit {
    /// The severity of the most severe finding.
    pub fn weight(&self) -> Option<DoubtWeight> {
        self.findings.iter().map(|finding| finding.doubt.weight()).min()
    }

    /// The severity of the most severe finding by a rule.
    pub fn weight_of(&self, rule: Rule) -> Option<DoubtWeight> {
        let of_rule = self.findings.iter().filter(|finding| finding.doubt.rule() == rule);
        of_rule.map(|finding| finding.doubt.weight()).min()
    }

    /// The number of findings by a rule.
    pub fn count(&self, rule: Rule) -> usize {
        self.findings.iter().filter(|finding| finding.doubt.rule() == rule).count()
    }

    /// The findings about a row.
    pub fn of_row(&self, place: usize) -> impl Iterator<Item = &AuditIssue> {
        let is_about = move |finding: &&AuditFinding| finding.about == DoubtSubject::Row(place);
        self.findings.iter().filter(is_about).map(|finding| &finding.doubt)
    }
}
