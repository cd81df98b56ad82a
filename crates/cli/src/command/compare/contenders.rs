//! Who is compared: two rows of the catalogue, two folders, or two revisions of one folder.

use anyhow::{Context, anyhow, bail};
use tare_host::spelling::suggestion;
use tare_service::{
    catalogue::Row,
    revisions::{self, Revision},
    workspace::Workspace,
};

/// Digits of a commit that a person can tell apart.
const COMMIT_DIGITS: usize = 12;

/// Baseline and candidate. A service that is named twice is compared with itself.
pub(super) fn find(
    workspace: &mut Workspace,
    words: &[String],
    range: Option<&str>,
) -> anyhow::Result<[Row; 2]> {
    match (words, range) {
        ([service], Some(range)) => of_revisions(workspace, service, range),
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

/// A row for each word; `other` says what is wrong with another number of them.
fn named<const N: usize>(
    workspace: &mut Workspace,
    words: [&str; N],
    other: impl FnOnce(usize) -> String,
) -> anyhow::Result<[Row; N]> {
    workspace.adopt(words)?;
    let rows = workspace.rows(words)?;
    <[Row; N]>::try_from(rows).map_err(|rows| anyhow!(other(rows.len())))
}

/// The service is looked up here only to know its folder: what it was in a revision is that revision's to say.
fn of_revisions(workspace: &mut Workspace, word: &str, range: &str) -> anyhow::Result<[Row; 2]> {
    let ends = revisions::range(range)?;
    let [now] = named(workspace, [word], |_| format!("\"{word}\" is not one service"))?;
    let into = workspace.root.join(".tare").join("revisions");
    let variant =
        now.service.id.rsplit_once(':').map(|(_, variant)| format!(":{variant}")).unwrap_or_default();
    let mut row = |end: &str| -> anyhow::Result<Row> {
        let revision = revisions::take_out(&now.service.folder, end, &into)?;
        of_revision(workspace, &revision, &variant)
    };
    let (baseline, mut candidate) = (row(&ends[0])?, row(&ends[1])?);
    if candidate.label == baseline.label {
        candidate.label += "@2";
    }
    Ok([baseline, candidate])
}

fn of_revision(workspace: &mut Workspace, revision: &Revision, variant: &str) -> anyhow::Result<Row> {
    let word = format!("{}{variant}", revision.folder.display());
    let [mut row] = named(workspace, [&word], |_| "one word is one row".to_owned())
        .with_context(|| format!("revision \"{}\"", revision.name))?;
    // Records are kept under the name and a hash; a reader knows the name.
    let name = row.service.name.split('+').next().unwrap_or_default();
    row.label = format!("{name}{variant}@{}", revision.name);
    let commit = &revision.commit[..COMMIT_DIGITS.min(revision.commit.len())];
    let title = row.service.title.take().map(|title| format!(", {title}")).unwrap_or_default();
    row.service.title = Some(format!("commit {commit}{title}"));
    Ok(row)
}

/// The contract that was asked for, or the first of the baseline's that the candidate has too.
pub(super) fn contract(
    workspace: &Workspace,
    asked: Option<&str>,
    rows: &[Row; 2],
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
