//! The strip plot: all services of a run by one figure, a lane for each language, on a logarithmic scale. It is a
//! part of the first page, and a picture that other pages can show.

use std::fmt::Write;

use super::{
    RunEntry,
    address::slug,
    chart::{self, LogScale, escaped},
    figure::RunFigure,
    row::SiteRow,
    words::shown,
};
use tare_report::{document::Unit, write::File};
use tare_service::catalogue::language_name;

/// A figure by which services are compared.
pub(crate) struct Metric {
    /// The key of its column.
    pub(crate) key: &'static str,
    /// Its name in the switch.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) unit: Unit,
    pub(crate) figure: fn(&SiteRow) -> Option<RunFigure>,
}

pub(crate) const METRICS: [Metric; 6] = [
    Metric {
        key: "cpu_ratio",
        name: "CPU",
        about: "CPU time per request",
        unit: Unit::Times,
        figure: SiteRow::cost,
    },
    Metric {
        key: "requests_per_second",
        name: "Throughput",
        about: "Requests per second",
        unit: Unit::PerSecond,
        figure: |row| row.requests_per_second,
    },
    Metric {
        key: "latency_ns_p99",
        name: "p99 latency",
        about: "99th percentile of latency",
        unit: Unit::Nanoseconds,
        figure: |row| row.latency_ns_p99,
    },
    Metric {
        key: "rss_bytes_peak",
        name: "Memory",
        about: "Peak memory",
        unit: Unit::Bytes,
        figure: |row| row.rss_bytes_peak,
    },
    Metric {
        key: "start_up_ns",
        name: "Start-up",
        about: "Time from the start of the process to its first answer",
        unit: Unit::Nanoseconds,
        figure: |row| row.start_up_ns,
    },
    Metric {
        key: "code_lines",
        name: "Code size",
        about: "Lines of the service's own code",
        unit: Unit::Count,
        figure: |row| row.code_lines.map(|value| RunFigure { value, ..RunFigure::default() }),
    },
];

/// The share of a lane at each of its ends that is left for names.
const ROOM: f64 = 0.14;
/// The most letters of a name in a lane.
const LETTERS_MAX: usize = 15;

/// All services of a run by one figure.
pub(crate) struct Strip {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    /// What is drawn.
    pub(crate) about: String,
    pub(crate) lanes: Vec<Lane>,
    /// The lines of the scale, and its numbers, as SVG.
    pub(crate) grid: String,
    pub(crate) axis: String,
}

/// The services of a language.
pub(crate) struct Lane {
    pub(crate) language: String,
    pub(crate) title: String,
    pub(crate) colour: &'static str,
    /// A point for each service, as SVG.
    pub(crate) points: String,
}

/// The colour of a language, readable on white and on black.
fn colour(language: &str) -> &'static str {
    match language {
        "rust" => "#c4582e",
        "go" => "#1590b4",
        "cpp" => "#5f6fe0",
        "c" => "#7c828c",
        "java" => "#c2417e",
        "node" => "#3f9142",
        "python" => "#a8820f",
        "csharp" => "#9157d6",
        "haskell" => "#8a6aa8",
        "ruby" => "#d83f52",
        "swift" => "#de6a1f",
        "clojure" => "#1f9d86",
        _ => "#6d7684",
    }
}

impl Strip {
    /// `None` without two services that have the figure.
    pub(crate) fn of(run: &RunEntry, metric: &Metric) -> Option<Strip> {
        let rows = || run.rows.iter().enumerate().filter(|(_, row)| !row.is_reference);
        let mut points: Vec<Point<'_>> = rows()
            .filter_map(|(place, row)| Some(Point { place, row, figure: (metric.figure)(row)? }))
            .filter(|point| point.figure.value > 0.0)
            .collect();
        points.sort_by(|one, other| one.figure.value.total_cmp(&other.figure.value));
        let numbers: Vec<f64> = points.iter().map(|point| point.figure.value).collect();
        let is_ratio = metric.unit == Unit::Times;
        let [least, .., most] = numbers.as_slice() else { return None };
        let scale = LogScale::between(if is_ratio { least.min(1.0) } else { *least }, *most);
        let at = |number: f64| 100.0 * (ROOM + (1.0 - 2.0 * ROOM) * scale.share(number));
        let [grid, axis] = chart::grid(scale, metric.unit, at);
        let lanes = languages(run).into_iter().filter_map(|language| {
            let own: Vec<&Point<'_>> = points.iter().filter(|one| one.row.language == language).collect();
            let points = drawn(&own, metric.unit, at)?;
            let title = language_name(language).to_owned();
            Some(Lane { language: language.to_owned(), title, colour: colour(language), points })
        });
        let (key, about) = match is_ratio {
            true if run.has_database() => ("total_cpu_ratio", run.cost_name()),
            _ => (metric.key, metric.about),
        };
        let reference = if is_ratio { format!(", related to {}'s", run.reference) } else { String::new() };
        Some(Strip {
            key,
            name: metric.name,
            about: format!("{about}{reference}; logarithmic scale"),
            lanes: lanes.collect(),
            grid,
            axis,
        })
    }

    /// The path of the picture for other pages.
    pub(crate) fn path(&self, run: &RunEntry) -> String {
        format!("strip/{}/{}.svg", slug(&run.experiment), self.key)
    }

    /// A picture that has its own style.
    pub(crate) fn picture(&self, run: &RunEntry) -> File {
        let height = TOP + LANE * self.lanes.len() as f64 + 24.0;
        let title = escaped(&format!("{}. {}, {}", self.about, run.title, run.day()));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             role=\"img\" aria-label=\"{title}\"><style>{STYLE}</style><rect class=\"ground\" width=\"100%\" height=\"100%\"/>\
             <text class=\"title\" x=\"12\" y=\"22\">{}</text><text class=\"by\" x=\"12\" y=\"40\">{} · Tare</text>",
            escaped(&self.about),
            escaped(&format!("{}, {}", run.title, run.day()))
        );
        let width = WIDTH - GUTTER;
        let inner = |y: f64, height: f64, content: &str| {
            format!("<svg x=\"{GUTTER}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">{content}</svg>")
        };
        svg += &inner(TOP, LANE * self.lanes.len() as f64, &self.grid);
        for (place, lane) in self.lanes.iter().enumerate() {
            let y = TOP + LANE * place as f64;
            _ = write!(svg, "<text x=\"12\" y=\"{}\">{}</text>", y + LANE / 2.0 + 4.0, escaped(&lane.title));
            _ = write!(svg, "<g fill=\"{}\">{}</g>", lane.colour, inner(y, LANE, &lane.points));
        }
        svg += &inner(height - 24.0, 24.0, &self.axis);
        File { name: self.path(run), bytes: (svg + "</svg>\n").into_bytes() }
    }
}

const WIDTH: f64 = 960.0;
const GUTTER: f64 = 96.0;
const LANE: f64 = 26.0;
const TOP: f64 = 54.0;
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#14181f}.title{font-size:15px;font-weight:600}.by{fill:#566070}\
line{stroke:#dde1e7}.one{stroke:#8b95a3;stroke-dasharray:3 3}.ground{fill:#fff}circle{fill-opacity:.75}\
@media(prefers-color-scheme:dark){text{fill:#e8ebf0}.by{fill:#a3adbb}line{stroke:#2b333e}.ground{fill:#161b22}}";

struct Point<'a> {
    /// Its index among the rows of the run.
    place: usize,
    row: &'a SiteRow,
    figure: RunFigure,
}

/// The points of a lane from the least to the most, with the names of both; `None` without points.
fn drawn(points: &[&Point<'_>], unit: Unit, at: impl Fn(f64) -> f64) -> Option<String> {
    let mut svg = String::new();
    for point in points {
        let title = escaped(&format!("{}: {}", point.row.service, shown(point.figure, unit)));
        _ = write!(
            svg,
            "<circle data-row=\"{}\" cx=\"{:.2}%\" cy=\"50%\" r=\"5\"><title>{title}</title></circle>",
            point.place,
            at(point.figure.value)
        );
    }
    let mut name = |point: &Point<'_>, offset: i32, anchor: &str| {
        let name: String = point.row.service.chars().take(LETTERS_MAX).collect();
        _ = write!(
            svg,
            "<text x=\"{:.2}%\" dx=\"{offset}\" y=\"50%\" dy=\".35em\" text-anchor=\"{anchor}\">{}</text>",
            at(point.figure.value),
            escaped(&name)
        );
    };
    if let [first, .., _] = points {
        name(first, -9, "end");
    }
    name(points.last()?, 9, "start");
    Some(svg)
}

/// The languages of a run, that of its cheapest service first.
fn languages(run: &RunEntry) -> Vec<&str> {
    let mut languages: Vec<&str> = Vec::new();
    for row in run.rows.iter().filter(|row| !row.is_reference) {
        if !languages.contains(&row.language.as_str()) {
            languages.push(&row.language);
        }
    }
    languages
}

#[cfg(test)]
mod tests {
    use super::{
        super::entry::{row_of, run_of},
        *,
    };

    #[test]
    fn a_strip_has_a_lane_for_each_language_and_a_point_for_each_service() {
        let rows =
            vec![row_of("hyper", "rust", 1.31), row_of("<b>", "cpp", 2.0), row_of("iron", "rust", 3.5)];
        let run = run_of(rows);
        let strip = Strip::of(&run, &METRICS[0]).unwrap();
        let lanes: Vec<&str> = strip.lanes.iter().map(|lane| lane.title.as_str()).collect();
        assert_eq!(lanes, ["Rust", "C++"]);
        assert_eq!(strip.lanes[0].points.matches("<circle").count(), 2);
        assert!(strip.lanes[0].points.contains("<title>iron: 3.50x (3.15 .. 3.85x)</title>"));
        assert!(strip.lanes[1].points.contains("&lt;b&gt;") && !strip.lanes[1].points.contains("<b>"));
        assert!(strip.grid.contains("class=\"one\""), "the reference is at 1: {}", strip.grid);
        let picture = String::from_utf8(strip.picture(&run).bytes).unwrap();
        assert!(picture.contains("All &lt;of&gt; them") && picture.contains(&strip.lanes[0].points));
        assert!(Strip::of(&run, &METRICS[1]).is_none(), "no service has a throughput");
    }
}
