//! What was published, whoever published it, in base units. What a source does not state is absent, and is never guessed.

/// Who published it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    TechEmpower,
    HttpArena,
    WebFrameworks,
    Wrk,
    Wrk2,
    Oha,
    K6,
    H2load,
    Bombardier,
    Vegeta,
    /// Kept runs of Tare.
    Tare,
}

/// The rows of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    pub source: Source,
    pub rows: Vec<Row>,
    /// Rows of it that could not be understood.
    pub unread: usize,
}

/// One server under one load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The server.
    pub name: String,
    /// What it was asked for: rows of one test are ranked together.
    pub test: String,
    pub load: Load,
    /// Requests a second, as they were published.
    pub per_second: Option<f64>,
    /// All that were answered, with those that failed by their status.
    pub requests: Option<f64>,
    /// Answers with a status of failure. What had no answer is in neither.
    pub failed: Option<f64>,
    pub elapsed_s: Option<f64>,
    pub latency: Latency,
    /// One of the quantiles was published under the name of another one.
    pub mislabelled: Option<Mislabelled>,
    /// CPUs that the server kept busy: 2.5 are 250%.
    pub cpus_used: Option<f64>,
    /// CPUs that it had.
    pub cpus: Option<f64>,
    /// The source states how far its figures may be off.
    pub has_interval: bool,
}

/// How requests came.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// Requests that could be under way at once: connections times requests on each; absent if the source does not state both, or
    /// the load was open, so that latency includes the time before a request was sent.
    pub slots: Option<f64>,
    /// Requests that were under way on average, where the source counted them: a short load ends while its last answers are awaited.
    pub under_way: Option<f64>,
    /// More connections are opened while it lasts: what they wait for is in no latency.
    pub reconnects: bool,
    /// The clients pause between requests, or do other work.
    pub thinks: bool,
}

/// Of all answered requests, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latency {
    pub ns_min: Option<f64>,
    pub ns_mean: Option<f64>,
    pub ns_max: Option<f64>,
    /// Probability, and the latency that this share of requests did not exceed.
    pub quantiles_ns: Vec<(f64, f64)>,
}

/// Of a distribution of latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Minimum,
    Mean,
    /// Of this probability.
    Quantile(f64),
    Maximum,
}

/// A quantile whose name is that of another one, as the source's own collector says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mislabelled {
    /// The probability that its name states.
    pub called: f64,
    /// The probability that it has.
    pub is: f64,
    /// Where the source says so: a line of a file at a commit.
    pub shown_by: &'static str,
}

impl Source {
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
            Source::Bombardier => "bombardier",
            Source::Vegeta => "vegeta",
            Source::Tare => "Tare",
        }
    }
}

impl Published {
    /// The tests, in the order in which they first appear.
    pub fn tests(&self) -> Vec<&str> {
        let mut tests: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !tests.contains(&row.test.as_str()) {
                tests.push(&row.test);
            }
        }
        tests
    }

    /// The places of the rows of a test.
    pub fn of_test(&self, test: &str) -> Vec<usize> {
        (0..self.rows.len()).filter(|place| self.rows[*place].test == test).collect()
    }
}

impl Latency {
    /// All that is stated, the least first as it should be.
    pub fn in_order(&self) -> Vec<(Statistic, f64)> {
        let mut quantiles = self.quantiles_ns.clone();
        quantiles.sort_by(|one, other| one.0.total_cmp(&other.0));
        let quantiles = quantiles.into_iter().map(|(probability, ns)| (Statistic::Quantile(probability), ns));
        let first = self.ns_min.map(|ns| (Statistic::Minimum, ns));
        let last = self.ns_max.map(|ns| (Statistic::Maximum, ns));
        first.into_iter().chain(quantiles).chain(last).collect()
    }
}
