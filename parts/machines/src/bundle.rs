//! The data of a machine: a run folder, with facts about the job and the selftest beside it.
//!
//! A bundle is a run folder, or a folder that contains one. In or around it may be `certificate.json` of
//! `tare selftest` (also in `selftest/`), and a file about its origin. That is `bundle.json`, which a cluster
//! job leaves, or `job.json`, with the text keys `machine` and `class`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tare_bench::folder::FILE_BYTES_MAX;
use tare_host::{environment::Environment, foreign, seal};

use tare_analysis::history::run::{NamedRun, RunReadError};

/// Deepest nesting of folders that is searched for bundles.
const DEPTH_MAX: usize = 4;

/// A run with the files beside it.
#[derive(Debug)]
pub struct RunBundle {
    pub run: NamedRun,
    pub label: JobLabel,
    pub certified: Certified,
}

/// Where a job ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub struct JobLabel {
    /// Name of the machine, such as that of a node.
    pub machine: Option<String>,
    /// The class of machines that it represents, such as `arm-6.1`.
    pub class: Option<String>,
    /// The cluster job. Two runs of one job are not independent.
    #[serde(skip)]
    pub job: Option<String>,
    /// Codes of CPU resources that it shared with others.
    #[serde(skip)]
    pub shared: Vec<String>,
}

/// The part of `bundle.json` that is read, from any program.
#[derive(Deserialize)]
struct ClusterBundle {
    node: String,
    job: ClusterJob,
    #[serde(default)]
    shared: Vec<SharedCpu>,
}

#[derive(Deserialize)]
struct ClusterJob {
    id: String,
    class: String,
}

#[derive(Deserialize)]
struct SharedCpu {
    code: String,
}

impl From<ClusterBundle> for JobLabel {
    fn from(bundle: ClusterBundle) -> JobLabel {
        let ClusterBundle { node, job, shared } = bundle;
        JobLabel {
            machine: Some(node),
            class: Some(job.class),
            job: Some(job.id),
            shared: shared.into_iter().map(|shared| shared.code).collect(),
        }
    }
}

/// Selftest results for the machine, the most severe last.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certified {
    /// There is no certificate beside the run.
    #[default]
    Unknown,
    Passed,
    /// It belongs to other hardware than the run.
    OfAnotherMachine,
    /// It cannot be read.
    Unreadable(String),
    /// The selftest missed these faults.
    Failed(Vec<String>),
}

/// The part of `certificate.json` that is read, from any program.
#[derive(Deserialize)]
struct Certificate {
    environment: Environment,
    trials: Vec<Trial>,
}

#[derive(Deserialize)]
struct Trial {
    name: String,
    outcome: String,
}

/// The run folders found, and why others were left out.
#[derive(Debug, Default)]
pub(crate) struct FoundBundles {
    pub(crate) bundles: Vec<RunBundle>,
    /// Folders that cannot be merged, with a sentence each.
    pub(crate) left_out: Vec<String>,
}

impl FoundBundles {
    /// Reads run folders, and those in folders of bundles.
    pub(crate) fn read(places: &[PathBuf]) -> FoundBundles {
        let mut found = FoundBundles::default();
        for place in places {
            let runs = runs_in(place);
            if runs.is_empty() {
                found
                    .left_out
                    .push(format!("{}: is no run folder, and there is none in it", place.display()));
            }
            for run in runs {
                match RunBundle::read(&run) {
                    Ok(bundle) => found.bundles.push(bundle),
                    Err(error) => found.left_out.push(format!("{error}: left out")),
                }
            }
        }
        found
    }
}

/// This run folder, or the run folders below it, sorted by name. Runs of a selftest are excluded. In a
/// cluster batch only its bundles count: late, rejected and partial ones are not merged.
pub fn runs_in(place: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(place, DEPTH_MAX, &mut found);
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if folder.join("run.json").is_file() {
        return found.push(folder.to_owned());
    }
    if depth == 0 {
        return;
    }
    let inner = folders_in(folder);
    let bundles = folder.join("bundles");
    let is_batch = inner.contains(&bundles);
    for inner in if is_batch { vec![bundles] } else { inner } {
        collect(&inner, depth - 1, found);
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let is_passed_over = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with('.') || name.ends_with("selftest")
    };
    let mut paths: Vec<PathBuf> = entries.filter(is_one).map(|entry| entry.path()).collect();
    paths.retain(|path| !is_passed_over(path));
    paths.sort();
    paths
}

/// Why a run folder cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum RunBundleError {
    #[error(transparent)]
    Run(#[from] RunReadError),
    /// Without this file the run might be attributed to another machine.
    #[error("{}: {reason}", path.display())]
    Job { path: PathBuf, reason: String },
}

impl RunBundle {
    /// # Errors
    /// If the run or its job file cannot be read, or it has nothing comparable.
    pub fn read(run: &Path) -> Result<RunBundle, RunBundleError> {
        let read = NamedRun::read(run)?;
        let certified = certified(run, read.environment());
        Ok(RunBundle { run: read, label: label(run)?, certified })
    }

    /// A run without further files.
    pub fn of(run: NamedRun) -> RunBundle {
        RunBundle { run, label: JobLabel::default(), certified: Certified::default() }
    }
}

/// The origin of a run; empty for runs made by hand.
fn label(run: &Path) -> Result<JobLabel, RunBundleError> {
    let wrong = |path: PathBuf| move |reason| RunBundleError::Job { path, reason };
    if let Some(path) = beside(run, &["bundle.json"]) {
        return read_json::<ClusterBundle>(&path).map(JobLabel::from).map_err(wrong(path));
    }
    match beside(run, &["job.json"]) {
        Some(path) => read_json(&path).map_err(wrong(path)),
        None => Ok(JobLabel::default()),
    }
}

/// A file with one of these names, in the run folder, or in a bundle that holds this run only.
fn beside(run: &Path, names: &[&str]) -> Option<PathBuf> {
    let parent = run.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    let is_bundle = |parent: &PathBuf| {
        folders_in(parent).iter().filter(|folder| folder.join("run.json").is_file()).count() < 2
    };
    let places = [Some(run.to_owned()), parent.filter(is_bundle)];
    let paths = places.into_iter().flatten().flat_map(|place| names.iter().map(move |name| place.join(name)));
    paths.into_iter().find(|path| path.is_file())
}

fn certified(run: &Path, environment: &Environment) -> Certified {
    let Some(path) = beside(run, &["certificate.json", "selftest/certificate.json"]) else {
        return Certified::Unknown;
    };
    match read_json::<Certificate>(&path) {
        Ok(certificate) => of_certificate(certificate, environment),
        Err(reason) => Certified::Unreadable(reason),
    }
}

fn of_certificate(certificate: Certificate, here: &Environment) -> Certified {
    let of = &certificate.environment;
    let is_same =
        |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
    if of.cpu != here.cpu
        || !is_same(&of.machine, &here.machine)
        || !is_same(&of.architecture, &here.architecture)
    {
        return Certified::OfAnotherMachine;
    }
    let with = |outcome: &str| certificate.trials.iter().filter(|trial| trial.outcome == outcome).count();
    let not_seen = certificate.trials.iter().filter(|trial| trial.outcome == "not-seen");
    let not_seen: Vec<String> = not_seen.map(|trial| trial.name.clone()).collect();
    match not_seen.is_empty() {
        false => Certified::Failed(not_seen),
        // A selftest without any trial certifies nothing.
        true if with("seen") == 0 => Certified::Unknown,
        true => Certified::Passed,
    }
}

fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let bytes = seal::DOCUMENT.read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
    foreign::json(&bytes).map_err(|error| error.to_string())
}
