//! The Jobs of a batch, as the API takes them. Pure: places of the list in, objects out.
//!
//! A Job has completion indexes 0, 1, 2 ... without gaps, and what is submitted again has gaps. So each Job carries the places of its
//! jobs in the list, as a variable of its container: `JOB_COMPLETION_INDEX` is the position in that. It is the only place where the
//! mapping is, so a Job and its pods are understood without each other.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        batch::v1::{Job, JobSpec},
        core::v1::{
            Affinity, Container, HostPathVolumeSource, PersistentVolumeClaimVolumeSource, PodAffinityTerm,
            PodAntiAffinity, PodSpec, PodTemplateSpec, Volume, VolumeMount,
        },
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};

use super::{
    confinement,
    pod::{self, NAME_LABEL, refusal},
};
use crate::{
    batch::Batch,
    engine::{EngineError, Start},
    job::short_hash,
    machines::{MachineClass, is_label_value},
    push::TOKEN_VARIABLE,
};

/// Completions of a Job: the list of their places stays a small part of an object.
pub(super) const INDEXES_MAX: usize = 1000;
/// Time to stop services after SIGTERM. `tare job` needs half of it.
const GRACE_S: i64 = 60;

/// Its value is the name of the batch.
pub(super) const BATCH_LABEL: &str = "tare/batch";

/// Variables of the container.
pub(super) const POSITIONS: &str = "TARE_JOB_POSITIONS";
pub(super) const INDEX: &str = "JOB_COMPLETION_INDEX";
pub(super) const POD: &str = "TARE_JOB_POD";
pub(super) const NODE: &str = "TARE_JOB_NODE";
pub(super) const CPUS: &str = "TARE_JOB_CPUS";

/// A Job, and where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    pub namespace: Option<String>,
    pub class: String,
    pub name: String,
    pub jobs: usize,
    pub object: Job,
}

/// The Jobs of these places of the list. `newest` is the number of the newest Job that a class has, by the stem of its name: a number
/// is never used again as long as its Job is there, so a name stands for the same jobs whoever asks.
pub(super) fn manifests(
    batch: &Batch,
    positions: &[usize],
    start: &Start,
    newest: impl Fn(&str) -> usize,
) -> Result<Vec<Planned>, EngineError> {
    let name = label(batch)?;
    let mut planned = Vec::new();
    for class in &batch.list.head.classes {
        let is_of_class =
            |position: &&usize| batch.list.jobs.get(**position).is_some_and(|job| job.class == class.name);
        let of_class: Vec<usize> = positions.iter().filter(is_of_class).copied().collect();
        let stem = stem(&name, &class.name);
        let first = newest(&stem) + 1;
        for (number, of_job) in (first..).zip(of_class.chunks(INDEXES_MAX)) {
            let job_name = format!("{stem}-{number}");
            planned.push(Planned {
                namespace: class.kubernetes.namespace.clone(),
                class: class.name.clone(),
                jobs: of_job.len(),
                object: job(batch, (class, of_job), start, (&name, &job_name))?,
                name: job_name,
            });
        }
    }
    Ok(planned)
}

/// The name of the batch, as a label has it.
pub(super) fn label(batch: &Batch) -> Result<String, EngineError> {
    let name = batch.name();
    match is_label_value(&name) && !name.is_empty() {
        true => Ok(name),
        false => Err(refusal(format!("the folder {name:?} has a name that no label can have: rename it"))),
    }
}

/// What the names of all Jobs of a class begin with. A pod is named after its Job and its index, and its host name has 63 bytes at most:
/// long names are cut, and the hash keeps them apart.
pub(super) fn stem(batch: &str, class: &str) -> String {
    let cut = |text: &str| {
        let plain: String = text
            .chars()
            .filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')
            .take(16)
            .collect();
        plain.trim_matches('-').to_owned()
    };
    format!("tare-{}-{}-{}", cut(batch), cut(class), &short_hash(&[batch, class])[..10])
}

/// The number of a Job in its name.
pub(super) fn number(stem: &str, name: &str) -> Option<usize> {
    name.strip_prefix(stem)?.strip_prefix('-')?.parse().ok()
}

fn job(
    batch: &Batch,
    (class, positions): (&MachineClass, &[usize]),
    start: &Start,
    (name, job_name): (&str, &str),
) -> Result<Job, EngineError> {
    let labels = pod::labels(class, &[(BATCH_LABEL, name)]);
    let count = i32::try_from(positions.len()).unwrap_or(i32::MAX);
    let parallel = class.kubernetes.parallel.and_then(|jobs| i32::try_from(jobs).ok()).unwrap_or(i32::MAX);
    Ok(Job {
        metadata: ObjectMeta {
            name: Some(job_name.to_owned()),
            namespace: class.kubernetes.namespace.clone(),
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        },
        spec: Some(JobSpec {
            completion_mode: Some("Indexed".to_owned()),
            completions: Some(count),
            parallelism: Some(parallel.min(count)),
            backoff_limit_per_index: Some(0),
            // The loss of a node is no failure of its job: that is started again. Everything else is for people to look at.
            pod_failure_policy: Some(pod::if_lost("Ignore")),
            // A pod that is only cut off may be measuring: the next one waits until it has ended.
            pod_replacement_policy: Some("Failed".to_owned()),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    annotations: Some(pod::undisturbed()),
                    ..ObjectMeta::default()
                }),
                spec: Some(job_pod(batch, class, positions, start)?),
            },
            ..JobSpec::default()
        }),
        status: None,
    })
}

fn job_pod(
    batch: &Batch,
    class: &MachineClass,
    positions: &[usize],
    start: &Start,
) -> Result<PodSpec, EngineError> {
    let store = store(batch)?;
    Ok(confinement::JOB.of(PodSpec {
        // That of the Job would count for all of its indexes together, and for the time that they wait.
        active_deadline_seconds: class.time_limit.and_then(|limit| i64::try_from(limit.as_secs()).ok()),
        termination_grace_period_seconds: Some(GRACE_S),
        affinity: Some(alone()),
        containers: vec![Container {
            working_dir: Some(batch.head.root.display().to_string()),
            ..container(class, positions, start, &store)?
        }],
        volumes: match store {
            Store::Mounted(_) => Some(vec![volume(class)?]),
            Store::Pushed { .. } => None,
        },
        ..pod::on_nodes(class)
    }))
}

/// Where a pod leaves its bundle.
enum Store {
    /// The folder that all pods mount.
    Mounted(String),
    /// A collector. The Secret with this name has the token of the batch; the user makes it, so that Tare needs no permission to.
    Pushed { secret: String },
}

fn store(batch: &Batch) -> Result<Store, EngineError> {
    if batch.head.push.is_some() {
        return Ok(Store::Pushed { secret: secret(batch)? });
    }
    let store = batch.folder.parent().and_then(|store| store.to_str());
    let store = store.ok_or_else(|| refusal("the path of the store is no UTF-8".to_owned()))?;
    match store.contains(':') {
        true => Err(refusal(format!(
            "the store {store:?} has a colon in its path: no volume can be mounted there"
        ))),
        false => Ok(Store::Mounted(store.to_owned())),
    }
}

/// The name of the Secret with the token of a batch whose jobs push their bundles.
pub(super) fn secret(batch: &Batch) -> Result<String, EngineError> {
    let name = label(batch)?;
    match name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        true => Ok(format!("tare-{name}")),
        false => Err(refusal(format!("the folder {name:?} has a name that no Secret can have: rename it"))),
    }
}

/// One job of Tare on a node at a time: CPUs are the job's own, caches and memory are not.
fn alone() -> Affinity {
    let label = (NAME_LABEL.0.to_owned(), NAME_LABEL.1.to_owned());
    let others = LabelSelector { match_labels: Some(BTreeMap::from([label])), ..LabelSelector::default() };
    let term = PodAffinityTerm {
        topology_key: "kubernetes.io/hostname".to_owned(),
        label_selector: Some(others),
        ..PodAffinityTerm::default()
    };
    let apart = PodAntiAffinity {
        required_during_scheduling_ignored_during_execution: Some(vec![term]),
        ..PodAntiAffinity::default()
    };
    Affinity { pod_anti_affinity: Some(apart), ..Affinity::default() }
}

fn container(
    class: &MachineClass,
    positions: &[usize],
    start: &Start,
    store: &Store,
) -> Result<Container, EngineError> {
    let mount = |path: &String| VolumeMount {
        name: "store".to_owned(),
        mount_path: path.clone(),
        ..VolumeMount::default()
    };
    let mut variables = vec![
        pod::variable(POSITIONS, spell(positions)),
        pod::variable(CPUS, class.cpus.to_string()),
        pod::field(POD, "metadata.name"),
        pod::field(NODE, "spec.nodeName"),
    ];
    let volume_mounts = match store {
        Store::Mounted(path) => Some(vec![mount(path)]),
        Store::Pushed { secret } => {
            variables.push(pod::token(TOKEN_VARIABLE, secret));
            None
        }
    };
    Ok(Container { volume_mounts, ..pod::container(class, &start.command, variables)? })
}

fn volume(class: &MachineClass) -> Result<Volume, EngineError> {
    let nodes = &class.kubernetes;
    let volume = Volume { name: "store".to_owned(), ..Volume::default() };
    match (&nodes.claim, &nodes.host_path) {
        (Some(claim), _) => Ok(Volume {
            persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                claim_name: claim.clone(),
                read_only: None,
            }),
            ..volume
        }),
        (None, Some(path)) => Ok(Volume {
            host_path: Some(HostPathVolumeSource { path: path.clone(), type_: Some("Directory".to_owned()) }),
            ..volume
        }),
        (None, None) => Err(refusal(format!(
            "class \"{}\": \"kubernetes\" needs \"claim\" or \"host-path\", where the store is",
            class.name
        ))),
    }
}

fn spell(positions: &[usize]) -> String {
    positions.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The places of a Job, as its container has them; nothing if that is no list of Tare's.
pub(super) fn positions(text: &str) -> Option<Vec<usize>> {
    let places: Option<Vec<usize>> =
        text.split(',').take(INDEXES_MAX + 1).map(|place| place.parse().ok()).collect();
    places.filter(|places| places.len() <= INDEXES_MAX)
}

/// Those of the container of a pod.
pub(super) fn positions_of(pod: &PodSpec) -> Option<Vec<usize>> {
    let variables = pod.containers.first()?.env.as_ref()?;
    let variable = variables.iter().find(|variable| variable.name == POSITIONS)?;
    positions(variable.value.as_deref()?)
}

#[cfg(test)]
mod tests;
