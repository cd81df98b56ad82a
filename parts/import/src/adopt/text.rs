//! Writes the manifest and the README of an adopted service.

use std::{fmt::Write as _, fs, path::Path};

use super::{Adopted, Note, Suite, port::PortSource, stage::BuildStage};
use tare_service::catalogue::{Requirement, Step, Style};

/// Words that indicate a tuned build or program.
const TUNED: [&str; 14] = [
    "target-cpu=native",
    "march=native",
    "mtune=native",
    "GOAMD64",
    "-Ofast",
    "-flto",
    "lto=",
    "GOGC",
    "-XX:",
    "-Xms",
    "-Xmx",
    "--max-old-space-size",
    "jemalloc",
    "mimalloc",
];
const MANIFESTS: [&str; 4] = ["Cargo.toml", "go.mod", "package.json", "requirements"];

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The version of an entry that reports none: a hash of its sources and its Dockerfile.
pub(super) fn hash(sources: &[PortSource], dockerfile: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in
        sources.iter().flat_map(|source| [&source.name, &source.text]).map(String::as_str).chain([dockerfile])
    {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The package manifests of an entry.
pub(super) fn manifests(folder: &Path, sources: &[PortSource]) -> Vec<PortSource> {
    let is_manifest = |name: &str| {
        MANIFESTS
            .iter()
            .any(|manifest| name.rsplit('/').next().is_some_and(|name| name.starts_with(manifest)))
    };
    let mut found: Vec<PortSource> =
        sources.iter().filter(|source| is_manifest(&source.name)).cloned().collect();
    let mut folders = vec![String::new()];
    // In the entry's folder, and in folders below it, where Go and Rust keep modules.
    folders.extend(sources.iter().filter_map(|source| Some(source.name.rsplit_once('/')?.0.to_owned())));
    folders.sort();
    folders.dedup();
    for inner in folders {
        let entries = fs::read_dir(folder.join(&inner)).into_iter().flatten().flatten();
        let names = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| is_manifest(name));
        let mut names: Vec<String> =
            names.map(|name| if inner.is_empty() { name } else { format!("{inner}/{name}") }).collect();
        names.sort();
        for name in names {
            if let Ok(text) = super::entry::text(&folder.join(&name))
                && !found.iter().any(|other| other.name == name)
            {
                found.push(PortSource { name, text });
            }
        }
    }
    found
}

/// The entry's tuning of its compiler, runtime or framework.
pub(super) fn tuned(stages: &[BuildStage], command: &[String], variables: &[(String, String)]) -> Vec<Note> {
    let said: String = stages
        .iter()
        .map(|stage| stage.said.as_str())
        .chain(command.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("\n");
    let of_stages = stages.iter().flat_map(|stage| &stage.variables);
    let mut set: Vec<String> = Vec::new();
    for (name, value) in of_stages.chain(variables) {
        let line = format!("{name}={value}");
        if !set.contains(&line) {
            set.push(line);
        }
    }
    let why = "the entry's Dockerfile says so";
    let words = TUNED.iter().filter(|word| said.contains(**word)).map(|word| {
        let all: Vec<&str> = said
            .split(|c: char| c.is_whitespace() || "\"'".contains(c))
            .filter(|part| part.contains(word))
            .collect();
        let mut shown = all.clone();
        shown.sort_unstable();
        shown.dedup();
        Note::kept(shown.join(" "), why)
    });
    let mut notes: Vec<Note> = Vec::new();
    for note in words.chain(set.into_iter().map(|line| Note::kept(format!("ENV {line}"), why))) {
        if !notes.iter().any(|other| other.what == note.what) {
            notes.push(note);
        }
    }
    notes
}

impl Adopted {
    /// The text of the manifest.
    pub fn manifest(&self) -> String {
        let mut text = format!(
            "# Made by `tare adopt` of the entry {entry} of {suite}. README.md says what was not carried over.\nformat    = \"1.0\"\n\
             name      = {name}\nlanguage  = {language}\nframework = {framework}\n\
             url       = {url}\nlicence   = \"LicenseRef-not-stated\"   \
             # of the framework; that of the entry's repository: see README.md\ncontracts = {contracts}\nstyle     = \"{style}\"\n",
            entry = comment(&self.entry),
            suite = self.suite.name(),
            name = quoted(&self.name),
            language = quoted(&self.language),
            framework = quoted(&self.framework),
            url = quoted(self.url.as_deref().unwrap_or(self.home())),
            contracts = list(self.contract.iter().map(|name| (*name).to_owned())),
            style = self.style(),
        );
        let mut put = |part: String| text += &part;
        put(format!("\n[version]\ncommand = {}\n", command(&self.version)));
        self.requires.iter().for_each(|requirement| put(required(requirement)));
        self.build.iter().for_each(|step| put(built(step)));
        put(format!("\n[run]\ncommand       = {}\nready-timeout = \"60s\"\n", command(&self.command)));
        if let Some(port) = self.port {
            put(format!("port          = {port}\n"));
        }
        if !self.variables.is_empty() {
            let pairs: Vec<String> = self
                .variables
                .iter()
                .map(|(name, value)| format!("{} = {}", quoted(name), quoted(value)))
                .collect();
            put(format!("env           = {{ {} }}\n", pairs.join(", ")));
        }
        for Note { what, why, is_lost } in &self.notes {
            let what = if *is_lost { format!("not carried over: {what}") } else { what.clone() };
            put(format!("\n[[setting]]\nwhat = {}\nwhy  = {}\n", quoted(&what), quoted(why)));
        }
        text
    }

    /// The text of the README.
    pub fn readme(&self) -> String {
        let mut text = format!(
            "# {name}\n\nThe entry `{entry}` of {suite}, made into a service by `tare adopt`. \
             Its sources are in `entry/`, as they were.\n\n\
             Licence of the entry's repository: {licence}.\n\n",
            name = self.name,
            entry = self.entry,
            suite = self.suite.name(),
            licence = self.licence,
        );
        text += match self.contract {
            Some(_) => "It is built from its Dockerfile, without a container, and proved by `tare verify`.\n",
            None => {
                "It declares no contract: it does not answer all that one asks. Add one to `contracts` in service.toml.\n"
            }
        };
        for (title, is_lost) in [("Not carried over", true), ("Worth knowing", false)] {
            let notes: Vec<&Note> = self.notes.iter().filter(|note| note.is_lost == is_lost).collect();
            if !notes.is_empty() {
                let _a_string_takes_it = writeln!(text, "\n## {title}\n");
            }
            for Note { what, why, .. } in notes {
                let _a_string_takes_it = writeln!(text, "- {what}: {why}.");
            }
        }
        text
    }

    /// The style as manifests spell it. An entry of a suite is never a server of the user.
    fn style(&self) -> &'static str {
        match self.style {
            Style::Own | Style::Running => Style::Framework.name(),
            style => style.name(),
        }
    }

    fn home(&self) -> &'static str {
        match self.suite {
            Suite::HttpArena => "https://github.com/MDA2AV/HttpArena",
            Suite::TechEmpower => "https://github.com/TechEmpower/FrameworkBenchmarks",
        }
    }
}

/// Removes control characters, which could end the comment.
fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn list(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(&word)).collect();
    format!("[{}]", words.join(", "))
}

/// A script becomes a multi-line string.
fn command(words: &[String]) -> String {
    let is_literal = |word: &String| {
        word.contains('\n')
            && !word.contains("'''")
            && !word.ends_with('\'')
            && !word.chars().any(|c| c.is_control() && c != '\n')
    };
    let word = |word: &String| if is_literal(word) { format!("'''\n{word}'''") } else { quoted(word) };
    let words: Vec<String> = words.iter().map(word).collect();
    format!("[{}]", words.join(", "))
}

fn required(requirement: &Requirement) -> String {
    let mut text = format!("\n[[requires]]\ncommand = {}\n", list(requirement.command.clone()));
    if !requirement.debian.is_empty() {
        text += &format!("debian  = {}\n", list(requirement.debian.clone()));
    }
    if let Some(hint) = &requirement.hint {
        text += &format!("hint    = {}\n", quoted(hint));
    }
    text
}

fn built(step: &Step) -> String {
    let network = if step.network { "network = true\n" } else { "" };
    format!("\n[[build]]\ncommand = {}\n{network}", command(&step.command))
}
