//! A report as text and as Markdown.

use super::{Report, columns, columns::Table, makespan};
use crate::report::{
    figures::time,
    markdown::escape,
    table::{self, Paint, layout},
};
use crate::verdict::Question;
use tare_bench::{grid::Layout, run::record::Ending};

/// For a terminal. `colours` are ANSI sequences.
pub fn text(report: &Report, colours: bool) -> String {
    let paint = Paint(colours);
    let mut out = format!("{}\n{}\n", paint.with("1", &report.title), report.question);
    out += &format!("published: {}; {}\n", report.published.load, report.published.machine);
    out += &format!("here: {}; {}\n", report.machine(), report.extent());
    for table in tables(report) {
        out += &format!("\n{}\n{}", table.title, layout(&table.lines, &paint));
    }
    let remarks = remarks(report);
    if !remarks.is_empty() {
        out.push('\n');
    }
    for (label, remark) in remarks {
        out += &format!("{} {remark}\n", paint.with("33", &format!("{label}:")));
    }
    if !report.claims.is_empty() {
        out += "\nwhat was claimed, and what this run says\n";
    }
    for claim in &report.claims {
        out += &format!(
            "{} {}\n",
            paint.with(claim.verdict.tone().ansi(), &format!("{}:", claim.verdict_text())),
            claim.text
        );
        for check in &claim.checks {
            out += &format!(
                "    {}: {}: {}\n",
                check.verdict.word(Question::Claim),
                check.what(),
                check.found()
            );
        }
    }
    out
}

/// For a page.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("## {}\n\n{}\n\n", escape(&report.title), escape(&report.question));
    out +=
        &format!("- Published: {}; {}\n", escape(&report.published.load), escape(&report.published.machine));
    out += &format!("- Here: {}; {}\n", escape(&report.machine()), escape(&report.extent()));
    for table in tables(report) {
        out += &format!("\n{}:\n\n{}", escape(&table.title), table::markdown(&table.lines));
    }
    let remarks = remarks(report);
    if !remarks.is_empty() {
        out.push('\n');
    }
    for (label, remark) in remarks {
        out += &format!("- {}: {}\n", escape(&label), escape(&remark));
    }
    if !report.claims.is_empty() {
        out += "\n| claim | verdict | what was found |\n|---|---|---|\n";
    }
    for claim in &report.claims {
        let found: Vec<String> = claim
            .checks
            .iter()
            .map(|check| {
                let (what, found) = (escape(&check.what()), escape(&check.found()));
                format!("{}: {what}: {found}", check.verdict.word(Question::Claim))
            })
            .collect();
        out += &format!("| {} | {} | {} |\n", escape(&claim.text), claim.verdict_text(), found.join("<br>"));
    }
    out
}

fn tables(report: &Report) -> Vec<Table> {
    match report.layout {
        Layout::Makespan => makespan::tables(report),
        _ => columns::tables(report),
    }
}

/// What stands below the tables: whom it concerns, and what a reader must know.
fn remarks(report: &Report) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    for row in &report.rows {
        let mut add = |text: &Option<String>, word: &str| {
            remarks.extend(text.iter().map(|text| (row.label.clone(), format!("{word}{text}"))));
        };
        add(&row.excluded.as_ref().map(|excluded| excluded.reason.clone()), "left out: ");
        add(&row.complaint, "measured as it was published, though it does not honour its contract: ");
    }
    for point in &report.points {
        for cell in &point.cells {
            let label = &report.rows[cell.row].label;
            let place = tare_bench::figures::place(&point.point);
            // Those that took a round away are told with it.
            let failures = cell.failures.as_ref().filter(|_| cell.trouble.is_none());
            let reasons = [
                cell.stuck.as_ref().map(|reason| format!("x{place}: {reason}")),
                cell.failed.as_ref().map(|reason| format!("failed{place}: {reason}")),
                cell.load_bound.as_ref().map(|reason| format!("{reason}{place}")),
                cell.trouble.as_ref().map(|trouble| format!("not counted{place}: {trouble}")),
                failures.map(|failures| format!("{failures}{place}")),
            ];
            let process = cell.typical.as_ref().and_then(|sample| sample.host.process.as_ref());
            let complaint = process.and_then(|process| process.unclean_stop.clone());
            let complaint = complaint.map(|complaint| format!("{complaint}{place}"));
            let all = reasons.into_iter().flatten().chain(complaint);
            remarks.extend(all.map(|reason| (label.clone(), reason)));
        }
    }
    let notes = report.published.note.iter().map(|note| ("published note".to_owned(), note.clone()));
    remarks.extend(notes.chain(report.findings.iter().map(|found| ("note".to_owned(), found.to_string()))));
    remarks
}

impl Report {
    fn machine(&self) -> String {
        let of = &self.environment;
        let gib = of.memory_bytes as f64 / f64::from(1 << 30);
        format!("{} CPUs of {}, {gib:.0} GiB, {}, {}", of.cpus, of.cpu, of.system, of.kernel)
    }

    fn extent(&self) -> String {
        let ending = match self.ending {
            Some(Ending::Complete) => "complete",
            Some(reason) => reason.text(),
            None => "cut off",
        };
        let (done, all) = self.cells;
        let stuck = match self.ending {
            Some(Ending::Complete) if done < all => " (what got stuck is not asked again)",
            _ => "",
        };
        let elapsed = time(self.elapsed_ns as f64);
        format!(
            "{done} of {all} cells{stuck} in {elapsed}, scale {}, seed {}: {ending}",
            self.scale, self.seed
        )
    }
}
