//! Documents of simulated machines.

use std::path::{Path, PathBuf};

use tare_report::{
    document::{Table, Value},
    write::{csv, html, json, markdown, text},
};

use super::*;
use crate::{
    Certified, Merged, RunBundle,
    fixture::{self, Simulated, five},
};

fn laid_out(bundles: Vec<RunBundle>) -> Document {
    document(&Merged::of(bundles).unwrap(), Vec::new())
}

fn of(runs: &[Simulated]) -> Document {
    laid_out(runs.iter().map(Simulated::bundle).collect())
}

fn table<'d>(document: &'d Document, id: &str) -> &'d Table {
    document.sections.iter().find(|section| section.id == id).unwrap().table.as_ref().unwrap()
}

fn cells<'d>(document: &'d Document, id: &str, key: &str) -> Vec<&'d Value> {
    table(document, id).values(key).collect()
}

fn look() -> text::TextLook {
    text::TextLook { width: Some(150), colours: false, ascii: false }
}

#[test]
fn the_answer_has_the_mean_its_interval_and_the_classes() {
    let runs: Vec<Simulated> =
        five().into_iter().map(|run| Simulated { rows: vec![run.rows[1]], ..run }).collect();
    insta::assert_snapshot!(of(&runs).answer);
    insta::assert_snapshot!(of(&five()).answer);
}

#[test]
fn the_document_as_text() {
    insta::assert_snapshot!(text::whole(&of(&five()), look()));
}

#[test]
fn one_machine_alone_is_said_so() {
    let document = of(&five()[..1]);
    insta::assert_snapshot!(text::brief(&document, look()));
    assert_eq!(document.checks[0].verdict, Verdict::Inconclusive);
    let low = cells(&document, "pooled", "throughput_of_reference_low");
    assert!(low.iter().all(|value| **value == Value::None), "no interval over machines: {low:?}");
    assert!(
        document
            .sections
            .iter()
            .all(|section| section.id != "leave-one-out" && section.id != "heterogeneity")
    );
}

#[test]
fn what_is_left_out_stands_with_its_reason() {
    let mut bundles: Vec<RunBundle> = five().iter().map(Simulated::bundle).collect();
    bundles[3].certified = Certified::Failed(vec!["twins".to_owned()]);
    let document = laid_out(bundles);
    insta::assert_snapshot!(markdown::section(
        document.sections.iter().find(|section| section.id == "left-out").unwrap()
    ));
    assert!(document.basis.ends_with("1 machine is left out, with its reason."), "{}", document.basis);
    assert_eq!(document.checks[0].text, "4 of 5 machines count");
}

#[test]
fn where_every_machine_is_left_out_there_is_no_figure() {
    let mut bundles: Vec<RunBundle> = five().iter().map(Simulated::bundle).collect();
    bundles.iter_mut().for_each(|bundle| bundle.certified = Certified::OfAnotherMachine);
    let document = laid_out(bundles);
    assert_eq!(document.answer, "Nothing can be said: every machine is left out.");
    assert_eq!(document.checks[0].verdict, Verdict::Invalid);
    for form in
        [text::whole(&document, look()), markdown::markdown(&document), html::html(&document).unwrap()]
    {
        assert!(form.contains("of another machine"), "{form}");
    }
}

#[test]
fn every_form_of_it_can_be_written_and_fits_the_schema() {
    let document = of(&five());
    let schema = serde_json::from_str(json::SCHEMA).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let value = serde_json::from_str(&json::json(&document)).unwrap();
    let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(csv::csv(&document).len() >= 8);
    let page = html::html(&document).unwrap();
    assert!(page.contains("axum") && page.contains("mean of all machines"));
    // The columns that a chart names exist.
    for section in &document.sections {
        for chart in &section.charts {
            let table = section.table.as_ref().unwrap();
            let keys = [Some(&chart.x), Some(&chart.y), chart.n.as_ref()].into_iter().flatten();
            let keys = keys.chain(chart.band.iter().flatten()).chain(chart.only.iter().map(|only| &only[0]));
            for key in keys {
                assert!(table.place(key).is_some(), "{key}");
            }
        }
    }
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn stored(folder: &Path, runs: &[Simulated]) -> Vec<PathBuf> {
    let path = |run: &Simulated| {
        let path = folder.join(format!("{}-{}", run.machine, run.seed));
        fixture::write(&run.stored(), &path).unwrap();
        path
    };
    runs.iter().map(path).collect()
}

/// One experiment with three seeds on three machines. Order and place of the bundles do not matter.
#[test]
fn merged_is_the_same_to_the_last_digit_in_any_order_of_arrival_and_anywhere() {
    let runs = [
        Simulated::new("a", "x86_64", 1, 0.66),
        Simulated::new("b", "x86_64", 2, 0.67),
        Simulated::new("d", "aarch64", 4, 0.60),
    ];
    let here = tempfile::tempdir().unwrap();
    let places = stored(here.path(), &runs);
    let first = json::json(&machines(&places).unwrap());
    assert!(first.contains("\"mean of all machines\""));
    for order in ORDERS {
        let places = order.map(|place| places[place].clone());
        assert_eq!(json::json(&machines(&places).unwrap()), first, "{order:?}");
    }
    // Each bundle in a folder of its own, as jobs deliver them, and all in one folder.
    let elsewhere = tempfile::tempdir().unwrap();
    for (place, run) in runs.iter().enumerate() {
        fixture::write(&run.stored(), &elsewhere.path().join(format!("job-{}/run", 9 - place))).unwrap();
    }
    assert_eq!(json::json(&machines(&[elsewhere.path().to_owned()]).unwrap()), first);
    // Adding a known run again changes no figure.
    let again = machines(&[elsewhere.path().to_owned(), places[0].clone()]).unwrap();
    assert_eq!(json::json(&Document { notes: machines(&places).unwrap().notes, ..again }), first);
}

/// The same on one machine with three seeds, which is one observation.
#[test]
fn three_seeds_of_one_machine_are_the_same_in_any_order() {
    let runs = [1, 2, 3].map(|seed| Simulated::new("a", "x86_64", seed, 0.66));
    let here = tempfile::tempdir().unwrap();
    let places = stored(here.path(), &runs);
    let first = json::json(&machines(&places).unwrap());
    for order in ORDERS {
        assert_eq!(
            json::json(&machines(&order.map(|place| places[place].clone())).unwrap()),
            first,
            "{order:?}"
        );
    }
    assert!(first.contains("Nothing is pooled: one machine counts."));
}

#[test]
fn what_cannot_be_read_is_named() {
    let here = tempfile::tempdir().unwrap();
    let mut places = stored(here.path(), &five()[..2]);
    places.push(here.path().join("gone"));
    let document = machines(&places).unwrap();
    assert!(
        document.damage[0].ends_with("gone: is no run folder, and there is none in it"),
        "{:?}",
        document.damage
    );
    let nothing = machines(&places[2..]).unwrap_err().to_string();
    assert!(
        nothing.starts_with("there is no run to merge: ") && nothing.contains("gone: is no run folder"),
        "{nothing}"
    );
}
