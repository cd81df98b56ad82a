//! What a machine hands over: a run folder, and beside it what is known of the job and of the instrument.
//!
//! A bundle is a run folder by itself, or a folder with one in it. Beside `run.json`, or in the folder around it, may stand
//! `certificate.json` of `tare selftest` (there or in `selftest/`), and what says where it ran: `bundle.json`, which a job of a cluster
//! leaves, or `job.json`, of which two keys are read: `machine` and `class`, each a text.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tare_bench::folder::FILE_BYTES_MAX;
use tare_host::{environment::Environment, foreign, seal};

use crate::history::run::{NamedRun, ReadError};

/// Folders of folders of bundles, and no deeper.
const DEPTH_MAX: usize = 4;

/// A run with what lies beside it.
#[derive(Debug)]
pub struct Bundle {
    pub run: NamedRun,
    pub label: JobLabel,
    pub certified: Certified,
}

/// What a job says of where it ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub struct JobLabel {
    /// What the machine is called, such as the name of a node.
    pub machine: Option<String>,
    /// The class of machines that it stands for, such as `arm-6.1`.
    pub class: Option<String>,
    /// The job of a cluster that it was. Two runs of one job are not two observations.
    #[serde(skip)]
    pub job: Option<String>,
    /// What of its CPUs was not its own, by the codes that the cluster gives.
    #[serde(skip)]
    pub shared: Vec<String>,
}

/// What is read of `bundle.json`, whatever program wrote it.
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

/// What the selftest found on the machine, the gravest last.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certified {
    /// No certificate lies beside the run.
    #[default]
    Unknown,
    Passed,
    /// It is of other hardware than the run.
    OfAnotherMachine,
    /// It cannot be read.
    Unreadable(String),
    /// The instrument did not see these faults.
    Failed(Vec<String>),
}

/// What is read of `certificate.json`, whatever program wrote it.
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

/// Run folders in these places, and why a place has none.
#[derive(Debug, Default)]
pub struct FoundBundles {
    pub bundles: Vec<Bundle>,
    /// What is no run that could be merged, a sentence each.
    pub left_out: Vec<String>,
}

impl FoundBundles {
    /// Reads run folders, and those in folders of bundles.
    pub fn read(places: &[PathBuf]) -> FoundBundles {
        let mut found = FoundBundles::default();
        for place in places {
            let runs = runs_in(place);
            if runs.is_empty() {
                found
                    .left_out
                    .push(format!("{}: is no run folder, and there is none in it", place.display()));
            }
            for run in runs {
                match Bundle::read(&run) {
                    Ok(bundle) => found.bundles.push(bundle),
                    Err(error) => found.left_out.push(format!("{error}: left out")),
                }
            }
        }
        found
    }
}

/// The run folder that this is, or those below it, in the order of their names. What a selftest measured is no run of an experiment.
/// Of a batch of a cluster they are its bundles alone: what came later, was rejected or is being written is not merged.
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

/// Why a run folder is no bundle that could be merged.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error(transparent)]
    Run(#[from] ReadError),
    /// Without it the run might be counted for another machine.
    #[error("{}: {reason}", path.display())]
    Job { path: PathBuf, reason: String },
}

impl Bundle {
    /// # Errors
    /// If the run or what its job says cannot be read, or it has nothing that could be compared.
    pub fn read(run: &Path) -> Result<Bundle, BundleError> {
        let read = NamedRun::read(run)?;
        let certified = certified(run, read.environment());
        Ok(Bundle { run: read, label: label(run)?, certified })
    }

    /// A run that lies alone.
    pub fn of(run: NamedRun) -> Bundle {
        Bundle { run, label: JobLabel::default(), certified: Certified::default() }
    }
}

/// What says where it ran; nothing does of a run that was made by hand.
fn label(run: &Path) -> Result<JobLabel, BundleError> {
    let wrong = |path: PathBuf| move |reason| BundleError::Job { path, reason };
    if let Some(path) = beside(run, &["bundle.json"]) {
        return read_json::<ClusterBundle>(&path).map(JobLabel::from).map_err(wrong(path));
    }
    match beside(run, &["job.json"]) {
        Some(path) => read_json(&path).map_err(wrong(path)),
        None => Ok(JobLabel::default()),
    }
}

/// A file of one of these names in the run folder, or in the bundle around it. A folder of several runs is no bundle.
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
        // One that tried nothing certifies nothing.
        true if with("seen") == 0 => Certified::Unknown,
        true => Certified::Passed,
    }
}

fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let bytes = seal::DOCUMENT.read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
    foreign::json(&bytes).map_err(|error| error.to_string())
}
