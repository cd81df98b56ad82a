//! A badge for a README: the figure, its interval, and the rank with the number of others. As a picture, and
//! as JSON for shields.io (its "endpoint" badge).

use askama::Template;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::{SiteError, address::slug, catalogue::ExperimentRuns, index::ranks, row::SiteRow, words::shown};
use tare_report::{document::Unit, write::File};

/// The approximate width of a letter, and that of a margin.
const LETTER_PX: usize = 7;
const MARGIN_PX: usize = 6;

#[derive(Template)]
#[template(path = "site/badge.svg", escape = "xml")]
struct Badge<'a> {
    label: &'a str,
    message: &'a str,
    label_px: usize,
    message_px: usize,
}

impl Badge<'_> {
    fn all_px(&self) -> usize {
        self.label_px + self.message_px
    }

    fn middle_of_message(&self) -> usize {
        self.label_px + self.message_px / 2
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint<'a> {
    schema_version: u8,
    label: &'a str,
    message: &'a str,
    color: &'static str,
}

pub(super) fn path(experiment: &str, service: &str, end: &str) -> String {
    format!("badge/{}/{}.{end}", slug(experiment), slug(service))
}

/// `1.32x of raw-socket's CPU (1.30 .. 1.33x), rank 1`; `None` for a service without an interval.
pub(super) fn message(row: &SiteRow) -> Option<String> {
    let figure = row.cost().filter(|figure| figure.ends().is_some() && !row.is_reference)?;
    let rank = row.ranks.map_or(String::new(), |place| format!(", rank {}", ranks(place)));
    Some(format!("{}{rank}", shown(figure, Unit::Times)))
}

pub(super) fn of_experiment(experiment: &ExperimentRuns<'_>) -> Result<Vec<File>, SiteError> {
    let run = experiment.speaker();
    let ranked = run.rows.iter().filter(|row| row.ranks.is_some()).count();
    let with = if run.has_database() { ", with the database" } else { "" };
    let label = format!("CPU of {}{with}", run.reference);
    let mut files = Vec::new();
    // A run that is not sound has no badges.
    for row in run.rows.iter().filter(|_| run.is_sound()) {
        let Some(message) = message(row) else { continue };
        let message = if row.ranks.is_some() { format!("{message} of {ranked}") } else { message };
        let px = |text: &str| text.width() * LETTER_PX + 2 * MARGIN_PX;
        let badge =
            Badge { label: &label, message: &message, label_px: px(&label), message_px: px(&message) };
        let endpoint =
            Endpoint { schema_version: 1, label: &label, message: &message, color: "informational" };
        let json = serde_json::to_string(&endpoint).unwrap_or_default();
        let files_of = [("svg", badge.render()?), ("json", json)];
        files.extend(files_of.map(|(end, text)| File {
            name: path(experiment.name, &row.service, end),
            bytes: text.into_bytes(),
        }));
    }
    Ok(files)
}
