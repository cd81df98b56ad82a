//! The ways out of a site: the measured code at its commit, the framework, the command, the repository.

use tare_bench::folder::about::quoted;
use tare_service::revisions;

use super::{RunEntry, SiteRow, SiteSettings, catalogue::Service, chart::escaped};

/// The letters of a commit that are shown.
const COMMIT_LETTERS: usize = 10;

/// The folder of a service's files in the repository: a protocol, a variant or a twin has those of its service.
fn folder(row: &SiteRow) -> String {
    let name = row.service.split(['+', ':', '@']).next().unwrap_or_default();
    match name {
        "raw-socket" => "crates/reference".to_owned(),
        name => format!("services/{}/{name}", row.language),
    }
}

/// The address of a service's files at the commit of a run.
pub(crate) fn code(run: &RunEntry, row: &SiteRow, settings: &SiteSettings) -> Option<String> {
    let from_site = || {
        let commit = run.commit.as_deref()?;
        revisions::folder_at(settings.source_url.as_deref()?, commit, &folder(row))
    };
    row.source.clone().or_else(from_site)
}

/// The address of all files at the commit of a run.
pub(crate) fn tree(run: &RunEntry, settings: &SiteSettings) -> Option<String> {
    revisions::folder_at(settings.source_url.as_deref()?, run.commit.as_deref()?, "")
}

/// `<a ...>code at 489edf3814</a>`, escaped; empty if its address is unknown.
pub(crate) fn code_link(run: &RunEntry, address: Option<&str>) -> String {
    let Some(address) = address else { return String::new() };
    let commit = run.commit.as_deref().unwrap_or_default();
    let commit: String = commit.chars().take(COMMIT_LETTERS).collect();
    let at = if commit.is_empty() { String::new() } else { format!(" at {commit}") };
    format!("<a href=\"{}\">code{}</a>", escaped(address), escaped(&at))
}

/// The command that measures these services as this run did.
pub(crate) fn command(run: &RunEntry, services: &[&str]) -> String {
    let services = match services {
        [] => String::new(),
        some => format!(" --services {}", quoted(&some.join(","))),
    };
    format!("tare run {}{services}", quoted(&run.experiment))
}

/// Links to a service's code, as this run measured it if it has the service, and to its framework.
pub(crate) fn links(service: &Service<'_>, by: Option<&RunEntry>, settings: &SiteSettings) -> Vec<String> {
    let own = service.places.iter().filter(|(run, _)| by.is_some_and(|by| by.id == run.id));
    let places = own.chain(&service.places);
    let code = places.into_iter().find_map(|(run, row)| Some((*run, code(run, row, settings)?)));
    let code = code.map(|(run, address)| code_link(run, Some(&address)));
    let homepage = service.places.iter().find_map(|(_, row)| row.homepage.as_deref());
    let homepage = homepage.map(|to| {
        let what = if service.framework.is_empty() { service.name } else { service.framework };
        format!("<a href=\"{}\">site of {}</a>", escaped(to), escaped(what))
    });
    code.into_iter().chain(homepage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(service: &str, language: &str) -> SiteRow {
        SiteRow { service: service.to_owned(), language: language.to_owned(), ..SiteRow::default() }
    }

    #[test]
    fn a_variant_has_the_files_of_its_service() {
        for name in ["restinio", "restinio:timers", "restinio+tls", "restinio@2"] {
            assert_eq!(folder(&row(name, "cpp")), "services/cpp/restinio");
        }
        assert_eq!(folder(&row("raw-socket", "rust")), "crates/reference");
    }
}
