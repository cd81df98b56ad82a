//! The document of an audit: impossible figures of others, and figures that do not show what they seem to.

mod kept;
mod words;

use tare_analysis::{figures::rate, verdict::Tone};
use tare_report::{
    document::{Document, FORMAT, Fact, Kind, Section, Sentences, Status, Value},
    gather::columns::Columns,
};

pub use kept::of_run;

use crate::{Audit, AuditIssue, AuditRow, DoubtSubject, DoubtWeight, Published, Rule};

/// A row with its findings.
struct Judged<'a> {
    row: &'a AuditRow,
    /// The findings, the most severe first.
    doubts: Vec<&'a AuditIssue>,
}

/// A rule, the number of rows or tests that broke it, and the most severe of these findings.
struct Applied {
    rule: Rule,
    weight: Option<DoubtWeight>,
    broken: usize,
    of_tests: bool,
}

/// The document for these rows; `files` are their sources.
pub fn document(published: &Published, audit: &Audit, files: &[String]) -> Document {
    let rows = published.rows.len();
    let doubtful = |weight: DoubtWeight| {
        let has = |place: &usize| gravest(audit, *place) == Some(weight);
        (0..rows).filter(has).count()
    };
    let (untrue, not_shown) = (doubtful(DoubtWeight::CannotBeTrue), doubtful(DoubtWeight::NotShown));
    let tests =
        audit.findings.iter().filter(|finding| matches!(finding.about, DoubtSubject::Test(_))).count();
    let findings = [doubtful_rows(published, audit), tests_section(audit)];
    let sections = findings.into_iter().flatten().chain([rules(audit), arithmetic(published)]).collect();
    Document {
        format: FORMAT,
        kind: Kind::Audit,
        title: format!("Audit of {}", published.source.name()),
        question: "Which of these figures cannot be true, and which do not show what they are read as?"
            .to_owned(),
        answer: words::answer(rows, untrue, not_shown),
        basis: words::of_tests(tests),
        began: String::new(),
        status: Status::Complete,
        damage: unread(published.unread).into_iter().collect(),
        cautions: Vec::new(),
        notes: words::NOTES.map(str::to_owned).to_vec(),
        facts: facts(published, files),
        checks: Vec::new(),
        sections,
    }
}

fn gravest(audit: &Audit, place: usize) -> Option<DoubtWeight> {
    audit.of_row(place).map(AuditIssue::weight).min()
}

fn unread(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("one row could not be read, and was left out".to_owned()),
        _ => Some(format!("{count} rows could not be read, and were left out")),
    }
}

fn facts(published: &Published, files: &[String]) -> Vec<Fact> {
    let tests = published.tests().len();
    vec![
        Fact::new("Published by", published.source.name()).brief(),
        Fact::new("Rows", format!("{} in {tests} test{}", published.rows.len(), plural(tests))).brief(),
        Fact::new(if files.len() == 1 { "File" } else { "Files" }, files.join(", ")),
    ]
}

pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Lists every rule, so that a reader sees which checks passed.
fn rules(audit: &Audit) -> Section {
    let applied = Rule::ALL.map(|rule| Applied {
        rule,
        weight: audit.weight_of(rule),
        broken: audit.count(rule),
        of_tests: matches!(rule, Rule::Ceiling | Rule::Spread),
    });
    let unit = |applied: &Applied| if applied.of_tests { "tests" } else { "rows" };
    let columns = Columns::new()
        .facet("rule", "rule", |applied: &Applied| words::name(applied.rule))
        .facet("weight", "finding", |applied| match applied.weight {
            None => Value::Word("in order", Tone::Plain),
            found => weight(found),
        })
        .count("broken", "broken", |applied| applied.broken)
        .facet("unit", "by", unit);
    let lead = "Each rule was applied to every row that states what it needs. What each says is below.";
    Section::new("rules", "Rules", lead, columns.table("Rules and how often each was broken", applied))
        .brief()
}

/// The formula of each rule, so that a reader can repeat it.
fn arithmetic(published: &Published) -> Section {
    let columns = Columns::new()
        .facet("rule", "rule", |rule: &Rule| words::name(*rule))
        .text("arithmetic", "what must hold", |rule| words::arithmetic(*rule))
        .text("reference", "source", |rule| words::reference(*rule));
    let lead = format!(
        "{} states {}. {}",
        published.source.name(),
        words::stated(&published.rows),
        words::made(&published.rows)
    );
    Section::new(
        "arithmetic",
        "What the rules say",
        lead.trim_end(),
        columns.table("Rules in full", Rule::ALL),
    )
}

fn weight(weight: Option<DoubtWeight>) -> Value {
    match weight {
        Some(DoubtWeight::CannotBeTrue) => Value::Word("cannot be true", Tone::Bad),
        Some(DoubtWeight::NotShown) => Value::Word("not shown", Tone::Open),
        None => Value::Word("no finding", Tone::Plain),
    }
}

/// The rows with findings; `None` if there are none.
fn doubtful_rows(published: &Published, audit: &Audit) -> Option<Section> {
    let judged = published
        .rows
        .iter()
        .enumerate()
        .map(|(place, row)| Judged { row, doubts: audit.of_row(place).collect() });
    let mut doubtful: Vec<Judged> = judged.filter(|judged| !judged.doubts.is_empty()).collect();
    let gravity = |doubt: &&AuditIssue| (doubt.weight(), doubt.rule());
    for judged in &mut doubtful {
        judged.doubts.sort_by_key(gravity);
    }
    doubtful.sort_by_key(|judged| judged.doubts.first().map(gravity));
    if doubtful.is_empty() {
        return None;
    }
    let said = |judged: &Judged| Sentences::new(judged.doubts.iter().map(|doubt| words::sentence(doubt)));
    let columns = Columns::new()
        .facet("row", "row", |judged: &Judged| judged.row.name.clone())
        .facet("test", "test", |judged| judged.row.test.clone())
        .rate("published_per_second", "req/s, published", |judged| judged.row.per_second)
        .facet("weight", "finding", |judged| weight(judged.doubts.first().map(|doubt| doubt.weight())))
        .text("findings", "why", said);
    let lead = "Rows with a finding, the gravest first. All others agree with the rules as far as they state what these need.";
    Some(Section::new("rows", "Rows", lead, columns.table("Rows with a finding", doubtful)).brief())
}

/// The tests with findings; `None` if there are none.
fn tests_section(audit: &Audit) -> Option<Section> {
    let of_test = |finding: &crate::AuditFinding| match &finding.about {
        DoubtSubject::Test(test) => Some((test.clone(), words::sentence(&finding.doubt))),
        DoubtSubject::Row(_) => None,
    };
    let found: Vec<(String, String)> = audit.findings.iter().filter_map(of_test).collect();
    if found.is_empty() {
        return None;
    }
    let columns = Columns::new().facet("test", "test", |(test, _): &(String, String)| test.clone()).text(
        "findings",
        "finding",
        |(_, sentence)| sentence.clone(),
    );
    let lead = "What concerns all rows of a test together.";
    Some(Section::new("tests", "Tests", lead, columns.table("Tests with a finding", found)).brief())
}

/// Requests per second, in words.
pub(super) fn per_second(number: f64) -> String {
    format!("{}/s", rate(number))
}

#[cfg(test)]
mod tests;
