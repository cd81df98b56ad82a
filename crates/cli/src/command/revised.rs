//! A service at several git revisions, each a row of a run. Each is built in its own tree, with the packages
//! of its own lock file.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow, ensure};
use tare_contract::protocol;
use tare_service::{
    apart::Apart,
    catalogue::{RevisionOf, Row, Service, Step, Style},
    install::{self, Install},
    revisions::{self, Revision},
    workspace::Workspace,
};

/// The digits of a commit that are shown.
const COMMIT_DIGITS: usize = 12;
/// The most changed packages that a title names.
const CHANGES_NAMED: usize = 3;
/// The files in which a service declares its dependencies.
const MANIFESTS: [&str; 6] =
    ["package.json", "pyproject.toml", "Pipfile", "Cargo.toml", "Gemfile", "composer.json"];

/// How a service at a revision is built, where no file of it says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct BuildOptions {
    /// The command that builds each revision of a service which is a command, in a copy of its own [default: what installs the
    /// packages of its lock file, such as `npm ci`]
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
}

/// One row per word; `other` is the error for another number of words.
pub(super) fn named<const N: usize>(
    workspace: &mut Workspace,
    words: [&str; N],
    other: impl FnOnce(usize) -> String,
) -> anyhow::Result<[Row; N]> {
    workspace.adopt(words)?;
    let rows = workspace.rows(words)?;
    <[Row; N]>::try_from(rows).map_err(|rows| anyhow!(other(rows.len())))
}

/// A service whose revisions are measured.
pub(crate) struct Revised {
    /// The service in the work tree.
    pub now: Row,
    build: Option<String>,
    apart: Apart,
    /// The lock files of the first requested revision, with which the others are compared.
    first: Option<Locks>,
    said: BTreeSet<String>,
}

/// Lock files by path in the tree, and the text of the manifests beside them.
#[derive(Default)]
struct Locks {
    revision: String,
    files: BTreeMap<PathBuf, String>,
    manifests: String,
}

impl Revised {
    /// The service that `word` names, built by the command `build` if there is one. A server that is already
    /// running has no other revisions.
    pub(crate) fn of(workspace: &mut Workspace, word: &str, build: Option<&str>) -> anyhow::Result<Revised> {
        let [mut now] = named(workspace, [word], |_| format!("\"{word}\" is not one service"))?;
        ensure!(now.service.running.is_none(), "{word} runs already, and is of one revision only");
        if let Some(build) = build {
            ensure!(
                now.service.style == Style::Own,
                "--build: the service.toml of {word} says how it is built"
            );
            now.service.built_by(build);
        }
        let variables = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let apart = Apart::new(&now.service.folder, workspace.store().folder(), variables);
        Ok(Revised { now, build: build.map(str::to_owned), apart, first: None, said: BTreeSet::new() })
    }

    /// The service of a stored row. A stored run does not count as permission by the user.
    pub(super) fn of_stored(workspace: &mut Workspace, of: &RevisionOf) -> anyhow::Result<Revised> {
        workspace.adopt_from(&of.folder, [of.service.as_str()])?;
        let revised = Revised::of(workspace, &of.service, of.build.as_deref())?;
        ensure!(
            revised.now.service.folder == of.folder,
            "it is a revision of the service in {}: resume the run in the folder where it was begun",
            of.folder.display()
        );
        Ok(revised)
    }

    /// The description from which a row of this service at `commit`, or in the work tree, can be made again.
    fn revision(&self, commit: Option<&str>) -> RevisionOf {
        RevisionOf {
            service: self.now.service.id.clone(),
            folder: self.now.service.folder.clone(),
            commit: commit.map(str::to_owned),
            build: self.build.clone(),
        }
    }

    /// The service at the revision `end`, with the manifest of that revision. A service given by its command
    /// has that command in each revision.
    pub(super) fn at(&mut self, workspace: &mut Workspace, end: &str) -> anyhow::Result<Row> {
        let is_own = self.now.service.style == Style::Own;
        let needed = (!is_own).then_some("service.toml");
        let revision = revisions::take_out(&self.now.service.folder, end, &workspace.shelf(), needed)?;
        let within = self.apart.within(&self.now.service.folder);
        let mut row = match is_own {
            true => of_command(&self.now, &revision),
            false => of_manifest(workspace, &revision, &self.variant())?,
        };
        row.service.revision = Some(self.revision(Some(&revision.commit)));
        let named = || format!("revision \"{}\"", revision.name);
        self.keep_apart(workspace, &mut row, &revision.root, &within).with_context(named)?;
        Ok(row)
    }

    /// The service in the work tree, including uncommitted changes.
    pub(super) fn in_the_work_tree(&mut self, workspace: &Workspace) -> anyhow::Result<Row> {
        let mut row = Row { label: format!("{}@work-tree", self.now.label), ..self.now.clone() };
        row.service.revision = Some(self.revision(None));
        let (tree, within) = (self.apart.work_tree().to_owned(), self.apart.within(&self.now.service.folder));
        self.keep_apart(workspace, &mut row, &tree, &within).context("the work tree")?;
        Ok(row)
    }

    fn variant(&self) -> String {
        let service = &self.now.service;
        let variant = service.id.rsplit_once(':').map(|(_, variant)| format!(":{variant}"));
        variant.unwrap_or_default() + &protocol::ending(service.protocol)
    }

    /// Gives the row the packages of its own lock file, isolated from other trees.
    fn keep_apart(
        &mut self,
        workspace: &Workspace,
        row: &mut Row,
        tree: &Path,
        within: &Path,
    ) -> anyhow::Result<()> {
        let service = &mut row.service;
        let steps = service.build.iter().flat_map(|step| &step.command);
        let words: Vec<String> =
            service.run.command.iter().chain(steps).chain(service.run.env.values()).cloned().collect();
        self.apart.check_words(&words, within)?;
        install::check_paths(tree, within)?;
        let mut apart = self.apart.clone();
        let is_of_git = tree != apart.work_tree();
        let is_own = service.style == Style::Own;
        if is_own {
            service.build_root = tree.to_owned();
        }
        // Other services are built as their file or the user says, and the work tree is not changed.
        let installs = match is_own && is_of_git && service.build.is_empty() {
            true => enter(service, install::plan(tree, within, &service.run.command)?),
            false => install::find(tree, within, &service.run.command).unwrap_or_default(),
        };
        if is_of_git {
            apart.check_above(tree)?;
            apart.among(workspace.shelf().folder());
        }
        if !service.build.is_empty() {
            apart.check_above(&self.apart.place_of_a_build())?;
        }
        service.apart = Some(Arc::new(apart));
        self.say(&installs, &row.service.build);
        self.relate(row, tree, &installs, within);
        Ok(())
    }

    /// Prints notes on packages, each once.
    fn say(&mut self, installs: &[Install], build: &[Step]) {
        let mut notes = Vec::new();
        for install in installs {
            let steps: Vec<String> = install.steps.iter().map(|step| step.command.join(" ")).collect();
            if !build.is_empty() && install.steps.iter().all(|step| build.contains(step)) {
                let (lock, steps) = (install.lock.display(), steps.join(" && "));
                notes.push(format!("each revision has the packages of its own {lock}, by `{steps}`"));
            }
            if !install.unpinned.is_empty() {
                let (lock, names) = (install.lock.display(), install.unpinned.join(", "));
                notes.push(format!("{lock} names no version of {names}: each revision gets what is newest"));
            }
        }
        if !self.apart.left_out().is_empty() {
            let names = self.apart.left_out().join(", ");
            notes.push(format!("revisions run without {names}, which would be the same for each"));
        }
        for note in notes {
            if self.said.insert(note.clone()) {
                tare_host::message!("note: {note}");
            }
        }
    }

    /// Adds the packages whose versions differ from the first revision to the title.
    fn relate(&mut self, row: &mut Row, tree: &Path, installs: &[Install], within: &Path) {
        let locks = Locks::read(&row.label, tree, installs, within);
        let Some(first) = &self.first else {
            self.first = Some(locks);
            return;
        };
        let changes = first.changes(&locks);
        if changes.is_empty() {
            return;
        }
        let named = changes.iter().take(CHANGES_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let others = match changes.len().saturating_sub(CHANGES_NAMED) {
            0 => String::new(),
            count => format!(" and {count} others"),
        };
        tare_host::message!("dependencies of {} and {}: {named}{others}", first.revision, row.label);
        let title = row.service.title.take().map(|title| format!("{title}; ")).unwrap_or_default();
        row.service.title = Some(format!("{title}dependencies: {named}{others}"));
    }
}

impl Locks {
    fn read(label: &str, tree: &Path, installs: &[Install], within: &Path) -> Locks {
        let text = |path: &Path| fs::read_to_string(tree.join(path)).unwrap_or_default();
        let files = installs.iter().map(|install| (install.lock.clone(), text(&install.lock))).collect();
        let folders: BTreeSet<&Path> =
            installs.iter().filter_map(|install| install.lock.parent()).chain([within]).collect();
        let manifests = folders.iter().flat_map(|folder| MANIFESTS.map(|name| text(&folder.join(name))));
        Locks { revision: label.to_owned(), files, manifests: manifests.collect::<Vec<_>>().join("\n") }
    }

    /// The packages whose versions differ in the same files of `later`.
    fn changes(&self, later: &Locks) -> Vec<String> {
        let pairs = later.files.iter().filter_map(|(path, new)| Some((path, self.files.get(path)?, new)));
        let changes = pairs.flat_map(|(path, old, new)| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            install::changes(&name, old, new, &later.manifests)
        });
        changes.map(|change| change.to_string()).collect()
    }
}

/// Adds the steps that install the packages. They are commands of the repository, and need its permission.
fn enter(service: &mut Service, installs: Vec<Install>) -> Vec<Install> {
    service.build = installs.iter().flat_map(|install| install.steps.clone()).collect();
    service.requires = installs.iter().flat_map(|install| install.tools.clone()).collect();
    service.steps_elsewhere = true;
    service.typed &= installs.is_empty();
    installs
}

fn of_command(now: &Row, revision: &Revision) -> Row {
    let mut row = now.clone();
    let service = &mut row.service;
    service.folder = revision.place.to_path_buf();
    service.build_root.clone_from(&service.folder);
    service.place = revision.place.clone();
    let commit = &revision.commit[..COMMIT_DIGITS.min(revision.commit.len())];
    service.name = format!("{}+{commit}", service.name);
    // A command itself, so that a reader of the run folder can start it.
    service.id = format!("cd {} && {}", revision.place.display(), service.id);
    service.title = Some(format!("commit {commit}"));
    row.label = format!("{}@{}", now.label, short(&revision.name));
    row
}

/// The name of a branch, or an abbreviated commit.
pub(super) fn short(name: &str) -> &str {
    let is_commit = name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { &name[..COMMIT_DIGITS] } else { name }
}

fn of_manifest(workspace: &mut Workspace, revision: &Revision, variant: &str) -> anyhow::Result<Row> {
    let word = format!("{}{variant}", revision.place.display());
    let [mut row] = named(workspace, [&word], |_| "one word is one row".to_owned())
        .with_context(|| format!("revision \"{}\"", revision.name))?;
    // Records are stored under the name and a hash; a reader knows the name.
    let name = row.service.name.split('+').next().unwrap_or_default();
    row.label = format!("{name}{variant}@{}", short(&revision.name));
    row.service.place = revision.place.clone();
    let commit = &revision.commit[..COMMIT_DIGITS.min(revision.commit.len())];
    let title = row.service.title.take().map(|title| format!(", {title}")).unwrap_or_default();
    row.service.title = Some(format!("commit {commit}{title}"));
    Ok(row)
}
