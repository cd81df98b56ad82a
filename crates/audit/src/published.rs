//! What was published, whoever published it, in base units. What a source does not state is absent, and is never guessed.

/// Who published it.
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
    /// Which requests the rate counts.
    pub counted: Counted,
    pub counts: Option<Counts>,
    /// Checks of a script, which are not requests: one answer may have several.
    pub checks: Option<Checks>,
    pub elapsed_s: Option<f64>,
    pub latency: Latency,
    pub timing: Timing,
    /// One of the quantiles was published under the name of another one.
    pub mislabelled: Option<Mislabelled>,
    /// CPUs that the server kept busy: 2.5 are 250%.
    pub cpus_used: Option<f64>,
    /// CPUs that it had.
    pub cpus: Option<f64>,
    /// The source states how far its figures may be off.
    pub has_interval: bool,
}

/// Which requests a rate counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counted {
    /// Those that were answered, with any status.
    #[default]
    Answered,
    /// All that came to an end, with an answer or without.
    Ended,
    /// Those that succeeded.
    Succeeded,
}

/// How the requests of a load ended, as the tool that made it means each.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    pub succeeded: f64,
    /// Answered with a status of failure.
    pub refused: f64,
    /// Answered otherwise than the tool expected: `Length` of ab, a mismatch of autocannon.
    pub unlike: f64,
    pub unanswered: f64,
    /// Broken off by the tool when its time was over: no failure.
    pub broken_off: f64,
}

/// How many checks of a script there were, and how many of them failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checks {
    pub failed: f64,
    pub of: f64,
}

/// How a tool makes what it prints of latency and rate. It decides what their product says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Timing {
    /// The latency of each request that was answered, and the rate of the same requests: Little's law holds.
    #[default]
    Measured,
    /// Latencies are added for requests that a busy connection would have sent (`stats_correct` of wrk), so they are of more
    /// requests than the rate; a script may send several at once, and their number is not printed.
    Corrected,
    /// A latency begins when a request was due, so that it includes the time before it was sent.
    FromSchedule,
    /// The rate is the mean of rates over short times, which is not requests over time.
    RateSampled,
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
    /// A rate was asked for: how many requests were answered says nothing of how many could be.
    pub paced: bool,
}

/// Of all answered requests, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latency {
    pub ns_min: Option<f64>,
    pub ns_mean: Option<f64>,
    pub ns_max: Option<f64>,
    /// Probability, and the latency that this share of requests did not exceed.
    pub quantiles_ns: Vec<(f64, f64)>,
    /// How far apart two figures of it are that can be told from each other: its last digit.
    pub step_ns: f64,
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
    /// What it is.
    pub is: Statistic,
    /// Where the source says so: a line of a file at a commit.
    pub shown_by: &'static str,
}

impl Source {
    /// All that are known, in the order in which they are listed.
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

    /// Whether it publishes tables, whose rows are ranked.
    pub fn is_suite(self) -> bool {
        matches!(self, Source::TechEmpower | Source::HttpArena | Source::WebFrameworks)
    }

    /// The names of the suites, for a sentence.
    pub fn suites() -> String {
        names(Source::is_suite)
    }

    /// The names of the tools whose output is read, for a sentence.
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

    /// All that were sent and came to an end that the server or the network had a part in.
    pub fn judged(&self) -> f64 {
        self.answered() + self.unanswered
    }

    pub fn failed(&self) -> f64 {
        self.refused + self.unlike + self.unanswered
    }

    /// Those that a rate counts.
    pub fn counted(&self, by: Counted) -> f64 {
        match by {
            Counted::Answered => self.answered(),
            Counted::Ended => self.judged() + self.broken_off,
            Counted::Succeeded => self.succeeded,
        }
    }
}

impl Timing {
    /// Whether mean and rate are of the same requests, so that their product is the number of requests in flight.
    pub fn is_exact(self) -> bool {
        self == Timing::Measured
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
