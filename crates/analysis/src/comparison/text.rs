//! A comparison for a terminal: the verdict first, then what it is made of.

use super::{Comparison, Contender, Figure};
use crate::{
    report::figures::{bytes, rate, time, times},
    verdict::Question,
};
use tare_bench::{metric::Unit, run::until::percent};

/// As lines of text; `colours` are ANSI sequences.
pub fn text(found: &Comparison, colours: bool) -> String {
    let paint = |code: &str, text: &str| {
        if colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    };
    let mut out = format!(
        "{} {}\n\n",
        paint(&format!("1;{}", found.verdict.tone().ansi()), &found.head()),
        found.reason
    );
    out += &format!("baseline   {}\n", contender(&found.baseline));
    out += &format!("candidate  {}\n", contender(&found.candidate));
    out += &format!("contract   {}; {}\n", found.contract, found.load);
    out += &format!("measured   {}\n\n", extent(found));
    if found.figures.iter().any(|figure| figure.ratio.is_some()) {
        out += &table(found);
        out += &format!("{}\n", legend(found));
    }
    for figure in &found.figures {
        for remark in figure.remarks() {
            out += &format!("{} {}: {remark}\n", paint("33", "warning:"), figure.name);
        }
    }
    for finding in &found.findings {
        out += &format!("{} {}\n", paint("33", "note:"), finding.scoped());
    }
    out
}

impl Comparison {
    /// The verdict as the head of a text: `PASS`.
    pub fn head(&self) -> String {
        self.verdict.word(Question::Gate).to_uppercase()
    }
}

impl Figure {
    /// `throughput: 0.90x (0.89x to 0.91x), bound 0.97x.`
    pub fn text(&self) -> Option<String> {
        let ends = self.low.zip(self.high);
        let ends = ends.map_or(String::new(), |(low, high)| format!(" ({} to {})", times(low), times(high)));
        let bound = if self.decides { format!(", bound {}", times(self.bound)) } else { String::new() };
        Some(format!("{}: {}{ends}{bound}.", self.name, times(self.ratio?)))
    }
}

fn contender(found: &Contender) -> String {
    let title = found.title.iter().map(|title| format!(", {title}"));
    let version = found.version.iter().map(|version| format!(" {version}"));
    format!("{}{}{}", found.label, version.collect::<String>(), title.collect::<String>())
}

/// How long it went on, and when it was looked at.
pub(super) fn extent(found: &Comparison) -> String {
    let time = found.elapsed_ns.map(|ns| format!(" in {}", time(ns as f64))).unwrap_or_default();
    let ending = found.ending.map_or("cut off", |ending| ending.text());
    let looks: Vec<String> = found.looks.iter().map(usize::to_string).collect();
    let look = found.look.map_or("none reached".to_owned(), |look| format!("this is the one after {look}"));
    format!(
        "{} blocks{time}, seed {}: {ending}; looks after {}: {look}",
        found.blocks,
        found.seed,
        looks.join(", ")
    )
}

/// What the star and the intervals mean.
pub(super) fn legend(found: &Comparison) -> String {
    let of = |decides: bool| found.figures.iter().find(|figure| figure.decides == decides);
    let confidence = |figure: &Figure| percent(figure.confidence);
    let Some(deciding) = of(true).map(confidence) else { return "nothing decides".to_owned() };
    let beside = of(false).map(confidence).filter(|beside| *beside != deciding);
    let beside = beside.map(|beside| format!(", that of the others {beside}")).unwrap_or_default();
    format!("* decides; all looks together, its interval has a confidence of {deciding}{beside}")
}

/// The cells of a figure: name, verdict, baseline, candidate, change, its interval, and the bound where it decides.
pub fn cells(figure: &Figure) -> [String; 7] {
    let show = |value: Option<f64>| {
        value.map_or("-".to_owned(), |value| match figure.metric.unit() {
            Unit::PerSecond => format!("{}/s", rate(value)),
            Unit::Nanoseconds => time(value),
            Unit::Bytes => bytes(value),
            _ => value.to_string(),
        })
    };
    let interval = figure.low.zip(figure.high);
    let interval =
        interval.map_or("-".to_owned(), |(low, high)| format!("{} .. {}", change(low), change(high)));
    let more = figure.blocks_more.map(|blocks| format!(", about {blocks} blocks more")).unwrap_or_default();
    [
        format!("{}{}", figure.name, if figure.decides { " *" } else { "" }),
        figure.verdict.map_or(String::new(), |verdict| format!("{}{more}", verdict.word(Question::Gate))),
        show(figure.baseline),
        show(figure.candidate),
        figure.ratio.map_or("-".to_owned(), change),
        interval,
        if figure.decides { change(figure.bound) } else { String::new() },
    ]
}

/// A ratio as a change: `+3.1%`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    // No "-0.0%".
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    format!("{percent:+.1}%")
}

fn table(found: &Comparison) -> String {
    let head = ["", "", "baseline", "candidate", "change", "interval", "bound"].map(str::to_owned);
    let lines: Vec<[String; 7]> = std::iter::once(head).chain(found.figures.iter().map(cells)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for line in &lines {
        // The verdict stands last: it is text of any length.
        let figures = (2..7).map(|column| format!("  {:>width$}", line[column], width = width(column)));
        let text =
            format!("{:<width$}{}  {}", line[0], figures.collect::<String>(), line[1], width = width(0));
        out += text.trim_end();
        out.push('\n');
    }
    out
}
