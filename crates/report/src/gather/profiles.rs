//! What a request of each row spends its CPU time on: a line for each row, and the functions of each.

use std::path::Path;

use tare_analysis::why::{KERNEL, PackageCost, WhyReport, plain_ns};

use super::{columns::Columns, why};
use crate::document::Section;

/// How many packages a line names.
const PACKAGES_SHOWN: usize = 3;

/// The sections of a run whose rows were profiled.
pub(super) fn of_run(run: &Path) -> Option<Vec<Section>> {
    let report = WhyReport::read(run).ok().filter(|report| !report.profiles.is_empty())?;
    Some(sections(&report.profiles))
}

/// All rows in a table, then each row by function.
#[must_use]
pub fn sections(profiles: &[WhyReport]) -> Vec<Section> {
    let each = profiles.iter().enumerate().map(|(place, report)| {
        let (id, title) = (format!("profile-{}", place + 1), format!("{} by function", label(report)));
        Section { id, title, brief: false, ..why::section(report) }
    });
    std::iter::once(summary(profiles)).chain(each).collect()
}

fn summary(profiles: &[WhyReport]) -> Section {
    let lead = "What a request of each row spends its CPU time on, by package. Its slices were sampled after all others.";
    let of_kernel = |report: &WhyReport| {
        let kernel = report.packages.iter().find(|package| package.name == KERNEL);
        kernel.and_then(|package| package.own_ns.first().copied())
    };
    let table = Columns::new()
        .text("row", "service", |report: &WhyReport| label(report).to_owned())
        .ns("cpu_ns", "a request", |report| report.subjects.first().map(|subject| subject.cpu_ns))
        .ns("kernel_ns", "kernel", of_kernel)
        .text("packages", "most of the rest", most_of_the_rest)
        .table("What a request consists of", profiles.iter().cloned());
    Section::new("profiles", "What a request consists of", lead, table).brief()
}

fn label(report: &WhyReport) -> &str {
    report.subjects.first().map_or("", |subject| subject.label.as_str())
}

/// The packages that cost most, or why they are not known.
fn most_of_the_rest(report: &WhyReport) -> String {
    if let Some(why) = &report.withheld {
        return format!("not known: {why}");
    }
    let ns = |package: &PackageCost| package.own_ns.first().copied().unwrap_or(0.0);
    let mut rest: Vec<&PackageCost> =
        report.packages.iter().filter(|package| package.name != KERNEL && ns(package) > 0.0).collect();
    rest.sort_by(|a, b| ns(b).total_cmp(&ns(a)));
    let named = rest.iter().take(PACKAGES_SHOWN);
    named.map(|package| format!("{} {}", package.name, plain_ns(ns(package)))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use tare_analysis::why::{FunctionCost, ProfiledSubject, WhyLine};

    use super::*;
    use crate::write::text;

    fn profile(label: &str, packages: &[(&str, f64)]) -> WhyReport {
        let cost = |(name, ns): &(&str, f64)| PackageCost {
            name: (*name).to_owned(),
            own_ns: vec![*ns],
            difference: None,
        };
        let subject =
            ProfiledSubject { label: label.to_owned(), cpu_ns: 9_000.0, ..ProfiledSubject::default() };
        let function = FunctionCost {
            name: "serve".to_owned(),
            own_ns: vec![800.0],
            all_ns: vec![900.0],
            ..FunctionCost::default()
        };
        WhyReport {
            subjects: vec![subject],
            packages: packages.iter().map(cost).collect(),
            functions: vec![function],
            lines: vec![WhyLine { function: 0, depth: 0 }],
            ..WhyReport::default()
        }
    }

    #[test]
    fn each_row_has_a_line_with_its_packages_and_a_section_with_its_functions() {
        let known =
            profile("hyper", &[("tokio", 900.0), (KERNEL, 6_000.0), ("hyper", 1_000.0), ("std", 80.0)]);
        let withheld = WhyReport {
            withheld: Some("31% of the samples of c have no name".to_owned()),
            ..profile("c", &[(KERNEL, 6_000.0)])
        };
        let sections = sections(&[known, withheld]);
        let ids: Vec<&str> = sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["profiles", "profile-1", "profile-2"]);
        assert!(sections[0].brief && !sections[1].brief && sections[2].table.is_none());
        insta::assert_snapshot!(text::section(&sections[0], text::TextLook::default()));
    }
}
