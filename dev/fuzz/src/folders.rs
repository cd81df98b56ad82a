//! An untrusted run folder.

use std::path::Path;

use tare_base::latency::Histogram;
use tare_report::{
    Document,
    exports::Exported,
    gather,
    write::{csv, exports, html, json, junit, markdown, text},
};

use crate::{parts, scratch};

/// `run.json` and the journal: every format of the report is written, and none passes a control character of
/// the folder to a terminal.
pub(crate) fn run(input: &[u8]) {
    let [head, journal] = parts(input);
    let path = scratch::file("run/run.json", head);
    scratch::file("run/journal.ndjson", journal);
    let folder = scratch::above(&path, 1);
    if let Ok(document) = gather::gather(folder) {
        every_form(&document);
    }
    exported(folder);
}

fn every_form(document: &Document) {
    let shown = text::whole(document, text::TextLook::default());
    let control = shown.chars().find(|character| character.is_control() && *character != '\n');
    assert_eq!(control, None, "a control character in text");
    let _ = (json::json(document), markdown::markdown(document), junit::junit(document), csv::csv(document));
    html::html(document).expect("a page can be written");
}

fn exported(folder: &Path) {
    if let Ok(exported) = Exported::read(folder) {
        let _ = exports::openmetrics::openmetrics(&exported);
    }
}

/// Two stored histograms: parsed histograms can be added and queried.
pub(crate) fn histogram(input: &[u8]) {
    // The bytes of a histogram contain zeros, so the first two bytes give the start of the second.
    let Some((length, bytes)) = input.split_at_checked(2) else { return };
    let length = usize::from(length[0]) * 256 + usize::from(length[1]);
    let (first, second) = bytes.split_at(length.min(bytes.len()));
    let Ok(mut sum) = Histogram::deserialize(first) else { return };
    if let Ok(second) = Histogram::deserialize(second) {
        sum.merge(&second);
    }
    let (p50, p99) = (sum.quantile_ns(0.5), sum.quantile_ns(0.99));
    assert!(p50 <= p99 && p99 <= sum.max_ns().max(p99));
    assert!(sum.mean_ns().is_finite() && sum.stdev_ns().is_none_or(f64::is_finite));
    assert_eq!(Histogram::deserialize(&sum.serialize()).expect("its own bytes").count(), sum.count());
    sum.write_hgrm(&mut std::io::sink()).expect("a sink takes everything");
}
