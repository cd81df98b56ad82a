use std::path::Path;

use insta::assert_snapshot;
use tare_analysis::sequential::fixture::{kept, measured};
use tare_bench::{
    fixture::published::ALL,
    folder::{RunFolder, StoredRun},
    record::{Journal, Record},
    sample::{Failure, Hung, LoadResult, Sample, SampleOutcome},
    schedule::Slot,
};

use tare_analysis::verdict::Absence;

use super::super::tests::golden::text;
use crate::{
    Document,
    document::{Status, Tone, Value, Verdict},
};

type Grid = StoredRun;

fn told(kept: &Grid) -> Document {
    let document = crate::gather::document(kept, Path::new("runs/none"));
    assert_eq!(document.check(), Vec::<String>::new());
    document
}

fn complete(name: &str, scale: f64) -> Grid {
    kept(name, scale, measured)
}

#[test]
fn every_layout_has_its_claims_and_figures() {
    for name in ALL {
        assert_snapshot!(name, text(&told(&complete(name, 1.0))));
    }
}

/// Services that hang and fail, and one that answers half of its requests.
#[test]
fn what_has_no_figure_has_its_state_and_reason() {
    let grid = kept("rest-cpp-2020", 0.1, |plan, cell| {
        let (point, row) = (&plan.points[cell.point], plan.rows[cell.row].label.as_str());
        let sample = measured(plan, cell);
        match row {
            "cpprestsdk:waiting" if point.service_settings.threads < 10 => {
                let silent_ns = Some(5_000_000_000);
                let hung = Hung { silent_ns, requests: 100, threads: 4, ..Hung::default() };
                Sample { outcome: SampleOutcome::Hung(hung), load: LoadResult::default(), ..sample }
            }
            "pistache" => {
                let reason = "exit status 7 during the load".to_owned();
                Sample { outcome: SampleOutcome::Failed { reason }, ..sample }
            }
            "restinio" => half(sample),
            _ => sample,
        }
    });
    let found = told(&grid);
    assert_snapshot!("rest-cpp-2020-with-failures", text(&found));
    let verdict = |row: &str| found.checks.iter().find(|check| check.name == row).unwrap().verdict;
    assert_eq!(verdict("pistache"), Verdict::ServiceFailed);
    assert_eq!(verdict("cpp-httplib"), Verdict::Pass);
    assert_eq!(verdict("cpprestsdk:waiting"), Verdict::Pass, "it hung, as was published");
    let states = |section: &str| -> Vec<String> {
        let section = found.sections.iter().find(|found| found.id == section).unwrap();
        let mut states: Vec<String> = section
            .table
            .as_ref()
            .unwrap()
            .values("state")
            .filter_map(|value| value.text().map(str::to_owned))
            .collect();
        states.sort_unstable();
        states.dedup();
        states
    };
    assert_eq!(states("published"), ["failed", "left out", "measured", "not counted", "stuck"]);
    let failures = found.sections.iter().find(|section| section.id == "failures").unwrap();
    let classes: Vec<&Value> = failures.table.as_ref().unwrap().values("class").collect();
    assert!(!classes.is_empty() && classes.iter().all(|class| class.text() == Some("reset")), "{classes:?}");
}

fn half(mut sample: Sample) -> Sample {
    let load = &mut sample.load;
    load.answered = load.sent / 2;
    load.failed = [(Failure::Reset, load.sent - load.answered)].into_iter().collect();
    sample
}

#[test]
fn a_run_that_was_cut_off_says_so() {
    let mut grid = complete("restinio-2017", 0.1);
    grid.records.truncate(10);
    grid.damage.push("journal.ndjson:11: is cut off".to_owned());
    let found = told(&grid);
    assert_eq!((found.status, found.damage.len()), (Status::CutOff, 1));
    assert!(
        found.whole_answer().starts_with("Undecided after 10 of 36 cells: the run was cut off. So far: "),
        "{}",
        found.whole_answer()
    );
    assert!(!found.notes.contains(&found.damage[0]));
    grid.records.clear();
    let answer = told(&grid).whole_answer();
    let reason = "The first reason: restbed: not on this machine: no compiler";
    assert_eq!(
        answer,
        format!(
            "Undecided after 0 of 36 cells: the run was cut off. So far: No service has a figure. {reason}"
        )
    );
    grid.in_progress = true;
    let found = told(&grid);
    assert_eq!(found.status, Status::Running);
    assert!(found.whole_answer().starts_with("So far, after 0 of 36 cells: "), "{}", found.whole_answer());
}

#[test]
fn a_grid_of_failures_only_has_the_first_reason() {
    let grid = kept("abstract-2018", 0.1, |_, Slot { round, point, row, .. }| {
        let outcome = SampleOutcome::Failed { reason: "exit status 1".to_owned() };
        Sample { round, point, row, outcome, ..Sample::default() }
    });
    let found = told(&grid);
    assert_eq!(found.whole_answer(), "No service has a figure. The first reason: gorilla-mux: exit status 1");
    assert!(found.sections.iter().any(|section| section.id == "rounds"));
    assert!(found.sections.iter().all(|section| section.id != "seconds"));
}

/// A run in which each cell lasted `elapsed_ns`, and other programs took `taken_ns` of it.
fn disturbed(elapsed_ns: u64, taken_ns: i64) -> Grid {
    kept("abstract-2018", 0.1, |plan, cell| {
        let mut sample = measured(plan, cell);
        (sample.load.elapsed_ns, sample.host.foreign_cpu_ns) = (elapsed_ns, Some(taken_ns));
        sample
    })
}

#[test]
fn what_others_took_is_told_at_the_head_from_the_share_on_that_campaigns_have() {
    let noisy = |taken_ns: i64| told(&disturbed(1_000_000_000, taken_ns)).cautions.concat();
    let expected = "noisy host: other programs took 6% of the measured CPUs: ";
    assert!(noisy(120_000_000).starts_with(expected), "of two CPUs: {}", noisy(120_000_000));
    assert_eq!(noisy(90_000_000), "");
}

/// In 10 ms on two CPUs, one tick is half of all CPU time.
#[test]
fn what_others_took_of_a_short_cell_is_not_known() {
    let validity = |elapsed_ns: u64| {
        let document = told(&disturbed(elapsed_ns, 25_000_000));
        let section = document.sections.into_iter().find(|section| section.id == "validity").unwrap();
        let others = section.table.unwrap().values("interference_share").next().unwrap().clone();
        (others, section.notes)
    };
    assert_eq!(validity(100_000_000), (Value::Number(0.125), Vec::new()));
    let (others, notes) = validity(10_000_000);
    assert_eq!((others, notes.len()), (Value::None, 1));
    assert!(notes[0].starts_with("what others took is not known of 11 of 11 cells, "), "{notes:?}");
}

/// The first sentences of the answer for a run whose rows get figures of others; `None` marks a failed row.
fn ranking(name: &str, rounds: usize, as_row: fn(usize) -> Option<usize>) -> String {
    let grid = kept(name, 0.1, |plan, cell| match as_row(cell.row) {
        Some(row) => Sample { row: cell.row, ..measured(plan, Slot { row, ..cell }) },
        None => {
            let outcome = SampleOutcome::Failed { reason: "exit status 1".to_owned() };
            Sample { outcome, ..measured(plan, cell) }
        }
    });
    let is_kept = |record: &Record| !matches!(record, Record::Sample(sample) if sample.round >= rounds);
    let grid = Grid { records: grid.records.into_iter().filter(is_kept).collect(), ..grid };
    let answer = told(&grid).whole_answer();
    answer.split_once(" Of ").map_or(answer.clone(), |(said, _)| said.to_owned())
}

#[test]
fn who_is_first_is_said_as_far_as_intervals_tell() {
    let rates = |rounds, as_row| ranking("restinio-2017", rounds, as_row);
    let times = |rounds, as_row| ranking("rest-cpp-2020", rounds, as_row);
    let answers = [
        ("a clear winner", rates(6, Some)),
        ("two are first", rates(6, |row| Some(row.max(1)))),
        ("four are first", rates(6, |row| Some(row.max(3)))),
        ("nothing is separable", rates(6, |_| Some(0))),
        ("one service", rates(6, |row| (row == 1).then_some(row))),
        ("failures only", rates(6, |_| None)),
        ("one round", rates(1, Some)),
        ("batches with a clear winner", times(6, Some)),
        ("batches of which nothing is separable", times(6, |_| Some(0))),
        ("batches of one service", times(6, |row| (row == 2).then_some(row))),
        ("batches of failures only", times(6, |_| None)),
        ("batches of one round", times(1, Some)),
    ];
    assert_snapshot!(answers.map(|(name, answer)| format!("{name}: {answer}")).join("\n"));
}

#[test]
fn a_series_tells_how_its_experiments_fared() {
    let folder = tempfile::tempdir().unwrap();
    let grid = complete("restinio-2017", 0.1);
    let run = folder.path().join("restinio-2017");
    let mut journal = RunFolder::create(&run, &grid.header).unwrap();
    grid.records.iter().for_each(|record| journal.append(record).unwrap());
    let head = r#"{"format": "2.0", "title": "All of them", "members": ["restinio-2017", "abstract-2018"]}"#;
    std::fs::write(folder.path().join("series.json"), head).unwrap();
    let told = || {
        let found = crate::gather::gather(folder.path()).unwrap();
        assert_eq!(found.check(), Vec::<String>::new());
        found
    };
    let found = told();
    assert_snapshot!("series", text(&found));
    assert_eq!(found.status, Status::CutOff);
    let check = found.checks.iter().find(|check| check.name == "restinio-2017: restbed").unwrap();
    assert_eq!(check.verdict, Verdict::LeftOut(Absence::NotOnThisMachine), "{check:?}");
    let last = found.checks.last().unwrap();
    assert_eq!((last.name.as_str(), last.verdict), ("abstract-2018: complete", Verdict::Unfinished));
    // The second round begins.
    let grid = complete("abstract-2018", 0.1);
    let mut journal = RunFolder::create(&folder.path().join("abstract-2018"), &grid.header).unwrap();
    grid.records[..3].iter().for_each(|record| journal.append(record).unwrap());
    assert_eq!(told().status, Status::Running);
    drop(journal);
    assert_eq!(told().status, Status::CutOff);
}

#[test]
fn what_is_damaged_in_a_series_is_told_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let grid = complete("restinio-2017", 0.1);
    for name in ["torn", "older", "other-kind"] {
        let mut header = grid.header.clone();
        if name == "older" {
            header.format = "0.9".to_owned();
        }
        let mut journal = RunFolder::create(&folder.path().join(name), &header).unwrap();
        grid.records.iter().for_each(|record| journal.append(record).unwrap());
    }
    let torn = folder.path().join("torn/journal.ndjson");
    let text = std::fs::read_to_string(&torn).unwrap();
    std::fs::write(torn, text.replacen("{\"sample\":", "{\"sam", 1)).unwrap();
    std::fs::write(
        folder.path().join("other-kind/run.json"),
        serde_json::to_string(&tare_bench::fixture::compared()).unwrap(),
    )
    .unwrap();
    let outside = folder.path().join("torn");
    let names = ["torn", "older", "other-kind", "../../x", outside.to_str().unwrap()];
    let head = serde_json::json!({"format": "2.0", "title": "T", "members": names});
    std::fs::write(folder.path().join("series.json"), head.to_string()).unwrap();
    let found = crate::gather::gather(folder.path()).unwrap();
    assert_eq!(found.check(), Vec::<String>::new());
    let told = found.damage.join("\n").replace(&folder.path().display().to_string(), "FOLDER");
    assert_snapshot!("damage-in-a-series", told);
    assert_eq!(found.sections[0].table.as_ref().unwrap().rows.len(), 3);
    assert_eq!(found.status, Status::CutOff);
}

/// Records of another plan than the stored one, as in a folder that was assembled by hand.
#[test]
fn records_that_the_plan_does_not_have_are_left_out() {
    let mut grid = complete("simple-web-server-2019", 0.1);
    let folder = tempfile::tempdir().unwrap();
    let mut journal = RunFolder::create(folder.path(), &grid.header).unwrap();
    for record in &mut grid.records {
        if let Record::Sample(sample) = record {
            sample.row += 100;
        }
        journal.append(record).unwrap();
    }
    let found = crate::gather::gather(folder.path()).unwrap();
    assert!(found.whole_answer().contains("No service has a figure."), "{}", found.whole_answer());
    assert!(
        found.damage[0].ends_with("it names a row or a point that the plan does not have"),
        "{:?}",
        found.damage
    );
}

#[test]
fn a_plan_whose_points_name_rows_that_it_lacks_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut grid = complete("simple-web-server-2019", 0.1);
    grid.header.plan.points[0].rows.push(99);
    RunFolder::create(folder.path(), &grid.header).unwrap();
    let found = crate::gather::gather(folder.path()).unwrap();
    let told = "run.json cannot be understood: a point names row 99 of ";
    assert!(found.damage.iter().any(|damage| damage.contains(told)), "{:?}", found.damage);
}

/// The deciding comparison of a claim, for a run in which a row is as fast as another.
fn decided(claim: &str, as_row: fn(usize) -> usize) -> String {
    let grid = kept("restinio-2017", 1.0, |plan, cell| Sample {
        row: cell.row,
        ..measured(plan, Slot { row: as_row(cell.row), ..cell })
    });
    let section = told(&grid).sections.into_iter().find(|section| section.id == "claims").unwrap();
    let table = section.table.unwrap();
    let named = table.values("id").zip(table.values("evidence"));
    let found = named.into_iter().find(|(id, _)| id.text() == Some(claim)).unwrap();
    found.1.text().unwrap().split_once(": ").unwrap().1.to_owned()
}

#[test]
fn a_claim_is_said_in_direction_and_size_beside_the_published_figure() {
    let as_it_is = decided("cpprestsdk", |row| row);
    assert_eq!(as_it_is, "as published: slower; published 12.2x, here 2.25x (2.25 .. 2.25x)");
    let others = decided("cpprestsdk", |row| if row == 5 { 1 } else { row });
    assert_eq!(others, "published 12.2x slower, here 2.25x faster (2.25 .. 2.25x)");
    let same = decided("cpprestsdk", |row| if row == 5 { 3 } else { row });
    assert_eq!(same, "direction inconclusive; published 0.082x, here 1.00x");
}

/// In the tables of claims and of comparisons, and so in every chart of them.
#[test]
fn what_rests_on_weak_evidence_is_never_painted_as_a_refutation() {
    let mut weak = 0;
    for name in ALL {
        let document = told(&complete(name, 0.1));
        let tables =
            document.sections.iter().filter(|section| ["claims", "evidence"].contains(&section.id.as_str()));
        for value in
            tables.filter_map(|section| section.table.as_ref()).flat_map(|table| table.rows.iter().flatten())
        {
            if let Value::Word(word, tone) = value
                && word.contains("weak")
            {
                assert_eq!(*tone, Tone::Open, "{name}: {word}");
                weak += 1;
            }
        }
    }
    assert!(weak > 10, "{weak}");
}
