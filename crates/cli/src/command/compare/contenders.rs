//! Who is compared: two rows of the catalogue, two folders, or two revisions of one folder.

use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use tare_host::spelling::suggestion;
use tare_service::{
    catalogue::{Place, Row, Style},
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
    is_work_tree: bool,
) -> anyhow::Result<[Row; 2]> {
    match (words, range) {
        ([service], Some(range)) => of_revisions(workspace, service, range, is_work_tree),
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

/// The service is looked up here only to know its folder: what it was in a revision is that revision's to say. One that is known
/// by its command is that command in both.
fn of_revisions(
    workspace: &mut Workspace,
    word: &str,
    range: &str,
    is_work_tree: bool,
) -> anyhow::Result<[Row; 2]> {
    let [now] = named(workspace, [word], |_| format!("\"{word}\" is not one service"))?;
    ensure!(now.service.running.is_none(), "--revisions: {word} runs already, and is of one revision only");
    let into = workspace.scratch("revisions");
    let ends = revisions::range(range, &now.service.folder)?;
    let variant =
        now.service.id.rsplit_once(':').map(|(_, variant)| format!(":{variant}")).unwrap_or_default();
    let is_own = now.service.style == Style::Own;
    let mut row = |end: &str| -> anyhow::Result<Row> {
        let needed = (!is_own).then_some("service.toml");
        let revision = revisions::take_out(&now.service.folder, end, &into, needed)?;
        match is_own {
            true => Ok(at_revision(&now, &revision)),
            false => of_revision(workspace, &revision, &variant),
        }
    };
    let baseline = row(&ends[0])?;
    let mut candidate = match is_work_tree {
        true => Row { label: format!("{}@work-tree", now.label), ..now.clone() },
        false => row(&ends[1])?,
    };
    if !is_work_tree {
        warn_of_changes(&now.service.folder, &ends[1]);
    }
    if candidate.label == baseline.label {
        candidate.label += "@2";
    }
    Ok([baseline, candidate])
}

/// What is not committed is not compared, which is easily overlooked.
fn warn_of_changes(folder: &Path, candidate: &str) {
    if candidate == "HEAD" && revisions::checked_out(folder).is_ok_and(|(_, changed)| changed) {
        eprintln!(
            "note: the work tree has changes that are in no commit, and are not compared; use --work-tree to compare them"
        );
    }
}

/// The same command, in the folder of the revision.
fn at_revision(now: &Row, revision: &Revision) -> Row {
    let mut row = now.clone();
    let service = &mut row.service;
    service.folder.clone_from(&revision.folder);
    service.build_root.clone_from(&revision.folder);
    service.place = Place::new(revision.folder.clone());
    let commit = &revision.commit[..COMMIT_DIGITS.min(revision.commit.len())];
    service.name = format!("{}+{commit}", service.name);
    // Itself a command, so that whoever reads the run folder can start it.
    service.id = format!("cd {} && {}", revision.folder.display(), service.id);
    service.title = Some(format!("commit {commit}"));
    row.label = format!("{}@{}", now.label, short(&revision.name));
    row
}

/// The name of a branch, or the beginning of that of a commit.
fn short(name: &str) -> &str {
    let is_commit = name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { &name[..COMMIT_DIGITS] } else { name }
}

fn of_revision(workspace: &mut Workspace, revision: &Revision, variant: &str) -> anyhow::Result<Row> {
    let word = format!("{}{variant}", revision.folder.display());
    let [mut row] = named(workspace, [&word], |_| "one word is one row".to_owned())
        .with_context(|| format!("revision \"{}\"", revision.name))?;
    // Records are kept under the name and a hash; a reader knows the name.
    let name = row.service.name.split('+').next().unwrap_or_default();
    row.label = format!("{name}{variant}@{}", short(&revision.name));
    let commit = &revision.commit[..COMMIT_DIGITS.min(revision.commit.len())];
    let title = row.service.title.take().map(|title| format!(", {title}")).unwrap_or_default();
    row.service.title = Some(format!("commit {commit}{title}"));
    Ok(row)
}

/// The contract that was asked for, or the first of the baseline's that the candidate has too.
pub(super) fn contract(
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
