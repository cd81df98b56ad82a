//! A service with its figures, from the main table of a run.

use serde::{Deserialize, Serialize};

use super::figure::{Reader, RunFigure, table};
use tare_report::document::{Document, Section};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteRow {
    pub service: String,
    pub language: String,
    pub framework: String,
    pub version: String,
    /// Whether it is a reference, which has no rank.
    pub is_reference: bool,
    /// Whether the data do not separate it from the next row.
    #[serde(default)]
    pub is_tied_to_next: bool,
    /// The best and the worst possible rank.
    pub ranks: Option<[u32; 2]>,
    /// The ratio of CPU time per request to the reference.
    pub cpu_ratio: Option<RunFigure>,
    pub cpu_ns_per_request: Option<RunFigure>,
    /// That of service and database together, of which ranks are made where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_cpu_ratio: Option<RunFigure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_cpu_ns_per_request: Option<RunFigure>,
    pub throughput_ratio: Option<RunFigure>,
    pub requests_per_second: Option<RunFigure>,
    pub requests_per_second_published: Option<f64>,
    pub latency_ns_p99: Option<RunFigure>,
    pub rss_bytes_peak: Option<RunFigure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_up_ns: Option<RunFigure>,
    /// Lines of the service's own code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_lines: Option<f64>,
    /// The framework's site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// The service's files at the measured commit, if the run knew their address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl SiteRow {
    /// The services of the main table, or of the published table. If a table has several rows per service,
    /// only the names are used, without figures.
    pub(crate) fn all(document: &Document) -> Vec<SiteRow> {
        let has_services =
            |section: &&Section| section.table.as_ref().is_some_and(|table| table.place("label").is_some());
        let Some(section) = document.sections.iter().find(has_services) else { return Vec::new() };
        let Some(table) = &section.table else { return Vec::new() };
        let mut rows: Vec<SiteRow> = Vec::new();
        let mut is_single = true;
        for reader in Reader::all(table) {
            let row = SiteRow::of(&reader, document);
            match rows.iter().any(|known| known.service == row.service) {
                true => is_single = false,
                false => rows.push(row),
            }
        }
        if !is_single {
            rows.iter_mut().for_each(SiteRow::forget_figures);
        }
        rows
    }

    fn of(reader: &Reader<'_>, document: &Document) -> SiteRow {
        let service = reader.text("label");
        let known = |key: &str| {
            let own = reader.text(key);
            if own.is_empty() { footprint(document, &service, key) } else { own }
        };
        let address = |key: &str| Some(footprint(document, &service, key)).filter(|to| is_address(to));
        let rank = |key: &str| reader.number(key).map(|rank| rank as u32);
        SiteRow {
            language: known("language"),
            framework: known("framework"),
            version: known("version"),
            is_reference: reader.flag("is_reference"),
            is_tied_to_next: reader.flag("is_tied_to_next"),
            ranks: rank("rank_best").zip(rank("rank_worst")).map(|(best, worst)| [best, worst]),
            cpu_ratio: reader.figure("cpu_ratio"),
            cpu_ns_per_request: reader.figure("cpu_ns_per_request"),
            total_cpu_ratio: reader.figure("total_cpu_ratio"),
            total_cpu_ns_per_request: reader.figure("total_cpu_ns_per_request"),
            throughput_ratio: reader.figure("throughput_ratio"),
            requests_per_second: reader.figure("requests_per_second"),
            requests_per_second_published: reader.number("requests_per_second_published"),
            latency_ns_p99: reader.figure("latency_ns_p99"),
            rss_bytes_peak: reader.figure("rss_bytes_peak"),
            start_up_ns: reader.figure("start_up_ns"),
            code_lines: own(document, &service, |row| row.number("code_lines")),
            homepage: address("homepage"),
            source: address("source"),
            service,
        }
    }

    /// The ratio by which services are compared.
    pub fn cost(&self) -> Option<RunFigure> {
        self.total_cpu_ratio.or(self.cpu_ratio)
    }

    fn forget_figures(&mut self) {
        let SiteRow { service, language, framework, version, homepage, source, code_lines, .. } =
            std::mem::take(self);
        let known = SiteRow { service, language, framework, version, homepage, source, ..SiteRow::default() };
        *self = SiteRow { code_lines, ..known };
    }

    /// Whether it has any figure.
    pub fn is_measured(&self) -> bool {
        self.cpu_ns_per_request.is_some() || self.requests_per_second.is_some()
    }
}

/// A property of a service besides its figures.
fn footprint(document: &Document, service: &str, key: &str) -> String {
    own(document, service, |row| Some(row.text(key))).unwrap_or_default()
}

fn own<T>(document: &Document, service: &str, read: impl Fn(Reader<'_>) -> Option<T>) -> Option<T> {
    let rows = table(document, "footprint").into_iter().flat_map(Reader::all);
    rows.into_iter().find(|row| row.text("label") == service).and_then(read)
}

/// Whether a text of a run's folder is an address that a page may link to: no script, and no file.
fn is_address(text: &str) -> bool {
    text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_links_to_no_script_and_no_file() {
        assert!(is_address("https://hyper.rs"));
        for other in ["javascript:alert(1)", "file:///etc/passwd", "https://", "https://a b", "", "http:x"] {
            assert!(!is_address(other), "{other}");
        }
    }
}
