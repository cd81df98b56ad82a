//! A service as it was at a git revision, as a row of a run.

use anyhow::{Context, anyhow, ensure};
use tare_service::{
    catalogue::{Row, Style},
    protocol,
    revisions::{self, Revision},
    workspace::Workspace,
};

/// Digits of a commit that a person can tell apart.
const COMMIT_DIGITS: usize = 12;

/// A row for each word; `other` says what is wrong with another number of them.
pub(super) fn named<const N: usize>(
    workspace: &mut Workspace,
    words: [&str; N],
    other: impl FnOnce(usize) -> String,
) -> anyhow::Result<[Row; N]> {
    workspace.adopt(words)?;
    let rows = workspace.rows(words)?;
    <[Row; N]>::try_from(rows).map_err(|rows| anyhow!(other(rows.len())))
}

/// The service that `word` names, as it is in the work tree. One that runs already is of one revision only.
pub(super) fn one(workspace: &mut Workspace, word: &str) -> anyhow::Result<Row> {
    let [now] = named(workspace, [word], |_| format!("\"{word}\" is not one service"))?;
    ensure!(now.service.running.is_none(), "{word} runs already, and is of one revision only");
    Ok(now)
}

/// The service `now` at the revision `end`. What it was then is that revision's to say; one that is known by its command is that
/// command in each.
pub(super) fn at(workspace: &mut Workspace, now: &Row, end: &str) -> anyhow::Result<Row> {
    let is_own = now.service.style == Style::Own;
    let needed = (!is_own).then_some("service.toml");
    let revision = revisions::take_out(&now.service.folder, end, &workspace.shelf(), needed)?;
    if is_own {
        return Ok(of_command(now, &revision));
    }
    let variant =
        now.service.id.rsplit_once(':').map(|(_, variant)| format!(":{variant}")).unwrap_or_default();
    of_manifest(workspace, &revision, &(variant + &protocol::ending(now.service.protocol)))
}

/// The same command, in the folder of the revision.
fn of_command(now: &Row, revision: &Revision) -> Row {
    let mut row = now.clone();
    let service = &mut row.service;
    service.folder = revision.place.to_path_buf();
    service.build_root.clone_from(&service.folder);
    service.place = revision.place.clone();
    let commit = &revision.commit[..COMMIT_DIGITS.min(revision.commit.len())];
    service.name = format!("{}+{commit}", service.name);
    // Itself a command, so that whoever reads the run folder can start it.
    service.id = format!("cd {} && {}", revision.place.display(), service.id);
    service.title = Some(format!("commit {commit}"));
    row.label = format!("{}@{}", now.label, short(&revision.name));
    row
}

/// The name of a branch, or the beginning of that of a commit.
pub(super) fn short(name: &str) -> &str {
    let is_commit = name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { &name[..COMMIT_DIGITS] } else { name }
}

fn of_manifest(workspace: &mut Workspace, revision: &Revision, variant: &str) -> anyhow::Result<Row> {
    let word = format!("{}{variant}", revision.place.display());
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
