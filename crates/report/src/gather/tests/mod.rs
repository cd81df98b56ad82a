//! Documents of run folders of every kind.

mod changed;
pub(crate) mod golden;

use std::fs;

use proptest::prelude::*;
use serde_json::Value as Json;
use tare_bench::{
    folder::{
        StoredRun,
        about::{About, Profile, RevisionNote, keep_sent},
        service_folder,
    },
    record::{Block, EndedRun, Ending, Record},
    sample::Sample,
};
use tare_service::{
    catalogue::Setting,
    footprint::{Code, Dependencies, Footprint, FootprintSource, Licence},
    verify::{Field, SentAnswer, SentFraming},
};

use super::*;
use crate::{
    document::{Column, Status, Value},
    gather::fixture::{kept, kept_with_database, write},
};

/// A document as readable text for golden files: short tables, and formatted numbers.
fn outline(document: &Document, rows_max: usize) -> String {
    let mut out = format!(
        "# {}\n{}\nanswer: {}\nbasis: {}\nbegan {}, {:?}, {:?}\n",
        document.title,
        document.question,
        document.answer,
        document.basis,
        document.began,
        document.status,
        document.kind
    );
    let lines = |what: &str, lines: &[String]| -> String {
        lines.iter().map(|line| format!("{what}: {line}\n")).collect()
    };
    out += &lines("damage", &document.damage);
    out += &lines("note", &document.notes);
    for fact in &document.facts {
        out += &format!("{}: {}\n", fact.label, fact.text);
    }
    for section in &document.sections {
        out += &format!("\n## {} [{}]\n", section.title, section.id);
        out += &lines("note", &section.notes);
        for chart in &section.charts {
            out += &format!("chart {:?} {} over {}: {}\n", chart.shape, chart.y, chart.x, chart.alt);
        }
        let Some(table) = &section.table else { continue };
        let key =
            |column: &Column| if column.hidden { format!("({})", column.key) } else { column.key.clone() };
        let head: Vec<String> = table.columns.iter().map(key).collect();
        out += &format!("{}\n", head.join(" | "));
        for row in table.rows.iter().take(rows_max) {
            let cells = row.iter().zip(&table.columns).map(|(value, column)| value.show(column.unit));
            out += &format!("{}\n", cells.collect::<Vec<_>>().join(" | "));
        }
        out += &format!("({} rows)\n", table.rows.len());
    }
    out
}

fn folder(stored: &StoredRun) -> tempfile::TempDir {
    let run = tempfile::tempdir().unwrap();
    write(stored, run.path());
    run
}

fn sound(run: &Path) -> Document {
    let document = gather(run).unwrap();
    assert_eq!(document.check(), Vec::<String>::new());
    document
}

#[test]
fn a_run_as_a_document() {
    let run = folder(&kept(8));
    let document = sound(run.path());
    let ids: Vec<&str> = document.sections.iter().map(|section| section.id.as_str()).collect();
    let all = [
        "ranks",
        "cost",
        "equal-rate",
        "latency",
        "load",
        "slices",
        "warm-up",
        "memory",
        "start-up",
        "validity",
        "cpu-accounting",
        "missing",
        "pairs",
        "environment",
    ];
    assert_eq!(ids, all);
    insta::assert_snapshot!(outline(&document, 8));
}

/// Services that query a database have the database's figures beside their own, in every form.
#[test]
fn a_run_with_a_database_as_a_document() {
    let run = folder(&kept_with_database(8));
    let document = sound(run.path());
    let place = document.sections.iter().position(|section| section.id == "parts");
    assert_eq!(place, Some(1), "behind the ranks");
    let parts = &document.sections[1];
    let table = parts.table.as_ref().unwrap();
    let numbers = |key: &str| table.values(key).map(|value| value.number().unwrap()).collect::<Vec<f64>>();
    let stack = parts.charts[0].stack.as_ref().unwrap();
    let parts: Vec<Vec<f64>> = stack.iter().map(|key| numbers(key)).collect();
    for (row, total) in numbers("total_cpu_ns_per_request").iter().enumerate() {
        let sum: f64 = parts.iter().map(|part| part[row]).sum();
        assert!(
            (sum / total - 1.0).abs() < 1e-12,
            "row {row}: the parts of the bar are the figure of the whole"
        );
    }
    for id in ["equal-rate", "load"] {
        let section = document.sections.iter().find(|section| section.id == id).unwrap();
        assert!(section.table.is_some() && !section.charts.is_empty(), "{id}");
    }
    insta::assert_snapshot!(outline(&document, 8));
}

/// Sections that every run may have, and that are neither present nor listed as missing.
fn missing(document: &Document) -> Vec<&'static str> {
    let all = [
        "Cost and throughput",
        "Latency",
        "Latency against load",
        "Slices",
        "Warm-up",
        "Memory",
        "Start-up",
        "Footprint",
        "Bytes on the wire",
        "Validity",
        "CPU accounting",
        "Environment",
    ];
    let absent = document.sections.iter().filter(|section| section.id == "missing");
    let absent: Vec<&Value> =
        absent.filter_map(|section| section.table.as_ref()).flat_map(|table| table.values("what")).collect();
    let told = |title: &str| document.sections.iter().any(|section| section.title == title);
    let is_named = |title: &str| absent.iter().any(|value| value.text() == Some(title));
    all.into_iter().filter(|title| told(title) == is_named(title)).collect()
}

/// An old run, from before CPU accounting, footprint and answers were stored, has one section that says so,
/// and no empty one.
#[test]
fn what_a_run_does_not_tell_is_named_in_one_section() {
    let mut stored = kept(8);
    stored.header.plan.points.truncate(1);
    for record in &mut stored.records {
        match record {
            Record::Sample(slice) => slice.host.accounting = None,
            Record::Stopped(stopped) => stopped.latency.truncate(1),
            _ => {}
        }
    }
    stored.records.retain(|record| {
        !matches!(record, Record::Pilot(_)) && !matches!(record, Record::Sample(of) if of.is_open())
    });
    let document = sound(folder(&stored).path());
    assert!(document.sections.iter().all(|section| section.table.is_some()));
    let absent = document.sections.iter().find(|section| section.id == "missing").unwrap();
    let named: Vec<&str> = absent.table.as_ref().unwrap().values("what").filter_map(Value::text).collect();
    assert_eq!(
        named,
        [
            "Cost at equal rates",
            "Latency against load",
            "Warm-up",
            "Footprint",
            "Bytes on the wire",
            "CPU accounting"
        ]
    );
    assert_eq!(missing(&document), Vec::<&str>::new());
}

/// The answer for a run with this change.
fn answer_of(change: impl FnOnce(&mut StoredRun)) -> String {
    let mut stored = kept(8);
    change(&mut stored);
    sound(folder(&stored).path()).whole_answer()
}

fn slices<'a>(stored: &'a mut StoredRun, label: &str) -> impl Iterator<Item = &'a mut Sample> {
    let row = stored.header.plan.rows.iter().position(|row| row.label == label).unwrap();
    stored.records.iter_mut().filter_map(move |record| match record {
        Record::Sample(slice) if slice.row == row => Some(&mut **slice),
        _ => None,
    })
}

/// Keeps only these rows, as if the others had never been planned.
fn only(stored: &mut StoredRun, rows: &[&str]) {
    let old: Vec<String> = stored.header.plan.rows.iter().map(|row| row.label.clone()).collect();
    stored.header.plan.rows.retain(|row| rows.contains(&row.label.as_str()));
    let left = stored.header.plan.rows.len();
    stored.header.plan.points.iter_mut().for_each(|point| point.rows = (0..left).collect());
    let plan = &stored.header.plan;
    // The new index of a row.
    let moved = |row: &mut usize| {
        let new = plan.rows.iter().position(|planned| planned.label == old[*row]);
        new.map(|new| *row = new).is_some()
    };
    stored.records.retain_mut(|record| match record {
        Record::Pilot(of) => moved(&mut of.row),
        Record::Started(of) => moved(&mut of.row),
        Record::Sample(of) => moved(&mut of.row),
        Record::Discarded(of) => moved(&mut of.row),
        Record::Stopped(of) => moved(&mut of.row),
        Record::Failed(of) => moved(&mut of.row),
        Record::Block(of) => {
            of.order.retain_mut(|row| moved(row));
            true
        }
        Record::Ended(_) => true,
    });
}

/// Multiplies the answers of a row.
fn scale(stored: &mut StoredRun, row: &str, factor: f64) {
    for slice in slices(stored, row) {
        for count in [&mut slice.load.sent, &mut slice.load.answered, &mut slice.load.answered_in_window] {
            *count = (*count as f64 * factor) as u64;
        }
        slice.load.service_time_ns_mean = slice.load.in_flight_ns / slice.load.answered;
    }
}

fn few_blocks(stored: &mut StoredRun) {
    stored.records.retain(|record| !matches!(record, Record::Sample(slice) if slice.block > 0));
}

fn without_end(stored: &mut StoredRun) {
    stored.records.retain(|record| !matches!(record, Record::Ended(_)));
}

#[test]
fn the_answer_is_a_sentence_that_claims_no_more_than_the_data() {
    type Change = fn(&mut StoredRun);
    let cases: [(&str, Change); 17] = [
        ("a tie with the reference", |_| {}),
        ("faster than the reference", |stored| scale(stored, "asio", 1.3)),
        ("two ahead of the reference", |stored| {
            scale(stored, "asio", 1.3);
            scale(stored, "axum", 1.3 / 0.7);
        }),
        ("all behind the reference", |stored| scale(stored, "asio", 0.9)),
        ("two next to the reference", |stored| {
            scale(stored, "asio", 0.7);
        }),
        ("nothing separable", |stored| only(stored, &["raw-socket", "asio"])),
        ("the reference alone is first", |stored| {
            only(stored, &["raw-socket", "axum"]);
        }),
        ("few blocks", few_blocks),
        ("few blocks without a reference", |stored| {
            few_blocks(stored);
            stored.header.plan.reference = Some("gone".to_owned());
        }),
        ("one service", |stored| only(stored, &["raw-socket"])),
        ("one with figures", |stored| only(stored, &["axum", "dying", "absent"])),
        ("failures only", |stored| only(stored, &["dying", "absent"])),
        ("no blocks", |stored| {
            stored.records.retain(|record| matches!(record, Record::Pilot(_)));
            stored.header.plan.rows.retain(|row| row.excluded.is_none());
            let left = stored.header.plan.rows.len();
            stored.header.plan.points.iter_mut().for_each(|point| point.rows = (0..left).collect());
        }),
        ("no services", |stored| only(stored, &[])),
        ("no reference", |stored| stored.header.plan.reference = Some("gone".to_owned())),
        ("a doubtful throughput", |stored| {
            slices(stored, "axum").for_each(|slice| {
                (slice.host.server_cpu_ns, slice.host.generator_cpu_ns) = (50_000_000, 99_000_000)
            });
        }),
        ("cut off", without_end),
    ];
    let answers = cases.map(|(name, change)| format!("{name}: {}", answer_of(change)));
    let begins = |answer: &String| {
        answer.split_once(": ").is_some_and(|(_, said)| said.starts_with(char::is_uppercase))
    };
    assert!(answers.iter().all(begins), "one begins with the name of a service: {answers:?}");
    insta::assert_snapshot!(answers.join("\n"));
}

/// For the row of a label in the main table, its rank and the two flags that determine how it is drawn.
fn drawn_by(document: &Document, label: &str) -> [Value; 3] {
    let table = document.sections[0].table.as_ref().unwrap();
    let place = table.values("label").position(|value| value.text() == Some(label)).unwrap();
    ["ranks", "is_reference", "is_tied_to_next"].map(|key| table.values(key).nth(place).unwrap().clone())
}

#[test]
fn references_have_no_rank_and_those_that_are_tied_are_marked() {
    let mut tied = kept(8);
    scale(&mut tied, "asio", 0.7);
    let document = sound(folder(&tied).path());
    let (yes, no) = (Value::Flag(true), Value::Flag(false));
    assert_eq!(drawn_by(&document, "raw-socket"), [Value::None, yes.clone(), Value::None]);
    assert_eq!(drawn_by(&document, "asio"), ["1-2".into(), no.clone(), yes]);
    assert_eq!(drawn_by(&document, "axum"), ["1-2".into(), no.clone(), no.clone()]);
    assert_eq!(drawn_by(&document, "<flask>"), ["3".into(), no.clone(), Value::None]);
    let pairs = document.sections.iter().find(|section| section.id == "not-separated").unwrap();
    assert_eq!(pairs.table.as_ref().unwrap().rows.len(), 1);
    let [lead, note] = [&document.sections[0].lead, &document.sections[0].notes[0]];
    assert!(lead.contains("References") && note.contains("2 of 3 pairs of ranked rows"), "{lead} {note}");

    let mut alone = kept(8);
    only(&mut alone, &["raw-socket", "asio"]);
    let document = sound(folder(&alone).path());
    assert_eq!(drawn_by(&document, "raw-socket")[1], no);
    assert!(!document.sections[0].lead.contains("References"), "{}", document.sections[0].lead);
}

/// With few blocks or a single service there are no ranks, and no heading mentions them.
#[test]
fn a_heading_names_ranks_only_where_they_are_known() {
    let heading = |change: fn(&mut StoredRun)| {
        let mut stored = kept(8);
        change(&mut stored);
        let section = sound(folder(&stored).path()).sections.swap_remove(0);
        let table = section.table.unwrap();
        let is_shown = |key: &str| table.columns.iter().any(|column| column.key == key && !column.hidden);
        (section.id, section.title, is_shown("ranks"))
    };
    let told = |title: &str, ranked| ("ranks".to_owned(), title.to_owned(), ranked);
    assert_eq!(heading(|_| {}), told("Ranks", true));
    assert_eq!(heading(few_blocks), told("Services", false));
    assert_eq!(heading(|stored| only(stored, &["raw-socket"])), told("Services", false));
    assert_eq!(heading(|stored| only(stored, &["dying"])), told("Services", false));
}

#[test]
fn what_a_user_stopped_says_so() {
    let answer = answer_of(|stored| {
        without_end(stored);
        stored.records.push(Record::Ended(EndedRun { reason: Ending::Interrupted, elapsed_ns: 1 }));
    });
    assert!(
        answer.starts_with(
            "Undecided after 8 blocks: the run was interrupted. So far: The cheapest framework is asio: "
        ),
        "{answer}"
    );
}

#[test]
fn a_run_that_somebody_measures_goes_on_whatever_it_was_before() {
    let run = folder(&kept(8));
    journal(run.path(), |text| {
        let end = text.trim_end().rfind('\n').unwrap();
        let interrupted = Record::Ended(EndedRun { reason: Ending::Interrupted, elapsed_ns: 1 });
        let more = Record::Block(Block { block: 8, elapsed_ns: 2, ..Block::default() });
        let lines = [interrupted, more].map(|record| serde_json::to_string(&record).unwrap() + "\n");
        format!("{}\n{}", &text[..end], lines.concat())
    });
    let told = || {
        let document = sound(run.path());
        let took = document.facts.iter().find(|fact| fact.label == "Took").unwrap();
        assert_eq!(took.text, document.status.text());
        (document.status, document.notes.join("\n"), document.checks.last().unwrap().text.clone())
    };
    let (status, notes, check) = told();
    assert_eq!((status, check.as_str()), (Status::CutOff, "the run did not come to its end"), "{notes}");
    let writer = fs::OpenOptions::new().append(true).open(run.path().join("journal.ndjson")).unwrap();
    writer.lock().unwrap();
    let (status, notes, check) = told();
    assert_eq!((status, check.as_str()), (Status::Running, "the run is in progress"));
    assert!(notes.contains("the run is in progress: ") && !notes.contains("cut off, or"), "{notes}");
}

/// The messages about a folder, and the sections with a table.
fn told(run: &Path) -> String {
    let document = match gather(run) {
        Ok(document) => document,
        Err(error) => {
            return format!("error: {}", error.to_string().replace(&run.display().to_string(), "RUN"));
        }
    };
    assert_eq!(document.check(), Vec::<String>::new());
    let with: Vec<&str> = document
        .sections
        .iter()
        .filter(|section| section.table.is_some())
        .map(|section| section.id.as_str())
        .collect();
    format!(
        "{} ({:?}, {})\n  {}\n  damage: {}\n  with: {}",
        document.title,
        document.status,
        document.began,
        document.answer,
        document.damage.join("\n          "),
        with.join(" ")
    )
    .trim_end()
    .to_owned()
}

fn edit(run: &Path, change: impl FnOnce(&mut Json)) {
    let path = run.join("run.json");
    let mut head: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut head);
    fs::write(path, head.to_string()).unwrap();
}

fn journal(run: &Path, change: impl FnOnce(String) -> String) {
    let path = run.join("journal.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, change(text)).unwrap();
}

#[test]
fn what_can_be_shown_of_a_damaged_folder_is_shown() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 13] = [
        ("a damaged line", |run| journal(run, |text| text.replacen("{\"sample\":", "{\"sam\u{0}", 2))),
        ("a line that was cut", |run| journal(run, |text| text[..text.len() * 3 / 4].to_owned())),
        ("binary rubbish", |run| fs::write(run.join("journal.ndjson"), [0xff, 0xfe, 10, 0, 10]).unwrap()),
        ("no journal", |run| fs::remove_file(run.join("journal.ndjson")).unwrap()),
        ("no histograms", |run| fs::remove_dir_all(run.join("histograms")).unwrap()),
        ("a damaged histogram", |run| {
            fs::write(run.join("histograms/axum/block-003.hgrm-v2"), b"no").unwrap()
        }),
        ("damage beside figures", |run| fs::write(run.join("about.json"), b"{\"format\":").unwrap()),
        ("a newer minor format", |run| {
            edit(run, |head| {
                head["format"] = "2.9".into();
                head["plan"]["mood"] = 1.into();
                head["plan"]["rows"][0]["colour"] = "red".into();
            });
            journal(run, |text| text.replace("{\"block\":{", "{\"block\":{\"colour\":1,"));
        }),
        ("a newer major format", |run| edit(run, |head| head["format"] = "3.0".into())),
        ("an older format", |run| edit(run, |head| head["format"] = "0.9".into())),
        ("another order", |run| edit(run, |head| head["plan"]["order"] = "orbital".into())),
        ("a plan that lacks something", |run| {
            edit(run, |head| drop(head["plan"].as_object_mut().unwrap().remove("seed")));
        }),
        ("half a head", |run| fs::write(run.join("run.json"), b"{\"format\":\"2.0\",\"pl").unwrap()),
    ];
    let told = cases.map(|(name, damage)| {
        let run = folder(&kept(8));
        damage(run.path());
        format!("{name}: {}", told(run.path()))
    });
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn a_kept_table_that_differs_is_a_note() {
    let run = folder(&kept(8));
    let mut report = sound(run.path());
    let keep = |report: &Document| {
        fs::write(run.path().join("report.json"), crate::write::json::json(report)).unwrap();
    };
    let note = || sound(run.path()).notes.into_iter().find(|note| note.contains("has other figures"));
    assert_eq!(note(), None, "there is none");
    keep(&report);
    assert_eq!(note(), None, "it is the same");
    let table = report.sections[0].table.as_mut().unwrap();
    let place = table.place("blocks").unwrap();
    table.rows[0][place] = 7_u64.into();
    keep(&report);
    assert_eq!(
        note().unwrap(),
        "computed from the records; the report that tare 0.1.0 stored has other figures: section \"ranks\": row 1, \"blocks\" \
         was 7 and is 8"
    );
    let writer = fs::OpenOptions::new().append(true).open(run.path().join("journal.ndjson")).unwrap();
    writer.lock().unwrap();
    assert_eq!(note(), None, "it is another table as long as the run goes on");
    drop(writer);
    journal(run.path(), |text| text + "{");
    assert_eq!(note(), None, "damage is reported as such");
}

#[test]
fn what_is_no_run_folder_is_an_error_that_says_what_it_is() {
    let run = tempfile::tempdir().unwrap();
    let mut told = vec![format!("empty: {}", super::tests::told(run.path()))];
    told.push(format!("gone: {}", super::tests::told(&run.path().join("gone"))));
    fs::write(run.path().join("notes.txt"), "x").unwrap();
    told.push(format!("another folder: {}", super::tests::told(run.path())));
    told.push(format!("a file: {}", super::tests::told(&run.path().join("notes.txt"))));
    fs::write(run.path().join("series.json"), "{}").unwrap();
    told.push(format!("an empty series: {}", super::tests::told(run.path())));
    let member = run.path().join("first");
    fs::create_dir(&member).unwrap();
    write(&kept(1), &member);
    let series = gather(run.path()).unwrap_err();
    assert!(matches!(series, GatherError::Series { members, .. } if members == [member]));
    let told = told.join("\n").replace(&run.path().display().to_string(), "RUN");
    insta::assert_snapshot!(told);
}

#[test]
fn a_journal_that_was_cut_anywhere_gives_a_sound_document() {
    let run = folder(&kept(6));
    let whole = fs::read(run.path().join("journal.ndjson")).unwrap();
    for cut in 0..20 {
        fs::write(run.path().join("journal.ndjson"), &whole[..whole.len() * cut / 20]).unwrap();
        let document = sound(run.path());
        assert_eq!(document.status, Status::CutOff);
        assert_eq!(missing(&document), Vec::<&str>::new());
    }
}

#[test]
fn footprints_and_answers_are_shown_if_the_run_kept_them() {
    let run = folder(&kept(6));
    let licence =
        Licence { spdx: "MIT".to_owned(), source: FootprintSource::Cargo, stated: None, contradiction: None };
    let aspects = Footprint {
        licence,
        dependencies: Dependencies { direct: Some(3), total: Some(40) },
        code: Some(Code { lines: 70, languages: [("Rust".to_owned(), 70)].into() }),
        artefact_bytes: Some(3 << 20),
        build: None,
        sources: Vec::new(),
        release: None,
        measured: None,
    };
    let (what, why) = ("TCP_NODELAY".to_owned(), "an answer waits for nothing".to_owned());
    let setting = Setting { what, why, database: None };
    let profile = Profile {
        homepage: Some("https://example.org/axum".to_owned()),
        source: Some("javascript:alert(1)".to_owned()),
        settings: vec![setting],
        ..Profile::default()
    };
    let about = About {
        format: tare_bench::folder::FORMAT.to_owned(),
        command: ["run", "a b.toml", "--budget", "10s"].map(str::to_owned).to_vec(),
        revision: Some(RevisionNote { commit: "abc123".to_owned(), changed: true }),
        aspects: [("axum".to_owned(), aspects)].into(),
        profiles: [("axum".to_owned(), profile)].into(),
    };
    about.keep(run.path()).unwrap();
    let sent = SentAnswer {
        request: "hello".to_owned(),
        status_line: "HTTP/1.1 200 OK".to_owned(),
        headers: vec![Field { name: "Date".to_owned(), value: "now".to_owned(), varies: true }],
        framing: SentFraming::ContentLength,
        head_bytes: 60,
        body_bytes: 13,
        total_bytes: 73,
    };
    fs::create_dir_all(service_folder(run.path(), "axum")).unwrap();
    keep_sent(run.path(), "axum", "hello", &[sent]).unwrap();
    let mut document = sound(run.path());
    document.sections.retain(|section| ["footprint", "wire", "settings"].contains(&section.id.as_str()));
    document.notes.clear();
    insta::assert_snapshot!(outline(&document, 3));
}

proptest! {
    /// Whatever the counts of a run, its report can be written.
    #[test]
    fn every_document_of_any_counts_is_sound(
        blocks in 0_usize..8,
        counts in proptest::collection::vec((0_u64..3, 0_u64..3, 0_u64..3, any::<bool>()), 8),
        with_reference in any::<bool>(),
    ) {
        let mut stored = kept(blocks);
        if !with_reference {
            stored.header.plan.reference = Some("gone".to_owned());
        }
        let mut turn = counts.iter().cycle();
        for record in &mut stored.records {
            let Record::Sample(slice) = record else { continue };
            let (answers, cpu, time, has_books) = turn.next().unwrap();
            (slice.load.answered, slice.load.answered_in_window) = (slice.load.answered * answers, slice.load.answered_in_window * answers);
            (slice.host.server_cpu_ns, slice.host.generator_cpu_ns) = (slice.host.server_cpu_ns * cpu, slice.host.generator_cpu_ns * cpu);
            (slice.load.window_ns, slice.load.elapsed_ns) = (slice.load.window_ns * time, slice.load.elapsed_ns * time);
            slice.host.accounting = slice.host.accounting.filter(|_| *has_books);
        }
        let run = tempfile::tempdir().unwrap();
        let document = super::document(&stored, run.path());
        prop_assert_eq!(document.check(), Vec::<String>::new());
        prop_assert_eq!(missing(&document), Vec::<&str>::new());
        prop_assert!(document.answer.ends_with('.'));
    }
}
