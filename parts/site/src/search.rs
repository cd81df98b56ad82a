//! The search index: names of experiments, services, languages and runs, with their addresses. It is a script
//! instead of JSON, because a page opened from disk may load only the former.

use super::{address::Address, catalogue::Catalogue};
use tare_report::write::File;
use tare_service::catalogue::language_name;

pub(super) fn index(site: &Catalogue<'_>) -> File {
    let experiments = site
        .experiments
        .values()
        .map(|one| (one.speaker().title.as_str(), "experiment", Address::Experiment(one.name)));
    let services = site.services.keys().map(|name| (*name, "service", Address::Service(name)));
    let languages = site.languages();
    let languages = languages.keys().map(|name| (language_name(name), "language", Address::Language(name)));
    let runs = site.runs.iter().map(|run| (run.id.as_str(), "run", Address::Run(&run.id)));
    let all = services.chain(languages).chain(experiments).chain(runs);
    let found: Vec<(&str, &str, String)> =
        all.map(|(name, kind, address)| (name, kind, address.path())).collect();
    // It contains only strings, which JSON can represent.
    let json = serde_json::to_string(&found).unwrap_or_default();
    File {
        name: "assets/search.js".to_owned(),
        bytes: format!("globalThis.tareSearch = {json};\n").into_bytes(),
    }
}
