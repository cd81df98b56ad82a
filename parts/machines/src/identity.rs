//! The identity of runs and of the machines that they were made on.

use std::{collections::BTreeMap, fmt};

use tare_host::environment::Environment;

use super::{Certified, Machine, MergeError, MergedRun, RunBundle, bundle::JobLabel};

/// Identifies a run independent of its folder, by the nanosecond of its beginning and the seed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId {
    /// RFC 3339, UTC.
    pub began: String,
    pub experiment: String,
    pub seed: u64,
}

/// Identifies a machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// The name from its job.
    Named(String),
    /// Derived from the machine's own id.
    Id(String),
    /// CPU model, number of CPUs and memory, if nothing else is known: identical machines count as one.
    Hardware(String),
}

impl RunId {
    pub(super) fn of(bundle: &RunBundle) -> RunId {
        let header = &bundle.run.stored.header;
        let (began, experiment) = (header.began.clone(), header.plan.experiment.clone());
        RunId { began, experiment, seed: header.plan.seed }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}, seed {}", self.experiment, self.began, self.seed)
    }
}

impl Identity {
    fn of(label: &JobLabel, environment: &Environment) -> Identity {
        if let Some(name) = &label.machine {
            return Identity::Named(name.clone());
        }
        if let Some(id) = &environment.machine {
            return Identity::Id(id.clone());
        }
        let Environment { cpu, cpus, memory_bytes, .. } = environment;
        let architecture = class(&JobLabel::default(), environment);
        // The kernel reserves a varying amount of memory, so the size is rounded.
        let gib = (*memory_bytes as f64 / f64::from(1 << 30)).round();
        Identity::Hardware(format!("{architecture}, {cpu}, {cpus} CPUs, {gib} GiB"))
    }

    pub fn text(&self) -> &'static str {
        match self {
            Identity::Named(_) => "the name that its job gave",
            Identity::Id(_) => "its machine id",
            Identity::Hardware(_) => "its hardware: two machines alike count as one",
        }
    }
}

/// The class of a run: from its job, else the architecture.
fn class(label: &JobLabel, environment: &Environment) -> String {
    let known = label.class.as_ref().or(environment.architecture.as_ref());
    known.cloned().unwrap_or_else(|| "architecture not known".to_owned())
}

/// The runs without copies, sorted by id, and the number of copies.
///
/// # Errors
/// If two different contents have one id.
pub(super) fn without_copies(bundles: Vec<RunBundle>) -> Result<(Vec<RunBundle>, usize), MergeError> {
    let all = bundles.len();
    let mut known: BTreeMap<RunId, RunBundle> = BTreeMap::new();
    // Sorted by place, so that an error names the same two in any order of arrival.
    let mut bundles = bundles;
    bundles.sort_by(|one, other| one.run.place.cmp(&other.run.place));
    for bundle in bundles {
        let id = RunId::of(&bundle);
        match known.get_mut(&id) {
            Some(first) => join(id, first, bundle)?,
            None => drop(known.insert(id, bundle)),
        }
    }
    let copies = all - known.len();
    Ok((known.into_values().collect(), copies))
}

/// Refuses two runs of one job, which would count its seed twice.
///
/// # Errors
/// If there are two.
pub(super) fn refuse_a_job_twice(bundles: &[RunBundle]) -> Result<(), MergeError> {
    let mut jobs: BTreeMap<&str, &RunBundle> = BTreeMap::new();
    for bundle in bundles {
        let Some(job) = &bundle.label.job else { continue };
        if let Some(first) = jobs.insert(job, bundle) {
            let [one, other] = [first, bundle].map(|bundle| bundle.run.place.clone());
            return Err(MergeError::JobTwice { job: job.clone(), one, other });
        }
    }
    Ok(())
}

/// Adds what the copy knows and the first does not.
fn join(id: RunId, first: &mut RunBundle, copy: RunBundle) -> Result<(), MergeError> {
    let (one, other) = (first.run.place.clone(), copy.run.place.clone());
    let conflict =
        |what| MergeError::Conflict { id: id.clone(), one: one.clone(), other: other.clone(), what };
    let (kept, again) = (&first.run.stored, &copy.run.stored);
    if kept.header != again.header {
        return Err(conflict("the heads (run.json)"));
    }
    if kept.records != again.records || kept.damage != again.damage {
        return Err(conflict("the records (journal.ndjson)"));
    }
    if first.label.shared.is_empty() {
        first.label.shared = copy.label.shared;
    }
    for (known, new) in [
        (&mut first.label.machine, copy.label.machine),
        (&mut first.label.class, copy.label.class),
        (&mut first.label.job, copy.label.job),
    ] {
        match (&known, new) {
            (Some(known), Some(new)) if **known != new => {
                return Err(conflict("what their jobs say (job.json)"));
            }
            (None, new) => *known = new,
            _ => {}
        }
    }
    first.certified = std::mem::take(&mut first.certified).max(copy.certified);
    Ok(())
}

/// The machines, and the runs with the indices of their machines. Runs are sorted by id already.
pub(super) fn by_machine(bundles: Vec<RunBundle>) -> (Vec<Machine>, Vec<MergedRun>) {
    let identity = |bundle: &RunBundle| Identity::of(&bundle.label, bundle.run.environment());
    let of_run = |bundle: &RunBundle| class(&bundle.label, bundle.run.environment());
    // A machine is listed under its first class.
    let mut keys: BTreeMap<Identity, String> = BTreeMap::new();
    for bundle in &bundles {
        let first = keys.entry(identity(bundle)).or_insert_with(|| of_run(bundle));
        *first = of_run(bundle).min(std::mem::take(first));
    }
    let mut order: Vec<(String, Identity)> =
        keys.into_iter().map(|(identity, class)| (class, identity)).collect();
    order.sort();
    let place = |bundle: &RunBundle| {
        let own = identity(bundle);
        order.iter().position(|(_, identity)| *identity == own).unwrap_or_default()
    };
    let mut runs: Vec<MergedRun> = Vec::new();
    for (number, mut bundle) in bundles.into_iter().enumerate() {
        bundle.run.name = format!("#{}", number + 1);
        let (id, machine, class) = (RunId::of(&bundle), place(&bundle), of_run(&bundle));
        let (certified, shared) = (bundle.certified, bundle.label.shared);
        runs.push(MergedRun { id, machine, class, run: bundle.run, certified, shared });
    }
    let machines =
        order.into_iter().enumerate().map(|(place, (_, identity))| machine(place, identity, &runs));
    (machines.collect(), runs)
}

fn machine(place: usize, identity: Identity, all: &[MergedRun]) -> Machine {
    let runs: Vec<usize> = (0..all.len()).filter(|run| all[*run].machine == place).collect();
    let of_runs = |of: fn(&MergedRun) -> String| {
        let mut values: Vec<String> = runs.iter().map(|run| of(&all[*run])).collect();
        values.sort();
        values.dedup();
        values
    };
    let name = match &identity {
        Identity::Named(name) => name.clone(),
        _ => format!("machine {}", place + 1),
    };
    Machine {
        name,
        identity,
        classes: of_runs(|run| run.class.clone()),
        kernels: of_runs(|run| run.run.environment().kernel.clone()),
        environment: runs.first().map(|run| all[*run].run.environment().clone()).unwrap_or_default(),
        certified: runs.iter().map(|run| all[*run].certified.clone()).max().unwrap_or(Certified::Unknown),
        runs,
        counted: Vec::new(),
        blocks: 0,
        twin: None,
    }
}
