//! Why a comparison found a difference: the functions behind it, as a part sampled them after the run.

use std::path::Path;

use tare_analysis::{
    estimate::UnitEstimate,
    why::{FunctionCost, LineCost, OtherChange, PackageCost, WhyFileError, WhyReport, plain_ns},
};
use tare_stats::simultaneous::MeanInterval;

use super::{calls, columns::Columns};
use crate::document::{Column, LAST, Section, Unit};

/// Keeps the indentation of a name in every form of a table.
const INDENT: &str = "\u{a0}\u{a0}";

/// What a run folder says of it: a sentence, and its sections. Nothing if it was not asked.
pub(super) fn of_run(run: &Path) -> Option<(String, Vec<Section>)> {
    match WhyReport::read(run) {
        Ok(report) if !report.profiles.is_empty() => None,
        Ok(report) => {
            let rest = (report.functions.len() > report.lines.len()).then(|| functions(&report));
            let sections =
                [Some(section(&report)), lines(&report), packages(&report), calls::section(&report), rest];
            Some((report.answer_text(), sections.into_iter().flatten().collect()))
        }
        Err(WhyFileError::None(_)) => None,
        Err(error) => Some((error.to_string(), Vec::new())),
    }
}

/// A function in a table, and how far it is indented.
struct Row<'a> {
    function: &'a FunctionCost,
    depth: usize,
}

/// The answer with its functions, in ten lines.
#[must_use]
pub fn section(report: &WhyReport) -> Section {
    let answer = report.answer_text();
    let lead = match report.is_difference() {
        true => {
            "CPU time of a request by function, with all that it calls: candidate less baseline, paired by fresh start. All \
                 intervals hold together with 95%. The slices were sampled after those that decided."
        }
        false => "CPU time of a request by function: the most expensive ones by their own time.",
    };
    let rows =
        report.lines.iter().map(|line| Row { function: &report.functions[line.function], depth: line.depth });
    let mut section = match report.lines.is_empty() || report.withheld.is_some() {
        true => Section::without("why", "Why", lead),
        false => Section::new(
            "why",
            "Why",
            lead,
            columns(report.is_difference()).table("Functions behind the difference", rows),
        ),
    };
    section = section.note(answer).brief();
    for other in report.others.iter().filter_map(OtherChange::text) {
        section = section.note(other);
    }
    for note in facts(report) {
        section = section.note(note);
    }
    section
}

/// What the lines of a few functions cost. Nothing if none is known, or there is no answer.
#[must_use]
pub fn lines(report: &WhyReport) -> Option<Section> {
    if report.source_lines.is_empty() || report.withheld.is_some() {
        return None;
    }
    let lead = match report.is_difference() {
        true => {
            "What the lines of the functions behind the difference cost a request of the candidate. An edit moves the lines below it, \
             so lines of two versions are not compared."
        }
        false => "What the lines of the most expensive functions cost a request.",
    };
    let function = |line: &LineCost| &report.functions[line.function];
    let interval = |line: &LineCost| {
        let bounds = line.all_interval;
        Some(UnitEstimate {
            low: bounds.map(|one| one.low.max(0.0)),
            high: bounds.map(|one| one.high),
            ..UnitEstimate::known(line.all_ns)
        })
    };
    let table = Columns::new()
        .text("line", "line", |line: &LineCost| function(line).place_at(Some(line.line)))
        .with(|column| column.link("page"))
        .text("function", "function", |line: &LineCost| function(line).name_shown())
        .estimate(Unit::Nanoseconds, "all_ns", "with callees", interval)
        .help("With all that the line calls. All intervals of this table hold together with 95%.")
        .ns("own_ns", "own", |line: &LineCost| Some(line.own_ns))
        .text("page", "page", |line: &LineCost| function(line).page_at(Some(line.line)))
        .hidden()
        .table("Lines", report.source_lines.iter().copied());
    Some(Section::new("lines", "By line", lead, table))
}

/// What each package costs. Nothing if there is one alone, or no answer.
#[must_use]
pub fn packages(report: &WhyReport) -> Option<Section> {
    if report.packages.len() < 2 || report.withheld.is_some() {
        return None;
    }
    let lead = "CPU time of a request by package: each sample counts for the package of the function that ran, so the rows add up to \
                the request.";
    let first = |package: &PackageCost| package.own_ns.first().copied();
    let last = |package: &PackageCost| package.own_ns.last().copied();
    let name = Columns::new().text("package", "package", |package: &PackageCost| package.name.clone());
    let columns = match report.is_difference() {
        true => difference(name, "difference_ns", "difference", |package: &PackageCost| package.difference)
            .with(Column::track)
            .help("Candidate less baseline: above 0, the candidate is dearer. All intervals of this table hold together with 95%.")
            .ns("baseline_ns", "baseline", first)
            .ns("candidate_ns", "candidate", last),
        false => name.ns("own_ns", "own", first),
    };
    let table = columns.table("Packages", report.packages.iter().cloned());
    let section = Section::new("packages", "By package", lead, table);
    // A function that explains the difference says more.
    Some(if report.answer.is_empty() { section.brief() } else { section })
}

/// Every function that was compared, the most expensive first.
fn functions(report: &WhyReport) -> Section {
    let lead = "Every function that had enough samples, the most expensive first. Times with callees overlap: a function's time is in \
                that of its callers too.";
    let rows = report.functions.iter().map(|function| Row { function, depth: 0 });
    Section::new(
        "functions",
        "All functions that were sampled",
        lead,
        columns(report.is_difference()).table("Functions", rows),
    )
}

fn columns<'a>(is_difference: bool) -> Columns<'a, Row<'a>> {
    let first = |values: &[f64]| values.first().copied();
    let last = |values: &[f64]| values.last().copied();
    let columns = Columns::new()
        .text("function_shown", "function", |row: &Row<'_>| {
            INDENT.repeat(row.depth) + &row.function.name_shown()
        })
        .text("place", "line", |row| row.function.place())
        .with(|column| column.link("page"));
    let name = |columns: Columns<'a, Row<'a>>| {
        columns
            .text("function", "function", |row: &Row<'_>| row.function.name.clone())
            .hidden()
            .text("module", "library", |row| {
                Some(row.function.module.clone()).filter(|module| !module.is_empty())
            })
            .hidden()
            .text("package", "package", |row| {
                Some(row.function.package.clone()).filter(|package| !package.is_empty())
            })
            .hidden()
            // The line may be the baseline's, and the page is the candidate's: the whole file is right for both.
            .text("page", "page", move |row| {
                row.function.page_at(row.function.line.filter(|_| !is_difference))
            })
            .hidden()
    };
    if !is_difference {
        let columns = columns.ns("all_ns", "with callees", move |row| first(&row.function.all_ns)).ns(
            "own_ns",
            "own",
            move |row| first(&row.function.own_ns),
        );
        return name(columns);
    }
    let all = |row: &Row<'_>| row.function.all_difference;
    let own = |row: &Row<'_>| row.function.own_difference;
    let columns = difference(columns, "difference_ns", "difference", all)
        .with(Column::track)
        .help("Candidate less baseline, with all that the function calls: above 0, the candidate is dearer.");
    let columns = difference(columns, "own_difference_ns", "own", own)
        .with(|column| column.interval_priority(LAST))
        .help("The same without what the function calls.")
        .ns("baseline_ns", "baseline", move |row| first(&row.function.all_ns))
        .ns("candidate_ns", "candidate", move |row| last(&row.function.all_ns));
    name(columns)
}

/// A difference with its interval.
fn difference<'a, R: 'a>(
    columns: Columns<'a, R>,
    key: &str,
    title: &str,
    of: fn(&R) -> Option<MeanInterval>,
) -> Columns<'a, R> {
    let estimate = move |row: &R| {
        let MeanInterval { mean, low, high } = of(row)?;
        Some(UnitEstimate { low: Some(low), high: Some(high), ..UnitEstimate::known(mean) })
    };
    columns.estimate(Unit::Nanoseconds, key, title, estimate)
}

/// How it was sampled.
fn facts(report: &WhyReport) -> Vec<String> {
    let subject = |subject: &tare_analysis::why::ProfiledSubject| {
        let runtime = subject.runtime.as_ref().map(|runtime| format!("; a process of its own ({runtime})"));
        format!(
            "{}: {} a request, {} samples, {:.0}% without a name{}",
            subject.label,
            plain_ns(subject.cpu_ns),
            subject.samples,
            subject.unnamed_share * 100.0,
            runtime.unwrap_or_default()
        )
    };
    let how = format!(
        "{} fresh starts of each, a sample each {:.2} ms of CPU time, callers by {}",
        report.blocks,
        report.period_ns as f64 / 1e6,
        report.chains
    );
    let cost = report.sampling_cost.map(|cost| {
        let [mean, low, high] = [cost.mean, cost.low, cost.high].map(|share| share * 100.0);
        format!("sampling costs {mean:+.1}% of the CPU time of a request ({low:+.1} .. {high:+.1}%)")
    });
    report.subjects.iter().map(subject).chain([how]).chain(cost).chain(report.notes.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use tare_analysis::why::{ProfiledSubject, StackCost, WhyLine};

    use super::*;
    use crate::{
        document::Shape,
        write::{markdown, text},
    };

    fn report() -> WhyReport {
        let interval = |mean: f64| Some(MeanInterval { mean, low: mean - 84.0, high: mean + 84.0 });
        let function = |name: &str, file: Option<&str>, mean: f64| FunctionCost {
            name: name.to_owned(),
            file: file.map(str::to_owned),
            line: file.map(|_| 7),
            own_ns: vec![100.0, 120.0],
            all_ns: vec![300.0, 300.0 + mean],
            own_difference: interval(mean / 8.0),
            all_difference: interval(mean),
            ..FunctionCost::default()
        };
        let subject = |label: &str| ProfiledSubject {
            label: label.to_owned(),
            cpu_ns: 10_250.0,
            samples: 5_000,
            unnamed_share: 0.01,
            ..ProfiledSubject::default()
        };
        WhyReport {
            format: "1.0".to_owned(),
            subjects: vec![subject("old"), subject("new")],
            blocks: 12,
            period_ns: 487_000,
            chains: "frame pointers".to_owned(),
            sampling_cost: Some(MeanInterval { mean: 0.004, low: -0.002, high: 0.01 }),
            difference: interval(801.0),
            functions: vec![
                function("main.signBody", Some("main.go"), 794.0),
                function("sha256.blockSHANI", None, 298.0),
                function("json|x", None, 1.0),
            ],
            answer: vec![0],
            lines: vec![WhyLine { function: 0, depth: 0 }, WhyLine { function: 1, depth: 1 }],
            ..WhyReport::default()
        }
    }

    #[test]
    fn the_answer_is_a_table_with_callees_below_their_callers() {
        let section = section(&report());
        insta::assert_snapshot!(
            [text::section(&section, text::TextLook::default()), markdown::section(&section)].join("\n---\n")
        );
    }

    #[test]
    fn stacks_are_a_table_with_a_flame_graph_of_it() {
        let stacks = vec![
            StackCost { frames: vec![0, 1], ns: vec![900.0, 1_700.04] },
            StackCost { frames: vec![0, 2], ns: vec![500.0, 0.0] },
        ];
        let frames = ["main.signBody", "sha256.blockSHANI", "</script>|*gone*"].map(str::to_owned).to_vec();
        let section = calls::section(&WhyReport { stacks, frames, ..report() }).unwrap();
        assert_eq!((section.charts[0].shape, section.charts[0].x.as_str()), (Shape::Flame, "candidate_ns"));
        insta::assert_snapshot!(markdown::section(&section));
        assert!(calls::section(&report()).is_none(), "without stacks there is nothing to draw");
        let alone = WhyReport { subjects: report().subjects[..1].to_vec(), ..report() };
        assert!(calls::section(&alone).is_none());
    }

    #[test]
    fn lines_are_a_table_with_their_functions() {
        let line = |line, all_ns: f64| LineCost {
            function: 0,
            line,
            own_ns: all_ns / 2.0,
            all_ns,
            all_interval: Some(MeanInterval { mean: all_ns, low: all_ns - 84.0, high: all_ns + 84.0 }),
        };
        let report = WhyReport { source_lines: vec![line(9, 700.0), line(10, 40.0)], ..report() };
        let section = lines(&report).unwrap();
        insta::assert_snapshot!(
            [text::section(&section, text::TextLook::default()), markdown::section(&section)].join("\n---\n")
        );
        assert!(lines(&WhyReport { source_lines: Vec::new(), ..report }).is_none());
    }

    #[test]
    fn a_line_links_to_its_file_at_the_commit() {
        let shown = |page: &str| {
            let source_lines = vec![LineCost { function: 0, line: 9, all_ns: 700.0, ..LineCost::default() }];
            let mut report = WhyReport { source_lines, ..report() };
            report.functions[0].page = Some(page.to_owned());
            [lines(&report).unwrap(), section(&report)].map(|section| markdown::section(&section))
        };
        let page = "https://github.com/o/r/blob/abc/main.go";
        let [by_line, by_function] = shown(page);
        assert!(by_line.contains(&format!("| [main.go:9]({page}#L9) |")), "{by_line}");
        assert!(by_function.contains(&format!("| [main.go:7]({page}) |")), "{by_function}");
        for hostile in ["javascript:alert(1)", "https://x/)<b>", "http://x/", "//x"] {
            assert!(shown(hostile).iter().all(|text| !text.contains("](")), "{hostile}");
        }
    }

    #[test]
    fn packages_are_a_table_that_a_terminal_shows_if_no_function_explains() {
        let package = |name: &str, mean: f64| {
            let difference = Some(MeanInterval { mean, low: mean - 84.0, high: mean + 84.0 });
            PackageCost { name: name.to_owned(), own_ns: vec![300.0, 300.0 + mean], difference }
        };
        let packages_of = vec![package("[kernel]", 12.0), package("axum", 221.0)];
        let report = WhyReport { packages: packages_of, ..report() };
        let section = packages(&report).unwrap();
        assert!(!section.brief);
        insta::assert_snapshot!(markdown::section(&section));
        assert!(packages(&WhyReport { answer: Vec::new(), ..report.clone() }).unwrap().brief);
        assert!(packages(&WhyReport { packages: vec![package("axum", 1.0)], ..report }).is_none());
    }

    #[test]
    fn what_is_withheld_has_no_table() {
        let withheld =
            WhyReport { withheld: Some("31% of the samples of old have no name".to_owned()), ..report() };
        let section = section(&withheld);
        assert!(
            section.table.is_none() && section.notes[0].starts_with("no answer: 31%"),
            "{:?}",
            section.notes
        );
    }

    #[test]
    fn a_run_folder_without_the_file_says_nothing_and_a_broken_one_why() {
        let run = tempfile::tempdir().unwrap();
        assert!(of_run(run.path()).is_none());
        let path = run.path().join(tare_analysis::why::NAME);
        let stack = StackCost { frames: vec![0], ns: vec![1.0, 2.0] };
        let of = WhyReport { stacks: vec![stack], frames: vec!["main".to_owned()], ..report() };
        std::fs::write(&path, serde_json::to_vec(&of).unwrap()).unwrap();
        let (_, sections) = of_run(run.path()).unwrap();
        assert_eq!(
            sections.iter().map(|section| section.id.as_str()).collect::<Vec<_>>(),
            ["why", "calls", "functions"]
        );
        std::fs::write(&path, "{").unwrap();
        let (sentence, sections) = of_run(run.path()).unwrap();
        assert!(sentence.contains("why.json cannot be understood") && sections.is_empty(), "{sentence}");
    }
}
