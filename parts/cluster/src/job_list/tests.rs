use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::machines::Machines;

fn head(classes: &str, service: Option<&str>) -> ListHead {
    let text: String =
        classes.split(',').map(|name| format!("[[class]]\nname = \"{name}\"\ncpus = 2\n")).collect();
    let machines = Machines::parse(Path::new("m.toml"), &format!("format = \"1.0\"\n{text}")).unwrap();
    ListHead {
        format: FORMAT.to_owned(),
        tare: "0.1.0".to_owned(),
        experiment: "experiments/quick.toml".to_owned(),
        content: "00ff".to_owned(),
        service: service.map(str::to_owned),
        options: vec!["--budget".to_owned(), "30s".to_owned()],
        expected_s: Some(30),
        classes: machines.classes,
    }
}

fn list(seeds: usize) -> JobList {
    JobList::plan(head("arm,x86", None), PlanRequest { revisions: &[], seeds, seed: 7 })
}

fn error(text: &str) -> String {
    JobList::parse(Path::new("jobs.ndjson"), text).unwrap_err().to_string()
}

#[test]
fn jobs_are_classes_by_revision_sets_by_seeds() {
    let jobs = list(2).jobs;
    let of: Vec<(&str, u64)> = jobs.iter().map(|job| (job.class.as_str(), job.seed)).collect();
    assert_eq!(of, [("arm", 7), ("x86", 7), ("arm", 8), ("x86", 8)]);
    let revisions: Vec<String> = (0..20).map(|number| format!("r{number}")).collect();
    let request = PlanRequest { revisions: &revisions, seeds: 3, seed: u64::MAX };
    let history = JobList::plan(head("arm,x86", Some("shop")), request);
    assert_eq!(history.jobs.len(), 2 * 2 * 3);
    assert!(history.jobs.iter().all(|job| job.seed < 1 << 53 && !job.revisions.is_empty()));
}

#[test]
fn a_job_is_a_command() {
    let list = list(1);
    let words = list.jobs[1].words(&list.head).join(" ");
    assert_eq!(words, "run experiments/quick.toml --budget 30s --seed 7");
    let revisions = ["a".to_owned(), "b".to_owned()];
    let request = PlanRequest { revisions: &revisions, seeds: 1, seed: 1 };
    let history = JobList::plan(head("arm", Some("node server.js")), request);
    assert_eq!(
        history.jobs[0].words(&history.head),
        ["history", "node server.js", "a", "b", "--budget", "30s", "--seed", "1"]
    );
}

#[test]
fn identifiers_follow_from_what_is_done_and_never_change() {
    let jobs = list(1).jobs;
    // Identifiers must not change, so that jobs of an earlier Tare are found.
    insta::assert_snapshot!(jobs[0].name(), @"arm-4a9c8c3cb20b502c");
    insta::assert_snapshot!(list(1).batch_name(), @"quick-b5344fbbc260");
    let other = |change: fn(&mut ListHead)| {
        let mut head = head("arm,x86", None);
        change(&mut head);
        JobList::plan(head, PlanRequest { revisions: &[], seeds: 1, seed: 7 }).jobs[0].id.clone()
    };
    assert_eq!(
        other(|head| head.classes[0].cpus = 9),
        jobs[0].id,
        "how a machine is found is no part of the work"
    );
    assert_ne!(other(|head| head.content = "01".to_owned()), jobs[0].id);
    assert_ne!(other(|head| head.options = vec!["--budget".to_owned(), "31s".to_owned()]), jobs[0].id);
    assert_ne!(other(|head| head.options = vec!["--budget30s".to_owned()]), jobs[0].id);
}

#[test]
fn mistakes_have_their_line() {
    let text = list(1).text().unwrap();
    let (head, jobs) = text.split_once('\n').unwrap();
    insta::assert_snapshot!(error(""), @"jobs.ndjson:1: is empty: `tare cluster plan` writes a job list");
    insta::assert_snapshot!(error(head), @"jobs.ndjson:1: has no job");
    insta::assert_snapshot!(error("{}"), @r#"jobs.ndjson:1: is no head of a job list: missing field "format""#);
    insta::assert_snapshot!(error("[1]"), @r#"jobs.ndjson:1: is no head of a job list: invalid type: integer "1", expected a string"#);
    insta::assert_snapshot!(error(&text.replace("\"format\":\"1.0\"", "\"format\":\"2.0\"")), @r#"jobs.ndjson:1: format "2.0" is not one this tare reads: it reads "1.0""#);
    insta::assert_snapshot!(error(&text.replacen("\"seed\":7", "\"seed\":8", 1)), @"jobs.ndjson:2: job 4a9c8c3cb20b502c is not what its identifier stands for: plan it again, do not edit it");
    insta::assert_snapshot!(error(&text.replacen("\"id\":\"", "\"id\":\"../", 1)), @r#"jobs.ndjson:2: "../4a9c8c3cb20b502c" is no identifier of a job: it must have 16 digits of 0 to 9 and a to f"#);
    insta::assert_snapshot!(error(&format!("{text}{jobs}")), @"jobs.ndjson:4: job 4a9c8c3cb20b502c stands twice");
    insta::assert_snapshot!(error(&text.replacen("\"class\":\"arm\"", "\"class\":\"mips\"", 1)), @r#"jobs.ndjson:2: class "mips" is not in the first line"#);
    insta::assert_snapshot!(error(&format!("{head}\n\n{{\"id\"")), @"jobs.ndjson:3: EOF while parsing an object");
}

proptest! {
    #[test]
    fn a_list_is_read_as_it_was_written(
        seeds in 1_usize..5, seed in any::<u64>(), revisions in prop::collection::vec("[a-f0-9]{7}", 0..30),
        options in prop::collection::vec(".{0,9}", 0..4),
    ) {
        let service = (revisions.len() > 1).then_some("shop");
        let revisions = if service.is_some() { &revisions[..] } else { &[] };
        let head = ListHead { options, ..head("a,b,c", service) };
        let list = JobList::plan(head, PlanRequest { revisions, seeds, seed });
        let text = list.text().unwrap();
        let read = JobList::parse(Path::new("jobs.ndjson"), &text).map_err(|error| error.to_string());
        // Two sets of the same commits are one job.
        match read {
            Ok(read) => prop_assert_eq!(read, list),
            Err(error) => prop_assert!(error.contains("stands twice"), "{}", error),
        }
    }

    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in "(?s).{0,80}", at in any::<prop::sample::Index>()) {
        let whole = list(1).text().unwrap();
        let at = (0..=at.index(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        for text in [text.clone(), format!("{}{text}{}", &whole[..at], &whole[at..])] {
            if let Err(error) = JobList::parse(Path::new("jobs.ndjson"), &text) {
                let error = error.to_string();
                prop_assert!(error.starts_with("jobs.ndjson:") && !error.contains('\n'), "{}", error);
            }
        }
    }
}
