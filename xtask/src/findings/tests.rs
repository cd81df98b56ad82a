use super::*;

const PAGE: &str =
    "# A page\n\n## What we found\n<!-- findings: begin -->\n<!-- findings: end -->\n\nAfter.\n";

/// A repository with one page, and a run of its experiment.
fn made(report: Option<&str>) -> (tempfile::TempDir, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir_all(top.path().join(PAGES)).unwrap();
    fs::write(top.path().join(PAGES).join("one-2017.md"), PAGE).unwrap();
    let run = run_of(top.path(), "run", "one-2017", report);
    (top, run)
}

fn run_of(top: &Path, name: &str, experiment: &str, report: Option<&str>) -> PathBuf {
    let run = top.join(name);
    fs::create_dir(&run).unwrap();
    let header =
        format!(r#"{{"format":"1.0","plan":{{"experiment":"{experiment}","seed":1}},"tare":"0.1.0"}}"#);
    fs::write(run.join("run.json"), header).unwrap();
    if let Some(report) = report {
        fs::write(run.join("report.md"), report).unwrap();
    }
    run
}

fn page(top: &Path) -> String {
    fs::read_to_string(top.join(PAGES).join("one-2017.md")).unwrap()
}

fn complaint(root: &Path, runs: &[PathBuf]) -> String {
    format!("{:#}", filled(root, runs).unwrap_err())
}

#[test]
fn a_report_goes_between_the_markers_and_replaces_what_was_there() {
    let (top, run) = made(Some("## One, again\n\ntext\n\n| a |\n|---|\n| 1 |\n"));
    let expected = "# A page\n\n## What we found\n<!-- findings: begin -->\n\n### One, again\n\ntext\n\n\
                    | a |\n|---|\n| 1 |\n\n<!-- findings: end -->\n\nAfter.\n";
    for _ in 0..2 {
        let arguments = Arguments { runs: vec![run.clone()] };
        super::run(top.path(), &arguments).unwrap();
        assert_eq!(page(top.path()), expected);
    }
}

#[test]
fn runs_of_one_experiment_follow_each_other() {
    let (top, run) = made(Some("## First\n"));
    let second = run_of(top.path(), "second", "one-2017", Some("## Second\n"));
    let pages = filled(top.path(), &[run, second]).unwrap();
    assert_eq!(pages.len(), 1);
    assert_eq!(pages[0].0, "docs/published/one-2017.md");
    assert!(pages[0].1.contains("begin -->\n\n### First\n\n### Second\n\n<!--"), "{}", pages[0].1);
}

const REPORT: &str = "## One, again\n\nIs it so?\n\n**It is.**\n\n| claim | as stated |\n|---|---|\n| a | holds |\n\n\
    <details><summary>All figures</summary>\n\n\
    | claim | as stated | measured for | what was claimed | what decided it |\n|---|---|---|---|---|\n\
    | a | holds | 1 s | x \\| y | 1 \\| 2 |\n\n- a note\n\n</details>\n\n\
    <details><summary>More</summary>\n\n| b |\n|---|\n| 1 |\n\n</details>\n";

#[test]
fn of_a_stored_run_the_page_has_the_claims_and_names_the_report() {
    let (top, elsewhere) = made(Some(REPORT));
    fs::create_dir(top.path().join(STORED)).unwrap();
    let run = run_of(top.path(), "record/one", "one-2017", Some(REPORT));
    let text = |run: &Path| read(top.path(), run).unwrap().text;
    assert_eq!(
        text(&run),
        "**It is.**\n\n| claim | as stated | what decided it |\n|---|---|---|\n\
         | a | holds | 1 \\| 2 |\n\nAll figures, and how they were measured: `record/one/report.md`\n"
    );
    assert_eq!(text(&elsewhere), fitted(REPORT), "its report is in no other place");
}

#[test]
fn a_stored_report_keeps_its_own_table_without_one_of_claims() {
    let line = "All figures, and how they were measured: `record/a/report.md`\n";
    let folded = "<details><summary>B</summary>\n\n| b |\n|---|\n| 2 |\n\n</details>\n";
    for (head, folded) in [("| a |\n|---|\n| 1 |\n\n", folded), ("text\n\n", folded), ("text\n\n", "")] {
        let report = format!("## A\n\n{head}{folded}");
        assert_eq!(shortened(&report, Path::new("record/a/report.md")), format!("{head}{line}"));
    }
}

#[test]
fn a_bar_within_a_cell_is_no_end_of_it() {
    assert_eq!(cells("| a | b \\| c \\\\|d|"), [" a ", " b \\| c \\\\", "d"]);
    assert_eq!(cells("|---|--:|"), ["---", "--:"]);
}

#[test]
fn what_is_missing_is_named_with_its_fix_and_nothing_is_written() {
    let (top, run) = made(None);
    assert!(complaint(top.path(), std::slice::from_ref(&run)).contains("no report.md in"));
    assert!(complaint(top.path(), std::slice::from_ref(&run)).contains("tare run --resume"));
    assert!(complaint(top.path(), &[top.path().join("gone")]).contains("no run.json in"));
    fs::write(run.join("report.md"), "## Good\n").unwrap();
    let other = run_of(top.path(), "other", "quick", Some("## Other\n"));
    let said = complaint(top.path(), &[run.clone(), other.clone()]);
    assert!(
        said.contains("the experiment 'quick' has no page 'docs/published/quick.md': write one"),
        "{said}"
    );
    assert!(super::run(top.path(), &Arguments { runs: vec![run.clone(), other] }).is_err());
    assert_eq!(page(top.path()), PAGE);
    fs::write(run.join("run.json"), "{}").unwrap();
    assert!(complaint(top.path(), &[run]).contains("does not name its experiment"));
}

#[test]
fn a_page_has_each_marker_once_and_in_order() {
    let said = |page: &str| place(page).unwrap_err().to_string();
    assert!(said("# A page\n").contains("lacks the line `<!-- findings: begin -->`"));
    assert!(said(&format!("{BEGIN}\n")).contains("lacks the line `<!-- findings: end -->`"));
    assert!(said(&format!("{BEGIN}\n{BEGIN}\n{END}\n")).contains("2 times: leave one"));
    assert!(said(&format!("{END}\n{BEGIN}\n")).contains("comes before"));
    let spoken = format!("between `{BEGIN}` and `{END}`\n{BEGIN}\nold\n{END}\n");
    assert_eq!(&spoken[place(&spoken).unwrap()], "\nold\n");
    let (top, run) = made(Some(&format!("## A\n{END}\n")));
    assert!(complaint(top.path(), &[run]).contains("holds a marker"));
}

#[test]
fn headings_are_lowered_as_far_as_needed() {
    assert_eq!(fitted("# A\n## B\n"), "### A\n#### B\n");
    assert_eq!(fitted("### A\n"), "### A\n");
    assert_eq!(fitted("#1 is no heading\n"), "#1 is no heading\n");
    assert_eq!(fitted("## A\n```sh\n# a comment\n```\n"), "### A\n```sh\n# a comment\n```\n");
}

#[test]
fn long_lines_are_broken_at_blanks_except_in_tables_and_code() {
    let long = ["word"; 60].join(" ");
    let (cell, code) = (format!("| {long} |\n"), format!("```\n{long}\n```\n"));
    assert_eq!(fitted(&cell), cell);
    assert_eq!(fitted(&code), code);
    for (prefix, hanging) in [("", ""), ("- ", "  "), ("  - ", "    ")] {
        let out = fitted(&format!("{prefix}{long}\n"));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 3, "{out}");
        assert!(lines.iter().all(|line| line.chars().count() <= LINE_CHARS), "{out}");
        assert!(lines[1].starts_with(&format!("{hanging}word")), "{out}");
        let words: Vec<&str> = out.split_whitespace().filter(|word| *word != "-").collect();
        assert_eq!(words.join(" "), long, "nothing is lost");
    }
    assert_eq!(fitted("trailing  \n"), "trailing\n");
}

#[test]
fn no_line_begins_with_what_would_be_a_block() {
    for word in ["-", "+", "12.", "3)", "| a", "> b", "<!--", "# c"] {
        let out = fitted(&format!("{} {word} and more\n", ["word"; 23].join(" ")));
        assert!(!out.lines().nth(1).unwrap_or_default().starts_with(word), "{out}");
    }
    let url = "x".repeat(200);
    assert_eq!(fitted(&format!("{url}\n")), format!("{url}\n"), "a long word stays whole");
}
