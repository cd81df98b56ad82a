//! What is kept of a document's tables: a service with its figures, a claim with its verdicts, a pair of services.

use serde::{Deserialize, Serialize};
use tare_analysis::{estimate::Estimate, interleaved::RatioBound, sequential::ClaimOutcome};

use crate::document::{Document, Section, Table, Tone, Value};

/// A figure and its interval, where it has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigure {
    pub value: f64,
    /// It is an inequality.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub bound: RatioBound,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub service: String,
    pub language: String,
    pub framework: String,
    pub version: String,
    /// It is measured beside the others and competes with none.
    pub is_reference: bool,
    /// The data do not separate it from the next row.
    #[serde(default)]
    pub is_tied_to_next: bool,
    /// The best and the worst rank that it may have.
    pub ranks: Option<[u32; 2]>,
    /// CPU time for a request, by the reference's.
    pub cpu_ratio: Option<RunFigure>,
    pub cpu_ns_per_request: Option<RunFigure>,
    pub throughput_ratio: Option<RunFigure>,
    pub requests_per_second: Option<RunFigure>,
    pub requests_per_second_published: Option<f64>,
    pub latency_ns_p99: Option<RunFigure>,
    pub rss_bytes_peak: Option<RunFigure>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub id: String,
    /// What was claimed.
    pub text: String,
    pub held: Held,
    pub direction: Option<Word>,
    pub verdict: Option<Word>,
    pub evidence: String,
    /// The comparisons of ratios that it is judged by.
    #[serde(default)]
    pub checks: Vec<ClaimCheck>,
}

/// A ratio that was compared with what was claimed of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimCheck {
    pub name: String,
    pub found: RunFigure,
    pub published: Option<f64>,
    pub claimed_least: Option<f64>,
    pub claimed_most: Option<f64>,
    /// One round, or a load that decided.
    pub is_weak: bool,
}

/// A verdict in a word or two, with its colour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub text: String,
    pub tone: Tone,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    Holds,
    /// That is ahead which is claimed to be, and by another factor.
    OtherSize,
    DoesNotHold,
    #[default]
    Inconclusive,
    /// Whatever it says: all that decided it is of one round, or of a load that was at its own ceiling.
    Weak,
}

/// Two services of one run, by the figures of the same blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub first: String,
    pub second: String,
    /// The first's by the second's.
    pub cpu_ratio: Option<RunFigure>,
    pub throughput_ratio: Option<RunFigure>,
    /// With all pairs of the run allowed for; not known with too few blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separated: Option<bool>,
    /// A greater difference is excluded, as a share of the lesser, with all pairs allowed for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differ_most: Option<f64>,
}

fn is_exact(bound: &RatioBound) -> bool {
    *bound == RatioBound::Exact
}

/// A row of a table, read by the keys of its columns.
struct Reader<'a> {
    table: &'a Table,
    row: &'a [Value],
}

impl<'a> Reader<'a> {
    fn all(table: &'a Table) -> impl Iterator<Item = Reader<'a>> {
        table.rows.iter().map(move |row| Reader { table, row })
    }

    fn value(&self, key: &str) -> Option<&'a Value> {
        self.row.get(self.table.place(key)?)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.value(key)?.number()
    }

    fn text(&self, key: &str) -> String {
        self.value(key).and_then(Value::text).unwrap_or_default().to_owned()
    }

    fn flag(&self, key: &str) -> bool {
        self.value(key) == Some(&Value::Flag(true))
    }

    fn word(&self, key: &str) -> Option<Word> {
        let value = self.value(key)?;
        Some(Word { text: value.text()?.to_owned(), tone: value.tone() })
    }

    fn figure(&self, key: &str) -> Option<RunFigure> {
        let end = |end: &str| self.number(&format!("{key}_{end}"));
        let bound = match self.value(key)? {
            Value::Bounded(_, bound) => *bound,
            _ => RatioBound::Exact,
        };
        Some(RunFigure { value: self.number(key)?, bound, low: end("low"), high: end("high") })
    }
}

impl RunFigure {
    /// Both ends, where they are known.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The same figure seen from the other of two sides.
    pub(crate) fn inverse(self) -> RunFigure {
        let bound = match self.bound {
            RatioBound::Exact => RatioBound::Exact,
            RatioBound::AtLeast => RatioBound::AtMost,
            RatioBound::AtMost => RatioBound::AtLeast,
        };
        let end = |end: Option<f64>| end.map(f64::recip);
        RunFigure { value: self.value.recip(), bound, low: end(self.high), high: end(self.low) }
    }
}

impl From<RunFigure> for Estimate {
    fn from(figure: RunFigure) -> Estimate {
        Estimate { low: figure.low, high: figure.high, ..Estimate::known(figure.value) }
    }
}

fn table<'a>(document: &'a Document, id: &str) -> Option<&'a Table> {
    document.sections.iter().find(|section| section.id == id)?.table.as_ref()
}

impl Row {
    /// The services of the main table, or of the one beside the published figures. A table with several rows for a service says
    /// which there are, and no figure of them.
    pub(crate) fn all(document: &Document) -> Vec<Row> {
        let has_services =
            |section: &&Section| section.table.as_ref().is_some_and(|table| table.place("label").is_some());
        let Some(section) = document.sections.iter().find(has_services) else { return Vec::new() };
        let Some(table) = &section.table else { return Vec::new() };
        let mut rows: Vec<Row> = Vec::new();
        let mut is_single = true;
        for reader in Reader::all(table) {
            let row = Row::of(&reader, document);
            match rows.iter().any(|known| known.service == row.service) {
                true => is_single = false,
                false => rows.push(row),
            }
        }
        if !is_single {
            rows.iter_mut().for_each(Row::forget_figures);
        }
        rows
    }

    fn of(reader: &Reader<'_>, document: &Document) -> Row {
        let service = reader.text("label");
        let known = |key: &str| {
            let own = reader.text(key);
            if own.is_empty() { footprint(document, &service, key) } else { own }
        };
        let rank = |key: &str| reader.number(key).map(|rank| rank as u32);
        Row {
            language: known("language"),
            framework: known("framework"),
            version: known("version"),
            is_reference: reader.flag("is_reference"),
            is_tied_to_next: reader.flag("is_tied_to_next"),
            ranks: rank("rank_best").zip(rank("rank_worst")).map(|(best, worst)| [best, worst]),
            cpu_ratio: reader.figure("cpu_ratio"),
            cpu_ns_per_request: reader.figure("cpu_ns_per_request"),
            throughput_ratio: reader.figure("throughput_ratio"),
            requests_per_second: reader.figure("requests_per_second"),
            requests_per_second_published: reader.number("requests_per_second_published"),
            latency_ns_p99: reader.figure("latency_ns_p99"),
            rss_bytes_peak: reader.figure("rss_bytes_peak"),
            service,
        }
    }

    fn forget_figures(&mut self) {
        let Row { service, language, framework, version, .. } = std::mem::take(self);
        *self = Row { service, language, framework, version, ..Row::default() };
    }

    /// It has a figure of any kind.
    pub fn is_measured(&self) -> bool {
        self.cpu_ns_per_request.is_some() || self.requests_per_second.is_some()
    }
}

/// What is known of a service beside its figures.
fn footprint(document: &Document, service: &str, key: &str) -> String {
    let rows = table(document, "footprint").into_iter().flat_map(Reader::all);
    let row = rows.into_iter().find(|row| row.text("label") == service);
    row.map(|row| row.text(key)).unwrap_or_default()
}

impl Claim {
    pub(crate) fn all(document: &Document) -> Vec<Claim> {
        let rows = table(document, "claims").into_iter().flat_map(Reader::all);
        let claim = |row: Reader<'_>| Claim {
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

    /// Of one claim.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Held::Holds => "holds",
            Held::OtherSize => "holds in direction only",
            Held::DoesNotHold => "does not hold",
            Held::Inconclusive => "inconclusive",
            Held::Weak => "weak evidence only",
        }
    }

    /// Behind a number of claims.
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

impl Pair {
    pub(crate) fn all(document: &Document) -> Vec<Pair> {
        let rows = table(document, super::PAIRS).into_iter().flat_map(Reader::all);
        let pair = |row: Reader<'_>| Pair {
            first: row.text("first"),
            second: row.text("second"),
            cpu_ratio: row.figure("cpu_ratio"),
            throughput_ratio: row.figure("throughput_ratio"),
            separated: match row.value("separated") {
                Some(Value::Flag(separated)) => Some(*separated),
                _ => None,
            },
            differ_most: row.number("differ_most"),
        };
        rows.map(pair).filter(|pair| !pair.first.is_empty()).collect()
    }

    pub(crate) fn inverse(&self) -> Pair {
        Pair {
            first: self.second.clone(),
            second: self.first.clone(),
            cpu_ratio: self.cpu_ratio.map(RunFigure::inverse),
            throughput_ratio: self.throughput_ratio.map(RunFigure::inverse),
            ..*self
        }
    }
}
