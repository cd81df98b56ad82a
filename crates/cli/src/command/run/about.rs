//! Facts in a report besides the figures, collected while nothing is measured.

use std::collections::BTreeMap;

use tare_bench::{
    folder::{
        FORMAT,
        about::{About, Profile, RevisionNote},
    },
    plan::PlannedRow,
};
use tare_service::{
    catalogue::{Row, Service, Style},
    revisions,
    workspace::Workspace,
};

/// The command, the checkout, and the facts about the services of `rows`, which are planned as `planned`.
pub(super) fn about(workspace: &Workspace, rows: &[Row], planned: &[PlannedRow]) -> anyhow::Result<About> {
    // The folder of a command may be any folder: scanning it could take minutes, and says nothing about the
    // service. A server that is already running has none.
    let has_manifest = |row: &Row| !matches!(row.service.style, Style::Own | Style::Running);
    let built =
        rows.iter().zip(planned).filter(|(row, planned)| planned.content.is_some() && has_manifest(row));
    let (services, labels): (Vec<&Service>, Vec<String>) =
        built.map(|(row, planned)| (&row.service, planned.label.clone())).unzip();
    let aspects = match workspace.readers {
        Some(readers) => (readers.footprints)(workspace, &services)?,
        None => Vec::new(),
    };
    let revision = revisions::checked_out(&workspace.root).ok();
    let commit = revision.as_ref().map(|(commit, _)| commit.as_str());
    let profiles: Vec<Profile> = services.into_iter().map(|service| profile(service, commit)).collect();
    Ok(About {
        format: FORMAT.to_owned(),
        command: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        revision: revision.map(|(commit, changed)| RevisionNote { commit, changed }),
        profiles: labels.iter().cloned().zip(profiles).collect(),
        aspects: labels.into_iter().zip(aspects).collect::<BTreeMap<_, _>>(),
    })
}

fn profile(service: &Service, commit: Option<&str>) -> Profile {
    Profile {
        homepage: Some(service.url.clone()).filter(|url| !url.is_empty()),
        source: commit.and_then(|commit| revisions::shown_at(&service.folder, commit)),
        settings: service.settings.clone(),
        protocol: service.protocol,
    }
}
