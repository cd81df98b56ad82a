//! The rows to compare: two services of the catalogue, two folders, or two revisions of one folder.

use std::path::Path;

use anyhow::{Context, bail};
use tare_base::spelling::suggestion;
use tare_service::{catalogue::Row, revisions, workspace::Workspace};

use crate::command::revised::{Revised, named};

/// Baseline and candidate. A service that is named twice is compared with itself.
pub(super) fn find(
    workspace: &mut Workspace,
    words: &[String],
    range: Option<&str>,
    is_work_tree: bool,
    build: Option<&str>,
) -> anyhow::Result<[Row; 2]> {
    match (words, range) {
        (_, None) if build.is_some() => bail!("--build is for --revisions A..B of one service"),
        ([service], Some(range)) => of_revisions(workspace, service, range, is_work_tree, build),
        ([_, _], Some(_)) => bail!("--revisions compares one service with itself: name one, not two"),
        ([baseline, candidate], None) => {
            let candidate = match baseline == candidate {
                true => format!("{candidate}@2"),
                false => candidate.clone(),
            };
            named(workspace, [baseline, &candidate], |count| {
                format!("the words name {count} services, and a comparison has two")
            })
        }
        _ => bail!("a comparison needs two services, or one and --revisions A..B"),
    }
}

/// Looks up the service only for its folder: each revision has its own manifest. A service given by its
/// command has that command in both revisions.
fn of_revisions(
    workspace: &mut Workspace,
    word: &str,
    range: &str,
    is_work_tree: bool,
    build: Option<&str>,
) -> anyhow::Result<[Row; 2]> {
    let mut revised = Revised::of(workspace, word, build).context("--revisions")?;
    let folder = revised.now.service.folder.clone();
    let ends = revisions::range(range, &folder)?;
    let baseline = revised.at(workspace, &ends[0])?;
    let mut candidate = match is_work_tree {
        true => revised.in_the_work_tree(workspace)?,
        false => revised.at(workspace, &ends[1])?,
    };
    if !is_work_tree {
        warn_of_changes(&folder, &ends[1]);
    }
    if candidate.label == baseline.label {
        candidate.label += "@2";
    }
    Ok([baseline, candidate])
}

/// Warns of uncommitted changes, which are not compared.
fn warn_of_changes(folder: &Path, candidate: &str) {
    if candidate == "HEAD" && revisions::checked_out(folder).is_ok_and(|(_, changed)| changed) {
        tare_host::message!(
            "note: the work tree has changes that are in no commit, and are not compared; use --work-tree to compare them"
        );
    }
}

/// The requested contract, or the first of the baseline's contracts that the candidate has too.
pub(crate) fn contract(
    workspace: &Workspace,
    asked: Option<&str>,
    rows: [&Row; 2],
) -> anyhow::Result<String> {
    let [baseline, candidate] = rows;
    if let Some(name) = asked {
        workspace.contract(name)?;
        for row in rows {
            if !row.service.contracts.iter().any(|contract| contract == name) {
                let has = suggestion(name, row.service.contracts.iter().map(String::as_str));
                bail!("{} does not declare the contract \"{name}\"{has}", row.label);
            }
        }
        return Ok(name.to_owned());
    }
    let both = baseline.service.contracts.iter().find(|name| candidate.service.contracts.contains(name));
    both.cloned()
        .with_context(|| format!("{} and {} have no contract in common", baseline.label, candidate.label))
}
