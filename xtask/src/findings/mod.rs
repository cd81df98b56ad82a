//! `cargo xtask findings`: puts the tables of stored runs into the pages of the published benchmarks.
//!
//! Uses the name of an experiment in `run.json`, the markers of a page, and lines of Markdown. `tare run`
//! wrote the tables; nothing is computed here. A page shows the answer and what decided each claim, and names the
//! stored report that has all figures.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

const PAGES: &str = "docs/published";
/// Runs that are in the repository, with their reports.
const STORED: &str = "record";
const BEGIN: &str = "<!-- findings: begin -->";
const END: &str = "<!-- findings: end -->";

/// The beginning of each part of a report that is folded.
const FOLDED: &str = "<details>";

/// The column of the table of claims that says what decided each.
const DECIDED: &str = "what decided it";

/// Columns of that table which a page has in other places: its own list of claims, and the answer with its scale.
const ELSEWHERE: [&str; 2] = ["what was claimed", "measured for"];

/// Tables are below a heading of the second level.
const LEVEL_MIN: usize = 3;

/// Maximum length of a line of prose; a word that must not begin a line may exceed it.
const LINE_CHARS: usize = 120;

/// What the user asks for
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folders of runs of published experiments, such as record/restinio-2017; those of one experiment go into its page
    /// one after another. Of a run in record/ the page has the answer and the claims, and names the report; of any
    /// other run it has the whole report
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
}

/// The relevant part of `run.json`.
#[derive(Debug, Deserialize)]
struct Header {
    plan: Plan,
}

#[derive(Debug, Deserialize)]
struct Plan {
    experiment: String,
}

/// The content for one page.
#[derive(Debug)]
struct Findings {
    experiment: String,
    text: String,
}

/// Fills the pages, and prints their names. Nothing is written if any run has an error.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<ExitCode> {
    for (path, page) in filled(root, &arguments.runs)? {
        fs::write(root.join(&path), page).with_context(|| format!("cannot write '{path}'"))?;
        println!("wrote {path}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Every affected page: its path from the top of the repository, and its new text.
fn filled(root: &Path, runs: &[PathBuf]) -> Result<Vec<(String, String)>> {
    let mut all: Vec<Findings> = Vec::new();
    for run in runs {
        let found = read(root, run)?;
        match all.iter_mut().find(|other| other.experiment == found.experiment) {
            Some(other) => other.text += &format!("\n{}", found.text),
            None => all.push(found),
        }
    }
    let page = |findings: &Findings| {
        let path = format!("{PAGES}/{}.md", findings.experiment);
        let old = fs::read_to_string(root.join(&path)).with_context(|| {
            format!(
                "the experiment '{}' has no page '{path}': write one, with the markers of its neighbours",
                findings.experiment
            )
        })?;
        let new = put(&old, &findings.text).with_context(|| format!("'{path}'"))?;
        Ok((path, new))
    };
    all.iter().map(page).collect()
}

/// The table of a run, ready for a page.
fn read(root: &Path, run: &Path) -> Result<Findings> {
    let shown = run.display();
    let header = fs::read_to_string(run.join("run.json")).with_context(|| {
        format!(
            "no run.json in '{shown}': name the folder of a run; that of a series holds one folder for each"
        )
    })?;
    let header: Header = serde_json::from_str(&header)
        .with_context(|| format!("'{shown}/run.json' does not name its experiment"))?;
    let report = fs::read_to_string(run.join("report.md")).with_context(|| {
        format!("no report.md in '{shown}': the run was cut off; `tare run --resume {shown}` ends it")
    })?;
    ensure!(
        !report.contains(BEGIN) && !report.contains(END),
        "'{shown}/report.md' holds a marker of the pages"
    );
    let text = match stored(root, run) {
        Some(folder) => shortened(&report, &folder.join("report.md")),
        None => report,
    };
    Ok(Findings { experiment: header.plan.experiment, text: fitted(&text) })
}

/// The path of a stored run from the top of the repository; `None` for a run elsewhere.
fn stored(root: &Path, run: &Path) -> Option<PathBuf> {
    let (root, run) = (root.canonicalize().ok()?, run.canonicalize().ok()?);
    let folder = run.strip_prefix(root).ok()?;
    folder.starts_with(STORED).then(|| folder.to_path_buf())
}

/// The report without its title and question, which a page has, and without its folded parts, which are in the stored
/// `file`. The table of claims among them is kept: it has what decided each claim, and replaces the short table.
fn shortened(report: &str, file: &Path) -> String {
    let (head, folded) = report.split_once(FOLDED).unwrap_or((report, ""));
    let head = without_first(head, |first| level(first).is_some());
    let head = without_first(head, |first| first.ends_with('?'));
    let short: Vec<&str> = first_table(head).collect();
    let text = match claims(folded) {
        Some(full) if !short.is_empty() => head.replacen(&short.join("\n"), &full.join("\n"), 1),
        _ => head.to_owned(),
    };
    format!("{}\n\nAll figures, and how they were measured: `{}`\n", text.trim_end(), file.display())
}

/// The text without its first paragraph, if that one is meant.
fn without_first(text: &str, is_meant: impl Fn(&str) -> bool) -> &str {
    text.split_once("\n\n").filter(|(first, _)| is_meant(first)).map_or(text, |(_, rest)| rest)
}

/// The first table, if it is that of claims: without the columns that a page has elsewhere.
fn claims(folded: &str) -> Option<Vec<String>> {
    let rows: Vec<Vec<&str>> = first_table(folded).map(cells).collect();
    let titles: Vec<&str> = rows.first()?.iter().map(|cell| cell.trim()).collect();
    if !titles.contains(&DECIDED) {
        return None;
    }
    let row = |cells: &Vec<&str>| {
        let kept = cells.iter().zip(&titles).filter(|(_, title)| !ELSEWHERE.contains(title));
        let kept: Vec<&str> = kept.map(|(cell, _)| *cell).collect();
        format!("|{}|", kept.join("|"))
    };
    Some(rows.iter().map(row).collect())
}

/// The lines of the first table.
fn first_table(text: &str) -> impl Iterator<Item = &str> {
    text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'))
}

/// The cells of a row, with the spaces around them. A bar within a cell is escaped.
fn cells(row: &str) -> Vec<&str> {
    let row = row.trim_end();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut is_escaped = false;
    let ends = |c: char| {
        let is_end = c == '|' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    row.split(ends).collect()
}

/// The page with `findings` between its markers, replacing earlier content.
fn put(page: &str, findings: &str) -> Result<String> {
    let Range { start, end } = place(page)?;
    Ok(format!("{}\n\n{}\n\n{}", &page[..start], findings.trim(), &page[end..]))
}

/// The range between the lines of the markers.
fn place(page: &str) -> Result<Range<usize>> {
    let start = end_of_line(page, BEGIN)?;
    let end = end_of_line(page, END)? - END.len();
    ensure!(start <= end, "`{END}` comes before `{BEGIN}`: exchange them");
    Ok(start..end)
}

/// The end of the only line equal to `marker`. A page may mention a marker elsewhere.
fn end_of_line(page: &str, marker: &str) -> Result<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        if line.trim_end() == marker {
            found.push(at + marker.len());
        }
        at += line.len();
    }
    match found.as_slice() {
        [end] => Ok(*end),
        [] => bail!("it lacks the line `{marker}`: add both markers where the findings belong"),
        many => bail!("it has the line `{marker}` {} times: leave one", many.len()),
    }
}

/// The text in the form that `cargo xtask tidy` requires, with headings below the section's level.
fn fitted(report: &str) -> String {
    let lines = || outside_of_code(report);
    let top = lines().filter_map(|(line, is_code)| level(line).filter(|_| !is_code)).min();
    let lower = "#".repeat(LEVEL_MIN.saturating_sub(top.unwrap_or(LEVEL_MIN)));
    let mut out = String::new();
    for (line, is_code) in lines() {
        match line.trim_end() {
            line if is_code || line.trim_start().starts_with('|') => out += line,
            line if level(line).is_some() => out += &format!("{lower}{line}"),
            line => out += &wrapped(line),
        }
        out.push('\n');
    }
    out
}

/// Each line, and whether it is fenced code or a fence.
fn outside_of_code(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_inside = false;
    text.lines().map(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_inside ^= is_fence;
        (line, is_inside || is_fence)
    })
}

/// The level of a heading; `None` for other lines.
fn level(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with(' '))).then_some(level)
}

/// Wraps a line of prose. Continuation lines of a list item are indented.
fn wrapped(line: &str) -> String {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    let hanging = if text.starts_with("- ") || text.starts_with("* ") { "  " } else { "" };
    let mut lines = vec![String::from(indent)];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let current = lines.last_mut().expect("there is a first line");
        let is_empty = current.trim().is_empty();
        if is_empty
            || begins_a_block(word)
            || current.chars().count() + 1 + word.chars().count() <= LINE_CHARS
        {
            *current += if is_empty { "" } else { " " };
            *current += word;
        } else {
            lines.push(format!("{indent}{hanging}{word}"));
        }
    }
    lines.join("\n")
}

/// Whether Markdown would interpret the word as markup at the beginning of a line.
fn begins_a_block(word: &str) -> bool {
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    word.starts_with(['|', '>', '#', '=', '<', '~', '`', '+', '-', '*'])
        || word.strip_suffix(['.', ')']).is_some_and(is_number)
}

#[cfg(test)]
mod tests;
