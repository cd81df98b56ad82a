//! Settings of each service that are not the framework's defaults, with the reasons in its manifest.

use tare_bench::folder::about::About;
use tare_service::catalogue::Setting;

use super::columns::Columns;
use crate::document::Section;

const LEAD: &str = "What of each service is not its framework's default, and why.";

/// `None` for a run that stored none.
pub(crate) fn section<'a>(about: &About, labels: impl IntoIterator<Item = &'a str>) -> Option<Section> {
    let of = |label: &'a str| {
        let settings = about.profiles.get(label).into_iter().flat_map(|profile| &profile.settings);
        settings.map(move |setting| (label, setting))
    };
    let rows: Vec<(&str, &Setting)> = labels.into_iter().flat_map(of).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = Columns::new()
        .text("label", "service", |(label, _): &(&str, &Setting)| (*label).to_owned())
        .text("setting", "setting", |(_, setting)| setting.what.clone())
        .text("why", "why", |(_, setting)| setting.why.clone());
    Some(Section::new("settings", "Settings", LEAD, columns.table("Settings of the services", rows)))
}
