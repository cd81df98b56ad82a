//! `tare adopt`: turns an entry of another benchmark into a service that needs no container engine. The
//! stages of its Dockerfile become folders, its commands become build steps. It starts and builds nothing.

mod command;
mod container;
mod context;
mod dockerfile;
mod entry;
mod image;
mod licence;
mod note;
mod paths;
mod port;
mod shell;
mod stage;
#[cfg(test)]
mod tests;
mod text;
mod version;
mod write;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use tare_service::catalogue::{Requirement, Step, Style};

pub use entry::Suite;
pub use note::Note;

use context::Context;
use dockerfile::{Act, Start};
use entry::SuiteEntry;
use image::{Image, Toolchain};
use port::{Port, PortSource};
use stage::BuildStage;

/// The options of an adoption.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdoptWish<'a> {
    /// The service's name. Default: the entry's name with a suffix for its suite.
    pub name: Option<&'a str>,
    /// The test to adopt from a TechEmpower entry, which may have several.
    pub test: Option<&'a str>,
    /// Builds the image and runs it in a container, instead of building without one.
    pub container: bool,
}

/// A service made from an entry; not written yet.
#[derive(Debug, Clone)]
pub struct Adopted {
    pub name: String,
    pub language: String,
    pub suite: Suite,
    /// The folder of the entry.
    pub from: PathBuf,
    pub entry: String,
    pub framework: String,
    pub url: Option<String>,
    pub style: Style,
    pub contract: Option<&'static str>,
    /// A sentence on the licence of the entry's repository.
    pub licence: String,
    pub requires: Vec<Requirement>,
    pub build: Vec<Step>,
    pub version: Vec<String>,
    pub command: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// The only port that the program can listen on.
    pub port: Option<u16>,
    pub notes: Vec<Note>,
    /// Further files of the repository for the build: the path there, and the path in the service.
    beyond: BTreeSet<(PathBuf, String)>,
}

#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "{}: no entry of HttpArena (meta.json) or of TechEmpower (benchmark_config.json, config.toml) is here",
        folder.display()
    )]
    NoEntry { folder: PathBuf },
    #[error("{}: {reason}", path.display())]
    Metadata { path: PathBuf, reason: String },
    #[error("its Dockerfile cannot be read: {reason}")]
    Dockerfile { reason: String },
    #[error(
        "it cannot be built without a container engine: {}. With podman it can be tried in a container: --container podman",
        reasons.join("; ")
    )]
    Blocked { reasons: Vec<String> },
    #[error("podman is not on this machine: Debian's package podman brings it (apt-get install podman)")]
    NoPodman,
    #[error("{}: it is there already", path.display())]
    Taken { path: PathBuf },
    #[error("{}: is a symbolic link: name the folder that it leads to by --into", path.display())]
    Link { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Reads and interprets an entry. It writes and runs nothing.
///
/// # Errors
/// The folder holds no entry, cannot be read, or needs a container engine to be built.
pub fn adopt(folder: &Path, wish: &AdoptWish) -> Result<Adopted, AdoptError> {
    let entry = entry::read(folder, wish.test)?;
    match wish.container {
        true => container::adopted(&entry, wish),
        false => without_container(&entry, wish),
    }
}

fn without_container(entry: &SuiteEntry, wish: &AdoptWish) -> Result<Adopted, AdoptError> {
    let text = entry::text(&entry.dockerfile)?;
    let sources = port::sources(&entry.folder);
    let built = interpret(entry, &text, &sources)?;
    let fallback = format!("entry-{}", &text::hash(&sources, &text)[..8]);
    let names: Vec<String> = [Some(entry.framework.clone()), entry.url.clone(), Some(entry.name.clone())]
        .into_iter()
        .flatten()
        .collect();
    let manifests = text::manifests(&entry.folder, &sources);
    let mut adopted = base(entry, wish);
    adopted.version = version::command(&entry.language, &names, &manifests, &built.ran_in, &fallback);
    adopted.requires = built.requires;
    adopted.build = built.steps;
    adopted.command = built.command;
    adopted.variables = built.variables;
    adopted.port = built.port;
    adopted.beyond = built.beyond;
    adopted.notes.splice(0..0, built.notes);
    let of_suite = if entry.suite == Suite::HttpArena { &["/data/", "/certs/"][..] } else { &[] };
    for path in of_suite {
        if let Some(place) = port::naming(path, &sources) {
            let what = format!("what lies in {path} on the machines of {}", entry.suite.name());
            adopted
                .notes
                .push(Note::lost(what, format!("{place} names it: without it the program may not start")));
        }
    }
    Ok(adopted)
}

/// The fields that do not depend on the Dockerfile.
fn base(entry: &SuiteEntry, wish: &AdoptWish) -> Adopted {
    let name = wish.name.map_or_else(|| format!("{}-{}", entry.name, entry.suite.ending()), str::to_owned);
    let mut notes = vec![Note::lost(entry.suite.given(), "nothing here gives it to a service")];
    if !entry.not_asked.is_empty() {
        let asks = entry.contract.map_or("no contract here asks all".to_owned(), |name| {
            format!("the contract {name} does not ask")
        });
        notes.push(Note::kept(
            format!("not proved: {}", entry.not_asked.join(", ")),
            format!("{asks} for it"),
        ));
    }
    if !entry.other_tests.is_empty() {
        let what = format!("other tests of the entry: {}", entry.other_tests.join(", "));
        notes.push(Note::kept(what, "each is a service of its own: --test NAME"));
    }
    notes.push(Note::kept(
        "THREADS and DELAY_MS have no effect",
        "the entry reads neither, and starts as many threads or processes as its program decides",
    ));
    let licence = match licence::find(&entry.folder) {
        Some(licence::FoundLicence { path, spdx: Some(spdx) }) => {
            format!("{spdx} ({})", text::file_name(&path))
        }
        Some(found) => format!("not recognized: read {}", text::file_name(&found.path)),
        None => "not stated: no file of a licence lies in its folder or above".to_owned(),
    };
    Adopted {
        name: entry::plain(&name),
        language: entry.language.clone(),
        suite: entry.suite,
        from: entry.folder.clone(),
        entry: entry.name.clone(),
        framework: entry.framework.clone(),
        url: entry.url.clone(),
        style: entry.style,
        contract: entry.contract,
        licence,
        requires: Vec::new(),
        build: Vec::new(),
        version: Vec::new(),
        command: Vec::new(),
        variables: Vec::new(),
        port: None,
        notes,
        beyond: BTreeSet::new(),
    }
}

/// The result of interpreting a Dockerfile.
#[derive(Debug, Default)]
struct BuiltBy {
    requires: Vec<Requirement>,
    steps: Vec<Step>,
    command: Vec<String>,
    variables: Vec<(String, String)>,
    port: Option<u16>,
    notes: Vec<Note>,
    /// Folders of the service in which commands ran, and the program's folder.
    ran_in: Vec<String>,
    beyond: BTreeSet<(PathBuf, String)>,
}

/// Interprets any text as a Dockerfile without files beside it. For fuzzing.
pub fn interpreted(text: &str) -> Option<(Vec<Step>, Vec<String>)> {
    let entry = SuiteEntry {
        suite: Suite::HttpArena,
        folder: PathBuf::from("/nonexistent"),
        name: "entry".to_owned(),
        framework: "entry".to_owned(),
        language: "other".to_owned(),
        url: None,
        style: Style::Framework,
        dockerfile: PathBuf::new(),
        port: Some(8080),
        command: None,
        contract: None,
        not_asked: Vec::new(),
        other_tests: Vec::new(),
        arguments: Vec::new(),
    };
    interpret(&entry, text, &[]).ok().map(|built| (built.steps, built.command))
}

fn interpret(entry: &SuiteEntry, text: &str, sources: &[PortSource]) -> Result<BuiltBy, AdoptError> {
    let parsed = dockerfile::read(text, &entry.arguments)?;
    let needed = needed(&parsed);
    let mut context = Context::new(&entry.folder);
    let mut done: Vec<(usize, BuildStage)> = Vec::new();
    for (index, from) in parsed.iter().enumerate().filter(|(index, _)| needed.contains(index)) {
        let find = |name: &str| {
            number_of(&parsed[..index], name).and_then(|at| done.iter().find(|(number, _)| *number == at))
        };
        let mut stage = begin(index, &parsed, find(&from.image).map(|(_, stage)| stage));
        let earlier = |name: &str| find(name).map(|(_, stage)| stage.clone());
        from.acts.iter().for_each(|act| stage.act(act, &mut context, &earlier));
        stage.finish();
        done.push((index, stage));
    }
    let mut stages: Vec<BuildStage> = done.into_iter().map(|(_, stage)| stage).collect();
    let last = stages.last().cloned().unwrap_or_default();
    let mut built = BuiltBy { beyond: context.beyond, ..BuiltBy::default() };
    let mut blocks: Vec<String> =
        stages.iter_mut().flat_map(|stage| std::mem::take(&mut stage.blocks)).collect();
    if let Err(reason) = built.start(entry, &last, sources) {
        blocks.push(reason);
    }
    if !blocks.is_empty() {
        return Err(AdoptError::Blocked { reasons: blocks });
    }
    built.collect(stages);
    Ok(built)
}

/// The last stage and all stages that it is built from.
fn needed(stages: &[dockerfile::DockerStage]) -> BTreeSet<usize> {
    let mut needed = BTreeSet::from([stages.len().saturating_sub(1)]);
    for index in (0..stages.len()).rev() {
        if !needed.contains(&index) {
            continue;
        }
        let from = stages[index].acts.iter().filter_map(|act| match act {
            Act::Copy(copy) => copy.from.as_deref(),
            _ => None,
        });
        needed.extend(
            from.chain([stages[index].image.as_str()]).filter_map(|name| number_of(&stages[..index], name)),
        );
    }
    needed
}

/// A stage is referred to by its name or its number.
fn number_of(stages: &[dockerfile::DockerStage], name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let named = stages.iter().rposition(|stage| stage.name.as_deref() == Some(name.as_str()));
    named.or_else(|| name.parse().ok().filter(|number| *number < stages.len()))
}

/// The state of a stage before its first instruction.
fn begin(index: usize, parsed: &[dockerfile::DockerStage], other: Option<&BuildStage>) -> BuildStage {
    let from = &parsed[index];
    let name = match &from.name {
        _ if index + 1 == parsed.len() => "final".to_owned(),
        Some(name) => format!("{index}-{}", entry::plain(name)),
        None => index.to_string(),
    };
    if let Some(other) = other {
        return BuildStage::after(&name, other);
    }
    let mut stage = BuildStage::new(&name);
    let why = "programs and libraries of this machine are used, whatever their versions";
    match image::image(&from.image) {
        Image::Toolchains(toolchains) => {
            stage.toolchains.extend(toolchains);
            stage.notes.push(Note::lost(format!("the base image {}", from.image), why));
        }
        Image::System if from.image == "scratch" => {}
        Image::System => stage.notes.push(Note::lost(format!("the base image {}", from.image), why)),
        Image::Unknown => stage
            .blocks
            .push(format!("its base image {} has programs that Tare knows no toolchain for", from.image)),
    }
    if image::has_musl(&from.image) {
        let what = format!("the C library musl, which {} has", from.image);
        stage.notes.push(Note::lost(what, "it is built with this machine's"));
    }
    stage
}

/// The toolchain that a package provides, whatever the system's name for it.
fn brought_by(package: &str) -> Option<&'static Toolchain> {
    match package {
        "nodejs" | "npm" => Some(&image::NODE),
        "python3" | "python3-pip" | "python3-venv" | "python-is-python3" => Some(&image::PYTHON),
        "golang" | "golang-go" => Some(&image::GO),
        "cargo" | "rustc" => Some(&image::RUST),
        "gcc" | "g++" | "make" | "build-essential" => Some(&image::GCC),
        "maven" => Some(&image::MAVEN),
        package if package.starts_with("openjdk-") || package.starts_with("default-j") => Some(&image::JAVA),
        _ => None,
    }
}

/// Build helpers that every machine with a toolchain has.
const EVERYWHERE: [&str; 8] = [
    "curl",
    "wget",
    "ca-certificates",
    "apt-utils",
    "gnupg",
    "software-properties-common",
    "apt-transport-https",
    "lsb-release",
];

impl BuiltBy {
    /// Determines the command and the port.
    fn start(&mut self, entry: &SuiteEntry, last: &BuildStage, sources: &[PortSource]) -> Result<(), String> {
        let words = command_of(entry, last)?;
        let exposed = last.exposed.first().copied();
        let port = entry
            .port
            .filter(|port| last.exposed.is_empty() || last.exposed.contains(port))
            .or(exposed)
            .unwrap_or(8080);
        let (mut set_by_shell, variables): (Vec<_>, Vec<_>) =
            last.variables.iter().cloned().partition(|(_, value)| last.needs_shell(value));
        self.variables = variables;
        let mut words = words;
        match port::find(&words, &self.variables, port, sources) {
            Port::Command { words: with_port, how } => {
                words = with_port;
                self.notes.push(Note::kept("the port is the one that Tare chooses", how));
            }
            Port::Variable(name) => {
                self.variables.retain(|(other, _)| *other != name);
                self.notes.push(Note::kept(
                    "the port is the one that Tare chooses",
                    format!("the image gives it in {name}"),
                ));
                set_by_shell.push((name, "$PORT".to_owned()));
            }
            Port::Read { file } => {
                self.notes
                    .push(Note::kept("the port is the one that Tare chooses", format!("{file} reads PORT")));
            }
            Port::Fixed { port, place } => {
                self.port = Some(port);
                let place = place.map_or_else(
                    || "its own configuration".to_owned(),
                    |place| format!("its source ({place})"),
                );
                let why = format!(
                    "{place} says so, and takes it neither as an argument nor from a variable; of two such services only \
                                   one can run at a time"
                );
                self.notes.push(Note::lost(format!("a port that Tare chooses: it listens on {port}"), why));
            }
        }
        if !listens_on_loopback(&words) {
            let what = "it may listen on all addresses of this machine";
            self.notes.push(Note::kept(what, "its own configuration decides that; Tare asks at 127.0.0.1"));
        }
        let others: Vec<String> =
            last.exposed.iter().filter(|other| **other != port).map(u16::to_string).collect();
        if !others.is_empty() {
            let what = format!("the ports {}, which the image has too", others.join(", "));
            self.notes.push(Note::lost(what, "nothing asks there; they stay as the program has them"));
        }
        self.command = run_command(last, &words, &set_by_shell);
        self.ran_in.push(format!("{}{}", last.folder, last.workdir.trim_end_matches('/')));
        Ok(())
    }

    fn collect(&mut self, stages: Vec<BuildStage>) {
        let mut toolchains: Vec<Toolchain> = Vec::new();
        let mut packages: Vec<String> = Vec::new();
        for stage in &stages {
            for toolchain in
                stage.toolchains.iter().chain(stage.packages.iter().filter_map(|name| brought_by(name)))
            {
                if !toolchains.contains(toolchain) {
                    toolchains.push(*toolchain);
                }
            }
            let others = stage
                .packages
                .iter()
                .filter(|name| brought_by(name).is_none() && !EVERYWHERE.contains(&name.as_str()));
            for name in others {
                if !packages.contains(name) {
                    packages.push(name.clone());
                }
            }
        }
        if toolchains.contains(&image::PYTHON) {
            let command = ["python3", "-m", "venv", stage::TOOLS].map(str::to_owned).to_vec();
            self.steps.push(Step { command, ..Step::default() });
        }
        self.requires = toolchains.iter().flat_map(required).collect();
        if !packages.is_empty() {
            self.requires.push(Requirement {
                command: ["dpkg-query", "--show"].into_iter().map(str::to_owned).chain(packages.clone()).collect(),
                debian: packages,
                at_least: None,
                hint: Some("the entry's image installs these packages; another release of Debian may call them otherwise".to_owned()),
            });
        }
        self.notes.extend(text::tuned(&stages, &self.command, &self.variables));
        let ran_in = stages.iter().flat_map(|stage| {
            stage.ran_in.iter().map(|folder| format!("{}{}", stage.folder, folder.trim_end_matches('/')))
        });
        self.ran_in.splice(0..0, ran_in);
        self.ran_in.dedup();
        for stage in stages {
            self.steps.extend(stage.steps);
            for note in stage.notes {
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
        }
    }
}

fn required(toolchain: &Toolchain) -> Vec<Requirement> {
    let of = |command: &&[&str]| Requirement {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        debian: toolchain.debian.iter().map(|name| (*name).to_owned()).collect(),
        at_least: None,
        hint: toolchain.debian.is_empty().then(|| format!("{} is no package of Debian 12", toolchain.name)),
    };
    toolchain.commands.iter().map(of).collect()
}

/// The words that start the program. A single word with blanks is a shell script.
fn command_of(entry: &SuiteEntry, last: &BuildStage) -> Result<Vec<String>, String> {
    // The suite's command replaces the image's `CMD`, not its entry point.
    let given = entry.command.as_deref().map(|command| Start::Exec(shell::words(command)));
    let words = match (&last.entrypoint, given.as_ref().or(last.cmd.as_ref())) {
        (Some(Start::Shell(text)), _) | (None, Some(Start::Shell(text))) => vec![text.clone()],
        (Some(Start::Exec(entrypoint)), Some(Start::Exec(cmd))) => {
            entrypoint.iter().chain(cmd).cloned().collect()
        }
        (Some(Start::Exec(entrypoint)), Some(Start::Shell(text))) => {
            entrypoint.iter().cloned().chain(["/bin/sh".to_owned(), "-c".to_owned(), text.clone()]).collect()
        }
        (Some(Start::Exec(words)), None) | (None, Some(Start::Exec(words))) => words.clone(),
        (None, None) => Vec::new(),
    };
    match words.iter().all(|word| word.trim().is_empty()) {
        true => Err("its Dockerfile says no command, and that of its base image is not known".to_owned()),
        false => Ok(words),
    }
}

fn listens_on_loopback(words: &[String]) -> bool {
    words.iter().any(|word| word.contains("127.0.0.1"))
}

/// The command of the service: a shell sets it up, then replaces itself by the program.
fn run_command(last: &BuildStage, words: &[String], set_by_shell: &[(String, String)]) -> Vec<String> {
    let is_shell = is_text(last, words);
    let line = if is_shell { last.script(&words[0]) } else { last.line(words) };
    let is_simple = !is_shell
        || shell::statements(&words[0]).concat().len() == 1
            && shell::pipeline(&words[0]).len() == 1
            && !words[0].contains("||");
    let exec =
        if is_simple && !line.starts_with("exec ") && !begins_with_assignment(&line) { "exec " } else { "" };
    stage::sh(&format!("{}{exec}{line}", last.with_variables(set_by_shell).prelude()))
}

fn begins_with_assignment(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.contains('='))
}

/// Whether the command is a shell script: a single word, in the shell form or with blanks.
fn is_text(last: &BuildStage, words: &[String]) -> bool {
    let is_exec =
        matches!((&last.entrypoint, &last.cmd), (Some(Start::Exec(_)), _) | (None, Some(Start::Exec(_))));
    words.len() == 1 && (!is_exec || words[0].contains(char::is_whitespace))
}
