//! What is doubted, as types: figures that a reader can compute again, and no words.

use crate::published::{Checks, Counted, Counts, Mislabelled, Statistic, Timing};

/// All doubts about what a source published.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Audit {
    /// Those about rows in the order of the rows, then those about tests.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub about: About,
    pub doubt: Doubt,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The row at this place.
    Row(usize),
    /// All rows of this test.
    Test(String),
}

/// What does not agree, with the figures that do not. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    BelowZero {
        what: Statistic,
        ns: f64,
    },
    /// The first one cannot be greater than the second, and is.
    OutOfOrder {
        less: (Statistic, f64),
        more: (Statistic, f64),
    },
    QuantileIsMean {
        probability: f64,
        ns: f64,
    },
    /// Its name is that of another one.
    QuantileMislabelled {
        label: Mislabelled,
        ns: f64,
    },
    /// Rate times mean latency, against the requests that the load allowed at once.
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
    /// The rate is not the number of requests over the time.
    OtherRate {
        per_second: f64,
        counted_per_second: f64,
    },
    /// More requests failed than a rate with three digits hides, whether it counts them or not.
    Failed {
        counts: Counts,
        counted: Counted,
    },
    /// More checks of a script failed than that.
    ChecksFailed(Checks),
    /// It is among the fastest of its test, and had CPUs to spare.
    IdleAtTheTop {
        used: f64,
        cpus: f64,
    },
    /// Runs of the same server under the same load.
    RunsDiffer {
        runs: usize,
        per_second_min: f64,
        per_second_max: f64,
    },
    /// Many rows end at the same rate, and nothing says that the servers were busy.
    SharedCeiling {
        rows: usize,
        of: usize,
        per_second_max: f64,
    },
    /// Rows are ranked by one figure each.
    NoSpread {
        rows: usize,
    },
}

/// What a doubt rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// No time is negative.
    Sign,
    /// A quantile does not fall as its probability rises.
    Order,
    /// J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961): requests in flight are rate times mean
    /// latency, and no load has more of them than it has connections.
    LittleAbove,
    /// CPU time is at most the time of the CPUs.
    CpuTime,
    /// In a skewed distribution no quantile of the tail is the mean.
    MeanAsQuantile,
    /// A quantile is what its name says.
    Label,
    /// The same law, the other way.
    LittleBelow,
    /// A rate is a count over a time.
    Count,
    /// What failed is no throughput, and the latency of an error is none of the work.
    Failures,
    /// A server that has CPUs to spare was not at its limit: something else was.
    IdleServer,
    /// The same, where nothing is known of the CPUs.
    Ceiling,
    /// Two runs that differ say how much one run is worth.
    Repetition,
    /// A rank without an interval may be chance.
    Spread,
}

/// How grave it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weight {
    /// Two published figures contradict each other, or one contradicts arithmetic.
    CannotBeTrue,
    /// The figures may be right, and do not show what they are read as.
    NotShown,
}

impl Rule {
    /// The gravest first.
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

    /// How grave the gravest doubt is that rests on it.
    pub fn weight(self) -> Weight {
        match self {
            Rule::Sign | Rule::Order | Rule::LittleAbove | Rule::CpuTime => Weight::CannotBeTrue,
            Rule::MeanAsQuantile
            | Rule::Label
            | Rule::LittleBelow
            | Rule::Count
            | Rule::Failures
            | Rule::IdleServer
            | Rule::Ceiling
            | Rule::Repetition
            | Rule::Spread => Weight::NotShown,
        }
    }
}

impl Doubt {
    pub fn rule(&self) -> Rule {
        match self {
            Doubt::BelowZero { .. } => Rule::Sign,
            Doubt::OutOfOrder { .. } => Rule::Order,
            Doubt::QuantileIsMean { .. } => Rule::MeanAsQuantile,
            Doubt::QuantileMislabelled { .. } => Rule::Label,
            Doubt::TooManyInFlight { .. } => Rule::LittleAbove,
            Doubt::TooFewInFlight { .. } => Rule::LittleBelow,
            Doubt::MoreCpu { .. } => Rule::CpuTime,
            Doubt::OtherRate { .. } => Rule::Count,
            Doubt::Failed { .. } | Doubt::ChecksFailed(_) => Rule::Failures,
            Doubt::IdleAtTheTop { .. } => Rule::IdleServer,
            Doubt::RunsDiffer { .. } => Rule::Repetition,
            Doubt::SharedCeiling { .. } => Rule::Ceiling,
            Doubt::NoSpread { .. } => Rule::Spread,
        }
    }
}

impl Doubt {
    /// How grave it is, which depends on how the figures were made: an identity of figures that are not of the same requests does
    /// not hold, and shows nothing false.
    pub fn weight(&self) -> Weight {
        match self {
            Doubt::TooManyInFlight { timing, .. } if !timing.is_exact() => Weight::NotShown,
            _ => self.rule().weight(),
        }
    }
}

impl Audit {
    /// How grave the gravest doubt is.
    pub fn weight(&self) -> Option<Weight> {
        self.findings.iter().map(|finding| finding.doubt.weight()).min()
    }

    /// How grave the gravest doubt is that rests on a rule.
    pub fn weight_of(&self, rule: Rule) -> Option<Weight> {
        let of_rule = self.findings.iter().filter(|finding| finding.doubt.rule() == rule);
        of_rule.map(|finding| finding.doubt.weight()).min()
    }

    /// How often a rule was broken.
    pub fn count(&self, rule: Rule) -> usize {
        self.findings.iter().filter(|finding| finding.doubt.rule() == rule).count()
    }

    /// The doubts about a row.
    pub fn of_row(&self, place: usize) -> impl Iterator<Item = &Doubt> {
        let is_about = move |finding: &&Finding| finding.about == About::Row(place);
        self.findings.iter().filter(is_about).map(|finding| &finding.doubt)
    }
}
