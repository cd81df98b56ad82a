//! Published figures of any source, in base units. What a source does not state is absent, and never guessed.

/// The publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    TechEmpower,
    HttpArena,
    WebFrameworks,
    Wrk,
    Wrk2,
    H2load,
    Ab,
    Hey,
    Oha,
    Bombardier,
    Vegeta,
    Autocannon,
    Fortio,
    K6,
    /// Stored runs of Tare.
    Tare,
}

/// The rows of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    pub source: Source,
    pub rows: Vec<AuditRow>,
    /// The number of rows that could not be parsed.
    pub unread: usize,
}

/// One server under one load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditRow {
    pub name: String,
    /// The requests: rows of one test are ranked together.
    pub test: String,
    pub load: PublishedLoad,
    /// Requests per second, as published.
    pub per_second: Option<f64>,
    /// Which requests the rate counts.
    pub counted: CountedRequests,
    pub counts: Option<Counts>,
    /// Checks of a script, which are not requests: one answer may have several.
    pub checks: Option<Checks>,
    pub elapsed_s: Option<f64>,
    pub latency: PublishedLatency,
    pub timing: Timing,
    /// A quantile that was published under the name of another one.
    pub mislabelled: Option<Mislabelled>,
    /// The number of CPUs that the server kept busy: 2.5 are 250%.
    pub cpus_used: Option<f64>,
    /// The number of CPUs it had.
    pub cpus: Option<f64>,
    /// Whether the source states the uncertainty of its figures.
    pub has_interval: bool,
}

/// The requests that a rate counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CountedRequests {
    /// Answered requests with any status.
    #[default]
    Answered,
    /// All requests that ended, with an answer or without.
    Ended,
    /// Successful requests.
    Succeeded,
}

/// The outcomes of the requests of a load, as the tool defines them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    pub succeeded: f64,
    /// Answered with an error status.
    pub refused: f64,
    /// Answered differently than the tool expected: `Length` of ab, a mismatch of autocannon.
    pub unlike: f64,
    pub unanswered: f64,
    /// Cut off by the tool at the end of its time, which is no failure.
    pub broken_off: f64,
}

/// The number of a script's checks, and of the failed ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checks {
    pub failed: f64,
    pub of: f64,
}

/// How a tool computes latency and rate. It determines the meaning of their product.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Timing {
    /// The latency of each answered request, and the rate of the same requests: Little's law holds.
    #[default]
    Measured,
    /// Latencies are added for requests that a busy connection would have sent (`stats_correct` of wrk), so
    /// they cover more requests than the rate. A script may also send an unknown number at once.
    Corrected,
    /// A latency begins when a request was due, so it includes the time before sending.
    FromSchedule,
    /// The rate is the mean of rates over short times, which is not requests divided by time.
    RateSampled,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PublishedLoad {
    /// The most concurrent requests: connections times requests on each. `None` if the source does not state
    /// both, or if the load was open, so that latency includes the time before sending.
    pub slots: Option<f64>,
    /// The mean number of requests in flight, if the source counted it: a short load ends while the last
    /// answers are awaited.
    pub under_way: Option<f64>,
    /// Whether connections are opened during the load, whose wait is in no latency.
    pub reconnects: bool,
    /// Whether clients pause between requests, or do other work.
    pub thinks: bool,
    /// Whether the rate was limited: then the throughput says nothing about the capacity.
    pub paced: bool,
}

/// The latencies of all answered requests, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PublishedLatency {
    pub ns_min: Option<f64>,
    pub ns_mean: Option<f64>,
    pub ns_max: Option<f64>,
    /// A probability, with the latency that this share of requests did not exceed.
    pub quantiles_ns: Vec<(f64, f64)>,
    /// The resolution of its figures: the last printed digit.
    pub step_ns: f64,
}

/// A statistic of a distribution of latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Minimum,
    Mean,
    Quantile(f64),
    Maximum,
}

/// A quantile with the name of another one, according to the source's own collector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mislabelled {
    /// The probability in its name.
    pub called: f64,
    /// The true statistic.
    pub is: Statistic,
    /// The evidence in the source: a line of a file at a commit.
    pub shown_by: &'static str,
}

impl Source {
    /// All sources, in the order of the list.
    pub const ALL: [Source; 15] = [
        Source::TechEmpower,
        Source::HttpArena,
        Source::WebFrameworks,
        Source::Wrk,
        Source::Wrk2,
        Source::H2load,
        Source::Ab,
        Source::Hey,
        Source::Oha,
        Source::Bombardier,
        Source::Vegeta,
        Source::Autocannon,
        Source::Fortio,
        Source::K6,
        Source::Tare,
    ];

    /// Whether it publishes tables with ranked rows.
    pub fn is_suite(self) -> bool {
        matches!(self, Source::TechEmpower | Source::HttpArena | Source::WebFrameworks)
    }

    /// The names of the suites, for a sentence.
    pub fn suites() -> String {
        names(Source::is_suite)
    }

    /// The names of the supported tools, for a sentence.
    pub fn tools() -> String {
        names(|source| !source.is_suite() && source != Source::Tare)
    }

    pub fn name(self) -> &'static str {
        match self {
            Source::TechEmpower => "TechEmpower",
            Source::HttpArena => "HttpArena",
            Source::WebFrameworks => "web-frameworks",
            Source::Wrk => "wrk",
            Source::Wrk2 => "wrk2",
            Source::Oha => "oha",
            Source::K6 => "k6",
            Source::H2load => "h2load",
            Source::Ab => "ab",
            Source::Hey => "hey",
            Source::Bombardier => "bombardier",
            Source::Vegeta => "vegeta",
            Source::Autocannon => "autocannon",
            Source::Fortio => "fortio",
            Source::Tare => "Tare",
        }
    }
}

fn names(which: fn(Source) -> bool) -> String {
    let names: Vec<&str> =
        Source::ALL.into_iter().filter(|source| which(*source)).map(Source::name).collect();
    names.join(", ")
}

impl Counts {
    pub fn answered(&self) -> f64 {
        self.succeeded + self.refused + self.unlike
    }

    /// All requests that ended with a contribution of the server or the network.
    pub fn judged(&self) -> f64 {
        self.answered() + self.unanswered
    }

    pub fn failed(&self) -> f64 {
        self.refused + self.unlike + self.unanswered
    }

    /// The requests that a rate counts.
    pub fn counted(&self, by: CountedRequests) -> f64 {
        match by {
            CountedRequests::Answered => self.answered(),
            CountedRequests::Ended => self.judged() + self.broken_off,
            CountedRequests::Succeeded => self.succeeded,
        }
    }
}

impl Timing {
    /// Whether mean and rate cover the same requests, so that their product is the number in flight.
    pub fn is_exact(self) -> bool {
        self == Timing::Measured
    }
}

impl Published {
    /// The tests, in the order of their first row.
    pub fn tests(&self) -> Vec<&str> {
        let mut tests: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !tests.contains(&row.test.as_str()) {
                tests.push(&row.test);
            }
        }
        tests
    }

    /// The indices of the rows of a test.
    pub fn of_test(&self, test: &str) -> Vec<usize> {
        (0..self.rows.len()).filter(|place| self.rows[*place].test == test).collect()
    }
}

impl PublishedLatency {
    /// All stated statistics, in the order in which they should increase.
    pub fn in_order(&self) -> Vec<(Statistic, f64)> {
        let mut quantiles = self.quantiles_ns.clone();
        quantiles.sort_by(|one, other| one.0.total_cmp(&other.0));
        let quantiles = quantiles.into_iter().map(|(probability, ns)| (Statistic::Quantile(probability), ns));
        let first = self.ns_min.map(|ns| (Statistic::Minimum, ns));
        let last = self.ns_max.map(|ns| (Statistic::Maximum, ns));
        first.into_iter().chain(quantiles).chain(last).collect()
    }
}
