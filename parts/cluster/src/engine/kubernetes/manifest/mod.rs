//! The Jobs of a batch, as objects of the API. Pure: positions of the list in, objects out.
//!
//! The completion indexes of a Job are 0, 1, 2 ... without gaps, but resubmitted positions have gaps. So each
//! Job carries the positions of its jobs as a variable of its container, which `JOB_COMPLETION_INDEX`
//! indexes. The mapping is stored only there, so a Job and its pods can be interpreted independently.

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

/// The most completions of a Job: the list of their positions stays a small part of the object.
pub(super) const INDEXES_MAX: usize = 1000;
/// The time to stop services after SIGTERM. `tare job` needs half of it.
const GRACE_S: i64 = 60;

/// A label with the name of the batch.
pub(super) const BATCH_LABEL: &str = "tare/batch";

/// The variables of the container.
pub(super) const POSITIONS: &str = "TARE_JOB_POSITIONS";
pub(super) const INDEX: &str = "JOB_COMPLETION_INDEX";
pub(super) const POD: &str = "TARE_JOB_POD";
pub(super) const NODE: &str = "TARE_JOB_NODE";
pub(super) const CPUS: &str = "TARE_JOB_CPUS";

/// A Job with its namespace.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    pub namespace: Option<String>,
    pub class: String,
    pub name: String,
    pub jobs: usize,
    pub object: Job,
}

/// The Jobs for these positions. `newest` has the highest number of an existing Job of each class, by the
/// stem of its name. A number is not reused while its Job exists, so a name always means the same jobs.
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

/// The name of the batch, as the value of a label.
pub(super) fn label(batch: &Batch) -> Result<String, EngineError> {
    let name = batch.name();
    match is_label_value(&name) && !name.is_empty() {
        true => Ok(name),
        false => Err(refusal(format!("the folder {name:?} has a name that no label can have: rename it"))),
    }
}

/// The common prefix of the Job names of a class. A pod is named after its Job and its index, and a host name
/// has at most 63 bytes: long names are cut, and a hash keeps them distinct.
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
            // A lost node is no failure of its job, which is then restarted. All other failures are for
            // people to examine.
            pod_failure_policy: Some(pod::if_lost("Ignore")),
            // A pod that is only cut off may be measuring: its replacement waits until it has ended.
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
        // A limit of the Job would count for all of its indexes together, including their waiting time.
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

/// The destination of a pod's bundle.
enum Store {
    /// The folder that all pods mount.
    Mounted(String),
    /// A collector. The Secret with this name has the token of the batch. The user makes it, so that Tare
    /// needs no permission for Secrets.
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

/// One job of Tare on a node at a time: its CPUs are exclusive, but caches and memory are not.
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

/// Parses the positions in the variable of a container; `None` if the text is no list of Tare.
pub(super) fn positions(text: &str) -> Option<Vec<usize>> {
    let places: Option<Vec<usize>> =
        text.split(',').take(INDEXES_MAX + 1).map(|place| place.parse().ok()).collect();
    places.filter(|places| places.len() <= INDEXES_MAX)
}

/// The positions of a pod, from its container.
pub(super) fn positions_of(pod: &PodSpec) -> Option<Vec<usize>> {
    let variables = pod.containers.first()?.env.as_ref()?;
    let variable = variables.iter().find(|variable| variable.name == POSITIONS)?;
    positions(variable.value.as_deref()?)
}

#[cfg(test)]
mod tests;
